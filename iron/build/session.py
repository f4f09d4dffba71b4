"""Sessions: recipes in, results out; from the store if it has them, else through one SCons walk.

The path of a hit imports no SCons and starts no process. A session may be called from any
thread, many times, and after a fork.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from . import account, log
from .cover import Reads, Refused
from .decisions import Parts, Subject
from .digests import digest
from .entry import Entry
from .environ import job_count
from .errors import BuildError, Failure, InputChanged
from .forks import IMPORTING
from .keys import Keys, Memory, Unknown
from .locate import open_store, root
from .recipe import Recipe, Ref
from .repeats import Repeats
from .result import Result
from .scan import Source
from .store import PASSING, Store
from .watch import Watch

if TYPE_CHECKING:
    from pathlib import Path

    from .execute import Commands

# An editor that saves again and again while a compile runs is given this many chances.
ATTEMPTS = 5

T = TypeVar("T")


class Session:
    """Builds recipes into one store.

    `jobs` is how many commands of one request may run at once, by default IRON_JOBS or the
    number of processors; all processes of a user on one machine never run more than IRON_JOBS.
    """

    def __init__(self, store: Store | str | Path | None = None, *, jobs: int | None = None) -> None:
        self.store = store if isinstance(store, Store) else open_store(store)
        self.jobs = jobs or job_count()
        self._memory = Memory(self.store)
        self._repeats = Repeats()

    def keys(self) -> Keys:
        """Keys under the file system as it is now; good for one request."""
        return Keys(self._memory, _ask)

    # ---------------------------------------------------------------- requests

    def build(self, *recipes: Recipe) -> list[Result]:
        """The results of the recipes, in order. Raises BuildError."""
        return self._repeat(
            recipes, lambda keys: self._repeats.recall(recipes, keys) or self._build(keys, recipes)
        )

    def find(self, *recipes: Recipe) -> list[Result] | None:
        """The results if all are there, else None; runs no command that makes anything."""

        def look(keys: Keys) -> list[Result] | None:
            found = [self.have(keys, recipe) for recipe in recipes]
            if not all(found):
                return None
            _tell_hits(keys, dict(zip(recipes, found, strict=True)))
            return [_result(entry) for entry in found if entry]

        return self._repeat(recipes, look)

    def make(self, recipe: Recipe, commands: Commands | None = None) -> Result:
        """The result of one recipe, everything missing being made here and now, one after the
        other in this thread and without a walk: for a step of somebody else's SCons run."""
        from .execute import Commands

        running = commands or Commands()
        return self._repeat([recipe], lambda keys: _result(self._make(keys, recipe, running)))

    def composite(
        self,
        kind: str,
        parts: Sequence[str | Recipe],
        make: Callable[[], Recipe],
        *,
        unwatched: Sequence[Recipe] = (),
        label: str = "",
        names: Sequence[str] = (),
    ) -> Result:
        """A result whose recipe is only known once something else exists.

        It is named by `kind`, the texts and the leaf keys in `parts`: everything that `make`
        depends on. If the store knows that name, `make` is not called. The result's `watch`
        tells, with a stat a file, whether asking again would give the same: it covers the files
        of all parts but the `unwatched`, and the result's own. `label` and `names` (of the parts,
        in order) are what people call them.
        """
        recipes = [part for part in parts if not isinstance(part, str)]
        decisions, subject = self._memory.decisions, Subject(kind, label, "")
        started = time.perf_counter()

        def told(keys: Keys) -> Parts:
            return _told_parts(parts, names, keys.again().leaf)

        def named(keys: Keys) -> str:
            aside = keys.again() if unwatched else keys
            return _composite_key(
                kind, parts, lambda p: (aside if p in unwatched else keys).leaf(p)
            )

        def once(keys: Keys) -> Result:
            try:
                key = named(keys)
            except Unknown:  # a part compiles what another part generates
                self._build(keys, recipes)
                key = named(keys)
            entry = self.store.get(key)
            if entry is not None:
                log.record("hit", kind, entry.key, why="in the store")
                decisions.hit(subject, key, "in the store", 0.0, "", lambda: told(keys))
                return _watched(entry, keys)
            result = self.build(_called(make))[0]
            later = keys.again()
            files = [f for r in recipes if r not in unwatched for f in _all_files(keys, r)]
            if named(later) != key or keys.view.disturbed(later.view, files):
                raise InputChanged(kind)
            self.store.alias(key, result.key)
            why, seconds = "no result of these parts", time.perf_counter() - started
            decisions.add("made", subject, key, why, seconds, "", lambda: told(keys))
            entry = self.store.get(result.key)
            return result if entry is None else _watched(entry, keys)

        try:
            result = self._repeat(recipes, once)
        except _MakerError as error:
            raise error.problem from None
        if "IRON_COMPILE_COMMANDS" in os.environ:
            from . import compdb

            compdb.note(self, [recipe for recipe in recipes if recipe not in unwatched])
        return result

    def find_composite(
        self,
        kind: str,
        parts: Sequence[str | Recipe],
        *,
        label: str = "",
        names: Sequence[str] = (),
    ) -> Result | None:
        """As `composite` with all parts watched, but None when it would have to be made."""
        try:
            return self.composite(kind, parts, _absent, label=label, names=names)
        except _Absent:
            return None

    def keep(
        self,
        kind: str,
        key_parts: Sequence[str],
        files: Mapping[str, bytes | str],
        *,
        label: str = "",
        names: Sequence[str] = (),
        seconds: float = 0.0,
    ) -> Result:
        """Store given contents under digest(kind, parts). What was there under that name makes
        way if it differs. For people: what `label` is made of, by `names`, in `seconds`."""
        data = {
            name: content.encode("utf-8", "surrogateescape")
            if isinstance(content, str)
            else content
            for name, content in files.items()
        }
        key = _kept_key(kind, key_parts)
        if label:
            self._memory.decisions.add(
                "run", Subject(kind, label, ""), key, "not on record", seconds, "",
                lambda: _told_parts(key_parts, names, str),
            )  # fmt: skip
        with IMPORTING:
            from . import make

        return _result(make.put_files(self.store, kind, key, data))

    def tell(
        self,
        kind: str,
        key_parts: Sequence[str],
        why: str,
        *,
        label: str,
        names: Sequence[str] = (),
        seconds: float = 0.0,
    ) -> None:
        """Put on record that something was made and, for a reason, not kept."""
        key = _kept_key(kind, key_parts)
        self._memory.decisions.add(
            "run", Subject(kind, label, ""), key, why, seconds, "",
            lambda: _told_parts(key_parts, names, str),
        )  # fmt: skip

    def recall(
        self,
        kind: str,
        key_parts: Sequence[str],
        *,
        label: str = "",
        names: Sequence[str] = (),
    ) -> Result | None:
        """What `keep` stored under that name."""
        key = _kept_key(kind, key_parts)
        entry = self.store.get(key)
        if entry is not None and label:
            self._memory.decisions.hit(
                Subject(kind, label, ""), key, "on record", 0.0, "",
                lambda: _told_parts(key_parts, names, str),
            )  # fmt: skip
        return None if entry is None else _result(entry)

    # ---------------------------------------------------------------- one try

    def _repeat(self, recipes: Sequence[Recipe], attempt: Callable[[Keys], T]) -> T:
        """Start over while inputs change under our hands."""
        for _ in range(ATTEMPTS):
            done, value = self._try(recipes, attempt)
            if done:
                return cast(T, value)
        raise _error(recipes, f"what it is made from kept changing meanwhile: {value}")

    def _try(self, recipes: Sequence[Recipe], attempt: Callable[[Keys], T]) -> tuple[bool, Any]:
        """(True, the answer), or (False, what changed)."""
        try:
            return True, attempt(self.keys())
        except InputChanged as change:
            return False, str(change)
        except Refused as problem:
            raise _error(recipes, str(problem)) from problem
        except (FileNotFoundError, Unknown) as problem:
            missing = _missing(self.keys(), recipes)
            if missing:
                raise BuildError(missing) from problem
            return False, str(problem)  # somebody empties the store: make it again
        except OSError as problem:
            if problem.errno in PASSING:
                return False, str(problem)
            raise _error(recipes, str(problem)) from problem

    def _build(self, keys: Keys, recipes: Sequence[Recipe]) -> list[Result]:
        found = {recipe: self.have(keys, recipe) for recipe in recipes}
        _tell_hits(keys, found)
        missing = [recipe for recipe, entry in found.items() if entry is None]
        if missing:
            import logging  # noqa: F401 - it has fork handlers: not while a fork waits for us

            with IMPORTING:
                from . import nodes  # SCons is imported on the first miss

            nodes.walk(self, keys, missing)
            found.update((recipe, self._made(keys, recipe)) for recipe in missing)
        there = {recipe: entry for recipe, entry in found.items() if entry}
        results = [_result(there[recipe]) for recipe in recipes]
        if not missing:
            self._repeats.note(tuple(recipes), keys, there, results)
        return results

    def have(self, keys: Keys, recipe: Recipe) -> Entry | None:
        """In the store, under the key of its leaves or of its inputs' bytes."""
        entry = keys.result(recipe)
        if entry is not None:
            return entry
        upstream = [item.recipe for item in recipe.inputs if isinstance(item, Ref)]
        if not upstream or not all(self.have(keys, up) for up in upstream):
            return None
        entry = self.store.get(keys.content(recipe))
        if entry is not None:
            with contextlib.suppress(OSError):  # a store that can only be read is read
                self.store.alias(keys.leaf(recipe), entry.key)
        return entry

    def _made(self, keys: Keys, recipe: Recipe) -> Entry:
        entry = self.have(keys, recipe)
        if entry is None:  # somebody deletes results faster than we make them
            raise InputChanged(f"the result of {recipe.describe()} is gone again")
        return entry

    def _make(self, keys: Keys, recipe: Recipe, commands: Commands) -> Entry:
        entry = self.have(keys, recipe)
        if entry is not None:
            account.hit(keys, recipe, entry, "in the store")
            return entry
        for item in recipe.inputs:
            if isinstance(item, Ref):
                self._make(keys, item.recipe, commands)
        with IMPORTING:
            from . import make

        return make.ensure(keys, recipe, commands)


