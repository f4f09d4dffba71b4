"""What a generator reads besides its arguments: functions, globals, closures, defaults, files.

`reads_of` walks the code reachable from a function through user code, wherever it lies outside
the installed packages, without running it. A `Reads` says by content what was found (`text`), and
can tell later, cheaply, whether any of it is different now (`changed`).
"""

from __future__ import annotations

import dis
import functools
import inspect
import os
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .keys import Unkeyable, code_digest, key_text
from .parsing import parse_python

_IMMUTABLE = (type(None), bool, int, float, complex, str, bytes)
_ABSENT = object()

OPAQUE_NAMES = frozenset(
    (
        *("__import__", "compile", "eval", "exec", "getattr", "globals", "import_module"),
        *("locals", "run_path", "vars", "environ", "getenv", "open", "read_bytes", "read_text"),
        *("fromfile", "genfromtxt", "load", "loads", "loadtxt", "memmap"),
    )
)
"""Files, the environment, modules and attributes by a name that only the running code knows."""


@dataclass(frozen=True)
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


@dataclass(frozen=True)
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
    opaque: set[str] = field(default_factory=set)
    """Names in the code through which it may read what cannot be seen: `OPAQUE_NAMES`."""

    @property
    def complete(self) -> bool:
        """Whether this is all the generator can depend on, so that equal reads mean equal text."""
        return not self.unkeyable and not self.opaque

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


def reads_of(generator: Callable[..., Any]) -> Reads:
    """What `generator` reads, following user code through functions, classes and modules."""
    walk = _Walk()
    walk.callable(generator, "generator")
    walk.reads.files |= _imported_files(walk.reads.files)
    return walk.reads


def _imported_files(files: set[str]) -> set[str]:
    """User files that these import when they are loaded, directly or not: what a module defines
    may come from there by any way."""
    modules = {
        os.path.abspath(file): m
        for m in list(sys.modules.values())
        if isinstance(file := getattr(m, "__file__", None), str)
    }
    found: set[str] = set()
    todo = list(files)
    while todo:
        path = todo.pop()
        package = getattr(modules.get(path), "__package__", None)
        for name, level in _imported_modules(path, _mtime(path)):
            module = sys.modules.get(absolute_module(name, level, package))
            file = getattr(module, "__file__", None)
            if isinstance(file, str) and module is not None and is_user_module(module.__name__):
                file = os.path.abspath(file)
                if file not in found and file not in files:
                    found.add(file)
                    todo.append(file)
    return found


class _Walk:
    def __init__(self) -> None:
        self.reads = Reads()
        self.seen: set[int] = set()
        self.seen_names: set[tuple[int, str]] = set()

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
        if id(function) in self.seen or not is_user_code(function.__module__, function.__code__):
            return
        self.seen.add(id(function))
        self.reads.functions.append((function, function.__code__))
        self.reads.opaque |= OPAQUE_NAMES & set(_names(function.__code__))
        self._file(function.__code__.co_filename)
        label = f"{function.__module__}.{function.__qualname__}"
        self._defaults(function, label)
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            self._cell(f"{label}.{name}", cell)
        names = set(_names(function.__code__))
        for name in sorted(global_names(function.__code__)):
            if name in function.__globals__:
                self._alias(function.__globals__, name, names)
                self._global(function.__globals__, name, names)
        for module in sorted(_imports(function.__code__, function.__globals__.get("__package__"))):
            if module in sys.modules:
                self.module(sys.modules[module], names)

    def cls(self, cls: type) -> None:
        module = cls.__module__
        if id(cls) in self.seen or not is_user_module(module):
            return
        self.seen.add(id(cls))
        self.reads.classes.append(cls)
        for name, member in sorted(vars(cls).items()):
            member = getattr(member, "__func__", getattr(member, "fget", member))
            if isinstance(member, types.FunctionType):
                self.function(member)
            elif not name.startswith("__") and isinstance(member, (*_IMMUTABLE, tuple, list, dict)):
                self._read(f"{cls.__qualname__}.{name}", vars(cls), name)
        for base in cls.__bases__:
            self.cls(base)

    def module(self, module: types.ModuleType, names: set[str]) -> None:
        """The parts of `module` that code with these attribute names can reach."""
        if not is_user_module(module.__name__):
            top = module.__name__.partition(".")[0]
            if top not in sys.stdlib_module_names and top != "iron":
                self.reads.packages.setdefault(top, package_version(top))
            return
        file = getattr(module, "__file__", None)
        if file:
            self._file(file)
        for name in sorted(names & vars(module).keys()):
            if (id(module), name) not in self.seen_names:
                self.seen_names.add((id(module), name))
                self._global(vars(module), name, names)

    def _defaults(self, function: types.FunctionType, label: str) -> None:
        if function.__defaults__ or function.__kwdefaults__:
            self._state(
                f"{label} defaults", lambda: (function.__defaults__, function.__kwdefaults__)
            )

    def _cell(self, name: str, cell: types.CellType) -> None:
        value = _cell_value(cell)
        if _is_code(value):
            self._follow(value, name, set())
        else:
            self._state(name, lambda: _cell_value(cell))

    def _global(self, namespace: Mapping[str, Any], name: str, names: set[str]) -> None:
        value = namespace[name]
        if _is_code(value):
            self.reads.followed.append((namespace, name, value))
            self._follow(value, name, names)
        else:
            self._read(name, namespace, name)

    def _alias(self, namespace: dict[str, Any], name: str, names: set[str]) -> None:
        """Where a name came from another user module: that module's file and name are read too."""
        file = namespace.get("__file__")
        if not isinstance(file, str) or not _user_file(file):
            return
        origin = _imported_names(os.path.abspath(file), _mtime(file)).get(name)
        if origin is None:
            return
        module = sys.modules.get(absolute_module(*origin[:2], namespace.get("__package__")))
        if module is None or not is_user_module(module.__name__):
            return
        source = vars(module)
        if origin[2] in source:
            self.reads.aliases.append(Alias(namespace, name, source, origin[2]))
            self.module(module, {origin[2]})

    def _follow(self, value: Any, name: str, names: set[str]) -> None:
        if isinstance(value, types.ModuleType):
            self.module(value, names)
            return
        function = inspect.unwrap(value) if callable(value) else value
        module = getattr(function, "__module__", None)
        if module is not None and not is_user_module(module):
            self.module(sys.modules[module], set()) if module in sys.modules else None
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


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _codes(const)


