"""What stood when the named targets of a project were last checked: one file a project.

It holds traces of keys and, for each target that had the bytes of its result, its stamp then. Like
a version control system's index it is believed by stamp, and only for files that had been left
alone for a while when they were looked at. It is a memo: damaged, missing or out of date it costs
time and nothing else. Knows nothing of SCons.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from .atomic import write_beside
from .digests import Digests, Seen, Stamp, digest, settled
from .traces import Name, System, Trace

_FIRST = "iron standing 1"

T = TypeVar("T")


class Delivered(NamedTuple):
    """A target that had the bytes of an output of the result of a leaf key."""

    key: str
    output: str
    stamp: Stamp


class Standing(NamedTuple):
    """`used` is when the store was last asked for all of the results."""

    traces: Mapping[Name, Trace]
    delivered: Mapping[str, Delivered]
    used: float


NOTHING = Standing({}, {}, 0.0)


def read(path: str, memory: Digests) -> Standing:
    """As it was written, NOTHING if there is none that can be read. `memory` gets to know the
    files."""
    import json

    try:
        with open(path, encoding="ascii") as stream:
            first, check, body = stream.read().split("\n", 2)
        if first != _FIRST or check != digest(body):
            return NOTHING
        data = json.loads(body)
    except (OSError, ValueError):
        return NOTHING
    files = [_file(row) for row in data["files"]]
    for name, seen in files:
        if seen is not None:
            memory.learn(name, seen)
    places: list[tuple[str, Stamp | None]] = [(row[0], _stamp(row[1:])) for row in data["places"]]
    systems = [System(tuple(r), frozenset(n), d) for r, n, d in data["systems"]]
    commands = [(program, text, tuple(dirs)) for program, text, dirs in data["commands"]]
    traces = {}
    for command, inputs, key, tool, seen_files, listed, memos, system in data["traces"]:
        program, text, directories = commands[command]
        traces[program, text, tuple(inputs), directories] = Trace(
            key,
            tool,
            tuple([files[i] for i in seen_files]),
            tuple([places[i] for i in listed]),
            tuple([places[i] for i in memos]),
            None if system < 0 else systems[system],
        )
    delivered = {
        path: Delivered(key, output, tuple(stamp)) for path, key, output, stamp in data["delivered"]
    }
    return Standing(traces, delivered, data["used"])


def _file(row: list[Any]) -> tuple[str, Seen | None]:
    return (row[0], Seen(tuple(row[2:]), row[1]) if len(row) > 1 else None)


def _stamp(row: list[Any]) -> Stamp | None:
    return tuple(row) if row else None


def write(path: str, standing: Standing) -> None:
    """Only what can be believed by stamp. What cannot be written is not."""
    import json

    table = _Table()
    for name, trace in standing.traces.items():
        if all(seen is None or settled(seen.stamp) for _, seen in trace.files):
            table.add(name, trace)
    delivered = [
        (path, item.key, item.output, item.stamp)
        for path, item in standing.delivered.items()
        if settled(item.stamp)
    ]
    body = json.dumps({**table.data(), "delivered": delivered, "used": standing.used})
    try:
        write_beside(path, f"{_FIRST}\n{digest(body)}\n{body}")
    except OSError:
        return


class _Table:
    """Traces as rows of numbers: what many of them have in common is said once."""

    def __init__(self) -> None:
        self._files: dict[tuple[str, Seen | None], int] = {}
        self._places: dict[tuple[str, Stamp | None], int] = {}
        self._systems: dict[System, int] = {}
        self._commands: dict[tuple[str, str, tuple[str, ...]], int] = {}
        self._traces: list[list[Any]] = []

    def add(self, name: Name, trace: Trace) -> None:
        program, text, inputs, directories = name
        self._traces.append(
            [
                _number(self._commands, (program, text, directories)),
                inputs,
                trace.key,
                trace.tool,
                [_number(self._files, file) for file in trace.files],
                [_number(self._places, place) for place in trace.places],
                [_number(self._places, place) for place in trace.memos],
                -1 if trace.system is None else _number(self._systems, trace.system),
            ]
        )

    def data(self) -> dict[str, Any]:
        return {
            "files": [
                [path] if seen is None else [path, seen.digest, *seen.stamp]
                for path, seen in self._files
            ],
            "places": [[path, *(stamp or ())] for path, stamp in self._places],
            "systems": [[s.roots, sorted(s.names), s.digest] for s in self._systems],
            "commands": list(self._commands),
            "traces": self._traces,
        }


def _number(known: dict[T, int], item: T) -> int:
    return known.setdefault(item, len(known))
