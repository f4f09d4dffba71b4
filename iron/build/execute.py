"""The one place where a command runs.

No shell, no terminal, a declared environment, a process group of its own, output to a file. The
process' own working directory, signal handlers and standard streams are never touched.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn

from . import budget, steps
from .environ import WITHIN, for_launcher, scrubbed
from .errors import Cancelled
from .progress import Progress

# The kernel refuses 128 KiB in one string (gcc passes all its options on in one) and about
# 2 MiB in all; long lists of files go through a response file well before that.
LONG_COMMAND = 100_000

# How long to wait for the steps of a request that was given up: killed commands end at once, a
# function goes on behind our back and finds out later that nobody wants its result.
PATIENT, IMPATIENT = 10.0, 0.3


class Outcome(NamedTuple):
    """How a command ended: exit status (negative: the signal), all it printed, seconds."""

    status: int
    output: str
    seconds: float


class Commands:
    """The commands of one request; they can all be stopped at once."""

    def __init__(self, progress: Progress | None = None) -> None:
        self._live: set[int] = set()
        self._lock = threading.Lock()
        self.cancelled = False
        self.functions = 0  # steps in this process, which cannot be stopped
        self.progress = progress or Progress(0)

    def given_up(self) -> bool:
        return self.cancelled

    def run(
        self,
        argv: Sequence[str],
        directory: str,
        declared: Sequence[tuple[str, str]] = (),
        response_file: bool = True,
        launcher: Sequence[str] = (),
    ) -> Outcome:
        """Run a program in a work directory of its own, which it may write to.

        A program that cannot be started counts as one that failed with status 127. `launcher`
        is a command that runs the command.
        """
        with budget.slot(self.given_up) as may_run:
            if not may_run:
                raise Cancelled
            return self._run(argv, directory, declared, response_file, launcher)

    def call(self, function: Callable[[list[str]], None], arguments: list[str]) -> None:
        """Run a step in this process. A child that the step forks and that comes back here, by
        whatever way, ends here: the rest of the build is its parent's."""
        if self.cancelled:
            raise Cancelled
        with self._lock:
            self.functions += 1
        owner = os.getpid()
        try:
            function(arguments)
        finally:
            if os.getpid() != owner:
                _end_child(sys.exc_info()[1])
            with self._lock:
                self.functions -= 1

    def _run(
        self,
        argv: Sequence[str],
        directory: str,
        declared: Sequence[tuple[str, str]],
        response_file: bool,
        launcher: Sequence[str],
    ) -> Outcome:
        import subprocess

        printed = os.path.join(directory, "output.txt")
        command = [*launcher, *(_respond(argv, directory) if response_file else argv)]
        environment = {**scrubbed(argv[0], directory, declared), WITHIN: steps.words()}
        if launcher:
            environment.update(for_launcher(environment))
        started = time.perf_counter()
        with open(printed, "wb") as stream:
            try:
                process = subprocess.Popen(
                    command,
                    cwd=directory,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=stream,
                    start_new_session=True,
                )
            except OSError as error:
                return Outcome(127, f"{command[0]}: {error.strerror}\n", 0.0)
        status = self._wait(process.pid, process.wait)
        output = _text(printed)
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

    def cancel(self) -> float:
        """Kill what runs and start nothing more; seconds in which all of it will have ended."""
        with self._lock:
            self.cancelled = True
            for pid in self._live:
                _kill(pid, signal.SIGKILL)
            return IMPATIENT if self.functions else PATIENT


def _text(path: str) -> str:
    """All that was printed, mostly nothing."""
    if not os.path.getsize(path):
        return ""
    with open(path, "rb") as stream:
        return stream.read().decode(errors="replace")


def _end_child(problem: BaseException | None) -> NoReturn:
    """Leave a forked process as Python does at its end, but for what it shares with its parent."""
    status = 0
    try:
        if isinstance(problem, SystemExit):
            status = problem.code if isinstance(problem.code, int) else int(bool(problem.code))
        elif problem is not None:
            import traceback

            status = 1
            traceback.print_exception(problem)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    finally:
        os._exit(status & 0xFF)


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
