"""What code says, from its names alone, about reading things that nobody can look up later.

Two verdicts on a function: reasons why nothing it makes can be recorded, and whether it reaches
for attributes by names that only the running code knows, so that all of a module counts as read.
Files, variables and the like, which the running code is seen to read, are `observing`'s.
"""

from __future__ import annotations

import types

_BUILTINS = {
    "eval": "evaluates text as code",
    "exec": "runs text as code",
    "compile": "compiles text",
    "__import__": "imports a module by a name that only the running code knows",
    "id": "uses the addresses of objects",
    "input": "asks for input",
}
_BY_NAME = frozenset(("getattr", "hasattr", "vars", "globals", "dir"))
_BY_NAME_ATTRIBUTES = frozenset(("attrgetter", "methodcaller", "getmembers", "__dict__"))
_LOADING = frozenset(("import_module", "run_path", "run_module"))

_ALL = frozenset(("*",))
_MODULES: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        ("time", "secrets", "uuid", "socket", "ssl", "subprocess", "threading", "_thread",
         "multiprocessing", "concurrent", "asyncio", "ctypes", "platform", "getpass", "select",
         "selectors", "urllib", "http", "gc", "faulthandler", "resource"),
        _ALL,
    ),
    "datetime": frozenset(("now", "today", "utcnow")),
    "os": frozenset(
        ("access", "cpu_count", "environb", "fork", "fstat", "getlogin", "getpid", "getppid",
         "getuid", "lstat", "popen", "readlink", "sched_getaffinity", "stat", "statvfs", "system",
         "times", "uname")
    ),
    "inspect": frozenset(("currentframe", "stack")),
    "sys": frozenset(("modules", "stdin", "_getframe", "path_hooks", "meta_path")),
    "builtins": frozenset((*_BUILTINS, *_BY_NAME)),
    "genericpath": frozenset(
        ("exists", "isfile", "isdir", "getsize", "getmtime", "getatime", "getctime", "samefile")
    ),
    "posixpath": frozenset(("lexists", "islink", "ismount")),
}  # fmt: skip
"""By module of Python's, what of it gives answers that are seen by nobody and differ: everything,
or these names. Functions of ``os.path`` are seen when they are reached through it, and not when
they were imported by name."""

_VALUES = {"sys": frozenset(("argv", "platform", "byteorder", "executable", "maxsize"))}


def of_builtins(names: frozenset[str], module_names: object) -> list[str]:
    """Reasons that builtins are: `names` are global ones read, `module_names` what the module
    defines itself."""
    return [
        reason
        for name, reason in _BUILTINS.items()
        if name in names and name not in module_names  # type: ignore[operator]
    ]


def of_loading(names: frozenset[str]) -> list[str]:
    """Reasons that calls are which load code by name."""
    return [
        f"{name} loads code by a name that only the running code knows"
        for name in sorted(_LOADING & names)
    ]


def by_name(globals_read: frozenset[str], names: frozenset[str]) -> bool:
    """Whether code reaches attributes by names that only it knows."""
    return not _BY_NAME.isdisjoint(globals_read) or not _BY_NAME_ATTRIBUTES.isdisjoint(names)


def of_module(module: str, names: frozenset[str]) -> str | None:
    """The reason that code with these attribute names is, when it has a module of Python's."""
    untracked = _MODULES.get(module.partition(".")[0])
    if untracked is None:
        return None
    if untracked is _ALL:
        return f"it uses the module {module}"
    used = sorted(untracked & names)
    return f"it uses {module}.{used[0]}" if used else None


def home(function: object) -> str:
    """The module of Python's that a function belongs to, as people import it."""
    module = getattr(function, "__module__", None) or ""
    bound = getattr(function, "__self__", None)
    if isinstance(bound, types.ModuleType):
        module = bound.__name__
    return "os" if module in ("posix", "nt") else module


def values_of(module: str, names: frozenset[str]) -> frozenset[str]:
    """What of a module of Python's is read as a value."""
    return _VALUES.get(module, frozenset()) & names
