"""Reads operations, blocks, regions and SSA names. The custom forms come from the dialect tables.

Names of values are `iron.ir.scopes`' affair, types and attributes `iron.ir.values`'.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .attributes import Attribute, DenseArrayAttr
from .core import UNKNOWN, Block, Location, Operation, Region, Value
from .definition import OpDefinition
from .dialects import lookup
from .kinds import derived_type, fixed_type
from .lexer import ParseError, Source
from .scopes import ScopedParser, Use
from .types import Type

_SHORT = {
    "module": "builtin.module",
    "return": "func.return",
    "call": "func.call",
    "unrealized_conversion_cast": "builtin.unrealized_conversion_cast",
}


@dataclass
class Draft:
    """What the format of one operation has yielded so far."""

    definition: OpDefinition
    operands: dict[str, list[Use]] = field(default_factory=dict)
    types: dict[str, list[Type]] = field(default_factory=dict)
    attributes: dict[str, Attribute] = field(default_factory=dict)
    regions: dict[int, Region] = field(default_factory=dict)
    successors: list[tuple[Block, list[Use]]] = field(default_factory=list)
    successor_types: list[list[Type]] = field(default_factory=list)


class Parser(ScopedParser):
    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.labels: dict[str, tuple[Block, int]] = {}

    # blocks and regions

    def argument(self) -> tuple[Use, Type]:
        """``%name: type``, attributes and location after it left unread."""
        use = self.use()
        self.expect(":")
        return use, self.type()

    def region(
        self,
        arguments: Iterable[tuple[Use, Type]] = (),
        isolated: bool = False,
        bare: bool = False,
    ) -> Region:
        """``{ ... }``. `arguments` are those of the entry block, written outside the braces.
        An empty pair of braces has one empty block, or none when `bare`."""
        self.expect("{")
        region = Region()
        outer, labels, self.labels = self.enter(isolated), self.labels, {}
        given = list(arguments)
        if given or self.kind not in ("block", "}") or (self.kind == "}" and not bare):
            entry = region.add_block()
            for (name, _, token), type in given:
                self.define(name, [entry.add_argument(type)], token)
            self._operations(entry)
        while self.kind == "block":
            self._labelled(region)
        self.expect("}")
        for label, (block, token) in self.labels.items():
            if block.region is None:
                raise self.error(f"block {label} is not defined in this region", token)
        self.leave(outer)
        self.labels = labels
        return region

    def _operations(self, block: Block) -> None:
        append = block.operations.append
        while self.kinds[self.i] not in ("}", "block"):
            op = self.operation()
            op.block = block
            append(op)

    def _labelled(self, region: Region) -> None:
        token = self.i
        label = self.take("block", "a block (^name)")
        block = self._block(label, token)
        if block.region is not None:
            raise self.error(f"block {label} is already defined", token)
        region.add_block(block)
        if self.kind == "(":
            for (name, _, where), type in self.items("(", ")", self._block_argument):
                self.define(name, [block.add_argument(type)], where)
        self.expect(":")
        self._operations(block)

    def _block_argument(self) -> tuple[Use, Type]:
        argument = self.argument()
        self.location()
        return argument

    def _block(self, label: str, token: int) -> Block:
        found = self.labels.get(label)
        if found is None:
            wish = label[1:]
            block = Block(label=None if wish.startswith("bb") and wish[2:].isdigit() else wish)
            found = self.labels[label] = (block, token)
        return found[0]

    def successor(self) -> Block:
        token = self.i
        return self._block(self.take("block", "a block (^name)"), token)

    # operations

    def operation(self) -> Operation:
        start = self.i
        names = self._result_names() if self.kinds[start] == "ssa" else ()
        where = self.source.location(self.source.starts[self.i])
        kind = self.kinds[self.i]
        if kind == "str":
            op = self._generic(where)
        elif kind == "id":
            op = self._custom(where)
        else:
            raise self.error(f"an operation is expected, found {self.found()}")
        given = self.location()
        if given is not None:
            op.location = given
        if names:
            self._name_results(op, names, start)
        return op

    def _result_names(self) -> list[tuple[str, int, int]]:
        names = []
        while True:
            name, _, token = self.use()
            count = self.integer() if self.accept(":") else 1
            names.append((name, count, token))
            if not self.accept(","):
                break
        self.expect("=")
        return names

    def _name_results(
        self, op: Operation, names: Sequence[tuple[str, int, int]], start: int
    ) -> None:
        wanted = sum(count for _, count, _ in names)
        if wanted != len(op.results):
            raise self.error(f"{op.name} has {len(op.results)} results, {wanted} are named", start)
        results: list[Value] = list(op.results)
        for name, count, token in names:
            self.define(name, results[:count], token)
            results = results[count:]

    def _custom(self, where: Location) -> Operation:
        word = self.texts[self.i]
        name = _SHORT.get(word, word)
        definition = lookup(name)
        if definition is None or definition.format is None:
            raise self.error(f"{word} is no known operation; only the generic form would do")
        self.i += 1
        draft = Draft(definition)
        for element in definition.elements:
            element.parse(self, draft)
        return self._finish(draft, where)

    def _finish(self, draft: Draft, where: Location) -> Operation:
        definition = draft.definition
        counts: list[int] = []
        operands: list[Value] = []
        if "operands" in draft.operands:
            operands = self._resolve_all(draft.operands["operands"], draft.types["operands"])
        else:
            for part in definition.operands:
                uses = draft.operands.get(part.name)
                counts.append(len(uses) if uses else 0)
                if uses:
                    operands += self._resolve_part(part.name, part.kind, uses, draft)
        successors = [
            (block, self._resolve_all(uses, types))
            for (block, uses), types in zip(
                draft.successors,
                draft.successor_types or [[] for _ in draft.successors],
                strict=True,
            )
        ]
        fixed = sum(1 for p in definition.regions if p.arity != "*")
        count = max(fixed, *(k + 1 for k in draft.regions)) if draft.regions else fixed
        regions = [draft.regions.get(k) or Region() for k in range(count)]
        op = Operation(
            definition.name,
            operands,
            self._result_types(draft),
            None,
            regions,
            (),
            counts if definition.has_segments and counts else None,
            where,
        )
        op.attributes = draft.attributes
        op.successors = successors
        if definition.terminator is not None:
            _end_blocks(op, definition.terminator)
        return op

    def _resolve_all(self, uses: list[Use], types: list[Type]) -> list[Value]:
        if len(uses) != len(types):
            raise self.error(f"{len(uses)} values are named and {len(types)} types given")
        return [self.resolve(u, t) for u, t in zip(uses, types, strict=True)]

    def _resolve_part(self, name: str, kind: str, uses: list[Use], draft: Draft) -> list[Value]:
        types = draft.types.get(name)
        if types is not None:
            return self._resolve_all(uses, types)
        type = fixed_type(kind)
        if type is None:
            type = derived_type(kind, draft.types)
        values = [self.resolve(u, type) for u in uses]
        if type is None:
            draft.types[name] = [v.type for v in values]
        return values

    def _result_types(self, draft: Draft) -> list[Type]:
        out: list[Type] = []
        for part in draft.definition.results:
            types = draft.types.get(part.name)
            if types is not None:
                out += types
                continue
            if part.arity:
                continue
            type = fixed_type(part.kind)
            if type is None:
                type = derived_type(part.kind, draft.types)
            if type is None:
                raise self.error(f"the type of {draft.definition.name}'s result is not known")
            draft.types[part.name] = [type]
            out.append(type)
        return out

    def _generic(self, where: Location) -> Operation:
        name = self.string()
        uses = self.items("(", ")", self.use)
        blocks = self.items("[", "]", self.successor_with_values) if self.kind == "[" else []
        attributes: dict[str, Attribute] = {}
        if self.accept("<"):
            attributes.update(self.dictionary())
            self.expect(">")
        definition = lookup(name)
        isolated = definition is not None and definition.is_isolated
        regions: list[Region] = []
        if self.kind == "(":
            regions = self.items("(", ")", lambda: self.region(isolated=isolated, bare=True))
        if self.kind == "{":
            attributes.update(self.dictionary())
        self.expect(":")
        function = self.function_type()
        sizes = attributes.pop("operandSegmentSizes", None)
        attributes.pop("resultSegmentSizes", None)
        operands = self._resolve_all(uses, list(function.inputs))
        op = Operation(name, operands, function.results, attributes, regions, (), None, where)
        op.successors = [(b, self._resolve_all(u, t)) for b, u, t in blocks]
        if definition is not None:
            given = sizes.values if isinstance(sizes, DenseArrayAttr) else ()
            self._segments(op, definition, [int(v) for v in given])
        return op

    def _segments(self, op: Operation, definition: OpDefinition, sizes: list[int]) -> None:
        """Give the flat operands to the named parts and, of a branch, to its blocks."""
        if "forward" in definition.traits and op.successors:
            named = len(definition.operands)
            own = sum(sizes[:named]) if sizes else named
            values, op.operands = op.operands[own:], op.operands[:own]
            counts = sizes[named:] if sizes else [len(values)]
            for k, count in enumerate(counts[: len(op.successors)]):
                op.successors[k] = (op.successors[k][0], values[:count])
                values = values[count:]
            sizes = sizes[:named]
        if definition.has_segments and sizes:
            op.segments = tuple(sizes)

    def successor_with_values(self) -> tuple[Block, list[Use], list[Type]]:
        """``^block`` or ``^block(%a, %b : t, u)``."""
        block = self.successor()
        uses: list[Use] = []
        types: list[Type] = []
        if self.accept("("):
            uses = self.uses()
            self.expect(":")
            types.append(self.type())
            while self.accept(","):
                types.append(self.type())
            self.expect(")")
        return block, uses, types

    # the whole text

    def text_operations(self) -> list[Operation]:
        out: list[Operation] = []
        while self.kind != "end":
            if self.kind in ("hash", "bang") and self.texts[self.i + 1] == "=":
                self._alias()
            elif self.kind == "resources":
                self.i += 1
            else:
                out.append(self.operation())
        self.end_scope()
        if self.replaced:
            for op in out:
                self.replace_uses(op)
        return out

    def _alias(self) -> None:
        word, kind = self.texts[self.i], self.kind
        self.i += 2
        if kind == "bang":
            self.type_aliases[word] = self.type()
        elif self.texts[self.i] == "loc":
            self.locations[word] = self.location() or UNKNOWN
        else:
            self.attribute_aliases[word] = self.attribute()


def _end_blocks(op: Operation, terminator: str) -> None:
    """Write down the terminator that the text may leave out."""
    for region in op.regions:
        for block in region.blocks:
            last = block.terminator
            if last is None or not _ends(last, terminator):
                block.append(Operation(terminator, location=op.location))


def _ends(op: Operation, terminator: str) -> bool:
    if op.name == terminator or op.successors:
        return True
    definition = op.definition
    return definition is not None and definition.is_terminator


def parse(text: str, file: str = "<text>") -> Operation:
    """The module in `text`; a bare list of operations becomes the body of one.

    `file` is the name its locations carry. ParseError says where the text is not understood.
    """
    from .core import module

    parser = Parser(Source(text, file))
    ops = parser.text_operations()
    if len(ops) == 1 and ops[0].name == "builtin.module":
        return ops[0]
    outer = module()
    for op in ops:
        outer.body.append(op)
    return outer


__all__ = ["Draft", "ParseError", "Parser", "Use", "parse"]
