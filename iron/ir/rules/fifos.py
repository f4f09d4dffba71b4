"""ObjectFifos: their ends, depths, element types, links, and what cores do with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..attributes import ArrayAttr, Attribute, IntegerAttr, SymbolRefAttr, TypeAttr
from ..core import Operation, Value, defining_op
from ..definition import operand_slice
from ..dialects.enums import ObjectFifoPort
from ..types import DYNAMIC, MemRefType, ObjectFifoSubviewType, ObjectFifoType, Type
from .places import around, number, place_of

if TYPE_CHECKING:
    from ..verifier import Check


def producer(fifo: Operation) -> Value:
    return fifo.operands[operand_slice(fifo, "producerTile")][0]


def consumers(fifo: Operation) -> list[Value]:
    return fifo.operands[operand_slice(fifo, "consumerTiles")]


def depths(fifo: Operation) -> list[int]:
    """The number of objects at the producer and at each consumer, as written: one number stands
    for all."""
    value = fifo.attributes.get("elemNumber")
    each = value.values if isinstance(value, ArrayAttr) else (value,)
    return [v.value for v in each if isinstance(v, IntegerAttr)]


def element(fifo: Operation, name: str = "elemType") -> Type | None:
    """The memref one object is."""
    value = fifo.attributes.get(name)
    if isinstance(value, TypeAttr) and isinstance(value.type, ObjectFifoType):
        return value.type.element
    return None


def _empty(value: Attribute | None) -> bool:
    return not isinstance(value, ArrayAttr) or not value.values


def create(op: Operation, check: Check) -> None:
    ends = consumers(op)
    if not ends:
        check.fault(op, "has no consumer")
    value = op.attributes["elemNumber"]
    if isinstance(value, ArrayAttr):
        if len(value.values) != len(ends) + 1:
            check.fault(
                op,
                f"attribute 'elemNumber' has {len(value.values)} depths, one for the "
                f"producer and one for each of {len(ends)} consumers is expected",
            )
    elif isinstance(value, IntegerAttr) and value.value < 0:
        check.fault(op, f"attribute 'elemNumber' is {value.value}, at least 0 is expected")
    for name in ("elemType", "consumerElemType"):
        given = op.attributes.get(name)
        if given is not None and not isinstance(element(op, name), MemRefType):
            check.fault(
                op, f"attribute '{name}' is {given}, !aie.objectfifo<memref<...>> is expected"
            )
            return
    _shim_ends(op, check)
    _contents(op, check)
    _padding(op, check)
    _asymmetric(op, check)


def _shim_ends(op: Operation, check: Check) -> None:
    source = place_of(producer(op))
    if source is not None and source.is_shim:
        for name in ("dimensionsToStream", "initValues"):
            if not _empty(op.attributes.get(name)):
                check.fault(
                    op,
                    f"attribute '{name}' cannot be used with a producer on tile "
                    f"{source} the runtime sequence lays out its data",
                )
        if "repeat_count" in op.attributes:
            check.fault(
                op,
                f"attribute 'repeat_count' cannot be used with a producer on tile "
                f"{source} which does not repeat",
            )
    shapes = op.attributes.get("dimensionsFromStreamPerConsumer")
    if not isinstance(shapes, ArrayAttr):
        return
    ends = consumers(op)
    if shapes.values and len(shapes.values) != len(ends):
        check.fault(
            op,
            f"attribute 'dimensionsFromStreamPerConsumer' has {len(shapes.values)} "
            f"entries for {len(ends)} consumers",
        )
    for end, shape in zip(ends, shapes.values, strict=False):
        place = place_of(end)
        if place is not None and place.is_shim and not _empty(shape):
            check.fault(
                op,
                f"attribute 'dimensionsFromStreamPerConsumer' cannot be used with a "
                f"consumer on tile {place} the runtime sequence lays out its data",
            )


def _padding(op: Operation, check: Check) -> None:
    if number(op, "padValue") and _empty(op.attributes.get("padDimensions")):
        check.fault(op, "attribute 'padValue' needs 'padDimensions'")
    count = number(op, "iter_count")
    if count is not None and not 1 <= count <= 256:
        check.fault(op, f"attribute 'iter_count' is {count}, 1 to 256 is expected")


def _contents(op: Operation, check: Check) -> None:
    values = op.attributes.get("initValues")
    depth = depths(op)
    if isinstance(values, ArrayAttr) and depth and len(values.values) != depth[0]:
        check.fault(
            op,
            f"attribute 'initValues' has {len(values.values)} entries, the producer "
            f"has {depth[0]} objects",
        )


def _asymmetric(op: Operation, check: Check) -> None:
    ours, theirs = element(op), element(op, "consumerElemType")
    if not isinstance(ours, MemRefType) or not isinstance(theirs, MemRefType):
        return
    if ours.element != theirs.element:
        check.fault(op, f"produces elements of {ours.element} and consumes {theirs.element}")
    elif DYNAMIC not in (*ours.shape, *theirs.shape) and (
        not theirs.size or ours.size % theirs.size
    ):
        check.fault(
            op,
            f"an object of {ours.size} elements is no multiple of {theirs.size}, which "
            "the consumer takes",
        )


def _named(op: Operation, name: str, check: Check) -> list[Operation]:
    value = op.attributes.get(name)
    each = value.values if isinstance(value, ArrayAttr) else (value,)
    found = (check.symbols.resolve(op, v.path) for v in each if isinstance(v, SymbolRefAttr))
    return [f for f in found if f is not None and f.name == "aie.objectfifo"]


def allocate(op: Operation, check: Check) -> None:
    for fifo in _named(op, "objFifo_name", check):
        if len(consumers(fifo)) != 1:
            check.fault(
                op,
                f"@{fifo.symbol} at {fifo.location} has {len(consumers(fifo))} "
                "consumers, one is expected",
            )
        if str(fifo.attributes.get("via_DMA")) == "true" or "repeat_count" in fifo.attributes:
            check.fault(
                op,
                f"@{fifo.symbol} at {fifo.location} goes through DMAs, its objects are "
                "not in one shared memory",
            )


def link(op: Operation, check: Check) -> None:
    sources, targets = _named(op, "fifoIns", check), _named(op, "fifoOuts", check)
    if not sources or not targets:
        return
    join, distribute = len(sources) > 1, len(targets) > 1
    if join and distribute:
        check.fault(op, f"links {len(sources)} ObjectFifos to {len(targets)}: one side must be one")
        return
    tile = _shared_tile(sources, targets)
    if tile is None:
        check.fault(
            op,
            f"{_names(sources)} and {_names(targets)} have no tile where the first end "
            "and the second begin",
        )
        return
    place = place_of(tile)
    if place is not None and (join or distribute) and place.kind != "mem":
        check.fault(
            op, f"{'joins' if join else 'distributes'} on tile {place} a memory tile is expected"
        )
    _offsets(op, "src_offsets", len(sources) if join else 0, join or distribute, check)
    _offsets(op, "dst_offsets", len(targets) if distribute else 0, join or distribute, check)


def _names(fifos: list[Operation]) -> str:
    return ", ".join(f"@{f.symbol}" for f in fifos)


def _shared_tile(sources: list[Operation], targets: list[Operation]) -> Value | None:
    starts = {producer(t) for t in targets}
    if len(starts) != 1:
        return None
    start = starts.pop()
    return start if all(start in consumers(s) for s in sources) else None


def _offsets(op: Operation, name: str, wanted: int, strict: bool, check: Check) -> None:
    value = op.attributes[name]
    count = len(value.values) if isinstance(value, ArrayAttr) else 0
    if strict and count != wanted:
        check.fault(op, f"attribute '{name}' has {count} offsets, {wanted} are expected")


def end_of_core(op: Operation, check: Check) -> None:
    """An acquire or release must be in a core that is an end of the fifo."""
    core = around(op, "aie.core")
    if core is None:
        if around(op, "func.func") is None:
            check.fault(op, "stands outside of a core")
        return
    port = number(op, "port")
    for fifo in _named(op, "objFifo_name", check):
        ends = [producer(fifo)] if port == ObjectFifoPort.Produce else consumers(fifo)
        if core.operands[0] not in ends:
            side = "produces into" if port == ObjectFifoPort.Produce else "consumes from"
            tiles = "; ".join(str(place_of(e)).rstrip(",") for e in ends)
            ours = str(place_of(core.operands[0])).rstrip(",")
            check.fault(
                op,
                f"the core of tile {ours} {side} @{fifo.symbol}, whose "
                f"{ObjectFifoPort(port or 0).name} end is tile {tiles} "
                f"({fifo.location})",
            )
            continue
        _count(op, fifo, ends.index(core.operands[0]), port, check)


def _count(op: Operation, fifo: Operation, end: int, port: int | None, check: Check) -> None:
    """Only depths given one by one bind: a single number is raised to what cores acquire."""
    size, depth = number(op, "size"), depths(fifo)
    if size is None or not isinstance(fifo.attributes.get("elemNumber"), ArrayAttr):
        return
    index = 0 if port == ObjectFifoPort.Produce else end + 1
    if index < len(depth) and size > depth[index] > 0:
        check.fault(
            op,
            f"attribute 'size' is {size}, @{fifo.symbol} at {fifo.location} has "
            f"{depth[index]} objects there",
        )


def acquired_type(op: Operation, check: Check) -> None:
    type = op.result.type
    for fifo in _named(op, "objFifo_name", check):
        known = [t for t in (element(fifo), element(fifo, "consumerElemType")) if t is not None]
        if isinstance(type, ObjectFifoSubviewType) and known and type.element not in known:
            check.fault(
                op,
                f"result is of type {type}, @{fifo.symbol} at {fifo.location} carries {known[0]}",
            )


def access(op: Operation, check: Check) -> None:
    subview = op.operands[0]
    source = defining_op(subview)
    if source is None or source.name != "aie.objectfifo.acquire":
        check.fault(op, "operand 'subview' must be the result of aie.objectfifo.acquire itself")
        return
    index, size = number(op, "index"), number(source, "size")
    if index is not None and size is not None and index >= size:
        check.fault(op, f"attribute 'index' is {index}, {size} are acquired at {source.location}")
    type = subview.type
    if isinstance(type, ObjectFifoSubviewType) and type.element != op.result.type:
        check.fault(op, f"result is of type {op.result.type}, {type.element} is expected")
