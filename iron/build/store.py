"""Content-addressed results on disk.

    <root>/<kk>/<key>/  one directory per key, published by one rename: complete or not there
    <root>/<kk>/<key>   or a symbolic link to the result that this key is another name of
    <root>/tmp/         work directories of running commands, each locked by its owner
    <root>/lock/        one flock file per key being built
    <root>/leases/      which results living processes use
    <root>/decisions/   what was built or found, and why
    <root>/failed/      work directories of failed commands, for people to look at
    <root>/tools/, asked/, headers/, standing/, private/   memos, and caches that belong to tools

Knows nothing of recipes and commands. Damage is a miss: one warning, and the next build of that
key puts a good result in its place.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from . import locks
from .atomic import ensure_directory
from .digests import Stamp, stamp_of
from .entry import RECORD, Damaged, Entry, read_record, stamps_hold, verify, write_record
from .leases import lease, living
from .memo import Memo

if TYPE_CHECKING:
    import logging
    from pathlib import Path

    from .shared import Shared

STALE_SECONDS = 60.0  # a work directory without an owner is left alone this long
FAILED_SECONDS = 7 * 86400.0
FAILED_KEPT = 32
USED_SECONDS = 3600.0
# What network file systems say now and then, and not again.
PASSING = (errno.ESTALE, errno.EBUSY, errno.EINTR, errno.EAGAIN)


class Store:
    """Results below one directory. Any number of threads and processes may share it.

    What it does not have it takes from the `shared` ones, in order; what it gets it gives them.
    With `writable=False` it leaves no trace of having been read either.
    """

    def __init__(
        self, root: str | Path, shared: Sequence[Shared] = (), *, writable: bool = True
    ) -> None:
        self.root = os.path.abspath(os.fspath(root))
        self.shared = tuple(shared)
        self._verified: Memo[str, tuple[Stamp, Entry]] = Memo(20_000)
        self._lease = lease(self.side("leases")) if writable else None
        self._warned: set[str] = set()
        self._swept = False

    def __repr__(self) -> str:
        return f"Store({self.root!r})"

    def directory(self, key: str) -> str:
        """Where the result of that name is, or would be."""
        return f"{self.root}/{key[:2]}/{key}"

    def side(self, name: str) -> str:
        """A directory next to the results, for memos and tools' own caches."""
        return os.path.join(self.root, name)

    # ---------------------------------------------------------------- reading

    def get(self, key: str) -> Entry | None:
        """The result of that name, its files checked; None if there is none, or it is damaged."""
        entry = self.own(key)
        if entry is None and self.shared:
            entry = self._fetch(key)
        return entry

    def _fetch(self, key: str) -> Entry | None:
        """Take a result over from the first shared store that has it."""
        for shared in self.shared:
            with self._bearing(shared):
                if not shared.has(key):
                    continue
                with self.scratch(key) as scratch:
                    out = f"{scratch}/out"
                    os.mkdir(out)
                    found = shared.get(key, out)
                    if found is None:
                        continue
                    names = tuple(found.outputs)
                    # Its digests are taken anew of what has arrived.
                    made = self._put(found.key, out, found.kind, names, found.notes)
                    if any(made.outputs[n].digest != found.outputs[n].digest for n in names):
                        self.discard(self.directory(made.key))
                        continue
                    self._link(key, made.key)
                    return made
        return None

    @contextlib.contextmanager
    def _bearing(self, shared: Shared) -> Iterator[None]:
        """A shared store that cannot be used is done without."""
        try:
            yield
        except OSError as problem:
            if repr(shared) not in self._warned:
                self._warned.add(repr(shared))
                _log().warning("iron: a shared store cannot be used: %s: %s", shared, problem)

    def own(self, key: str) -> Entry | None:
        """As `get`, from this directory alone."""
        directory = self.directory(key)
        try:
            stamp = stamp_of(os.stat(f"{directory}/{RECORD}"))
        except (FileNotFoundError, NotADirectoryError):
            self._verified.pop(key, None)
            if os.path.isdir(directory):
                if os.path.exists(f"{directory}/{RECORD}"):
                    return self.own(key)  # it has appeared this moment
                self._report(key, "its record is missing")
            return None
        except OSError as problem:  # ESTALE and the like: as good as not there
            self._report(key, str(problem))
            return None
        known = self._verified.get(key)
        if known is not None and known[0] == stamp and stamps_hold(known[1]):
            return known[1]
        try:
            entry = self._read(key, directory)
            if self._lease is not None:
                self._lease.name(entry.key)
                self._used(entry.directory)
            entry = verify(entry, None if self._lease is None else self.side("tmp"))
        except (Damaged, OSError, ValueError, KeyError, StopIteration) as problem:
            self._verified.pop(key, None)
            if os.path.isdir(directory):  # else somebody made room meanwhile
                self._report(key, str(problem) or type(problem).__name__)
            return None
        self._verified[key] = stamp, entry
        return entry

    def proof(self, key: str) -> list[tuple[str, Stamp]] | None:
        """The files that say, while they are as they were, that `own` would answer the same."""
        known = self._verified.get(key)
        if known is None:
            return None
        stamp, entry = known
        files = [(entry.path(name), seen.stamp) for name, seen in entry.outputs.items()]
        return [(f"{self.directory(key)}/{RECORD}", stamp), *files]

    def _used(self, directory: str) -> None:
        """The time of a result's directory says when it was used, to an hour."""
        with contextlib.suppress(OSError):
            if time.time() - os.stat(directory).st_mtime > USED_SECONDS:
                os.utime(directory)

    def _read(self, key: str, directory: str) -> Entry:
        entry = read_record(directory)
        if entry.key == key:
            return entry
        target = os.path.basename(os.readlink(directory)) if os.path.islink(directory) else key
        if entry.key != target:
            raise Damaged(f"it holds the result of {entry.key}")
        return entry._replace(directory=self.directory(target))

    def has(self, key: str) -> bool:
        """Whether there is a result of that name; it is not checked."""
        return self.get(key) is not None

    def was_damaged(self, key: str) -> bool:
        """Whether this process has found the result of that name damaged."""
        return key in self._warned

    def _report(self, key: str, reason: str) -> None:
        result = os.path.basename(os.path.realpath(self.directory(key)))
        told = result in self._warned
        self._warned |= {key, result}
        if not told:
            _log().warning(
                "iron: a stored result is damaged and will be made again: %s: %s",
                self.directory(key),
                reason,
            )

    # ---------------------------------------------------------------- writing

    def lock(
        self,
        key: str,
        cancelled: Callable[[], bool] = lambda: False,
        waiting: Callable[[str], None] | None = None,
        what: str = "",
    ) -> contextlib.AbstractContextManager[locks.Held]:
        """Held by whoever builds that key; the others wait. Released by the kernel at death."""
        return locks.exclusive(self.side("lock"), key, cancelled, waiting, what)

    @contextlib.contextmanager
    def scratch(self, key: str) -> Iterator[str]:
        """A directory of one's own, gone afterwards unless it was renamed away."""
        self._sweep()
        parent = self.side("tmp")
        ensure_directory(parent)
        directory = f"{parent}/{key[:12]}.{os.urandom(6).hex()}"
        os.mkdir(directory)
        owner = os.getpid()
        try:
            os.chmod(directory, 0o755)
            with locks.owned(directory):
                yield directory
        finally:
            if os.getpid() == owner:  # a forked child may leave this way as well
                _clear(directory)

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
        entry = self._put(key, directory, kind, outputs, notes)
        self._give(key, entry)
        return entry

    def _give(self, key: str, entry: Entry) -> None:
        for shared in self.shared:
            with self._bearing(shared):
                shared.put(key, entry)

    def _put(
        self,
        key: str,
        directory: str,
        kind: str,
        outputs: Sequence[str],
        notes: Mapping[str, Sequence[str]],
    ) -> Entry:
        write_record(directory, key, kind, outputs, notes)
        if self._lease is not None:
            self._lease.name(key)  # in use before anybody can take it away
        target = self.directory(key)
        ensure_directory(os.path.dirname(target))
        for _ in range(4):
            try:
                os.rename(directory, target)
                break
            except OSError as error:
                if error.errno in PASSING:  # network file systems: try again
                    time.sleep(0.01)
                    continue
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    raise
            present = self.own(key)
            if present is not None and present.key == key:
                return present
            self.discard(target)
        entry = self.own(key)
        if entry is None:  # taken away, or spoilt, at once: whoever asked for it may ask again
            raise OSError(errno.ESTALE, "the result could not be read back", target)
        return entry

    def replace(self, key: str, directory: str, kind: str, outputs: Sequence[str]) -> Entry:
        """Like publish, but a result that is there already makes way."""
        present = self.directory(key)
        if os.path.lexists(present):
            self.discard(present)
        return self.publish(key, directory, kind, outputs, {})

    def alias(self, key: str, target: str) -> None:
        """Make `key` another name of the result of `target`."""
        self._link(key, target)
        if self.shared and key != target:
            entry = self.own(target)
            if entry is not None:
                self._give(key, entry)

    def _link(self, key: str, target: str) -> None:
        if key == target:
            return
        link = self.directory(key)
        value = f"../{target[:2]}/{target}"
        with contextlib.suppress(OSError):
            if os.readlink(link) == value:
                return
        ensure_directory(os.path.dirname(link))
        ensure_directory(self.side("tmp"))
        temporary = f"{self.side('tmp')}/{key}.{os.getpid()}.{os.urandom(4).hex()}"
        os.symlink(value, temporary)
        try:
            os.replace(temporary, link)
        except OSError:  # a directory is in the way: a result, or a damaged one
            if self.own(key) is not None:
                os.unlink(temporary)
                return
            self.discard(link)
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

    def set_aside(self, path: str) -> str:
        """Take a result, a damaged one or an alias out of the way, at once; where it is now."""
        aside = os.path.join(self.side("tmp"), f"discarded.{os.urandom(8).hex()}")
        os.makedirs(os.path.dirname(aside), exist_ok=True)
        os.rename(path, aside)
        return aside

    def discard(self, path: str) -> None:
        """Take it out of the way and remove it."""
        try:
            aside = self.set_aside(path)
        except FileNotFoundError:
            return
        if os.path.islink(aside):
            os.unlink(aside)
        else:
            remove(aside)

    def _sweep(self) -> None:
        """Once per process: remove what killed processes left and what nobody looks at."""
        if self._swept:
            return
        self._swept = True
        from .upkeep import collect_now_and_then

        collect_now_and_then(self)
        now = time.time()
        for path, age in _by_age(self.side("tmp"), now):
            if age > STALE_SECONDS and not locks.has_owner(path):
                remove(path)
        for path, age in _by_age(self.side("lock"), now):
            if age > STALE_SECONDS:
                locks.remove_free(path)
        living(self.side("leases"))  # and no others
        for position, (path, age) in enumerate(_by_age(self.side("failed"), now)):
            if age > FAILED_SECONDS or position >= FAILED_KEPT:
                remove(path)


def _clear(directory: str) -> None:
    """Remove a work directory; mostly it has one directory of a few files left."""
    try:
        for inner in os.listdir(directory):
            for name in os.listdir(f"{directory}/{inner}"):
                os.unlink(f"{directory}/{inner}/{name}")
            os.rmdir(f"{directory}/{inner}")
        os.rmdir(directory)
    except OSError:
        remove(directory)


def remove(directory: str) -> None:
    """A directory with all that is in it, a link or a file, as far as that can be done."""
    import shutil  # not needed for a hit

    if os.path.isdir(directory) and not os.path.islink(directory):
        shutil.rmtree(directory, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        os.unlink(directory)


def _log() -> logging.Logger:
    import logging

    return logging.getLogger("iron.build")


def _by_age(directory: str, now: float) -> list[tuple[str, float]]:
    """(path, seconds since it was last written), youngest first."""
    out = []
    with contextlib.suppress(FileNotFoundError):
        for item in os.scandir(directory):
            with contextlib.suppress(OSError):
                out.append((item.path, now - item.stat(follow_symlinks=False).st_mtime))
    return sorted(out, key=lambda pair: pair[1])
