"""What an operation is made of: its named parts, its assembly format, its traits.

An `OpDefinition` is one row of a dialect table (`iron.ir.dialects`). Rows are strings, read when
first needed, so that a table costs next to nothing to import. This module knows no dialect.

Parts are written ``name:kind``, separated by blanks. A kind may end in ``?`` (may be absent),
``*`` (any number) or ``&`` (there with the others or not at all); an attribute may have ``=value``
(may be absent, and then means that value) and a range ``>=1`` or ``{0..5}``. Kinds of types and
attributes are explained in `iron.ir.kinds`, formats in `iron.ir.spelling`.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from ..frozen import frozen

if TYPE_CHECKING:
    from .core import Operation
    from .spelling import Element


@frozen
class Part:
    """One named operand, attribute, result, region or successor.

    `arity` is ``""`` (exactly one), ``"?"`` (at most one), ``"*"`` (any number) or ``"&"`` (one, or
    none when the operation has no operands at all).
    `low` and `high` bound an integer attribute, both included.
    """

    name: str
    kind: str
    arity: str = ""
    default: str | None = None
    low: int | None = None
    high: int | None = None

    @property
    def optional(self) -> bool:
        return self.arity != "" or self.default is not None


_PART = (
    r"(?P<name>\w+):(?P<kind>[^\s?*&{>]+?)"
    r"(?:>=(?P<low>-?\d+)|\{(?P<from>-?\d+)\.\.(?P<to>-?\d+)\})?"
    r"(?P<arity>[?*&]?)(?:=(?P<default>[\w.-]+))?\Z"
)


def read_parts(text: str) -> tuple[Part, ...]:
    """The parts a row names; ValueError when a word is no part."""
    parts = []
    for word in text.split():
        m = re.match(_PART, word if ":" in word else f"{word}:any")
        if m is None:
            raise ValueError(f"{word!r} is no part of an operation: name:kind is expected")
        kind, default = m["kind"], m["default"]
        if default is None and "=" in kind[1:]:
            kind, _, default = kind.rpartition("=")
        low = m["low"] or m["from"]
        parts.append(
            Part(
                m["name"],
                kind,
                m["arity"],
                default,
                int(low) if low is not None else None,
                int(m["to"]) if m["to"] is not None else None,
            )
        )
    return tuple(parts)


class OpDefinition:
    """One registered operation.

    `traits` are words: ``terminator``, ``symbol`` (defines `sym_name`), ``table`` (its region holds
    symbols), ``isolated`` (its regions see no values from outside), ``free`` (blocks need no
    terminator), ``graph`` (values of its region may be used before they are defined).
    `terminator` names the operation that ends its blocks when none is written.
    `parents` are the operations it may stand in, any when empty.
    """

    def __init__(
        self,
        name: str,
        format: str | None = None,
        *,
        operands: str = "",
        attributes: str = "",
        results: str = "",
        regions: str = "",
        successors: str = "",
        traits: str = "",
        terminator: str | None = None,
        parents: str = "",
    ) -> None:
        self.name = name
        self.format = format
        self.terminator = terminator
        self._rows = (operands, attributes, results, regions, successors)
        self._traits = traits
        self._parents = parents

    @cached_property
    def operands(self) -> tuple[Part, ...]:
        return read_parts(self._rows[0])

    @cached_property
    def attributes(self) -> dict[str, Part]:
        return {p.name: p for p in read_parts(self._rows[1])}

    @cached_property
    def results(self) -> tuple[Part, ...]:
        return read_parts(self._rows[2])

    @cached_property
    def regions(self) -> tuple[Part, ...]:
        return read_parts(self._rows[3])

    @cached_property
    def successors(self) -> tuple[Part, ...]:
        return read_parts(self._rows[4])

    @cached_property
    def traits(self) -> frozenset[str]:
        return frozenset(self._traits.split())

    @cached_property
    def parents(self) -> frozenset[str]:
        return frozenset(self._parents.split())

    @cached_property
    def elements(self) -> tuple[Element, ...]:
        """The compiled assembly format."""
        from .spelling import compile_format

        return compile_format(self)

    @cached_property
    def has_segments(self) -> bool:
        """Whether counts of operands cannot tell which named operand they belong to."""
        return sum(1 for p in self.operands if p.arity in ("?", "*")) > 1

    @cached_property
    def is_terminator(self) -> bool:
        return "terminator" in self.traits

    @cached_property
    def is_isolated(self) -> bool:
        return "isolated" in self.traits

    @cached_property
    def is_table(self) -> bool:
        return "table" in self.traits

    def __repr__(self) -> str:
        return f"<definition of {self.name}>"


def segment_sizes(op: Operation) -> tuple[int, ...]:
    """How many operands each named operand of `op` has, in the order of the definition.

    ValueError when the definition leaves it open and the operation does not say.
    """
    definition = op.definition
    if definition is None:
        raise KeyError(f"{op.name} is not registered, so its operands have no names")
    if op.segments is not None:
        return op.segments
    parts = definition.operands
    together = "&" if op.operands else ""
    fixed = sum(1 for p in parts if p.arity in ("", together))
    open_ones = sum(1 for p in parts if p.arity in ("?", "*"))
    rest = len(op.operands) - fixed
    if rest < 0 or (rest and not open_ones):
        raise ValueError(f"{op.name} takes {fixed} operands, it has {len(op.operands)}")
    if rest and open_ones > 1:
        raise ValueError(
            f"{op.name} has {len(op.operands)} operands and several of them may be absent: "
            "it needs segments"
        )
    return tuple(1 if p.arity in ("", together) else rest * (p.arity in ("?", "*")) for p in parts)


def operand_slice(op: Operation, name: str) -> slice:
    """Where the operands called `name` stand in ``op.operands``; KeyError when there is no
    such name."""
    sizes = segment_sizes(op)
    definition = op.definition
    assert definition is not None
    start = 0
    for part, size in zip(definition.operands, sizes, strict=True):
        if part.name == name:
            return slice(start, start + size)
        start += size
    raise KeyError(f"{op.name} has no operand {name!r}")


def result_slice(op: Operation, name: str) -> slice:
    """Where the results called `name` stand in ``op.results``; KeyError when there is no
    such name."""
    definition = op.definition
    parts = definition.results if definition is not None else ()
    rest = len(op.results) - sum(1 for p in parts if not p.arity)
    start = 0
    for part in parts:
        size = max(rest, 0) if part.arity else 1
        if part.name == name:
            return slice(start, start + size)
        start += size
    raise KeyError(f"{op.name} has no result {name!r}")
