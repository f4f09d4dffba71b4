"""Recipes as steps of a `scons` run: named targets that are handed out of the store.

In an SConstruct, a `RecipeAction` in a Builder makes named targets from the same recipes and the
same store as a session:

    def generator(target, source, env, for_signature):
        return RecipeAction(session, lambda target, source, env: my_recipe(source[0]))

    env["BUILDERS"]["Kernel"] = Builder(generator=generator, emitter=named_targets)

`named_targets` makes the targets check themselves: one is up to date exactly if it has the bytes
that the store holds for its recipe, whatever SCons' database thinks; so a target that was edited
by hand is restored, and deleting `.sconsign` costs nothing.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import atomic, engine, make
from .digests import hash_file
from .errors import BuildError
from .recipe import Recipe

if TYPE_CHECKING:
    from .result import Result
    from .session import Session

Produce = Callable[[list[str], list[str], Any], Recipe]


class DeliverAction(engine.ActionBase):  # type: ignore[misc]
    """Base of actions that hand results of the store to named targets.

    A subclass says what the result is; targets get its outputs in order. `signature` is all
    that SCons compares from run to run.
    """

    def signature(self, target: list[str], source: list[str], env: Any) -> str:
        raise NotImplementedError

    def find(self, target: list[str], source: list[str], env: Any) -> Result | None:
        """The result, if nothing needs to be made for it."""
        raise NotImplementedError

    def produce(self, target: list[str], source: list[str], env: Any) -> Result:
        """The result. Raises BuildError."""
        raise NotImplementedError

    def describe(self, target: list[str], source: list[str], env: Any) -> str:
        """The line that scons prints."""
        raise NotImplementedError

    def recipes(self, target: list[str], source: list[str], env: Any) -> list[Recipe]:
        """The recipes behind the result as far as they are known: for compile_commands.json."""
        return []

    # SCons' side of it

    def __str__(self) -> str:
        return type(self).__name__

    def strfunction(self, target: Any, source: Any, env: Any, executor: Any = None) -> str:
        return self.describe(paths_of(target), paths_of(source), env)

    def get_presig(self, target: Any, source: Any, env: Any, executor: Any = None) -> bytes:
        return self.signature(paths_of(target), paths_of(source), env).encode()

    def get_implicit_deps(
        self, target: Any, source: Any, env: Any, executor: Any = None
    ) -> list[Any]:
        return []

    def execute(self, target: Any, source: Any, env: Any, executor: Any = None) -> Any:
        if executor is not None:  # SCons passes empty lists along with it
            target, source = executor.get_all_targets(), executor.get_all_sources()
        try:
            result = self.produce(paths_of(target), paths_of(source), env)
            for node, output in zip(target, result.outputs, strict=False):
                deliver(result.path(output), node.get_abspath())
        except (BuildError, OSError) as problem:
            return engine.failed(problem, target, self)
        return 0


class RecipeAction(DeliverAction):
    """A recipe at named targets: hand it over, or a function (target paths, source paths, env)
    -> Recipe that makes it once the sources exist."""

    def __init__(self, session: Session | None, recipe: Recipe | Produce) -> None:
        super().__init__()
        self._session, self._recipe = session, recipe

    def session_of(self, env: Any) -> Session:
        """Where the results live."""
        if self._session is None:
            raise TypeError("a RecipeAction without a session")
        return self._session

    def recipe(self, target: list[str], source: list[str], env: Any) -> Recipe:
        if isinstance(self._recipe, Recipe):
            return self._recipe
        return self._recipe(target, source, env)

    def signature(self, target: list[str], source: list[str], env: Any) -> str:
        recipe = self.recipe(target, source, env)
        keys = self.session_of(env).keys()
        try:
            return keys.leaf(recipe)
        except Exception:  # sources that do not exist: SCons, or the build, will say so
            return keys.action(recipe)

    def recipes(self, target: list[str], source: list[str], env: Any) -> list[Recipe]:
        return [self.recipe(target, source, env)]

    def find(self, target: list[str], source: list[str], env: Any) -> Result | None:
        found = self.session_of(env).find(self.recipe(target, source, env))
        return found[0] if found else None

    def produce(self, target: list[str], source: list[str], env: Any) -> Result:
        return self.session_of(env).make(self.recipe(target, source, env))

    def describe(self, target: list[str], source: list[str], env: Any) -> str:
        recipe, session = self.recipe(target, source, env), self.session_of(env)
        try:
            if session.find(recipe) is not None:
                return f"from the store: {', '.join(map(os.path.relpath, target))}"
            argv = make.command_line(
                session.keys(), recipe, dict(zip(recipe.outputs, target, strict=False))
            )
        except Exception:
            return recipe.describe()
        return shlex.join(argv)


class NamedFile(engine.FileNode):  # type: ignore[misc]
    """A target that a DeliverAction delivers: up to date if it has the result's bytes."""

    __slots__ = ()

    def get_state(self) -> int:
        return _state(self)

    def is_up_to_date(self) -> bool:
        if any(self in d.right for d in getattr(self.attributes, "iron_declared", ())):
            return True
        executor = self.get_executor()
        action = engine.single_action(executor)
        if not isinstance(action, DeliverAction):
            return bool(super().is_up_to_date())
        targets = executor.get_all_targets()
        env = engine.build_environment(executor)
        try:
            result = action.find(paths_of(targets), paths_of(executor.get_all_sources()), env)
        except (BuildError, OSError):
            return False  # the build will say what is wrong
        if result is None or self not in targets:
            return False
        position = targets.index(self)
        if position >= len(result.outputs):
            return True
        return same_bytes(result.path(result.outputs[position]), self.get_abspath())


