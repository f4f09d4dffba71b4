"""Which files a C or C++ source may include, without running a preprocessor.

Conditions are not evaluated, so the answer is a superset of what is read. Every directive's
resolution is kept, so that a header that newly shadows another one changes the answer. What
cannot be followed (`#include MACRO`) is said to be opaque. Knows nothing of keys or SCons.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from .digests import View, digest_bytes
from .errors import InputChanged
from .memo import Memo

# One of these is in every directive. Looking for them is many times faster than trying every line.
_WORDS = (b"include", b"import", b"embed")


@cache
def _pattern(name: str) -> re.Pattern[bytes]:
    """By name, compiled when a text needs it: most need none."""
    gap = rb"(?:[ \t\f\v]|/\*(?:[^*\n]|\*(?!/))*\*/)*"
    if name == "directive":
        return re.compile(
            gap + rb"(?:\#|%:|\?\?=)" + gap + rb"(include_next|include|import|embed)\b" + gap +
            rb'(?:"([^"\n]+)"|<([^>\n]+)>|([A-Za-z_][^\n]*))'
        )  # fmt: skip
    if name == "query":
        return re.compile(
            rb"__has_(include_next|include|embed)\s*\(\s*"
            rb'(?:"([^"\n]+)"|<([^>\n]+)>|([A-Za-z_]\w*))'
        )
    if name == "splice":
        return re.compile(rb"\\[ \t]*\r?\n")
    if name == "trigraph splice":
        return re.compile(rb"\?\?/[ \t]*\r?\n")
    if name == "comment":
        return re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)
    return re.compile(rb'\.incbin\b(?:\s+\\?"([^"\\\n]+)\\?")?')


class Directive(NamedTuple):
    """One `#include` or query as written. `form` is `"`, `<`, or `?` for a macro."""

    form: str
    name: str
    everywhere: bool  # include_next: any directory's file of that name may be meant
    parse: bool  # False for embedded data


class Parsed(NamedTuple):
    """What one file's text says, whatever directory it lies in."""

    directives: tuple[Directive, ...]
    tells_time: bool  # __TIMESTAMP__: its own modification time is part of the result
    incbin: tuple[str, ...]  # files that assembly pulls in; "" where the name is not a literal


def parse(data: bytes) -> Parsed:
    text = _pattern("trigraph splice").sub(b"", data) if b"??/" in data else data
    text = _pattern("splice").sub(b"", text) if b"\\" in text else text
    found = _directives(text)
    if b"__has_" in text:
        found += _pattern("query").findall(text)
    directives = []
    for what, quoted, angled, macro in found:
        form, name = ('"', quoted) if quoted else ("<", angled) if angled else ("?", macro)
        everywhere, parsed = what == b"include_next", what != b"embed"
        directives.append(Directive(form, os.fsdecode(name.strip()), everywhere, parsed))
    return Parsed(tuple(directives), b"__TIMESTAMP__" in data, _incbin(text))


def _directives(text: bytes) -> list[tuple[bytes, ...]]:
    """The groups of every line that is a directive, in order."""
    starts: set[int] = set()
    for word in _WORDS:
        at = text.find(word)
        while at >= 0:
            starts.add(text.rfind(b"\n", 0, at) + 1)
            at = text.find(word, at + len(word))
    found: list[tuple[bytes, ...]] = []
    for start in sorted(starts):
        usual = _usual(text, start)
        if usual:
            found.append(usual)
        elif line := _pattern("directive").match(text, start):
            found.append(line.groups(b""))
    return found


def _usual(text: bytes, start: int) -> tuple[bytes, ...] | None:
    """The groups of `#include "name"` or `#include <name>`, as nearly all lines are."""
    for begin, close in ((b'#include "', b'"'), (b"#include <", b">")):
        if text.startswith(begin, start):
            first = start + len(begin)
            last = text.find(close, first)
            name = text[first:last] if last > first else b"\n"
            quoted = close == b'"'
            if b"\n" not in name:
                return (b"include", name, b"", b"") if quoted else (b"include", b"", name, b"")
    return None


def _incbin(text: bytes) -> tuple[str, ...]:
    if b".incbin" not in text:
        return ()
    rest = _pattern("comment").sub(b" ", text)
    return tuple(os.fsdecode(name) for name in _pattern("incbin").findall(rest))


