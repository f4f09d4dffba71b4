"""Finds the files a declaration names: against the Python file that declares, then the current
directory. What is not there is an error at the declaration, not at the compile."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ..ir.core import Location


def find_file(given: str | os.PathLike[str], what: str, where: Location) -> str:
    """The absolute path of a source file; FileNotFoundError naming every place searched."""
    return _find(given, what, where, os.path.isfile, "source file not found")


def find_directory(given: str | os.PathLike[str], what: str, where: Location) -> str:
    """The absolute path of an include directory; FileNotFoundError naming every place searched for
    a relative one. An absolute one may come to exist later."""
    if os.path.isabs(given):
        return os.path.normpath(given)
    return _find(given, what, where, os.path.isdir, "include directory not found")


def find_directories(given: Sequence[Any] | None, what: str, where: Location) -> tuple[str, ...]:
    words = string_list(given, what, "include_dirs")
    return tuple(find_directory(d, what, where) for d in words)


def string_list(given: Sequence[Any] | None, what: str, parameter: str) -> tuple[str, ...]:
    """A list of strings or paths as a tuple; TypeError for one string, which is a likely slip."""
    if given is None:
        return ()
    if isinstance(given, (str, bytes, os.PathLike)):
        raise TypeError(f"{what}: {parameter} is a list, found the single {given!r}; write [...]")
    words = tuple(given)
    for word in words:
        if not isinstance(word, (str, os.PathLike)):
            raise TypeError(f"{what}: {parameter} takes strings, found {word!r}")
    return tuple(os.fspath(w) for w in words)


def _find(
    given: str | os.PathLike[str], what: str, where: Location, exists: Any, fault: str
) -> str:
    path = os.fspath(given)
    if os.path.isabs(path):
        searched = [path]
    else:
        bases = [os.getcwd()]
        if where and os.path.isabs(where.file):
            bases.insert(0, os.path.dirname(where.file))
        searched = list(dict.fromkeys(os.path.normpath(os.path.join(b, path)) for b in bases))
    for candidate in searched:
        if exists(candidate):
            return candidate
    raise FileNotFoundError(f"{what} ({where}): {fault}: {path!r}; searched {', '.join(searched)}")
