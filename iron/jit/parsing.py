"""Python source as syntax trees, from any thread.

CPython 3.11 counts the depth of the tree it makes in one place for all threads, and fails with
"AST constructor recursion depth mismatch" (python/cpython issue 106905) when two make one at once.
"""

from __future__ import annotations

import ast
import os
import threading

_locks: dict[int, threading.Lock] = {}


def parse_python(text: str | bytes, path: str = "<unknown>") -> ast.Module:
    """``ast.parse``, one at a time in this process; a forked child has a lock of its own."""
    with _locks.setdefault(os.getpid(), threading.Lock()):
        return ast.parse(text, path)
