"""All named targets of a `scons` run checked at once, before SCons goes through its graph.

One view of the file system and one memo of the project answer for thousands of targets what
SCons would find out node by node. Targets that are as they should be, and sources of theirs that
nothing makes, are marked so that the task master passes over them. A target is left to SCons
unless nothing that its key was found from can still change in this run.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from . import account, engine, standing
from .digests import digest, path_stamp
from .keys import Keys, Unknown
from .standing import Delivered, Standing
from .store import USED_SECONDS
from .targets import NamedFile, RecipeAction, paths_of, same_bytes

if TYPE_CHECKING:
    from .entry import Entry
    from .recipe import Recipe
    from .session import Session


def check(nodes: Sequence[Any]) -> set[Any]:
    """Those of the named targets that are as they should be and will stay so; all but those that
    were asked for by name are marked as done."""
    if not nodes:
        return set()
    fs = nodes[0].fs
    made, asked = engine.made_files(fs), engine.asked_targets()
    projects: dict[int, Project] = {}
    right: set[Any] = set()
    done: list[Any] = []
    for executor in {id(e): e for e in (node.get_executor() for node in nodes)}.values():
        targets, sources = executor.get_all_targets(), executor.get_all_sources()
        action = engine.single_action(executor)
        if not isinstance(action, RecipeAction) or not _left_alone(targets, sources, right):
            continue
        env = engine.build_environment(executor)
        try:
            session = action.session_of(env)
            project = projects.get(id(session))
            if project is None:
                project = projects[id(session)] = Project(session, fs.Top.get_abspath())
            names = paths_of(targets)
            recipe = action.recipe(names, paths_of(sources), env)
            if project.stands(recipe, names, made, right):
                right.update(targets)
                done += [*targets, *sources]
        except Exception:  # whatever is wrong with it, SCons or the build will say so
            continue
    for project in projects.values():
        project.close()
    for node in done:
        if node not in asked and node.get_abspath() not in asked:
            node.set_state(engine.UP_TO_DATE)
    return right


def _left_alone(targets: Sequence[Any], sources: Sequence[Any], right: set[Any]) -> bool:
    """Whether it is for us to say that the targets are up to date, and can be said now."""
    for node in targets:
        if type(node) is not NamedFile or node.get_state() != engine.NO_STATE:
            return False
        if node.always_build or node.side_effects or node.side_effect or node.prerequisites:
            return False
        if not all(other in right or _is_there(other) for other in node.depends):
            return False
    return all(node in right or _is_there(node) for node in sources)


def _is_there(node: Any) -> bool:
    return engine.is_plain(node) and not engine.is_copied(node) and node.rexists()


class Project:
    """What stood before, and what stands now, of one project in one session's store."""

    def __init__(self, session: Session, directory: str) -> None:
        memory = session.keys().memory
        self.session = session
        self._file = f"{session.store.side('standing')}/{digest('standing', directory)}"
        self._before = standing.read(self._file, memory.digests)
        for name, trace in self._before.traces.items():
            memory.traces.known.setdefault(name, trace)
        self._keys = Keys(memory, _ask_nobody)
        # Now and then the store is asked for all, so that it knows what is in use.
        self._recent = 0 <= time.time() - self._before.used < USED_SECONDS
        self._delivered: dict[str, Delivered] = {}

    def stands(
        self, recipe: Recipe, targets: Sequence[str], made: Mapping[str, Any], right: set[Any]
    ) -> bool:
        """Whether the targets have the bytes of the recipe's result, and its key is to last."""
        key = self._keys.leaf(recipe)
        for path in self._keys.looked_at(recipe):
            node = made.get(path)
            if node is not None and node not in right:
                return False
        entry: Entry | None = None
        for path, output in zip(targets, recipe.outputs, strict=False):
            known = self._before.delivered.get(path) if self._recent else None
            stamp = path_stamp(path)
            if known is None or stamp is None or known != (key, output, stamp):
                if stamp is None:
                    return False
                entry = entry or self.session.have(self._keys, recipe)
                if entry is None or not same_bytes(entry.path(output), path):
                    return False
                known = Delivered(key, output, stamp)
            self._delivered[path] = known
        if entry is not None:
            account.hit(self._keys, recipe, entry, "in the store")
        return True

    def close(self) -> None:
        """Write down what stands, if that is something new."""
        traces = self._keys.traces
        if not (
            self._recent
            and self._delivered == self._before.delivered
            and traces == self._before.traces
        ):
            used = self._before.used if self._recent else time.time()
            standing.write(self._file, Standing(traces, self._delivered, used))


def _ask_nobody(*_: Any) -> NoReturn:
    raise Unknown("what only the compiler can say is not asked for beforehand")
