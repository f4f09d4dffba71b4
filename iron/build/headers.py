"""The compiler's own headers as inputs: a name such as `<vector>` counts by the contents of all
it may include.

An upgrade of the C library or of a header-only part of the compiler changes no program, so no
identity of a tool tells it. The scanner follows a name through the compiler's directories as it
follows the user's files, conditions not evaluated; what it misses, the dependency file shows.

Found once per machine, known to all sessions of a process. A table is checked file by file when
a session first uses it and again whenever the last such look is older than `PATIENCE`; in
between, by the directories: that is how a package manager's work shows, which puts new files in
place by renaming them.
"""

from __future__ import annotations

import os
import time
from _thread import allocate_lock
from collections.abc import Iterable, Sequence

from .atomic import write_beside
from .digests import Stamp, View, digest, digest_bytes, path_stamp, read_file, settled
from .memo import Memo
from .scan import Directive, parse

# Seconds for which an edit of a system header in place may go unseen by a process at work.
PATIENCE = 2.0
# Included before the first line of every source, where it exists.
_ALWAYS = "stdc-predef.h"
_FIRST = "iron headers 1"
_NEVER = float("-inf")


class Table:
    """What is known of the headers below some directories, in one state of the disk."""

    def __init__(self, roots: tuple[str, ...]) -> None:
        self.roots = roots
        self.contents: dict[str, str] = {}  # file: digest
        self.edges: dict[str, list[str]] = {}  # file: files it may include
        self.names: dict[str, str] = {}  # name: digest of all it may include
        self.starts: dict[str, list[str]] = {}  # name: the files it may mean
        self.directories: set[str] = set(roots)
        self.stamps: dict[str, Stamp | None] = {}
        self._listed: dict[str, frozenset[str]] = {}  # directory: names in it
        self._reached: Memo[frozenset[str], frozenset[str]] = Memo(200)
        self.looked = _NEVER

    def digest(self, names: Iterable[str]) -> str:
        """What all of the names together may read."""
        return digest(*(f"{name}\0{self.name(name)}" for name in sorted({_ALWAYS, *names})))

    def name(self, name: str) -> str:
        known = self.names.get(name)
        if known is None:
            files = sorted((self._shown(path), path) for path in self._reach([name]))
            known = digest(*(f"{shown}\0{self.contents[path]}" for shown, path in files))
            self.names[name] = known
        return known

    def closure(self, names: Iterable[str]) -> frozenset[str]:
        """Every file that the names may read, by its path below a root."""
        asked = frozenset(names)
        known = self._reached.get(asked)
        if known is None:
            known = self._reached[asked] = frozenset(self._reach(asked))
        return known

    def _reach(self, names: Iterable[str]) -> set[str]:
        found: set[str] = set()
        todo: list[str] = []
        for name in (_ALWAYS, *names):
            if name not in self.starts:
                self.starts[name] = self._resolve(Directive("<", name, True, True), "")
            todo += self.starts[name]
        while todo:
            path = todo.pop()
            if path not in found:
                found.add(path)
                todo += self._includes(path)
        return found

    def _shown(self, path: str) -> str:
        for number, root in enumerate(self.roots):
            if path.startswith(root + "/"):
                return f"{number}{path[len(root) :]}"
        return path

    def _includes(self, path: str) -> list[str]:
        known = self.edges.get(path)
        if known is None:
            import hashlib  # noqa: F401 - hundreds of headers: worth loading; see digests.py

            stamp, data = read_file(path)
            parsed = parse(data)
            self.contents[path], self.stamps[path] = digest_bytes(data), stamp
            out: dict[str, None] = {}
            for directive in parsed.directives:
                if directive.form != "?":
                    out.update(dict.fromkeys(self._resolve(directive, os.path.dirname(path))))
            known = self.edges[path] = list(out)
        return known

    def _resolve(self, directive: Directive, here: str) -> list[str]:
        if directive.name.startswith("/"):
            return []
        places = (here, *self.roots) if directive.form == '"' and here else self.roots
        above, _, name = directive.name.rpartition("/")
        plain = "." not in above and "//" not in above
        out = []
        for place in places:
            directory = f"{place}/{above}" if above else place
            if not plain:
                directory = os.path.normpath(directory)
            if name in self._names(directory):
                path = f"{directory}/{name}"
                if os.path.isfile(path):
                    out.append(path)
                    if not directive.everywhere:
                        break
        return out

    def _names(self, directory: str) -> frozenset[str]:
        """What lies in a directory, looked at once; its stamp tells whether that still holds."""
        if directory not in self._listed:
            try:
                self._listed[directory] = frozenset(os.listdir(directory))
                self.directories.add(directory)
            except OSError:
                self._listed[directory] = frozenset()
                self._watch(os.path.dirname(directory))
        return self._listed[directory]

    def _watch(self, directory: str) -> None:
        while directory not in self.directories:
            if os.path.isdir(directory):
                self.directories.add(directory)
                return
            directory = os.path.dirname(directory)

    # ---------------------------------------------------------------- does it still hold

    def holds(self, view: View) -> bool:
        """Whether the disk is as it was. The directories' stamps go into the view."""
        now = time.monotonic()
        thorough = now - self.looked > PATIENCE
        for path in [*self.directories, *(self.contents if thorough else ())]:
            stamp = path_stamp(path)
            if self.stamps.setdefault(path, stamp) != stamp:
                return False
            if path in self.directories:
                view.stamps[path] = stamp
        if thorough:
            self.looked = now
        return True

    def settled(self) -> bool:
        return all(stamp is None or settled(stamp) for stamp in self.stamps.values())

    # ---------------------------------------------------------------- on disk

    def text(self) -> str:
        numbers = {path: str(number) for number, path in enumerate(self.contents)}

        def listed(paths: Sequence[str]) -> str:
            return ",".join(numbers[p] for p in paths if p in numbers)

        lines = [_FIRST, self._stamps_digest(self.contents)]
        lines += [f"d\t{path}" for path in sorted(self.directories)]
        for path, content in self.contents.items():
            lines.append(f"f\t{path}\t{content}\t{listed(self.edges[path])}")
        for name, content in self.names.items():
            lines.append(f"n\t{name}\t{content}\t{listed(self.starts[name])}")
        body = "\n".join(lines)
        return f"{body}\n{digest(body)}\n"

    def stamp_all(self, files: Iterable[str] = ()) -> None:
        """What was looked at, as it is now, if its stamp was not taken when it was read."""
        for path in (*files, *self.directories):
            if path not in self.stamps:
                self.stamps[path] = path_stamp(path)

    def _stamps_digest(self, files: Iterable[str]) -> str:
        paths = [*files, *sorted(self.directories)]
        self.stamp_all(paths)
        return digest(repr([self.stamps[path] for path in paths]))

    @classmethod
    def read(cls, roots: tuple[str, ...], text: str) -> Table | None:
        """From `text()`, if every file and directory is as it was then."""
        body, _, check = text.rstrip("\n").rpartition("\n")
        lines = body.split("\n")
        if check != digest(body) or lines[0] != _FIRST:
            return None
        table = cls(roots)
        rows = [line.split("\t") for line in lines[2:]]
        table.directories = {row[1] for row in rows if row[0] == "d"}
        files = [row[1] for row in rows if row[0] == "f"]
        if table._stamps_digest(files) != lines[1]:
            return None
        for kind, name, *rest in rows:
            if kind == "d":
                continue
            listed = [files[int(number)] for number in rest[1].split(",") if number]
            if kind == "f":
                table.contents[name], table.edges[name] = rest[0], listed
            else:
                table.names[name], table.starts[name] = rest[0], listed
        table.looked = time.monotonic()
        return table


