"""Recipes as SCons nodes and actions: for walks in process and for steps of a `scons` run.

In process, `walk` declares the graph of what is missing and runs it. In an SConstruct, a
`RecipeAction` in a Builder makes *named* targets from the same recipes and the same store:

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

from . import engine, make
from .digests import digest, hash_file
from .errors import BuildError, Failure
from .execute import Commands
from .keys import Keys, Unknown
from .progress import Progress
from .recipe import Input, Recipe, Ref

if TYPE_CHECKING:
    from .session import Result, Session

Produce = Callable[[list[str], list[str], Any], Recipe]


class StoredFile(engine.FileNode):  # type: ignore[misc]
    """An output that is to appear in the store. Its name holds the result's key, but is no path:
    what damage may lie there does not matter. It is declared only if the result is missing, so
    it is never up to date, and it needs no signature."""

    __slots__ = ()

    def is_up_to_date(self) -> bool:
        return False

    def prepare(self) -> None:
        return

    def visited(self) -> None:
        return

    def built(self) -> None:
        self.clear_memoized_values()


class StoreAction(engine.ActionBase):  # type: ignore[misc]
    """Makes a result of the store, in process."""

    def __init__(self, keys: Keys, recipe: Recipe, commands: Commands) -> None:
        super().__init__()
        self.keys, self.recipe, self.commands = keys, recipe, commands
        self.inside = make.steps_inside()

    def __str__(self) -> str:
        return self.recipe.describe()

    def strfunction(self, target: Any, source: Any, env: Any, executor: Any = None) -> str:
        return self.recipe.describe()

    def get_presig(self, target: Any, source: Any, env: Any, executor: Any = None) -> bytes:
        return self.keys.action(self.recipe).encode()

    def get_implicit_deps(
        self, target: Any, source: Any, env: Any, executor: Any = None
    ) -> list[Any]:
        return []

    def execute(self, target: Any, source: Any, env: Any, executor: Any = None) -> Any:
        try:
            with self.commands.progress.step(self.recipe.describe()), make.inside(self.inside):
                make.ensure(self.keys, self.recipe, self.commands)
        except Exception as problem:
            return _scons_error(problem, executor.get_all_targets(), self)
        return 0


def _scons_error(problem: Exception, targets: Any, action: Any) -> Any:
    """For SCons, with the exception itself in `cause`."""
    status = 1
    if isinstance(problem, BuildError) and problem.failures[0].status:
        status = problem.failures[0].status
    error = engine.Error(node=targets, errstr=str(problem), status=abs(status), action=action)
    error.cause = problem
    return error


def walk(session: Session, keys: Keys, recipes: Sequence[Recipe]) -> None:
    """Make what is missing of these recipes and of what they refer to."""
    progress = Progress(0)
    commands = Commands(progress)
    graph = _Graph(keys, commands)
    for recipe in recipes:
        _know(keys, recipe)  # a compiler may have to be asked: not under SCons' lock
    with engine.LOCK:
        graph.env = engine.BuildEnvironment(engine.BuildFS())
        targets = [node for recipe in recipes for node in graph.declare(recipe)[:1]]
    jobs = max(1, min(session.jobs, graph.missing))
    progress.total = graph.missing
    try:
        failures = engine.walk(targets, jobs, commands.cancel, progress.tick)
    finally:
        progress.close()
    if not failures:
        return
    for problem in failures:
        if not isinstance(problem, BuildError):
            raise problem
    raise BuildError([f for problem in failures for f in _failures(problem)])


def _know(keys: Keys, recipe: Recipe) -> None:
    """Work out the keys of a recipe and all it refers to, as far as they can be known."""
    for item in recipe.inputs:
        if isinstance(item, Ref):
            _know(keys, item.recipe)
    with contextlib.suppress(Unknown):
        keys.leaf(recipe)


def _failures(problem: BaseException) -> list[Failure]:
    assert isinstance(problem, BuildError)
    return problem.failures


class _Graph:
    """The nodes of one walk, one per result."""

    def __init__(self, keys: Keys, commands: Commands) -> None:
        self.keys, self.commands = keys, commands
        self.env: Any = None
        self.missing = 0
        self._made: dict[Recipe, list[Any]] = {}

    def declare(self, recipe: Recipe) -> list[Any]:
        """The target nodes of a recipe that is to be made, and all it needs; none if the store
        has it."""
        nodes = self._made.get(recipe)
        if nodes is None:
            found = self.keys.result(recipe) is not None
            nodes = self._made[recipe] = [] if found else self._declare(recipe)
        return nodes

    def _declare(self, recipe: Recipe) -> list[Any]:
        name = self._name(recipe)
        nodes = [self.env.fs.File(f"{name}/{output}") for output in recipe.outputs]
        if nodes[0].has_builder():
            return nodes  # the same key by another recipe
        for node in nodes:
            node.__class__ = StoredFile
            node.store_info = 0
        self.missing += 1
        sources = [node for item in recipe.inputs for node in self._upstream(item)]
        action = StoreAction(self.keys, recipe, self.commands)
        builder = engine.Builder(action=action, name="Recipe")
        return list(builder(self.env, nodes, sources))

    def _upstream(self, item: Input) -> list[Any]:
        """The node of an input that is to be made first, if any."""
        if not isinstance(item, Ref):
            return []
        nodes = self.declare(item.recipe)
        return nodes and [nodes[item.recipe.outputs.index(item.name)]]

    def _name(self, recipe: Recipe) -> str:
        """Equal for recipes of one key, by the key or, while it is not known, by what goes in."""
        try:
            return self.keys.leaf(recipe)
        except Unknown:
            upstream = [
                f"{self._name(i.recipe)}/{i.name}" for i in recipe.inputs if isinstance(i, Ref)
            ]
            own = [repr(i) for i in recipe.inputs if not isinstance(i, Ref)]
            text = digest(self.keys.action(recipe), *upstream, *own, *recipe.include_dirs)
            return f"pending-{text}"


# ------------------------------------------------------------------ steps of a scons run


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
        return self.describe(_paths(target), _paths(source), env)

    def get_presig(self, target: Any, source: Any, env: Any, executor: Any = None) -> bytes:
        return self.signature(_paths(target), _paths(source), env).encode()

    def get_implicit_deps(
        self, target: Any, source: Any, env: Any, executor: Any = None
    ) -> list[Any]:
        return []

    def execute(self, target: Any, source: Any, env: Any, executor: Any = None) -> Any:
        if executor is not None:  # SCons passes empty lists along with it
            target, source = executor.get_all_targets(), executor.get_all_sources()
        try:
            result = self.produce(_paths(target), _paths(source), env)
            for node, output in zip(target, result.outputs, strict=False):
                deliver(result.path(output), node.get_abspath())
        except (BuildError, OSError) as problem:
            return _scons_error(problem, target, self)
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

    def is_up_to_date(self) -> bool:
        executor = self.get_executor()
        action = engine.single_action(executor)
        if not isinstance(action, DeliverAction):
            return bool(super().is_up_to_date())
        targets = executor.get_all_targets()
        env = engine.build_environment(executor)
        try:
            result = action.find(_paths(targets), _paths(executor.get_all_sources()), env)
        except (BuildError, OSError):
            return False  # the build will say what is wrong
        if result is None or self not in targets:
            return False
        position = targets.index(self)
        if position >= len(result.outputs):
            return True
        return same_bytes(result.path(result.outputs[position]), self.get_abspath())


def named_targets(target: list[Any], source: list[Any], env: Any) -> tuple[list[Any], list[Any]]:
    """An emitter: the targets check themselves against the store."""
    for node in target:
        if type(node) is engine.EntryNode:
            node.disambiguate()
        if type(node) is engine.FileNode:
            node.__class__ = NamedFile
    declared = env.get("IRON_DECLARED")
    if isinstance(declared, Declared):
        declared.nodes.extend(target)
    return target, source


class Declared:
    """The named targets of an SConstruct. All clones of an environment share it."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []

    def recipes(self) -> list[Recipe]:
        """The recipes behind all of them."""
        out: list[Recipe] = []
        for executor in {id(e): e for e in (node.get_executor() for node in self.nodes)}.values():
            action = engine.single_action(executor)
            if isinstance(action, DeliverAction):
                targets, sources = executor.get_all_targets(), executor.get_all_sources()
                env = engine.build_environment(executor)
                out += action.recipes(_paths(targets), _paths(sources), env)
        return out


def _paths(nodes: Any) -> list[str]:
    return [node.rfile().get_abspath() for node in nodes]


def same_bytes(stored: str, delivered: str) -> bool:
    """Whether a delivered file is what the store holds; a link to it is, without reading."""
    try:
        if os.path.samefile(stored, delivered):
            return True
        return hash_file(stored)[1] == hash_file(delivered)[1]
    except OSError:
        return False


def deliver(stored: str, target: str) -> None:
    """`target` becomes the stored file, at once: a hard link, or a copy where that cannot be."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    temporary = f"{target}.{os.getpid()}.{os.urandom(4).hex()}"
    try:
        try:
            os.link(stored, temporary)
        except OSError:
            shutil.copy2(stored, temporary)
        os.replace(temporary, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)  # replacing a link by a link to the same file leaves it
