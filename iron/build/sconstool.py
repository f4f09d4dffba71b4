"""The SCons tool of this layer: `Environment(tools=[iron.build.tool])`.

Gives an environment `IRON_SESSION` and a builder `Recipe`, whose `recipe` argument is a Recipe or
a function (target paths, source paths, env) -> Recipe:

    env = Environment(tools=[iron.build.tool])
    env.Recipe("add.o", "add.cc", recipe=lambda target, source, env: compile_recipe(source[0]))
    env.CompileCommands("compile_commands.json")

Nothing is probed when the tool is loaded. It is passed as a callable: loaded by name from a
toolpath, it would take the package's place in `sys.modules`.
"""

from __future__ import annotations

from typing import Any

from . import engine, targets
from .recipe import Recipe
from .session import Session, default_session


def generate(env: Any, session: Session | None = None, **_: Any) -> None:
    """Set the variables and the builder; a session given to the environment already is kept."""
    engine.spare_collector()
    if session is not None or "IRON_SESSION" not in env:
        env["IRON_SESSION"] = session or default_session()
    if "IRON_DECLARED" not in env:
        env["IRON_DECLARED"] = targets.Declared()
    env.AddMethod(_compile_commands, "CompileCommands")
    env["BUILDERS"]["Recipe"] = engine.Builder(
        action=EnvironmentAction(), emitter=targets.named_targets, name="Recipe"
    )


def exists(env: Any) -> bool:
    return True


def _compile_commands(env: Any, target: str = "compile_commands.json") -> Any:
    """`env.CompileCommands()`: a target that lists the compiles of all targets of ours, also of
    those declared later, for editors. It is remade in every run that asks for it."""

    def write(target: Any, source: Any, env: Any) -> None:
        from . import compdb

        recipes = env["IRON_DECLARED"].recipes()
        compdb.write(target[0].get_abspath(), compdb.entries(env["IRON_SESSION"], *recipes))

    made = env.Command(target, [], env.Action(write, "list compiles in $TARGET"))
    env.Precious(made)
    return env.AlwaysBuild(made)


class EnvironmentAction(targets.RecipeAction):
    """A RecipeAction that finds session and recipe in the construction environment."""

    def __init__(self) -> None:
        super().__init__(None, _from_environment)

    def session_of(self, env: Any) -> Session:
        session: Session = env["IRON_SESSION"]
        return session


def _from_environment(target: list[str], source: list[str], env: Any) -> Recipe:
    recipe = env["recipe"]
    if isinstance(recipe, Recipe):
        return recipe
    made: Recipe = recipe(target, source, env)
    return made
