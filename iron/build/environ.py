"""The environment commands run in: only what is declared, so nothing else can enter a result."""

from __future__ import annotations

import os
from collections.abc import Iterable

# The directories every Unix has; what a compiler driver finds there is part of its identity.
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
# Any constant does; 1980-01-01 is the first day zip archives can name.
SOURCE_DATE_EPOCH = "315532800"


def scrubbed(
    program: str, work_directory: str, declared: Iterable[tuple[str, str]] = ()
) -> dict[str, str]:
    """The whole environment of one command. Temporary files go to its work directory."""
    directory = os.path.dirname(program)
    search = SYSTEM_PATH
    if directory not in SYSTEM_PATH.split(":"):
        search = f"{directory}:{SYSTEM_PATH}"
    return {
        "PATH": search,
        "LC_ALL": "C",
        "SOURCE_DATE_EPOCH": SOURCE_DATE_EPOCH,
        "TMPDIR": work_directory,
        "HOME": work_directory,
        **dict(declared),
    }
