"""Where results live: the store's directory, and what to do when it cannot be written.

Read at call time, so that a test or a notebook may set the environment at any moment.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from .store import Store

# Everything in the environment that decides where the store is.
STORE_VARIABLES = ("IRON_STORE", "IRON_STORE_SHARED", "NPU_CACHE_HOME", "XDG_CACHE_HOME", "HOME")

_warned: set[str] = set()


def store_root() -> Path:
    """IRON_STORE, else NPU_CACHE_HOME/iron, else the XDG cache directory's iron.

    The first of these that can be written is taken; then a directory of this user below the
    temporary directory. Passing over one that was asked for warns once per process.
    """
    from pathlib import Path  # not needed for a hit

    return Path(root())


def root() -> str:
    """As `store_root`."""
    return _choose(_candidates())[0]


def open_store(named: str | Path | None = None) -> Store:
    """The store in a directory, or in `store_root()`.

    Behind it stand a store that was asked for and can only be read, and the one that
    IRON_STORE_SHARED names.
    """
    from .shared import SharedDirectory
    from .store import Store

    first = [] if named is None else [os.path.abspath(named)]
    chosen, readable = _choose(chain(first, _candidates()))
    shared = [SharedDirectory(path, writable=False) for path in readable]
    if beside := os.environ.get("IRON_STORE_SHARED"):
        beside = os.path.abspath(beside)
        shared.append(SharedDirectory(beside, writable=os.access(beside, os.W_OK)))
    return Store(chosen, [place for place in shared if place.root != chosen])


def _choose(candidates: Iterable[str]) -> tuple[str, list[str]]:
    """The first directory that can be written, and those before it that can be read."""
    problems: list[str] = []
    readable: list[str] = []
    for candidate in candidates:
        problem = _unusable(candidate)
        if problem is None:
            if problems:
                _warn(f"iron: results go to {candidate}: {'; '.join(problems)}")
            return candidate, readable
        problems.append(problem)
        if os.path.isdir(candidate) and os.access(candidate, os.R_OK | os.X_OK):
            readable.append(candidate)
    raise OSError(f"no directory for results can be written: {'; '.join(problems)}")


def _candidates() -> Iterator[str]:
    if named := os.environ.get("IRON_STORE"):
        yield os.path.abspath(named)
    if cache_home := os.environ.get("NPU_CACHE_HOME"):
        yield f"{os.path.abspath(cache_home)}/iron"
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(xdg):  # the XDG base directory specification: a relative one is ignored
        yield f"{xdg}/iron"
    else:
        home = os.path.expanduser("~")
        if os.path.isabs(home):
            yield f"{home}/.cache/iron"
    import tempfile

    yield f"{tempfile.gettempdir()}/iron-{os.getuid()}"


def _unusable(directory: str) -> str | None:
    """Why results cannot be kept there, or None. Makes the directory."""
    try:
        os.makedirs(directory, mode=0o755, exist_ok=True)
    except OSError as error:
        return f"{directory}: {error.strerror}"
    if not os.access(directory, os.W_OK | os.X_OK):
        return f"{directory} cannot be written"
    if (
        os.path.basename(directory) == f"iron-{os.getuid()}"
        and os.stat(directory).st_uid != os.getuid()
    ):
        return f"{directory} belongs to another user"
    return None


def _warn(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        import logging

        logging.getLogger("iron.build").warning(text)
