"""Functions, globals, constants and address computations of the llvm dialect."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..attributes import (
    UNIT,
    Attribute,
    DenseArrayAttr,
    IntegerAttr,
    OpaqueAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    symbol_text,
)
from ..core import Operation
from ..dialects.enums import members, number
from ..types import I32, I64, OpaqueType, Type
from .common import Constant as ArithConstant
from .common import Directive
from .func import _dictionary, _note, _noted

if TYPE_CHECKING:
    from ..parser import Draft, Parser, Use
    from ..printer import Printer

_LINKAGE = (
    *("private", "internal", "available_externally", "linkonce", "weak", "common", "appending"),
    *("extern_weak", "linkonce_odr", "weak_odr", "external"),
)
_DYNAMIC = -(2**31)
"""A constant index of getelementptr that is an operand (LLVM::kDynamicIndex)."""


def _linkage(parser: Parser, draft: Draft) -> None:
    if parser.text in _LINKAGE:
        draft.attributes["linkage"] = StringAttr(parser.keyword())


def _print_linkage(printer: Printer, op: Operation) -> None:
    linkage = op.attributes.get("linkage")
    if isinstance(linkage, StringAttr):
        printer.word(linkage.value)


class Signature(Directive):
    """Everything of ``llvm.func`` after its name; its type is kept as written by MLIR:
    ``!llvm.func<i32 (ptr)>``, with the types of the arguments beside it."""

    attributes = ("linkage", "sym_name", "function_type", "arg_attrs", "res_attrs")

    def parse(self, parser: Parser, draft: Draft) -> None:
        _linkage(parser, draft)
        draft.attributes["sym_name"] = StringAttr(parser.symbol_name())
        names: list[Use] = []
        types: list[Type] = []
        notes: list[Attribute] = []
        variadic: list[str] = []

        def one() -> None:
            if parser.accept("..."):
                variadic.append("...")
                return
            if parser.kind == "ssa":
                use, type = parser.argument()
                names.append(use)
                types.append(type)
            else:
                types.append(parser.type())
            notes.append(_dictionary(parser))

        parser.items("(", ")", one)
        result = str(parser.type()) if parser.accept("->") else "void"
        inputs = ", ".join([*map(str, types), *variadic])
        draft.attributes["function_type"] = TypeAttr(OpaqueType(f"!llvm.func<{result} ({inputs})>"))
        _note(draft, "arg_attrs", notes)
        if parser.accept("attributes"):
            draft.attributes.update(parser.dictionary())
        if parser.kind == "{":
            draft.regions[0] = parser.region(list(zip(names, types, strict=True)), isolated=True)

    def print(self, printer: Printer, op: Operation) -> None:
        _print_linkage(printer, op)
        printer.word(symbol_text(op.symbol or ""))
        body = op.regions[0] if op.regions and op.regions[0].blocks else None
        m = re.match(r"!llvm\.func<(.*?) \((.*)\)>\Z", str(op.attributes["function_type"]))
        if m is None:
            raise ValueError(f"{op.name} at {op.location} has no function type")
        if body is not None:
            printer.names.enter(body)
            words = [
                f"{printer.argument(a)}{_noted(op, 'arg_attrs', k)}"
                for k, a in enumerate(body.entry.arguments)
            ]
            printer.names.leave()
            printer.raw(f"({', '.join(words)})")
        else:
            printer.raw(f"({m[2]})")
        if m[1] != "void":
            printer.word(f"-> {m[1]}")
        rest = {k: v for k, v in op.attributes.items() if k not in self.attributes}
        if rest:
            printer.word(f"attributes {printer.dictionary(rest, op.definition)}")
        if body is not None:
            printer.region(body, entry=False)


class Global(Directive):
    """``external constant @name(value) {...} : type { initializer }``."""

    attributes = ("linkage", "constant", "sym_name", "value", "global_type")

    def parse(self, parser: Parser, draft: Draft) -> None:
        _linkage(parser, draft)
        if parser.accept("constant"):
            draft.attributes["constant"] = UNIT
        draft.attributes["sym_name"] = StringAttr(parser.symbol_name())
        parser.expect("(")
        if not parser.accept(")"):
            draft.attributes["value"] = parser.attribute()
            parser.expect(")")
        if parser.kind == "{":
            draft.attributes.update(parser.dictionary())
        if parser.accept(":"):
            draft.attributes["global_type"] = TypeAttr(parser.type())
        else:
            value = draft.attributes.get("value")
            length = len(value.value.encode()) if isinstance(value, StringAttr) else 0
            type = OpaqueType(f"!llvm.array<{length} x i8>")
            draft.attributes["global_type"] = TypeAttr(type)
        if parser.kind == "{":
            draft.regions[0] = parser.region()

    def print(self, printer: Printer, op: Operation) -> None:
        _print_linkage(printer, op)
        if "constant" in op.attributes:
            printer.word("constant")
        value = op.attributes.get("value")
        printer.word(f"{symbol_text(op.symbol or '')}({value if value is not None else ''})")
        rest = {k: v for k, v in op.attributes.items() if k not in self.attributes}
        if rest:
            printer.word(printer.dictionary(rest, op.definition))
        printer.word(f": {op.attributes['global_type']}")
        if op.regions and op.regions[0].blocks:
            printer.region(op.regions[0])


class Constant(ArithConstant):
    """The value between the parentheses; its type is not the result's."""

    def parse(self, parser: Parser, draft: Draft) -> None:
        draft.attributes["value"] = parser.attribute()


