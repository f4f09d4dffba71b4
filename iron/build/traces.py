"""Leaf keys remembered together with everything they were found from.

A *trace* says: this recipe had this key while these files, absent files and directories were as
they were. It holds as long as all of them still are, under the view of the request that asks; so
a key that is asked for again costs stats instead of scanning. Only recipes whose inputs are
files have traces. Knows nothing of how keys are made; keys.py decides what goes into one.
"""

from __future__ import annotations

from typing import NamedTuple

from .digests import Seen, Stamp, View, settled
from .identity import ProgramTool
from .memo import Memo
from .recipe import Recipe

# What a recipe is, by value: program, command, input files, include directories.
Name = tuple[str, str, tuple[str, ...], tuple[str, ...]]
Rows = tuple[tuple[str, Seen | None], ...]
Places = tuple[tuple[str, Stamp | None], ...]


class System(NamedTuple):
    """What names that only the compiler finds came to."""

    roots: tuple[str, ...]
    names: frozenset[str]
    digest: str


class Trace(NamedTuple):
    """One recipe in one state of the disk."""

    key: str
    tool: str  # the identity
    files: Rows  # what was read, None: what was not there
    places: Places  # directories that were listed
    memos: Places  # directories of the store where others may have put what changes the answer
    system: System | None

    def holds(self, view: View) -> bool:
        """Whether files and directories are as they were; tool and system are the caller's."""
        look, place = view.look, view.place
        for path, then in self.files:
            now = look(path)
            if now is not then and now != then:
                return False
        return all(place(path) == then for path, then in (*self.places, *self.memos))


class Recording(View):
    """A view that notes what is asked of another one."""

    def __init__(self, behind: View) -> None:
        super().__init__(behind.memory)
        self.behind = behind
        self.placed: dict[str, Stamp | None] = {}

    def look(self, path: str) -> Seen | None:
        seen = self._seen[path] = self.behind.look(path)
        return seen

    def place(self, path: str) -> Stamp | None:
        stamp = self.placed[path] = self.behind.place(path)
        return stamp


class Traces:
    """A session's memory of traces. Threads may share it: entries are only replaced."""

    def __init__(self) -> None:
        self.known: Memo[Name, Trace] = Memo(20_000)

    def get(self, name: Name | None) -> Trace | None:
        return None if name is None else self.known.get(name)

    def put(self, name: Name, trace: Trace) -> None:
        """A directory that was changed a moment ago may change again under the same stamp."""
        if all(stamp is None or settled(stamp) for _, stamp in (*trace.places, *trace.memos)):
            self.known[name] = trace
        else:
            self.known.pop(name, None)


def name_of(recipe: Recipe) -> Name | None:
    """None: a recipe without traces. Raises FileNotFoundError if there is no such program."""
    inputs = recipe.inputs
    for item in inputs:
        if not isinstance(item, str):
            return None
    tool = recipe.tool
    program = tool.path if isinstance(tool, ProgramTool) else tool.name
    return program, recipe.text, inputs, recipe.include_dirs  # type: ignore[return-value]
