"""A watch: what a request found on the disk, so that asking whether it still holds is only stats.

Holds for files their stamps, for places where a file would have been found its absence. A file
read so soon after it was written that its stamp proves nothing is read again until it is older.
Knows nothing of recipes and keys; a Session says what belongs in one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping

from .digests import Seen, Stamp, hash_file, settled, stamp_of

_Row = tuple[str, int, int, int, int, int]

_SYSTEM = ("/usr/", "/bin/", "/lib/", "/lib64/", "/sbin/")
_LOCAL = "/usr/local/"
"""Where the system's package manager alone writes, and where it does not (Filesystem Hierarchy
Standard 3.0, chapters 3 and 4)."""


def _is_systems(path: str) -> bool:
    return path.startswith(_SYSTEM) and not path.startswith(_LOCAL)


class Watch:
    """`unchanged()` is True only if nothing that was found, or found absent, is different now."""

    __slots__ = ("_absent", "_present", "_system", "_system_seen", "_young")

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
        self._present = tuple(row for row in present.values() if not _is_systems(row[0]))
        self._system = tuple(row for row in present.values() if _is_systems(row[0]))
        self._system_seen = float("-inf")
        self._absent = tuple(absent)
        self._young = tuple(young)

    def __len__(self) -> int:
        return len(self._present) + len(self._system) + len(self._absent) + len(self._young)

    def stamps(self) -> dict[str, Stamp | None] | None:
        """Everything with its stamp, None for what was absent, so that another process can make
        the same watch of it; None while something is too young to be known by its stamp."""
        if self._young:
            return None
        rows = (*self._present, *self._system)
        return {**dict.fromkeys(self._absent), **{row[0]: row[1:] for row in rows}}

    def is_settled(self) -> bool:
        """Whether everything is old enough to be known by its stamp."""
        return not self._young

    def unchanged(self, patience: float = 0.0) -> bool:
        """Whether everything is as it was found; costs a stat for each file.

        What only the system's package manager writes (its compilers and headers) is not looked
        at again within `patience` seconds of the last look: an upgrade is seen that much later.
        """
        access = os.access
        try:
            if not _as_they_were(self._present):
                return False
            for path in self._absent:
                if access(path, 0):
                    return False
            if self._young and not self._grown():
                return False
            now = time.monotonic()
            if now - self._system_seen < patience:
                return True
            if not _as_they_were(self._system):
                return False
            self._system_seen = now
            return True
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


def _as_they_were(rows: Iterable[_Row]) -> bool:
    stat = os.stat
    for path, dev, ino, size, mtime, ctime in rows:
        now = stat(path)
        if (
            now.st_mtime_ns != mtime
            or now.st_ctime_ns != ctime
            or now.st_ino != ino
            or now.st_size != size
            or now.st_dev != dev
        ):
            return False
    return True
