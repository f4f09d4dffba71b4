"""The parts of aie and aiex operations no format string can say.

Where mlir-aie changed its spelling during 2026, both are read; what is printed is the spelling the
operation's attributes came in.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from .. import forms
from ..attributes import (
    ArrayAttr,
    Attribute,
    DenseElementsAttr,
    IntegerAttr,
    StringAttr,
    StructAttr,
    TypeAttr,
    event_text,
    symbol_text,
)
from ..core import Operation, Region
from ..definition import OpDefinition, operand_slice
from ..types import I32, ObjectFifoType, ShapedType
from .common import Directive
from .memref import contents_type

if TYPE_CHECKING:
    from ..parser import Draft, Parser, Use
    from ..printer import Printer

_LAYOUT = "aie.bd_dim_layout[]"
_NONE = ArrayAttr(())


class TilePlace(Directive):
    """``(0, ?)`` of a logical tile: an attribute that is absent is a question mark."""

    attributes = ("col", "row")

    def parse(self, parser: Parser, draft: Draft) -> None:
        parser.expect("(")
        for k, name in enumerate(self.attributes):
            if k:
                parser.expect(",")
            if not parser.accept("?"):
                draft.attributes[name] = IntegerAttr(parser.integer(), I32)
        parser.expect(")")

    def print(self, printer: Printer, op: Operation) -> None:
        words = []
        for name in self.attributes:
            value = op.attributes.get(name)
            words.append(str(value.value) if isinstance(value, IntegerAttr) else "?")
        printer.raw(f"({', '.join(words)})")


class Body(Directive):
    """``(%a: i32, %b: memref<4xi32>) attributes {...} { ... }``: a region with named arguments."""

    def __init__(self, definition: OpDefinition, dictionary: str = "") -> None:
        super().__init__(definition)
        self.dictionary = bool(dictionary)

    def parse(self, parser: Parser, draft: Draft) -> None:
        arguments = parser.items("(", ")", parser._block_argument)
        if self.dictionary and parser.accept("attributes"):
            draft.attributes.update(parser.dictionary())
        draft.regions[0] = parser.region(arguments)

    def print(self, printer: Printer, op: Operation) -> None:
        body = op.regions[0]
        arguments = body.entry.arguments if body.blocks else []
        printer.names.enter(body)
        words = ", ".join(map(printer.argument, arguments))
        printer.names.leave()
        printer.raw(f"({words})")
        if self.dictionary:
            rest = {k: v for k, v in op.attributes.items() if k != "sym_name"}
            if rest:
                printer.word(f"attributes {printer.dictionary(rest, op.definition)}")
        printer.region(body, entry=False)


class Producer(Directive):
    """``%tile dimensionsToStream [<...>]``."""

    attributes = ("dimensionsToStream",)

    def parse(self, parser: Parser, draft: Draft) -> None:
        draft.operands["producerTile"] = [parser.use()]
        shape = forms.read(parser, _LAYOUT) if parser.accept("dimensionsToStream") else _NONE
        draft.attributes["dimensionsToStream"] = shape

    def print(self, printer: Printer, op: Operation) -> None:
        printer.word(printer.value(op.operands[operand_slice(op, "producerTile")][0]))
        shape = op.attributes.get("dimensionsToStream", _NONE)
        if shape != _NONE:
            printer.word(f"dimensionsToStream {forms.text(shape, _LAYOUT)}")


class Consumers(Directive):
    """``%a dimensionsFromStream [<...>], %b``."""

    attributes = ("dimensionsFromStreamPerConsumer",)

    def parse(self, parser: Parser, draft: Draft) -> None:
        uses: list[Use] = []
        shapes: list[Attribute] = []
        while parser.kind == "ssa":
            uses.append(parser.use())
            given = parser.accept("dimensionsFromStream")
            shapes.append(forms.read(parser, _LAYOUT) if given else _NONE)
            if not parser.accept(","):
                break
        draft.operands["consumerTiles"] = uses
        draft.attributes["dimensionsFromStreamPerConsumer"] = ArrayAttr(tuple(shapes))

    def print(self, printer: Printer, op: Operation) -> None:
        shapes = op.attributes.get("dimensionsFromStreamPerConsumer", _NONE)
        given = shapes.values if isinstance(shapes, ArrayAttr) else ()
        words = []
        for k, tile in enumerate(op.operands[operand_slice(op, "consumerTiles")]):
            shape = given[k] if k < len(given) else _NONE
            shown = f" dimensionsFromStream {forms.text(shape, _LAYOUT)}" if shape != _NONE else ""
            words.append(f"{printer.value(tile)}{shown}")
        printer.word(", ".join(words))


class FifoTypes(Directive):
    """``!aie.objectfifo<...> -> !aie.objectfifo<...> = [dense<...>, ...]``: the element types of
    producer and consumer and the first contents of the objects."""

    attributes = ("elemType", "consumerElemType", "initValues")

    def parse(self, parser: Parser, draft: Draft) -> None:
        type = parser.type()
        draft.attributes["elemType"] = TypeAttr(type)
        if parser.accept("->"):
            draft.attributes["consumerElemType"] = TypeAttr(parser.type())
        if parser.accept("="):
            shape = contents_type(type.element) if isinstance(type, ObjectFifoType) else None
            values = parser.items("[", "]", lambda: _elements(parser, shape))
            draft.attributes["initValues"] = ArrayAttr(tuple(values))

    def print(self, printer: Printer, op: Operation) -> None:
        printer.word(str(op.attributes["elemType"]))
        consumer = op.attributes.get("consumerElemType")
        if consumer is not None:
            printer.word(f"-> {consumer}")
        values = op.attributes.get("initValues")
        if isinstance(values, ArrayAttr):
            printer.word(f"= {values}")


def _elements(parser: Parser, shape: ShapedType | None) -> Attribute:
    """Dense elements; without a type of their own they have that of the object."""
    if parser.text != "dense":
        return parser.attribute()
    value = parser.dense(shape)
    if parser.accept(":"):
        type = parser.type()
        if isinstance(type, ShapedType):
            return DenseElementsAttr(value.values, type)
    return value


def _bare(value: Attribute) -> str:
    return value.body() if isinstance(value, DenseElementsAttr) else str(value)


class Contents(Directive):
    """``= dense<...>`` after the type of a buffer."""

    attributes = ("initial_value",)

    def parse(self, parser: Parser, draft: Draft) -> None:
        if parser.accept("="):
            type = draft.types["buffer"][0]
            draft.attributes["initial_value"] = _elements(parser, contents_type(type))

    def print(self, printer: Printer, op: Operation) -> None:
        value = op.attributes.get("initial_value")
        if value is not None:
            printer.word(f"= {_bare(value)}")


class ValueOr(Directive):
    """A value, or a number kept in an attribute instead: ``%n`` or ``4``."""

    def __init__(self, definition: OpDefinition, operand: str, attribute: str) -> None:
        super().__init__(definition)
        self.operand = operand
        self.attribute = attribute
        self.kind = definition.attributes[attribute].kind
        self.attributes = (attribute,)

    def parse(self, parser: Parser, draft: Draft) -> None:
        if parser.kind == "ssa":
            draft.operands[self.operand] = [parser.use()]
        else:
            draft.attributes[self.attribute] = forms.read(parser, self.kind)

    def print(self, printer: Printer, op: Operation) -> None:
        values = op.operands[operand_slice(op, self.operand)]
        if values:
            printer.word(printer.value(values[0]))
        else:
            printer.word(forms.text(op.attributes[self.attribute], self.kind))

    def present(self, op: Operation) -> bool:
        return self.attribute in op.attributes or bool(op.operands[operand_slice(op, self.operand)])


class Positions(Directive):
    """``, 0, 256, [<size = 4, stride = 1>], [<const_pad_before = 1, ...>]``: how early 2026 wrote
    the offset, length, dimensions and padding of a buffer descriptor, after its buffer."""

    attributes = ("offset", "len", "dimensions", "pad_dimensions")

    def parse(self, parser: Parser, draft: Draft) -> None:
        for name in ("offset", "len"):
            if not parser.accept(","):
                return
            draft.attributes[name] = IntegerAttr(parser.integer(), I32)
        for name, kind in (("dimensions", _LAYOUT), ("pad_dimensions", "aie.bd_pad_layout[]")):
            if not parser.accept(","):
                return
            draft.attributes[name] = forms.read(parser, kind)

    def print(self, printer: Printer, op: Operation) -> None:
        kinds = ("i32", "i32", _LAYOUT, "aie.bd_pad_layout[]")
        for name, kind in zip(self.spelled(op), kinds, strict=False):
            printer.raw(f", {forms.text(op.attributes[name], kind)}")

    def spelled(self, op: Operation) -> tuple[str, ...]:
        """Those present with all before them; the others stay in the dictionary."""
        return tuple(itertools.takewhile(op.attributes.__contains__, self.attributes))

    def unspelled(self, op: Operation) -> frozenset[str]:
        left = frozenset(self.attributes).difference(self.spelled(op))
        return left if "offset" in op.attributes else left - {"pad_dimensions"}


class Padding(Directive):
    """``pad [<const_pad_before = 1, ...>]``, where it has not been written by position."""

    attributes = ("pad_dimensions",)

    def parse(self, parser: Parser, draft: Draft) -> None:
        if parser.accept("pad"):
            parser.accept("=")
            draft.attributes["pad_dimensions"] = forms.read(parser, "aie.bd_pad_layout[]")

    def print(self, printer: Printer, op: Operation) -> None:
        value = op.attributes.get("pad_dimensions")
        if value is not None and "offset" not in op.attributes:
            printer.word(f"pad {forms.text(value, 'aie.bd_pad_layout[]')}")


class Chain(Directive):
    """``[{ ... }, { ... }]``: the buffer descriptors of a DMA."""

    def parse(self, parser: Parser, draft: Draft) -> None:
        regions: list[Region] = parser.items("[", "]", parser.region)
        draft.regions.update(enumerate(regions))

    def print(self, printer: Printer, op: Operation) -> None:
        printer.raw(" [")
        for k, region in enumerate(op.regions):
            if k:
                printer.raw(", ")
            printer.body(region)
        printer.raw("]")


class Event(Directive):
    """``broadcast = 15`` or ``event = <"NAME">``."""

    attributes = ("broadcast", "event")

    def parse(self, parser: Parser, draft: Draft) -> None:
        if parser.accept("broadcast"):
            parser.expect("=")
            draft.attributes["broadcast"] = IntegerAttr(parser.integer(), I32)
        if parser.accept("event"):
            parser.expect("=")
            draft.attributes["event"] = parser.record("aie.trace_event")

    def print(self, printer: Printer, op: Operation) -> None:
        broadcast, event = op.attributes.get("broadcast"), op.attributes.get("event")
        if isinstance(broadcast, IntegerAttr):
            printer.word(f"broadcast = {broadcast.value}")
        if isinstance(event, StructAttr):
            printer.word(f"event = {event.body()}")


class RegisterValue(Directive):
    """A number, a string or the name of an event."""

    attributes = ("value",)

    def parse(self, parser: Parser, draft: Draft) -> None:
        draft.attributes["value"] = parser.event()

    def print(self, printer: Printer, op: Operation) -> None:
        value = op.attributes["value"]
        shown = str(value.value) if isinstance(value, IntegerAttr) else event_text(value)
        printer.word(shown)


class SequenceName(Directive):
    """``@name`` of a runtime sequence, which may be left out."""

    attributes = ("sym_name",)

    def parse(self, parser: Parser, draft: Draft) -> None:
        if parser.kind == "sym":
            draft.attributes["sym_name"] = StringAttr(parser.symbol_name())

    def print(self, printer: Printer, op: Operation) -> None:
        if op.symbol is not None:
            printer.word(symbol_text(op.symbol))
