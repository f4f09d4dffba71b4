"""The top-level statements of a Python file: which names each binds or changes, and which it uses.

From the text alone, nothing runs. What a call at module level uses includes what the called
function's body uses. An over-estimate: a statement may be said to use a name it does not.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from iron.frozen import frozen

from .parsing import parse_python

Definition = (ast.FunctionDef, ast.AsyncFunctionDef)


@frozen
class Import:
    """One name taken from a module: ``from module import original as name``; for ``import
    module as name`` the original is empty, for a star it is ``*``."""

    module: str
    level: int
    original: str
    name: str


@dataclass(frozen=True)
class Statement:
    node: ast.stmt

    @cached_property
    def text(self) -> str:
        """What it says, without positions."""
        return ast.dump(self.node)

    @cached_property
    def is_main_guard(self) -> bool:
        """Whether it is ``if __name__ == "__main__"``: what a script does, not what it defines."""
        return isinstance(self.node, ast.If) and any(
            isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(self.node.test)
        )

    @cached_property
    def binds(self) -> frozenset[str]:
        """Names it binds, or whose object it changes (``K.append(1)``, ``K[0] = 1``)."""
        if isinstance(self.node, (*Definition, ast.ClassDef)):
            return frozenset((self.node.name,))
        found = set()
        mutating = isinstance(self.node, (ast.Expr, ast.For, ast.While, ast.With, ast.If, ast.Try))
        for n in _outside_functions(self.node):
            if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del)):
                found.add(n.id)
            elif isinstance(n, (*Definition, ast.ClassDef)):
                found.add(n.name)
            elif isinstance(n, (ast.Subscript, ast.Attribute)) and not isinstance(n.ctx, ast.Load):
                found.update(_base(n))
            elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and mutating:
                found.update(_base(n.func))
        return frozenset(found | {i.name for i in self.imports if i.name})

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        found = []
        for n in _outside_functions(self.node):
            if isinstance(n, ast.Import):
                for a in n.names:
                    name = a.asname or a.name.partition(".")[0]
                    found.append(Import(a.name if a.asname else name, 0, "", name))
            elif isinstance(n, ast.ImportFrom):
                for a in n.names:
                    name = "" if a.name == "*" else a.asname or a.name
                    found.append(Import(n.module or "", n.level, a.name, name))
        return tuple(found)

    @cached_property
    def uses(self) -> frozenset[str]:
        """Names read when it runs: of a function only decorators, defaults and annotations."""
        node = self.node
        if isinstance(node, Definition):
            parts: list[ast.AST | None] = [*node.decorator_list, *node.args.defaults]
            parts += [d for d in node.args.kw_defaults if d is not None]
            return frozenset(n for p in parts if p is not None for n in _loaded(p))
        return frozenset(_loaded(node))

    @cached_property
    def body_uses(self) -> frozenset[str]:
        """Names anywhere inside it, bodies of functions included."""
        return frozenset(_loaded(self.node))

    @property
    def is_plain_function(self) -> bool:
        return isinstance(self.node, ast.FunctionDef) and not self.node.decorator_list


def statements(tree: ast.Module) -> list[Statement]:
    """Of a file, in order; the module's docstring and ``__main__`` guard are none of them."""
    made = [Statement(node) for node in tree.body]
    return [s for s in made if not s.is_main_guard]


def _base(node: ast.expr) -> Iterator[str]:
    """``K`` of ``K.a[0].b``."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def _loaded(node: ast.AST) -> Iterator[str]:
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load):
            yield n.id
    if isinstance(node, ast.AugAssign):
        yield from _base(node.target)


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a statement that run with it."""
    yield node
    if isinstance(node, (*Definition, ast.ClassDef, ast.Lambda)):
        return
    for child in ast.iter_child_nodes(node):
        yield from _outside_functions(child)


class FileImports(NamedTuple):
    """What a file imports outside of its functions."""

    names: dict[str, tuple[str, int, str]]
    """For each name bound by ``from m import x``: module, level, original name."""
    modules: frozenset[tuple[str, int]]
    """Modules that may be loaded, with the level of relative ones."""


@functools.lru_cache(maxsize=512)
def imports_of(path: str, mtime: int) -> FileImports:
    """What the file imports; nothing when it cannot be read. `mtime` tells its states apart."""
    try:
        with open(path, "rb") as f:
            found = statements(parse_python(f.read()))
    except (OSError, SyntaxError, ValueError):
        return FileImports({}, frozenset())
    taken = [i for s in found for i in s.imports]
    names = {i.name: (i.module, i.level, i.original) for i in taken if i.original and i.name}
    whole = {(i.module, i.level) for i in taken}
    parts = {(f"{i.module}.{i.original}".lstrip("."), i.level) for i in taken if i.original}
    return FileImports(names, frozenset(whole | parts))
