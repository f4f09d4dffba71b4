"""Vectors as C++: a struct of elements in row-major order, and loops over them.

What only moves elements about is a table of positions, worked out here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from iron.ir.attributes import ArrayAttr, BoolAttr, StringAttr
from iron.ir.core import Operation, Value
from iron.ir.types import MemRefType, VectorType

from . import reading as r
from .cpp_affine import AffineOps
from .cpp_ops import ctype
from .errors import refuse
from .layout import dense_strides

REDUCTIONS = {  # kind of vector.reduction -> C++ of two operands
    "add": "a + b",
    "mul": "a * b",
    "and": "a & b",
    "or": "a | b",
    "xor": "a ^ b",
    "minsi": "(a < b ? a : b)",
    "maxsi": "(a > b ? a : b)",
    "minimumf": "iron::minimum(a, b)",
    "maximumf": "iron::maximum(a, b)",
    "minnumf": "iron::minnum(a, b)",
    "maxnumf": "iron::maxnum(a, b)",
}


def vector(op: Operation, value: Value) -> VectorType:
    if not isinstance(value.type, VectorType):
        raise refuse(op, f"needs a vector, not {value.type}")
    return value.type


def positions(shape: Sequence[int]) -> list[tuple[int, ...]]:
    return list(itertools.product(*(range(n) for n in shape)))


def flat(shape: Sequence[int], index: Sequence[int]) -> int:
    return sum(i * s for i, s in zip(index, dense_strides(shape), strict=True))


class VectorOps(AffineOps):
    # ---- moving elements
    def pick(self, op: Operation, source: str, table: Sequence[int]) -> None:
        """The result's elements are those of the source at the given positions."""
        type = vector(op, op.results[0])
        name = self.fresh("table")
        self.write(f"static const int32_t {name}[] = {{{', '.join(map(str, table))}}};")
        element = ctype(op, type.element)
        self.let(op, op.results[0], f"iron::pick<{element}, {type.size}>({source}, {name})")

    def do_vector_broadcast(self, op: Operation) -> None:
        source = op.operands[0]
        type = vector(op, op.results[0])
        text = self.value(op, source)
        if not isinstance(source.type, VectorType):
            element = ctype(op, type.element)
            self.let(op, op.results[0], f"iron::splat<{element}, {type.size}>({text})")
            return
        shape = source.type.shape
        table = []
        for index in positions(type.shape):
            inner = index[len(index) - len(shape) :]
            table.append(
                flat(shape, [0 if n == 1 else i for i, n in zip(inner, shape, strict=True)])
            )
        self.pick(op, f"{text}.v", table)

    do_vector_splat = do_vector_broadcast

    def do_vector_shape_cast(self, op: Operation) -> None:
        self.let(op, op.results[0], self.value(op, op.operands[0]))

    def do_vector_bitcast(self, op: Operation) -> None:
        type = ctype(op, op.results[0].type)
        self.let(op, op.results[0], f"iron::bit_cast<{type}>({self.value(op, op.operands[0])})")

    def do_vector_transpose(self, op: Operation) -> None:
        source, type = vector(op, op.operands[0]), vector(op, op.results[0])
        order = r.integers(op.attributes.get("permutation"))
        table = []
        for index in positions(type.shape):
            back = [0] * len(order)
            for k, o in enumerate(order):
                back[o] = index[k]
            table.append(flat(source.shape, back))
        self.pick(op, f"{self.value(op, op.operands[0])}.v", table)

    def do_vector_shuffle(self, op: Operation) -> None:
        a, b = op.operands
        row = math.prod(vector(op, a).shape[1:])
        both = self.fresh("both")
        first, second = vector(op, a).size, vector(op, b).size
        element = ctype(op, vector(op, a).element)
        self.write(
            f"auto {both} = iron::join<{element}, {first}, {second}>"
            f"({self.value(op, a)}, {self.value(op, b)});"
        )
        mask = r.integers(op.attributes.get("mask"))
        self.pick(op, f"{both}.v", [i * row + k for i in mask for k in range(row)])

    def do_vector_extract_strided_slice(self, op: Operation) -> None:
        source, type = vector(op, op.operands[0]), vector(op, op.results[0])
        offsets = r.integers(op.attributes.get("offsets"))
        steps = r.integers(op.attributes.get("strides"))
        missing = len(source.shape) - len(offsets)
        offsets, steps = offsets + [0] * missing, steps + [1] * missing
        table = [
            flat(source.shape, [o + i * s for o, i, s in zip(offsets, index, steps, strict=True)])
            for index in positions(type.shape)
        ]
        self.pick(op, f"{self.value(op, op.operands[0])}.v", table)

    def do_vector_insert_strided_slice(self, op: Operation) -> None:
        part, whole = op.operands
        small, large = vector(op, part), vector(op, whole)
        offsets = r.integers(op.attributes.get("offsets"))
        steps = r.integers(op.attributes.get("strides"))
        steps = [1] * (len(large.shape) - len(small.shape)) + (steps or [1] * len(small.shape))
        lead = len(large.shape) - len(small.shape)
        table = [
            flat(
                large.shape,
                [o + i * s for o, i, s in zip(offsets, (0,) * lead + index, steps, strict=True)],
            )
            for index in positions(small.shape)
        ]
        self.put(op, self.value(op, whole), f"{self.value(op, part)}.v", table)

    def put(self, op: Operation, whole: str, part: str, table: Sequence[int]) -> None:
        """The whole with some elements replaced."""
        name = self.fresh("table")
        self.write(f"static const int32_t {name}[] = {{{', '.join(map(str, table))}}};")
        self.let(op, op.results[0], f"iron::put({whole}, {part}, {name}, {len(table)})")

    def position(self, op: Operation, shape: Sequence[int]) -> tuple[str, list[int]]:
        """(C++ of the first element's place, shape of what lies there)."""
        static = r.mixed(op, "dynamic_position", "static_position")
        steps = dense_strides(shape)
        terms = []
        for n, step in zip(static, steps, strict=False):
            text = str(n) if isinstance(n, int) else self.value(op, n)
            terms.append(f"{text} * {step}")
        return " + ".join(terms) or "0", list(shape[len(static) :])

    def do_vector_extract(self, op: Operation) -> None:
        source = op.operands[0]
        place, shape = self.position(op, vector(op, source).shape)
        text = f"{self.value(op, source)}.v"
        if not isinstance(op.results[0].type, VectorType):
            self.let(op, op.results[0], f"{text}[{place}]")
            return
        self.pick(op, f"({text} + ({place}))", range(math.prod(shape)))

    def do_vector_insert(self, op: Operation) -> None:
        part, whole = r.required(op, "valueToStore"), r.required(op, "dest")
        place, shape = self.position(op, vector(op, whole).shape)
        text, count = self.value(op, part), math.prod(shape)
        source = f"{text}.v" if isinstance(part.type, VectorType) else f"&{self.named(op, part)}"
        self.let(
            op,
            op.results[0],
            f"iron::put_at({self.value(op, whole)}, {source}, {place}, {count})",
        )

    def named(self, op: Operation, value: Value) -> str:
        """A value as a variable, whose address can be taken."""
        name = self.fresh("held")
        self.write(f"{ctype(op, value.type)} {name} = {self.value(op, value)};")
        return name

    def do_vector_extractelement(self, op: Operation) -> None:
        position = r.single(op, "position")
        place = self.value(op, position) if position is not None else "0"
        source = self.value(op, r.required(op, "vector"))
        self.let(op, op.results[0], f"{source}.v[{place}]")

    def do_vector_insertelement(self, op: Operation) -> None:
        position = r.single(op, "position")
        place = self.value(op, position) if position is not None else "0"
        part = self.named(op, r.required(op, "source"))
        whole = self.value(op, r.required(op, "dest"))
        self.let(op, op.results[0], f"iron::put_at({whole}, &{part}, {place}, 1)")

    # ---- computing
    def do_vector_fma(self, op: Operation) -> None:
        self.let(op, op.results[0], self.lanes(op, "({T})({0} * {1} + {2})"))

    def do_vector_step(self, op: Operation) -> None:
        type = vector(op, op.results[0])
        self.let(
            op,
            op.results[0],
            f"iron::each<int64_t, {type.size}>([&](int64_t l) {{ return l; }})",
        )

    def reduce(self, op: Operation) -> Callable[[str, str, str], str]:
        """C++ of a reduction over a range: (first, count, step) -> text."""
        a = op.attributes.get("kind")
        kind = a.value if isinstance(a, StringAttr) else str(a)
        kind = kind.split("<")[-1].rstrip(">").strip()
        body = REDUCTIONS.get(kind)
        if body is None:
            raise refuse(op, f"the host target does not reduce by {kind}")
        element = ctype(op, vector(op, op.operands[0]).element)
        fold = f"[](auto a, auto b) {{ return ({element})({body}); }}"
        return lambda first, count, step: f"iron::fold({first}, {count}, {step}, {fold})"

    def do_vector_reduction(self, op: Operation) -> None:
        source = r.required(op, "vector")
        fold = self.reduce(op)
        text = fold(f"{self.value(op, source)}.v", str(vector(op, source).size), "1")
        acc = r.single(op, "acc")
        if acc is not None:
            element = ctype(op, vector(op, source).element)
            pair = self.fresh("pair")
            self.write(f"{element} {pair}[2] = {{{self.value(op, acc)}, {text}}};")
            text = fold(pair, "2", "1")
        self.let(op, op.results[0], text)

    # ---- memory
    def spread(self, op: Operation, base: Value, type: VectorType) -> tuple[str, str]:
        """C++ arrays of the vector's shape and of its steps in memory."""
        steps = self.steps(op, base)[-len(type.shape) :] if type.shape else []
        return (
            f"(const int64_t[]){{{', '.join(map(str, type.shape))}}}",
            f"(const int64_t[]){{{', '.join(steps)}}}",
        )

    def read(self, op: Operation, base: Value, place: str) -> None:
        type = vector(op, op.results[0])
        element = ctype(op, type.element)
        shape, steps = self.spread(op, base, type)
        self.touch(op, place, type.shape[-1] if type.shape else 1, writes=False)
        self.let(
            op,
            op.results[0],
            f"iron::load<{element}, {type.size}, {len(type.shape)}>(&{place}, {shape}, {steps})",
        )

    def write_back(self, op: Operation, value: Value, base: Value, place: str) -> None:
        type = vector(op, value)
        shape, steps = self.spread(op, base, type)
        self.touch(op, place, type.shape[-1] if type.shape else 1, writes=True)
        self.write(
            f"iron::store<{len(type.shape)}>({self.value(op, value)}, &{place}, {shape}, {steps});"
        )

    def do_vector_load(self, op: Operation) -> None:
        base, *indices = op.operands
        self.read(op, base, self.at(op, base, [self.value(op, i) for i in indices]))

    def do_vector_store(self, op: Operation) -> None:
        value, base, *indices = op.operands
        place = self.at(op, base, [self.value(op, i) for i in indices])
        self.write_back(op, value, base, place)

    def do_affine_vector_load(self, op: Operation) -> None:
        base = r.required(op, "memref")
        self.read(op, base, self.at(op, base, self.mapped(op, "map", "indices")))

    def do_affine_vector_store(self, op: Operation) -> None:
        base = r.required(op, "memref")
        place = self.at(op, base, self.mapped(op, "map", "indices"))
        self.write_back(op, r.required(op, "value"), base, place)

    def transferred(self, op: Operation, base: Value, type: VectorType) -> str:
        """Where a transfer begins; only whole vectors in their own order of dimensions."""
        indices = r.group(op, "indices")
        if not isinstance(base.type, MemRefType):
            raise refuse(op, "the host target transfers between memory and vectors")
        masked = r.single(op, "mask") is not None  # then the mask says what lies inside
        a = op.attributes.get("in_bounds")
        inside = a.values if isinstance(a, ArrayAttr) else ()
        certain = [isinstance(v, BoolAttr) and bool(v.value) for v in inside]
        certain += [False] * (len(type.shape) - len(certain))
        extents = base.type.shape[-len(type.shape) :] if type.shape else ()
        for known, extent, n, index in zip(
            certain, extents, type.shape, indices[len(indices) - len(type.shape) :], strict=True
        ):
            first = r.constant(index)
            if masked or known:
                continue
            if (first is None or extent < first + n) and extent % n:
                raise refuse(op, "it may reach beyond its memory; say in_bounds = [true]")
        text = str(op.attributes.get("permutation_map", ""))
        names = text.split("->")[-1].strip(" ()>").split(",") if "->" in text else []
        rank = len(base.type.shape)
        usual = [f"d{k}" for k in range(rank - len(type.shape), rank)]
        if names and [n.strip() for n in names] != usual:
            raise refuse(op, f"the host target does not transfer through {text}")
        return self.at(op, base, [self.value(op, i) for i in indices])

    def do_vector_transfer_read(self, op: Operation) -> None:
        base, mask = r.required(op, "base"), r.single(op, "mask")
        place = self.transferred(op, base, vector(op, op.results[0]))
        if mask is None:
            self.read(op, base, place)
        else:
            padding = self.value(op, r.required(op, "padding"))
            self.read_where(op, base, place, mask, lambda lane: padding)

    def do_vector_transfer_write(self, op: Operation) -> None:
        value, base = r.required(op, "valueToStore"), r.required(op, "base")
        place, mask = self.transferred(op, base, vector(op, value)), r.single(op, "mask")
        if mask is None:
            self.write_back(op, value, base, place)
        else:
            self.write_where(op, value, base, place, mask)

    def do_vector_maskedload(self, op: Operation) -> None:
        base, mask = r.required(op, "base"), r.required(op, "mask")
        other = self.value(op, r.required(op, "pass_thru"))
        place = self.at(op, base, [self.value(op, i) for i in r.group(op, "indices")])
        self.read_where(op, base, place, mask, lambda lane: f"{other}.v[{lane}]")

    def do_vector_maskedstore(self, op: Operation) -> None:
        base, mask = r.required(op, "base"), r.required(op, "mask")
        place = self.at(op, base, [self.value(op, i) for i in r.group(op, "indices")])
        self.write_where(op, r.required(op, "valueToStore"), base, place, mask)

    # ---- masked: memory is touched only where the mask is set
    def visited(self, op: Operation, base: Value, type: VectorType, place: str, body: str) -> str:
        """Statements that run `body` with l, an element's number, and m, its place in memory."""
        shape, steps = self.spread(op, base, type)
        lane, visit = self.fresh("lane"), self.fresh("visit")
        return (
            f"int64_t {lane} = 0; auto {visit} = [&](int64_t l, int64_t m) {{ {body} }}; "
            f"iron::visit<{len(type.shape)}>({shape}, {steps}, {lane}, 0, {visit});"
        )

    def seen(self, op: Operation, place: str, writes: bool) -> str:
        """For the race check: the one element."""
        if not self.checked:
            return ""
        word = "true" if writes else "false"
        return f"iron::touch(c, &(&{place})[m], sizeof {place}, {word}, {self.site(op)}); "

    def read_where(
        self, op: Operation, base: Value, place: str, mask: Value, other: Callable[[str], str]
    ) -> None:
        type = vector(op, op.results[0])
        element, on = ctype(op, type.element), self.value(op, mask)
        seen = self.seen(op, place, writes=False)
        body = f"if ({on}.v[l]) {{ {seen}out.v[l] = (&{place})[m]; }} else out.v[l] = {other('l')};"
        self.let(
            op,
            op.results[0],
            f"[&] {{ iron::vec<{element}, {type.size}> out; "
            f"{self.visited(op, base, type, place, body)} return out; }}()",
        )

    def write_where(
        self, op: Operation, value: Value, base: Value, place: str, mask: Value
    ) -> None:
        on, of = self.value(op, mask), self.value(op, value)
        seen = self.seen(op, place, writes=True)
        body = f"if ({on}.v[l]) {{ {seen}(&{place})[m] = {of}.v[l]; }}"
        self.write(f"{{ {self.visited(op, base, vector(op, value), place, body)} }}")
