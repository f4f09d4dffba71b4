"""Short keys: what tells one call's values from another's without writing them out.

A short key is an alias of the full key (`iron.jit.keys`) for values that cannot change under
their name: numbers, texts, types. Two calls with equal short keys have equal full keys; calls with
anything else have no short key and take the long way every time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .context import compile_values
from .environment import Variables

_EXACT = frozenset({bool, int, str, bytes, type(None), type})
_OUR_DEVICES = "iron.design.devices"
_device_variable = Variables("IRON_DEVICE")


class NotPlain(Exception):
    """A value that may be another one tomorrow, or that is equal to a different one."""


def typed(value: Any) -> Any:
    """`value` so that ``==`` and ``hash`` tell what `key_text` tells; NotPlain when they cannot."""
    kind = type(value)
    if kind in _EXACT:
        return (kind, value)
    if kind is float and (value > 0 or value < 0):  # 0.0 equals -0.0, and nan nothing
        return (kind, value)
    if kind is tuple:
        return (kind, tuple(map(typed, value)))
    if isinstance(value, np.dtype):
        return (kind, value)
    raise NotPlain


def all_plain(values: Iterable[Any]) -> bool:
    """Whether none of `values` can change."""
    try:
        typed(tuple(values))
    except NotPlain:
        return False
    return True


def short_key(
    generation: int, target: str, device: Any | None, kwargs: Mapping[str, Any]
) -> tuple[Any, ...] | None:
    """The short key of a call for a device (None: the environment's), None when it has none.

    The device is in it by its address, so whoever keeps the key has to keep the device.
    """
    if compile_values():
        return None
    if device is None:
        place: Any = _device_variable.now()
    elif type(device).__module__ == _OUR_DEVICES:  # these hold no state
        place = id(device)
    else:
        return None
    if not kwargs:
        return (generation, target, place)
    try:
        values = tuple(map(typed, kwargs.values()))
    except NotPlain:
        return None
    return (generation, target, place, tuple(kwargs), values)
