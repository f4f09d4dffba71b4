"""Generators that run other designs' generators: one that comes back to itself is told so."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from .errors import GenerationError

_Running = tuple[Callable[..., Any], dict[str, Any], Any, str]
_running: ContextVar[tuple[_Running, ...]] = ContextVar("iron_generating", default=())


@contextlib.contextmanager
def generating(
    generator: Callable[..., Any], values: Mapping[str, Any], device: Any, name: str, where: str
) -> Iterator[None]:
    """This generator runs, with these values. GenerationError if that is what is running already;
    with other values it may."""
    running = _running.get()
    new: _Running = (generator, dict(values), device, name)
    for position, known in enumerate(running):
        if _same(known, new):
            chain = " -> ".join([*(n for *_, n in running[position:]), name])
            raise GenerationError(
                f"{name} asks for itself with the same values while it is generated: {chain} "
                f"(declared at {where})"
            )
    token = _running.set((*running, new))
    try:
        yield
    finally:
        _running.reset(token)


def _same(one: _Running, other: _Running) -> bool:
    if one[0] is not other[0]:
        return False
    try:
        return bool(one[1:3] == other[1:3])
    except Exception:  # values that cannot be compared, as arrays: Python's own limit will do
        return False
