"""Runs a built host package.

A package is a directory with `worker`, `design.net` and images; how it is built is not known here.
Owns when a worker is started and when it has to go; the process itself is in `worker`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

from .errors import KernelCrash
from .worker import Argument, GoneIdle, RunReport, Worker


class HostKernel:
    """A package and, from the first run on, its worker process.

    The state of the array (locks, buffers, cores) persists from run to run, as on the hardware;
    a failed run ends the worker, and the next run starts a fresh one, as it does when somebody
    has ended it between two runs. May be used from several threads (runs are served one after the
    other) and after a fork (the child starts its own worker). What runs goes on when the package
    directory is removed; a worker that is to be started then is PackageGone.
    """

    def __init__(self, package_dir: str | os.PathLike[str], *, name: str = "") -> None:
        self.package_dir = os.fspath(package_dir)
        self.name = name
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._worker: Worker | None = None

    def run(self, args: Sequence[Argument], timeout: float | None = None) -> RunReport:
        """Run the sequence once with `args`; memory arguments are read and written in place.

        `timeout` is in seconds. HostRuntimeError (KernelCrash, KernelTimeout, Deadlock,
        RaceFound, PackageGone) when the run does not end well.
        """
        with self._own_lock():
            if self._worker is not None:
                try:
                    return self._run_once(self._worker, args, timeout)
                except GoneIdle:
                    pass  # ended by somebody since the last run: nothing was under way
            self._worker = Worker(self.package_dir, self.name)
            try:
                return self._run_once(self._worker, args, timeout)
            except GoneIdle:
                raise KernelCrash(self.name, "the worker ended before it began the run") from None

    def _run_once(
        self, worker: Worker, args: Sequence[Argument], timeout: float | None
    ) -> RunReport:
        try:
            return worker.run(args, timeout)
        except BaseException:  # an interrupt as well: its state is unknown
            self._worker = None
            worker.close()
            raise

    def close(self) -> None:
        """End the worker; a later run starts another."""
        with self._own_lock():
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def _own_lock(self) -> threading.Lock:
        """The lock of this process. In a forked child the parent's may be held for ever, and
        the parent's worker is not ours."""
        if self._pid != os.getpid():
            self._pid = os.getpid()
            self._lock = threading.Lock()
            self._worker = None
        return self._lock


__all__ = ["Argument", "HostKernel", "RunReport"]
