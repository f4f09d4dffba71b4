"""Vector operations that combine elements over dimensions, and masks, as loops in C++."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from iron.ir.attributes import ArrayAttr, StringAttr
from iron.ir.core import Operation, Value
from iron.ir.types import VectorType

from . import reading as r
from .cpp_ops import ctype
from .cpp_vector import REDUCTIONS, VectorOps, vector
from .errors import refuse
from .layout import dense_strides

_RESULTS = re.compile(r"->\s*\(([^)]*)\)")


class ContractOps(VectorOps):
    # ---- combining
    def combined(self, op: Operation, a: str, b: str) -> str:
        """C++ of the operation's kind over two texts."""
        kind = op.attributes.get("kind")
        word = kind.value if isinstance(kind, StringAttr) else str(kind if kind else "add")
        word = word.split("<")[-1].rstrip(">").strip()
        if word not in REDUCTIONS:
            raise refuse(op, f"the host target does not reduce by {word}")
        return f"[&](auto a, auto b) {{ return {REDUCTIONS[word]}; }}({a}, {b})"

    def loops(
        self, op: Operation, acc: Value, extents: Sequence[int], into: Mapping[int, int], term: str
    ) -> None:
        """The result: acc, and for all indices d0, d1, ... the term is added into its element.

        `into` has the steps of the dimensions the result has.
        """
        whole = isinstance(acc.type, VectorType)
        element = ctype(op, vector(op, acc).element if whole else acc.type)
        out = self.fresh("sum")
        type = f"iron::vec<{element}, {vector(op, acc).size}>" if whole else element
        target = f"{out}.v[{index_text(into)}]" if whole else out
        self.write(f"{type} {out} = {self.value(op, acc)};")
        for d, n in enumerate(extents):
            self.write(f"for (int64_t d{d} = 0; d{d} < {n}; d{d}++)")
        self.write(f"  {target} = ({element}){self.combined(op, target, f'({element})({term})')};")
        self.let(op, op.results[0], out)

    def do_vector_multi_reduction(self, op: Operation) -> None:
        source, acc = r.required(op, "source"), r.required(op, "acc")
        shape = vector(op, source).shape
        gone = set(r.integers(op.attributes.get("reduction_dims")))
        left = [d for d in range(len(shape)) if d not in gone]
        steps = dense_strides([shape[d] for d in left])
        place = index_text(dict(enumerate(dense_strides(shape))))
        into = dict(zip(left, steps, strict=True))
        self.loops(op, acc, shape, into, f"{self.value(op, source)}.v[{place}]")

    def do_vector_contract(self, op: Operation) -> None:
        """acc[...] (+)= lhs[...] * rhs[...] over all indices; a map names each one's dimensions."""
        values = [r.required(op, name) for name in ("lhs", "rhs", "acc")]
        a = op.attributes.get("indexing_maps")
        maps = [
            self.dimensions_of(op, str(m)) for m in (a.values if isinstance(a, ArrayAttr) else ())
        ]
        if len(maps) != 3:
            raise refuse(op, f"needs 3 indexing maps, has {len(maps)}")
        extents: dict[int, int] = {}
        steps: list[dict[int, int]] = []
        for value, dims in zip(values, maps, strict=True):
            shape = value.type.shape if isinstance(value.type, VectorType) else ()
            if len(shape) != len(dims):
                raise refuse(op, f"a map has {len(dims)} results for {value.type}")
            extents.update(zip(dims, shape, strict=True))
            steps.append(dict(zip(dims, dense_strides(shape), strict=True)))
        element = values[2].type
        element = element.element if isinstance(element, VectorType) else element
        factors = [
            f"({ctype(op, element)}){self.value(op, v)}.v[{index_text(s)}]"
            for v, s in zip(values[:2], steps, strict=False)
        ]
        sizes = [extents.get(d, 1) for d in range(max(extents, default=-1) + 1)]
        self.loops(op, values[2], sizes, steps[2], " * ".join(factors))

    def dimensions_of(self, op: Operation, text: str) -> list[int]:
        m = _RESULTS.search(text)
        words = [w.strip() for w in m[1].split(",") if w.strip()] if m else None
        names = text.partition("(")[2].partition(")")[0].split(",")
        known = {n.strip(): i for i, n in enumerate(names)}
        if words is None or any(w not in known for w in words):
            raise refuse(op, f"the host target contracts over dimensions only, not {text}")
        return [known[w] for w in words]

    # ---- masks
    def do_vector_create_mask(self, op: Operation) -> None:
        """Set where every index is below its dimension's operand."""
        self.mask(op, [self.value(op, v) for v in op.operands])

    def do_vector_constant_mask(self, op: Operation) -> None:
        self.mask(op, [str(n) for n in r.integers(op.attributes.get("mask_dim_sizes"))])

    def mask(self, op: Operation, below: Sequence[str]) -> None:
        type = vector(op, op.results[0])
        tests = [
            f"l / {step} % {n} < {limit}"
            for step, n, limit in zip(dense_strides(type.shape), type.shape, below, strict=True)
        ]
        element = ctype(op, type.element)
        self.let(
            op,
            op.results[0],
            f"iron::each<{element}, {type.size}>([&](int64_t l) -> {element} "
            f"{{ return {' && '.join(tests) or 'true'}; }})",
        )


def index_text(steps: Mapping[int, int]) -> str:
    return " + ".join(f"d{d} * {step}" for d, step in steps.items()) or "0"
