"""Do the descriptors of a runtime sequence fit the device, as far as they are constants?

And how many of them a tile holds at once: from the configuration of a task to its await or free.
"""

from __future__ import annotations

from collections.abc import Iterator

from iron.ir.core import Block, Operation

from . import reading as r
from .checks import LIMITS, MAX_REPEAT, at, bd_faults
from .devices import device_name
from .errors import HostError
from .explicit import bd_of, lower_device, next_block
from .network import Bd, Buffer, Channel, Dimension
from .state import DIRECTIONS, Lowering


def sequence_faults(s: Lowering, sequence: Operation) -> Iterator[str]:
    yield from _Walk(s).block(sequence.body)


class _Walk:
    def __init__(self, s: Lowering) -> None:
        self.s = s
        self.held: dict[int, tuple[str, int]] = {}
        self.told: set[str] = set()

    def block(self, block: Block) -> Iterator[str]:
        for op in block.operations:
            if op.name in ("aiex.dma_configure_task_for", "aiex.dma_configure_task"):
                yield from self.task(op)
            elif op.name in ("aiex.dma_await_task", "aiex.dma_free_task"):
                self.held.pop(id(op.operands[0]), None)
            elif op.name == "aiex.npu.dma_memcpy_nd":
                yield from self.memcpy(op)
            elif op.name == "aiex.configure":
                yield from self.configured(op)
            elif op.name in ("scf.for", "scf.if", "scf.while"):
                before = dict(self.held)
                for region in op.regions:
                    for inner in region.blocks:
                        yield from self.block(inner)
                self.held = before  # what a loop holds at once is not known here

    def configured(self, op: Operation) -> Iterator[str]:
        """Another device has the array meanwhile: its tiles, and no descriptor held yet. (What it
        runs is checked where it is written.)"""
        around = self.s.op.parent
        wanted = r.symbol(op, "symbol")
        for device in around.body.operations if around is not None else ():
            if device.name == "aie.device" and device.symbol == wanted:
                s = Lowering(device, device_name(device))
                try:
                    lower_device(s)
                except HostError:
                    return  # told when it is run
                yield from _Walk(s).block(op.region.entry)

    def task(self, op: Operation) -> Iterator[str]:
        channel = task_channel(self.s, op)
        if channel is None:
            return
        tile, who = channel.tile, channel.fifo or channel.symbol or channel.name
        bds = list(task_bds(op, channel))
        for bd in bds:
            yield from bd_faults(channel, bd, r.where(op))
        repeat = r.integer(op, "repeat_count", 0)
        if repeat > MAX_REPEAT:
            yield (
                f"tile {tile}: {who}: a task repeated {repeat} times, at most "
                f"{MAX_REPEAT}{at(r.where(op))}"
            )
        self.held[id(op.results[0])] = (tile.key, max(1, len(bds)))
        used = sum(n for key, n in self.held.values() if key == tile.key)
        limit = LIMITS[tile.kind].bds
        if used > limit and tile.key not in self.told:
            self.told.add(tile.key)
            yield (
                f"tile {tile}: the sequence holds {used} buffer descriptors at once, the tile has "
                f"{limit}; wait for or free tasks before{at(r.where(op))}"
            )

    def memcpy(self, op: Operation) -> Iterator[str]:
        try:
            channel = self.s.channel_named(op, r.symbol(op, "metadata"))
        except HostError:
            return  # told when it is run
        who, tail = channel.fifo or channel.symbol, at(r.where(op))
        number, limit = r.integer(op, "id", 0), LIMITS[channel.tile.kind].bds
        if number >= limit:
            yield (
                f"tile {channel.tile}: {who}: buffer descriptor {number}, the tile has {limit}, "
                f"from 0{tail}"
            )
        sizes = r.mixed(op, "sizes", "static_sizes")
        steps = r.mixed(op, "strides", "static_strides")
        offsets = r.mixed(op, "offsets", "static_offsets")
        dims = [
            Dimension(n, t)
            for n, t in zip(sizes, steps, strict=True)
            if isinstance(n, int) and isinstance(t, int)
        ]
        if len(dims) != len(sizes):
            return
        offset = 0
        for o, t in zip(offsets, steps, strict=True):
            if isinstance(o, int) and isinstance(t, int):
                offset += o * t
        yield from bd_faults(channel, shim_bd(op, channel, dims, offset, None), r.where(op))


def shim_bd(
    op: Operation, channel: Channel, dims: list[Dimension], offset: int, length: int | None
) -> Bd:
    """A descriptor as the device gets it: where there are three dimensions, the outermost of four
    is the iteration."""
    iteration = None
    if len(dims) == 4 and channel.tile.kind != "mem":
        first, *dims = dims
        if first.size > 1:
            iteration = (first.size, first.stride, 0)
    if length is None:
        length = 1
        for d in dims:
            length *= d.size
    bd = bd_of(op.region.entry) if op.regions else None
    of = r.required(bd, "buffer") if bd is not None else r.required(op, "memref")
    element = r.element_bytes(op, r.memref(op, of.type).element)
    buffer = Buffer("", channel.tile, 0)
    return Bd(buffer, offset, length, element, tuple(dims), iteration)


def task_channel(s: Lowering, op: Operation) -> Channel | None:
    try:
        if op.name.endswith("_for"):
            return s.channel_named(op, r.symbol(op, "alloc"))
        tile = s.tile(op, r.single(op, "tile"))
        direction = DIRECTIONS[r.integer(op, "direction")]
        return s.channel(tile, direction, r.integer(op, "channel"))
    except HostError:
        return None


def task_bds(op: Operation, channel: Channel) -> Iterator[Bd]:
    """The task's descriptors whose numbers are constants."""
    block: Block | None = op.region.entry
    seen: list[Block] = []
    while block is not None and block not in seen:
        seen.append(block)
        bd = bd_of(block)
        block = next_block(block)
        if bd is None:
            continue
        sizes = r.mixed(bd, "sizes", "static_sizes")
        steps = r.mixed(bd, "strides", "static_strides")
        pairs = list(zip(sizes, steps, strict=True))
        pairs = pairs or [*r.dimensions(bd.attributes.get("dimensions"))]
        dims = [Dimension(n, t) for n, t in pairs if isinstance(n, int) and isinstance(t, int)]
        type = r.memref(bd, r.required(bd, "buffer").type)
        offset = r.number_or_value(bd, "offset", "static_offset") or 0
        length = r.number_or_value(bd, "len", "static_len")
        if len(dims) != len(pairs) or not isinstance(offset, int):
            continue
        if length is None and not dims:
            length = type.size
        iteration = None
        if len(dims) == 4 and channel.tile.kind != "mem":
            first, *dims = dims
            if first.size > 1 and first.stride:
                iteration = (first.size, first.stride, 0)
        yield Bd(
            Buffer("", channel.tile, 0),
            offset,
            length if isinstance(length, int) else 0,
            r.element_bytes(bd, type.element),
            tuple(dims),
            iteration,
        )