class TopDirectory(engine.DirNode):  # type: ignore[misc]
    """The directory of an SConstruct: what is asked for by default, and often looked at first."""

    __slots__ = ()

    def get_state(self) -> int:
        return _state(self)


def _state(node: Any) -> int:
    """The state of a node, all named targets having been looked at if SCons is at work."""
    if node.state == engine.NO_STATE:
        for declared in getattr(node.attributes, "iron_declared", ()):
            declared.check()
    state: int = node.state
    return state


def named_targets(target: list[Any], source: list[Any], env: Any) -> tuple[list[Any], list[Any]]:
    """An emitter: the targets check themselves against the store."""
    declared = env.get("IRON_DECLARED")
    for node in target:
        if type(node) is engine.EntryNode:
            node.disambiguate()
        if type(node) is engine.FileNode:
            node.__class__ = NamedFile
    if isinstance(declared, Declared):
        declared.add(target)
    return target, source


class Declared:
    """The named targets of an SConstruct. All clones of an environment share it."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.right: set[Any] = set()  # once they are checked: as they should be
        self._checked = False

    def add(self, nodes: Sequence[Any]) -> None:
        """Any of them, or the top directory, may be the first that SCons looks at."""
        if nodes and not self.nodes:
            top = nodes[0].fs.Top
            if type(top) is engine.DirNode:
                top.__class__ = TopDirectory
            top.attributes.iron_declared = (*getattr(top.attributes, "iron_declared", ()), self)
        for node in nodes:
            node.attributes.iron_declared = (self,)
        self.nodes.extend(nodes)

    def check(self) -> None:
        """Look at all of them at once, as soon as all are declared and are to be built."""
        if not self._checked and engine.scons_builds():
            self._checked = True
            from . import upfront

            self.right = upfront.check([n for n in self.nodes if type(n) is NamedFile])

    def recipes(self) -> list[Recipe]:
        """The recipes behind all of them."""
        out: list[Recipe] = []
        for executor in {id(e): e for e in (node.get_executor() for node in self.nodes)}.values():
            action = engine.single_action(executor)
            if isinstance(action, DeliverAction):
                targets, sources = executor.get_all_targets(), executor.get_all_sources()
                env = engine.build_environment(executor)
                out += action.recipes(paths_of(targets), paths_of(sources), env)
        return out


def paths_of(nodes: Any) -> list[str]:
    """Where the files of nodes are."""
    return [node.rfile().get_abspath() for node in nodes]


def same_bytes(stored: str, delivered: str) -> bool:
    """Whether a delivered file is what the store holds; a link to it is, without reading."""
    try:
        if os.path.samefile(stored, delivered):
            return True
        return hash_file(stored)[1] == hash_file(delivered)[1]
    except OSError:
        return False


_swept: set[str] = set()  # directories of targets that this process has swept once


def deliver(stored: str, target: str) -> None:
    """`target` becomes the stored file, at once: a hard link, or a copy where that cannot be."""
    directory = os.path.dirname(target)
    os.makedirs(directory, exist_ok=True)
    if directory not in _swept:
        _swept.add(directory)
        atomic.sweep(directory)
    temporary = atomic.name_beside(target)
    try:
        try:
            os.link(stored, temporary)
        except OSError:
            shutil.copy2(stored, temporary)
        os.replace(temporary, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)  # replacing a link by a link to the same file leaves it
