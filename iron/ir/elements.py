"""The pieces of an assembly format. Each reads itself from a parser and prints itself.

Blanks follow the rule of MLIR's own generated printers: none after an opening bracket, none before
a closing one or a comma, none between a word and an opening bracket.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from . import forms
from .attributes import Attribute, StringAttr, symbol_text
from .core import Operation, Value
from .definition import OpDefinition, operand_slice, result_slice

if TYPE_CHECKING:
    from .parser import Draft, Parser
    from .printer import Printer
    from .spelling import Element


@runtime_checkable
class Leaving(Protocol):
    """An element that leaves some of its attributes to the dictionary."""

    def unspelled(self, op: Operation) -> frozenset[str]: ...


class _Plain:
    """What an element is when nothing else is said: never the start of an optional group."""

    def present(self, op: Operation) -> bool:
        return True

    def ahead(self, parser: Parser) -> bool:
        return False

    def names(self) -> tuple[str, ...]:
        return ()


class Literal(_Plain):
    def __init__(self, text: str) -> None:
        self.text = text

    def parse(self, parser: Parser, draft: Draft) -> None:
        parser.expect(self.text)

    def print(self, printer: Printer, op: Operation) -> None:
        printer.literal(self.text)

    def ahead(self, parser: Parser) -> bool:
        return parser.text == self.text


class Blank(_Plain):
    """A blank, or the wish for none."""

    def __init__(self, wanted: bool) -> None:
        self.wanted = wanted

    def parse(self, parser: Parser, draft: Draft) -> None:
        pass

    def print(self, printer: Printer, op: Operation) -> None:
        printer.blank(self.wanted)


class Operands(_Plain):
    def __init__(self, name: str, arity: str) -> None:
        self.name = name
        self.arity = arity

    def parse(self, parser: Parser, draft: Draft) -> None:
        if self.arity == "*":
            draft.operands[self.name] = parser.uses()
        else:
            draft.operands[self.name] = [parser.use()]

    def print(self, printer: Printer, op: Operation) -> None:
        values = op.operands[operand_slice(op, self.name)]
        if values or not self.arity:
            printer.word(", ".join(map(printer.value, values)))

    def present(self, op: Operation) -> bool:
        return bool(op.operands[operand_slice(op, self.name)])

    def ahead(self, parser: Parser) -> bool:
        return parser.kind == "ssa"


class AllOperands(_Plain):
    def parse(self, parser: Parser, draft: Draft) -> None:
        draft.operands["operands"] = parser.uses()

    def print(self, printer: Printer, op: Operation) -> None:
        if op.operands:
            printer.word(", ".join(map(printer.value, op.operands)))

    def present(self, op: Operation) -> bool:
        return bool(op.operands)

    def ahead(self, parser: Parser) -> bool:
        return parser.kind == "ssa"


class AttributeElement(_Plain):
    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.kind = kind

    def parse(self, parser: Parser, draft: Draft) -> None:
        draft.attributes[self.name] = forms.read(parser, self.kind)

    def print(self, printer: Printer, op: Operation) -> None:
        printer.word(forms.text(_attribute(op, self.name), self.kind))

    def present(self, op: Operation) -> bool:
        return self.name in op.attributes

    def ahead(self, parser: Parser) -> bool:
        if self.kind in ("sym", "symref"):
            return parser.kind == "sym"
        return parser.kind in ("id", "int", "hex", "float", "str", "hash", "sym") or (
            parser.kind in ("<", "[") and (self.kind[-1] == "]" or "." in self.kind)
        )

    def names(self) -> tuple[str, ...]:
        return (self.name,)


class SymbolName(_Plain):
    """A symbol's name, which is a string attribute written ``@name``."""

    def __init__(self, name: str) -> None:
        self.name = name

    def parse(self, parser: Parser, draft: Draft) -> None:
        draft.attributes[self.name] = StringAttr(parser.symbol_name())

    def print(self, printer: Printer, op: Operation) -> None:
        value = _attribute(op, self.name)
        printer.word(symbol_text(value.value) if isinstance(value, StringAttr) else str(value))

    def present(self, op: Operation) -> bool:
        return self.name in op.attributes

    def ahead(self, parser: Parser) -> bool:
        return parser.kind == "sym"

    def names(self) -> tuple[str, ...]:
        return (self.name,)


class RegionElement(_Plain):
    def __init__(self, index: int, definition: OpDefinition) -> None:
        self.index = index
        self.definition = definition

    def parse(self, parser: Parser, draft: Draft) -> None:
        draft.regions[self.index] = parser.region(isolated=self.definition.is_isolated)

    def print(self, printer: Printer, op: Operation) -> None:
        printer.region(op.regions[self.index], hidden=self.definition.terminator)

    def present(self, op: Operation) -> bool:
        return len(op.regions) > self.index and bool(op.regions[self.index].blocks)

    def ahead(self, parser: Parser) -> bool:
        return parser.kind == "{"


