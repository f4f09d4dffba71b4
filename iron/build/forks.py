"""Locks that a fork waits for, so that what happens under them is never half done in a child.

They are made before anything that uses them is imported: a lock registered while another thread
is already forking would be released by that fork without having been taken.
"""

from __future__ import annotations

import os
import threading

# Held while a module is imported on the way of a miss: a process forked meanwhile would wait for
# ever for a module that nobody goes on importing. Nothing else is waited for under it.
IMPORTING = threading.RLock()
# Guards SCons' module-level state; see engine.py. IMPORTING may be taken under it, not the other
# way round; a fork takes the one registered last first.
SCONS = threading.RLock()

for _lock in (IMPORTING, SCONS):
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )
