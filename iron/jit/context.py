"""Compile-time values reachable from anywhere below a generator, without passing them along."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

_values: ContextVar[Mapping[str, Any]] = ContextVar(
    "iron_compile_context", default=MappingProxyType({})
)


@contextlib.contextmanager
def compile_context(**values: Any) -> Iterator[dict[str, Any]]:
    """Make `values` available to `get_compile_arg`; the innermost context wins. Gives all that are
    in force inside, as a dict.

    They take part in the key of every design generated inside, as CompileTime values do; holds for
    this thread or task.
    """
    merged = {**_values.get(), **values}
    token = _values.set(merged)
    try:
        yield dict(merged)
    finally:
        _values.reset(token)


def get_compile_arg(key: str, default: Any = None) -> Any:
    """The compile-time value `key` of the design being generated, else `default`."""
    return _values.get().get(key, default)


def compile_values() -> Mapping[str, Any]:
    """Everything in force; it takes part in a design's key."""
    return _values.get()