class Successor(_Plain):
    def __init__(self, index: int) -> None:
        self.index = index

    def parse(self, parser: Parser, draft: Draft) -> None:
        draft.successors.append((parser.successor(), []))

    def print(self, printer: Printer, op: Operation) -> None:
        printer.word(printer.label(op.successors[self.index][0]))


class Types(_Plain):
    """The types of one named group of operands or results."""

    def __init__(self, name: str, many: bool, of_operands: bool) -> None:
        self.name = name
        self.many = many
        self.of_operands = of_operands

    def parse(self, parser: Parser, draft: Draft) -> None:
        if not self.many:
            draft.types[self.name] = [parser.type()]
            return
        types = draft.types[self.name] = []
        if parser.kind in ("id", "bang", "("):
            types.append(parser.type())
            while parser.accept(","):
                types.append(parser.type())

    def print(self, printer: Printer, op: Operation) -> None:
        values = self._values(op)
        if values or not self.many:
            printer.word(", ".join(str(v.type) for v in values))

    def _values(self, op: Operation) -> list[Value]:
        if self.name == "operands":
            return op.operands
        if self.of_operands:
            return op.operands[operand_slice(op, self.name)]
        return list(op.results[result_slice(op, self.name)])

    def present(self, op: Operation) -> bool:
        return bool(self._values(op))

    def ahead(self, parser: Parser) -> bool:
        return parser.kind in ("id", "bang", "(")


class Functional(_Plain):
    """``(types of operands) -> types of results``."""

    def __init__(self, source: str, target: str) -> None:
        self.source = source
        self.target = target

    def parse(self, parser: Parser, draft: Draft) -> None:
        function = parser.function_type()
        draft.types[self.source] = list(function.inputs)
        draft.types[self.target] = list(function.results)

    def print(self, printer: Printer, op: Operation) -> None:
        values = (
            op.operands
            if self.source == "operands"
            else op.operands[operand_slice(op, self.source)]
        )
        printer.word(printer.function_text(values, op.results))


class AttrDict(_Plain):
    """Every attribute no other element spells.

    `hidden` are the attributes that others spell, `leaving` the elements that sometimes do not:
    the compiler of formats sets both.
    """

    def __init__(self, definition: OpDefinition, keyword: bool) -> None:
        self.definition = definition
        self.keyword = keyword
        self.hidden: frozenset[str] = frozenset()
        self.leaving: tuple[Leaving, ...] = ()

    def parse(self, parser: Parser, draft: Draft) -> None:
        if self.keyword:
            if parser.accept("attributes"):
                draft.attributes.update(parser.dictionary())
        elif parser.kind == "{":
            draft.attributes.update(parser.dictionary())

    def print(self, printer: Printer, op: Operation) -> None:
        hidden = self._hidden(op)
        shown = {k: v for k, v in op.attributes.items() if k not in hidden}
        if shown:
            body = printer.dictionary(shown, self.definition)
            printer.word(f"attributes {body}" if self.keyword else body)

    def present(self, op: Operation) -> bool:
        hidden = self._hidden(op)
        return any(k not in hidden for k in op.attributes)

    def _hidden(self, op: Operation) -> frozenset[str]:
        if not self.leaving:
            return self.hidden
        return self.hidden.difference(*(element.unspelled(op) for element in self.leaving))

    def ahead(self, parser: Parser) -> bool:
        return parser.kind == "{"


class Group(_Plain):
    """Elements that are there together or not at all."""

    def __init__(self, then: tuple[Element, ...], otherwise: tuple[Element, ...]) -> None:
        self.then = then
        self.otherwise = otherwise
        self.anchor = next((x for x in then if not isinstance(x, Literal | Blank)), then[0])

    def parse(self, parser: Parser, draft: Draft) -> None:
        for element in self.then if self.then[0].ahead(parser) else self.otherwise:
            element.parse(parser, draft)

    def print(self, printer: Printer, op: Operation) -> None:
        for element in self.then if self.anchor.present(op) else self.otherwise:
            element.print(printer, op)

    def present(self, op: Operation) -> bool:
        return self.anchor.present(op)

    def ahead(self, parser: Parser) -> bool:
        return self.then[0].ahead(parser)


def _attribute(op: Operation, name: str) -> Attribute:
    """ValueError, naming the operation and the attribute, when it is missing."""
    try:
        return op.attributes[name]
    except KeyError:
        raise ValueError(f"{op.name} at {op.location} has no attribute {name!r}") from None
