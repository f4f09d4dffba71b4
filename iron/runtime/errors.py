"""Faults of a run on the host target. Each carries the worker's report as its text."""

from __future__ import annotations


class HostRuntimeError(RuntimeError):
    """A run on the host target failed. `report` is the worker's text."""

    def __init__(self, name: str, report: str) -> None:
        self.name = name
        self.report = report.rstrip("\n")
        super().__init__(f"{name}: {self.report}" if name else self.report)


class KernelCrash(HostRuntimeError):
    """A core's code ended the worker: a bad memory access, an abort, a stack overflow."""


class KernelTimeout(HostRuntimeError):
    """The run took longer than the caller allows; the report says which core ran last."""


class Deadlock(HostRuntimeError):
    """The runtime sequence waits and nothing can run."""


class RaceFound(HostRuntimeError):
    """The race check (``IRON_HOST_CHECK=race``) found uses of memory that nothing orders."""


class PackageGone(HostRuntimeError):
    """The built package is not on disk any more, and no worker of it is running."""
