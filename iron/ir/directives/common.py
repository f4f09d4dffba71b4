"""Directives several dialects share: constants, flags, branch targets, lists of mixed indices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..attributes import (
    UNIT,
    Attribute,
    BoolAttr,
    DenseArrayAttr,
    DenseElementsAttr,
    FloatAttr,
    IntegerAttr,
    OpaqueAttr,
)
from ..core import Operation, Value
from ..definition import OpDefinition, operand_slice
from ..types import I1, I64, Type

if TYPE_CHECKING:
    from ..parser import Draft, Parser, Use
    from ..printer import Printer

DYNAMIC_INDEX = -(2**63)
"""In a list of static indices: this one is an operand (MLIR's ShapedType::kDynamic)."""


class Directive:
    """The defaults of a directive; `attributes` are those it spells."""

    attributes: tuple[str, ...] = ()

    def __init__(self, definition: OpDefinition, *arguments: str) -> None:
        self.definition = definition
        self.arguments = arguments

    def present(self, op: Operation) -> bool:
        return True

    def ahead(self, parser: Parser) -> bool:
        return True

    def names(self) -> tuple[str, ...]:
        return self.attributes


def attribute_type(value: Attribute) -> Type | None:
    """The type a typed attribute carries."""
    if isinstance(value, IntegerAttr | FloatAttr | DenseElementsAttr):
        return value.type
    return I1 if isinstance(value, BoolAttr) else None


class Constant(Directive):
    """A typed attribute that is the result's value and says its type."""

    attributes = ("value",)

    def parse(self, parser: Parser, draft: Draft) -> None:
        start = parser.i
        value = parser.attribute()
        type = attribute_type(value)
        if type is None:
            raise parser.error("a constant with a type is expected", start)
        draft.attributes["value"] = value
        draft.types["result"] = [type]

    def print(self, printer: Printer, op: Operation) -> None:
        value = op.attributes["value"]
        wide = isinstance(value, IntegerAttr) and value.type == I64
        printer.word(f"{value} : i64" if wide else str(value))


class Flags(Directive):
    """``keyword<a, b>`` for the attribute ``#dialect.keyword<a, b>``."""

    def __init__(self, definition: OpDefinition, name: str, keyword: str) -> None:
        super().__init__(definition)
        self.name = name
        self.keyword = keyword
        self.prefix = f"#{definition.name.partition('.')[0]}.{keyword}"
        self.attributes = (name,)

    def parse(self, parser: Parser, draft: Draft) -> None:
        if parser.accept(self.keyword):
            draft.attributes[self.name] = OpaqueAttr(self.prefix + parser.balanced())

    def print(self, printer: Printer, op: Operation) -> None:
        value = op.attributes.get(self.name)
        if value is not None:
            printer.word(f"{self.keyword}{str(value).removeprefix(self.prefix)}")


class Flag(Directive):
    """A word that stands for a unit attribute."""

    def __init__(self, definition: OpDefinition, name: str, word: str = "") -> None:
        super().__init__(definition)
        self.name = name
        self.word = word or name
        self.attributes = (name,)

    def parse(self, parser: Parser, draft: Draft) -> None:
        if parser.accept(self.word):
            draft.attributes[self.name] = UNIT

    def print(self, printer: Printer, op: Operation) -> None:
        if self.name in op.attributes:
            printer.word(self.word)


class Angled(Directive):
    """``<a>`` for the attribute ``#dialect.word<a>``."""

    def __init__(self, definition: OpDefinition, name: str, word: str) -> None:
        super().__init__(definition)
        self.name = name
        self.prefix = f"#{definition.name.partition('.')[0]}.{word}"
        self.attributes = (name,)

    def parse(self, parser: Parser, draft: Draft) -> None:
        draft.attributes[self.name] = OpaqueAttr(self.prefix + parser.balanced())

    def print(self, printer: Printer, op: Operation) -> None:
        printer.word(str(op.attributes[self.name]).removeprefix(self.prefix))

    def present(self, op: Operation) -> bool:
        return self.name in op.attributes

    def ahead(self, parser: Parser) -> bool:
        return parser.kind == "<"


class Target(Directive):
    """A successor with the values it is given: ``^bb1(%a, %b : i32, index)``."""

    def parse(self, parser: Parser, draft: Draft) -> None:
        block, uses, types = parser.successor_with_values()
        draft.successors.append((block, uses))
        draft.successor_types.append(types)

    def print(self, printer: Printer, op: Operation) -> None:
        index = [p.name for p in self.definition.successors].index(self.arguments[0])
        printer.word(printer.successor(op.successors[index]))


class Indices(Directive):
    """``[0, %i, 4]``: the operands `x` where the static list has `DYNAMIC_INDEX`."""

    def __init__(self, definition: OpDefinition, operands: str, static: str) -> None:
        super().__init__(definition)
        self.operands = operands
        self.static = static
        self.attributes = (static,)

    def parse(self, parser: Parser, draft: Draft) -> None:
        uses: list[Use] = []

        def one() -> int:
            if parser.kind == "ssa":
                uses.append(parser.use())
                return DYNAMIC_INDEX
            return parser.integer()

        numbers = parser.items("[", "]", one)
        draft.operands[self.operands] = uses
        draft.attributes[self.static] = DenseArrayAttr(I64, tuple(numbers))

    def print(self, printer: Printer, op: Operation) -> None:
        values = iter(op.operands[operand_slice(op, self.operands)])
        static = op.attributes[self.static]
        numbers = static.values if isinstance(static, DenseArrayAttr) else ()
        printer.literal("[")
        for k, number in enumerate(numbers):
            if k:
                printer.literal(",")
            printer.word(printer.value(next(values)) if number == DYNAMIC_INDEX else str(number))
        printer.literal("]")

    def present(self, op: Operation) -> bool:
        return self.static in op.attributes

    def ahead(self, parser: Parser) -> bool:
        return parser.kind == "["


def mixed(values: list[Value], numbers: list[int]) -> list[Value | int]:
    """A static list with its dynamic places filled: what an `Indices` list means."""
    rest = iter(values)
    return [next(rest) if n == DYNAMIC_INDEX else n for n in numbers]