class Callee(Directive):
    """``@name``, or nothing before a pointer that is called."""

    attributes = ("callee",)

    def parse(self, parser: Parser, draft: Draft) -> None:
        draft.attributes["callee"] = parser.symbol_reference()

    def print(self, printer: Printer, op: Operation) -> None:
        callee = op.attributes.get("callee")
        if not isinstance(callee, SymbolRefAttr):
            raise ValueError(f"{op.name} at {op.location} calls no symbol")
        printer.word(str(callee))


class Predicate(Directive):
    """``"slt"``."""

    attributes = ("predicate",)

    def _enum(self) -> str:
        return "CmpIPredicate" if self.definition.name == "llvm.icmp" else "CmpFPredicate"

    def parse(self, parser: Parser, draft: Draft) -> None:
        start = parser.i
        word = parser.string()
        found = number(self._enum(), {"_false": "false", "_true": "true"}.get(word, word))
        if found is None:
            raise parser.error(f"{word!r} is no predicate", start)
        draft.attributes["predicate"] = IntegerAttr(found, I64)

    def print(self, printer: Printer, op: Operation) -> None:
        value = op.attributes["predicate"]
        word = members(self._enum())[value.value] if isinstance(value, IntegerAttr) else str(value)
        printer.word(f'"{ {"false": "_false", "true": "_true"}.get(word, word) }"')


class GepFlags(Directive):
    """``inbounds|nuw`` before the base."""

    attributes = ("noWrapFlags",)

    def parse(self, parser: Parser, draft: Draft) -> None:
        words: list[str] = []
        while parser.kind == "id":
            words.append(parser.keyword())
            if not parser.accept("|"):
                break
        if words:
            draft.attributes["noWrapFlags"] = OpaqueAttr(f"#llvm.gep_flags<{'|'.join(words)}>")

    def print(self, printer: Printer, op: Operation) -> None:
        value = op.attributes.get("noWrapFlags")
        if value is not None:
            printer.word(str(value).partition("<")[2][:-1])


class GepIndices(Directive):
    """``[0, %i]``."""

    attributes = ("rawConstantIndices",)

    def parse(self, parser: Parser, draft: Draft) -> None:
        uses: list[Use] = []

        def one() -> int:
            if parser.kind == "ssa":
                uses.append(parser.use())
                return _DYNAMIC
            return parser.integer()

        numbers = parser.items("[", "]", one)
        draft.attributes["rawConstantIndices"] = DenseArrayAttr(I32, tuple(numbers))
        draft.operands["operands"] = [*draft.operands.pop("base"), *uses]

    def print(self, printer: Printer, op: Operation) -> None:
        values = iter(op.operands[1:])
        raw = op.attributes["rawConstantIndices"]
        numbers = raw.values if isinstance(raw, DenseArrayAttr) else ()
        words = [printer.value(next(values)) if n == _DYNAMIC else str(n) for n in numbers]
        printer.raw(f"[{', '.join(words)}]")


class ElementType(Directive):
    """The type an address computation or allocation counts in."""

    attributes = ("elem_type",)

    def parse(self, parser: Parser, draft: Draft) -> None:
        draft.attributes["elem_type"] = TypeAttr(parser.type())

    def print(self, printer: Printer, op: Operation) -> None:
        printer.word(str(op.attributes["elem_type"]))


class Member(Directive):
    """The type of a struct's member, found from the struct's."""

    def parse(self, parser: Parser, draft: Draft) -> None:
        container = draft.types["container"][0]
        position = draft.attributes["position"]
        indices = position.values if isinstance(position, DenseArrayAttr) else ()
        draft.types["res"] = [_member(str(container), [int(i) for i in indices])]

    def print(self, printer: Printer, op: Operation) -> None:
        pass


def _member(container: str, indices: list[int]) -> Type:
    from ..lexer import Source
    from ..values import ValueParser

    for index in indices:
        inside = container.partition("<")[2][:-1]
        if inside.startswith("("):
            container = _split(inside[1:-1])[index]
        else:
            container = inside.partition(" x ")[2]
    return ValueParser(Source(container, "<type>")).type()


def _split(text: str) -> list[str]:
    """The members of a list, parted at commas outside brackets."""
    out, depth, start = [], 0, 0
    for k, c in enumerate(text):
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(c, 0)
        if c == "," and depth == 0:
            out.append(text[start:k].strip())
            start = k + 1
    return [*out, text[start:].strip()]
