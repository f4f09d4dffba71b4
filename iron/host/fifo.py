"""ObjectFifos as buffers, locks, DMA channels and routes.

The rules (when a DMA is needed, how many objects each side has, which side of a link owns the
memory, what a descriptor moves) are those of mlir-aie's objectFifo-stateful-transform of
August 2026, so that a design waits here where it waits there.
"""

from __future__ import annotations

import math

from iron.ir.attributes import ArrayAttr, DenseElementsAttr
from iron.ir.core import Operation
from iron.ir.types import MemRefType

from . import reading as r
from .errors import refuse
from .fifo_parts import Fifo, Link, Pool, consumer_name, reaches, share_memory, take_give
from .network import Bd, Buffer, Channel, Dimension, End, Lock, LockUse, Port, Route, Task, Tile
from .state import RECEIVE, SEND, Lowering


class FifoLowering:
    def __init__(self, s: Lowering) -> None:
        self.s = s
        self.fifos: dict[str, Fifo] = {}
        self.link_into: dict[tuple[str, str], Link] = {}  # by the fifo and the tile it ends on
        self.link_out_of: dict[str, Link] = {}
        self.acquired: dict[tuple[str, str], int] = {}  # (fifo, tile): most objects held
        self.allocated: dict[str, Tile] = {}

    def run(self) -> None:
        for op in self.s.each("aie.objectfifo"):
            fifo = self.read(op)
            self.fifos[fifo.name] = fifo
        if not self.fifos:
            return
        self.scan_cores()
        for op in self.s.each("aie.objectfifo.allocate"):
            tile = self.s.tile(op, r.single(op, "delegateTile"))
            self.allocated[r.symbol(op, "objFifo_name")] = tile
        for op in self.s.each("aie.objectfifo.register_external_buffers"):
            raise refuse(op, "external buffers are filled by the runtime sequence on this target")
        for op in self.s.each("aie.objectfifo.link"):
            self.read_link(op)
        pinned = self.pin_channels()
        for fifo in self.fifos.values():
            if self.needs_dma(fifo):
                self.over_dma(fifo, pinned)
            else:
                self.in_shared_memory(fifo)

    # ---- reading
    def read(self, op: Operation) -> Fifo:
        type = r.fifo_type(op, "elemType")
        if type is None:
            raise refuse(op, "has no object type")
        dims = op.attributes.get("dimensionsFromStreamPerConsumer")
        per_consumer = list(dims.values) if isinstance(dims, ArrayAttr) else []
        consumers = [self.s.tile(op, v) for v in r.group(op, "consumerTiles")]
        from_stream = [r.dimensions(d) for d in per_consumer]
        from_stream += [[] for _ in range(len(consumers) - len(from_stream))]
        init = op.attributes.get("initValues")
        values = init.values if isinstance(init, ArrayAttr) else ()
        fifo = Fifo(
            op,
            op.symbol or "",
            self.s.tile(op, r.single(op, "producerTile")),
            consumers,
            type,
            r.fifo_type(op, "consumerElemType") or type,
            r.integer(op, "repeat_count", 1),
            r.dimensions(op.attributes.get("dimensionsToStream")),
            from_stream,
            r.element_bytes(op, type.element),
            [r.content(op, v) for v in values if isinstance(v, DenseElementsAttr)],
            r.flag(op, "via_DMA")
            or "repeat_count" in op.attributes
            or "consumerElemType" in op.attributes
            or "aie_stream" in op.attributes,
        )
        if not consumers:
            raise refuse(op, f"fifo '{fifo.name}' has no consumer")
        return fifo

    def read_link(self, op: Operation) -> None:
        def of(name: str) -> list[Fifo]:
            found = []
            for n in r.symbols(op, name):
                if n not in self.fifos:
                    raise refuse(op, f"@{n} is no objectfifo of this device")
                found.append(self.fifos[n])
            return found

        ins, outs = of("fifoIns"), of("fifoOuts")
        if not ins or not outs or (len(ins) > 1 and len(outs) > 1):
            raise refuse(op, "a link joins several fifos into one or distributes one over several")
        tile = outs[0].producer
        for f in ins:
            if tile not in f.consumers:
                raise refuse(op, f"fifo '{f.name}' does not end on tile {tile}, where the link is")
        offsets = r.integers(op.attributes.get("src_offsets" if len(ins) > 1 else "dst_offsets"))
        link = Link(op, ins, outs, offsets, tile)
        if link.parts and len(offsets) != len(link.parts):
            raise refuse(op, f"{len(link.parts)} parts need as many offsets, not {len(offsets)}")
        for f in ins:
            if self.link_into.setdefault((f.name, tile.key), link) is not link:
                raise refuse(op, f"fifo '{f.name}' is linked on tile {tile} already")
        for f in outs:
            self.link_out_of[f.name] = link

    def scan_cores(self) -> None:
        for core in self.s.each("aie.core"):
            tile = self.s.tile(core, r.single(core, "tile"))
            for op in core.walk():
                if op.name == "aie.objectfifo.acquire":
                    key = (r.symbol(op, "objFifo_name"), tile.key)
                    self.acquired[key] = max(self.acquired.get(key, 0), r.integer(op, "size"))

    # ---- rules
    def needs_dma(self, f: Fifo) -> bool:
        if f.via_dma or f.to_stream or any(f.from_stream) or len(f.consumers) != 1:
            return True
        if (f.name, f.consumers[0].key) in self.link_into or f.name in self.link_out_of:
            return True
        return not share_memory(f.producer, f.consumers[0])

    def depth(self, f: Fifo, tile: Tile, position: int) -> int:
        """How many objects one side of a fifo over DMA has; position 0 is the producer. A number
        a core never holds at once is not spent on it: one more than it acquires."""
        listed = r.integers(f.op.attributes.get("elemNumber"))
        if isinstance(f.op.attributes.get("elemNumber"), ArrayAttr):
            if len(listed) != len(f.consumers) + 1:
                raise refuse(
                    f.op, f"fifo '{f.name}' needs a depth for the producer and each consumer"
                )
            return listed[position]
        depth = listed[0]
        most = self.acquired.get((f.name, tile.key), 0)
        if depth == 0 or tile.kind != "core" or most == 0 or (position == 0 and f.init):
            return depth
        return 1 if most == 1 and depth == 1 else most + 1

    # ---- memory
    def pool(
        self,
        f: Fifo,
        name: str,
        tile: Tile,
        count: int,
        type: MemRefType,
        init: list[bytes],
        parts: int = 1,
        repeat: int = 1,
    ) -> Pool:
        nbytes = r.size_in_bytes(f.op, type)
        if init and len(init) != count:
            raise refuse(f.op, f"fifo '{f.name}' has {count} objects but {len(init)} init values")
        buffers = [
            self.s.add_buffer(f"{name}_buff_{i}", tile, nbytes, init[i] if init else None, f.where)
            for i in range(count)
        ]
        locks = []
        for i in range(parts if not r.flag(f.op, "disable_synchronization") else 0):
            part = f", part {i}" if parts > 1 else ""
            locks.append(
                (
                    self.s.add_lock(
                        f"{name}_prod_lock_{i}",
                        tile,
                        (count - len(init)) * repeat,
                        f"room for an object of fifo '{f.name}' on tile {tile}{part}",
                        f.name,
                        f.where,
                    ),
                    self.s.add_lock(
                        f"{name}_cons_lock_{i}",
                        tile,
                        len(init) * repeat,
                        f"a filled object of fifo '{f.name}' on tile {tile}{part}",
                        f.name,
                        f.where,
                    ),
                )
            )
        return Pool(buffers, locks, f.element, repeat)

    def end(self, f: Fifo, tile: Tile, port: str, pool: Pool) -> None:
        free, filled = pool.locks[0] if pool.locks else (None, None)
        acquire, release = (free, filled) if port == "produce" else (filled, free)
        e = End(
            self.s.unique(f"{f.name}.{port}{tile}"),
            f.name,
            port,
            pool.buffers,
            acquire,
            release,
            pool.repeat,
            f.where,
        )
        self.s.ends[f.name, port, tile.key] = e
        self.s.network.ends.append(e)

    def in_shared_memory(self, f: Fifo) -> None:
        consumer = f.consumers[0]
        tile = self.allocated.get(f.name)
        if tile is None:
            tile = f.producer if reaches(consumer, f.producer) else consumer
        depth = r.integers(f.op.attributes.get("elemNumber"))[0]
        pool = self.pool(f, f.name, tile, depth, f.type, f.init)
        self.end(f, f.producer, "produce", pool)
        self.end(f, consumer, "consume", pool)

    def link_pool(self, link: Link) -> Pool:
        """The memory of a link belongs to the fifo with the larger objects, or to the one with
        initial values; padding is added on the way out and takes no memory."""
        if link.pool is None:
            i, o = link.ins[0], link.outs[0]
            owner_is_out = len(link.ins) > 1
            if not link.parts:
                larger = o.type.size > i.consumer_type.size
                owner_is_out = bool(o.init) or (larger and "padDimensions" not in o.op.attributes)
            repeat = next((f.repeat for f in link.outs if f.repeat > 1), 1)
            parts = max(1, len(link.parts))
            if owner_is_out:
                depth = self.depth(o, link.tile, 0)
                link.pool = self.pool(o, o.name, link.tile, depth, o.type, o.init, parts, repeat)
            else:
                position = i.consumers.index(link.tile)
                depth = self.depth(i, link.tile, position + 1)
                name = consumer_name(i, position)
                link.pool = self.pool(i, name, link.tile, depth, i.consumer_type, [], parts, repeat)
        return link.pool

    # ---- DMA
    def pin_channels(self) -> dict[tuple[str, int], Channel]:
        """Channels the user has chosen, before any is chosen here."""
        pinned = {}
        for f in self.fifos.values():
            choice = r.optional_integer(f.op, "prod_dma_channel")
            if choice is not None:
                pinned[f.name, 0] = self.s.channel(f.producer, SEND, choice)
            for i, n in enumerate(r.integers(f.op.attributes.get("cons_dma_channels"))):
                if n >= 0:
                    pinned[f.name, i + 1] = self.s.channel(f.consumers[i], RECEIVE, n)
        return pinned

    def over_dma(self, f: Fifo, pinned: dict[tuple[str, int], Channel]) -> None:
        stream = r.optional_integer(f.op, "aie_stream")  # 0 producer, 1 consumer, 2 both
        port = r.integer(f.op, "aie_stream_port", 0)
        source: Channel | Port
        if stream in (0, 2):
            source = self.s.port(f.producer, "out", port)
        else:
            source = pinned.get((f.name, 0)) or self.s.free_channel(f.producer, SEND)
            self.name_channel(source, f)
            self.producer_side(f, source)
        sinks: list[Channel | Port] = []
        for i, tile in enumerate(f.consumers):
            if stream in (1, 2):
                sinks.append(self.s.port(tile, "in", port))
                continue
            sink = pinned.get((f.name, i + 1)) or self.s.free_channel(tile, RECEIVE)
            self.name_channel(sink, f)
            self.consumer_side(f, i, tile, sink)
            sinks.append(sink)
        self.s.network.routes.append(Route(source, sinks))

    def name_channel(self, c: Channel, f: Fifo) -> None:
        c.fifo, c.where = f.name, f.where
        if c.tile.kind == "shim":
            self.s.symbols.setdefault(f.name, c)

    def producer_side(self, f: Fifo, c: Channel) -> None:
        if f.producer.kind == "shim":
            if f.to_stream:
                raise refuse(f.op, "a layout to the stream is not available on a shim tile")
            return
        link = self.link_out_of.get(f.name)
        if link is None:
            depth = self.depth(f, f.producer, 0)
            pool = self.pool(f, f.name, f.producer, depth, f.type, f.init, 1, f.repeat)
            self.end(f, f.producer, "produce", pool)
        else:
            pool = self.link_pool(link)
        iterations = r.optional_integer(f.op, "iter_count")
        # A source of constant objects that is sent several times is never refilled.
        static = link is None and bool(f.init) and (iterations or 1) > 1
        bds = []
        for buffer in pool.buffers:
            for _ in range(f.repeat):
                for lock, offset, length in self.segments(f, link, pool, f.type, sends=True):
                    uses = () if static else take_give(lock, sends=True)
                    bds.append(
                        self.descriptor(f, pool, buffer, offset, length, f.to_stream, uses, True)
                    )
        c.pad = r.integer(f.op, "padValue", 0)
        self.install(c, bds, iterations)

    def consumer_side(self, f: Fifo, position: int, tile: Tile, c: Channel) -> None:
        if tile.kind == "shim":
            if f.from_stream[position]:
                raise refuse(f.op, "a layout from the stream is not available on a shim tile")
            return
        link = self.link_into.get((f.name, tile.key))
        if link is None:
            depth = self.depth(f, tile, position + 1)
            pool = self.pool(f, consumer_name(f, position), tile, depth, f.consumer_type, [])
            self.end(f, tile, "consume", pool)
        else:
            pool = self.link_pool(link)
        bds = []
        for buffer in pool.buffers:
            for lock, offset, length in self.segments(f, link, pool, f.consumer_type, sends=False):
                uses = take_give(lock, sends=False, count=pool.repeat if link else 1)
                dims = f.from_stream[position]
                bds.append(self.descriptor(f, pool, buffer, offset, length, dims, uses, False))
        iterations = r.optional_integer(f.op, "iter_count") if tile.kind == "mem" else None
        self.install(c, bds, iterations)

    def segments(
        self, f: Fifo, link: Link | None, pool: Pool, type: MemRefType, sends: bool
    ) -> list[tuple[tuple[Lock, Lock] | None, int, int]]:
        """(locks, offset, length) of each descriptor for one object."""
        locks: list[tuple[Lock, Lock] | None] = list(pool.locks) or [None]
        if link is None:
            return [(locks[0], 0, type.size)]
        if not link.parts:
            held = pool.buffers[0].nbytes // pool.element if pool.buffers else type.size
            return [(locks[0], 0, max(held, type.size) if not self.pads(f, sends) else type.size)]
        total = (link.whole.type if len(link.ins) > 1 else link.whole.consumer_type).size
        ends = [*link.offsets[1:], total]
        spans = [(o, e - o) for o, e in zip(link.offsets, ends, strict=True)]
        locks = locks if len(locks) == len(spans) else [None] * len(spans)
        if f in link.parts:
            i = link.parts.index(f)
            return [(locks[i], *spans[i])]
        return [(lock, *span) for lock, span in zip(locks, spans, strict=True)]

    def pads(self, f: Fifo, sends: bool) -> bool:
        return sends and "padDimensions" in f.op.attributes

    def descriptor(
        self,
        f: Fifo,
        pool: Pool,
        buffer: Buffer,
        offset: int,
        length: int,
        dims: list[tuple[int, int]],
        uses: tuple[LockUse, ...],
        sends: bool,
    ) -> Bd:
        padding = []
        if self.pads(f, sends):
            padding = r.pairs(
                f.op.attributes["padDimensions"], "const_pad_before", "const_pad_after"
            )
            if not dims:
                raise refuse(f.op, "padding needs a layout to the stream (dimensionsToStream)")
            if len(padding) > len(dims):
                raise refuse(f.op, f"{len(padding)} paddings do not fit {len(dims)} dimensions")
            padding = [(0, 0)] * (len(dims) - len(padding)) + padding
            length = math.prod(n for n, _ in dims)
        layout = tuple(
            Dimension(size, stride, *(padding[i] if padding else (0, 0)))
            for i, (size, stride) in enumerate(dims)
        )
        return Bd(buffer, offset, length, pool.element, layout, None, uses[:1], uses[1:])

    def install(self, c: Channel, bds: list[Bd], iterations: int | None) -> None:
        """A ring that never ends, or a chain run `iterations` times."""
        if not bds:
            return
        for i, bd in enumerate(bds):
            bd.next = i + 1
        bds[-1].next = 0 if iterations is None else -1
        c.tasks.append(Task(bds, 0 if iterations is None else iterations - 1))
