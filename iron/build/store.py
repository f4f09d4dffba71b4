"""Content-addressed results on disk.

    <root>/<kk>/<key>/  one directory per key, published by one rename: complete or not there
    <root>/<kk>/<key>   or a symbolic link to the result that this key is another name of
    <root>/tmp/         work directories of running commands, each locked by its owner
    <root>/lock/        one flock file per key being built
    <root>/failed/      work directories of failed commands, for people to look at
    <root>/tools/, asked/, private/   memos, and caches that belong to tools

Knows nothing of recipes and commands. Damage is a miss: one warning, and the next build of that
key puts a good result in its place.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from . import locks
from .digests import Stamp, stamp_of
from .entry import RECORD, Damaged, Entry, read_record, stamps_hold, verify, write_record

STALE_SECONDS = 60.0  # a work directory without an owner is left alone this long
FAILED_SECONDS = 7 * 86400.0
FAILED_KEPT = 32


class Store:
    """Results below one directory. Any number of threads and processes may share it."""

    def __init__(self, root: str | Path) -> None:
        self.root = os.path.abspath(os.fspath(root))
        self._verified: dict[str, tuple[Stamp, Entry]] = {}
        self._warned: set[str] = set()
        self._swept = False

    def __repr__(self) -> str:
        return f"Store({self.root!r})"

    def directory(self, key: str) -> str:
        return f"{self.root}/{key[:2]}/{key}"

    def side(self, name: str) -> str:
        """A directory next to the results, for memos and tools' own caches."""
        return os.path.join(self.root, name)

    # ---------------------------------------------------------------- reading

    def get(self, key: str) -> Entry | None:
        """The result of that name, its files checked; None if there is none, or it is damaged."""
        directory = self.directory(key)
        try:
            stamp = stamp_of(os.stat(f"{directory}/{RECORD}"))
        except (FileNotFoundError, NotADirectoryError):
            self._verified.pop(key, None)
            if os.path.isdir(directory):
                self._report(key, "its record is missing")
            return None
        known = self._verified.get(key)
        if known is not None and known[0] == stamp and stamps_hold(known[1]):
            return known[1]
        try:
            entry = verify(self._read(key, directory))
        except (Damaged, OSError, ValueError, KeyError, StopIteration) as problem:
            self._verified.pop(key, None)
            self._report(key, str(problem) or type(problem).__name__)
            return None
        self._verified[key] = stamp, entry
        return entry

    def _read(self, key: str, directory: str) -> Entry:
        entry = read_record(directory)
        if entry.key == key:
            return entry
        target = os.path.basename(os.readlink(directory)) if os.path.islink(directory) else key
        if entry.key != target:
            raise Damaged(f"it holds the result of {entry.key}")
        return entry._replace(directory=self.directory(target))

    def has(self, key: str) -> bool:
        return self.get(key) is not None

    def was_damaged(self, key: str) -> bool:
        """Whether this process has found the result of that name damaged."""
        return key in self._warned

    def _report(self, key: str, reason: str) -> None:
        if key not in self._warned:
            self._warned.add(key)
            import logging

            logging.getLogger("iron.build").warning(
                "iron: a stored result is damaged and will be made again: %s: %s",
                self.directory(key),
                reason,
            )

    # ---------------------------------------------------------------- writing

    def lock(self, key: str) -> contextlib.AbstractContextManager[None]:
        """Held by whoever builds that key; the others wait. Released by the kernel at death."""
        return locks.exclusive(self.side("lock"), key)

    @contextlib.contextmanager
    def scratch(self, key: str) -> Iterator[str]:
        """A directory of one's own, gone afterwards unless it was renamed away."""
        self._sweep()
        parent = self.side("tmp")
        os.makedirs(parent, exist_ok=True)
        directory = tempfile.mkdtemp(prefix=f"{key[:12]}.", dir=parent)
        os.chmod(directory, 0o755)
        with locks.owned(directory):
            try:
                yield directory
            finally:
                shutil.rmtree(directory, ignore_errors=True)

    def publish(
        self,
        key: str,
        directory: str,
        kind: str,
        outputs: Sequence[str],
        notes: Mapping[str, Sequence[str]],
    ) -> Entry:
        """Make a directory of finished files the result of a key, by one rename.

        A good result that is there already is kept, whoever made it. Call with the key locked.
        """
        write_record(directory, key, kind, outputs, notes)
        target = self.directory(key)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        for _ in range(3):
            try:
                os.rename(directory, target)
                break
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    raise
            present = self.get(key)
            if present is not None and present.key == key:
                return present
            self._discard(target)
        entry = self.get(key)
        if entry is None:
            raise OSError(f"the result could not be read back from {target}")
        return entry

    def replace(self, key: str, directory: str, kind: str, outputs: Sequence[str]) -> Entry:
        """Like publish, but a result that is there already makes way."""
        present = self.directory(key)
        if os.path.lexists(present):
            self._discard(present)
        return self.publish(key, directory, kind, outputs, {})

    def alias(self, key: str, target: str) -> None:
        """Make `key` another name of the result of `target`."""
        if key == target:
            return
        link = self.directory(key)
        value = f"../{target[:2]}/{target}"
        with contextlib.suppress(OSError):
            if os.readlink(link) == value:
                return
        os.makedirs(os.path.dirname(link), exist_ok=True)
        temporary = f"{link}.{os.getpid()}.{threading.get_ident()}"
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        os.symlink(value, temporary)
        try:
            os.replace(temporary, link)
        except OSError:  # a directory is in the way: a result, or a damaged one
            if self.has(key):
                os.unlink(temporary)
                return
            self._discard(link)
            os.replace(temporary, link)

    def keep_failed(self, key: str, directory: str) -> str:
        """Move a failed command's work directory where people can look at it."""
        parent = self.side("failed")
        os.makedirs(parent, exist_ok=True)
        target = os.path.join(parent, os.path.basename(directory))
        try:
            os.rename(directory, target)
        except OSError:
            return directory
        return target

    def _discard(self, path: str) -> None:
        """Take a result, a damaged one or an alias out of the way, at once."""
        aside = os.path.join(self.side("tmp"), f"discarded.{os.urandom(8).hex()}")
        os.makedirs(os.path.dirname(aside), exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.rename(path, aside)
        if os.path.islink(aside):
            os.unlink(aside)
        else:
            shutil.rmtree(aside, ignore_errors=True)

    def _sweep(self) -> None:
        """Once per process: remove what killed processes left and what nobody looks at."""
        if self._swept:
            return
        self._swept = True
        now = time.time()
        for path, age in _by_age(self.side("tmp"), now):
            if age > STALE_SECONDS and not locks.has_owner(path):
                shutil.rmtree(path, ignore_errors=True)
        for position, (path, age) in enumerate(_by_age(self.side("failed"), now)):
            if age > FAILED_SECONDS or position >= FAILED_KEPT:
                shutil.rmtree(path, ignore_errors=True)


def _by_age(directory: str, now: float) -> list[tuple[str, float]]:
    """(path, seconds since it was last written), youngest first."""
    out = []
    with contextlib.suppress(FileNotFoundError):
        for item in os.scandir(directory):
            with contextlib.suppress(OSError):
                out.append((item.path, now - item.stat(follow_symlinks=False).st_mtime))
    return sorted(out, key=lambda pair: pair[1])
