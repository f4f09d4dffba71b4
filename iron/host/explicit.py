"""Explicit programs: tiles, buffers, locks, DMA programs, flows and packet flows of a device.

Owns the translation of these operations into parts of the network; ObjectFifos are in `fifo`,
routed switchboxes in `routes`, code in `cpp`.
"""

from __future__ import annotations

import math

from iron.ir.attributes import DenseElementsAttr
from iron.ir.core import Block, Operation

from . import reading as r
from .errors import refuse
from .fifo import FifoLowering
from .network import Bd, Channel, Dimension, LockUse, Port, Task
from .routes import routed_streams
from .state import BUNDLE_CONTROL, DIRECTIONS, OUTSIDE, Lowering

ACQUIRE, RELEASE, ACQUIRE_GREATER_EQUAL = 0, 1, 2  # LockAction in mlir-aie
RAW_REGISTERS = {
    "aiex.npu.write32",
    "aiex.npu.maskwrite32",
    "aiex.npu.blockwrite",
    "aiex.npu.address_patch",
    "aiex.npu.writebd",
    "aiex.npu.push_queue",
    "aiex.control_packet",
    "aiex.npu.update_from_scratchpad",
    "aiex.npu.create_scratchpad",
}


def lower_device(s: Lowering) -> None:
    """Everything of a device but its code."""
    for op in s.op.walk():
        if op.name in ("aie.tile", "aie.logical_tile"):
            s.add_tile(op)
    for op in s.op.walk():
        if op.name in ("aie.buffer", "aie.external_buffer"):
            add_buffer(s, op)
        elif op.name == "aie.lock":
            add_lock(s, op)
    for op in s.each("aie.shim_dma_allocation"):
        add_allocation(s, op)
    for op in s.each("aie.mem", "aie.memtile_dma", "aie.shim_dma"):
        dma_program(s, op)
    for op in s.each("aie.flow"):
        add_flow(s, op)
    for op in s.each("aie.packet_flow"):
        add_packet_flow(s, op)
    routed_streams(s)
    FifoLowering(s).run()
    add_cascades(s)
    add_parameters(s)


def add_buffer(s: Lowering, op: Operation) -> None:
    type = r.memref(op, op.results[0].type)
    tile = OUTSIDE if op.name == "aie.external_buffer" else s.tile(op, r.single(op, "tile"))
    initial = op.attributes.get("initial_value")
    b = s.add_buffer(
        op.symbol or "buffer",
        tile,
        r.size_in_bytes(op, type),
        r.content(op, initial) if isinstance(initial, DenseElementsAttr) else None,
        r.where(op),
    )
    s.buffers[id(op.results[0])] = b
    if op.symbol:
        s.buffer_symbols[op.symbol] = b
        s.buffer_types[op.symbol] = op


def add_lock(s: Lowering, op: Operation) -> None:
    tile = s.tile(op, r.single(op, "tile"))
    name = op.symbol or f"lock{r.optional_integer(op, 'lockID') or ''}"
    text = f"lock '{op.symbol}'" if op.symbol else f"a lock of tile {tile}"
    s.locks[id(op.results[0])] = s.add_lock(
        name, tile, r.integer(op, "init", 0), text, where=r.where(op)
    )


def add_allocation(s: Lowering, op: Operation) -> None:
    tile = s.tile(op, r.single(op, "tile"))
    direction = DIRECTIONS[r.integer(op, "channel_dir")]
    c = s.channel(tile, direction, r.integer(op, "channel_index"))
    c.symbol = (op.symbol or "").removesuffix("_shim_alloc")
    c.where = c.where or r.where(op)
    s.symbols[op.symbol or ""] = c
    packet = r.record(op.attributes.get("packet"), "pkt_id", "pkt_type")
    if packet:
        s.packets[op.symbol or ""] = (packet[0], packet[1])


