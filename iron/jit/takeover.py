"""Takes edited source files over into the functions already loaded from them.

`EditedFile` is a file before and after, with the names that an edit affects; `TakeOver` gives
functions their new code, and runs again, in order, the module-level statements that define what a
generator reads and depend on what was edited. When files are looked at is `reload`'s.
"""

from __future__ import annotations

import ast
import copy
import os
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .codes import absolute_module, global_names
from .errors import ReloadError
from .parsing import parse_python
from .reads import Reads
from .statements import Import, Statement, statements


class EditedFile:
    """One file before and after: its statements, its code, and the names an edit affects."""

    def __init__(self, path: str, before: str, text: str) -> None:
        self.path, self.text = path, text
        try:
            self.tree = parse_python(text, path)
            self.code = compile(text, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as e:  # ValueError: null bytes, until Python 3.11
            if text != before:
                raise ReloadError(
                    f"{path}:{getattr(e, 'lineno', None) or 1}: the edited file does not parse as "
                    f"Python: {getattr(e, 'msg', e)}; the functions loaded before the edit are kept"
                ) from e
            # An extension module beside the edited file is no obstacle.
            self.tree = ast.Module(body=[], type_ignores=[])
            self.code = compile("", path, "exec", dont_inherit=True)
        self.statements = statements(self.tree)
        try:
            self.before = statements(parse_python(before))
        except (SyntaxError, ValueError):
            self.before = []
        self.affected: set[str] = set()
        self.tainted: set[str] = set()
        """Names of modules in which something is affected."""
        self.definitions = {n: s for s in self.statements for n in s.binds}

    def changed(self) -> Iterator[str]:
        """Names bound by statements that are new or gone."""
        old, new = {s.text for s in self.before}, {s.text for s in self.statements}
        for s in (*self.before, *self.statements):
            if s.text not in old or s.text not in new:
                yield from s.binds
                if s.text in new and not s.binds:
                    self.affected.add("")

    def deep_uses(self, statement: Statement) -> set[str]:
        """Names a statement uses when it runs, and those the functions it names use."""
        found: set[str] = set()
        todo = list(statement.uses)
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                definition = self.definitions.get(name)
                if definition is not None and isinstance(
                    definition.node, (ast.FunctionDef, ast.ClassDef)
                ):
                    todo += definition.body_uses
        return found

    def spread(self) -> None:
        """From what is affected to what is made of it, until nothing more is."""
        uses = {id(s): self.deep_uses(s) for s in self.statements}
        for s in self.statements:
            if isinstance(s.node, ast.FunctionDef) and s.node.decorator_list:
                uses[id(s)] |= s.body_uses
        more = True
        while more:
            more = False
            for s in self.statements:
                touched = uses[id(s)] & (self.affected | self.tainted) or s.binds & self.affected
                if touched and not s.binds <= self.affected:
                    self.affected |= s.binds
                    more = True


@dataclass
class TakeOver:
    """One refresh: the files of a generator, and what it reads of them."""

    files: dict[str, EditedFile]
    reads: Reads
    done: dict[str, EditedFile] = field(default_factory=dict)

    def run(self) -> None:
        needed = {path: self._needed(path) for path in self.files}
        for path in self._in_order():
            file = self.files[path]
            self._affect(file)
            for namespace in _namespaces(path, self.reads):
                self._rerun(file, namespace, needed[path] | self._wanted_elsewhere(path))
            self._nested(file)
            self.done[path] = file

    def _needed(self, path: str) -> set[str]:
        """Names of one file's module that the generator reaches, directly or through others."""
        file = self.files[path]
        if self.reads.by_name or self.reads.untracked:
            return set(file.definitions)
        found = {r.name for r in self.reads.values if _file_of(r.namespace) == path}
        found |= {n for ns, n, _ in self.reads.followed if _file_of(ns) == path}
        found |= {a.original for a in self.reads.aliases if _file_of(a.source) == path}
        found |= {c.__name__ for c in self.reads.classes if _module_file(c.__module__) == path}
        for function, _ in self.reads.functions:
            if os.path.abspath(function.__code__.co_filename) == path:
                found.add(function.__qualname__.partition(".")[0])
        todo, closed = list(found), set[str]()
        while todo:
            name = todo.pop()
            if name not in closed:
                closed.add(name)
                for s in file.statements:
                    if name in s.binds:
                        todo += s.body_uses
        return closed

    def _wanted_elsewhere(self, path: str) -> set[str]:
        """Names that other files of the generator import from this one."""
        found: set[str] = set()
        for other in self.files.values():
            for _, i in _imports(other):
                if self._source(other, i) == path:
                    found |= (
                        set(self.files[path].definitions)
                        if i.original in ("", "*")
                        else {i.original}
                    )
        return found

    def _in_order(self) -> list[str]:
        """Files that others import from come first."""
        order: list[str] = []
        inside: set[str] = set()

        def visit(path: str) -> None:
            if path in order or path in inside:
                return
            inside.add(path)
            for _, i in _imports(self.files[path]):
                source = self._source(self.files[path], i)
                if source is not None:
                    visit(source)
            order.append(path)

        for path in self.files:
            visit(path)
        return order

    def _source(self, file: EditedFile, i: Import) -> str | None:
        """The file of this refresh that an import takes from."""
        package = None
        for namespace in _namespaces(file.path, self.reads):
            package = namespace.get("__package__")
        base = absolute_module(i.module, i.level, package)
        for name in (base, f"{base}.{i.original}"):
            path = _module_file(name)
            if path in self.files:
                return path
        return None

    def _affect(self, file: EditedFile) -> None:
        file.affected |= set(file.changed())
        for _, i in _imports(file):
            source = self.done.get(self._source(file, i) or "")
            if source is None or not source.affected:
                continue
            if i.original == "":
                file.tainted.add(i.name)
            elif i.original == "*":
                file.affected |= source.affected
            elif i.original in source.affected:
                file.affected.add(i.name)
        file.spread()

    def _rerun(self, file: EditedFile, namespace: dict[str, Any], needed: set[str]) -> None:
        """Run again what binds affected names that are needed; give plain functions new code."""
        star = any(i.original == "*" for _, i in _imports(file))
        for s in file.statements:
            names = s.binds & file.affected & needed
            if not names and not (star and any(i.original == "*" for i in s.imports)):
                continue
            if isinstance(s.node, ast.FunctionDef) and _recode(file, s.node, namespace):
                continue
            body = compile(ast.Module([s.node], []), file.path, "exec", dont_inherit=True)
            try:
                exec(body, namespace)
            except Exception as e:
                raise ReloadError(
                    f"{file.path}:{s.node.lineno}: the edited definition fails with "
                    f"{type(e).__name__}: {e}"
                ) from e
        gone = {n for n in needed & file.affected if n not in file.definitions and n in namespace}
        if gone and not star:
            raise ReloadError(
                f"{file.path}: the edited file no longer defines {', '.join(sorted(gone))}, "
                "which a loaded design uses; define it again or load the design anew"
            )

    def _nested(self, file: EditedFile) -> None:
        """Functions inside other functions: their code can be renewed, what they close over not."""
        for function, _ in self.reads.functions:
            if os.path.abspath(function.__code__.co_filename) != file.path:
                continue
            parts = [p for p in function.__qualname__.split(".") if p != "<locals>"]
            if "<locals>" not in function.__qualname__ or parts[0] not in file.affected:
                continue
            code = _find(file.code, parts)
            if code is None or code.co_freevars != function.__code__.co_freevars:
                raise ReloadError(
                    f"{file.path}: {function.__qualname__} was edited and is gone or closes over "
                    "other variables now; run its definition again"
                )
            if _around(file.before, parts) != _around(file.statements, parts):
                raise ReloadError(
                    f"{file.path}:{code.co_firstlineno}: {parts[0]}, which made "
                    f"{function.__qualname__}, was edited itself; run it again"
                )
            function.__code__ = code


def _imports(file: EditedFile) -> Iterator[tuple[Statement, Import]]:
    for s in file.statements:
        for i in s.imports:
            yield s, i


def _file_of(namespace: Any) -> str:
    file = namespace.get("__file__")
    return os.path.abspath(file) if isinstance(file, str) else ""


def _module_file(name: str) -> str:
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    return os.path.abspath(file) if isinstance(file, str) else ""


def _namespaces(path: str, reads: Reads) -> list[dict[str, Any]]:
    """The module namespaces made from a file."""
    found: dict[int, dict[str, Any]] = {}
    for function, _ in reads.functions:
        if _file_of(function.__globals__) == path:
            found[id(function.__globals__)] = function.__globals__
    if not found:
        for module in list(sys.modules.values()):
            if isinstance(module, types.ModuleType) and _file_of(vars(module)) == path:
                found[id(vars(module))] = vars(module)
    return list(found.values())


def _recode(file: EditedFile, node: ast.FunctionDef, namespace: dict[str, Any]) -> bool:
    """Give the function of a name its edited code and defaults, keeping the object; False when
    it is none that can be kept (there was no such function, or decorators made something of it).
    """
    held = namespace.get(node.name)
    is_design = type(held).__module__.partition(".")[0] == "iron"
    function = getattr(held, "__wrapped__", None) if is_design else held
    if not isinstance(function, types.FunctionType) or (node.decorator_list and not is_design):
        return False
    before = {n: s for s in file.before for n in s.binds}.get(node.name)
    if is_design and before is not None and _decorators(before.node) != _decorators(node):
        raise ReloadError(
            f"{file.path}:{node.lineno}: what decorates {node.name} was edited; "
            "run its definition again"
        )
    code = _find(file.code, [node.name])
    if code is None or code.co_freevars != function.__code__.co_freevars:
        return False
    function.__code__ = code
    bare = copy.deepcopy(node)
    bare.decorator_list, bare.body = [], [ast.Pass()]
    scope: dict[str, Any] = {}
    module = ast.fix_missing_locations(ast.Module([bare], []))
    exec(compile(module, file.path, "exec", dont_inherit=True), namespace, scope)
    made = scope[node.name]
    function.__defaults__, function.__kwdefaults__ = made.__defaults__, made.__kwdefaults__
    function.__annotations__ = made.__annotations__
    for name in global_names(code):
        if name not in namespace and name in file.definitions:
            other = file.definitions[name]
            exec(compile(ast.Module([other.node], []), file.path, "exec"), namespace)
    return True


def _decorators(node: ast.stmt) -> list[str]:
    return [ast.dump(d) for d in getattr(node, "decorator_list", ())]


def _find(code: types.CodeType, parts: list[str]) -> types.CodeType | None:
    """The last code object of that qualified name inside `code`."""
    found = None
    for const in code.co_consts:
        if isinstance(const, types.CodeType) and const.co_name == parts[0]:
            found = const if len(parts) == 1 else _find(const, parts[1:]) or found
    return found


def _around(file: list[Statement], parts: list[str]) -> str:
    """The outermost definition of a nested function, without the nested function's own body."""
    outer = next((s.node for s in reversed(file) if parts[0] in s.binds), None)
    if outer is None:
        return ""
    node: ast.AST = copy.deepcopy(outer)
    top = node
    for part in parts[1:]:
        inner = [n for n in ast.walk(node) if isinstance(n, ast.FunctionDef) and n.name == part]
        if not inner:
            return ""
        node = inner[-1]
    if isinstance(node, ast.FunctionDef):
        node.body = [ast.Pass()]
    return ast.dump(top)
