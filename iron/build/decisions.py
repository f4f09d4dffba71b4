"""What was decided about each result, and why, written down when it was decided.

    <store>/decisions/journal     one line a decision: when, who, what, under which key, why
    <store>/decisions/<name>      what went into the key, once for each subject and key
    <store>/decisions/totals      what lines that have been dropped added up to

A *subject* is what a person asks about: this kernel, that design; it keeps its name while its
inputs change. `explain.py` tells people; nothing of a build depends on this record, and what
cannot be written is not.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .atomic import write_beside
from .digests import digest
from .entry import escape, unescape

JOURNAL_BYTES = 2_000_000
# Seconds between two lines about hits that this process has told of before.
_EVERY = 5.0
# A part of a key is kept as text up to this length, then as its digest.
_LONGEST = 20_000

Parts = list[tuple[str, str]]  # what it is called, and its value, in the order of the key


class Subject(NamedTuple):
    """What a decision is about."""

    kind: str
    label: str
    about: str  # the first input's path, or what else tells it from others of that label

    @property
    def name(self) -> str:
        return digest("subject", *self)[:20]


class Decision(NamedTuple):
    """One line of the journal."""

    when: float
    pid: int
    # hit, run, failed, made (several commands), again (hits told of before: so many `times`)
    event: str
    subject: str
    key: str
    seconds: float  # that it took, or for a hit that were saved
    times: int
    kind: str
    label: str
    where: str
    why: str


class Decisions:
    """One session's part of the record. Hits are told once per process and key."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self._told: set[tuple[Subject, str]] = set()
        self._named: set[tuple[object, str]] = set()  # the same, by who asked
        self._again = 0
        self._saved = 0.0
        self._flushed = time.monotonic()
        self._lines: list[str] = []
        self._held = 0

    def told(self, asked: object, key: str, saved: float) -> bool:
        """Whether a hit of this very request was told of before; if so it is counted."""
        if (asked, key) not in self._named:
            if len(self._named) > 20_000:
                self._named.clear()
            self._named.add((asked, key))
            return False
        self.count(1, saved)
        return True

    def count(self, times: int, saved: float) -> None:
        """So many hits that were told of before, and what they saved in all."""
        self._again += times
        self._saved += saved
        if time.monotonic() - self._flushed > _EVERY:
            self.flush()

    def hit(
        self,
        subject: Subject,
        key: str,
        why: str,
        saved: float,
        where: str,
        parts: Callable[[], Parts],
    ) -> None:
        if (subject, key) in self._told:
            self.count(1, saved)
            return
        if len(self._told) > 20_000:
            self._told.clear()
        self._told.add((subject, key))
        self.add("hit", subject, key, why, saved, where, parts)

    def add(
        self,
        event: str,
        subject: Subject,
        key: str,
        why: str,
        seconds: float,
        where: str,
        parts: Callable[[], Parts],
    ) -> None:
        """Write a decision down, with what went into its key if that is not known yet."""
        if event == "made":
            self._told.add((subject, key))  # that this process finds it again is not news
        # An input may be gone meanwhile: the line is still worth writing.
        with contextlib.suppress(Exception):
            self._keep(subject, key, parts)
        decision = Decision(
            time.time(), os.getpid(), event, subject.name, key, seconds, 1,
            subject.kind, subject.label, where, why,
        )  # fmt: skip
        self._lines.append(_line(decision))
        self.flush()

    def flush(self) -> None:
        lines, self._lines = self._lines, []
        if self._again:
            again = Decision(
                time.time(), os.getpid(), "again", "", "", self._saved, self._again, "", "", "", ""
            )
            lines.append(_line(again))
            self._again, self._saved = 0, 0.0
        self._flushed = time.monotonic()
        if lines:
            _append(self.directory, "".join(lines))

    def _keep(self, subject: Subject, key: str, parts: Callable[[], Parts]) -> None:
        path = _parts_file(self.directory, subject.name, key)
        if os.path.exists(path):
            return
        rows = (f"{escape(name)}\t{escape(_bounded(value))}" for name, value in parts())
        body = "\n".join(rows)
        write_beside(path, f"{body}\n{digest(body)}\n")


def _bounded(value: str) -> str:
    return value if len(value) <= _LONGEST else f"digest {digest(value)}"


def _parts_file(directory: str, subject: str, key: str) -> str:
    return f"{directory}/{digest('parts', subject, key)}"


def _line(decision: Decision) -> str:
    return "\t".join(escape(str(value)) for value in decision) + "\n"


def _append(directory: str, text: str) -> None:
    path = f"{directory}/journal"
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    try:
        try:
            fd = os.open(path, flags, 0o666)
        except FileNotFoundError:
            os.makedirs(directory, exist_ok=True)
            fd = os.open(path, flags, 0o666)
        try:
            size = os.fstat(fd).st_size
            os.write(fd, text.encode("utf-8", "surrogateescape"))
        finally:
            os.close(fd)
        if size > JOURNAL_BYTES:
            os.replace(path, f"{path}.old")  # what the old one held is forgotten, but for totals
    except OSError:
        return


# ------------------------------------------------------------------ reading


def journal(directory: str) -> list[Decision]:
    """All decisions on record, oldest first; lines that cannot be read are passed over."""
    out = []
    for name in ("journal.old", "journal"):
        try:
            with open(
                f"{directory}/{name}", encoding="utf-8", errors="surrogateescape", newline="\n"
            ) as stream:
                lines = stream.read().split("\n")
        except OSError:
            continue
        for line in lines:
            fields = [unescape(field) for field in line.split("\t")]
            try:
                when, pid, event, subject, key, seconds, times, *rest = fields
                kind, label, where, why = rest
                out.append(
                    Decision(
                        float(when), int(pid), event, subject, key, float(seconds), int(times),
                        kind, label, where, why,
                    )
                )  # fmt: skip
            except ValueError:
                continue
    return out


def parts_of(directory: str, decision: Decision) -> Parts | None:
    """What went into a decision's key; None if that is not on record."""
    path = _parts_file(directory, decision.subject, decision.key)
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as stream:
            body, _, check = stream.read().rstrip("\n").rpartition("\n")
    except OSError:
        return None
    if check != digest(body):
        return None
    rows = [line.split("\t") for line in body.split("\n") if "\t" in line]
    return [(unescape(name), unescape(value)) for name, value in rows]


def first_difference(old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]) -> str | None:
    """The first part of a key that differs, old and new, as text; None if none does."""
    before, after = dict(old), dict(new)
    for name, value in new:
        if name not in before:
            return f"{name}: was not an input -> {_short(value)}"
        if before[name] != value:
            return _changed(name, before[name], value)
    for name, value in old:
        if name not in after:
            return f"{name}: {_short(value)} -> no longer an input"
    return None


def _changed(name: str, old: str, new: str) -> str:
    """Of texts of several lines, the first line that differs."""
    ours, theirs = old.split("\n"), new.split("\n")
    if len(ours) > 1 or len(theirs) > 1:
        missing = [line for line in theirs if line not in ours]
        gone = [line for line in ours if line not in theirs]
        old = gone[0] if gone else "(nothing)" if missing else "another order"
        new = missing[0] if missing else "(nothing)" if gone else "this order"
    return f"{name}: {_short(old)} -> {_short(new)}"


def _short(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:300]}... ({len(text)} characters)"
