"""Events of the hardware's trace units, by name: accepted wherever they are given, and nothing is
recorded. Any name in capitals is one; which ones a tile has, only the hardware's tools know."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

__all__ = [
    "CoreEvent", "GenericEvent", "MemEvent", "MemTileEvent", "MemTilePortEvent", "PLEvent",
    "PortEvent", "ShimTileEvent", "ShimTilePortEvent",
]  # fmt: skip


@dataclass(frozen=True)
class GenericEvent:
    """One event."""

    code: Any


class _Names(type):
    """``CoreEvent.LOCK_STALL`` and the like."""

    def __getattr__(cls, name: str) -> GenericEvent:
        if not re.fullmatch("[A-Z][A-Z0-9_]*", name):
            raise AttributeError(f"{cls.__name__} has no {name!r}: events have names in capitals")
        return GenericEvent(f"{cls.__name__}.{name}")


class CoreEvent(metaclass=_Names):
    """Events of a core."""


class MemEvent(metaclass=_Names):
    """Events of the memory of a compute tile."""


class MemTileEvent(metaclass=_Names):
    """Events of a memtile."""


class ShimTileEvent(metaclass=_Names):
    """Events of a shim tile."""


class PLEvent(metaclass=_Names):
    """Events of the programmable logic."""


@dataclass(frozen=True)
class PortEvent:
    """An event of a port of the stream switch."""

    code: Any
    port: Any
    channel: int
    master: bool = True


class MemTilePortEvent(PortEvent):
    """The same of a memtile."""


class ShimTilePortEvent(PortEvent):
    """The same of a shim tile."""