def add_parameters(s: Lowering) -> None:
    """A cell for each scratchpad parameter a core reads, and the lock that says they have come
    (mlir-aie's AIELowerScratchpadParameters)."""
    for core in s.each("aie.core"):
        reads = [op for op in core.walk() if op.name == "aiex.read_scratchpad_parameter"]
        tile = s.tile(core, r.single(core, "tile"))
        for op in reads:
            key = (r.symbol(op, "parameter"), tile.key)
            if key not in s.parameters:
                nbytes = max(8, r.element_bytes(op, op.results[0].type))
                s.parameters[key] = s.add_buffer(key[0], tile, nbytes, None, r.where(op))
        if r.flag(core, "emit_parameter_sync_preamble", bool(reads)):
            text = f"the scratchpad parameters of tile {tile}"
            s.parameter_locks[tile.key] = s.add_lock("parameters", tile, 0, text)


# ---- DMA programs
def dma_program(s: Lowering, op: Operation) -> None:
    tile = s.tile(op, r.single(op, "tile"))
    for inner in op.walk():
        if inner.name not in ("aie.dma_start", "aie.dma"):
            continue
        direction = DIRECTIONS[r.integer(inner, "channel_dir")]
        c = s.channel(tile, direction, r.integer(inner, "channel_index"))
        c.where = c.where or r.where(inner)
        c.pad = r.integer(inner, "pad_value", 0) or c.pad
        if inner.name == "aie.dma_start":
            bds = chain(s, inner.successors[0][0])
        else:
            bds = [
                bd for region in inner.regions if (bd := descriptor(s, region.entry)) is not None
            ]
            for i, bd in enumerate(bds):
                last = 0 if r.flag(inner, "loop", True) else -1
                bd.next = i + 1 if i + 1 < len(bds) else last
        if bds:
            c.tasks.append(Task(bds, r.integer(inner, "repeat_count", 0)))


def chain(s: Lowering, first: Block) -> list[Bd]:
    """The descriptors from a block on, along next_bd. Blocks without one are passed through."""
    order: list[Block] = []
    block: Block | None = first
    while block is not None and block not in order:
        order.append(block)
        block = next_block(block)
    found = [(b, bd) for b in order if (bd := descriptor(s, b)) is not None]
    position = {id(b): i for i, (b, _) in enumerate(found)}
    for b, bd in found:
        seen: set[int] = set()
        after = next_block(b)
        while after is not None and id(after) not in position and id(after) not in seen:
            seen.add(id(after))
            after = next_block(after)
        bd.next = position.get(id(after), -1) if after is not None else -1
    return [bd for _, bd in found]


def next_block(block: Block) -> Block | None:
    last = block.terminator
    if last is not None and last.name in ("aie.next_bd", "cf.br") and last.successors:
        return last.successors[0][0]
    return None


def lock_uses(s: Lowering, block: Block) -> tuple[tuple[LockUse, ...], tuple[LockUse, ...]]:
    """What a descriptor's block acquires and releases."""
    acquires, releases = [], []
    for op in block.operations:
        if op.name != "aie.use_lock":
            continue
        value = r.number_or_value(op, "value", "value")
        if not isinstance(value, int):
            raise refuse(op, "the value must be a constant in a DMA program")
        lock = s.lock(op, r.single(op, "lock"))
        action = r.integer(op, "action")
        if action == RELEASE:
            releases.append(LockUse(lock, value))
        elif r.flag(op, "acq_en", True):
            acquires.append(LockUse(lock, value, action == ACQUIRE))
    return tuple(acquires), tuple(releases)


def packet_of(block: Block, bd: Operation) -> tuple[int, int] | None:
    """(id, type) of the packets a descriptor sends."""
    for op in block.operations:
        if op.name == "aie.dma_bd_packet":
            return r.integer(op, "packet_id"), r.integer(op, "packet_type")
    packet = r.record(bd.attributes.get("packet"), "pkt_id", "pkt_type")
    return (packet[0], packet[1]) if packet else None


def bd_of(block: Block) -> Operation | None:
    return next((op for op in block.operations if op.name == "aie.dma_bd"), None)


