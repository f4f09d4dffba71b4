"""Why a module cannot run on the host target."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iron.ir.core import Location, Operation


class HostError(Exception):
    """An operation the host target cannot run. `op` is its name, `location` where it comes
    from, `reason` why not."""

    def __init__(self, op: str, location: Location | None, reason: str) -> None:
        self.op = op
        self.location = location
        self.reason = reason
        where = f"{location}: " if location else ""
        super().__init__(f"{where}{op}: {reason}" if op else f"{where}{reason}")


def refuse(op: Operation, reason: str) -> HostError:
    """The error to raise about `op`."""
    return HostError(op.name, op.location, reason)
