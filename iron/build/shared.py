"""A second store behind the first one: read through, written along, shared by machines or users.

`Shared` is all that a store asks of it, so that other ways to keep results (a server, an object
store) are one class each. Whatever comes from it is checked against its digests before it is
believed; whatever goes wrong with it is a miss.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .entry import Entry
    from .store import Store


class Shared(Protocol):
    """Results by key. None of these raises for a result that is not there or is damaged; an
    OSError means that the place itself cannot be used."""

    def has(self, key: str) -> bool:
        """Whether there may be a result of that name: a cheap question."""

    def get(self, key: str, directory: str) -> Entry | None:
        """Copy a result's files, checked, into a directory. ``Entry.key`` is the key it was
        built under, of which `key` may be another name."""

    def put(self, key: str, entry: Entry) -> None:
        """Keep a result, and `key` as another name of it."""


class SharedDirectory:
    """A directory laid out as a store is: any store will do. `writable=False`: only read it."""

    def __init__(self, root: str, *, writable: bool = True) -> None:
        from .store import Store

        self.root = os.path.abspath(root)
        self.writable = writable
        self._store: Store = Store(root, writable=writable)

    def __repr__(self) -> str:
        return f"SharedDirectory({self._store.root!r}, writable={self.writable})"

    def has(self, key: str) -> bool:
        """As `Shared.has`."""
        return os.path.lexists(self._store.directory(key))

    def get(self, key: str, directory: str) -> Entry | None:
        """As `Shared.get`."""
        entry = self._store.get(key)
        if entry is None:
            return None
        for name in entry.outputs:
            target = f"{directory}/{name}"
            os.makedirs(os.path.dirname(target), exist_ok=True)
            try:
                _copy(entry.path(name), target)
            except FileNotFoundError:  # taken away meanwhile
                return None
        return entry

    def put(self, key: str, entry: Entry) -> None:
        """As `Shared.put`; nothing when it is not writable."""
        if not self.writable:
            return
        if self._store.get(entry.key) is None:
            with self._store.scratch(entry.key) as scratch:
                out = f"{scratch}/out"
                os.mkdir(out)
                for name in entry.outputs:
                    os.makedirs(os.path.dirname(f"{out}/{name}"), exist_ok=True)
                    _copy(entry.path(name), f"{out}/{name}")
                outputs = tuple(entry.outputs)
                self._store.publish(entry.key, out, entry.kind, outputs, entry.notes)
        self._store.alias(key, entry.key)


def _copy(source: str, target: str) -> None:
    import shutil  # not needed for a hit

    shutil.copyfile(source, target)
    shutil.copymode(source, target)
