"""A watch: what a request found on the disk, so that asking whether it still holds is only stats.

Holds for files their stamps, for places where a file would have been found its absence. A file
read so soon after it was written that its stamp proves nothing is read again until it is older.
Knows nothing of recipes and keys; a Session says what belongs in one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from .digests import Seen, Stamp, hash_file, settled, stamp_of

_Row = tuple[str, int, int, int, int, int]


class Watch:
    """`unchanged()` is True only if nothing that was found, or found absent, is different now."""

    __slots__ = ("_absent", "_present", "_young")

    def __init__(
        self,
        files: Iterable[tuple[str, Seen | None]],
        stamps: Mapping[str, Stamp | None] | None = None,
        trusted: Iterable[tuple[str, Stamp]] = (),
    ) -> None:
        """`files` are believed by stamp once they are old enough, and by digest before; things
        in `stamps` (directories, programs) count as changed before; `trusted` ones never do."""
        present: dict[str, _Row] = {path: (path, *stamp) for path, stamp in trusted}
        young: list[tuple[str, Stamp, str]] = []
        absent: list[str] = []
        for path, stamp in (stamps or {}).items():
            if stamp is None:
                absent.append(path)
            elif settled(stamp):
                present[path] = (path, *stamp)
            else:
                young.append((path, stamp, ""))
        for path, seen in files:
            if seen is not None and settled(seen.stamp):
                present[path] = (path, *seen.stamp)
            elif seen is not None:
                young.append((path, seen.stamp, seen.digest))
            elif os.access(path, os.F_OK):  # a directory of that name, or a file since
                young.append((path, (0, 0, 0, 0, 0), ""))
            else:
                absent.append(path)
        self._present = tuple(present.values())
        self._absent = tuple(absent)
        self._young = tuple(young)

    def __len__(self) -> int:
        return len(self._present) + len(self._absent) + len(self._young)

    def stamps(self) -> dict[str, Stamp | None] | None:
        """Everything with its stamp, None for what was absent, so that another process can make
        the same watch of it; None while something is too young to be known by its stamp."""
        if self._young:
            return None
        return {**dict.fromkeys(self._absent), **{row[0]: row[1:] for row in self._present}}

    def unchanged(self) -> bool:
        """Whether everything is as it was found; costs a stat for each file."""
        stat, access = os.stat, os.access
        try:
            for path, dev, ino, size, mtime, ctime in self._present:
                now = stat(path)
                if (
                    now.st_mtime_ns != mtime
                    or now.st_ctime_ns != ctime
                    or now.st_ino != ino
                    or now.st_size != size
                    or now.st_dev != dev
                ):
                    return False
            for path in self._absent:
                if access(path, 0):
                    return False
            return not self._young or self._grown()
        except OSError:
            return False

    def _grown(self) -> bool:
        """Young files by their contents; once they are old enough, by stamp from then on."""
        rest = []
        old = []
        for path, stamp, digest in self._young:
            if not digest or stamp_of(os.stat(path)) != stamp:
                return False
            if hash_file(path) != (stamp, digest):
                return False
            if settled(stamp):
                old.append((path, *stamp))
            else:
                rest.append((path, stamp, digest))
        if old:
            self._present = (*self._present, *old)
            self._young = tuple(rest)
        return True
