"""Checks a module against the dialect tables and the rules of each dialect; lists every fault.

Owns what holds for every operation: named parts, counts, kinds, parents, terminators, visibility
of values, symbols. Rules of single operations are in `iron.ir.rules`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .attributes import ArrayAttr, Attribute, IntegerAttr, SymbolRefAttr
from .core import Location, Operation
from .definition import OpDefinition, Part, segment_sizes
from .dominance import check_visibility
from .kinds import (
    accepts_attribute,
    accepts_type,
    derived_type,
    is_derived,
    said_attribute,
    said_type,
)
from .rules import REFERENCES, rules
from .symbols import SymbolTables, is_scope, is_symbol, symbol_name
from .types import Type


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: the operation, where it is, what is expected and what is found."""

    location: Location
    operation: str
    message: str

    def __str__(self) -> str:
        return f"{self.location}: {self.operation}: {self.message}"


class VerifyError(ValueError):
    """The module breaks the rules; `faults` lists every way it does."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        super().__init__(f"{count} in the module\n" + "\n".join(f"  {f}" for f in faults))
        self.faults = tuple(faults)


class Check:
    """What a rule sees: the symbols of the module, and a place to complain."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.symbols = SymbolTables()

    def fault(self, op: Operation, message: str) -> None:
        self.faults.append(Fault(op.location, op.name, message))


def verify(op: Operation) -> None:
    """Check `op` and all inside it; VerifyError with every fault when there is one."""
    check = Check()
    for inner in op.walk():
        definition = inner.definition
        if definition is None:
            continue
        before = len(check.faults)
        _parts(check, inner, definition)
        _place(check, inner, definition)
        _blocks(check, inner, definition)
        if is_scope(inner):
            _duplicates(check, inner)
        if len(check.faults) == before:
            _references(check, inner, definition)
            for rule in rules(inner.name):
                rule(inner, check)
    check_visibility(op, check.fault)
    if check.faults:
        raise VerifyError(check.faults)


def _parts(check: Check, op: Operation, definition: OpDefinition) -> None:
    for name, part in definition.attributes.items():
        _attribute(check, op, part, op.attributes.get(name))
    try:
        sizes = segment_sizes(op)
    except ValueError as e:
        check.fault(op, str(e))
        return
    parts = definition.operands
    if len(sizes) != len(parts) or sum(sizes) != len(op.operands):
        check.fault(
            op,
            f"segments {sizes} do not fit {len(op.operands)} operands for "
            f"{', '.join(p.name for p in parts)}",
        )
        return
    known: dict[str, Sequence[Type]] = {}
    start = 0
    for part, size in zip(parts, sizes, strict=True):
        known[part.name] = [v.type for v in op.operands[start : start + size]]
        start += size
        if (part.arity == "" and size != 1) or (part.arity in ("?", "&") and size > 1):
            check.fault(op, f"operand '{part.name}' stands for one value, {size} are given")
    if not _results(check, op, definition, known):
        return
    for part in parts:
        _types(check, op, part, "operand", known)
    for part in definition.results:
        _types(check, op, part, "result", known)
    _counts(check, op, definition)


def _results(
    check: Check, op: Operation, definition: OpDefinition, known: dict[str, Sequence[Type]]
) -> bool:
    parts = definition.results
    rest = len(op.results) - sum(1 for p in parts if not p.arity)
    variadic = any(p.arity for p in parts)
    if rest < 0 or (rest and not variadic):
        check.fault(op, f"has {len(op.results)} results, {len(parts)} are expected")
        return False
    start = 0
    for part in parts:
        size = rest if part.arity else 1
        known[part.name] = [v.type for v in op.results[start : start + size]]
        start += size
    return True


def _types(
    check: Check, op: Operation, part: Part, what: str, known: dict[str, Sequence[Type]]
) -> None:
    for type in known[part.name]:
        if is_derived(part.kind):
            wanted = derived_type(part.kind, known)
            if wanted is not None and wanted != type:
                check.fault(op, f"{what} '{part.name}' is of type {type}, {wanted} is expected")
        elif not accepts_type(part.kind, type):
            check.fault(
                op, f"{what} '{part.name}' is of type {type}, {said_type(part.kind)} is expected"
            )


