"""What a file *is*: digests of contents, remembered by stat.

A remembered digest is believed only while device, inode, size, mtime and ctime are all what
they were, and only if the file had been left alone for a while when it was read: within one
tick of the clock a file can change twice and show the same times.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, NamedTuple

from .memo import Memo

# Longer than the coarsest time stamps in use: FAT and some network file systems keep 2 s.
RACY_NS = 2_000_000_000
DIGEST_LENGTH = 40

Stamp = tuple[int, int, int, int, int]


def _own_sha256() -> Callable[..., Any]:
    """The interpreter's own SHA-256 is there at once; OpenSSL's takes milliseconds to load."""
    for module in ("_sha2", "_sha256"):  # from 3.12 on, and before
        with contextlib.suppress(ImportError, AttributeError):
            found: Callable[..., Any] = getattr(import_module(module), "sha256")  # noqa: B009
            return found
    import hashlib

    return hashlib.sha256


_sha256 = _own_sha256()
_BLOCK = 1 << 20


def _hash(data: bytes) -> Any:
    """SHA-256 begun with this; OpenSSL's for megabytes, and wherever it is loaded already."""
    if len(data) < _BLOCK and "hashlib" not in sys.modules:
        return _sha256(data)
    import hashlib

    return hashlib.sha256(data)


def digest(*parts: bytes | str) -> str:
    """40 hex digits naming this sequence of byte strings (`("ab",)` is not `("a", "b")`)."""
    h = _sha256()
    for part in parts:
        if isinstance(part, str):
            part = part.encode("utf-8", "surrogateescape")
        h.update(len(part).to_bytes(8, "little"))
        h.update(part)
    name: str = h.hexdigest()[:DIGEST_LENGTH]
    return name


def digest_bytes(data: bytes) -> str:
    """The digest of a file with these contents."""
    name: str = _hash(data).hexdigest()[:DIGEST_LENGTH]
    return name


def stamp_of(status: os.stat_result) -> Stamp:
    """The part of a stat result that tells one state of a file from another."""
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def path_stamp(path: str) -> Stamp | None:
    """The stamp of whatever is there; None if nothing can be seen there."""
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return None


def hash_file(path: str) -> tuple[Stamp, str]:
    """Stamp and digest of a file, read in one consistent state."""
    while True:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            before = stamp_of(os.fstat(fd))
            h = _hash(os.read(fd, min(before[2] + 1, _BLOCK)))
            while block := os.read(fd, _BLOCK):
                h.update(block)
            after = stamp_of(os.fstat(fd))
        finally:
            os.close(fd)
        if before == after:
            return after, h.hexdigest()[:DIGEST_LENGTH]


def read_file(path: str) -> tuple[Stamp, bytes]:
    """Stamp and contents of a file, read in one consistent state."""
    while True:
        with open(path, "rb", buffering=0) as file:
            before = stamp_of(os.fstat(file.fileno()))
            data = file.readall()
            after = stamp_of(os.fstat(file.fileno()))
        if before == after:
            return after, data


def settled(stamp: Stamp) -> bool:
    """Whether the file had been left alone long enough for its stamp to be trusted."""
    return time.time_ns() - max(stamp[3], stamp[4]) > RACY_NS


class Seen(NamedTuple):
    """One file in one state."""

    stamp: Stamp
    digest: str


class Digests:
    """The process' memory of file contents. Threads may share it: entries are only replaced."""

    def __init__(self) -> None:
        self._known: Memo[str, Seen] = Memo(20_000)
        self.reads = 0

    def look(self, path: str) -> Seen | None:
        """The file as it is now; None if there is no regular file of that name."""
        try:
            status = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        known = self._known.get(path)
        if known is not None and known.stamp == stamp_of(status):
            return known
        try:
            seen = Seen(*hash_file(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        self.reads += 1
        if settled(seen.stamp):
            self._known[path] = seen
        else:
            self._known.pop(path, None)
        return seen

    def learn(self, path: str, seen: Seen) -> None:
        """What another process has found, its stamp settled then."""
        self._known.setdefault(path, seen)


_shared = Digests()


def file_digest(path: str | os.PathLike[str]) -> str:
    """The digest of a file's content, remembered by stat for the life of the process.

    Raises FileNotFoundError.
    """
    seen = _shared.look(os.path.abspath(os.fspath(path)))
    if seen is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
    return seen.digest


class View:
    """The file system as one request sees it: every file is looked at once.

    All keys of a request come from one view, so they agree with each other even while files
    are being edited; whether the view still holds is asked with `disturbed`.
    """

    def __init__(self, memory: Digests) -> None:
        self.memory = memory
        self._seen: dict[str, Seen | None] = {}
        # Things besides files that answers came from: directories listed, programs examined.
        self.stamps: dict[str, Stamp | None] = {}
        self._places: dict[str, Stamp | None] = {}

    def place(self, path: str) -> Stamp | None:
        """The stamp of a directory, looked at once; None if there is none."""
        try:
            return self._places[path]
        except KeyError:
            return self._places.setdefault(path, path_stamp(path))

    def looked_at(self) -> list[tuple[str, Seen | None]]:
        """Every file looked at so far, and every name where there was none."""
        return list(self._seen.items())

    def look(self, path: str) -> Seen | None:
        try:
            return self._seen[path]
        except KeyError:
            return self._seen.setdefault(path, self.memory.look(path))

    def digest(self, path: str) -> str:
        """Raises FileNotFoundError if there is no such file."""
        seen = self.look(path)
        if seen is None:
            raise FileNotFoundError(path)
        return seen.digest

    def again(self) -> View:
        """The same memory, looking at the file system anew."""
        return View(self.memory)

    def disturbed(self, later: View, paths: Iterable[str]) -> list[str]:
        """The paths that were written in between, even if their old contents are back."""
        return [path for path in paths if _written(self.look(path)) != _written(later.look(path))]


def _written(seen: Seen | None) -> Stamp | None:
    """A stamp without the ctime: somebody's hard link to the file changes only that."""
    return None if seen is None else (*seen.stamp[:4], 0)
