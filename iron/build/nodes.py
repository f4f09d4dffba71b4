"""The walk of a session: what is missing in the store as SCons nodes, and SCons' task master
going through them in this process. Targets of a user's SConstruct are `targets`'s.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import engine, make, steps
from .digests import digest
from .errors import BuildError, Failure
from .execute import Commands
from .keys import Keys, Unknown
from .progress import Progress
from .recipe import Input, Recipe, Ref

if TYPE_CHECKING:
    from .session import Session


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
        self.asking = steps.caller()

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
            with self.commands.progress.step(self.recipe.describe()), steps.inside(self.asking):
                make.ensure(self.keys, self.recipe, self.commands)
        except Exception as problem:
            return engine.failed(problem, executor.get_all_targets(), self)
        return 0


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
