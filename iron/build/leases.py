"""Which results a living process uses, so that nobody takes them away from under it.

A process names each result that it is given in a file of its own, which it holds a lock on as
long as it lives; the kernel lets go of the lock when it dies, whatever it died of.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
import weakref

# On a file system without locks nobody can tell who lives: younger files are taken for alive.
_PATIENCE = 7 * 86400.0


# Of one process, by directory: results outlive the session that gave them. Nobody has as many
# stores as this at once.
_known: dict[str, Lease] = {}
_MOST = 100


def lease(directory: str) -> Lease:
    """This process' lease in a directory."""
    known = _known.get(directory)
    if known is None:
        while len(_known) >= _MOST:
            with contextlib.suppress(KeyError, StopIteration, RuntimeError):
                del _known[next(iter(_known))]
        known = _known.setdefault(directory, Lease(directory))
    return known


class Lease:
    """This process' file in a directory. A forked child goes on with the one of its parent, which
    then holds until both are gone."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._file: tuple[str, int] | None = None  # path, descriptor
        self._named: set[str] = set()

    def name(self, key: str) -> None:
        """From now on, and before this returns, the result is in use."""
        there = self._file is not None and os.path.exists(self._file[0])
        if there and key in self._named:
            return
        try:
            if there and self._file is not None:
                os.write(self._file[1], f"{key}\n".encode())
            else:  # the first, or the old one went with the store or with our parent
                path, fd = self._open()
                known = {*self._named.copy(), key}
                os.write(fd, "".join(f"{k}\n" for k in known).encode())
                self._file = path, fd
        except OSError:
            return  # a store that can only be read is not collected either
        self._named.add(key)

    def _open(self) -> tuple[str, int]:
        os.makedirs(self._directory, exist_ok=True)
        while True:
            path = f"{self._directory}/{os.getpid()}.{os.urandom(4).hex()}"
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            fd = os.open(path, flags, 0o644)
            if _hold(fd) and os.path.exists(path):
                break
            os.close(fd)  # before we held it, it was taken for a dead one's
        weakref.finalize(self, _end, path, fd, os.getpid())
        return path, fd


def _hold(fd: int) -> bool:
    """Whether it is ours now. Whoever looks whether we live holds the lock himself for a moment,
    and, where we do not, takes the file away."""
    for _ in range(50):
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.001)
        except OSError:
            return True  # no locks here
        else:
            return True
    return False


def _end(path: str, fd: int, owner: int) -> None:
    with contextlib.suppress(OSError):
        if os.getpid() == owner:
            os.unlink(path)
        os.close(fd)


def in_use(directory: str) -> set[str]:
    """The keys that living processes have named."""
    found: set[str] = set()
    for path in living(directory):
        with contextlib.suppress(OSError), open(path, encoding="ascii") as stream:
            found.update(stream.read().split())
    return found


def living(directory: str) -> list[str]:
    """The files of living processes; those of the dead are removed."""
    found = []
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        for entry in os.scandir(directory):
            with contextlib.suppress(OSError):
                if _alive(entry.path):
                    found.append(entry.path)
    return found


def _alive(path: str) -> bool:
    """Whether somebody holds it. If not, it is removed while we do: whoever is about to hold it
    sees that when he does."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)
    except BlockingIOError:
        return True
    except FileNotFoundError:  # by another who looks
        return False
    except OSError:
        return time.time() - os.fstat(fd).st_mtime < _PATIENCE
    finally:
        os.close(fd)
    return False
