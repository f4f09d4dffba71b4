"""Brings a generator already loaded up to date with its edited source files.

An edit loop keeps one process alive: the file of a generator, or of a helper it calls, changes on
disk while the functions made from the old text live on. `SourceFiles` remembers the texts that
functions were loaded from and sees edits; what an edit does to what is loaded is `takeover`'s.
What cannot be taken over is a `ReloadError`, never silence.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .errors import ReloadError as ReloadError

if TYPE_CHECKING:
    from .reads import Reads

Stamp = tuple[int, int, int, int, int]
_STARTED = time.time_ns()


def stamp(path: str) -> Stamp | None:
    """What tells one state of a file from another without reading it; None when it is absent."""
    try:
        s = os.stat(path)
    except OSError:
        return None
    return (s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns)


class SourceFiles:
    """The source files of one generator, as they were when its functions were loaded.

    `paths` are read now: at the moment their functions are made.
    """

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._stamps: dict[str, Stamp | None] = {}
        self._texts: dict[str, str] = {}
        self.refreshed = False
        """Whether anything was taken over: this process is then no longer what a new one is."""
        self.refreshing = False
        for path in paths:
            self._stamps[path], self._texts[path] = stamp(path), _read(path)

    def add(self, paths: Iterable[str]) -> None:
        """Files whose functions were loaded before now. One that changed since this process
        began may not be what was loaded: all of it counts as edited."""
        for path in paths:
            if path not in self._stamps:
                now = stamp(path)
                suspect = now is not None and max(now[3:]) > _STARTED
                self._stamps[path] = None if suspect else now
                self._texts[path] = "" if suspect else _read(path)

    def edited(self) -> list[str]:
        """The files whose text is different from the one the loaded functions come from."""
        found = []
        for path, before in self._stamps.items():
            now = stamp(path)
            if now != before and now is not None:
                if _read(path) != self._texts[path]:
                    found.append(path)
                else:
                    self._stamps[path] = now
        return found

    def refresh(self, reads: Reads) -> bool:
        """Take edited files over into what `reads` names; whether there was any.

        ReloadError, naming file and reason, when that cannot be done; nothing is changed by an
        edit that does not parse.
        """
        edited = self.edited()
        if not edited:
            return False
        from .takeover import EditedFile, TakeOver

        self.refreshed = True
        stamps = {path: stamp(path) for path in edited}
        files = {p: EditedFile(p, self._texts[p], _read(p)) for p in self._stamps}
        self.refreshing = True
        try:
            TakeOver(files, reads).run()
        finally:
            self.refreshing = False
        for path in edited:
            self._stamps[path], self._texts[path] = stamps[path], files[path].text
        return True


def _read(path: str) -> str:
    """The text of a Python file in the encoding it declares, or bytes one by one of another file
    (an extension module): enough to see that it changed."""
    from importlib.util import decode_source

    try:
        with open(path, "rb") as f:
            content = f.read()
    except OSError:
        return ""
    try:
        return decode_source(content)
    except (SyntaxError, UnicodeDecodeError):
        return content.decode("latin-1")
