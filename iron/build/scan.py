"""Which files a C or C++ source may include, without running a preprocessor.

Conditions are not evaluated, so the answer is a superset of what is read. Every directive's
resolution is kept, so that a header that newly shadows another one changes the answer. What
cannot be followed (`#include MACRO`) is said to be opaque. Knows nothing of keys or SCons.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .digests import View, digest_bytes
from .errors import InputChanged
from .memo import Memo

_GAP = rb"(?:[ \t\f\v]|/\*(?:[^*\n]|\*(?!/))*\*/)*"
_DIRECTIVE = re.compile(
    rb"^" + _GAP + rb"(?:\#|%:|\?\?=)" + _GAP + rb"(include_next|include|import|embed)\b" + _GAP +
    rb'(?:"([^"\n]+)"|<([^>\n]+)>|([A-Za-z_][^\n]*))',
    re.MULTILINE,
)  # fmt: skip
_QUERY = re.compile(
    rb'__has_(include_next|include|embed)\s*\(\s*(?:"([^"\n]+)"|<([^>\n]+)>|([A-Za-z_]\w*))'
)
_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)
_INCBIN = re.compile(rb'\.incbin\b(?:\s+\\?"([^"\\\n]+)\\?")?')
_SPLICE = re.compile(rb"(?:\\|\?\?/)[ \t]*\r?\n")


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
    text = _SPLICE.sub(b"", data) if b"\\" in data or b"??/" in data else data
    found = []
    for pattern in (_DIRECTIVE, _QUERY):
        if pattern is _QUERY and b"__has_" not in text:
            continue
        for what, quoted, angled, macro in pattern.findall(text):
            form, name = ('"', quoted) if quoted else ("<", angled) if angled else ("?", macro)
            found.append(
                Directive(
                    form, os.fsdecode(name.strip()), what == b"include_next", what != b"embed"
                )
            )
    return Parsed(tuple(found), b"__TIMESTAMP__" in data, _incbin(text))


def _incbin(text: bytes) -> tuple[str, ...]:
    if b".incbin" not in text:
        return ()
    rest = _COMMENT.sub(b" ", text)
    return tuple(os.fsdecode(name) for name in _INCBIN.findall(rest))


class FoundFile(NamedTuple):
    """A file of the closure. `shown` is its name without any directory of ours."""

    shown: str
    path: str
    digest: str


@dataclass
class Closure:
    """The files reachable from some sources, in the order reached; sources come first."""

    files: list[FoundFile] = field(default_factory=list)
    resolved: list[int] = field(default_factory=list)  # per directive: what it may find, then -1
    opaque: list[tuple[str, str]] = field(default_factory=list)  # (path, macro)
    tells_time: list[str] = field(default_factory=list)
    unknown_incbin: list[str] = field(default_factory=list)
    outside: set[str] = field(default_factory=set)  # names that only the compiler may find

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
) -> Closure:
    """Follow every directive. Names found in no directory belong to the tool (system headers).

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

    for source in sources:
        add(source, True)
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
            candidates = _candidates(view, directive, here, directories)
            if not candidates or directive.everywhere:
                out.outside.add(directive.name)
            for found in candidates:
                out.resolved.append(add(_file(view, found, show), directive.parse))
            out.resolved.append(-1)
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
