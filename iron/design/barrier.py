"""A barrier between the runtime sequence and the Workers that take it: a lock in each core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ir.attributes import IntegerAttr
from ..ir.core import Operation
from ..ir.dialects.enums import LockAction
from ..ir.types import I32, INDEX
from .context import DesignContext, ScopeError, here, in_core, in_sequence
from .lock import use

if TYPE_CHECKING:
    from .worker import Worker


class WorkerRuntimeBarrier:
    """Holds Workers until the runtime sequence lets them go.

    A Worker takes it in fn_args and waits for a value; the sequence sets the value for all of
    them. Each Worker has a lock of its own, with `initial_value` at the start.
    """

    def __init__(self, initial_value: int = 0) -> None:
        self.initial_value = initial_value
        self.where = here()

    def wait_for_value(self, value: int) -> None:
        """In a core: wait until the barrier holds just `value`, and take it. ScopeError elsewhere,
        functions called by the core included."""
        self._use("wait_for_value()", LockAction.Acquire, value)

    def release_with_value(self, value: int) -> None:
        """In a core: give `value` to the barrier. ScopeError as for `wait_for_value`."""
        self._use("release_with_value()", LockAction.Release, value)

    def set(self, value: int) -> None:
        """In the runtime sequence: set the barrier of every Worker that takes it. ScopeError
        elsewhere, and when no Worker takes it."""
        context = in_sequence("WorkerRuntimeBarrier.set()")
        locks = context.barriers.get(self)
        if not locks:
            raise ScopeError(
                f"no Worker of this design takes the barrier of {self.where}; pass it in the "
                "fn_args of a Worker"
            )
        for lock in locks.values():
            context.create("aiex.set_lock", [lock.result], (), {"value": IntegerAttr(value, I32)})

    def _use(self, what: str, action: LockAction, value: int) -> None:
        context = in_core(f"WorkerRuntimeBarrier.{what}")
        if context.scope is None or context.scope.kind != "core":
            raise ScopeError(
                f"WorkerRuntimeBarrier.{what} belongs into the core_fn of a Worker, not into a "
                "function it calls"
            )
        use(context, declare(context, self, context.scope.owner).result, action, value)


def declare(context: DesignContext, barrier: WorkerRuntimeBarrier, worker: Worker) -> Operation:
    """The lock of one Worker for a barrier, without its tile until it is placed."""
    locks = context.barriers.setdefault(barrier, {})
    if worker not in locks:
        attributes: dict[str, Any] = {}
        if barrier.initial_value:
            attributes["init"] = IntegerAttr(barrier.initial_value, I32)
        locks[worker] = Operation("aie.lock", (), [INDEX], attributes, location=barrier.where)
    return locks[worker]
