"""Cuts MLIR text into tokens, once, with one regular expression.

Knows no grammar. A token's kind is ``id``, ``ssa``, ``sym``, ``block``, ``hash``, ``bang``,
``dims`` (``4x?x`` after a ``<``), ``int``, ``hex``, ``float``, ``str``, ``end``, ``bad``, or the
punctuation itself.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from .core import Location

_STRING = r'"(?:[^"\\\n]|\\.)*"'
_KINDS = (
    ("id", r"[A-Za-z_][\w$.]*"),
    ("ssa", r"%(?:\d+|[A-Za-z_$.\-][\w$.\-]*)(?:\#\d+)?"),
    ("", r"->|::|\.\.\.|\{(?!-\#)|[()\[\]}<>,:=+*|/]"),
    ("dims", r"(?<=<)(?<!dense<)(?:(?:\d+|\?)x)+(?=[!A-Za-z(])"),
    ("hex", r"-?0x[0-9A-Fa-f]+"),
    ("float", r"-?\d+\.\d*(?:[eE][+\-]?\d+)?"),
    ("int", r"-?\d+"),
    ("sym", rf"@(?:[A-Za-z_][\w$.\-]*|\d+|{_STRING})"),
    ("str", _STRING),
    ("block", r"\^[\w$.\-]+"),
    ("hash", r"\#(?:[A-Za-z_][\w$.]*|\d+)"),
    ("bang", r"!(?:[A-Za-z_][\w$.]*|\d+)"),
    ("resources", r"\{-\#.*?\#-\}"),
    ("", r"[?\-]"),
    ("end", r"\Z"),
    ("bad", r"."),
)
_NAMES = ("", *(name for name, _ in _KINDS))
_TOKEN = re.compile(
    r"(?:[ \t\r\n]+|//[^\n]*)*(?:" + "|".join(f"({pattern})" for _, pattern in _KINDS) + ")",
    re.DOTALL,
)


class ParseError(ValueError):
    """The text is not MLIR this package reads: place, line, caret and what was expected."""

    def __init__(self, message: str, location: Location, line: str = "") -> None:
        caret = " " * (location.column - 1) + "^"
        shown = f"\n  {line}\n  {caret}" if line else ""
        super().__init__(f"{location.file}:{location.line}:{location.column}: {message}{shown}")
        self.location = location
        self.message = message


class Source:
    """A text, its name, its tokens and where its lines start."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.kinds: list[str] = []
        self.texts: list[str] = []
        self.starts: list[int] = []
        self._lines: list[int] = []
        self._cut()

    def _cut(self) -> None:
        kinds, texts, starts = self.kinds, self.texts, self.starts
        for m in _TOKEN.finditer(self.text):
            index = m.lastindex or 0
            word = m[index]
            kinds.append(_NAMES[index] or word)
            texts.append(word)
            starts.append(m.start(index))
        if not kinds or kinds[-1] != "end":
            kinds.append("end")
            texts.append("")
            starts.append(len(self.text))

    def location(self, offset: int) -> Location:
        if not self._lines:
            self._lines = [0, *(m.end() for m in re.finditer("\n", self.text))]
        line = bisect_right(self._lines, offset)
        return Location(self.file, line, offset - self._lines[line - 1] + 1)

    def error(self, message: str, offset: int) -> ParseError:
        where = self.location(offset)
        start = self._lines[where.line - 1]
        line = self.text[start:].partition("\n")[0].replace("\t", " ")
        return ParseError(message, where, line)


_ESCAPE = re.compile(rb'\\(["\\nt]|[0-9A-Fa-f]{2})')
_ESCAPED = {b'"': b'"', b"\\": b"\\", b"n": b"\n", b"t": b"\t"}


def unquoted(text: str) -> str:
    """The value of a string literal given with its quotes."""
    body = text[1:-1]
    if "\\" not in body:
        return body

    def plain(m: re.Match[bytes]) -> bytes:
        word = m[1]
        return _ESCAPED.get(word) or bytes([int(word, 16)])

    raw = _ESCAPE.sub(plain, body.encode("utf-8", "surrogateescape"))
    return raw.decode("utf-8", "surrogateescape")