class FoundFile(NamedTuple):
    """A file of the closure. `shown` is its name without any directory of ours."""

    shown: str
    path: str
    digest: str


class Closure:
    """The files reachable from some sources, in the order reached; sources come first."""

    def __init__(self) -> None:
        self.files: list[FoundFile] = []
        self.resolved: list[int] = []  # per directive: what it may find, then -1
        self.opaque: list[tuple[str, str]] = []  # (path, macro)
        self.tells_time: list[str] = []
        self.unknown_incbin: list[str] = []
        self.outside: set[str] = set()  # names that only the compiler may find

    def paths(self) -> list[str]:
        return [file.path for file in self.files]


class Parses:
    """The process' memory of parsed texts, by the digest of the text."""

    def __init__(self) -> None:
        self._known: Memo[str, Parsed] = Memo(20_000)

    def file(self, path: str, digest: str) -> Parsed:
        known = self._known.get(digest)
        if known is None:
            with open(path, "rb") as stream:
                data = stream.read()
            if digest_bytes(data) != digest:
                raise InputChanged(path)
            known = self._known[digest] = parse(data)
        return known

    def text(self, text: str, digest: str) -> Parsed:
        known = self._known.get(digest)
        if known is None:
            known = self._known[digest] = parse(text.encode("utf-8", "surrogateescape"))
        return known


class Source(NamedTuple):
    """A root of the closure: a file, or a text that lies in no directory."""

    path: str
    digest: str
    shown: str
    text: str | None = None


def closure(
    view: View,
    parses: Parses,
    sources: Sequence[Source],
    directories: Sequence[str],
    show: Callable[[str], str],
    forced: Sequence[str] = (),
) -> Closure:
    """Follow every directive. Names found in no directory belong to the tool (system headers).

    `forced` are names included before the first line (`-include`). They are looked for in the
    working directory first, where a command of ours has nothing, then like quoted ones.

    Raises InputChanged if a file is being rewritten while it is read.
    """
    out = Closure()
    index: dict[str, int] = {}
    todo: list[Source] = []

    def add(source: Source, follow: bool) -> int:
        # "../a/x.h" in a/x.h names itself, longer each time: such spellings are resolved.
        name = _plain(source.path)
        at = index.get(name)
        if at is None:
            at = index[name] = len(out.files)
            out.files.append(FoundFile(source.shown, source.path, source.digest))
            if follow:
                todo.append(source)
        return at

    def follow(directive: Directive, here: Sequence[str]) -> None:
        candidates = _candidates(view, directive, here, directories)
        if not candidates or directive.everywhere:
            out.outside.add(directive.name)
        for found in candidates:
            out.resolved.append(add(_file(view, found, show), directive.parse))
        out.resolved.append(-1)

    for source in sources:
        add(source, True)
    for name in forced:
        follow(Directive('"', name, False, True), ())
    position = 0
    while position < len(todo):
        current = todo[position]
        position += 1
        parsed = (
            parses.file(current.path, current.digest)
            if current.text is None
            else parses.text(current.text, current.digest)
        )
        if parsed.tells_time:
            out.tells_time.append(current.path)
        for name in parsed.incbin:
            data = _candidates(view, Directive("<", name, False, False), (), directories)
            if not (name and data):
                out.unknown_incbin.append(current.path)
            for path in data:
                out.resolved.append(add(_file(view, path, show), False))
        here = () if current.text is not None else (os.path.dirname(current.path),)
        for directive in parsed.directives:
            if directive.form == "?":
                out.opaque.append((current.path, directive.name))
                continue
            follow(directive, here)
    return out


def _file(view: View, path: str, show: Callable[[str], str]) -> Source:
    return Source(path, view.digest(path), show(path))


def _plain(path: str) -> str:
    if "/." not in path and "//" not in path:
        return path
    directory, base = os.path.split(path)
    return os.path.join(os.path.realpath(directory), base)


def _candidates(
    view: View, directive: Directive, here: Sequence[str], directories: Sequence[str]
) -> list[str]:
    if os.path.isabs(directive.name):
        return [directive.name] if view.look(directive.name) else []
    wide = directive.form == '"' or directive.everywhere
    out = []
    for directory in (*here, *directories) if wide else directories:
        path = f"{directory}/{directive.name}"
        if view.look(path) is not None:
            out.append(path)
            if not directive.everywhere:
                break
    return out
