"""Tells why something was built or found, from the record of decisions."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from . import decisions
from .decisions import Decision
from .store import Store

_EVENTS = {"hit": "found, nothing ran", "run": "made", "made": "made", "failed": "failed"}


class Unexplained(Exception):
    """There is no decision on record about what was asked; the text lists what there is."""


def explain(store: Store, target: str) -> str:
    """Why the last decision about `target` was what it was.

    `target` is a label (a kernel's file name, a design's name), a path that is among the inputs,
    a key, or "last". Raises Unexplained.
    """
    directory = store.side("decisions")
    journal = [d for d in decisions.journal(directory) if d.event != "again"]
    chosen = _choose(store, journal, target)
    if chosen is None:
        known = list(dict.fromkeys(d.label for d in reversed(journal) if d.label))[:12]
        listed = ", ".join(known) or "nothing yet"
        raise Unexplained(f"no decision about {target!r} in {store.root}; there are: {listed}")
    return "\n".join(_tell(store, journal, chosen, set()))


def _choose(store: Store, journal: Sequence[Decision], target: str) -> Decision | None:
    if target == "last":
        return journal[-1] if journal else None
    for matches in (_named, _mentioned):
        for decision in reversed(journal):
            if matches(store, decision, target):
                return decision
    return None


def _named(store: Store, decision: Decision, target: str) -> bool:
    base = os.path.basename(target)
    names = (decision.label, decision.label.removeprefix("package of "))
    return (
        target in names
        or (base != target and base in names)
        or (len(target) >= 8 and decision.key.startswith(target))
    )


def _mentioned(store: Store, decision: Decision, target: str) -> bool:
    if "/" not in target and not os.path.exists(target):
        return bool(decision.label) and target in decision.label
    path = os.path.abspath(target)
    parts = decisions.parts_of(store.side("decisions"), decision)
    return any(name == path for name, _ in parts or ())


def _tell(
    store: Store, journal: Sequence[Decision], decision: Decision, seen: set[str]
) -> list[str]:
    seen.add(decision.subject)
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(decision.when))
    how = _EVENTS.get(decision.event, decision.event)
    name = decision.label or decision.kind
    took = f" in {decision.seconds:.2f} s" if decision.event != "hit" else ""
    lines = [f"{name} ({decision.kind}): {how}{took}: {decision.why}"]
    if decision.where:
        lines.append(f"  declared at {decision.where}")
    lines.append(f"  decided at {when} by process {decision.pid}; key {decision.key}")
    directory = store.side("decisions")
    before = _previous(journal, decision)
    new = decisions.parts_of(directory, decision)
    if before is None:
        lines.append("  it was asked for the first time in this store")
        return lines
    then = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(before.when))
    if before.key == decision.key:
        lines.append(f"  every input is as it was at {then}")
        made = _maker(journal, decision)
        if made is not None and decision.event == "hit":
            lines += ["  and then", *(f"  {line}" for line in _tell(store, journal, made, seen))]
        return lines
    old = decisions.parts_of(directory, before)
    if old is None or new is None:
        lines.append(f"  its inputs at {then} are no longer on record")
        return lines
    difference = decisions.first_difference(old, new)
    lines.append(f"  the first input that differs from {then}:")
    lines.append(f"    {difference or 'none by name; the form of keys has changed'}")
    inner = _inner(journal, difference, decision)
    if inner is not None and inner.subject not in seen:
        lines += ["  which is so because of", *(f"  {line}" for line in _tell(
            store, journal, inner, seen))]  # fmt: skip
    return lines


def _previous(journal: Sequence[Decision], decision: Decision) -> Decision | None:
    """The last decision about the same subject before this one."""
    same = [d for d in journal if d.subject == decision.subject]
    position = same.index(decision)
    return same[position - 1] if position else None


def _maker(journal: Sequence[Decision], decision: Decision) -> Decision | None:
    """The decision by which the result of a hit was made, if it is on record."""
    for other in reversed(journal):
        same = (other.subject, other.key) == (decision.subject, decision.key)
        if same and other.event in ("run", "made") and other.when <= decision.when:
            return other
    return None


def _inner(
    journal: Sequence[Decision], difference: str | None, decision: Decision
) -> Decision | None:
    """The decision about the part that differs, if that is a result itself."""
    if difference is None:
        return None
    for other in reversed(journal):
        if other.when <= decision.when and other.label and difference.startswith(
            f"{other.label}: "
        ):  # fmt: skip
            return other
    for other in reversed(
        journal
    ):  # or one made on the way to it, for the same thing of the user's
        same = other.label == decision.label and other.pid == decision.pid
        if same and other.kind != decision.kind and other.when <= decision.when:
            return other
    return None
