"""The one place where a command runs.

No shell, no terminal, a declared environment, a process group of its own, output to a file. The
process' own working directory, signal handlers and standard streams are never touched.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .environ import scrubbed

# The kernel refuses 128 KiB in one string (gcc passes all its options on in one) and about
# 2 MiB in all; long lists of files go through a response file well before that.
LONG_COMMAND = 100_000


class Outcome(NamedTuple):
    """How a command ended: exit status (negative: the signal), all it printed, seconds."""

    status: int
    output: str
    seconds: float


class Cancelled(Exception):
    """The request was given up while this command waited or ran."""


class Commands:
    """The commands of one request; they can all be stopped at once."""

    def __init__(self) -> None:
        self._live: set[int] = set()
        self._lock = threading.Lock()
        self.cancelled = False

    def run(
        self,
        argv: Sequence[str],
        directory: str,
        declared: Sequence[tuple[str, str]] = (),
        response_file: bool = True,
    ) -> Outcome:
        """Run a program in a work directory of its own, which it may write to.

        A program that cannot be started counts as one that failed with status 127.
        """
        with _slots:
            if self.cancelled:
                raise Cancelled
            return self._run(argv, directory, declared, response_file)

    def _run(
        self,
        argv: Sequence[str],
        directory: str,
        declared: Sequence[tuple[str, str]],
        response_file: bool,
    ) -> Outcome:
        import subprocess

        printed = os.path.join(directory, "output.txt")
        command = _respond(argv, directory) if response_file else list(argv)
        started = time.perf_counter()
        with open(printed, "wb") as stream:
            try:
                process = subprocess.Popen(
                    command,
                    cwd=directory,
                    env=scrubbed(argv[0], directory, declared),
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=stream,
                    start_new_session=True,
                )
            except OSError as error:
                return Outcome(127, f"{argv[0]}: {error.strerror}\n", 0.0)
        status = self._wait(process.pid, process.wait)
        with open(printed, "rb") as stream:
            output = stream.read().decode(errors="replace")
        if self.cancelled:
            raise Cancelled
        return Outcome(status, output, time.perf_counter() - started)

    def _wait(self, pid: int, wait: Callable[[], int]) -> int:
        with self._lock:
            self._live.add(pid)
            if self.cancelled:
                _kill(pid, signal.SIGKILL)
        try:
            return wait()
        except BaseException:  # KeyboardInterrupt: nothing is left running
            _kill(pid, signal.SIGKILL)
            wait()
            raise
        finally:
            with self._lock:
                self._live.discard(pid)

    def cancel(self) -> None:
        """Kill what runs and start nothing more."""
        with self._lock:
            self.cancelled = True
            for pid in self._live:
                _kill(pid, signal.SIGKILL)


def _kill(pid: int, number: signal.Signals) -> None:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _respond(argv: Sequence[str], directory: str) -> list[str]:
    if sum(len(argument) + 1 for argument in argv) < LONG_COMMAND:
        return list(argv)
    path = os.path.join(directory, "arguments.rsp")
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as stream:
        for argument in argv[1:]:
            quoted = argument.replace("\\", "\\\\").replace('"', '\\"')
            stream.write(f'"{quoted}"\n')
    return [argv[0], f"@{path}"]


def job_count() -> int:
    """IRON_JOBS, else the processors this process may use."""
    named = os.environ.get("IRON_JOBS", "")
    if named.isdigit() and int(named) > 0:
        return int(named)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _make_slots() -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(job_count())


# Commands of all sessions of this process together; their workers wait here.
_slots = _make_slots()


def _after_fork() -> None:
    global _slots
    _slots = _make_slots()


os.register_at_fork(after_in_child=_after_fork)
