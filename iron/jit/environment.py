"""Environment variables that every call depends on, compared without decoding them.

Knows nothing of what the variables mean.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any


class Variables:
    """Some environment variables by name; two equal `now()` mean that none has another value."""

    __slots__ = ("_keys", "_names")

    def __init__(self, *names: str) -> None:
        self._names = names
        encode = getattr(os.environ, "encodekey", None)
        self._keys = None if encode is None else tuple(encode(name) for name in names)

    def now(self) -> tuple[Any, ...]:
        """Their values now, None for one that is not set; to be compared, not to be read."""
        # os.environ keeps them encoded and decodes on every look; for a comparison as they are
        # kept is enough. Without that dictionary (it has no public name) it is just slower.
        kept: Mapping[Any, Any] | None = getattr(os.environ, "_data", None)
        if kept is None or self._keys is None:
            return tuple(map(os.environ.get, self._names))
        return tuple(map(kept.get, self._keys))
