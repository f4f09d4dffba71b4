"""A region as readable C++: values, blocks and control flow.

The text depends on nothing but the operations: values are numbered in order, resources and
source lines have local numbers. So equal bodies of different cores are equal text. What
memory and cores do is in `cpp_body`, what the runtime sequence does in `cpp_sequence`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from iron.ir.core import Block, Operation, Region, Value, defining_op
from iron.ir.types import VectorType

from . import reading as r
from .cpp_ops import ctype, literal, template_of, unsigned
from .errors import refuse
from .layout import strides
from .network import Buffer, Channel, Lock, Resources, Tile
from .sources import checks_races
from .state import Lowering

IGNORED = {
    "arith.constant",  # written where it is used
    "aie.event",
    "aie.next_bd",
    "aie.debug",
    "memref.assume_alignment",
    "memref.dealloc",
    "aiex.npu.preempt",
}


class Writer:
    """Writes one body. `uses` collects what it refers to, `called` the functions it calls."""

    def __init__(self, s: Lowering, tile: Tile | None) -> None:
        self.s = s
        self.tile = tile
        self.uses = Resources()
        self.called: dict[str, Operation] = {}
        self.lines: list[str] = []
        self.depth = 1
        self.names: dict[int, str] = {}
        self.view_steps: dict[int, list[str]] = {}
        self.hoisted: set[int] = set()
        self.labels: dict[int, str] = {}
        self.count = 0
        self.prelude: dict[str, str] = {}
        self.checked = checks_races()

    # ---- writing
    def write(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def fresh(self, prefix: str = "v") -> str:
        self.count += 1
        return f"{prefix}{self.count - 1}"

    def let(self, op: Operation, value: Value, expression: str) -> str:
        """Bind a value to an expression."""
        known = self.names.get(id(value))
        if known is not None and id(value) in self.hoisted:
            self.write(f"{known} = {expression};")
            return known
        name = self.names[id(value)] = self.fresh()
        self.write(declared(ctype(op, value.type), name) + f" = {expression};")
        return name

    def value(self, op: Operation, value: Value) -> str:
        """The C++ of an operand."""
        name = self.names.get(id(value))
        if name is not None:
            return name
        source = defining_op(value)
        if source is not None and source.name == "arith.constant":
            return literal(source, source.attributes.get("value"), value.type)
        if source is not None and source.name == "aie.buffer":
            return self.buffer(op, self.s.buffers[id(value)], ctype(source, value.type))
        raise refuse(op, f"its operand %{value.name or '?'} is not available on the host target")

    def site(self, op: Operation) -> int:
        """A number for the source line of an operation, the same in every equal body."""
        self.uses.sites.append(r.where(op))
        return len(self.uses.sites) - 1

    # ---- local numbers
    def buffer(self, op: Operation, buffer: Buffer, pointer: str) -> str:
        index = local(self.uses.buffers, buffer)
        name = f"buffer{index}"
        element = pointer.removesuffix("*").strip()
        if pointer not in self.prelude.get(name, pointer):
            name = f"buffer{index}_{re.sub(r'[^a-z0-9]+', '_', element)}"
        self.prelude[name] = declared(pointer, name) + f" = iron::buffer<{element}>(c, {index});"
        return name

    def lock(self, lock: Lock) -> int:
        return local(self.uses.locks, lock)

    def channel(self, channel: Channel) -> int:
        return local(self.uses.channels, channel)

    # ---- regions
    def region(self, region: Region) -> None:
        if len(region.blocks) == 1:
            self.block(region.entry)
            return
        self.hoist(region)
        for i, block in enumerate(region.blocks):
            label = self.labels[id(block)] = self.fresh("block")
            for a in block.arguments if i else ():
                name = self.names[id(a)] = self.fresh()
                self.hoisted.add(id(a))
                self.write(declared(ctype(self.s.op, a.type), name) + ";")
        for i, block in enumerate(region.blocks):
            label = self.labels[id(block)]
            self.write(f"{label}: {{" if i else "{")
            self.depth += 1
            self.block(block)
            self.depth -= 1
            self.write("}")

    def hoist(self, region: Region) -> None:
        """Declare first what is made in one block and used in another."""
        home = {
            id(v): (block, op, v)
            for block in region.blocks
            for op in block.operations
            if op.name != "arith.constant"
            for v in op.results
        }
        for block in region.blocks:
            for top in block.operations:
                for op in top.walk():
                    passed = [v for _, values in op.successors for v in values]
                    for v in [*op.operands, *passed]:
                        made = home.get(id(v))
                        if made is None or made[0] is block or id(v) in self.names:
                            continue
                        if made[1].name == "aie.objectfifo.acquire":
                            type = "int64_t"
                        else:
                            type = ctype(made[1], v.type)
                        name = self.names[id(v)] = self.fresh()
                        self.hoisted.add(id(v))
                        self.write(declared(type, name) + ";")

    def block(self, block: Block) -> None:
        for op in block.operations:
            self.operation(op)

    def operation(self, op: Operation) -> None:
        handler = self.handler(op)
        if handler is not None:
            handler(op)
            return
        template = template_of(op)
        if template is not None and len(op.results) == 1:
            vector = isinstance(op.results[0].type, VectorType)
            text = self.lanes(op, template) if vector else self.expression(op, template)
            self.let(op, op.results[0], text)
            return
        if op.name in IGNORED or op.name.startswith("aie.trace"):
            return
        raise refuse(op, "the host target does not run this operation")

    def handler(self, op: Operation) -> Callable[[Operation], None] | None:
        found: Callable[[Operation], None] | None = getattr(
            self, "do_" + op.name.replace(".", "_"), None
        )
        return found

    def expression(self, op: Operation, template: str) -> str:
        first = op.operands[0].type if op.operands else op.results[0].type
        return template.format(
            *(self.value(op, v) for v in op.operands),
            T=ctype(op, op.results[0].type),
            U=unsigned(op.results[0].type),
            V=unsigned(first),
            F="double" if str(first) == "f64" else "float",
        )

    def lanes(self, op: Operation, template: str) -> str:
        """The expression for each element of a vector."""
        result = op.results[0].type
        assert isinstance(result, VectorType)
        first = op.operands[0].type
        element = ctype(op, result.element)
        text = template.format(
            *(
                f"{self.value(op, v)}.v[l]" if isinstance(v.type, VectorType) else self.value(op, v)
                for v in op.operands
            ),
            T=element,
            U=unsigned(result.element),
            V=unsigned(first.element if isinstance(first, VectorType) else first),
            F="double" if str(result.element) == "f64" else "float",
        )
        lane = f"[&](int64_t l) -> {element} {{ return {text}; }}"
        return f"iron::each<{element}, {result.size}>({lane})"

    def at(self, op: Operation, base: Value, indices: Sequence[str]) -> str:
        """The element of a memref at some indices."""
        terms = []
        for text, step in zip(indices, self.steps(op, base), strict=True):
            if text != "0":
                terms.append(text if step == "1" else f"({text}) * {step}")
        return f"{self.value(op, base)}[{' + '.join(terms) or '0'}]"

    def steps(self, op: Operation, base: Value) -> list[str]:
        """Between elements of each dimension, in elements: those of the type, or those the view
        was made with where the type does not say."""
        made = self.view_steps.get(id(base))
        return made or [str(n) for n in strides(op, r.memref(op, base.type))]

    def touch(self, op: Operation, place: str, count: int, writes: bool) -> None:
        """Tell the race check, if there is one, of a use of memory."""
        if self.checked:
            word = "true" if writes else "false"
            size = f"{count} * (int64_t)sizeof({place})"
            self.write(f"iron::touch(c, &{place}, {size}, {word}, {self.site(op)});")

    # ---- control flow
    def jump(self, op: Operation, block: Block, values: Sequence[Value]) -> str:
        assignment = self.assignment(op, [self.names[id(a)] for a in block.arguments], values)
        return "{ " + "".join(f"{a} " for a in assignment) + f"goto {self.labels[id(block)]}; }}"

    def assignment(
        self, op: Operation, targets: Sequence[str], values: Sequence[Value]
    ) -> list[str]:
        """Assign all at once: a value may be one of the targets."""
        texts = [self.value(op, v) for v in values]
        moves = [(t, x, v) for t, x, v in zip(targets, texts, values, strict=True) if t != x]
        if len(moves) < 2 or not {x for _, x, _ in moves} & {t for t, _, _ in moves}:
            return [f"{t} = {x};" for t, x, _ in moves]
        held = [(self.fresh("t"), t, x, v) for t, x, v in moves]
        return [declared(ctype(op, v.type), h) + f" = {x};" for h, _, x, v in held] + [
            f"{t} = {h};" for h, t, _, _ in held
        ]

    def variables(self, op: Operation, values: Sequence[Value]) -> list[str]:
        """Declare variables for results that are assigned in regions."""
        names = []
        for v in values:
            name = self.names.get(id(v))
            if name is None:
                name = self.names[id(v)] = self.fresh()
                self.write(declared(ctype(op, v.type), name) + ";")
            names.append(name)
        return names

    def inner(self, block: Block, targets: Sequence[str], skip: int = 0) -> None:
        """A nested block; what its terminator yields goes to the targets."""
        self.depth += 1
        *ops, last = block.operations
        for op in ops:
            self.operation(op)
        for text in self.assignment(last, targets, last.operands[skip:]):
            self.write(text)
        self.depth -= 1

    def do_scf_for(self, op: Operation) -> None:
        low, high, step, *initial = op.operands
        block = op.body
        carried = self.variables(op, op.results)
        for text in self.assignment(op, carried, initial):
            self.write(text)
        for argument, name in zip(block.arguments[1:], carried, strict=True):
            self.names[id(argument)] = name
        i = self.names[id(block.arguments[0])] = self.fresh("i")
        type = ctype(op, block.arguments[0].type)
        bounds = self.value(op, low), self.value(op, high), self.value(op, step)
        self.write(f"for ({type} {i} = {bounds[0]}; {i} < {bounds[1]}; {i} += {bounds[2]}) {{")
        self.inner(block, carried)
        self.write("}")

    def do_scf_if(self, op: Operation) -> None:
        results = self.variables(op, op.results)
        self.write(f"if ({self.value(op, op.operands[0])}) {{")
        self.inner_or_empty(op.regions[0], results)
        if len(op.regions) > 1 and op.regions[1].blocks:
            self.write("} else {")
            self.inner_or_empty(op.regions[1], results)
        self.write("}")

    def inner_or_empty(self, region: Region, targets: Sequence[str]) -> None:
        block = region.entry
        last = block.terminator
        if last is not None and last.name == "scf.yield":
            self.inner(block, targets)
            return
        self.depth += 1
        self.block(block)
        self.depth -= 1

    def do_scf_while(self, op: Operation) -> None:
        before, after = op.regions[0].entry, op.regions[1].entry
        carried = self.variables(op, before.arguments)
        for text in self.assignment(op, carried, op.operands):
            self.write(text)
        results = self.variables(op, op.results)
        for argument, name in zip(after.arguments, results, strict=True):
            self.names[id(argument)] = name
        self.write("for (;;) {")
        self.inner(before, results, skip=1)
        condition = before.operations[-1]
        self.depth += 1
        self.write(f"if (!{self.value(condition, condition.operands[0])}) break;")
        self.write("iron::yield();  // a loop that polls must let others run")
        self.depth -= 1
        self.inner(after, carried)
        self.write("}")

    def do_scf_index_switch(self, op: Operation) -> None:
        results = self.variables(op, op.results)
        cases = r.integers(op.attributes.get("cases"))
        self.write(f"switch ({self.value(op, op.operands[0])}) {{")
        default, *regions = op.regions
        for label, region in [
            *((f"case {n}", g) for n, g in zip(cases, regions, strict=True)),
            ("default", default),
        ]:
            self.write(f"{label}: {{")
            self.inner(region.entry, results)
            self.write("  break;")
            self.write("}")
        self.write("}")

    def do_scf_execute_region(self, op: Operation) -> None:
        if len(op.region.blocks) != 1:
            raise refuse(op, "the host target runs it with one block only")
        results = self.variables(op, op.results)
        self.write("{")
        self.inner(op.body, results)
        self.write("}")

    def do_cf_br(self, op: Operation) -> None:
        self.write(self.jump(op, *op.successors[0]))

    def do_cf_cond_br(self, op: Operation) -> None:
        self.write(f"if ({self.value(op, op.operands[0])}) {self.jump(op, *op.successors[0])}")
        self.write(self.jump(op, *op.successors[1]))

    def do_cf_assert(self, op: Operation) -> None:
        message = (r.string(op, "msg") or "").replace("\\", "\\\\").replace('"', '\\"')
        self.write(f'iron::check({self.value(op, op.operands[0])}, "{message}");')

    def do_aie_end(self, op: Operation) -> None:
        self.write("return;")

    # ---- the whole
    def text(self, region: Region) -> list[str]:
        """The lines of the body, without the head."""
        self.region(region)
        return ["  " + line for line in self.prelude.values()] + self.lines


def local(things: list, thing: object) -> int:  # type: ignore[type-arg]
    """The position of a thing in a list, put at its end when it is not there."""
    for i, known in enumerate(things):
        if known is thing:
            return i
    things.append(thing)
    return len(things) - 1


def declared(type: str, name: str) -> str:
    return f"{type}{name}" if type.endswith("*") else f"{type} {name}"
