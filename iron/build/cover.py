"""The cover of a compile: every file the command may read, apart from the tool's own.

Found by the scanner; where the scanner cannot follow (a macro names the file, an option does, or
a dependency file has shown a surprise before), by asking the compiler. What the compiler
answered is kept with what would make it untrue: the files' contents, and the places where a new
file would be found first.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from .digests import View, digest
from .pathmap import PathMap
from .recipe import Recipe
from .scan import Closure, FoundFile, Parses, Source, closure

# Options by which a file or a directory is named that the scanner does not know of.
_ASKED_FOR = (
    "--include", "-imacros", "--imacros", "-isystem", "-iquote", "-idirafter",
    "-iprefix", "-iwithprefix", "-isysroot", "-I", "--embed-dir", "-B", "-Wp,", "-Xpreprocessor",
    "-Xclang", "@", "-fmodule", "-fimplicit-module", "-specs", "--config", "-cxx-isystem",
)  # fmt: skip
# Options that move the compiler's own header directories.
_MOVES = (
    "--target", "-target", "--sysroot", "-isysroot", "-stdlib", "--gcc-toolchain", "-m32",
    "-m64", "-mx32", "-nostd", "-march", "-mcpu", "--driver-mode", "--config",
)  # fmt: skip


class Refused(Exception):
    """A request that cannot be keyed; the text says why and what to do."""


class Cover(NamedTuple):
    """What one recipe's key says about files."""

    parts: tuple[str, ...]
    paths: tuple[str, ...]
    names: PathMap
    bare: str  # names what the scanner alone saw: the memo of the compiler's answers
    asked: bool
    answered: bool  # False: the compiler could not say what it would read
    system: Callable[[], Iterable[str]]  # the compiler's own headers that are in the key


class Reads(NamedTuple):
    """A compiler's answer: files of the user's, and files of its own."""

    ours: tuple[str, ...]
    system: tuple[str, ...]
    roots: tuple[str, ...]  # the directories where it looks for its own


def scan_cover(
    recipe: Recipe,
    sources: Sequence[Source],
    view: View,
    parses: Parses,
    shadows: Sequence[str],
    action: str,
    memo: AnswerMemo,
    ask: Callable[[], Reads | None],
    own: Callable[[set[str]], tuple[str, Callable[[], Iterable[str]]]],
) -> Cover:
    """Everything the recipe's sources may read under the view.

    `shadows` are files that the tool's own headers may find instead of each other. `ask` runs the
    compiler's preprocessor; it is called only if the scanner cannot know and no earlier answer
    holds. None from it: the compiler could not say, so the compile will fail too. `own` gives
    for names that only the compiler finds a digest of all they may read, and what that is.
    """
    directories = [_home(source) for source in sources if source.text is None]
    names = PathMap(
        [(source.path, source.shown) for source in sources]
        + [(directory, ".") for directory in (*directories, *recipe.include_dirs)]
        + [(os.path.dirname(source.path), ".") for source in sources if source.text is not None]
    )
    # A name that cannot be mapped is in the result, so it is in the key.
    roots = [source._replace(shown=names.shown(source.path)) for source in sources]
    roots += [Source(path, view.digest(path), names.shown(path)) for path in shadows]
    found = closure(view, parses, roots, recipe.include_dirs, names.shown, _forced(recipe))
    if found.unknown_incbin:
        raise Refused(
            f"{found.unknown_incbin[0]}: `.incbin` of a file that cannot be known beforehand "
            "(no dependency file tells it either): write its absolute path or one relative to "
            "an include directory as a plain string literal, or use `#embed`"
        )
    system, system_files = own(found.outside)
    parts = (*_parts(found, sources, view), f"system {system}")
    bare = digest("scan", action, *parts)
    paths = found.paths()
    known = memo.known(bare, view)
    if not (found.opaque or _option_names_files(recipe) or known):
        return Cover(parts, tuple(paths), names, bare, False, True, system_files)
    search = [*directories, *recipe.include_dirs, *_option_directories(recipe)]
    answer = memo.recall(bare, view)
    if answer is None:
        reads = ask()
        if reads is None:
            unanswered = (*parts, "unanswered")
            return Cover(unanswered, tuple(paths), names, bare, True, False, system_files)
        more_read = extras(reads.ours, paths) + extras(reads.system, system_files())
        answer = memo.keep(bare, view, more_read, reads, search)
    more = [FoundFile(names.shown(path), path, view.digest(path)) for path in answer]
    parts += ("asked", *(f"{file.shown}\0{file.digest}" for file in more))
    return Cover(parts, (*paths, *answer), names, bare, True, True, system_files)


