"""What a generator read while it ran, besides its code and values: data files, directories,
environment variables, the working directory. `Observation` is data that can be looked at again,
in this process or in another one. How it is seen is `observing`'s.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from typing import NamedTuple

ABSENT = "absent"


class Observation(NamedTuple):
    """One thing that was read: its kind (a name in `STATES`), its name and its state then. A
    relative path means the working directory's, then as now."""

    kind: str
    name: str
    state: str

    def holds(self) -> bool:
        """Whether it is in the same state now."""
        return state_of(self.kind, self.name) == self.state

    @property
    def called(self) -> str:
        """What people call it."""
        return f"{_CALLED[self.kind]} {self.name}".rstrip()


def state_of(kind: str, name: str) -> str:
    """The state now of something of that kind: contents as digests, never as they are."""
    return STATES[kind](name)


def still_hold(observed: Iterable[Observation]) -> bool:
    """Whether all of it is as it was."""
    return all(o.holds() for o in observed)


def _text(value: str) -> str:
    from iron.build import digest

    return digest(value)


def _file(path: str) -> str:
    from iron.build import file_digest

    try:
        return file_digest(path)
    except FileNotFoundError:
        return _kind(path)
    except OSError as e:
        return f"unreadable: {e.strerror}"


def _kind(path: str) -> str:
    """What there is of that name, symbolic links followed."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return ABSENT
    return "file" if stat.S_ISREG(mode) else "directory" if stat.S_ISDIR(mode) else "special file"


def _link(path: str) -> str:
    """What there is of that name, symbolic links not followed."""
    try:
        return f"link to {_text(os.readlink(path))}"
    except (OSError, ValueError):
        return _kind(path)


def _times(path: str) -> str:
    try:
        s = os.stat(path)
    except (OSError, ValueError):
        return ABSENT
    return f"mode {s.st_mode:o}, {s.st_size} bytes, {s.st_mtime_ns}"


def _listing(path: str) -> str:
    try:
        with os.scandir(path) as entries:
            names = sorted(f"{e.name}\0{e.is_dir()}" for e in entries)
    except OSError as e:
        return f"unreadable: {e.strerror}"
    return _text("\n".join(names))


def _variable(name: str) -> str:
    value = os.environ.get(name)
    return "not set" if value is None else _text(value)


def _environment(name: str) -> str:
    return _text("\n".join(sorted(f"{k}={v}" for k, v in os.environ.items())))


STATES: dict[str, Callable[[str], str]] = {
    "file": _file,
    "kind": _kind,
    "link": _link,
    "times": _times,
    "listing": _listing,
    "variable": _variable,
    "environment": _environment,
    "directory": lambda name: os.getcwd(),
}
_CALLED = {
    "file": "data file",
    "kind": "whether there is",
    "link": "link or file",
    "times": "times and size of",
    "listing": "the names in",
    "variable": "environment variable",
    "environment": "all environment variables",
    "directory": "the working directory",
}
