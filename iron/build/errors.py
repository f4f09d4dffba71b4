"""Why a build did not happen: one Failure per command or input, one BuildError per request.

Owns the text a user reads. Knows nothing of keys, the store or SCons.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Failure(NamedTuple):
    """One thing that went wrong. `stderr` is everything the tool printed, whole."""

    label: str
    where: str
    reason: str
    command: tuple[str, ...] = ()
    status: int | None = None
    stderr: str = ""
    directory: str = ""

    def __str__(self) -> str:
        lines = [f"{self.label or 'build'}: {self.reason}"]
        if self.where:
            lines.append(f"  declared at {self.where}")
        if self.command:
            import shlex

            lines.append(f"  command: {shlex.join(self.command)}")
        if self.status is not None:
            lines.append(f"  exit status: {self.status}{_signal_name(self.status)}")
        if self.directory:
            lines.append(f"  work directory (kept): {self.directory}")
        if self.stderr:
            lines.append(self.stderr.rstrip("\n"))
        return "\n".join(lines)


def _signal_name(status: int) -> str:
    if status >= 0:
        return ""
    import signal

    try:
        return f" (killed by {signal.Signals(-status).name})"
    except ValueError:
        return ""


class BuildError(Exception):
    """A request that could not be met; `failures` says each reason with its command."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        self.failures: list[Failure] = list(failures)
        super().__init__(self.failures)

    def __str__(self) -> str:
        return "\n\n".join(str(failure) for failure in self.failures)


class Cancelled(Exception):
    """The request was given up while this step waited or ran."""


class InputChanged(Exception):
    """What the key was made from is not what the command may have read: ask anew.

    Internal to this package: a request is restarted on it, a bounded number of times.
    """
