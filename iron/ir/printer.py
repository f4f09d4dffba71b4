"""Prints operations: in the custom form of the dialect tables, or in MLIR's generic form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from . import forms
from .attributes import Attribute, DenseArrayAttr, quoted
from .core import Block, Operation, Region, Value
from .definition import OpDefinition, segment_sizes
from .names import Names
from .types import I32, FunctionType

_SHORT = {"builtin.module": "module"}


class Printer:
    def __init__(self, *, generic: bool = False, locations: bool = False) -> None:
        self.generic = generic
        self.locations = locations
        self.names = Names()
        self.out: list[str] = []
        self.indent = ""
        self._space = True
        self._after_punctuation = False

    def __str__(self) -> str:
        return "".join(self.out)

    # words, with the blanks between them

    def word(self, text: str) -> None:
        if self._space or not self._after_punctuation:
            self.out.append(" ")
        self.out.append(text)
        self._space = True
        self._after_punctuation = False

    def literal(self, text: str) -> None:
        first = text[0]
        if self._space and self._blank_before(text, first):
            self.out.append(" ")
        self.out.append(text)
        self._space = len(text) != 1 or first not in "<({["
        self._after_punctuation = not (first.isalpha() or first == "_")

    def _blank_before(self, text: str, first: str) -> bool:
        if len(text) != 1 and text != "->":
            return True
        return first not in (">)}]," if self._after_punctuation else "<>(){}[],")

    def raw(self, text: str) -> None:
        """`text` as it is, no blank before it."""
        self.out.append(text)
        self._space = True
        self._after_punctuation = True

    def blank(self, wanted: bool) -> None:
        if wanted:
            self.out.append(" ")
        self._space = False
        self._after_punctuation = True

    # names and small texts

    def value(self, value: Value) -> str:
        return self.names.value(value)

    def label(self, block: Block) -> str:
        return self.names.label(block)

    def function_text(self, operands: Iterable[Value], results: Iterable[Value]) -> str:
        return str(FunctionType(tuple(v.type for v in operands), tuple(v.type for v in results)))

    def dictionary(
        self, attributes: Mapping[str, Attribute], definition: OpDefinition | None
    ) -> str:
        """``{name = value, ...}``, sorted by name as MLIR does."""
        parts = definition.attributes if definition is not None else {}
        words = []
        for name, value in sorted(attributes.items()):
            part = parts.get(name)
            words.append(forms.entry(name, value, None if part is None else part.kind))
        return "{" + ", ".join(words) + "}"

    def argument(self, value: Value) -> str:
        return f"{self.names.value(value)}: {value.type}"

    def successor(self, successor: tuple[Block, Sequence[Value]]) -> str:
        block, values = successor
        if not values:
            return self.label(block)
        names = ", ".join(map(self.value, values))
        return f"{self.label(block)}({names} : {', '.join(str(v.type) for v in values)})"

    # operations

    def operation(self, op: Operation) -> None:
        """The operation at the cursor, without indentation and line end."""
        if op.results:
            self.out.append(f"{self.names.packed(op)} = ")
        definition = op.definition
        if self.generic or definition is None or definition.format is None:
            self._generic(op, definition)
        else:
            self.out.append(_SHORT.get(op.name, op.name))
            self._space = True
            self._after_punctuation = False
            for element in definition.elements:
                element.print(self, op)
        if self.locations:
            where = op.location
            text = f"{quoted(where.file)}:{where.line}:{where.column}" if where else "unknown"
            self.out.append(f" loc({text})")

    def _generic(self, op: Operation, definition: OpDefinition | None) -> None:
        out = self.out
        flat = definition is not None and "forward" in definition.traits
        forwarded = [v for _, values in op.successors for v in values] if flat else []
        values = [*op.operands, *forwarded]
        out.append(f"{quoted(op.name)}({', '.join(map(self.value, values))})")
        if op.successors:
            words = (self.label(s[0]) if flat else self.successor(s) for s in op.successors)
            out.append(f"[{', '.join(words)}]")
        inherent, other = self._split(op, definition)
        if inherent:
            out.append(f" <{self.dictionary(inherent, definition)}>")
        self._generic_regions(op, definition)
        if other:
            out.append(f" {self.dictionary(other, None)}")
        out.append(f" : {self.function_text(values, op.results)}")

    def _split(
        self, op: Operation, definition: OpDefinition | None
    ) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
        """The attributes the definition names, with the segment sizes, and the others."""
        if definition is None:
            return {}, dict(op.attributes)
        known = definition.attributes
        inherent = {k: v for k, v in op.attributes.items() if k in known}
        other = {k: v for k, v in op.attributes.items() if k not in known}
        if definition.has_segments or ("forward" in definition.traits and len(op.successors) > 1):
            sizes = [*segment_sizes(op)]
            if "forward" in definition.traits:
                sizes += (len(values) for _, values in op.successors)
            inherent["operandSegmentSizes"] = DenseArrayAttr(I32, tuple(sizes))
        return inherent, other

    def _generic_regions(self, op: Operation, definition: OpDefinition | None) -> None:
        regions = list(op.regions)
        if definition is not None and not any(p.arity for p in definition.regions):
            regions += [Region() for _ in definition.regions[len(regions) :]]
        if not regions:
            return
        self.out.append(" (")
        for k, region in enumerate(regions):
            if k:
                self.out.append(", ")
            self.body(region, entry=True, hidden=None)
        self.out.append(")")

    # regions

    def region(self, region: Region, *, entry: bool = True, hidden: str | None = None) -> None:
        """`region` after a blank. `entry` shows the arguments of its first block; `hidden` names a
        terminator that need not be seen."""
        self.out.append(" ")
        self.body(region, entry=entry, hidden=hidden)

    def body(self, region: Region, *, entry: bool = True, hidden: str | None = None) -> None:
        """The same without the blank."""
        self.names.enter(region)
        outer = self.indent
        self.out.append("{\n")
        for k, block in enumerate(region.blocks):
            if k or (entry and block.arguments) or self._must_be_seen(region, block):
                self._block_head(block)
            self.indent = outer + "  "
            self._operations(block, hidden)
            self.indent = outer
        self.out.append(f"{outer}}}")
        self.names.leave()
        self._space = True
        self._after_punctuation = False

    def _must_be_seen(self, region: Region, block: Block) -> bool:
        """An entry block that is a branch's target, or an empty one in the generic form."""
        if self.generic and not block.operations:
            return True
        return any(
            target is block
            for b in region.blocks
            for op in b.operations
            for target, _ in op.successors
        )

    def _block_head(self, block: Block) -> None:
        arguments = ", ".join(map(self.argument, block.arguments))
        self.out.append(
            f"{self.indent}{self.label(block)}{f'({arguments})' if arguments else ''}:\n"
        )

    def _operations(self, block: Block, hidden: str | None) -> None:
        for op in block.operations:
            if (
                hidden is not None
                and op is block.operations[-1]
                and op.name == hidden
                and not (op.operands or op.attributes or op.results)
            ):
                continue
            self.out.append(self.indent)
            self.operation(op)
            self.out.append("\n")


def print_module(op: Operation, *, generic: bool = False, locations: bool = False) -> str:
    """The text of `op` and all inside it, ending in a line end.

    `generic` prints the generic form of every operation, `locations` a ``loc(...)`` after each.
    ValueError when an operation lacks what its form must show.
    """
    printer = Printer(generic=generic, locations=locations)
    printer.names.results(op)
    printer.operation(op)
    printer.out.append("\n")
    return str(printer)
