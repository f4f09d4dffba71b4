"""What a fork waits for, so that nothing is half done in a child.

A module that another thread was importing would never be there in a child: whoever imports it
there waits for ever for a thread that is gone. So a fork waits until no other thread imports
anything, ours or not, and nobody begins meanwhile. The locks are made before anything that uses
them is imported: a lock registered while another thread is already forking would be released by
that fork without having been taken.
"""

from __future__ import annotations

import _imp
import os
import sys
import threading
import time
from typing import Any

# Held while a module is imported on the way of a miss. Nothing else is waited for under it.
IMPORTING = threading.RLock()
# Guards SCons' module-level state; see engine.py. IMPORTING may be taken under it, not the other
# way round.
SCONS = threading.RLock()

# A program may run within an import for as long as it lives: no import is waited for longer than
# this, and not again.
PATIENCE = 2.0
_given_up: set[int] = set()


def _before() -> None:
    until = time.monotonic() + PATIENCE
    while True:
        _take()
        others = _imports_of_others()
        if not others:
            return
        if time.monotonic() > until:
            _given_up.update(others)
            return
        _release()
        time.sleep(0.001)


def _take() -> None:
    SCONS.acquire()
    IMPORTING.acquire()
    _imp.acquire_lock()  # without it no import begins


def _release() -> None:
    _imp.release_lock()
    IMPORTING.release()
    SCONS.release()


def _imports_of_others() -> set[int]:
    """The locks of modules that other threads are importing."""
    bootstrap: Any = sys.modules.get("importlib._bootstrap") or sys.modules["_frozen_importlib"]
    me = threading.get_ident()
    held = [made() for made in list(getattr(bootstrap, "_module_locks", {}).values())]
    found = {id(lock) for lock in held if getattr(lock, "owner", None) not in (None, me)}
    _given_up.intersection_update(map(id, held))
    return found - _given_up


os.register_at_fork(before=_before, after_in_parent=_release, after_in_child=_release)