class _Absent(Exception):
    pass


def _absent() -> Recipe:
    raise _Absent


class _MakerError(Exception):
    """An OSError of a caller's function: not about our files, so it goes through as it is."""

    def __init__(self, problem: OSError) -> None:
        super().__init__(problem)
        self.problem = problem


def _told_parts(
    parts: Sequence[str | Recipe], names: Sequence[str], leaf: Callable[[Recipe], str]
) -> Parts:
    called = [*names, *(f"part {number}" for number in range(len(names), len(parts)))]
    return [
        (name, part) if isinstance(part, str) else (part.describe(), leaf(part))
        for name, part in zip(called, parts, strict=False)
    ]


def _called(make: Callable[[], Recipe]) -> Recipe:
    try:
        return make()
    except OSError as problem:
        raise _MakerError(problem) from problem


def _tell_hits(keys: Keys, found: Mapping[Recipe, Entry | None]) -> None:
    for recipe, entry in found.items():
        if entry is not None:
            account.hit(keys, recipe, entry, "in the store")


def _result(entry: Entry) -> Result:
    return Result(entry.key, entry.directory, tuple(entry.outputs))


def _ask(keys: Keys, recipe: Recipe, sources: list[Source]) -> Reads | None:
    with IMPORTING:
        from . import make
        from .execute import Commands

    return make.ask_compiler(keys, recipe, sources, Commands())


