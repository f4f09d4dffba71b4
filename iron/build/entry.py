"""One result on disk: its files and the record that says what they must be.

The record is plain text ending in a digest of itself. A file is believed by its stat if that is
what the record says, else by its digest. Anything else is damage.
"""

from __future__ import annotations

import errno
import os
from _thread import get_ident
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .digests import Seen, Stamp, digest, hash_file, settled, stamp_of

RECORD = ".record"
_FIRST = "iron result 1"


class Damaged(Exception):
    """The text says what is wrong with the entry."""


class Entry(NamedTuple):
    """A complete result. `key` is the one it was built under, whatever name found it."""

    key: str
    directory: str
    kind: str
    outputs: Mapping[str, Seen]
    notes: Mapping[str, tuple[str, ...]]

    def path(self, output: str) -> str:
        return f"{self.directory}/{output}"


def escape(text: str) -> str:
    """One field of a line: no tab and no end of line in it."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def unescape(text: str) -> str:
    if "\\" not in text:
        return text
    pairs = {"\\": "\\", "n": "\n", "t": "\t"}
    rest = iter(text)
    return "".join(pairs[next(rest)] if char == "\\" else char for char in rest)


def write_record(
    directory: str,
    key: str,
    kind: str,
    outputs: Sequence[str],
    notes: Mapping[str, Sequence[str]],
) -> None:
    """Describe the files of a directory that nobody else knows yet, and make them read-only."""
    seen = {}
    for name in outputs:
        path = f"{directory}/{name}"
        os.chmod(path, os.stat(path).st_mode & ~0o222)
        seen[name] = Seen(*hash_file(path))
    _put_record(directory, Entry(key, directory, kind, seen, _tuples(notes)), directory)


def _tuples(notes: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(values) for name, values in notes.items()}


def _put_record(directory: str, entry: Entry, scratch: str) -> None:
    lines = [_FIRST, f"key\t{entry.key}", f"kind\t{escape(entry.kind)}"]
    for name, seen in entry.outputs.items():
        # The device is left out: it differs from mount to mount of one file system.
        lines.append("\t".join(("output", escape(name), seen.digest, *map(str, seen.stamp[1:]))))
    for name, values in entry.notes.items():
        lines.append("\t".join(("note", escape(name), *map(escape, values))))
    body = "\n".join(lines)
    data = f"{body}\n{digest(body)}\n".encode("utf-8", "surrogateescape")
    temporary = f"{scratch}/{RECORD}.{os.getpid()}.{get_ident()}"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o444)
    try:
        if os.write(fd, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), temporary)
    finally:
        os.close(fd)
    os.replace(temporary, f"{directory}/{RECORD}")


def read_record(directory: str) -> Entry:
    """Raises FileNotFoundError or NotADirectoryError if there is none, Damaged if unreadable."""
    with open(f"{directory}/{RECORD}", "rb") as file:
        text = file.read().decode("utf-8", "surrogateescape")
    body, _, check = text.rstrip("\n").rpartition("\n")
    if check != digest(body) or not body.startswith(_FIRST + "\n"):
        raise Damaged("its record is garbled")
    fields: dict[str, str] = {}
    outputs: dict[str, Seen] = {}
    notes: dict[str, tuple[str, ...]] = {}
    for line in body.split("\n")[1:]:
        what, name, *values = line.split("\t")
        if what == "output":
            ino, size, mtime, ctime = map(int, values[1:])
            outputs[unescape(name)] = Seen((0, ino, size, mtime, ctime), values[0])
        elif what == "note":
            notes[unescape(name)] = tuple(map(unescape, values))
        else:
            fields[what] = unescape(name)
    return Entry(fields["key"], directory, fields["kind"], outputs, notes)


def verify(entry: Entry, scratch: str | None) -> Entry:
    """The entry with its files' present stamps. Raises Damaged.

    What had to be read again is noted down by way of the scratch directory, if there is one.
    """
    now: dict[str, Seen] = {}
    moved = False
    for name, recorded in entry.outputs.items():
        try:
            stamp: Stamp = stamp_of(os.stat(entry.path(name)))
        except (FileNotFoundError, NotADirectoryError):
            raise Damaged(f"{name} is missing") from None
        if stamp[1:] != recorded.stamp[1:]:
            moved = True
            stamp, found = hash_file(entry.path(name))
            if found != recorded.digest:
                raise Damaged(f"{name} is not what was put there")
        now[name] = Seen(stamp, recorded.digest)
    verified = entry._replace(outputs=now)
    if moved and scratch is not None and all(settled(seen.stamp) for seen in now.values()):
        _remember(verified, scratch)
    return verified


def _remember(entry: Entry, scratch: str) -> None:
    """A linked or copied entry: next time a stat is enough again."""
    try:
        os.makedirs(scratch, exist_ok=True)
        _put_record(entry.directory, entry, scratch)
    except OSError:
        return  # a store that cannot be written is read with digests


def stamps_hold(entry: Entry) -> bool:
    """Whether a verified entry's files are untouched since."""
    try:
        return all(
            stamp_of(os.stat(entry.path(name))) == seen.stamp
            for name, seen in entry.outputs.items()
        )
    except OSError:
        return False
