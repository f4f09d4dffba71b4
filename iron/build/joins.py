"""Which threads of this process wait for the end of which others, read from their stacks.

Python keeps no record of it. Knows nothing of steps and builds.
"""

from __future__ import annotations

import sys
import threading
from types import CodeType, FrameType
from typing import Any


def waiters() -> dict[int, list[int]]:
    """For each thread that others wait for, without a limit of time, those others: in
    `Thread.join` or in `Future.result` of a ThreadPoolExecutor."""
    frames: dict[int, FrameType] = getattr(sys, "_current_frames", dict)()
    futures = sys.modules.get("concurrent.futures._base")
    pools = sys.modules.get("concurrent.futures.thread")
    result = _code(futures, "Future", "result")
    work = _code(pools, "_WorkItem", "run")
    found: dict[int, list[int]] = {}
    asked: list[tuple[object, int]] = []
    at_work: dict[int, int] = {}  # future -> thread
    for thread, frame in frames.items():
        for code, own in _calls(frame, {threading.Thread.join.__code__, result, work}):
            if code is work:
                at_work[id(getattr(own.get("self"), "future", None))] = thread
            elif own.get("timeout") is None:
                target = own.get("self")
                if code is result:
                    asked.append((target, thread))
                elif isinstance(target, threading.Thread) and target.ident is not None:
                    found.setdefault(target.ident, []).append(thread)
    for future, thread in asked:
        if id(future) in at_work:
            found.setdefault(at_work[id(future)], []).append(thread)
    return found


def _calls(frame: FrameType | None, wanted: set[Any]) -> list[tuple[CodeType, dict[str, Any]]]:
    """The calls of some functions that a stack is in, with their arguments."""
    found = []
    # A thread that goes on meanwhile may leave something else at the end (seen in CPython 3.11).
    while isinstance(frame, FrameType):
        if frame.f_code in wanted:
            found.append((frame.f_code, dict(frame.f_locals)))
        frame = frame.f_back
    return found


def _code(module: Any, class_name: str, name: str) -> Any:
    return getattr(getattr(getattr(module, class_name, None), name, None), "__code__", None)
