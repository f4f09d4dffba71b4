"""Affine loops, accesses and maps as C++."""

from __future__ import annotations

import re
from collections.abc import Sequence

from iron.ir.core import Operation

from . import reading as r
from .cpp import Writer
from .errors import refuse

_MAP = re.compile(
    r"affine_map<\((?P<dims>[^)]*)\)(?:\s*\[(?P<syms>[^\]]*)\])?\s*->\s*\((?P<body>.*)\)>\Z"
)
_TOKEN = re.compile(r"\s*(\d+|floordiv|ceildiv|mod|\w+|->|[-+*(),])")


class AffineMap:
    """The results of a map, as C++ over the texts of its operands."""

    def __init__(self, op: Operation, name: str, operands: Sequence[str]) -> None:
        text = str(op.attributes.get(name))
        m = _MAP.match(text)
        if m is None:
            raise refuse(op, f"{text} is no affine map")
        words = [w.strip() for w in f"{m['dims']},{m['syms'] or ''}".split(",") if w.strip()]
        if len(words) != len(operands):
            raise refuse(op, f"{text} takes {len(words)} operands, not {len(operands)}")
        self.op, self.text = op, text
        self.known = dict(zip(words, operands, strict=True))
        self.tokens = _TOKEN.findall(m["body"])
        self.results = [self._sum()]
        while self.tokens and self.tokens[0] == ",":
            self._next()
            self.results.append(self._sum())
        if self.tokens:
            raise refuse(op, f"{text} has an expression the host target does not read")

    def _next(self) -> str:
        if not self.tokens:
            raise refuse(self.op, f"{self.text} ends too early")
        return str(self.tokens.pop(0))

    def _sum(self) -> str:
        left = self._product()
        while self.tokens and self.tokens[0] in "+-":
            left = f"{left} {self._next()} {self._product()}"
        return left

    def _product(self) -> str:
        left = self._factor()
        while self.tokens and self.tokens[0] in ("*", "floordiv", "ceildiv", "mod"):
            word, right = self._next(), self._factor()
            left = {
                "*": f"{left} * {right}",
                "floordiv": f"iron::floor_div<int64_t>({left}, {right})",
                "ceildiv": f"iron::ceil_div<int64_t>({left}, {right})",
                "mod": f"iron::modulo<int64_t>({left}, {right})",
            }[word]
        return left

    def _factor(self) -> str:
        word = self._next()
        if word == "-":
            return f"-{self._factor()}"
        if word == "(":
            inner = self._sum()
            if self._next() != ")":
                raise refuse(self.op, f"{self.text} has a bracket that is not closed")
            return f"({inner})"
        if word.isdigit():
            return word
        if word not in self.known:
            raise refuse(self.op, f"{self.text} uses {word}, which is none of its operands")
        return self.known[word]


class AffineOps(Writer):
    def mapped(self, op: Operation, name: str, operands: str) -> list[str]:
        texts = [self.value(op, v) for v in r.group(op, operands)]
        return AffineMap(op, name, texts).results

    def bound(self, op: Operation, side: str, word: str) -> str:
        results = self.mapped(op, f"{side}BoundMap", f"{side}BoundOperands")
        text = results[0]
        for other in results[1:]:
            text = f"iron::{word}<int64_t>({text}, {other})"
        return text

    def do_affine_for(self, op: Operation) -> None:
        block = op.body
        carried = self.variables(op, op.results)
        for text in self.assignment(op, carried, r.group(op, "inits")):
            self.write(text)
        for argument, name in zip(block.arguments[1:], carried, strict=True):
            self.names[id(argument)] = name
        low, high = self.bound(op, "lower", "larger"), self.bound(op, "upper", "smaller")
        i = self.names[id(block.arguments[0])] = self.fresh("i")
        end = self.fresh("n")
        self.write(f"int64_t {end} = {high};")
        step = r.integer(op, "step", 1)
        self.write(f"for (int64_t {i} = {low}; {i} < {end}; {i} += {step}) {{")
        self.inner(block, carried)
        self.write("}")

    def do_affine_apply(self, op: Operation) -> None:
        self.let(op, op.results[0], self.mapped(op, "map", "mapOperands")[0])

    def extremum(self, op: Operation, word: str) -> None:
        text, *others = self.mapped(op, "map", "mapOperands")
        for other in others:
            text = f"iron::{word}<int64_t>({text}, {other})"
        self.let(op, op.results[0], text)

    def do_affine_min(self, op: Operation) -> None:
        self.extremum(op, "smaller")

    def do_affine_max(self, op: Operation) -> None:
        self.extremum(op, "larger")

    def do_affine_load(self, op: Operation) -> None:
        base = r.required(op, "memref")
        place = self.at(op, base, self.mapped(op, "map", "indices"))
        self.touch(op, place, 1, writes=False)
        self.let(op, op.results[0], place)

    def do_affine_store(self, op: Operation) -> None:
        place = self.at(op, r.required(op, "memref"), self.mapped(op, "map", "indices"))
        self.touch(op, place, 1, writes=True)
        self.write(f"{place} = {self.value(op, r.required(op, 'value'))};")
