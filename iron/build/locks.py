"""Locks between threads and processes that the kernel releases when their holder dies.

`flock` belongs to an open file: two threads that open the lock file exclude each other as two
processes do. A forked child must not keep its parent's locks alive, so it closes them.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator

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


@contextlib.contextmanager
def exclusive(directory: str, name: str) -> Iterator[None]:
    """Hold the lock of that name; blocks without spinning while another holds it."""
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, name)
    fd = _acquire(path)
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


def _acquire(path: str) -> int:
    while True:
        fd = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666)
        try:
            _flock(fd, fcntl.LOCK_EX)
            # The previous holder unlinks the file: whoever waited on it has locked nothing.
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(fd), os.stat(path)):
                    return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _flock(fd: int, operation: int) -> None:
    try:
        fcntl.flock(fd, operation)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        _warn_once()


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
        fd = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
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
