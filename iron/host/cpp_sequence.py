"""The runtime sequence as C++: DMA tasks, tokens, locks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from iron.ir.core import Block, Operation, Value, defining_op

from . import reading as r
from .cpp_ops import ctype
from .cpp_writes import BufferWrites, is_register, refuse_register
from .errors import refuse
from .explicit import bd_of, next_block, packet_of, pad_dimensions
from .network import Channel
from .state import DIRECTIONS, RECEIVE, Lowering

Number = int | Value


@dataclass
class Transfer:
    """What a descriptor of the sequence moves: offset and length as C++, layout as numbers,
    outermost first; `iteration` is (size, stride) of what changes from execution to execution."""

    base: Value
    offset: str
    length: str
    sizes: list[Number]
    strides: list[Number]
    padding: list[tuple[int, int]] = field(default_factory=list)
    iteration: tuple[Number, Number] | None = None
    packet: tuple[int, int] | None = None
    next: int = -1


class SequenceBody(BufferWrites):
    def __init__(self, s: Lowering) -> None:
        super().__init__(s, None)

    def operation(self, op: Operation) -> None:
        if is_register(op):
            raise refuse_register(op)
        super().operation(op)

    def bind_arguments(self, op: Operation) -> None:
        for i, a in enumerate(op.body.arguments):
            type = ctype(op, a.type)
            name = self.names[id(a)] = f"a{i}"
            if type.endswith("*"):
                element = type.removesuffix("*").strip()
                self.prelude[name] = f"{type}{name} = iron::argument<{element}>(c, {i});"
            else:
                word = "real" if type in ("float", "double") or "f16" in type else "integer"
                self.prelude[name] = f"{type} {name} = iron::{word}<{type}>(c, {i});"

    def number(self, op: Operation, n: Number) -> str:
        return str(n) if isinstance(n, int) else self.value(op, n)

    def offset_parameter(self, op: Operation) -> str | None:
        return None

    def shifted(self, op: Operation, offset: str) -> str:
        extra = self.offset_parameter(op)
        return offset if extra is None else f"{offset} + {extra}"

    # ---- tasks
    def do_aiex_dma_configure_task_for(self, op: Operation) -> None:
        symbol = r.symbol(op, "alloc")
        packet = self.s.packets.get(symbol) or self.s.packets.get(f"{symbol}_shim_alloc")
        self.task(op, self.s.channel_named(op, symbol), op.region.entry, packet)

    def do_aiex_dma_configure_task(self, op: Operation) -> None:
        self.task(op, self.channel_of(op), op.region.entry, None)

    def channel_of(self, op: Operation) -> Channel:
        tile = self.s.tile(op, r.single(op, "tile"))
        direction = DIRECTIONS[r.integer(op, "direction")]
        return self.s.channel(tile, direction, r.integer(op, "channel"))

    def do_aiex_dma_start_bd_chain(self, op: Operation) -> None:
        self.chain(op, self.channel_of(op))

    def do_aiex_dma_start_bd_chain_for(self, op: Operation) -> None:
        self.chain(op, self.s.channel_named(op, r.symbol(op, "alloc")))

    def chain(self, op: Operation, channel: Channel) -> None:
        """A named chain of descriptors with its parameters bound, started at once."""
        name = r.symbol(op, "symbol")
        found = next((c for c in self.s.each("aie.bd_chain") if c.symbol == name), None)
        if found is None:
            raise refuse(op, f"there is no aie.bd_chain @{name}")
        entry = found.region.entry
        for parameter, value in zip(entry.arguments, r.group(op, "args"), strict=True):
            if id(value) in self.s.locks:
                self.s.locks[id(parameter)] = self.s.locks[id(value)]
            else:
                self.names[id(parameter)] = self.value(op, value)
        task = self.task(op, channel, entry, None)
        self.write(f"iron::start(c, {task}, {self.site(op)});")

    def task(
        self,
        op: Operation,
        channel: Channel,
        entry: Block,
        packet: tuple[int, int] | None,
    ) -> str:
        repeat = r.number_or_value(op, "repeat_count_val", "repeat_count")
        repeats = self.number(op, repeat) if repeat is not None else "0"
        operand = r.single(op, "repeat_count_val")
        if operand is not None:
            repeats = self.value(op, operand)
        token = "true" if r.flag(op, "issue_token") else "false"
        name = self.let(
            op,
            op.results[0],
            f"iron::new_task(c, {self.channel(channel)}, {repeats}, {token}, {self.site(op)})",
        )
        own = r.record(op.attributes.get("packet"), "pkt_id", "pkt_type")
        packet = (own[0], own[1]) if own else packet
        blocks: list[Block] = []
        block: Block | None = entry
        while block is not None and block not in blocks:
            blocks.append(block)
            block = next_block(block)
        blocks = [b for b in blocks if bd_of(b) is not None]
        for b in blocks:
            after = next_block(b)
            following = blocks.index(after) if after is not None and after in blocks else -1
            self.task_bd(name, channel, b, following, packet)
        return name

    def task_bd(
        self,
        task: str,
        channel: Channel,
        block: Block,
        following: int,
        packet: tuple[int, int] | None,
    ) -> None:
        op = bd_of(block)
        assert op is not None
        for other in block.operations:
            if other.name not in BD_PARTS:
                self.operation(other)
        operand = r.required(op, "buffer")
        type = r.memref(op, operand.type)
        sizes = r.mixed(op, "sizes", "static_sizes")
        steps = r.mixed(op, "strides", "static_strides")
        if not sizes and "dimensions" in op.attributes:
            dims = r.dimensions(op.attributes["dimensions"])
            sizes, steps = [n for n, _ in dims], [n for _, n in dims]
        # On a shim the outermost of four dimensions counts executions of the descriptor.
        iteration: tuple[Number, Number] | None = None
        if channel.tile.kind != "mem" and len(sizes) == 4:
            iteration = (sizes[0], steps[0])
            sizes, steps = sizes[1:], steps[1:]
        length = r.number_or_value(op, "len", "static_len")
        inner = product(sizes)
        if isinstance(length, int) and inner is not None and sizes and inner != length:
            raise refuse(
                op,
                f"its length is {length} elements, but its inner dimensions describe {inner}"
                " (the outermost of four is the repeat count and does not belong to the length)",
            )
        if length is None:
            length_text = self.product_text(op, sizes) if sizes else str(type.size)
        else:
            length_text = self.number(op, length)
        offset = r.number_or_value(op, "offset", "static_offset") or 0
        self.bd(
            op,
            task,
            channel,
            Transfer(
                operand,
                self.shifted(op, self.number(op, offset)),
                length_text,
                sizes,
                steps,
                pad_dimensions(op, len(sizes)),
                iteration,
                packet_of(block, op) or packet,
                following,
            ),
        )
        for use in block.operations:
            if use.name != "aie.use_lock":
                continue
            amount = r.number_or_value(use, "value", "value")
            assert amount is not None
            lock = self.lock(self.s.lock(use, r.single(use, "lock")))
            action = r.integer(use, "action")
            self.write(f"iron::add_lock(c, {task}, {lock}, {self.number(use, amount)}, {action});")

    def product_text(self, op: Operation, sizes: Sequence[Number]) -> str:
        known = product(sizes)
        if known is not None:
            return str(known)
        return " * ".join(f"(int64_t){self.number(op, n)}" for n in sizes)

    def check_packet(self, op: Operation, id: int, channel: Channel) -> None:
        """Packets must have somewhere to go; control packets go to registers."""
        if channel.direction == RECEIVE:
            return
        routes = [t for t in self.s.network.routes if t.source is channel]
        if not any(t.packet in (id, None) for t in routes):
            raise refuse(
                op,
                f"sends packets with id {id} from {channel.tile} {channel.direction} "
                f"{channel.index}, where no flow takes them; control packets, which write "
                "registers, do not run on the host target",
            )

    def bd(self, op: Operation, task: str, channel: Channel, t: Transfer) -> None:
        r.element_bytes(op, r.memref(op, t.base.type).element)
        if t.packet:
            self.check_packet(op, t.packet[0], channel)
        if len(t.sizes) > 4:
            raise refuse(op, f"has {len(t.sizes)} dimensions, a descriptor has at most 4")
        words = [f"iron::bd({self.value(op, t.base)}, {t.offset}, {t.length})"]
        for i, (size, step) in enumerate(zip(t.sizes, t.strides, strict=True)):
            pad = ", {}, {}".format(*t.padding[i]) if t.padding and any(t.padding[i]) else ""
            words.append(f".dim({self.number(op, size)}, {self.number(op, step)}{pad})")
        if t.iteration is not None and t.iteration[0] != 1:
            size, step = t.iteration
            words.append(f".iterate({self.number(op, size)}, {self.number(op, step)})")
        if t.packet:
            words.append(".send_as({}, {})".format(*t.packet))
        if t.next >= 0:
            words.append(f".then({t.next})")
        self.write(f"iron::add_bd({task}, {''.join(words)});")

    def do_aiex_dma_start_task(self, op: Operation) -> None:
        self.write(f"iron::start(c, {self.value(op, op.operands[0])}, {self.site(op)});")

    def do_aiex_dma_await_task(self, op: Operation) -> None:
        source = defining_op(op.operands[0])
        configured = source is not None and "configure_task" in source.name
        if source is not None and configured and not r.flag(source, "issue_token"):
            raise refuse(
                op,
                f"the task configured at {r.where(source) or 'an unknown place'} issues no "
                "token, so nothing can be awaited; give it issue_token = true",
            )
        self.write(f"iron::await(c, {self.value(op, op.operands[0])}, {self.site(op)});")

    def do_aiex_dma_free_task(self, op: Operation) -> None:
        self.write(f"iron::free_task({self.value(op, op.operands[0])});")

    # ---- the older form
    def do_aiex_npu_dma_memcpy_nd(self, op: Operation) -> None:
        symbol = r.symbol(op, "metadata")
        channel = self.s.channel_named(op, symbol)
        sizes = r.mixed(op, "sizes", "static_sizes")
        steps = r.mixed(op, "strides", "static_strides")
        offsets = r.mixed(op, "offsets", "static_offsets")
        for name in (
            "d0_zero_before",
            "d1_zero_before",
            "d2_zero_before",
            "d0_zero_after",
            "d1_zero_after",
            "d2_zero_after",
        ):
            if r.integer(op, name, 0):
                raise refuse(op, "padding is not available on a shim channel")
        terms = [
            f"(int64_t){self.number(op, o)} * {self.number(op, s)}"
            for o, s in zip(offsets, steps, strict=True)
            if o != 0
        ]
        if all(isinstance(n, int) for n in [*offsets, *steps]):
            folded = sum(
                o * s
                for o, s in zip(offsets, steps, strict=True)
                if isinstance(o, int) and isinstance(s, int)
            )
            terms = [str(folded)]
        # An S2MM transfer always issues a token (mlir-aie's AIEDmaToNpu).
        token = r.flag(op, "issue_token") or channel.direction == RECEIVE
        own = r.record(op.attributes.get("packet"), "pkt_id", "pkt_type")
        packet = (own[0], own[1]) if own else self.s.packets.get(symbol)
        task = self.fresh("task")
        self.write(
            f"int64_t {task} = iron::new_task(c, {self.channel(channel)}, 0, "
            f"{'true' if token else 'false'}, {self.site(op)});"
        )
        self.bd(
            op,
            task,
            channel,
            Transfer(
                r.required(op, "memref"),
                self.shifted(op, " + ".join(terms) or "0"),
                self.product_text(op, sizes),
                sizes,
                steps,
                packet=packet,
            ),
        )
        self.write(f"iron::start(c, {task}, {self.site(op)});")

    def do_aiex_npu_dma_wait(self, op: Operation) -> None:
        channel = self.s.channel_named(op, r.symbol(op, "symbol"))
        self.write(f"iron::wait(c, {self.channel(channel)}, {self.site(op)});")

    def do_aiex_npu_sync(self, op: Operation) -> None:
        numbers = {}
        for name in ("column", "row", "direction", "channel", "column_num", "row_num"):
            n = r.number_or_value(op, name, name)
            if not isinstance(n, int):
                raise refuse(op, f"{name} must be a constant on the host target")
            numbers[name] = n
        by_place = {(t.column, t.row): t for t in self.s.tiles.values()}
        for column in range(numbers["column"], numbers["column"] + numbers["column_num"]):
            for row in range(numbers["row"], numbers["row"] + numbers["row_num"]):
                tile = by_place.get((column, row))
                direction = DIRECTIONS[numbers["direction"]]
                if tile is None or not self.s.has_channel(tile, direction, numbers["channel"]):
                    raise refuse(
                        op,
                        f"the design has no DMA ({column},{row}) {direction} "
                        f"{numbers['channel']} to wait for",
                    )
                channel = self.s.channel(tile, direction, numbers["channel"])
                self.write(f"iron::wait(c, {self.channel(channel)}, {self.site(op)});")

    # ---- locks
    def do_aiex_set_lock(self, op: Operation) -> None:
        lock = self.lock(self.s.lock(op, r.single(op, "lock")))
        self.write(f"iron::set_lock(c, {lock}, {r.integer(op, 'value')});")

    def do_aie_end(self, op: Operation) -> None:
        pass


BD_PARTS = {
    "aie.dma_bd",
    "aie.dma_bd_packet",
    "aie.use_lock",
    "aie.next_bd",
    "aie.end",
    "cf.br",
}


def product(sizes: Sequence[Number]) -> int | None:
    """The product, None when a factor is not a constant."""
    numbers = [n for n in sizes if isinstance(n, int)]
    return math.prod(numbers) if len(numbers) == len(sizes) else None
