"""Tiles as rules see them: which operation, which kind, where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..attributes import IntegerAttr
from ..core import Operation, Value, defining_op
from ..devices import Device, device_of

if TYPE_CHECKING:
    from ..verifier import Check

Rule = Callable[[Operation, "Check"], None]

TILES = ("aie.tile", "aie.logical_tile")
_LOGICAL = ("core", "mem", "shim_noc", "shim_pl")
SAID = {
    "core": "a compute tile",
    "mem": "a memory tile",
    "shim_noc": "a shim tile",
    "shim_pl": "a shim tile without a way to DDR",
}


@dataclass(frozen=True)
class Place:
    """A tile: its operation and kind; column and row where they are known."""

    op: Operation
    kind: str
    column: int | None
    row: int | None
    device: Device | None

    @property
    def is_shim(self) -> bool:
        return self.kind.startswith("shim")

    def __str__(self) -> str:
        where = [("?" if v is None else str(v)) for v in (self.column, self.row)]
        return f"({', '.join(where)}), {SAID[self.kind]},"


def number(op: Operation, name: str) -> int | None:
    value = op.attributes.get(name)
    return value.value if isinstance(value, IntegerAttr) else None


def constant(value: Value) -> int | None:
    """The integer an SSA value is known to be: the result of an arith.constant."""
    op = defining_op(value)
    return number(op, "value") if op is not None and op.name == "arith.constant" else None


def place_of(value: Value | Operation | None) -> Place | None:
    """The tile a value is; None when it is no tile, or the device is not known."""
    op = value if isinstance(value, Operation) or value is None else defining_op(value)
    if op is None or op.name not in TILES:
        return None
    device = device_of(op)
    column, row = number(op, "col"), number(op, "row")
    if op.name == "aie.logical_tile":
        kind = number(op, "tile_type")
        return Place(op, _LOGICAL[kind], column, row, device) if kind in (0, 1, 2, 3) else None
    if column is None or row is None or device is None:
        return None
    return Place(op, device.tile_kind(column, row), column, row, device)


def around(op: Operation, *names: str) -> Operation | None:
    """The nearest operation of one of these names that `op` stands in."""
    at = op.parent
    while at is not None and at.name not in names:
        at = at.parent
    return at
