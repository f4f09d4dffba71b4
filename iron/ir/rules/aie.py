"""Tiles, cores, locks, DMAs, buffer descriptors, streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..attributes import DenseArrayAttr, DenseElementsAttr
from ..core import Operation, defining_op
from ..definition import operand_slice
from ..devices import device_of
from ..dialects.enums import LockAction
from ..dominance import operand_name
from ..types import DYNAMIC, MemRefType
from . import dma, fifos, traces
from .places import SAID, TILES, Rule, around, constant, number, place_of

if TYPE_CHECKING:
    from ..verifier import Check


def _tile(op: Operation, check: Check) -> None:
    device = device_of(op)
    column, row = number(op, "col"), number(op, "row")
    if device is None:
        return
    if column is not None and column >= device.columns:
        check.fault(
            op, f"attribute 'col' is {column}, {device.name} has columns 0 to {device.columns - 1}"
        )
    if row is not None and row >= device.rows:
        check.fault(op, f"attribute 'row' is {row}, {device.name} has rows 0 to {device.rows - 1}")
    place = place_of(op)
    if place is None or None in (column, row) or op.name != "aie.logical_tile":
        return
    if column < device.columns and row < device.rows:  # type: ignore[operator]
        found = device.tile_kind(column, row)  # type: ignore[arg-type]
        if found != place.kind:
            check.fault(
                op,
                f"tile ({column}, {row}) of {device.name} is {SAID[found]}, "
                f"{SAID[place.kind]} is asked for",
            )


def tiles(op: Operation, check: Check) -> None:
    """Every operand called a tile must be one."""
    if op.definition is None:
        return
    for part in op.definition.operands:
        if part.name not in _TILE_OPERANDS:
            continue
        for value in op.operands[operand_slice(op, part.name)]:
            source = defining_op(value)
            if source is None or source.name not in TILES:
                found = source.name if source is not None else "a block argument"
                check.fault(op, f"operand '{part.name}' is {found}, a tile is expected")


_TILE_OPERANDS = frozenset(
    ("tile", "producerTile", "consumerTiles", "delegateTile", "source_tile", "dest_tile")
)


def _stands_on(*kinds: str) -> Rule:
    def rule(op: Operation, check: Check) -> None:
        place = place_of(op.operand("tile"))
        if place is not None and place.kind not in kinds:
            wanted = " or ".join(SAID[k] for k in kinds)
            check.fault(op, f"stands on tile {place} {wanted} is expected")

    return rule


def _alone(op: Operation, check: Check) -> None:
    """One core, one memory, one switchbox per tile."""
    block, tile = op.block, op.operand("tile")
    if block is None:
        return
    for other in block.operations:
        if other is op:
            return
        if other.name == op.name and other.operands and other.operands[0] is tile:
            check.fault(op, f"tile {place_of(tile)} already has one at {other.location}")
            return


def _lock(op: Operation, check: Check) -> None:
    place = place_of(op.operand("tile"))
    identity = number(op, "lockID")
    if place is None or place.device is None or identity is None:
        return
    most = place.device.locks(place.kind)
    if identity >= most:
        check.fault(op, f"attribute 'lockID' is {identity}, tile {place} has locks 0 to {most - 1}")


def _use_lock(op: Operation, check: Check) -> None:
    lock = defining_op(op.operands[0])
    if lock is not None and lock.name.startswith("aie") and lock.name != "aie.lock":
        check.fault(op, f"operand 'lock' is {lock.name} at {lock.location}, aie.lock is expected")
        return
    if len(op.operands) < 2 and "value" not in op.attributes:
        check.fault(op, "a value is expected, as an operand or as a number")
    inside = around(op, "aie.core", "func.func", *dma.DMAS, *dma.TASKS)
    if inside is None:
        check.fault(op, "stands outside of a core, a function and a DMA")
        return
    if inside.name in dma.DMAS and len(op.operands) > 1 and constant(op.operands[1]) is None:
        check.fault(
            op, "operand 'value' is not known in advance, an arith.constant is expected in a DMA"
        )
    device = device_of(op)
    action = number(op, "action")
    if device is not None and device.generation == 1 and action == LockAction.AcquireGreaterEqual:
        check.fault(op, f"AcquireGreaterEqual does not exist on {device.name}")
    if inside.name == "aie.mem" and lock is not None and lock.name == "aie.lock":
        ours, theirs = place_of(inside.operands[0]), place_of(lock.operands[0])
        if ours is not None and theirs is not None and ours.op is not theirs.op:
            check.fault(
                op,
                f"a DMA of tile {ours} can only use locks of its tile, this one is of "
                f"tile {theirs.column}, {theirs.row}",
            )


def _buffer(op: Operation, check: Check) -> None:
    type = op.result.type
    value = op.attributes.get("initial_value")
    if not isinstance(type, MemRefType):
        return
    if DYNAMIC in type.shape:
        check.fault(op, f"is of type {type}, a shape known in advance is expected")
    elif isinstance(value, DenseElementsAttr) and value.type.shape != type.shape:
        check.fault(op, f"attribute 'initial_value' is of type {value.type}, the buffer of {type}")


def _reach(op: Operation, check: Check) -> None:
    """Locks and buffers a core uses must be in a memory it reaches: its own, or that of the
    compute tile to the west, north or south (AIE-ML and later)."""
    home = place_of(op.operands[0])
    if home is None or home.device is None or home.device.generation == 1:
        return
    for inner in op.walk():
        for k, value in enumerate(inner.operands):
            source = defining_op(value)
            if source is None or source.name not in ("aie.buffer", "aie.lock"):
                continue
            there = place_of(source.operands[0])
            if there is None or None in (home.column, home.row, there.column, there.row):
                continue
            step = (there.column - home.column, there.row - home.row)  # type: ignore[operator]
            near = step in ((0, 0), (-1, 0), (0, 1), (0, -1)) and there.kind == "core"
            if not near:
                what = f"{operand_name(inner, k)} is {source.name} at {source.location}"
                check.fault(
                    inner,
                    f"{what} on tile {there} "
                    f"which the core of tile ({home.column}, {home.row}) does not reach",
                )


def _rearm(op: Operation, check: Check) -> None:
    channels, locks = len(op.group("channel_tiles")), len(op.group("locks"))
    for name, wanted in (
        ("channel_dirs", channels),
        ("channel_indices", channels),
        ("lock_inits", locks),
        ("head_bd_ids", channels),
        ("repeat_counts", channels),
    ):
        value = op.attributes.get(name)
        if isinstance(value, DenseArrayAttr) and len(value.values) != wanted:
            check.fault(
                op, f"attribute '{name}' has {len(value.values)} entries, {wanted} are expected"
            )
    if ("head_bd_ids" in op.attributes) != ("repeat_counts" in op.attributes):
        check.fault(op, "attributes 'head_bd_ids' and 'repeat_counts' belong together")


def _needs_body(op: Operation, check: Check) -> None:
    names = [o.name for b in op.regions[0].blocks for o in b.operations]
    for wanted in ("aie.packet_source", "aie.packet_dest"):
        if wanted not in names:
            check.fault(op, f"has no {wanted}")
    for inner in op.regions[0].entry.operations:
        if inner.name not in ("aie.packet_source", "aie.packet_dest", "aie.end"):
            check.fault(inner, "cannot stand in aie.packet_flow")


def _cascade(op: Operation, check: Check) -> None:
    a, b = place_of(op.operands[0]), place_of(op.operands[1])
    for name, place in (("source_tile", a), ("dest_tile", b)):
        if place is not None and place.kind != "core":
            check.fault(op, f"operand '{name}' is tile {place} a compute tile is expected")
            return
    if a is None or b is None or None in (a.column, a.row, b.column, b.row):
        return
    step = (b.column - a.column, b.row - a.row)  # type: ignore[operator]
    generation = a.device.generation if a.device is not None else 2
    if generation > 1 and step not in ((1, 0), (0, -1)):
        check.fault(
            op,
            f"goes from tile ({a.column}, {a.row}) to ({b.column}, {b.row}): a cascade "
            "goes one tile to the east or to the south",
        )


def _allocation(op: Operation, check: Check) -> None:
    place = place_of(op.operand("tile"))
    if place is not None and not place.is_shim:
        check.fault(op, f"allocates on tile {place} a shim tile is expected")


RULES: dict[str, tuple[Rule, ...]] = {
    "aie.tile": (_tile,),
    "aie.logical_tile": (_tile,),
    "aie.core": (tiles, _stands_on("core"), _alone, _reach),
    "aie.mem": (tiles, _stands_on("core"), _alone, dma.program),
    "aie.memtile_dma": (tiles, _stands_on("mem"), _alone, dma.program),
    "aie.shim_dma": (tiles, _stands_on("shim_noc"), _alone, dma.program),
    "aie.switchbox": (tiles, _alone),
    "aie.shim_mux": (tiles, _stands_on("shim_noc", "shim_pl")),
    "aie.lock": (tiles, _lock),
    "aie.use_lock": (_use_lock,),
    "aie.buffer": (tiles, _stands_on("core", "mem"), _buffer),
    "aie.dma_start": (dma.start,),
    "aie.dma": (dma.start,),
    "aie.dma_bd": (dma.descriptor,),
    "aie.objectfifo_rearm_binding": (_rearm,),
    "aie.packet_flow": (_needs_body,),
    "aie.packet_source": (tiles,),
    "aie.packet_dest": (tiles,),
    "aie.cascade_flow": (tiles, _cascade),
    "aie.shim_dma_allocation": (tiles, _allocation),
    "aie.objectfifo": (tiles, fifos.create),
    "aie.objectfifo.allocate": (tiles, fifos.allocate),
    "aie.objectfifo.link": (fifos.link,),
    "aie.objectfifo.acquire": (fifos.end_of_core, fifos.acquired_type),
    "aie.objectfifo.release": (fifos.end_of_core,),
    "aie.objectfifo.subview.access": (fifos.access,),
    "aie.trace": (tiles, traces.trace),
    "aie.trace.start": (traces.one_of,),
    "aie.trace.stop": (traces.one_of,),
    "aie.trace.host_config": (traces.host_config,),
}
