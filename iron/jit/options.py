"""Choices about building and running that are not arguments of a design.

`BuildOptions` belong to one design and are given to ``iron.jit``; they take part in its results.
`RunOptions` say where and how calls run: for the process (`configure`), or for a block of code in
one thread (``with options(...)``); no result depends on them.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any

from iron.runtime.device import swap_device

from .environment import Variables

RELOAD = ("auto", "never")
TARGETS = ("host", "npu")


@dataclass(frozen=True)
class BuildOptions:
    """How one design is built.

    `compile_flags` and `include_paths` apply to every kernel of the design, before the kernel's
    own; `object_files` are ready-made objects, found by file name; `source_files` are further
    files the generator depends on; `use_cache=False` generates and builds anew on every first call
    of a process. `aiecc_flags`, `full_elf` and `trace_config` concern the npu target only.
    """

    compile_flags: tuple[str, ...] = ()
    include_paths: tuple[str, ...] = ()
    object_files: tuple[str, ...] = ()
    source_files: tuple[str, ...] = ()
    aiecc_flags: tuple[str, ...] = ()
    use_cache: bool = True
    full_elf: bool = False
    trace_config: Any = None

    @staticmethod
    def names() -> frozenset[str]:
        return frozenset(f.name for f in fields(BuildOptions))

    @staticmethod
    def of(given: Mapping[str, Any], directory: str) -> BuildOptions:
        """From keyword arguments; relative paths are those of `directory`, the design's own."""
        made: dict[str, Any] = {}
        for name, value in given.items():
            if name in ("compile_flags", "aiecc_flags"):
                made[name] = _strings(name, value)
            elif name in ("include_paths", "object_files", "source_files"):
                made[name] = tuple(_path(p, directory) for p in _strings(name, value))
            else:
                made[name] = value
        return BuildOptions(**made)

    def key(self) -> tuple[Any, ...]:
        """What of it the generated design depends on."""
        return (self.compile_flags, self.include_paths, self.object_files, self.full_elf)


def _strings(name: str, value: Sequence[str | os.PathLike[str]] | None) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} is a list, got {value!r}; write {name}=[{os.fspath(value)!r}]")
    return tuple(os.fspath(v) for v in value)


def _path(path: str, directory: str) -> str:
    """Next to the design's file when something is there, else relative to the working directory."""
    beside = os.path.normpath(os.path.join(directory, path))
    return beside if os.path.exists(beside) else os.path.abspath(path)


@dataclass(frozen=True)
class RunOptions:
    """Where and how calls run.

    `reload`: "auto" looks at a design's inputs before each call, so that an edit is seen by the
    very next one; "never" trusts what is loaded. `timeout`: seconds one call may take, None for no
    limit. `target`: "host" or "npu". `use_cache` False runs generators again whose results are
    recorded.
    """

    reload: str = "auto"
    timeout: float | None = None
    target: str = "host"
    use_cache: bool = True

    def __post_init__(self) -> None:
        if self.reload not in RELOAD:
            raise ValueError(f"reload={self.reload!r}: it is one of {', '.join(RELOAD)}")
        if self.target not in TARGETS:
            raise ValueError(f"target={self.target!r}: it is one of {', '.join(TARGETS)}")
        if self.timeout is not None and not self.timeout > 0:
            raise ValueError(f"timeout={self.timeout!r}: it is a positive number of seconds")


class _Scope:
    """Run options of one block of code, over those of the blocks around it and of the process."""

    __slots__ = ("changes", "device_before", "known", "outer")

    def __init__(self, changes: Mapping[str, Any], outer: _Scope | None = None) -> None:
        self.changes = changes
        self.outer = outer
        self.device_before: Any = None
        self.known: tuple[Mapping[str, Any], tuple[Any, ...], RunOptions] | None = None
        """What they came to, for what was configured and in the environment then."""


_outermost = _Scope(MappingProxyType({}))
_scope: ContextVar[_Scope] = ContextVar("iron_options", default=_outermost)
_configuring = threading.Lock()
_configured: list[Mapping[str, Any]] = [MappingProxyType({})]
"""One mapping, replaced and never changed, so that a look at it takes no lock."""
_VARIABLES = {"target": "IRON_TARGET", "reload": "IRON_RELOAD"}
_environment = Variables(*_VARIABLES.values())


def configure(**changes: Any) -> RunOptions:
    """Set run options for the process; the options now in force. See `RunOptions`.

    TypeError for a name that is none of them, ValueError for a value that an option cannot have.
    """
    replace(_process_options(), **changes)
    with _configuring:
        _configured[0] = MappingProxyType({**_configured[0], **changes})
    return current_options()


class options:
    """Run options for a block of code, in this thread or task only, or for one call:
    ``design[options(timeout=5)](a, b)``. It may be used again, by several threads too. See
    `RunOptions`; `device`, by name or itself, is the current device inside.
    """

    def __init__(self, *, device: Any = None, **changes: Any) -> None:
        replace(_process_options(), **changes)
        self.device = device
        self.changes = changes

    def __enter__(self) -> RunOptions:
        outer = _scope.get()
        scope = _Scope({**outer.changes, **self.changes}, outer)
        made = _options_of(scope)
        device = None
        if self.device is not None:
            from iron.design.current import as_device

            device = as_device(self.device)
        # An inner ``with iron.device(...)`` is over by the time this one ends.
        scope.device_before = swap_device(device) if device is not None else None
        _scope.set(scope)
        return made

    def __exit__(self, *fault: Any) -> None:
        scope = _scope.get()
        if scope.outer is None:
            raise RuntimeError(f"{self!r} is left in a thread or task that did not enter it")
        if self.device is not None:
            swap_device(scope.device_before)
        _scope.set(scope.outer)

    def __repr__(self) -> str:
        given = {**({"device": self.device} if self.device is not None else {}), **self.changes}
        return f"options({', '.join(f'{k}={v!r}' for k, v in given.items())})"


def current_options() -> RunOptions:
    return _options_of(_scope.get())


@contextlib.contextmanager
def pinned(made: RunOptions) -> Iterator[None]:
    """Have just these options inside, in this thread or task, whatever others configure."""
    outer = _scope.get()
    _scope.set(_Scope(vars(made), outer))
    try:
        yield
    finally:
        _scope.set(outer)


def _options_of(scope: _Scope) -> RunOptions:
    configured, named = _configured[0], _environment.now()
    known = scope.known
    if known is not None and known[0] is configured and known[1] == named:
        return known[2]
    made = _process_options()
    if scope.changes:
        made = replace(made, **scope.changes)
    scope.known = (configured, named, made)
    return made


def _process_options() -> RunOptions:
    """What was configured, else what ``IRON_TARGET`` and ``IRON_RELOAD`` say."""
    named = {
        name: os.environ[variable]
        for name, variable in _VARIABLES.items()
        if os.environ.get(variable)
    }
    return RunOptions(**{**named, **_configured[0]})