# What this process knows, by roots. Tables are read and completed by one thread at a time: two
# would read the same hundreds of headers.
_tables: dict[tuple[str, ...], Table] = {}
_looking = allocate_lock()


def _after_fork() -> None:
    """Another thread of the parent may have been in the middle of a table."""
    global _looking
    if _looking.locked():
        _tables.clear()
    _looking = allocate_lock()


os.register_at_fork(after_in_child=_after_fork)


class Headers:
    """A session's way to the tables, which are kept in a directory of its store."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._kept: dict[tuple[str, ...], int] = {}  # how many names are in the store, by roots

    def table(self, roots: tuple[str, ...], view: View) -> Table:
        """A table that holds now; the view's watchers will know when it no longer does."""
        with _looking:
            table = _tables.get(roots)
            if table is None:
                table = self._load(roots)
            elif roots not in self._kept:
                table.looked = _NEVER  # a new session looks at every file
            self._kept.setdefault(roots, 0)
            if table is None or not table.holds(view):
                table = Table(roots)
                table.holds(view)
            _tables[roots] = table
            return table

    def stand(self, tables: Iterable[Table], view: View) -> bool:
        """Whether these still hold, files included that were not looked at of late. The stamps of
        the directories go into the view."""
        with _looking:
            return all(table.holds(view) for table in tables)

    def digest(self, table: Table, names: Iterable[str], view: View) -> str:
        """As `Table.digest`; what had to be looked for is remembered."""
        with _looking:
            before = len(table.names)
            try:
                found = table.digest(names)
            except OSError:  # a package manager is at work
                _forget(table)
                raise
            if len(table.names) != before:
                table.stamp_all()
                for directory in table.directories:
                    view.stamps[directory] = table.stamps[directory]
                if not table.settled():  # seen too soon after it was written: for this request
                    _forget(table)
                    return found
            if _tables.get(table.roots) is table and self._kept[table.roots] != len(table.names):
                self._kept[table.roots] = len(table.names)
                self._save(table.roots, table.text())
            return found

    def _file(self, roots: tuple[str, ...]) -> str:
        return os.path.join(self._directory, digest("headers", *roots))

    def _load(self, roots: tuple[str, ...]) -> Table | None:
        try:
            with open(self._file(roots), encoding="utf-8", errors="surrogateescape") as stream:
                table = Table.read(roots, stream.read())
        except (OSError, ValueError, IndexError):
            return None
        if table is not None:
            self._kept[roots] = len(table.names)
        return table

    def _save(self, roots: tuple[str, ...], text: str) -> None:
        try:
            write_beside(self._file(roots), text)
        except OSError:
            return  # only a memo


def _forget(table: Table) -> None:
    if _tables.get(table.roots) is table:
        del _tables[table.roots]