def _home(source: Source) -> str:
    return os.path.dirname(source.path).rstrip("/")


def _parts(found: Closure, sources: Sequence[Source], view: View) -> tuple[str, ...]:
    parts = [os.path.splitext(source.path)[1] for source in sources]
    parts += [f"{file.shown}\0{file.digest}" for file in found.files]
    parts.append(",".join(map(str, found.resolved)))
    parts += [f"?{name}" for _, name in found.opaque]
    if found.tells_time:  # __TIMESTAMP__ in any of them: the times of all are in the result
        seen = [view.look(path) for path in found.paths()]
        parts += [f"time {s.stamp[3] // 10**9}" for s in seen if s is not None]
    return tuple(parts)


def _strings(recipe: Recipe) -> Iterable[str]:
    return (argument for argument in recipe.argv if isinstance(argument, str))


def _option_names_files(recipe: Recipe) -> bool:
    return any(argument.startswith(_ASKED_FOR) for argument in _strings(recipe)) or any(
        argument.startswith("-include") and not (argument == "-include" and isinstance(after, str))
        for argument, after in zip(recipe.argv, (*recipe.argv[1:], None), strict=True)
        if isinstance(argument, str)
    )


def _forced(recipe: Recipe) -> list[str]:
    """The names that `-include` gives."""
    pairs = zip(recipe.argv, recipe.argv[1:], strict=False)
    return [name for option, name in pairs if option == "-include" and isinstance(name, str)]


def _option_directories(recipe: Recipe) -> list[str]:
    """Directories named by options in argv: `-isystem d`, `-id`, `-Id`."""
    out = []
    options = ("-isystem", "-iquote", "-idirafter", "-I")
    previous = ""
    for argument in _strings(recipe):
        if previous in options:
            out.append(os.path.abspath(argument))
        glued = [o for o in options if argument.startswith(o) and argument != o]
        out += [os.path.abspath(argument[len(option) :]) for option in glued]
        previous = argument
    return out


def moving_flags(recipe: Recipe) -> tuple[str, ...]:
    """The part of argv that decides where the compiler's own headers are: a subcommand in
    front (`zig c++`), target and system root."""
    out: list[str] = []
    previous = ""
    for position, argument in enumerate(_strings(recipe)):
        subcommand = position == 0 and recipe.argv[0] is argument and argument[:1] != "-"
        if subcommand or argument.startswith(_MOVES) or previous in ("-target", "-isysroot"):
            out.append(argument)
        previous = argument
    return tuple(out)


def extras(reads: Iterable[str], covered: Iterable[str]) -> list[str]:
    """The files read that are not covered, under whatever spelling."""
    known = set()
    rest = dict.fromkeys(reads)
    for path in covered:
        rest.pop(path, None)
        known.add(path)
    if not rest:
        return []
    for path in list(known):
        # Clang writes a backslash in a name as a slash, whatever the system.
        known |= {os.path.realpath(path), path.replace("\\", "/")}
    return [path for path in rest if path not in known and os.path.realpath(path) not in known]


