"""A memory with a limit: a dictionary that forgets its oldest half when it is full."""

from __future__ import annotations

import contextlib
from itertools import islice
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Memo(dict[K, V]):
    """Threads may share it. What is forgotten is found out again, so the limit is only a cost."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit

    def __setitem__(self, key: K, value: V) -> None:
        if len(self) >= self.limit:
            with contextlib.suppress(RuntimeError):  # another thread is at it
                for old in list(islice(self, self.limit // 2 + 1)):
                    self.pop(old, None)
        super().__setitem__(key, value)
