"""Sessions: recipes in, results out; from the store if it has them, else through one SCons walk.

The path of a hit imports no SCons and starts no process. A session may be called from any
thread, many times, and after a fork.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from . import log, make
from .cover import Reads, Refused
from .digests import digest
from .entry import Entry
from .errors import BuildError, Failure, InputChanged
from .execute import Commands, job_count
from .keys import Keys, Memory, Unknown
from .locate import store_root
from .recipe import Recipe, Ref
from .scan import Source
from .store import Store

# An editor that saves again and again while a compile runs is given this many chances.
ATTEMPTS = 5

T = TypeVar("T")


@dataclass(frozen=True)
class Result:
    """A finished result: read-only files below `directory`."""

    key: str
    directory: str
    outputs: tuple[str, ...]

    def path(self, output: str | None = None) -> str:
        """The path of an output, by default of the first."""
        name = self.outputs[0] if output is None else output
        if name not in self.outputs:
            raise KeyError(f"no output {name!r}; there is {', '.join(self.outputs)}")
        return f"{self.directory}/{name}"


class Session:
    """Builds recipes into one store.

    `jobs` is how many commands of one request may run at once, by default IRON_JOBS or the
    number of processors; all sessions of a process together never run more than that number.
    """

    def __init__(self, store: Store | str | Path | None = None, *, jobs: int | None = None) -> None:
        if store is None:
            store = store_root()
        self.store = store if isinstance(store, Store) else Store(store)
        self.jobs = jobs or job_count()
        self._memory = Memory(self.store)

    def keys(self) -> Keys:
        """Keys under the file system as it is now; good for one request."""
        return Keys(self._memory, _ask)

    # ---------------------------------------------------------------- requests

    def build(self, *recipes: Recipe) -> list[Result]:
        """The results of the recipes, in order. Raises BuildError."""
        return self._repeat(recipes, lambda keys: self._build(keys, recipes))

    def find(self, *recipes: Recipe) -> list[Result] | None:
        """The results if all are there, else None; runs no command that makes anything."""

        def look(keys: Keys) -> list[Result] | None:
            found = [self._have(keys, recipe) for recipe in recipes]
            if not all(found):
                return None
            _log_hits(dict(zip(recipes, found, strict=True)))
            return [_result(entry) for entry in found if entry]

        return self._repeat(recipes, look)

    def make(self, recipe: Recipe, commands: Commands | None = None) -> Result:
        """The result of one recipe, everything missing being made here and now, one after the
        other in this thread and without a walk: for a step of somebody else's SCons run."""
        running = commands or Commands()
        return self._repeat([recipe], lambda keys: _result(self._make(keys, recipe, running)))

    def composite(
        self, kind: str, parts: Sequence[str | Recipe], make: Callable[[], Recipe]
    ) -> Result:
        """A result whose recipe is only known once something else exists.

        It is named by `kind`, the texts and the leaf keys in `parts`: everything that `make`
        depends on. If the store knows that name, `make` is not called.
        """
        recipes = [part for part in parts if not isinstance(part, str)]

        def once(keys: Keys) -> Result:
            try:
                key = _composite_key(keys, kind, parts)
            except Unknown:  # a part compiles what another part generates
                self._build(keys, recipes)
                key = _composite_key(keys, kind, parts)
            entry = self.store.get(key)
            if entry is not None:
                log.record("hit", kind, entry.key, why="in the store")
                return _result(entry)
            result = self.build(_called(make))[0]
            later = keys.again()
            files = [file for recipe in recipes for file in _all_files(keys, recipe)]
            if _composite_key(later, kind, parts) != key or keys.view.disturbed(later.view, files):
                raise InputChanged(kind)
            self.store.alias(key, result.key)
            return result

        try:
            return self._repeat(recipes, once)
        except _MakerError as error:
            raise error.problem from None

    def keep(self, kind: str, key_parts: Sequence[str], files: Mapping[str, bytes | str]) -> Result:
        """Store given contents under digest(kind, parts). What was there under that name makes
        way if it differs."""
        data = {
            name: content.encode("utf-8", "surrogateescape")
            if isinstance(content, str)
            else content
            for name, content in files.items()
        }
        return _result(make.put_files(self.store, kind, _kept_key(kind, key_parts), data))

    def recall(self, kind: str, key_parts: Sequence[str]) -> Result | None:
        """What `keep` stored under that name."""
        entry = self.store.get(_kept_key(kind, key_parts))
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
            raise _error(recipes, str(problem)) from problem

    def _build(self, keys: Keys, recipes: Sequence[Recipe]) -> list[Result]:
        found = {recipe: self._have(keys, recipe) for recipe in recipes}
        _log_hits(found)
        missing = [recipe for recipe, entry in found.items() if entry is None]
        if missing:
            from . import nodes  # SCons is imported on the first miss

            nodes.walk(self, keys, missing)
            found.update((recipe, self._made(keys, recipe)) for recipe in missing)
        return [_result(entry) for entry in (found[recipe] for recipe in recipes) if entry]

    def _have(self, keys: Keys, recipe: Recipe) -> Entry | None:
        """In the store, under the key of its leaves or of its inputs' bytes."""
        entry = keys.result(recipe)
        if entry is not None:
            return entry
        upstream = [item.recipe for item in recipe.inputs if isinstance(item, Ref)]
        if not upstream or not all(self._have(keys, up) for up in upstream):
            return None
        entry = self.store.get(keys.content(recipe))
        if entry is not None:
            with contextlib.suppress(OSError):  # a store that can only be read is read
                self.store.alias(keys.leaf(recipe), entry.key)
        return entry

    def _made(self, keys: Keys, recipe: Recipe) -> Entry:
        entry = keys.result(recipe)
        if entry is None:  # somebody deletes results faster than we make them
            raise InputChanged(f"the result of {recipe.describe()} is gone again")
        return entry

    def _make(self, keys: Keys, recipe: Recipe, commands: Commands) -> Entry:
        entry = self._have(keys, recipe)
        if entry is not None:
            log.record("hit", recipe.kind, entry.key, why="in the store", label=recipe.label)
            return entry
        for item in recipe.inputs:
            if isinstance(item, Ref):
                self._make(keys, item.recipe, commands)
        return make.ensure(keys, recipe, commands)


class _MakerError(Exception):
    """An OSError of a caller's function: not about our files, so it goes through as it is."""

    def __init__(self, problem: OSError) -> None:
        super().__init__(problem)
        self.problem = problem


def _called(make: Callable[[], Recipe]) -> Recipe:
    try:
        return make()
    except OSError as problem:
        raise _MakerError(problem) from problem


def _log_hits(found: Mapping[Recipe, Entry | None]) -> None:
    for recipe, entry in found.items():
        if entry is not None:
            log.record("hit", recipe.kind, entry.key, why="in the store", label=recipe.label)


def _result(entry: Entry) -> Result:
    return Result(entry.key, entry.directory, tuple(entry.outputs))


def _ask(keys: Keys, recipe: Recipe, sources: list[Source]) -> Reads | None:
    return make.ask_compiler(keys, recipe, sources, Commands())


def _composite_key(keys: Keys, kind: str, parts: Sequence[str | Recipe]) -> str:
    named = [
        "text\0" + part if isinstance(part, str) else "recipe\0" + keys.leaf(part) for part in parts
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


_default: dict[tuple[int, str], Session] = {}


def default_session() -> Session:
    """The session of the store that the environment names: one per store and process."""
    root = str(store_root())
    known = _default.get((os.getpid(), root))
    if known is None:
        known = _default.setdefault((os.getpid(), root), Session(root))
    return known
