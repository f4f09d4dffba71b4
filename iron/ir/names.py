"""Names for values and blocks when a module is printed: unique where visible, and readable.

A value keeps the name it wishes for; without a wish its operation may propose one
(`%tile_0_2`, `%c4_i32`), arguments of entry blocks are ``%arg0``, ``%arg1`` ..., all else is
numbered. Names of a region are given before those of the regions inside it, and are free again
after it, as MLIR does.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .attributes import BoolAttr, IntegerAttr, StringAttr
from .core import Block, Operation, Region, Value, defining_op
from .types import I1, INDEX

_UNFIT = re.compile(r"[^A-Za-z0-9_$.\-]")


class Names:
    def __init__(self) -> None:
        self._values: dict[Value, str] = {}
        self._labels: dict[Block, str] = {}
        self._used: set[str] = set()
        self._numbers = (0, 0, 0)
        self._outer: list[tuple[list[str], tuple[int, int, int]]] = []

    def value(self, value: Value) -> str:
        """The name with its percent sign; ``%<unknown>`` for a value outside what is printed."""
        return self._values.get(value, "%<unknown>")

    def label(self, block: Block) -> str:
        return self._labels.get(block, "^<unknown>")

    def enter(self, region: Region) -> None:
        """Give names to everything that stands directly in `region`."""
        taken: list[str] = []
        self._outer.append((taken, self._numbers))
        labels: set[str] = set()
        for i, block in enumerate(region.blocks):
            label = block.label or f"bb{i}"
            if label in labels or (label[:2] == "bb" and label != f"bb{i}"):
                label = f"bb{i}"
            while label in labels:
                label += "_"
            labels.add(label)
            self._labels[block] = f"^{label}"
            for argument in block.arguments:
                self._name(argument, _wish(argument), i == 0, taken)
            for op in block.operations:
                self.results(op, taken)

    def results(self, op: Operation, taken: list[str] | None = None) -> None:
        """Give names to the results of `op`."""
        if not op.results:
            return
        kept = [] if taken is None else taken
        first = op.results[0]
        wish = _wish(first) or proposal(op)
        if len(op.results) == 1 or len({_wish(r) for r in op.results}) > 1:
            for result in op.results:
                self._name(result, _wish(result) or wish, False, kept)
            return
        self._name(first, wish, False, kept)
        base = self._values[first]
        for k, result in enumerate(op.results):
            self._values[result] = f"{base}#{k}"

    def packed(self, op: Operation) -> str:
        """``%0`` or ``%0:2`` or ``%a, %b``: the results as they stand before the equals sign."""
        names = [self._values[r] for r in op.results]
        if "#" in names[0]:
            return f"{names[0].partition('#')[0]}:{len(names)}"
        return ", ".join(names)

    def leave(self) -> None:
        taken, self._numbers = self._outer.pop()
        self._used.difference_update(taken)

    def _name(self, value: Value, wish: str | None, entry: bool, taken: list[str]) -> None:
        number, argument, conflict = self._numbers
        if wish:
            base = _UNFIT.sub("_", wish)
            name = base
            while name in self._used:
                name = f"{base}_{conflict}"
                conflict += 1
        elif entry:
            name = f"arg{argument}"
            argument += 1
            while name in self._used:
                name = f"arg{argument}"
                argument += 1
        else:
            name = str(number)
            number += 1
        self._numbers = number, argument, conflict
        self._used.add(name)
        taken.append(name)
        self._values[value] = f"%{name}"


def _wish(value: Value) -> str | None:
    """The name a value wishes for; a number is no wish."""
    name = value.name
    return name if name and not name[0].isdigit() else None


def proposal(op: Operation) -> str | None:
    """The name an operation proposes for its result."""
    make = _PROPOSALS.get(op.name)
    return make(op) if make is not None else None


def _constant(op: Operation) -> str | None:
    value = op.attributes.get("value")
    if isinstance(value, BoolAttr):
        return "true" if value.value else "false"
    if isinstance(value, IntegerAttr):
        if value.type == I1:
            return "true" if value.value else "false"
        text = f"c{value.value}"
        return text if value.type == INDEX else f"{text}_{value.type}"
    return "cst"


def _tile(op: Operation) -> str | None:
    from .devices import device_of, tile_kind

    column, row = op.attributes.get("col"), op.attributes.get("row")
    if not isinstance(column, IntegerAttr) or not isinstance(row, IntegerAttr):
        return None
    kind = tile_kind(device_of(op), column.value, row.value)
    prefix = {"mem": "mem_tile", "shim_noc": "shim_noc_tile", "shim_pl": "shim_pl_tile"}
    return f"{prefix.get(kind, 'tile')}_{column.value}_{row.value}"


def _on_tile(prefix: str) -> Callable[[Operation], str | None]:
    """`prefix` and the place of the tile operand; the symbol's name where there is one."""

    def make(op: Operation) -> str | None:
        name = op.attributes.get("sym_name")
        if isinstance(name, StringAttr) and name.value:
            return name.value
        tile = defining_op(op.operands[0]) if op.operands else None
        if tile is None:
            return prefix
        place = [tile.attributes.get(k) for k in ("col", "row")]
        if not all(isinstance(p, IntegerAttr) for p in place):
            return prefix
        return "_".join([prefix, *(str(p.value) for p in place if isinstance(p, IntegerAttr))])

    return make


_LOGICAL = ("logical_core", "logical_mem", "logical_shim_noc", "logical_shim_pl")


def _logical_tile(op: Operation) -> str | None:
    kind = op.attributes.get("tile_type")
    known = isinstance(kind, IntegerAttr) and 0 <= kind.value < len(_LOGICAL)
    return _LOGICAL[kind.value] if known and isinstance(kind, IntegerAttr) else "logical_tile"


_PROPOSALS: dict[str, Callable[[Operation], str | None]] = {
    "arith.constant": _constant,
    "aie.tile": _tile,
    "aie.logical_tile": _logical_tile,
    **{
        f"aie.{name}": _on_tile(name)
        for name in ("core", "mem", "memtile_dma", "shim_dma", "switchbox", "shim_mux")
    },
    "aie.lock": _on_tile("lock"),
    "aie.buffer": _on_tile("buffer"),
    "aie.external_buffer": lambda op: op.symbol or "ext_buffer",
}
