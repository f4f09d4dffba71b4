"""Directories that are there, and small files written at once: whole or not at all, whatever dies
meanwhile."""

from __future__ import annotations

import contextlib
import os
import time

# A half-made file next to the one it was to become belongs to somebody dead when it is older.
STALE_SECONDS = 60.0
_MARK = ".iron-new."


def ensure_directory(path: str) -> None:
    """Make it, and all above, if it is not there, as nearly always it is. Raises OSError."""
    if not os.path.isdir(path):
        os.makedirs(path, exist_ok=True)


def write_beside(path: str, text: str) -> None:
    """Put a file in a side directory of a store. Until it is whole it lies in the store's `tmp`,
    from where the leftovers of the dead are swept. Raises OSError."""
    directory = os.path.dirname(path)
    scratch = f"{os.path.dirname(directory)}/tmp"
    ensure_directory(directory)
    ensure_directory(scratch)
    temporary = f"{scratch}/{os.path.basename(path)}.{os.getpid()}.{os.urandom(4).hex()}"
    try:
        with open(temporary, "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(text)
        os.replace(temporary, path)
    except BaseException:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        raise


def name_beside(path: str) -> str:
    """Where a file of the user's lies until it is whole: next to its place."""
    return f"{os.path.dirname(path)}/{_MARK}{os.getpid()}.{os.urandom(4).hex()}"


def sweep(directory: str) -> None:
    """Remove what has been left under such names by processes that were killed."""
    before = time.time() - STALE_SECONDS
    with contextlib.suppress(OSError):
        for entry in os.scandir(directory):
            if entry.name.startswith(_MARK):
                with contextlib.suppress(OSError):
                    # Not the time of writing: it may be a link to what was written long ago.
                    if entry.stat(follow_symlinks=False).st_ctime < before:
                        os.unlink(entry.path)