@functools.lru_cache(maxsize=4096)
def global_names(code: types.CodeType) -> frozenset[str]:
    """Global names read by `code` and the functions inside it."""
    found = set()
    for c in _codes(code):
        for instruction in dis.get_instructions(c):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                found.add(str(instruction.argval))
    return frozenset(found)


def _names(code: types.CodeType) -> Iterator[str]:
    """Every attribute, global and imported name in `code` and the functions inside it."""
    for c in _codes(code):
        yield from c.co_names


def _imports(code: types.CodeType, package: str | None) -> set[str]:
    """Modules that ``import`` statements inside the function name."""
    found: set[str] = set()
    for c in _codes(code):
        level = 0
        for instruction in dis.get_instructions(c):
            if instruction.opname == "LOAD_CONST" and isinstance(instruction.argval, int):
                level = instruction.argval
            if instruction.opname == "IMPORT_NAME":
                found.add(absolute_module(str(instruction.argval), level, package))
                level = 0
    return found


@functools.lru_cache(maxsize=512)
def _imported_names(path: str, mtime: int) -> dict[str, tuple[str, int, str]]:
    """For each name a file binds with ``from m import x``: module, level, original name."""
    import ast

    found: dict[str, tuple[str, int, str]] = {}
    try:
        with open(path, "rb") as f:
            tree = parse_python(f.read())
    except (OSError, SyntaxError, ValueError):
        return found
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                found[alias.asname or alias.name] = (node.module or "", node.level, alias.name)
    return found


@functools.lru_cache(maxsize=512)
def _imported_modules(path: str, mtime: int) -> frozenset[tuple[str, int]]:
    """Modules that a file imports outside of its functions, with the level of relative ones."""
    import ast

    from .statements import statements

    try:
        with open(path, "rb") as f:
            tree = ast.parse(f.read())
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    taken = [i for s in statements(tree) for i in s.imports]
    whole = {(i.module, i.level) for i in taken}
    return frozenset(whole | {(f"{i.module}.{i.original}", i.level) for i in taken if i.original})


def absolute_module(module: str, level: int, package: Any) -> str:
    """The full name of a module imported relatively from `package`."""
    if not level or not isinstance(package, str) or not package:
        return module
    parent = package.rsplit(".", level - 1)[0] if level > 1 else package
    return f"{parent}.{module}" if module else parent


def _mtime(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def is_user_code(module: str | None, code: types.CodeType) -> bool:
    """Whether a function is the user's: not of Python, not of an installed package, not ours."""
    if module is not None and module.partition(".")[0] == "iron":
        return False
    return not code.co_filename.startswith(_installed_roots())


@functools.lru_cache(maxsize=4096)
def _user_file(file: str) -> bool:
    return not os.path.abspath(file).startswith(_installed_roots())


def is_user_module(name: str) -> bool:
    """Whether a module is the user's."""
    top = name.partition(".")[0]
    if top == "iron" or top in sys.builtin_module_names:
        return False
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if file is None:
        return name == "__main__" or top not in sys.stdlib_module_names
    return _user_file(file)


@functools.cache
def _installed_roots() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    roots = {paths[k] for k in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple(sorted(os.path.join(os.path.realpath(r), "") for r in roots)) + tuple(
        sorted(os.path.join(r, "") for r in roots)
    )


@functools.cache
def package_version(top: str) -> str:
    """What tells one installation of a package from another: its version, else its file's stamp."""
    module = sys.modules.get(top)
    version = getattr(module, "__version__", None)
    if isinstance(version, str):
        return version
    file = getattr(module, "__file__", None)
    if not file:
        return "builtin"
    stat = os.stat(file)
    return f"{stat.st_size}:{stat.st_mtime_ns}"
