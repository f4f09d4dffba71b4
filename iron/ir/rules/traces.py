"""Traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core import Operation
from .places import number

if TYPE_CHECKING:
    from ..verifier import Check

_MOST_EVENTS = 8
"""Events one trace unit watches (AIETraceOps.cpp)."""


def trace(op: Operation, check: Check) -> None:
    inside = op.regions[0].entry.operations
    events = [o for o in inside if o.name == "aie.trace.event"]
    if len(events) > _MOST_EVENTS:
        check.fault(op, f"watches {len(events)} events, at most {_MOST_EVENTS} are expected")
    slots: dict[tuple[str, int | None], Operation] = {}
    for inner in inside:
        if inner.name in ("aie.trace.port", "aie.trace.combo_event", "aie.trace.edge_event"):
            other = slots.setdefault((inner.name, number(inner, "slot")), inner)
            if other is not inner:
                check.fault(inner, f"slot {number(inner, 'slot')} is used at {other.location}")


def one_of(op: Operation, check: Check) -> None:
    if ("broadcast" in op.attributes) == ("event" in op.attributes):
        check.fault(op, "either 'broadcast' or 'event' is expected")


def host_config(op: Operation, check: Check) -> None:
    for name, least in (("buffer_size", 1), ("egress_shim_col", 0)):
        value = number(op, name)
        if value is not None and value < least:
            check.fault(op, f"attribute '{name}' is {value}, at least {least} is expected")
