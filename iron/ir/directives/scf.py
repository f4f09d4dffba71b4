"""Structured control flow: loops and branches that carry values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core import Operation, Region, Value
from ..definition import operand_slice
from ..types import I1, INDEX, Type
from .common import Directive

if TYPE_CHECKING:
    from ..parser import Draft, Parser, Use
    from ..printer import Printer

_YIELD = "scf.yield"


def carried(parser: Parser) -> tuple[list[Use], list[Use]]:
    """``(%a = %x, %b = %y)``: the names inside and the values given to them."""
    inner: list[Use] = []
    outer: list[Use] = []

    def one() -> None:
        inner.append(parser.use())
        parser.expect("=")
        outer.append(parser.use())

    parser.items("(", ")", one)
    return inner, outer


def print_carried(printer: Printer, inner: list[Value], outer: list[Value]) -> None:
    pairs = (f"{printer.value(a)} = {printer.value(b)}" for a, b in zip(inner, outer, strict=True))
    printer.raw(f"({', '.join(pairs)})")


class For(Directive):
    """``%i = %a to %b step %c iter_args(%s = %init) -> (i32) : i64 { ... }``."""

    def parse(self, parser: Parser, draft: Draft) -> None:
        if parser.accept("unsigned"):
            from ..attributes import UNIT

            draft.attributes["unsignedCmp"] = UNIT
        variable = parser.use()
        for word, name in (("=", "lowerBound"), ("to", "upperBound"), ("step", "step")):
            parser.expect(word)
            draft.operands[name] = [parser.use()]
        inner: list[Use] = []
        outer: list[Use] = []
        types: list[Type] = []
        if parser.accept("iter_args"):
            inner, outer = carried(parser)
            parser.expect("->")
            types = list(parser.result_types())
        type: Type = parser.type() if parser.accept(":") else INDEX
        draft.operands["initArgs"] = outer
        draft.types.update(initArgs=types, results=types)
        for name in ("lowerBound", "upperBound", "step"):
            draft.types[name] = [type]
        arguments = [(variable, type), *zip(inner, types, strict=True)]
        draft.regions[0] = parser.region(arguments)

    def print(self, printer: Printer, op: Operation) -> None:
        body = op.regions[0]
        low, high, step = (printer.value(v) for v in op.operands[:3])
        variable, *inner = body.entry.arguments
        printer.names.enter(body)
        unsigned = "unsigned " if "unsignedCmp" in op.attributes else ""
        printer.word(f"{unsigned}{printer.value(variable)} = {low} to {high} step {step}")
        if op.results:
            printer.word("iter_args")
            print_carried(printer, list(inner), op.operands[3:])
            printer.word(f"-> ({', '.join(str(r.type) for r in op.results)})")
        printer.names.leave()
        if variable.type != INDEX:
            printer.word(f": {variable.type}")
        printer.region(body, entry=False, hidden=_YIELD)

    def names(self) -> tuple[str, ...]:
        return ("unsignedCmp",)


class If(Directive):
    """``%c -> (i32) { ... } else { ... }``."""

    def parse(self, parser: Parser, draft: Draft) -> None:
        draft.operands["condition"] = [parser.use()]
        draft.types["condition"] = [I1]
        draft.types["results"] = list(parser.result_types()) if parser.accept("->") else []
        draft.regions[0] = parser.region()
        draft.regions[1] = parser.region() if parser.accept("else") else Region()

    def print(self, printer: Printer, op: Operation) -> None:
        printer.word(printer.value(op.operands[0]))
        if op.results:
            printer.word(f"-> ({', '.join(str(r.type) for r in op.results)})")
        printer.region(op.regions[0], hidden=_YIELD)
        if len(op.regions) > 1 and op.regions[1].blocks:
            printer.word("else")
            printer.region(op.regions[1], hidden=_YIELD)


class While(Directive):
    """``(%a = %x) : (i32) -> i32 { ... } do { ^bb0(%b: i32): ... }``."""

    def parse(self, parser: Parser, draft: Draft) -> None:
        inner, outer = carried(parser) if parser.kind == "(" else ([], [])
        parser.expect(":")
        function = parser.function_type()
        draft.operands["inits"] = outer
        draft.types.update(inits=list(function.inputs), results=list(function.results))
        draft.regions[0] = parser.region(list(zip(inner, function.inputs, strict=True)))
        parser.expect("do")
        draft.regions[1] = parser.region()
        if parser.accept("attributes"):
            draft.attributes.update(parser.dictionary())

    def print(self, printer: Printer, op: Operation) -> None:
        before = op.regions[0]
        arguments = list(before.entry.arguments)
        printer.names.enter(before)
        if arguments:
            printer.raw(" ")
            print_carried(printer, [*arguments], op.operands)
        printer.names.leave()
        printer.word(f": {printer.function_text(op.operands, op.results)}")
        printer.region(before, entry=False)
        printer.word("do")
        printer.region(op.regions[1])
        if op.attributes:
            printer.word(f"attributes {printer.dictionary(op.attributes, op.definition)}")


class IndexSwitch(Directive):
    """``%x -> i32 case 2 { ... } default { ... }``."""

    attributes = ("cases",)

    def parse(self, parser: Parser, draft: Draft) -> None:
        from ..attributes import DenseArrayAttr
        from ..types import I64

        draft.operands["arg"] = [parser.use()]
        if parser.kind == "{":
            draft.attributes.update(parser.dictionary())
        draft.types["results"] = list(parser.result_types()) if parser.accept("->") else []
        cases: list[int] = []
        regions: list[Region] = []
        while parser.accept("case"):
            cases.append(parser.integer())
            regions.append(parser.region())
        parser.expect("default")
        draft.regions.update(enumerate([parser.region(), *regions]))
        draft.attributes["cases"] = DenseArrayAttr(I64, tuple(cases))

    def print(self, printer: Printer, op: Operation) -> None:
        from ..attributes import DenseArrayAttr

        printer.word(printer.value(op.operands[0]))
        rest = {k: v for k, v in op.attributes.items() if k != "cases"}
        if rest:
            printer.word(printer.dictionary(rest, op.definition))
        if op.results:
            printer.word(f"-> {', '.join(str(r.type) for r in op.results)}")
        cases = op.attributes["cases"]
        assert isinstance(cases, DenseArrayAttr)
        for case, region in zip(cases.values, op.regions[1:], strict=True):
            printer.raw(f"\n{printer.indent}case {case}")
            printer.region(region, hidden=_YIELD)
        printer.raw(f"\n{printer.indent}default")
        printer.region(op.regions[0], hidden=_YIELD)


class Parallel(Directive):
    """``(%i, %j) = (%a, %b) to (%c, %d) step (%e, %f) init (%x) -> i32 { ... }``."""

    def parse(self, parser: Parser, draft: Draft) -> None:
        variables = parser.items("(", ")", parser.use)
        for word, name in (("=", "lowerBound"), ("to", "upperBound"), ("step", "step")):
            parser.expect(word)
            draft.operands[name] = parser.items("(", ")", parser.use)
            draft.types[name] = [INDEX] * len(variables)
        draft.operands["initVals"] = []
        draft.types.update(initVals=[], results=[])
        if parser.accept("init"):
            draft.operands["initVals"] = parser.items("(", ")", parser.use)
        if parser.accept("->"):
            types = list(parser.result_types())
            draft.types.update(initVals=types, results=types)
        draft.regions[0] = parser.region([(v, INDEX) for v in variables])

    def print(self, printer: Printer, op: Operation) -> None:
        def listed(name: str) -> str:
            return ", ".join(map(printer.value, op.operands[operand_slice(op, name)]))

        body = op.regions[0]
        printer.names.enter(body)
        variables = ", ".join(map(printer.value, body.entry.arguments))
        printer.names.leave()
        printer.word(
            f"({variables}) = ({listed('lowerBound')}) to ({listed('upperBound')}) "
            f"step ({listed('step')})"
        )
        if op.results:
            types = ", ".join(str(r.type) for r in op.results)
            single = len(op.results) == 1
            printer.word(f"init ({listed('initVals')}) -> {types if single else f'({types})'}")
        printer.region(body, entry=False, hidden="scf.reduce")
