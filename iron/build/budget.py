"""How many commands run at once on this machine, whichever processes start them.

A slot is a `flock` on one of IRON_JOBS (default: the processors) files of this user's, so it is
free again the moment its holder dies. Under GNU make, make's own tokens are used instead. A
process started by make, or by a command of ours, runs its first command on the slot that it was
started with.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
import threading
from collections.abc import Callable, Iterator

from . import locks
from .environ import WITHIN, job_count

# Another process' slot becoming free is noticed after at most this many seconds.
_POLL = 0.02

_AUTH = re.compile(r"--jobserver-(?:auth|fds)=(?:fifo:(\S+)|(\d+),(\d+))")

Cancelled = Callable[[], bool]


class _State:
    """This process' part; made anew in a forked child, which holds no slots."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.running = 0
        self.implicit_taken = False


_state = _State()


def _after_fork() -> None:
    global _state
    _state = _State()


os.register_at_fork(after_in_child=_after_fork)


@contextlib.contextmanager
def slot(cancelled: Cancelled) -> Iterator[bool]:
    """Wait for a slot and hold it. False, without one, once `cancelled()`."""
    state = _state
    release = None
    while release is None:
        if cancelled():
            yield False
            return
        with state.changed:
            release = _take(state)
            if release is None:
                state.changed.wait(_POLL)
    try:
        yield True
    finally:
        with state.changed:
            release()
            state.changed.notify_all()


def _take(state: _State) -> Callable[[], None] | None:
    """Something to call when done; None if no slot is free now."""
    jobserver = _jobserver()
    if (jobserver or os.environ.get(WITHIN)) and not state.implicit_taken:
        state.implicit_taken = True
        return lambda: setattr(state, "implicit_taken", False)
    if jobserver:
        return _token(*jobserver)
    try:
        return _file_slot()
    except OSError:  # no such directory can be had: this process alone is counted
        if state.running >= job_count():
            return None
        state.running += 1
        return lambda: setattr(state, "running", state.running - 1)


def _file_slot() -> Callable[[], None] | None:
    directory = _directory()
    if not os.path.isdir(directory):
        os.makedirs(directory, mode=0o700, exist_ok=True)
    for number in range(job_count()):
        fd = os.open(f"{directory}/{number}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            continue
        except OSError:
            os.close(fd)
            raise
        return locks.releasing(fd)
    return None


def _directory() -> str:
    """Of this user and machine: never on a network file system with the store."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isdir(runtime) and os.access(runtime, os.W_OK):
        return f"{runtime}/iron-jobs"
    import tempfile

    return f"{tempfile.gettempdir()}/iron-jobs-{os.getuid()}"


# ------------------------------------------------------------------ GNU make


def _jobserver() -> tuple[str, str] | None:
    """Where make's tokens are taken from and given back to, when this process may do so."""
    found = _AUTH.findall(os.environ.get("MAKEFLAGS", ""))
    if not found:
        return None
    fifo, read, write = found[-1]  # the last one counts, says make
    paths = (fifo, fifo) if fifo else (f"/proc/self/fd/{read}", f"/proc/self/fd/{write}")
    try:  # make closes the pipe for commands that it does not know to be builds
        if all(stat.S_ISFIFO(os.stat(path).st_mode) for path in paths):
            return paths
    except OSError:
        pass
    return None


def _token(read: str, write: str) -> Callable[[], None] | None:
    # Opened anew: the mode of the inherited descriptors is everybody's.
    fd = os.open(read, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        token = os.read(fd, 1)
    except BlockingIOError:
        return None
    finally:
        os.close(fd)
    return (lambda: _give_back(write, token)) if token else None


def _give_back(write: str, token: bytes) -> None:
    fd = os.open(write, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, token)
    finally:
        os.close(fd)
