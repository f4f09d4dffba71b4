"""A generic content-addressed build layer on SCons.

Recipes (`Recipe`) name commands as data, a `Session` turns them into results in a `Store`. What
is there already costs a few stats; what is missing is made through one SCons walk. Knows nothing
of what is being built. Importing it imports neither SCons nor subprocess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .digests import digest, file_digest
    from .errors import BuildError, Failure
    from .identity import FunctionTool, ProgramTool, source_digest
    from .locate import STORE_VARIABLES, open_store, store_root
    from .recipe import In, IncludeDirs, Joined, Out, Recipe, Ref, Text, Tool, ToolDir, ToolPath
    from .result import Result
    from .session import Session, default_session
    from .shared import Shared, SharedDirectory
    from .store import Store
    from .watch import Watch

_HOMES = {
    name: home
    for home, names in {
        "digests": "digest file_digest",
        "errors": "BuildError Failure",
        "identity": "FunctionTool ProgramTool source_digest",
        "locate": "STORE_VARIABLES open_store store_root",
        "recipe": "In IncludeDirs Joined Out Recipe Ref Text Tool ToolDir ToolPath",
        "result": "Result",
        "session": "Session default_session",
        "shared": "Shared SharedDirectory",
        "store": "Store",
        "watch": "Watch",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> Any:
    """What is public here comes from its module when it is first used: whoever only looks into
    the store loads nothing that makes results."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def tool(env: Any, **arguments: Any) -> None:
    """The SCons tool: `Environment(tools=[iron.build.tool])`; see `sconstool.generate`."""
    from .sconstool import generate

    generate(env, **arguments)


__all__ = [
    "STORE_VARIABLES",
    "BuildError",
    "Failure",
    "FunctionTool",
    "In",
    "IncludeDirs",
    "Joined",
    "Out",
    "ProgramTool",
    "Recipe",
    "Ref",
    "Result",
    "Session",
    "Shared",
    "SharedDirectory",
    "Store",
    "Text",
    "Tool",
    "ToolDir",
    "ToolPath",
    "Watch",
    "default_session",
    "digest",
    "file_digest",
    "open_store",
    "source_digest",
    "store_root",
    "tool",
]
