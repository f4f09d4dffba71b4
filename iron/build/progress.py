"""What is being done right now, as one line on a terminal; nothing anywhere else.

The line appears when a request has been at work for a moment and is gone when it ends. Nothing
here knows of recipes: a step is a label.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_AFTER = 0.4  # seconds a request takes before anything is shown
_EVERY = 0.1


class Progress:
    """The steps of one request. `tick` is called now and then by whoever waits for them."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self._running: dict[int, tuple[str, float]] = {}
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._shown = 0.0
        self._visible = False
        self._stream = sys.stderr if _wanted() else None

    @contextmanager
    def step(self, label: str) -> Iterator[None]:
        """A step is at work; when it waits for somebody, `say` tells so."""
        me = threading.get_ident()
        with self._lock:
            self._running[me] = label, time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._running.pop(me, None)
                self.done += 1

    def say(self, text: str) -> None:
        """What the step of this thread is doing now."""
        with self._lock:
            known = self._running.get(threading.get_ident())
            if known is not None:
                self._running[threading.get_ident()] = text, known[1]

    def tick(self) -> None:
        now = time.monotonic()
        if self._stream is None or now - self._started < _AFTER or now - self._shown < _EVERY:
            return
        self._shown, self._visible = now, True
        self._write(self._line(now))

    def close(self) -> None:
        if self._visible:
            self._visible = False
            self._write("")

    def _line(self, now: float) -> str:
        with self._lock:
            running = [f"{label} {now - since:.0f}s" for label, since in self._running.values()]
        text = f"iron [{self.done}/{self.total}] {', '.join(running)}"
        try:
            width = os.get_terminal_size(self._stream.fileno()).columns if self._stream else 80
        except (OSError, ValueError):
            width = 80
        return text[: (width or 80) - 1]

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(f"\r\x1b[K{text}")
            self._stream.flush()
        except (OSError, ValueError):
            self._stream = None


def _wanted() -> bool:
    """On a terminal that can go back in its line, unless IRON_PROGRESS=0."""
    if os.environ.get("IRON_PROGRESS", "") == "0" or os.environ.get("TERM", "") in ("", "dumb"):
        return False
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False
