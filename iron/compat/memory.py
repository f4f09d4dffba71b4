"""``aie.dialects.memref``: loads and stores by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def load(memref: Any, indices: Sequence[Any]) -> Any:
    """``memref[indices]`` in a traced body."""
    return memref[tuple(indices)]


def store(value: Any, memref: Any, indices: Sequence[Any]) -> None:
    """``memref[indices] = value`` in a traced body."""
    memref[tuple(indices)] = value
