"""Looking after a store: what is in it, whether it is whole, and making room.

The least recently used results go first, never one that a living process uses, and none that was
used a moment ago. Any number of processes may build meanwhile: a result that is taken is simply
made again.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from . import decisions, leases, locks
from .digests import hash_file
from .entry import RECORD, Damaged, read_record
from .store import Store, remove

DEFAULT_BYTES = 10 * 2**30
DEFAULT_COUNT = 200_000
DEFAULT_DAYS = 90.0
# A result used within this many seconds stays, whatever the limits say.
FRESH = 600.0


class Kept(NamedTuple):
    """One result or alias as it lies in the store."""

    path: str
    key: str
    alias: bool
    used: float  # when it was last used, to an hour
    size: int


class Statistics(NamedTuple):
    """What a store holds, and what it was good for as far as the record of decisions goes."""

    results: int
    aliases: int
    size: int
    events: dict[tuple[str, str], int]  # (event, why): how often
    saved: float  # seconds that hits would have taken to make
    spent: float


class Collected(NamedTuple):
    taken: int
    freed: int
    kept: int
    size: int
    in_use: int


def kept(store: Store) -> Iterator[Kept]:
    """Every result and alias."""
    for prefix in _directories(store.root):
        if len(os.path.basename(prefix)) != 2:
            continue
        with contextlib.suppress(FileNotFoundError):
            for entry in os.scandir(prefix):
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    alias = entry.is_symlink()
                    size = 0 if alias else _size(entry.path)
                    yield Kept(entry.path, entry.name, alias, status.st_mtime, size)


def _directories(root: str) -> list[str]:
    try:
        return sorted(entry.path for entry in os.scandir(root) if entry.is_dir())
    except FileNotFoundError:
        return []


def _size(directory: str) -> int:
    total = 0
    for home, _, files in os.walk(directory):
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(f"{home}/{name}").st_size
    return total


def statistics(store: Store) -> Statistics:
    """Count what is there and what was decided."""
    results = aliases = size = 0
    for item in kept(store):
        aliases += item.alias
        results += not item.alias
        size += item.size
    events: Counter[tuple[str, str]] = Counter()
    saved = spent = 0.0
    for decision in decisions.journal(store.side("decisions")):
        why = "in this process before" if decision.event == "again" else decision.why
        event = "hit" if decision.event == "again" else decision.event
        events[event, why] += decision.times
        if event == "hit":
            saved += decision.seconds
        elif event in ("run", "failed"):
            spent += decision.seconds
    return Statistics(results, aliases, size, dict(events), saved, spent)


def verify(store: Store) -> list[str]:
    """Read everything again; what is damaged is taken away, so that it is made again when it is
    asked for. Says what was found."""
    found = []
    for item in list(kept(store)):
        problem = _problem(store, item)
        if problem:
            found.append(f"{item.path}: {problem}")
            store.discard(item.path)
    for path in _stray(store):
        found.append(f"{path}: left behind by a process that is gone")
        remove(path)
    return found


def _problem(store: Store, item: Kept) -> str | None:
    if item.alias:
        target = os.path.realpath(item.path)
        return None if os.path.isdir(target) else "another name of a result that is gone"
    try:
        entry = read_record(item.path)
        if entry.key != item.key:
            return f"it holds the result of {entry.key}"
        for name, seen in entry.outputs.items():
            if hash_file(entry.path(name))[1] != seen.digest:
                return f"{name} is not what was put there"
    except FileNotFoundError as gone:
        if not os.path.isdir(item.path):
            return None  # taken away meanwhile
        return f"{os.path.basename(gone.filename or RECORD)} is missing"
    except (Damaged, OSError, ValueError, KeyError, StopIteration) as problem:
        return str(problem) or type(problem).__name__
    return None


def _stray(store: Store) -> Iterator[str]:
    with contextlib.suppress(FileNotFoundError):
        for entry in os.scandir(store.side("tmp")):
            with contextlib.suppress(OSError):
                old = time.time() - entry.stat(follow_symlinks=False).st_mtime > 60.0
                if old and not locks.has_owner(entry.path):
                    yield entry.path


def collect(
    store: Store,
    *,
    size: int = DEFAULT_BYTES,
    count: int = DEFAULT_COUNT,
    days: float = DEFAULT_DAYS,
    fresh: float = FRESH,
) -> Collected:
    """Take the least recently used results until what is left is within the limits."""
    now = time.time()
    items = sorted(kept(store), key=lambda item: item.used, reverse=True)
    busy = leases.in_use(store.side("leases"))
    results = [item for item in items if not item.alias]
    left = total = taken = freed = held = 0
    for item in results:
        within = left < count and total + item.size <= size and now - item.used < days * 86400
        in_use = item.key in busy
        if within or in_use or now - item.used < fresh or not _take(store, item, fresh):
            left += 1
            total += item.size
            held += in_use
        else:
            taken += 1
            freed += item.size
    for item in items:
        if item.alias and not os.path.exists(item.path):
            store.discard(item.path)
    _forget_decisions(store.side("decisions"), now - days * 86400)
    return Collected(taken, freed, left, total, held)


def _take(store: Store, item: Kept, fresh: float) -> bool:
    """Take one result away, unless somebody has just begun to use it."""
    try:
        if time.time() - os.stat(item.path).st_mtime < fresh:
            return False
        if item.key in leases.in_use(store.side("leases")):
            return False
        aside = store.set_aside(item.path)
    except OSError:
        return False
    if item.key in leases.in_use(store.side("leases")):
        with contextlib.suppress(OSError):  # there is a new one already
            os.rename(aside, item.path)
            return False
    shutil.rmtree(aside, ignore_errors=True)
    return True


def _forget_decisions(directory: str, before: float) -> None:
    with contextlib.suppress(FileNotFoundError):
        for entry in os.scandir(directory):
            with contextlib.suppress(OSError):
                if not entry.name.startswith("journal") and entry.stat().st_mtime < before:
                    os.unlink(entry.path)


def collect_now_and_then(store: Store) -> None:
    """Once a day and store, whoever comes first: keep it within IRON_STORE_LIMIT (bytes, or with
    K, M, G at the end) or the default; 0 turns this off."""
    limit = size_of(os.environ.get("IRON_STORE_LIMIT", ""), DEFAULT_BYTES)
    stamp = store.side("collected")
    try:
        if limit == 0 or time.time() - os.stat(stamp).st_mtime < 86400:
            return
    except OSError:  # there is none, or something else is in its place
        with contextlib.suppress(OSError):
            os.unlink(stamp)
    with contextlib.suppress(OSError):
        new = not os.path.exists(stamp)
        with open(stamp, "w", encoding="ascii"):
            os.utime(stamp)
        if not new:  # a new store has nothing to take
            collect(store, size=limit)


def size_of(text: str, default: int) -> int:
    """Bytes from "500M", "10G" and the like. ValueError if it is none of that."""
    if not text:
        return default
    unit = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}.get(text[-1].upper(), 1)
    return int(float(text[:-1] if unit > 1 else text) * unit)
