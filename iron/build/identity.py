"""Tools and what they are: a program by the contents of everything it runs, a function by its
modules' source.

An identity holds no path: two spellings of one toolchain are one tool. Hashing hundreds of
megabytes is done once per machine; the memo on disk names every file it was made from with its
stat, and is void as soon as one differs.
"""

from __future__ import annotations

import os
from _thread import allocate_lock
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from .atomic import write_beside
from .digests import Stamp, digest, hash_file, stamp_of
from .forks import IMPORTING

if TYPE_CHECKING:
    from pathlib import Path

# Masquerading directories of compiler launchers: the compiler is whatever comes after them.
_LAUNCHERS = frozenset({"ccache", "sccache", "distcc", "icecc", "buildcache"})


_Name = tuple[str, tuple[str, ...]]


class Facts(NamedTuple):
    """What is known of a program in one state."""

    path: str  # run by this name: a driver may look at its own
    identity: str
    files: tuple[tuple[str, Stamp], ...]


class ProgramTool:
    """A program run as a process.

    `program` is a path, or a name looked up in PATH once, at first use. `identity_extra` adds
    to the identity: an item naming an existing file by its absolute path counts by content,
    anything else as text. `response_file` says whether `@file` is understood for long command
    lines. Raises FileNotFoundError at first use if there is no such program.
    """

    def __init__(
        self,
        program: str | Path,
        *,
        identity_extra: tuple[str, ...] = (),
        response_file: bool = True,
    ) -> None:
        self.program = os.fspath(program)
        self.identity_extra = tuple(identity_extra)
        self.response_file = response_file

    def __repr__(self) -> str:
        return f"ProgramTool({self.program!r})"

    @property
    def name(self) -> str:
        """The file name of the program."""
        return os.path.basename(self.program)

    @cached_property
    def path(self) -> str:
        """The program's absolute path, found once; symbolic links are not followed."""
        return find_program(self.program)

    def identity(self) -> str:
        """Digest of the program, of the programs it runs, its libraries and `identity_extra`."""
        return self.facts().identity

    def facts(self, memo_directory: str | None = None) -> Facts:
        """What the program is now. Costs a few stats when nothing changed."""
        name = (self.path, self.identity_extra)
        known = _facts.get(name)
        if known is None or not _unchanged(known.files):
            with _examining:
                known = self._look(name, memo_directory)
        elif (memo_directory, name) not in _kept:
            self._memo(memo_directory).save(known)
        _kept.add((memo_directory, name))
        return known

    def _look(self, name: _Name, memo_directory: str | None) -> Facts:
        known = _facts.get(name)
        if known is None or not _unchanged(known.files):  # by another thread meanwhile
            memo = self._memo(memo_directory)
            known = memo.load(self.path)
            if known is None:
                known = examine(self.path, os.path.realpath(self.path), self.identity_extra)
                memo.save(known)
            _facts[name] = known
        return known

    def _memo(self, directory: str | None) -> _Memo:
        return _Memo(
            directory, "facts", self.path, os.path.realpath(self.path), *self.identity_extra
        )

    def system_directories(
        self, flags: tuple[str, ...], identity: str, memo_directory: str | None = None
    ) -> tuple[str, ...]:
        """Where this compiler, having that identity, finds headers of its own under these flags:
        they are part of the tool, not of anybody's inputs."""
        name = (self.path, identity, flags)
        known = _system.get(name)
        if known is None:
            memo = _Memo(memo_directory, "system directories", *name[:2], *flags)
            lines = memo.lines()
            if lines is None:
                with IMPORTING:
                    from . import probe

                lines = list(probe.system_directories(self.path, flags))
                memo.put(lines)
            known = _system[name] = tuple(lines)
        return known


# What this process knows; facts are believed while the stats they name hold.
_facts: dict[_Name, Facts] = {}
_kept: set[tuple[str | None, _Name]] = set()  # in which memo directories, by us or by others
_system: dict[tuple[str, str, tuple[str, ...]], tuple[str, ...]] = {}
_modules: dict[str, str] = {}


class FunctionTool:
    """A step in this process: `function(argv)`, raising on failure.

    Its identity is the source of the named modules (packages: of every .py file in them), as
    found when first asked; code already loaded does not change afterwards either.
    """

    def __init__(
        self, name: str, function: Callable[[list[str]], None], modules: Sequence[str]
    ) -> None:
        if not modules:
            raise ValueError(f"FunctionTool {name!r}: name the modules its result depends on")
        self._name = name
        self.function = function
        self.modules = tuple(modules)

    def __repr__(self) -> str:
        return f"FunctionTool({self._name!r})"

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._name

    @cached_property
    def _identity(self) -> str:
        name = getattr(self.function, "__qualname__", type(self.function).__qualname__)
        return digest(
            self._name, self.function.__module__ or "", name, *map(_module_digest, self.modules)
        )

    def identity(self) -> str:
        """Digest of the function's name and the modules' sources."""
        return self._identity


