"""Appends operations at an insertion point, each with the location in force.

b = Builder(device.body)
with b.at(core.body), b.located(where):
    b.create("arith.addi", [x, y], [x.type])
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .attributes import Attribute
from .core import UNKNOWN, Block, Location, Operation, Region, Value
from .types import Type


class Builder:
    def __init__(self, block: Block | None = None, location: Location = UNKNOWN) -> None:
        self.block = block
        self.location = location

    def create(
        self,
        name: str,
        operands: Iterable[Value] = (),
        result_types: Iterable[Type] = (),
        attributes: Mapping[str, Attribute] | None = None,
        regions: Iterable[Region] = (),
        successors: Iterable[tuple[Block, Sequence[Value]] | Block] = (),
        segments: Sequence[int] | None = None,
        location: Location | None = None,
    ) -> Operation:
        """A new operation at the end of the current block; RuntimeError when there is none."""
        if self.block is None:
            raise RuntimeError(f"{name}: no insertion point is set")
        op = Operation(
            name,
            operands,
            result_types,
            attributes,
            regions,
            successors,
            segments,
            self.location if location is None else location,
        )
        self.block.append(op)
        return op

    @contextlib.contextmanager
    def at(self, block: Block) -> Iterator[Block]:
        """Insert at the end of `block` inside the ``with``."""
        before, self.block = self.block, block
        try:
            yield block
        finally:
            self.block = before

    @contextlib.contextmanager
    def located(self, location: Location) -> Iterator[None]:
        before, self.location = self.location, location
        try:
            yield
        finally:
            self.location = before
