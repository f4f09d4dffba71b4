"""What vector's formats cannot say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..attributes import DenseArrayAttr
from ..core import Operation
from ..types import VectorType
from .common import Directive

if TYPE_CHECKING:
    from ..parser import Draft, Parser
    from ..printer import Printer


class ShuffleTypes(Directive):
    """The types of both vectors; the result has as many elements as the mask."""

    def parse(self, parser: Parser, draft: Draft) -> None:
        start = parser.i
        first = parser.type()
        parser.expect(",")
        second = parser.type()
        mask = draft.attributes["mask"]
        if not isinstance(first, VectorType) or not isinstance(mask, DenseArrayAttr):
            raise parser.error("a vector is expected", start)
        result = VectorType((len(mask.values), *first.shape[1:]), first.element)
        draft.types.update(v1=[first], v2=[second], vector=[result])

    def print(self, printer: Printer, op: Operation) -> None:
        printer.word(f"{op.operands[0].type}, {op.operands[1].type}")
