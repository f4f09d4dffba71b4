"""Globals and reinterpretations of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..attributes import UNIT, DenseElementsAttr, StringAttr, TypeAttr
from ..core import Operation
from ..types import MemRefType, ShapedType, TensorType
from .common import Directive

if TYPE_CHECKING:
    from ..parser import Draft, Parser
    from ..printer import Printer


def contents_type(type: object) -> ShapedType | None:
    """The type of a memref's initial contents: a tensor of its shape."""
    return TensorType(type.shape, type.element) if isinstance(type, MemRefType) else None


class Global(Directive):
    """``type = dense<...>``, ``type = uninitialized`` or ``type`` alone."""

    attributes = ("type", "initial_value")

    def parse(self, parser: Parser, draft: Draft) -> None:
        type = parser.type()
        draft.attributes["type"] = TypeAttr(type)
        if parser.accept("="):
            if parser.accept("uninitialized"):
                draft.attributes["initial_value"] = UNIT
            elif parser.text == "dense":
                draft.attributes["initial_value"] = parser.dense(contents_type(type))
            else:
                draft.attributes["initial_value"] = parser.attribute()

    def print(self, printer: Printer, op: Operation) -> None:
        printer.word(str(op.attributes["type"]))
        value = op.attributes.get("initial_value")
        if value is UNIT:
            printer.word("= uninitialized")
        elif value is not None:
            printer.word(f"= {value.body() if isinstance(value, DenseElementsAttr) else value}")


class Visibility(Directive):
    """``"private"`` before a symbol's name."""

    attributes = ("sym_visibility",)

    def parse(self, parser: Parser, draft: Draft) -> None:
        if parser.kind == "str":
            draft.attributes["sym_visibility"] = StringAttr(parser.string())

    def print(self, printer: Printer, op: Operation) -> None:
        value = op.attributes.get("sym_visibility")
        if value is not None:
            printer.word(str(value))
