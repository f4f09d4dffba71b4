"""Functions: ``private @name(%a: i32, ...) -> i32 attributes {...} { ... }``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..attributes import ArrayAttr, Attribute, DictAttr, StringAttr, TypeAttr, symbol_text
from ..core import Operation
from ..types import FunctionType, Type
from .common import Directive

if TYPE_CHECKING:
    from ..parser import Draft, Parser, Use
    from ..printer import Printer

_VISIBILITY = ("private", "public", "nested")


class Signature(Directive):
    """Everything of ``func.func`` after its name."""

    attributes = ("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs")

    def parse(self, parser: Parser, draft: Draft) -> None:
        if parser.text in _VISIBILITY:
            draft.attributes["sym_visibility"] = StringAttr(parser.keyword())
        draft.attributes["sym_name"] = StringAttr(parser.symbol_name())
        names: list[Use] = []
        inputs, notes = _list(parser, names)
        results: list[Type] = []
        result_notes: list[Attribute] = []
        if parser.accept("->"):
            results, result_notes = _results(parser)
        draft.attributes["function_type"] = TypeAttr(FunctionType(tuple(inputs), tuple(results)))
        _note(draft, "arg_attrs", notes)
        _note(draft, "res_attrs", result_notes)
        if parser.accept("attributes"):
            draft.attributes.update(parser.dictionary())
        if parser.kind == "{":
            arguments = list(zip(names, inputs, strict=True))
            draft.regions[0] = parser.region(arguments, isolated=True)

    def print(self, printer: Printer, op: Operation) -> None:
        visibility = op.attributes.get("sym_visibility")
        if isinstance(visibility, StringAttr):
            printer.word(visibility.value)
        printer.word(symbol_text(op.symbol or ""))
        type = op.attributes["function_type"]
        assert isinstance(type, TypeAttr)
        function = type.type
        assert isinstance(function, FunctionType)
        body = op.regions[0] if op.regions and op.regions[0].blocks else None
        if body is not None:
            printer.names.enter(body)
        inputs = []
        for k, t in enumerate(function.inputs):
            name = f"{printer.value(body.entry.arguments[k])}: " if body is not None else ""
            inputs.append(f"{name}{t}{_noted(op, 'arg_attrs', k)}")
        if body is not None:
            printer.names.leave()
        printer.raw(f"({', '.join(inputs)})")
        _print_results(printer, op, function.results)
        rest = {k: v for k, v in op.attributes.items() if k not in self.attributes}
        if rest:
            printer.word(f"attributes {printer.dictionary(rest, op.definition)}")
        if body is not None:
            printer.region(body, entry=False)


def _list(parser: Parser, names: list[Use]) -> tuple[list[Type], list[Attribute]]:
    """The inputs: named ones with a body, bare types without."""
    types: list[Type] = []
    notes: list[Attribute] = []

    def one() -> None:
        if parser.kind == "ssa":
            use, type = parser.argument()
            names.append(use)
            types.append(type)
        else:
            types.append(parser.type())
        notes.append(_dictionary(parser))
        parser.location()

    parser.items("(", ")", one)
    return types, notes


def _results(parser: Parser) -> tuple[list[Type], list[Attribute]]:
    if parser.kind != "(":
        return [parser.type()], []
    types: list[Type] = []
    notes: list[Attribute] = []

    def one() -> None:
        types.append(parser.type())
        notes.append(_dictionary(parser))

    parser.items("(", ")", one)
    return types, notes


def _dictionary(parser: Parser) -> DictAttr:
    return DictAttr(tuple(parser.dictionary().items()) if parser.kind == "{" else ())


def _note(draft: Draft, name: str, notes: list[Attribute]) -> None:
    if any(isinstance(n, DictAttr) and n.entries for n in notes):
        draft.attributes[name] = ArrayAttr(tuple(notes))


def _noted(op: Operation, name: str, index: int) -> str:
    notes = op.attributes.get(name)
    if not isinstance(notes, ArrayAttr) or index >= len(notes.values):
        return ""
    note = notes.values[index]
    return f" {note}" if isinstance(note, DictAttr) and note.entries else ""


def _print_results(printer: Printer, op: Operation, results: tuple[Type, ...]) -> None:
    if not results:
        return
    words = [f"{t}{_noted(op, 'res_attrs', k)}" for k, t in enumerate(results)]
    bare = len(words) == 1 and not isinstance(results[0], FunctionType) and "{" not in words[0]
    printer.raw(f" -> {words[0]}" if bare else f" -> ({', '.join(words)})")
