"""The graph of an MLIR program: operations, blocks, regions, values, locations.

Data only: no text, no rules. Definitions of operations (their named parts, formats and checks)
are rows in `iron.ir.dialects`, found by name when asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..frozen import frozen
from .attributes import Attribute, StringAttr
from .types import Type

if TYPE_CHECKING:
    from .definition import OpDefinition


@frozen
class Location:
    """A place in the user's text: ``file:line:column``; line 0 means unknown."""

    file: str = ""
    line: int = 0
    column: int = 0

    def __bool__(self) -> bool:
        return self.line > 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self else "unknown location"


UNKNOWN = Location()


class Value:
    """An SSA value. `name` is a wish for print, without the percent sign."""

    __slots__ = ("name", "type")

    def __init__(self, type: Type, name: str | None = None) -> None:
        self.type = type
        self.name = name


class OpResult(Value):
    __slots__ = ("index", "owner")

    def __init__(self, type: Type, owner: Operation, index: int, name: str | None = None) -> None:
        super().__init__(type, name)
        self.owner = owner
        self.index = index


class BlockArgument(Value):
    __slots__ = ("block", "index")

    def __init__(self, type: Type, block: Block, index: int, name: str | None = None) -> None:
        super().__init__(type, name)
        self.block = block
        self.index = index


class Block:
    """A list of operations with arguments; `label` is a wish for print, without the caret."""

    __slots__ = ("arguments", "label", "operations", "region")

    def __init__(self, argument_types: Iterable[Type] = (), label: str | None = None) -> None:
        self.arguments: list[BlockArgument] = []
        self.operations: list[Operation] = []
        self.label = label
        self.region: Region | None = None
        for t in argument_types:
            self.add_argument(t)

    def add_argument(self, type: Type, name: str | None = None) -> BlockArgument:
        argument = BlockArgument(type, self, len(self.arguments), name)
        self.arguments.append(argument)
        return argument

    def append(self, op: Operation) -> Operation:
        return self.insert(len(self.operations), op)

    def insert(self, index: int, op: Operation) -> Operation:
        if op.block is not None:
            raise ValueError(f"{op.name} already stands in a block; detach it first")
        op.block = self
        self.operations.insert(index, op)
        return op

    @property
    def terminator(self) -> Operation | None:
        return self.operations[-1] if self.operations else None


class Region:
    __slots__ = ("blocks", "owner")

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        self.blocks: list[Block] = []
        self.owner: Operation | None = None
        for b in blocks:
            self.add_block(b)

    def add_block(self, block: Block | None = None) -> Block:
        block = block or Block()
        block.region = self
        self.blocks.append(block)
        return block

    @property
    def entry(self) -> Block:
        """The first block; IndexError when the region is empty."""
        return self.blocks[0]


@functools.cache
def _lookup() -> Callable[[str], OpDefinition | None]:
    """The tables, which know this module; an import each time they are asked would be slow."""
    from .dialects import lookup

    return lookup


class Operation:
    """One operation. Operands are one flat list; `segments` says how many belong to each named
    operand of the definition, and is only needed where that cannot be told from the count."""

    __slots__ = (
        "attributes",
        "block",
        "location",
        "name",
        "operands",
        "regions",
        "results",
        "segments",
        "successors",
    )

    def __init__(
        self,
        name: str,
        operands: Iterable[Value] = (),
        result_types: Iterable[Type] = (),
        attributes: Mapping[str, Attribute] | None = None,
        regions: Iterable[Region] = (),
        successors: Iterable[tuple[Block, Sequence[Value]] | Block] = (),
        segments: Sequence[int] | None = None,
        location: Location = UNKNOWN,
    ) -> None:
        self.name = name
        self.operands: list[Value] = list(operands)
        self.results: list[OpResult] = [OpResult(t, self, i) for i, t in enumerate(result_types)]
        self.attributes: dict[str, Attribute] = dict(attributes or {})
        self.regions: list[Region] = []
        for r in regions:
            self.add_region(r)
        self.successors: list[tuple[Block, list[Value]]] = [
            (s, []) if isinstance(s, Block) else (s[0], list(s[1])) for s in successors
        ]
        self.segments: tuple[int, ...] | None = None if segments is None else tuple(segments)
        self.location = location
        self.block: Block | None = None

    def add_region(self, region: Region | None = None) -> Region:
        region = region or Region()
        region.owner = self
        self.regions.append(region)
        return region

    @property
    def definition(self) -> OpDefinition | None:
        """The row of the dialect tables for this operation, None when it is not registered."""
        return _lookup()(self.name)

    @property
    def result(self) -> OpResult:
        """The only result; ValueError when there is not exactly one."""
        if len(self.results) != 1:
            raise ValueError(f"{self.name} has {len(self.results)} results, not one")
        return self.results[0]

    @property
    def parent(self) -> Operation | None:
        region = self.block.region if self.block is not None else None
        return region.owner if region is not None else None

    @property
    def region(self) -> Region:
        """The only region; ValueError when there is not exactly one."""
        if len(self.regions) != 1:
            raise ValueError(f"{self.name} has {len(self.regions)} regions, not one")
        return self.regions[0]

    @property
    def body(self) -> Block:
        """The entry block of the only region."""
        return self.region.entry

    @property
    def symbol(self) -> str | None:
        """The name this operation defines as a symbol."""
        name = self.attributes.get("sym_name")
        return name.value if isinstance(name, StringAttr) else None

    def group(self, name: str) -> list[Value]:
        """The operands called `name` in the definition; KeyError when it has none such."""
        from .definition import operand_slice

        return self.operands[operand_slice(self, name)]

    def operand(self, name: str) -> Value | None:
        """The one operand called `name`, None when it is optional and absent."""
        values = self.group(name)
        if len(values) > 1:
            raise ValueError(f"{self.name} has {len(values)} operands {name!r}")
        return values[0] if values else None

    def detach(self) -> Operation:
        if self.block is not None:
            self.block.operations.remove(self)
            self.block = None
        return self

    def walk(self) -> Iterator[Operation]:
        """This operation, then everything inside it, in the order of the text."""
        yield self
        for region in self.regions:
            for block in region.blocks:
                for op in list(block.operations):
                    yield from op.walk()

    def __repr__(self) -> str:
        symbol = f" @{self.symbol}" if self.symbol else ""
        return f"<{self.name}{symbol} at {self.location}>"


def module(location: Location = UNKNOWN) -> Operation:
    """An empty ``builtin.module``."""
    return Operation("builtin.module", regions=[Region([Block()])], location=location)


def defining_op(value: Value) -> Operation | None:
    """The operation whose result `value` is; None for a block argument."""
    return value.owner if isinstance(value, OpResult) else None
