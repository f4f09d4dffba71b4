"""Compile-time values as JSON and back, each with its type: ``1``, ``True`` and ``"1"`` stay
three values. What has no such form is an error, not its text."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

_PLAIN = {"NoneType", "bool", "int", "float", "str"}
_CONTAINERS: dict[str, type] = {"tuple": tuple, "list": list}


def encode(value: Any, name: str) -> Any:
    """`value` as plain JSON data; TypeError naming it when there is no form for it."""
    kind = type(value).__name__
    if type(value).__module__ == "builtins":
        if kind in _PLAIN:
            return [kind, value]
        if kind in _CONTAINERS:
            return [kind, [encode(v, name) for v in value]]
        if kind == "dict":
            return [kind, [[encode(k, name), encode(v, name)] for k, v in value.items()]]
    if isinstance(value, np.dtype):
        return ["dtype", value.name]
    if isinstance(value, type) and (issubclass(value, np.generic) or _is_extension(value)):
        return ["scalar type", np.dtype(value).name]
    if isinstance(value, np.generic):
        return ["scalar", [value.dtype.name, value.item()]]
    raise TypeError(
        f"{name}: a {type(value).__qualname__} has no form in JSON; bind it after loading with "
        f"specialize({name}=...)"
    )


def decode(data: Any) -> Any:
    """The reverse of `encode`; ValueError for what that does not write."""
    kind, value = data
    if kind in _PLAIN:
        return value
    if kind in _CONTAINERS:
        return _CONTAINERS[kind](decode(v) for v in value)
    if kind == "dict":
        return {decode(k): decode(v) for k, v in value}
    if kind == "dtype":
        return _dtype(value)
    if kind == "scalar type":
        return _dtype(value).type
    if kind == "scalar":
        return _dtype(value[0]).type(value[1])
    raise ValueError(f"a value of kind {kind!r} is not known")


def _is_extension(cls: builtins.type) -> bool:
    return cls.__module__.partition(".")[0] == "ml_dtypes"


def _dtype(name: str) -> np.dtype[Any]:
    import ml_dtypes

    return np.dtype(getattr(ml_dtypes, name, name))
