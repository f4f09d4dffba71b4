"""Brings functions already loaded up to date with their edited source files.

An edit loop keeps one process alive: the file of a generator, or of a helper it calls, changes on
disk while the function objects made from the old text live on. `SourceFiles.refresh` gives those
very objects the new code. Only what a generator reads is touched: a function's code and defaults,
and module-level names whose defining statement was edited. Nothing else of the file runs again.
"""

from __future__ import annotations

import ast
import copy
import os
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .reads import global_names

if TYPE_CHECKING:
    from .reads import Reads

Stamp = tuple[int, int, int, int, int]


class ReloadError(Exception):
    """An edited source file that cannot be taken over into the running process."""


def stamp(path: str) -> Stamp | None:
    """What tells one state of a file from another without reading it; None when it is absent."""
    try:
        s = os.stat(path)
    except OSError:
        return None
    return (s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns)


class SourceFiles:
    """The source files of one generator, as they were when its functions were loaded."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._stamps: dict[str, Stamp | None] = {}
        self._texts: dict[str, str] = {}
        self.add(paths)

    def add(self, paths: Iterable[str]) -> None:
        for path in paths:
            if path not in self._stamps:
                self._stamps[path] = stamp(path)
                self._texts[path] = _read(path)

    @property
    def texts(self) -> Mapping[str, str]:
        """The text of each file that the loaded functions correspond to."""
        return self._texts

    def edited(self) -> list[str]:
        """The files whose text is different from the one the loaded functions come from."""
        found = []
        for path, before in self._stamps.items():
            now = stamp(path)
            if now != before and now is not None:
                if _read(path) != self._texts[path]:
                    found.append(path)
                else:
                    self._stamps[path] = now
        return found

    def refresh(self, reads: Reads) -> bool:
        """Give the functions and names of `reads` their edited definitions; whether any changed.

        Raises ReloadError, naming file and reason, when the edit cannot be taken over (a syntax
        error, a function that closes over other variables than before).
        """
        edited = self.edited()
        for path in edited:
            now, text = stamp(path), _read(path)
            self._take_over(path, text, reads)
            self._stamps[path], self._texts[path] = now, text
        return bool(edited)

    def _take_over(self, path: str, text: str, reads: Reads) -> None:
        try:
            tree = ast.parse(text, path)
            code = compile(text, path, "exec", dont_inherit=True)
        except SyntaxError as e:
            raise ReloadError(
                f"{path}:{e.lineno}: the edited file does not parse: {e.msg}; "
                "the functions loaded before the edit are kept"
            ) from e
        edit = _Edit(path, _statements(self._texts[path]), _statements(text))
        namespaces = {
            id(r.namespace): r.namespace for r in reads.values if _file_of(r.namespace) == path
        }
        for namespace in namespaces.values():
            edit.redefine(namespace, {r.name for r in reads.values if r.namespace is namespace})
        for function, _ in reads.functions:
            if os.path.abspath(function.__code__.co_filename) == path:
                _recode(function, code, tree, path)
                edit.complete(function)
        for alias in reads.aliases:
            if _file_of(alias.source) == path and alias.original in alias.source:
                alias.namespace[alias.name] = alias.source[alias.original]


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except OSError:
        return ""


def _file_of(namespace: Mapping[str, object]) -> str:
    file = namespace.get("__file__")
    return os.path.abspath(file) if isinstance(file, str) else ""


def _statements(text: str) -> dict[str, ast.stmt]:
    """For every name bound at module level, the last statement that does so."""
    found: dict[str, ast.stmt] = {}
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return found
    for statement in tree.body:
        for name in _targets(statement):
            found[name] = statement
    return found


def _targets(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            yield alias.asname or alias.name.partition(".")[0]
    elif isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            for node in ast.walk(target):
                if isinstance(node, ast.Name):
                    yield node.id


@dataclass(frozen=True)
class _Edit:
    """The module-level definitions of one file before and after an edit."""

    path: str
    before: Mapping[str, ast.stmt]
    after: Mapping[str, ast.stmt]

    def redefine(self, namespace: Mapping[str, object], names: set[str]) -> None:
        """Run again the statements that define `names` and read differently now."""
        changed: dict[int, ast.stmt] = {}
        for name in names:
            new, old = self.after.get(name), self.before.get(name)
            if new is not None and (old is None or ast.dump(old) != ast.dump(new)):
                changed[new.lineno] = new
        for line in sorted(changed):
            self._run(changed[line], namespace)

    def complete(self, function: types.FunctionType) -> None:
        """Define what the new code of `function` reads and its module did not have before."""
        for name in sorted(global_names(function.__code__)):
            if name in self.after and name not in function.__globals__:
                self._run(self.after[name], function.__globals__)

    def _run(self, statement: ast.stmt, namespace: Mapping[str, object]) -> None:
        body = compile(ast.Module([statement], []), self.path, "exec", dont_inherit=True)
        try:
            exec(body, namespace)  # type: ignore[arg-type]
        except Exception as e:
            raise ReloadError(
                f"{self.path}:{statement.lineno}: the edited definition fails with "
                f"{type(e).__name__}: {e}"
            ) from e


def _recode(
    function: types.FunctionType, module: types.CodeType, tree: ast.Module, path: str
) -> None:
    """Give `function` the code, and at module level the defaults, of its edited definition."""
    parts = [p for p in function.__qualname__.split(".") if p != "<locals>"]
    code = _find(module, parts)
    if code is None:
        raise ReloadError(
            f"{path}: the edited file no longer defines {function.__qualname__}, "
            "which a loaded design uses; define it again or load the design anew"
        )
    if code.co_freevars != function.__code__.co_freevars:
        now, before = (", ".join(c.co_freevars) or "nothing" for c in (code, function.__code__))
        raise ReloadError(
            f"{path}:{code.co_firstlineno}: {function.__qualname__} now closes over {now} "
            f"instead of {before}; run its definition again"
        )
    function.__code__ = code
    if len(parts) == 1:
        _redefault(function, tree)


def _redefault(function: types.FunctionType, tree: ast.Module) -> None:
    definition = next(
        (
            s
            for s in reversed(tree.body)
            if isinstance(s, ast.FunctionDef) and s.name == function.__name__
        ),
        None,
    )
    if definition is None:
        return
    bare = copy.deepcopy(definition)
    bare.decorator_list, bare.body = [], [ast.Pass()]
    scope: dict[str, object] = {}
    body = ast.fix_missing_locations(ast.Module([bare], []))
    exec(compile(body, function.__code__.co_filename, "exec"), function.__globals__, scope)
    made = scope[definition.name]
    assert isinstance(made, types.FunctionType)
    function.__defaults__, function.__kwdefaults__ = made.__defaults__, made.__kwdefaults__
    function.__annotations__ = made.__annotations__


def _find(code: types.CodeType, parts: list[str]) -> types.CodeType | None:
    """The last code object of that qualified name inside `code`."""
    found = None
    for const in code.co_consts:
        if isinstance(const, types.CodeType) and const.co_name == parts[0]:
            found = const if len(parts) == 1 else _find(const, parts[1:]) or found
    return found
