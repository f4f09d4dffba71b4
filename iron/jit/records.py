"""Generation records: what generators said, remembered in the store under all that they read.

A record is found by what is known before a generator runs (its code and values, compile-time
values, options, device, files). What it was seen to read beyond that while it ran, such as data
files and environment variables, is in a list of traces beside; the first trace that holds now
names the record. A generator that reads what nobody can look up again has no record, and the
reasons are told to `iron explain`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .generate import Generated
from .observed import Observation, still_hold

if TYPE_CHECKING:
    from iron.build import Session

    from .reads import Reads

KIND, TRACES = "generation", "generation-traces"
MOST_TRACES = 16
"""Of one key; a generator whose data changes more often than that forgets the oldest state."""

Part = tuple[str, str]
"""What a part of a key is called, and its text."""


def own_session() -> Session:
    """The default session. To open it reads and does what no generator has to answer for."""
    from iron.build import default_session

    from .observing import unobserved

    with unobserved():
        return default_session()


def recall(session: Session, parts: Sequence[Part], label: str) -> Generated | None:
    """What a record says, None when there is none, or none for what it read as it is now."""
    found = _read(session, parts, label, ())
    if found is not None:
        return found
    for trace in _traces(session, parts):
        if still_hold(trace):
            return _read(session, parts, label, trace)
    return None


def make(
    session: Session,
    parts: Sequence[Part],
    label: str,
    reads: Reads,
    read_again: Callable[[frozenset[str]], Reads],
    generate: Callable[[], Generated],
) -> Generated:
    """Run a generator that reads `reads`, and record what it says if that can be done.

    `read_again` gives its reads as they are now, without modules loaded meanwhile: equal ones
    mean that the generator changed nothing of what it is.
    """
    from .observing import observing

    started = time.perf_counter()
    with observing() as observer:
        made = generate()
    seconds = time.perf_counter() - started
    trace = observer.observations()
    late = read_again(observer.loaded)
    reasons = [*reads.reasons, *observer.reasons()]
    if late.text() != reads.text() or late.files != reads.files:
        reasons.append("it changed something it reads")
    made = made.having_read(trace, reasons)
    if reasons:
        why = f"not recorded: {'; '.join(reasons)}"
        keys, names = _split((*parts, *_parts_of(trace)))
        session.tell(KIND, keys, why, label=label, names=names, seconds=seconds)
        return made
    _write(session, parts, label, made, trace, seconds)
    return made


def _write(
    session: Session,
    parts: Sequence[Part],
    label: str,
    made: Generated,
    trace: Sequence[Observation],
    seconds: float,
) -> None:
    keys, names = _split((*parts, *_parts_of(trace)))
    files = {"aie.mlir": made.text, "record.json": made.to_json()}
    session.keep(KIND, keys, files, label=label, names=names, seconds=seconds)
    if trace:
        known = [t for t in _traces(session, parts) if t != list(trace)]
        traces = json.dumps([trace, *known[: MOST_TRACES - 1]], indent=1)
        session.keep(TRACES, _split(parts)[0], {"traces.json": traces})


def _read(
    session: Session, parts: Sequence[Part], label: str, trace: Sequence[Observation]
) -> Generated | None:
    keys, names = _split((*parts, *_parts_of(trace)))
    found = session.recall(KIND, keys, label=label, names=names)
    if found is None:
        return None
    try:
        with open(found.path("aie.mlir"), encoding="utf-8") as f:
            text = f.read()
        with open(found.path("record.json"), encoding="utf-8") as f:
            return Generated.from_json(text, f.read()).having_read(trace, ())
    except (OSError, ValueError, KeyError):
        return None


def _traces(session: Session, parts: Sequence[Part]) -> list[list[Observation]]:
    found = session.recall(TRACES, _split(parts)[0])
    if found is None:
        return []
    try:
        with open(found.path("traces.json"), encoding="utf-8") as f:
            return [[Observation(*o) for o in trace] for trace in json.load(f)]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _parts_of(trace: Sequence[Observation]) -> list[Part]:
    return [(o.called, f"{o.kind} {o.name} {o.state}") for o in trace]


def _split(parts: Sequence[Part]) -> tuple[list[str], list[str]]:
    return [text for _, text in parts], [name for name, _ in parts]
