"""Reads locations, ``loc("file":1:2)`` and its kin. Of a nested one the first place counts."""

from __future__ import annotations

from .core import UNKNOWN, Location
from .lexer import Source
from .values import ValueParser


class LocationParser(ValueParser):
    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.locations: dict[str, Location] = {}

    def location(self) -> Location | None:
        """``loc(...)`` if it is next."""
        if self.texts[self.i] != "loc" or self.texts[self.i + 1] != "(":
            return None
        self.i += 2
        found = self._location_body()
        self.expect(")")
        return found

    def _location_body(self) -> Location:
        if self.kind == "str":
            file = self.string()
            if self.accept(":"):
                line = self.integer()
                self.expect(":")
                column = self.integer()
                if self.accept("to"):
                    self.accept(":")
                    self.integer()
                    if self.accept(":"):
                        self.integer()
                return Location(file, line, column)
            if self.accept("("):
                inner = self._location_body()
                self.expect(")")
                return inner
            return UNKNOWN
        if self.kind == "hash":
            word = self.texts[self.i]
            self.i += 1
            return self.locations.get(word, UNKNOWN)
        word = self.keyword()
        if word == "callsite":
            self.expect("(")
            inner = self._location_body()
            self.expect("at")
            self._location_body()
            self.expect(")")
            return inner
        if word == "fused":
            if self.kind == "<":
                self.balanced()
            return next(iter(self.items("[", "]", self._location_body)), UNKNOWN)
        return UNKNOWN
