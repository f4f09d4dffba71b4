"""The build log: one JSON line per command run and per hit, for tests and for people.

`IRON_BUILD_LOG` names the file, read at each event. A line is one write to a file opened for
appending, so any number of processes may share it. Nothing is imported when it is not set.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

# The variable that says where the log is.
NAMED_BY = "IRON_BUILD_LOG"


def record(
    event: str,
    kind: str,
    key: str,
    *,
    argv: Sequence[str] = (),
    seconds: float = 0.0,
    status: int = 0,
    why: str = "",
    label: str = "",
) -> None:
    """Append one event: "run" (a command ran), "hit" (a result was there), "ask" (the compiler
    was asked which files it would read)."""
    path = os.environ.get(NAMED_BY)
    if not path:
        return
    import json

    line = json.dumps(
        {
            "event": event,
            "kind": kind,
            "key": key,
            "argv": list(argv),
            "seconds": round(seconds, 6),
            "status": status,
            "why": why,
            "label": label,
            "pid": os.getpid(),
        }
    )
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        os.write(fd, line.encode() + b"\n")
    finally:
        os.close(fd)
