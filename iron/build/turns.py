"""Locks of things in this process whose holders may wait for each other: a circle is told, not
waited in. Knows nothing of steps and of what the locks are for."""

from __future__ import annotations

import os
import threading
from types import TracebackType

# As in steps: when it is first looked whether a wait can end, and how soon again after a circle.
LOOK, MOMENT = 0.2, 0.03

# Which turn each thread waits for, and a thing of its own for each wait.
_waiting: dict[int, tuple[Turn, object]] = {}

os.register_at_fork(after_in_child=_waiting.clear)


class Turn:
    """A lock that its holder may take again, for ``with``. Whoever would wait for a holder that
    waits for him is given a BuildError that names the circle."""

    __slots__ = ("_acquire", "_depth", "_owner", "_release", "name", "where")

    def __init__(self, name: str, where: str = "") -> None:
        lock = threading.RLock()
        self.name, self.where = name, where
        self._acquire, self._release = lock.acquire, lock.release
        self._owner = self._depth = 0

    def __enter__(self) -> None:
        if not self._acquire(blocking=False):
            self._wait(threading.get_ident())
        self._owner = threading.get_ident()
        self._depth += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if not self._depth:
            self._owner = 0
        self._release()

    def _wait(self, me: int) -> None:
        _waiting[me] = self, object()
        seen: list[object] | None = None
        pause = LOOK
        try:
            while not self._acquire(timeout=pause):
                circle = self._circle(me)
                if circle is None:
                    seen, pause = None, LOOK
                    continue
                names, waits = circle
                if waits == seen:  # each of them waited all the while
                    from .errors import BuildError, Failure

                    chain = " -> ".join((self.name, *names, self.name))
                    reason = f"making this asks for this itself, in another thread: {chain}"
                    raise BuildError([Failure(self.name, self.where, reason)])
                seen, pause = waits, MOMENT
        finally:
            del _waiting[me]

    def _circle(self, me: int) -> tuple[list[str], list[object]] | None:
        """What the holder waits for, and so on, until it is us: the names, and the waits."""
        from . import joins

        joined: dict[int, list[int]] = {}
        for target, threads in joins.waiters().items():
            for thread in threads:
                joined.setdefault(thread, []).append(target)
        begun: tuple[list[str], list[object]] = ([], [])
        todo = [(self._owner, begun)]
        been: set[int] = set()
        while todo:
            thread, (names, waits) = todo.pop()
            if thread == me:
                return names, waits
            if thread in been:
                continue
            been.add(thread)
            todo += [(t, (names, [*waits, (thread, t)])) for t in joined.get(thread, ())]
            waiting = _waiting.get(thread)
            if waiting is not None:
                turn, wait = waiting
                todo.append((turn._owner, ([*names, turn.name], [*waits, wait])))
        return None
