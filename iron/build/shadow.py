"""Files of the user's that stand in front of the compiler's own headers.

A system header that includes another one finds a file of the same name in an include directory
first. No scanner of the user's sources sees that, so every such file counts as a source.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from .digests import Stamp, settled, stamp_of
from .memo import Memo


class Shadows:
    """The process' memory of what stands in front of what; checked by the directories' stats."""

    def __init__(self) -> None:
        self._known: Memo[tuple[str, tuple[str, ...]], tuple[Stamp, list[str], list[str]]] = Memo(
            2_000
        )

    def files(
        self,
        directories: Sequence[str],
        system: tuple[str, ...],
        stamps: dict[str, Stamp | None],
    ) -> list[str]:
        """The files below include directories whose names, from there, the compiler's own
        directories have too. The stamps of the directories that say so go into `stamps`."""
        out: list[str] = []
        for directory in dict.fromkeys(directories):
            self._collect(directory, system, out, stamps)
        return out

    def _collect(
        self,
        directory: str,
        system: tuple[str, ...],
        out: list[str],
        stamps: dict[str, Stamp | None],
    ) -> None:
        stamp, files, inner = self._listing(directory, system)
        stamps[directory] = stamp
        out += (f"{directory}/{name}" for name in files)
        for name in inner:
            below = tuple(f"{root}/{name}" for root in system if os.path.isdir(f"{root}/{name}"))
            self._collect(f"{directory}/{name}", below, out, stamps)

    def _listing(
        self, directory: str, system: tuple[str, ...]
    ) -> tuple[Stamp | None, list[str], list[str]]:
        """Names of files and of directories that both sides have."""
        stamp: Stamp | None = None
        try:
            stamp = stamp_of(os.stat(directory))
            known = self._known.get((directory, system))
            if known is not None and known[0] == stamp:
                return known
            files: list[str] = []
            inner: list[str] = []
            with os.scandir(directory) as entries:
                for entry in sorted(entries, key=lambda item: item.name):
                    if any(os.path.exists(f"{root}/{entry.name}") for root in system):
                        (inner if entry.is_dir() else files).append(entry.name)
        except OSError:
            return stamp, [], []
        if settled(stamp):
            self._known[directory, system] = stamp, files, inner
        return stamp, files, inner
