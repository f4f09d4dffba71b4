"""What a generator reads besides its arguments: functions, globals, closures, defaults, files.

`reads_of` walks the code reachable from a function through user code, wherever it lies outside
the installed packages, without running it. A `Reads` says by content what was found (`text`), and
can tell later, cheaply, whether any of it is different now (`changed`). What the code reads of the
world while it runs is `observing`'s.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import types
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from iron.frozen import frozen

from . import untracked
from .codes import absolute_module, all_names, global_names, imported_modules
from .keys import Unkeyable, code_digest, key_text
from .statements import FileImports, imports_of
from .usercode import is_user_code, is_user_file, is_user_module, package_version

_IMMUTABLE = (type(None), bool, int, float, complex, str, bytes)
_ABSENT = object()


@frozen
class Read:
    """One name read in one namespace: what it was, and its text."""

    name: str
    namespace: Mapping[str, Any]
    value: Any
    text: str

    def same(self) -> bool:
        now = self.namespace.get(self.name, _ABSENT)
        if now is self.value and isinstance(now, _IMMUTABLE):
            return True
        if now is _ABSENT:
            return self.value is _ABSENT
        try:
            return key_text(now, self.name) == self.text
        except Unkeyable:
            return False


@frozen
class Alias:
    """A name a module took from another one with ``from source import original as name``."""

    namespace: dict[str, Any]
    name: str
    source: Mapping[str, Any]
    original: str


@dataclass
class Reads:
    """Everything one generator reads.

    `unkeyable` names what has no text; a generator that reads such a thing is generated anew
    whenever it is asked for, because nothing can tell whether it would say the same.
    """

    functions: list[tuple[types.FunctionType, types.CodeType]] = field(default_factory=list)
    followed: list[tuple[Mapping[str, Any], str, Any]] = field(default_factory=list)
    values: list[Read] = field(default_factory=list)
    state: list[tuple[str, Callable[[], Any], str]] = field(default_factory=list)
    packages: dict[str, str] = field(default_factory=dict)
    aliases: list[Alias] = field(default_factory=list)
    classes: list[type] = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    unkeyable: list[str] = field(default_factory=list)
    untracked: list[str] = field(default_factory=list)
    """What of the code reads things that nobody can look up later, as reasons."""
    by_name: bool = False
    """Whether any of the code reaches attributes by names that only it knows."""

    @property
    def reasons(self) -> list[str]:
        """Why equal reads would not mean equal text; empty when they do."""
        return [*self.unkeyable, *self.untracked]

    @property
    def complete(self) -> bool:
        """Whether this, and what it is seen to read while it runs, is all that the generator can
        depend on."""
        return not self.unkeyable and not self.untracked

    def text(self) -> str:
        """The canonical text of all of it."""
        lines = [f"{f.__module__}.{f.__qualname__} {code_digest(c)}" for f, c in self.functions]
        lines += [f"{r.name} = {r.text}" for r in self.values]
        lines += [f"{name} = {text}" for name, _, text in self.state]
        lines += [f"{name} {version}" for name, version in sorted(self.packages.items())]
        return "\n".join(lines)

    def changed(self) -> bool:
        """Whether any function or value is different from when this was made."""
        if not self.complete:
            return True
        if any(f.__code__ is not c for f, c in self.functions):
            return True
        if any(namespace.get(name) is not value for namespace, name, value in self.followed):
            return True
        if not all(r.same() for r in self.values):
            return True
        return any(key_text(now(), name) != text for name, now, text in self.state)


def reads_of(generator: Callable[..., Any], without: Collection[str] = ()) -> Reads:
    """What `generator` reads, following user code through functions, classes and modules, as if
    the modules `without` were not loaded."""
    walk = _Walk(frozenset(without))
    walk.callable(generator, "generator")
    walk.reads.files |= walk.imported_files()
    return walk.reads


class _Walk:
    def __init__(self, without: frozenset[str]) -> None:
        self.reads = Reads()
        self.without = without
        self.seen: set[int] = set()
        self.seen_names: set[tuple[int, str]] = set()

    def loaded(self, module: str) -> types.ModuleType | None:
        return None if module in self.without else sys.modules.get(module)

    def callable(self, value: Any, name: str) -> None:
        if callable(value):
            value = inspect.unwrap(value)
        if isinstance(value, functools.partial):
            self._state(f"{name}.args", lambda: (value.args, value.keywords))
            self.callable(value.func, name)
        elif isinstance(value, types.MethodType):
            self._state(f"{name}.self", lambda: value.__self__)
            self.callable(value.__func__, name)
        elif isinstance(value, types.FunctionType):
            self.function(value)
        elif isinstance(value, type):
            self.cls(value)
        elif not isinstance(value, types.BuiltinFunctionType):
            self._state(name, lambda: value)
            self.cls(type(value))

    def function(self, function: types.FunctionType) -> None:
        code, namespace = function.__code__, function.__globals__
        if id(function) in self.seen or not is_user_code(function.__module__, code):
            return
        self.seen.add(id(function))
        self.reads.functions.append((function, code))
        self._file(code.co_filename)
        label = f"{function.__module__}.{function.__qualname__}"
        self._defaults(function, label)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self._cell(f"{label}.{name}", cell)
        globals_read, names = global_names(code), all_names(code)
        why = untracked.of_builtins(globals_read, namespace) + untracked.of_loading(names)
        self.reads.untracked += [f"{label} {reason}" for reason in why]
        if untracked.by_name(globals_read, names):
            self.reads.by_name = True
            names = names | _names_everywhere(namespace, globals_read)
            if "globals" in globals_read:
                globals_read = globals_read | frozenset(namespace)
        for name in sorted(globals_read):
            if name in namespace:
                self._alias(namespace, name, names)
                self._global(namespace, name, names)
        for imported in sorted(imported_modules(code, namespace.get("__package__"))):
            module = self.loaded(imported)
            if module is not None:
                self.module(module, names)

    def cls(self, cls: type) -> None:
        module = cls.__module__
        if id(cls) in self.seen or not is_user_module(module):
            return
        self.seen.add(id(cls))
        self.reads.classes.append(cls)
        for name, member in sorted(vars(cls).items()):
            for wrapped in ("__func__", "fget", "func"):  # methods, properties, cached ones
                member = getattr(member, wrapped, member)
            if isinstance(member, types.FunctionType):
                self.function(member)
            elif isinstance(member, type):
                self.cls(member)
            elif not name.startswith("_") and not hasattr(type(member), "__get__"):
                self._read(f"{cls.__qualname__}.{name}", vars(cls), name)
        for base in cls.__bases__:
            self.cls(base)

    def module(self, module: types.ModuleType, names: frozenset[str]) -> None:
        """The parts of `module` that code with these attribute names can reach."""
        if module.__name__ in self.without:
            return
        if not is_user_module(module.__name__):
            self._foreign(module.__name__, names)
            return
        file = getattr(module, "__file__", None)
        if file:
            self._file(file)
        for name in sorted(names & vars(module).keys()):
            if (id(module), name) not in self.seen_names:
                self.seen_names.add((id(module), name))
                self._global(vars(module), name, names)

    def _foreign(self, module: str, names: frozenset[str]) -> None:
        """A module of Python's or of a package: of the latter its version is enough."""
        top = module.partition(".")[0]
        if top in sys.stdlib_module_names:
            reason = untracked.of_module(module, names)
            if reason is not None and reason not in self.reads.untracked:
                self.reads.untracked.append(reason)
            for name in sorted(untracked.values_of(module, names)):
                if (0, name) not in self.seen_names:
                    self.seen_names.add((0, name))
                    self._read(f"{module}.{name}", vars(sys.modules[module]), name)
        elif top != "iron":
            self.reads.packages.setdefault(top, package_version(top))

    def _defaults(self, function: types.FunctionType, label: str) -> None:
        if function.__defaults__ or function.__kwdefaults__:
            self._state(
                f"{label} defaults", lambda: (function.__defaults__, function.__kwdefaults__)
            )
        for name, value in sorted(vars(function).items()):
            if _is_code(value):
                self._follow(value, name, frozenset())
            else:
                self._read(f"{label}.{name}", vars(function), name)

    def _cell(self, name: str, cell: types.CellType) -> None:
        value = _cell_value(cell)
        if _is_code(value):
            self._follow(value, name, frozenset())
        else:
            self._state(name, lambda: _cell_value(cell))

    def _global(self, namespace: Mapping[str, Any], name: str, names: frozenset[str]) -> None:
        value = namespace[name]
        if _is_code(value):
            self.reads.followed.append((namespace, name, value))
            self._follow(value, name, names)
        else:
            self._read(name, namespace, name)

    def _alias(self, namespace: dict[str, Any], name: str, names: frozenset[str]) -> None:
        """Where a name came from another user module: that module's file and name are read too."""
        file = namespace.get("__file__")
        if not isinstance(file, str) or not is_user_file(file):
            return
        origin = _imports_of(os.path.abspath(file)).names.get(name)
        if origin is None:
            return
        module = self.loaded(absolute_module(*origin[:2], namespace.get("__package__")))
        if module is None or not is_user_module(module.__name__):
            return
        source = vars(module)
        if origin[2] in source:
            self.reads.aliases.append(Alias(namespace, name, source, origin[2]))
            self.module(module, frozenset((origin[2],)))

    def _follow(self, value: Any, name: str, names: frozenset[str]) -> None:
        if isinstance(value, types.ModuleType):
            self.module(value, names)
            return
        function = inspect.unwrap(value) if callable(value) else value
        module = untracked.home(function)
        if module and not is_user_module(module):
            # A function is itself what is used; of a class, its attributes are.
            used = names if isinstance(function, type) else frozenset()
            self._foreign(module, used | {getattr(function, "__name__", "")})
        else:
            self.callable(value, name)

    def _read(self, label: str, namespace: Mapping[str, Any], name: str) -> None:
        value = namespace.get(name, _ABSENT)
        try:
            self.reads.values.append(Read(name, namespace, value, key_text(value, label)))
        except Unkeyable as e:
            self.reads.unkeyable.append(str(e))
        self.cls(type(value))

    def _state(self, name: str, now: Callable[[], Any]) -> None:
        value = now()
        try:
            self.reads.state.append((name, now, key_text(value, name)))
        except Unkeyable as e:
            self.reads.unkeyable.append(str(e))

    def _file(self, path: str) -> None:
        if os.path.exists(path):
            self.reads.files.add(os.path.abspath(path))

    def imported_files(self) -> set[str]:
        """User files that those found import when they are loaded, directly or not: what a module
        defines may come from there by any way."""
        files = self.reads.files
        packages = _packages()
        found: set[str] = set()
        todo = list(files)
        while todo:
            path = todo.pop()
            for name, level in _imports_of(path).modules:
                module = self.loaded(absolute_module(name, level, packages.get(path)))
                file = getattr(module, "__file__", None)
                if isinstance(file, str) and module is not None and is_user_module(module.__name__):
                    file = os.path.abspath(file)
                    if file not in found and file not in files:
                        found.add(file)
                        todo.append(file)
        return found


def _packages() -> dict[str, Any]:
    """For each user file that a module was loaded from, the package its imports start at."""
    return {
        os.path.abspath(file): getattr(m, "__package__", None)
        for m in list(sys.modules.values())
        if isinstance(file := getattr(m, "__file__", None), str) and is_user_file(file)
    }


def _imports_of(path: str) -> FileImports:
    return imports_of(path, _mtime(path))


def _names_everywhere(namespace: Mapping[str, Any], globals_read: Collection[str]) -> set[str]:
    """Every name in the user modules that code can name directly."""
    values = [namespace[name] for name in globals_read if name in namespace]
    modules = [v for v in values if isinstance(v, types.ModuleType) and is_user_module(v.__name__)]
    return {name for m in modules for name in vars(m) if not name.startswith("__")}


def _is_code(value: Any) -> bool:
    return isinstance(
        value,
        (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, type),
    ) or (hasattr(value, "__wrapped__") and callable(value))


def _cell_value(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _mtime(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
