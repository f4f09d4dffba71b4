"""Affine loops and accesses. Maps stay text; a value in an expression is a dimension of its map."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..attributes import Attribute, IntegerAttr, OpaqueAttr
from ..core import Operation, Value
from ..definition import operand_slice
from ..types import INDEX, Type
from .common import Directive
from .scf import carried, print_carried

if TYPE_CHECKING:
    from ..parser import Draft, Parser, Use
    from ..printer import Printer

_MAP = re.compile(
    r"affine_map<\((?P<dims>[^)]*)\)(?:\s*\[(?P<syms>[^\]]*)\])?\s*->\s*\((?P<body>.*)\)>\Z"
)
_CONSTANT = re.compile(r"affine_map<\(\)\s*->\s*\((-?\d+)\)>\Z")


def constant_bound(bound: Attribute | None) -> int | None:
    """The number an affine bound stands for, None when it depends on values."""
    m = _CONSTANT.match(bound.text) if isinstance(bound, OpaqueAttr) else None
    return int(m[1]) if m else None


def _map_operands(parser: Parser) -> list[Use]:
    """``(%a, %b)[%c]`` after a map."""
    uses = parser.items("(", ")", parser.use)
    if parser.kind == "[":
        uses += parser.items("[", "]", parser.use)
    return uses


def _print_map_operands(printer: Printer, map: Attribute, values: list[Value]) -> str:
    m = _MAP.match(str(map))
    dims = len([d for d in m["dims"].split(",") if d.strip()]) if m else len(values)
    names = [printer.value(v) for v in values]
    symbols = f"[{', '.join(names[dims:])}]" if names[dims:] else ""
    return f"({', '.join(names[:dims])}){symbols}"


class MapApply(Directive):
    """``affine_map<...>(%a)[%b]``."""

    attributes = ("map",)

    def parse(self, parser: Parser, draft: Draft) -> None:
        draft.attributes["map"] = parser.attribute()
        draft.operands["mapOperands"] = _map_operands(parser)

    def print(self, printer: Printer, op: Operation) -> None:
        map = op.attributes["map"]
        printer.word(f"{map}{_print_map_operands(printer, map, op.operands)}")


class Subscripts(Directive):
    """``[%i + 1, %j * 2]``: a map and the values it is applied to."""

    attributes = ("map",)

    def parse(self, parser: Parser, draft: Draft) -> None:
        uses: list[Use] = []
        seen: dict[str, int] = {}
        words: list[str] = []
        parser.expect("[")
        depth = 0
        while depth or parser.kind != "]":
            if parser.kind == "end":
                raise parser.error("this subscript is not closed")
            if parser.kind == "ssa":
                use = parser.use()
                key = f"{use[0]}#{use[1]}"
                if key not in seen:
                    seen[key] = len(uses)
                    uses.append(use)
                words.append(f"d{seen[key]}")
                continue
            depth += {"(": 1, ")": -1}.get(parser.kind, 0)
            words.append(parser.text)
            parser.i += 1
        parser.expect("]")
        dims = ", ".join(f"d{k}" for k in range(len(uses)))
        draft.attributes["map"] = OpaqueAttr(f"affine_map<({dims}) -> ({_spaced(words)})>")
        draft.operands["indices"] = uses

    def print(self, printer: Printer, op: Operation) -> None:
        m = _MAP.match(str(op.attributes["map"]))
        values = op.operands[operand_slice(op, "indices")]
        names = [printer.value(v) for v in values]
        if m is None:
            raise ValueError(f"{op.name} at {op.location}: {op.attributes['map']} is no affine map")
        known = [w.strip() for w in (m["dims"] + "," + (m["syms"] or "")).split(",") if w.strip()]
        body = m["body"]
        for word, name in zip(known, names, strict=True):
            body = re.sub(rf"\b{word}\b", name, body)
        printer.literal("[")
        printer.raw(f"{body}]")


def _spaced(words: list[str]) -> str:
    text = " ".join(words)
    return re.sub(r" ?(,) ?", ", ", re.sub(r"\( ", "(", re.sub(r" \)", ")", text)))


class For(Directive):
    """``%i = 0 to 16 step 2 iter_args(...) -> (...) { ... }``."""

    attributes = ("lowerBoundMap", "upperBoundMap", "step")

    def parse(self, parser: Parser, draft: Draft) -> None:
        variable = parser.use()
        parser.expect("=")
        self._bound(parser, draft, "lower", "max")
        parser.expect("to")
        self._bound(parser, draft, "upper", "min")
        step = parser.integer() if parser.accept("step") else 1
        draft.attributes["step"] = IntegerAttr(step, INDEX)
        inner: list[Use] = []
        outer: list[Use] = []
        types: list[Type] = []
        if parser.accept("iter_args"):
            inner, outer = carried(parser)
            parser.expect("->")
            types = list(parser.result_types())
        draft.operands["inits"] = outer
        draft.types.update(inits=types, results=types)
        draft.regions[0] = parser.region([(variable, INDEX), *zip(inner, types, strict=True)])

    def _bound(self, parser: Parser, draft: Draft, side: str, extremum: str) -> None:
        uses: list[Use] = []
        map: Attribute
        if parser.kind == "int":
            map = OpaqueAttr(f"affine_map<() -> ({parser.integer()})>")
        elif parser.kind == "ssa":
            uses = [parser.use()]
            map = OpaqueAttr("affine_map<(d0) -> (d0)>")
        else:
            parser.accept(extremum)
            map = parser.attribute()
            uses = _map_operands(parser)
        draft.attributes[f"{side}BoundMap"] = map
        draft.operands[f"{side}BoundOperands"] = uses
        draft.types[f"{side}BoundOperands"] = [INDEX] * len(uses)

    def print(self, printer: Printer, op: Operation) -> None:
        body = op.regions[0]
        variable, *inner = body.entry.arguments
        printer.names.enter(body)
        low = self._bound_text(printer, op, "lower", "max ")
        high = self._bound_text(printer, op, "upper", "min ")
        printer.word(f"{printer.value(variable)} = {low} to {high}")
        step = op.attributes.get("step")
        if isinstance(step, IntegerAttr) and step.value != 1:
            printer.word(f"step {step.value}")
        if op.results:
            printer.word("iter_args")
            print_carried(printer, list(inner), op.operands[operand_slice(op, "inits")])
            printer.word(f"-> ({', '.join(str(r.type) for r in op.results)})")
        printer.names.leave()
        printer.region(body, entry=False, hidden="affine.yield")

    def _bound_text(self, printer: Printer, op: Operation, side: str, extremum: str) -> str:
        map = op.attributes[f"{side}BoundMap"]
        number = constant_bound(map)
        if number is not None:
            return str(number)
        values = op.operands[operand_slice(op, f"{side}BoundOperands")]
        if str(map) == "affine_map<(d0) -> (d0)>" and len(values) == 1:
            return printer.value(values[0])
        m = _MAP.match(str(map))
        several = m is not None and "," in m["body"]
        return f"{extremum if several else ''}{map}{_print_map_operands(printer, map, values)}"
