"""Timing on a machine that others use too.

Sides take turns, so that a busy moment hits all of them; the best of several rounds is reported,
as wall time and as CPU time of the process and its children. Ratios of CPU time are the ones to
trust when the wall says otherwise.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Cost(NamedTuple):
    """Seconds."""

    wall: float
    cpu: float


def user_environment(directory: Path, **own: str) -> dict[str, str]:
    """This process' environment as a user has it: nothing of ours or of make's is set, and byte
    code is kept (below `directory` where it is not to be written beside the sources)."""
    drop = ("IRON_", "NPU_", "MAKE", "PYTHONDONTWRITEBYTECODE")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(drop)}
    if os.environ.get("PYTHONDONTWRITEBYTECODE"):
        kept["PYTHONPYCACHEPREFIX"] = str(directory / "pycache")
    return {**kept, **own}


Action = Callable[[], Cost]


def cpu_now() -> float:
    """CPU seconds of this process and its ended children."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def in_process(action: Callable[[], object]) -> Cost:
    """The cost of a call here; commands it runs count."""
    cpu, wall = cpu_now(), time.perf_counter()
    action()
    return Cost(time.perf_counter() - wall, cpu_now() - cpu)


class CommandError(Exception):
    """A measured command failed; the text is all it printed."""


def process(command: Sequence[str | Path], directory: Path, environment: Mapping[str, str]) -> Cost:
    """The cost of a process and everything it runs. Raises CommandError."""
    with open(directory / "printed.txt", "w+b") as printed:
        wall = time.perf_counter()
        child = subprocess.Popen(
            list(map(str, command)),
            cwd=directory,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
        )
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - wall
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            printed.seek(0)
            text = printed.read().decode(errors="replace")
            raise CommandError(f"{' '.join(map(str, command))}: {child.returncode}\n{text}")
    return Cost(wall, usage.ru_utime + usage.ru_stime)


def best(costs: Sequence[Cost]) -> Cost:
    return Cost(min(cost.wall for cost in costs), min(cost.cpu for cost in costs))


def in_turns(
    actions: Mapping[str, Action],
    rounds: int,
    before: Callable[[str, int], None] = lambda side, number: None,
) -> dict[str, Cost]:
    """The best cost of each action; `before` prepares one, untimed."""
    costs: dict[str, list[Cost]] = {name: [] for name in actions}
    for number in range(rounds):
        for name, action in actions.items():
            before(name, number)
            costs[name].append(action())
    return {name: best(found) for name, found in costs.items()}


class Row(NamedTuple):
    """One line of the report. `against` names what `ratio` is relative to; `target` is what is
    asked for, as text."""

    what: str
    cost: str
    ratio: str = ""
    target: str = ""


def table(title: str, rows: Sequence[Row], head: Row) -> str:
    """Aligned columns."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(4)]
    lines = [title, "-" * len(title)]
    for row in (head, *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def milliseconds(seconds: float) -> str:
    value = seconds * 1000
    return f"{value:.2f} ms" if value < 10 else f"{value:.0f} ms"