def _watched(entry: Entry, keys: Keys) -> Result:
    own = [(entry.path(name), seen.stamp) for name, seen in entry.outputs.items()]
    watch = Watch(keys.view.looked_at(), keys.view.stamps, own)
    return Result(entry.key, entry.directory, tuple(entry.outputs), watch)


def _composite_key(kind: str, parts: Sequence[str | Recipe], leaf: Callable[[Recipe], str]) -> str:
    named = [
        "text\0" + part if isinstance(part, str) else "recipe\0" + leaf(part) for part in parts
    ]
    return digest("composite", kind, *named)


def _kept_key(kind: str, parts: Sequence[str]) -> str:
    return digest("kept", kind, *parts)


def _all_files(keys: Keys, recipe: Recipe) -> list[str]:
    out = list(keys.files(recipe))
    for item in recipe.inputs:
        if isinstance(item, Ref):
            out += _all_files(keys, item.recipe)
    return out


def _error(recipes: Sequence[Recipe], reason: str) -> BuildError:
    first = recipes[0] if recipes else None
    label, where = (first.describe(), first.where) if first else ("", "")
    return BuildError([Failure(label, where, reason)])


def _missing(keys: Keys, recipes: Sequence[Recipe]) -> list[Failure]:
    """Every missing input and tool of a request, each with its recipe."""
    failures: dict[tuple[str, str], Failure] = {}
    seen: set[int] = set()
    todo = list(recipes)
    while todo:
        recipe = todo.pop()
        if id(recipe) in seen:
            continue
        seen.add(id(recipe))
        todo += [item.recipe for item in recipe.inputs if isinstance(item, Ref)]
        for item in recipe.inputs:
            if isinstance(item, str) and not os.path.isfile(item):
                reason = f"no such source file: {item}"
                failures[item, recipe.where] = Failure(recipe.describe(), recipe.where, reason)
        try:
            keys.tool(recipe.tool)
        except FileNotFoundError as missing:
            failures[recipe.tool.name, recipe.where] = Failure(
                recipe.describe(), recipe.where, str(missing)
            )
    return list(failures.values())


_default: dict[tuple[int, str, str], Session] = {}


def default_session() -> Session:
    """The session of the store that the environment names: one per store and process."""
    chosen = root()
    name = os.getpid(), chosen, os.environ.get("IRON_STORE_SHARED", "")
    known = _default.get(name)
    if known is None:
        known = _default.setdefault(name, Session())
    return known
