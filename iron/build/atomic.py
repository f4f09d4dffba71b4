"""Writing a small file at once: whole or not at all, whatever dies meanwhile."""

from __future__ import annotations

import os


def write_beside(path: str, text: str) -> None:
    """Put a file in a side directory of a store. Until it is whole it lies in the store's `tmp`,
    from where the leftovers of the dead are swept. Raises OSError."""
    directory = os.path.dirname(path)
    scratch = f"{os.path.dirname(directory)}/tmp"
    os.makedirs(directory, exist_ok=True)
    os.makedirs(scratch, exist_ok=True)
    temporary = f"{scratch}/{os.path.basename(path)}.{os.getpid()}.{os.urandom(4).hex()}"
    try:
        with open(temporary, "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(text)
        os.replace(temporary, path)
    except BaseException:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        raise
