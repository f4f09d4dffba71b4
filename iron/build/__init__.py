"""A generic content-addressed build layer on SCons.

Recipes (`Recipe`) name commands as data, a `Session` turns them into results in a `Store`. What
is there already costs a few stats; what is missing is made through one SCons walk. Knows nothing
of what is being built. Importing it imports neither SCons nor subprocess.
"""

from __future__ import annotations

from typing import Any

from .digests import digest, file_digest
from .errors import BuildError, Failure
from .identity import FunctionTool, ProgramTool, source_digest
from .locate import STORE_VARIABLES, store_root
from .recipe import In, IncludeDirs, Joined, Out, Recipe, Ref, Text, Tool, ToolDir
from .session import Result, Session, default_session
from .shared import Shared, SharedDirectory
from .store import Store
from .watch import Watch


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
    "Watch",
    "default_session",
    "digest",
    "file_digest",
    "source_digest",
    "store_root",
    "tool",
]
