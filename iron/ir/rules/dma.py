"""DMA programs: their channels, blocks and buffer descriptors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..attributes import ArrayAttr, DenseArrayAttr, StructAttr
from ..core import Operation, defining_op
from ..dialects.enums import DMAChannelDir, LockAction
from ..directives.common import DYNAMIC_INDEX
from ..types import DYNAMIC, MemRefType, bit_width
from .places import Place, around, number, place_of

if TYPE_CHECKING:
    from ..verifier import Check

CHANNELS = {"core": (2, 2), "mem": (6, 6), "shim_noc": (2, 2), "shim_pl": (0, 0)}
"""DMA channels of each kind of tile, S2MM and MM2S (mlir-aie's target model)."""

DMAS = ("aie.mem", "aie.memtile_dma", "aie.shim_dma")
TASKS = ("aiex.dma_configure_task", "aiex.dma_configure_task_for", "aie.bd_chain")
_ENDS = ("aie.next_bd", "aie.dma_start", "aie.end")


def program(op: Operation, check: Check) -> None:
    """A program of buffer descriptors on a tile."""
    place = place_of(op.operand("tile"))
    used: dict[int, set[int]] = {0: set(), 1: set()}
    count = 0
    for block in op.regions[0].blocks:
        last = block.terminator
        if last is not None and last.definition is not None and last.name not in _ENDS:
            check.fault(last, f"ends a block of {op.name}, {', '.join(_ENDS)} is expected")
        descriptors = [o for o in block.operations if o.name == "aie.dma_bd"]
        count += bool(descriptors)
        if len(descriptors) > 1:
            check.fault(descriptors[1], "is the second of its block, one is expected")
        if descriptors:
            _block_locks(op, block.operations, check)
        for start in block.operations:
            if start.name in ("aie.dma_start", "aie.dma"):
                direction, channel = number(start, "channel_dir"), number(start, "channel_index")
                if direction in used and channel is not None:
                    used[direction].add(channel)
                    _channel(start, place, direction, channel, check)
    if place is not None and place.device is not None:
        most = place.device.descriptors(place.kind)
        if count > most:
            check.fault(op, f"has {count} buffer descriptors, tile {place} has {most}")


def _block_locks(op: Operation, operations: list[Operation], check: Check) -> None:
    seen: dict[bool, Operation] = {}
    for use in operations:
        if use.name == "aie.use_lock":
            releases = number(use, "action") == LockAction.Release
            if releases in seen:
                word = "releases" if releases else "acquires"
                check.fault(
                    use,
                    f"{word} a second lock around one buffer descriptor, the other "
                    f"at {seen[releases].location}",
                )
            seen.setdefault(releases, use)


def _channel(
    op: Operation, place: Place | None, direction: int, channel: int, check: Check
) -> None:
    if place is None:
        return
    most = CHANNELS[place.kind][direction]
    if channel >= most:
        name = DMAChannelDir(direction).name
        check.fault(op, f"uses channel {channel}, tile {place} has {most} {name} channels")


def start(op: Operation, check: Check) -> None:
    value = number(op, "pad_value")
    if value and number(op, "channel_dir") != DMAChannelDir.MM2S:
        check.fault(op, "attribute 'pad_value' is for MM2S channels only")


def _static(op: Operation, name: str) -> list[int]:
    value = op.attributes.get(name)
    return [int(v) for v in value.values] if isinstance(value, DenseArrayAttr) else []


def descriptor(op: Operation, check: Check) -> None:
    sizes, strides = _static(op, "static_sizes"), _static(op, "static_strides")
    if len(sizes) != len(strides):
        check.fault(op, f"has {len(sizes)} sizes and {len(strides)} strides")
    dims = len(dimensions(op))
    pads = op.attributes.get("pad_dimensions")
    for name in ("offset", "len"):
        if len(op.group(name)) and number(op, f"static_{name}") is not None:
            check.fault(op, f"'{name}' is given as an operand and as a number")
    packet_fits(op, check)
    home = around(op, *DMAS, *TASKS)
    if home is None:
        check.fault(op, "stands outside of a DMA and of a task")
        return
    place = place_of(home.operands[0]) if home.name in DMAS and home.operands else None
    if place is None or place.device is None:
        return
    for name in ("bd_id", "next_bd_id"):
        identity = number(op, name)
        most = place.device.descriptors(place.kind)
        if identity is not None and not 0 <= identity < most:
            check.fault(op, f"attribute '{name}' is {identity}, tile {place} has 0 to {most - 1}")
    limit = 4 if place.kind == "mem" else 3
    if dims > limit and not place.is_shim:
        check.fault(op, f"has {dims} dimensions, tile {place} takes {limit}")
    if isinstance(pads, ArrayAttr) and len(pads.values) != dims:
        check.fault(op, f"pads {len(pads.values)} dimensions, it has {dims}")
    if isinstance(pads, ArrayAttr) and pads.values and place.kind != "mem":
        check.fault(op, f"pads on tile {place} a memory tile is expected")
    _bd_buffer(op, home, place, check)
    _iteration(op, check)


def packet_fits(op: Operation, check: Check) -> None:
    packet = op.attributes.get("packet")
    if isinstance(packet, StructAttr):
        for field, most in (("pkt_type", 7), ("pkt_id", 31)):
            value = packet[field]
            if isinstance(value, int) and not 0 <= value <= most:
                check.fault(op, f"attribute 'packet' has {field} {value}, 0 to {most} is expected")


def _bd_buffer(op: Operation, home: Operation, place: Place, check: Check) -> None:
    buffer = defining_op(op.operands[0])
    if buffer is None or buffer.name not in ("aie.buffer", "aie.external_buffer"):
        found = buffer.name if buffer is not None else "a block argument"
        check.fault(
            op, f"operand 'buffer' is {found}, aie.buffer or aie.external_buffer is expected"
        )
        return
    if home.name == "aie.mem" and buffer.name == "aie.buffer":
        theirs = place_of(buffer.operands[0])
        if theirs is not None and theirs.op is not place.op:
            check.fault(
                op,
                f"a DMA of tile {place} can only move buffers of its tile, "
                f"this one is at {buffer.location}",
            )
    type = buffer.results[0].type
    if not isinstance(type, MemRefType) or DYNAMIC in type.shape:
        return
    _bounds(op, type, check)
    length = number(op, "static_len")
    length = number(op, "len") if length is None else length
    try:
        bits = bit_width(type.element) * (type.size if length is None else length)
    except ValueError:
        return
    if bits % 32:
        check.fault(op, f"moves {bits / 8:g} bytes, a multiple of 4 is expected")


def dimensions(op: Operation) -> list[tuple[int, int]]:
    """Sizes and strides of a buffer descriptor, outermost first, in either spelling; a value
    known only at run time is `DYNAMIC_INDEX`."""
    layout = op.attributes.get("dimensions")
    if isinstance(layout, ArrayAttr):
        records = [v for v in layout.values if isinstance(v, StructAttr)]
        return [(int(str(r["size"])), int(str(r["stride"]))) for r in records]
    pairs = zip(_static(op, "static_sizes"), _static(op, "static_strides"), strict=False)
    return list(pairs)


def _bounds(op: Operation, type: MemRefType, check: Check) -> None:
    """What is known of the pattern must stay inside the buffer."""
    dims = dimensions(op)
    if not dims or any(DYNAMIC_INDEX in d for d in dims):
        return
    last = sum(stride * (size - 1) for size, stride in dims)
    if last >= type.size:
        check.fault(op, f"reaches element {last} from its offset, {type} has {type.size} elements")
    try:
        narrow = bit_width(type.element) != 32
    except ValueError:
        return
    if narrow and dims[-1][1] != 1 and dims[-1][0] != 1:
        check.fault(
            op,
            f"innermost stride is {dims[-1][1]}, 1 is expected for elements of {type.element}, "
            "since streams carry whole 32-bit words",
        )


def _iteration(op: Operation, check: Check) -> None:
    value = op.attributes.get("iteration")
    if not isinstance(value, StructAttr):
        return
    size, current = value["size"], value["current"]
    if isinstance(size, int) and not 1 <= size <= 64:
        check.fault(op, f"attribute 'iteration' has size {size}, 1 to 64 is expected")
    elif isinstance(size, int) and isinstance(current, int) and current >= size:
        check.fault(op, f"attribute 'iteration' has current {current} of size {size}")
