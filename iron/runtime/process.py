"""A child process: its start, and how it ended.

`subprocess` can do more, and takes longer to import than a stored design takes to be found; this
is what a worker needs of it. Knows nothing of what the process does.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Sequence

_LONGEST_SLEEP = 0.02


class Process:
    """A program that was started. It reads nothing from its standard input, and of the files open
    here it has standard output, standard error and `keeps`, under the same numbers.

    OSError when it cannot be started.
    """

    def __init__(self, command: Sequence[str], keeps: Iterable[int] = ()) -> None:
        self.returncode: int | None = None
        """Its exit status, negative for the signal that ended it; None until that is known."""
        kept = set(keeps)
        self.pid = os.posix_spawn(
            command[0],
            list(command),
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                *((os.POSIX_SPAWN_CLOSE, fd) for fd in _inheritable() if fd not in kept),
                # Onto itself: what was to be closed at the start of another program is not.
                *((os.POSIX_SPAWN_DUP2, fd, fd) for fd in kept),
            ],
        )

    def poll(self) -> int | None:
        """`returncode`, as it is by now."""
        return self._ask(os.WNOHANG)

    def wait(self, timeout: float | None = None) -> int:
        """`returncode`, once it has ended. TimeoutError after `timeout` seconds."""
        if timeout is None:
            code = self._ask(0)
            assert code is not None
            return code
        until, sleep = time.monotonic() + timeout, 0.0002
        while (code := self.poll()) is None:
            if time.monotonic() > until:
                raise TimeoutError(f"process {self.pid} has not ended in {timeout} s")
            time.sleep(sleep)
            sleep = min(2 * sleep, _LONGEST_SLEEP)
        return code

    def send_signal(self, number: int) -> None:
        """Send it a signal; nothing when it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _ask(self, how: int) -> int | None:
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, how)
            except ChildProcessError:
                self.returncode = 0  # somebody else has waited for it: how it ended is not known
            else:
                if pid:
                    self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


def _inheritable() -> list[int]:
    """Open files that another program would get, besides the three of the standard; Python's own
    are not."""
    found = []
    with contextlib.suppress(OSError):  # a system without /dev/fd
        for name in os.listdir("/dev/fd"):
            with contextlib.suppress(OSError):  # closed by now, as that of the directory itself is
                if int(name) > 2 and os.get_inheritable(int(name)):
                    found.append(int(name))
    return found
