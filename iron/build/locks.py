"""Locks between threads and processes that the kernel releases when their holder dies.

`flock` belongs to an open file: two threads that open the lock file exclude each other as two
processes do. A forked child must not keep its parent's locks alive, so it closes them.

The file of a lock says who holds it, what for, and which locks its holder asks for meanwhile:
`steps` follows that from file to file. Nothing is decided by it alone, since a dead holder's words
stay until the next one comes.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from .atomic import ensure_directory
from .errors import Cancelled

# A free lock is noticed after at most this many seconds.
_LONGEST = 0.02

# To open whatever lies there: a link is not followed, a pipe is not waited for.
_AS_IT_IS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK

_held: set[int] = set()
_warned = False
# File systems without flock say one of these; results are still published by rename, only
# the same work may be done twice.
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


def _after_fork() -> None:
    for fd in list(_held):
        with contextlib.suppress(OSError):
            os.close(fd)
    _held.clear()


os.register_at_fork(after_in_child=_after_fork)


def releasing(fd: int) -> Callable[[], None]:
    """Call it to give up the lock of an open file; in a forked child it does nothing."""
    owner = os.getpid()
    _held.add(fd)

    def release() -> None:
        if os.getpid() == owner:
            _held.discard(fd)
            with contextlib.suppress(OSError):
                fcntl.flock(fd, fcntl.LOCK_UN)  # also for a child that shares it by accident
            os.close(fd)

    return release


class Ask(NamedTuple):
    """Something that the holder of a lock needs before he gives it up."""

    number: str  # another one each time
    name: str  # of the lock
    what: str


class Holder(NamedTuple):
    """What the file of a lock says of who holds it."""

    token: str  # another one each time
    who: str
    what: str
    asks: tuple[Ask, ...]


class Held(NamedTuple):
    """A lock that is held by whoever wrote the token into its file."""

    path: str
    token: str

    def asks(self, name: str, what: str) -> Callable[[], None]:
        """Say in the file that the lock of that name is needed meanwhile; call the answer once
        it is not. Only told to others: where it cannot be written it is left out."""
        number = os.urandom(6).hex()
        self._say("asks", number, name, what)
        return lambda: self._say("ends", number)

    def _say(self, *words: str) -> None:
        # By name, not by the open file: a forked child of the holder has closed that one.
        with contextlib.suppress(OSError):
            fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | _AS_IT_IS)
            try:
                os.write(fd, _line(self.token, *words))
            finally:
                os.close(fd)


def _line(*words: str) -> bytes:
    plain = (" ".join(word.split()) for word in words)
    return ("\t".join(plain) + "\n").encode("utf-8", "surrogateescape")


def holder(path: str) -> Holder | None:
    """Who holds a lock, or held it last."""
    try:
        fd = os.open(path, os.O_RDONLY | _AS_IT_IS)
    except OSError:
        return None
    with open(fd, encoding="utf-8", errors="surrogateescape") as stream:
        return _read(stream.read())


def _read(text: str) -> Holder | None:
    first, *rows = (line.split("\t") for line in text.split("\n")[:-1] or [""])
    if len(first) != 3:
        return None
    token, who, what = first
    asks: dict[str, Ask] = {}
    for row in rows:
        if row[:2] == [token, "asks"] and len(row) == 5:
            asks[row[2]] = Ask(*row[2:])
        elif row[:2] == [token, "ends"] and len(row) == 3:
            asks.pop(row[2], None)
    return Holder(token, who, what, tuple(asks.values()))


def is_free(path: str) -> bool:
    """Whether nobody holds a lock at this moment, whatever its file says."""
    try:
        fd = os.open(path, os.O_RDONLY | _AS_IT_IS)
    except OSError:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        os.close(fd)
    return True


def _never() -> bool:
    return False


@contextlib.contextmanager
def exclusive(
    directory: str,
    name: str,
    cancelled: Callable[[], bool] = _never,
    waiting: Callable[[str], None] | None = None,
    what: str = "",
) -> Iterator[Held]:
    """Hold the lock of that name. While another holds it, `waiting` is told who, once.

    Raises Cancelled as soon as `cancelled()`, and what that raises. `what` tells others what the
    lock is held for.
    """
    ensure_directory(directory)
    path = os.path.join(directory, name)
    fd = _acquire(path, cancelled, waiting)
    owner = os.getpid()
    _held.add(fd)
    try:
        token = os.urandom(6).hex()
        with contextlib.suppress(OSError):
            os.ftruncate(fd, 0)
            os.pwrite(fd, _line(token, _name(), what), 0)
        yield Held(path, token)
    finally:
        if os.getpid() == owner:  # a child forked meanwhile has closed its copy
            with contextlib.suppress(OSError):
                os.unlink(path)
            _held.discard(fd)
            with contextlib.suppress(OSError):
                fcntl.flock(fd, fcntl.LOCK_UN)  # also for a child that shares it by accident
            os.close(fd)


def _acquire(
    path: str, cancelled: Callable[[], bool], waiting: Callable[[str], None] | None
) -> int:
    while True:
        fd = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666)
        try:
            _wait(fd, cancelled, waiting)
            # The previous holder unlinks the file: whoever waited on it has locked nothing.
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(fd), os.stat(path)):
                    return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _wait(fd: int, cancelled: Callable[[], bool], waiting: Callable[[str], None] | None) -> None:
    """Lock an open file. A blocking flock could not be given up in a thread, so it is asked for
    again and again, less and less often."""
    pause = 0.0005
    while True:
        if cancelled():
            raise Cancelled
        try:
            _flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if waiting is not None and pause > _LONGEST / 2:
                found = _read(os.pread(fd, 2000, 0).decode(errors="replace"))
                waiting(found.who if found else "another process")
                waiting = None
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST)


def _name() -> str:
    return f"process {os.getpid()} on {os.uname().nodename[:50]}"


def _flock(fd: int, operation: int) -> None:
    try:
        fcntl.flock(fd, operation)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        _warn_once()


def remove_free(path: str) -> None:
    """Remove a lock's file if nobody holds the lock: its last holder died."""
    with contextlib.suppress(OSError):
        fd = os.open(path, os.O_RDONLY | _AS_IT_IS)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(fd), os.stat(path)):
                os.unlink(path)
        finally:
            os.close(fd)


@contextlib.contextmanager
def owned(directory: str) -> Iterator[None]:
    """Mark a directory as in use by this process."""
    fd = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    owner = os.getpid()
    try:
        _flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _held.add(fd)
        yield
    finally:
        if os.getpid() == owner:
            _held.discard(fd)
            os.close(fd)


def has_owner(directory: str) -> bool:
    """Whether a living process has marked it."""
    try:
        fd = os.open(directory, os.O_RDONLY | _AS_IT_IS)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def _warn_once() -> None:
    global _warned
    if not _warned:
        _warned = True
        import logging

        logging.getLogger("iron.build").warning(
            "iron: the store's file system has no flock; work may be done more than once"
        )
