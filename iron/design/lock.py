"""Counting locks used by hand: between a core, its DMA and the runtime sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ir.attributes import IntegerAttr, StringAttr
from ..ir.core import Operation, Value
from ..ir.dialects.enums import LockAction
from ..ir.types import I32, INDEX
from .context import DesignContext, here, in_core
from .values import constant

if TYPE_CHECKING:
    from .tiles import Tile


class Lock:
    """A hardware lock of `tile` with `init` as its first value; `lock_id` None lets the tools
    choose. Its verbs are used in a core; ScopeError elsewhere."""

    def __init__(
        self,
        tile: Tile,
        lock_id: int | None = None,
        init: int = 0,
        name: str | None = None,
    ) -> None:
        self._tile = tile
        self._lock_id = lock_id
        self._init = init
        self._name = name
        self.where = here()

    @property
    def tile(self) -> Tile:
        """The tile it belongs to."""
        return self._tile

    @property
    def name(self) -> str | None:
        """The name given; None when the design numbers it."""
        return self._name

    def acquire(self, value: int = 1) -> None:
        """Wait until the lock holds at least `value`, then take as many."""
        self._use("Lock.acquire()", LockAction.AcquireGreaterEqual, value)

    def acquire_exact(self, value: int = 1) -> None:
        """Wait until the lock holds just `value`, then take them."""
        self._use("Lock.acquire_exact()", LockAction.Acquire, value)

    def release(self, value: int = 1) -> None:
        """Give `value` to the lock."""
        self._use("Lock.release()", LockAction.Release, value)

    def _use(self, what: str, action: LockAction, value: int) -> None:
        context = in_core(what)
        use(context, declare(context, self).result, action, value)


def use(context: DesignContext, lock: Value, action: LockAction, value: int) -> None:
    """``aie.use_lock`` at the insertion point."""
    amount = constant(value, I32).value
    context.create("aie.use_lock", [lock, amount], (), {"action": IntegerAttr(int(action), I32)})


def declare(context: DesignContext, lock: Lock) -> Operation:
    """The ``aie.lock`` of a design, without its tile until it is placed."""
    op = context.locks.get(lock)
    if op is not None:
        return op
    if lock._name is not None:
        name = context.define(lock._name, "a Lock", lock.where)
    else:
        name = context.fresh("lock_", "a Lock", lock.where)
    attributes: dict[str, Any] = {
        "init": IntegerAttr(lock._init, I32),
        "sym_name": StringAttr(name),
    }
    if lock._lock_id is not None:
        attributes["lockID"] = IntegerAttr(lock._lock_id, I32)
    op = Operation("aie.lock", (), [INDEX], attributes, location=lock.where)
    op.result.name = name
    context.locks[lock] = op
    return op