def descriptor(s: Lowering, block: Block) -> Bd | None:
    """The descriptor of a block of a static DMA program; None when it holds none."""
    op = bd_of(block)
    if op is None:
        return None
    operand = r.required(op, "buffer")
    buffer = s.buffers.get(id(operand))
    if buffer is None:
        raise refuse(op, "its buffer is not an aie.buffer of this device")
    type = r.memref(op, operand.type)
    sizes = r.static_numbers(op, r.mixed(op, "sizes", "static_sizes"), "sizes")
    strides = r.static_numbers(op, r.mixed(op, "strides", "static_strides"), "strides")
    dims = list(zip(sizes, strides, strict=True)) or r.dimensions(op.attributes.get("dimensions"))
    offset = r.number_or_value(op, "offset", "static_offset") or 0
    length = r.number_or_value(op, "len", "static_len")
    offset, length = r.static_numbers(
        op, [offset, type.size if length is None else length], "offset and length"
    )
    padding = pad_dimensions(op, len(dims))
    if padding:
        length = math.prod(n for n, _ in dims)
    acquires, releases = lock_uses(s, block)
    iteration = r.record(op.attributes.get("iteration"), "size", "stride", "current")
    return Bd(
        buffer,
        offset,
        length,
        r.element_bytes(op, type.element),
        tuple(
            Dimension(size, stride, *(padding[i] if padding else (0, 0)))
            for i, (size, stride) in enumerate(dims)
        ),
        (iteration[0], iteration[1], iteration[2]) if iteration else None,
        acquires,
        releases,
        packet=packet_of(block, op),
    )


def pad_dimensions(op: Operation, rank: int) -> list[tuple[int, int]]:
    """Padding before and after each dimension, outermost first; empty when there is none."""
    padding = r.pairs(op.attributes.get("pad_dimensions"), "const_pad_before", "const_pad_after")
    if not padding:
        return []
    if len(padding) > rank:
        raise refuse(op, f"{len(padding)} paddings do not fit {rank} dimensions")
    return [(0, 0)] * (rank - len(padding)) + padding


# ---- streams
def add_flow(s: Lowering, op: Operation) -> None:
    source = s.stream(
        s.tile(op, r.single(op, "source")),
        r.integer(op, "source_bundle"),
        r.integer(op, "source_channel"),
        sends=True,
    )
    sink = s.stream(
        s.tile(op, r.single(op, "dest")),
        r.integer(op, "dest_bundle"),
        r.integer(op, "dest_channel"),
        sends=False,
    )
    if source is not None and sink is not None:
        s.add_route(source, [sink], None, keep_header=False)


def add_packet_flow(s: Lowering, op: Operation) -> None:
    sources: list[Channel | Port] = []
    sinks: list[Channel | Port] = []
    for p in op.body.operations:
        if p.name not in ("aie.packet_source", "aie.packet_dest"):
            continue
        sends = p.name == "aie.packet_source"
        bundle = r.integer(p, "bundle")
        tile = s.tile(p, r.single(p, "tile"))
        if bundle == BUNDLE_CONTROL and not sends:
            raise refuse(p, "control packets write registers, which this target does not have")
        end = s.stream(tile, bundle, r.integer(p, "channel"), sends)
        if end is not None:
            (sources if sends else sinks).append(end)
    for source in sources:
        if sinks:
            keep = r.flag(op, "keep_pkt_header")
            s.add_route(source, sinks, r.integer(op, "ID") & 0xFF, keep_header=keep)


_STEP = {3: (0, -1), 4: (-1, 0), 5: (0, 1), 6: (1, 0)}  # by number of CascadeDir


def add_cascades(s: Lowering) -> None:
    for op in s.each("aie.cascade_flow"):
        a = s.tile(op, r.single(op, "source_tile"))
        b = s.tile(op, r.single(op, "dest_tile"))
        s.network.cascades.append((a, b))
    if s.network.cascades:
        return
    configured = list(s.each("aie.configure_cascade"))
    by_place = {(t.column, t.row): t for t in s.tiles.values()}
    inputs = {}
    for op in configured:
        inputs[s.tile(op, r.single(op, "tile")).key] = r.integer(op, "inputDir")
    for op in configured:
        a = s.tile(op, r.single(op, "tile"))
        step = _STEP[r.integer(op, "outputDir")]
        if a.column is None or a.row is None:
            continue
        other = by_place.get((a.column + step[0], a.row + step[1]))
        if other is None or other.key not in inputs:
            continue
        back = _STEP[inputs[other.key]]
        if (-back[0], -back[1]) == step:
            s.network.cascades.append((a, other))