def _attribute(check: Check, op: Operation, part: Part, value: Attribute | None) -> None:
    if value is None:
        if not part.optional:
            check.fault(
                op, f"attribute '{part.name}' is missing: {said_attribute(part.kind)} is expected"
            )
        return
    if not accepts_attribute(part.kind, value):
        check.fault(
            op, f"attribute '{part.name}' is {value}, {said_attribute(part.kind)} is expected"
        )
    elif isinstance(value, IntegerAttr):
        low, high = part.low, part.high
        if (low is not None and value.value < low) or (high is not None and value.value > high):
            bound = f"{low} to {high}" if high is not None else f"at least {low}"
            check.fault(op, f"attribute '{part.name}' is {value.value}, {bound} is expected")


def _counts(check: Check, op: Operation, definition: OpDefinition) -> None:
    parts = definition.regions
    least = sum(1 for p in parts if not p.arity)
    variadic = any(p.arity == "*" for p in parts)
    if len(op.regions) < least or (len(op.regions) > len(parts) and not variadic):
        check.fault(op, f"has {len(op.regions)} regions, {len(parts)} are expected")
        return
    for part, region in zip(parts, op.regions, strict=False):
        if not part.arity and not region.blocks:
            check.fault(op, f"region '{part.name}' is empty, a block is expected")
    if len(op.successors) != len(definition.successors):
        check.fault(
            op,
            f"has {len(op.successors)} successors, {len(definition.successors)} are expected: "
            f"{', '.join(p.name for p in definition.successors) or 'none'}",
        )


def _place(check: Check, op: Operation, definition: OpDefinition) -> None:
    parent = op.parent
    if definition.parents and parent is not None and parent.definition is not None:
        around: Operation | None = parent
        while around is not None and around.name in _TRANSPARENT:
            if around.name in definition.parents:
                return
            around = around.parent
        if around is not None and around.name not in definition.parents:
            check.fault(
                op,
                f"stands in {around.name}, {' or '.join(sorted(definition.parents))} is expected",
            )


_TRANSPARENT = frozenset(
    ("scf.for", "scf.if", "scf.while", "scf.index_switch", "scf.execute_region", "affine.for")
)
"""Control flow does not count as the place an operation stands in."""


def _blocks(check: Check, op: Operation, definition: OpDefinition) -> None:
    block = op.block
    if definition.is_terminator and block is not None and block.operations[-1] is not op:
        check.fault(op, "ends a block, but operations follow it")
    if "free" in definition.traits or definition.terminator is not None:
        return
    for region in op.regions:
        for inner in region.blocks:
            last = inner.terminator
            if last is None:
                check.fault(op, "has a block without operations: one that ends it is expected")
            elif last.definition is not None and not last.definition.is_terminator:
                check.fault(last, f"is the last of its block in {op.name}, which does not end it")


def _duplicates(check: Check, scope: Operation) -> None:
    first: dict[str, Operation] = {}
    for region in scope.regions:
        for block in region.blocks:
            for op in block.operations:
                name = symbol_name(op) if is_symbol(op) else None
                if name is None:
                    continue
                other = first.setdefault(name, op)
                if other is not op:
                    check.fault(op, f"symbol @{name} is already defined at {other.location}")


def _references(check: Check, op: Operation, definition: OpDefinition) -> None:
    for name, part in definition.attributes.items():
        if part.kind not in ("sym", "symref", "symref[]"):
            continue
        value = op.attributes.get(name)
        wanted = REFERENCES.get((op.name, name), ())
        if wanted is None:
            continue
        each = value.values if isinstance(value, ArrayAttr) else (value,)
        for one in each:
            if isinstance(one, SymbolRefAttr):
                _reference(check, op, name, one, wanted)


def _reference(
    check: Check, op: Operation, name: str, value: SymbolRefAttr, wanted: Sequence[str]
) -> None:
    found = check.symbols.resolve(op, value.path)
    if found is None:
        check.fault(op, f"attribute '{name}' refers to {value}, which is not defined")
    elif wanted and found.name not in wanted:
        check.fault(
            op,
            f"attribute '{name}' refers to {value}, which is {found.name} at {found.location}, "
            f"{' or '.join(wanted)} is expected",
        )
