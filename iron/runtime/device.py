"""The device designs are made for when none is named: of the process, or of a block of code."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

_scoped: ContextVar[Any] = ContextVar("iron_device", default=None)
_chosen: list[Any] = [None]


def set_current_device(device: Any | None) -> None:
    """Choose the device of this process; None chooses none, which leaves it to ``IRON_DEVICE``. It
    is looked at by each call; ``with iron.device(...)`` is for a block of code."""
    _chosen[0] = device


def chosen_device() -> Any | None:
    """The device of the innermost ``with device(...)``, else of the process; None when neither."""
    scoped = _scoped.get()
    return _chosen[0] if scoped is None else scoped


def swap_device(device: Any | None) -> Any | None:
    """Make `device` the current one in this thread or task, None for the one of the process;
    gives what was in its place, to be put back."""
    before = _scoped.get()
    _scoped.set(device)
    return before


@contextlib.contextmanager
def use_device(device: Any) -> Iterator[Any]:
    """`device` is the current one inside the ``with``, in this thread or task only."""
    before = swap_device(device)
    try:
        yield device
    finally:
        swap_device(before)