def source_digest(*modules: str) -> str:
    """What the named modules are: the content of their sources (packages: of every .py file)."""
    return digest(*map(_module_digest, modules))


def _module_digest(module: str) -> str:
    known = _modules.get(module)
    if known is None:
        parts: list[str] = []
        for shown, path in _module_files(module):
            parts += (shown, hash_file(path)[1])
        known = _modules[module] = digest(*parts)
    return known


def find_program(program: str) -> str:
    """The absolute path that will be run, passing over compiler launchers' masquerades."""
    if os.path.dirname(program):
        path = os.path.abspath(program)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
        raise FileNotFoundError(f"no program {path}")
    import shutil

    search = os.environ.get("PATH", os.defpath)
    for directory in search.split(os.pathsep):
        found = shutil.which(program, path=os.path.abspath(directory)) if directory else None
        if found and not _is_launcher(program, found):
            return found
    raise FileNotFoundError(f"no program {program!r} in PATH ({search})")


def _is_launcher(program: str, found: str) -> bool:
    real = os.path.basename(os.path.realpath(found))
    return real in _LAUNCHERS and program not in _LAUNCHERS


def examine(path: str, real: str, extra: Sequence[str]) -> Facts:
    """Hash everything that makes the program what it is."""
    with IMPORTING:
        from . import probe

    parts = ["mode", probe.mode(path, real)]
    stamps: dict[str, Stamp] = {}

    def add(role: str, file: str) -> None:
        stamp, content = hash_file(file)
        stamps[file] = stamp
        parts.extend((role, content))

    for role, file in probe.parts_of(path, real):
        add(role, file)
    for item in extra:
        if os.path.isabs(item) and os.path.isfile(item):
            add("extra", item)
        else:
            parts += ["text", item]
    if path != real:
        stamps[path] = stamp_of(os.stat(path))
    return Facts(path, digest(*parts), tuple(sorted(stamps.items())))


def _unchanged(files: Sequence[tuple[str, Stamp]]) -> bool:
    try:
        return all(stamp_of(os.stat(path)) == stamp for path, stamp in files)
    except OSError:
        return False


class _Memo:
    """Something found out about a program, on disk: a small text ending in a digest of itself."""

    def __init__(self, directory: str | None, *name: str) -> None:
        self._directory = directory
        self._file = os.path.join(directory, digest("memo 1", *name)) if directory else ""

    def lines(self) -> list[str] | None:
        if not self._file:
            return None
        try:
            with open(self._file, encoding="utf-8", errors="surrogateescape") as stream:
                body, _, check = stream.read().rstrip("\n").rpartition("\n")
        except OSError:
            return None
        return body.split("\n")[1:] if check == digest(body) else None

    def put(self, lines: Sequence[str]) -> None:
        if self._directory is None or any("\n" in line for line in lines):
            return
        body = "\n".join(("iron memo", *lines))
        try:
            write_beside(self._file, f"{body}\n{digest(body)}\n")
        except OSError:
            return  # only a memo

    def load(self, path: str) -> Facts | None:
        """Facts about a program that still hold."""
        lines = self.lines()
        if not lines:
            return None
        files = []
        for row in lines[1:]:
            *numbers, name = row.split(" ", 5)
            dev, ino, size, mtime, ctime = map(int, numbers)
            files.append((name, (dev, ino, size, mtime, ctime)))
        facts = Facts(path, lines[0], tuple(files))
        return facts if _unchanged(facts.files) else None

    def save(self, facts: Facts) -> None:
        rows = [" ".join(map(str, (*stamp, name))) for name, stamp in facts.files]
        self.put([facts.identity, *rows])


def _module_files(module: str) -> list[tuple[str, str]]:
    """(name without our directories, path) of a module's source, or of a package's."""
    import importlib.util

    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no source of module {module!r}")
    if not spec.submodule_search_locations:
        return [(module, spec.origin)]
    out = []
    for root in spec.submodule_search_locations:
        for directory, directories, files in os.walk(root):
            directories.sort()
            for file in sorted(files):
                if file.endswith(".py"):
                    path = os.path.join(directory, file)
                    out.append((f"{module}/{os.path.relpath(path, root)}", path))
    return out


# One examination at a time: two threads would hash the same hundreds of megabytes.
_examining = allocate_lock()


def _after_fork() -> None:
    global _examining
    _examining = allocate_lock()


os.register_at_fork(after_in_child=_after_fork)