def split_reads(
    paths: Iterable[str], directory: str, system: Sequence[str], covered: Iterable[str]
) -> Reads:
    """Tell the user's files from the tool's own. Relative names are the compiler's cwd's."""
    ours: list[str] = []
    own: list[str] = []
    inner = tuple(root + "/" for root in system)
    homes: dict[str, str] = {}  # of hundreds of headers in a few directories

    def placed(path: str) -> str:
        home, _, base = path.rpartition("/")
        if home not in homes:
            homes[home] = os.path.realpath(home or "/")
        return f"{homes[home]}/{base}"

    def resolved(real: str) -> str:
        return os.path.realpath(real) if os.path.islink(real) else real

    known = {resolved(placed(path)) for path in covered}
    for path in paths:
        path = path if path.startswith("/") else f"{directory}/{path}"
        real = placed(path)
        if not real.startswith(inner):
            real = resolved(real)
        if real.startswith(inner) and real not in known:
            own.append(real)
        else:
            ours.append(path)
    return Reads(tuple(ours), tuple(own), tuple(system))


class AnswerMemo:
    """Answers of compilers on disk, several per question: what was read, and what must hold."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._doubted: set[str] = set()

    def _file(self, bare: str) -> str:
        return f"{self._directory}/{bare}"

    def known(self, bare: str, view: View) -> bool:
        """Whether the compiler has had to be asked about this before. The view knows what would
        change the answer: a new file here, or more in the one there is."""
        view.place(self._directory)
        try:
            return view.look(self._file(bare)) is not None
        except OSError:  # something else is in its place, so nothing can be remembered
            return True

    def mark(self, bare: str) -> None:
        """The scanner does not see everything here: ask from now on."""
        self._append(bare, "")

    def doubt(self, bare: str) -> bool:
        """Forget the answers to a question, to ask again; False when that was done just before."""
        if bare in self._doubted:
            self._doubted.discard(bare)
            return False
        self._doubted.add(bare)
        with contextlib.suppress(OSError):
            os.unlink(self._file(bare))
        self.mark(bare)
        return True

    def recall(self, bare: str, view: View) -> list[str] | None:
        """The files an answer named, if one holds under the view."""
        try:
            with open(self._file(bare), encoding="utf-8", errors="surrogateescape") as stream:
                blocks = stream.read().split("\n\n")
        except OSError:
            return None
        for block in reversed(blocks):
            body, _, check = block.strip("\n").rpartition("\n")
            if body and check == digest(body) and _holds(body.split("\n"), view):
                return [row[43:] for row in body.split("\n") if row.startswith("r ")]
        return None

    def keep(
        self, bare: str, view: View, answer: list[str], reads: Reads, search: Sequence[str]
    ) -> list[str]:
        rows = [f"r {view.digest(path)} {path}" for path in answer]
        rivals = _rivals(frozenset((*answer, *reads.system)), reads, search)
        rows += [f"{'-' if view.look(path) is None else '+'} {path}" for path in rivals]
        body = "\n".join(rows) or "- "
        if not any("\n" in row for row in rows):
            self._append(bare, f"{body}\n{digest(body)}\n\n")
        return answer

    def _append(self, bare: str, text: str) -> None:
        try:
            os.makedirs(self._directory, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            fd = os.open(self._file(bare), flags, 0o666)
        except OSError:
            return  # a store that cannot be written asks each time
        try:
            os.write(fd, f"\n\n{text}".encode("utf-8", "surrogateescape"))
        finally:
            os.close(fd)


def _holds(rows: Sequence[str], view: View) -> bool:
    for row in rows:
        if row.startswith("r "):
            seen = view.look(row[43:])
            if seen is None or seen.digest != row[2:42]:
                return False
        elif (view.look(row[2:]) is not None) != row.startswith("+"):
            return False
    return True


def _rivals(files: frozenset[str], reads: Reads, search: Sequence[str]) -> list[str]:
    """The places where a file would be found instead of one that was read."""
    homes = dict.fromkeys((*search, *(os.path.dirname(path) for path in reads.ours)))
    roots = (*homes, *reads.roots)
    out: dict[str, None] = {}
    for path in files:
        for root in roots:
            if path.startswith(root + "/"):
                rest = path[len(root) + 1 :]
                out.update((f"{home}/{rest}", None) for home in homes)
    return [path for path in out if path not in files]
