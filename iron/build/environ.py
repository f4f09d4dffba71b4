"""The environment commands run in: only what is declared, so nothing else can enter a result."""

from __future__ import annotations

import os
from collections.abc import Iterable

# The directories every Unix has; what a compiler driver finds there is part of its identity.
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
# Set for every command: a build that one of them starts has a slot of the machine already.
WITHIN = "IRON_WITHIN_BUILD"
_LAUNCHERS_VARIABLES = ("CCACHE_", "SCCACHE_", "DISTCC_", "ICECC_", "BUILDCACHE_")
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
        WITHIN: "1",
        **dict(declared),
    }


def launcher() -> tuple[str, ...]:
    """The words of IRON_CXX_LAUNCHER, its program found: `ccache`, `distcc`, `sccache` or the like,
    which runs the compiler it is given. It is in no key: it must not change results.

    Raises FileNotFoundError if there is no such program.
    """
    named = os.environ.get("IRON_CXX_LAUNCHER", "")
    if not named.strip():
        return ()
    import shlex
    import shutil

    program, *rest = shlex.split(named)
    found = shutil.which(program)
    if found is None:
        raise FileNotFoundError(f"IRON_CXX_LAUNCHER={named}: no program {program!r}")
    return (os.path.abspath(found), *rest)


def for_launcher(scrubbed: dict[str, str]) -> dict[str, str]:
    """What a launcher is told besides: its own variables and where its user's files are."""
    own = {k: v for k, v in os.environ.items() if k.startswith(_LAUNCHERS_VARIABLES)}
    home = {k: os.environ[k] for k in ("HOME", "XDG_CACHE_HOME") if k in os.environ}
    return {k: v for k, v in {**home, **own}.items() if k == "HOME" or k not in scrubbed}


def job_count() -> int:
    """IRON_JOBS, else the processors this process may use."""
    named = os.environ.get("IRON_JOBS", "")
    if named.isdigit() and int(named) > 0:
        return int(named)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
