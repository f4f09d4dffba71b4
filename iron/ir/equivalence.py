"""Whether two operations say the same, whatever their values and blocks are called."""

from __future__ import annotations

from collections.abc import Sequence

from .attributes import Attribute
from .core import Block, Operation, Region, Value
from .definition import segment_sizes


def equivalent(a: Operation, b: Operation) -> bool:
    """True when `a` and `b` are the same up to names of values and blocks, the order of
    attributes, and what may be left out: implied terminators and empty regions. Locations do not
    count."""
    return _Comparison().operations(a, b)


class _Comparison:
    """Values and blocks of the one side are matched with those of the other as they are met."""

    def __init__(self) -> None:
        self._values: dict[Value, Value] = {}
        self._back: dict[Value, Value] = {}
        self._blocks: dict[Block, Block] = {}

    def operations(self, a: Operation, b: Operation) -> bool:
        return (
            a.name == b.name
            and len(a.results) == len(b.results)
            and all(self._same(x, y) for x, y in zip(a.operands, b.operands, strict=False))
            and len(a.operands) == len(b.operands)
            and _sizes(a) == _sizes(b)
            and _attributes(a.attributes) == _attributes(b.attributes)
            and all(self._bind(x, y) for x, y in zip(a.results, b.results, strict=True))
            and self._successors(a, b)
            and self._regions(a, b)
        )

    def _same(self, x: Value, y: Value) -> bool:
        """Used alike; a value not met yet is matched with its counterpart here."""
        if x in self._values or y in self._back:
            return self._values.get(x) is y
        return self._bind(x, y)

    def _bind(self, x: Value, y: Value) -> bool:
        if x.type != y.type or type(x) is not type(y):
            return False
        if self._values.setdefault(x, y) is not y:
            return False
        return self._back.setdefault(y, x) is x

    def _successors(self, a: Operation, b: Operation) -> bool:
        if len(a.successors) != len(b.successors):
            return False
        for (left, xs), (right, ys) in zip(a.successors, b.successors, strict=True):
            if self._blocks.setdefault(left, right) is not right or len(xs) != len(ys):
                return False
            if not all(self._same(x, y) for x, y in zip(xs, ys, strict=True)):
                return False
        return True

    def _regions(self, a: Operation, b: Operation) -> bool:
        left, right = _shown(a), _shown(b)
        hidden = a.definition.terminator if a.definition is not None else None
        return len(left) == len(right) and all(
            self._region(x, y, hidden) for x, y in zip(left, right, strict=True)
        )

    def _region(self, a: Region, b: Region, hidden: str | None) -> bool:
        if len(a.blocks) != len(b.blocks):
            return False
        for x, y in zip(a.blocks, b.blocks, strict=True):
            if self._blocks.setdefault(x, y) is not y or len(x.arguments) != len(y.arguments):
                return False
            if not all(self._bind(p, q) for p, q in zip(x.arguments, y.arguments, strict=True)):
                return False
        return all(self._block(x, y, hidden) for x, y in zip(a.blocks, b.blocks, strict=True))

    def _block(self, a: Block, b: Block, hidden: str | None) -> bool:
        left, right = _without_end(a, hidden), _without_end(b, hidden)
        return len(left) == len(right) and all(
            self.operations(x, y) for x, y in zip(left, right, strict=True)
        )


def _sizes(op: Operation) -> tuple[int, ...] | None:
    definition = op.definition
    if definition is None:
        return op.segments
    return segment_sizes(op) if definition.has_segments else None


def _attributes(attributes: dict[str, Attribute]) -> dict[str, tuple[type, str]]:
    """Texts rather than values, since 0.0 equals -0.0 and nan nothing."""
    return {k: (type(v), str(v)) for k, v in attributes.items()}


def _shown(op: Operation) -> list[Region]:
    regions = list(op.regions)
    while regions and not regions[-1].blocks:
        regions.pop()
    return regions


def _without_end(block: Block, hidden: str | None) -> Sequence[Operation]:
    last = block.terminator
    if hidden is None or last is None or last.name != hidden:
        return block.operations
    plain = not (last.operands or last.attributes or last.results)
    return block.operations[:-1] if plain else block.operations
