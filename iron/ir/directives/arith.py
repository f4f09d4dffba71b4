"""What arith's formats cannot say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..attributes import IntegerAttr
from ..core import Operation
from ..types import I1, I32
from .common import Directive

if TYPE_CHECKING:
    from ..parser import Draft, Parser
    from ..printer import Printer

_MODES = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")


class SelectTypes(Directive):
    """The type of the result, after that of the condition where it is no plain i1."""

    def parse(self, parser: Parser, draft: Draft) -> None:
        first = parser.type()
        condition, result = (first, parser.type()) if parser.accept(",") else (I1, first)
        draft.types.update(condition=[condition], result=[result])

    def print(self, printer: Printer, op: Operation) -> None:
        condition = op.operands[0].type
        prefix = "" if condition == I1 else f"{condition}, "
        printer.word(f"{prefix}{op.result.type}")


class Rounding(Directive):
    """A rounding mode's word."""

    attributes = ("roundingmode",)

    def parse(self, parser: Parser, draft: Draft) -> None:
        if parser.text in _MODES:
            draft.attributes["roundingmode"] = IntegerAttr(_MODES.index(parser.keyword()), I32)

    def print(self, printer: Printer, op: Operation) -> None:
        value = op.attributes.get("roundingmode")
        if isinstance(value, IntegerAttr) and 0 <= value.value < len(_MODES):
            printer.word(_MODES[value.value])
