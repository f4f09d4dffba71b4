"""Locks between threads and processes that the kernel releases when their holder dies.

`flock` belongs to an open file: two threads that open the lock file exclude each other as two
processes do. A forked child must not keep its parent's locks alive, so it closes them.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator

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


def _never() -> bool:
    return False


@contextlib.contextmanager
def exclusive(
    directory: str,
    name: str,
    cancelled: Callable[[], bool] = _never,
    waiting: Callable[[str], None] | None = None,
) -> Iterator[None]:
    """Hold the lock of that name. While another holds it, `waiting` is told who, once.

    Raises Cancelled as soon as `cancelled()`.
    """
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, name)
    fd = _acquire(path, cancelled, waiting)
    owner = os.getpid()
    _held.add(fd)
    try:
        yield
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
                    with contextlib.suppress(OSError):
                        os.pwrite(fd, _name().ljust(80).encode(), 0)
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
                holder = os.pread(fd, 80, 0).decode(errors="replace").strip()
                waiting(holder or "another process")
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
