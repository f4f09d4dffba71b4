"""Reads SSA names: what a name stands for at a place of the text.

Values live in one dictionary per isolated scope; a region's names go when the region ends. A name
used before it is defined stands for a placeholder, replaced when the text has been read.
"""

from __future__ import annotations

from .core import Operation, Value
from .lexer import Source
from .locations import LocationParser
from .types import Type

Use = tuple[str, int, int]
"""A value as named in the text: its name, which of several results, and its token."""


class _Untyped(Type):
    def __str__(self) -> str:
        return "a type not known yet"


_ANY = _Untyped()


def _untyped() -> Value:
    return Value(_ANY)


class _Scope:
    """The names visible inside one isolated operation."""

    def __init__(self) -> None:
        self.values: dict[str, list[Value]] = {}
        self.pending: dict[tuple[str, int], tuple[Value, int]] = {}
        self.defined: list[list[str]] = [[]]


class ScopedParser(LocationParser):
    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.scope = _Scope()
        self.replaced: dict[Value, Value] = {}

    def use(self) -> Use:
        word = self.take("ssa", "a value (%name)")
        if "#" in word:
            name, _, index = word.partition("#")
            return name, int(index), self.i - 1
        return word, 0, self.i - 1

    def uses(self) -> list[Use]:
        """Values parted by commas, none when the next token is no value."""
        out: list[Use] = []
        while self.kinds[self.i] == "ssa":
            out.append(self.use())
            if not (self.texts[self.i] == "," and self.kinds[self.i + 1] == "ssa"):
                break
            self.i += 1
        return out

    def resolve(self, use: Use, type: Type | None) -> Value:
        """The value a use names; a placeholder while it is not defined yet."""
        name, index, token = use
        values = self.scope.values.get(name)
        if values is None:
            found = self.scope.pending.get((name, index))
            if found is None:
                value = Value(type) if type is not None else _untyped()
                self.scope.pending[name, index] = (value, token)
                return value
            value = found[0]
        elif index >= len(values):
            raise self.error(f"{name} has {len(values)} results, there is no {index}", token)
        else:
            value = values[index]
        if type is not None and type is not value.type and type != value.type:
            raise self.error(f"{name} is of type {value.type}, here {type} is expected", token)
        return value

    def define(self, name: str, values: list[Value], token: int) -> None:
        scope = self.scope
        if name in scope.values:
            raise self.error(f"{name} is already defined", token)
        scope.values[name] = values
        scope.defined[-1].append(name)
        wish = name[1:]
        if not wish.isdigit():
            for value in values:
                value.name = wish
        if scope.pending:
            self._settle(name, values)

    def _settle(self, name: str, values: list[Value]) -> None:
        for index, value in enumerate(values):
            found = self.scope.pending.pop((name, index), None)
            if found is None:
                continue
            placeholder, token = found
            if placeholder.type is not _ANY and placeholder.type != value.type:
                raise self.error(
                    f"{name} is of type {value.type}, here {placeholder.type} is expected", token
                )
            self.replaced[placeholder] = value

    def enter(self, isolated: bool) -> _Scope:
        outer = self.scope
        if isolated:
            self.scope = _Scope()
        else:
            outer.defined.append([])
        return outer

    def leave(self, outer: _Scope) -> None:
        if self.scope is outer:
            for name in outer.defined.pop():
                del outer.values[name]
            return
        self.end_scope()
        self.scope = outer

    def end_scope(self) -> None:
        for (name, _), (_, token) in self.scope.pending.items():
            raise self.error(f"{name} is used but not defined", token)

    def replace_uses(self, op: Operation) -> None:
        get = self.replaced.get
        for inner in op.walk():
            inner.operands = [get(v, v) for v in inner.operands]
            inner.successors = [(b, [get(v, v) for v in vs]) for b, vs in inner.successors]
