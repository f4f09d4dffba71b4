"""A recipe: one command as data, with placeholders where paths of ours will stand.

Knows nothing of keys, files' contents, the store or SCons. `render` turns a recipe's arguments
into strings once somebody says where inputs and outputs are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol


class Tool(Protocol):
    """What runs a recipe. `identity` is equal for two tools exactly if they do the same."""

    @property
    def name(self) -> str: ...

    def identity(self) -> str: ...


@dataclass(frozen=True)
class In:
    """The path of `inputs[index]`."""

    index: int


@dataclass(frozen=True)
class Out:
    """The path of an output while it is being written."""

    name: str


@dataclass(frozen=True)
class IncludeDirs:
    """`-I<directory>` for each include directory, in order."""


@dataclass(frozen=True)
class ToolDir:
    """A lasting directory of the tool's own, in the store: its private cache. Never in a key."""

    name: str


class Joined:
    """One argument put together from parts: `Joined("-Wl,-Map,", Out("map"))`."""

    __slots__ = ("parts",)

    def __init__(self, *parts: str | In | Out | ToolDir) -> None:
        self.parts = parts

    def __repr__(self) -> str:
        return f"Joined{self.parts!r}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Joined) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)


@dataclass(frozen=True)
class Text:
    """Content known in memory, used in place of a file.

    It is kept in the store under its digest, so no later edit reaches it. It lies in no
    directory of the user's: `#include "x"` in it is looked up in the include directories.
    `name` is what diagnostics call it; only its suffix (the language) is part of a key.
    """

    text: str
    name: str

    @property
    def suffix(self) -> str:
        return os.path.splitext(self.name)[1]


@dataclass(frozen=True, eq=False)
class Ref:
    """An output of another recipe, by default its first."""

    recipe: Recipe
    output: str | None = None

    def __post_init__(self) -> None:
        if self.output is not None and self.output not in self.recipe.outputs:
            raise ValueError(
                f"{self.recipe.describe()} has no output {self.output!r}; "
                f"it has {', '.join(self.recipe.outputs)}"
            )

    @property
    def name(self) -> str:
        return self.recipe.outputs[0] if self.output is None else self.output


# A name that means itself in every script, option and shell.
_SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*").fullmatch

Argument = str | In | Out | IncludeDirs | ToolDir | Joined
Input = str | Text | Ref


@dataclass(frozen=True, eq=False)
class Recipe:
    """One command: see the fields. Compared by identity; what it makes is named by its key.

    `scan=True` says that the tool is a C or C++ compiler driver with GCC's options and that the
    inputs are its sources: their headers are found before, checked with a dependency file
    after, and `__FILE__` and debug paths are mapped. The options for that are added when the
    command runs; `argv` must not hold them.

    `staged` is for a tool that finds files by names in its working directory: each (name, index)
    puts `inputs[index]` there, the outputs are written there too, and argv says plain names.

    `begins` says of an output what its first bytes must be: a tool that succeeds with something
    else has failed.

    Args are checked at once: ValueError or TypeError names the recipe and the fault.
    """

    kind: str
    tool: Tool
    argv: tuple[Argument, ...]
    inputs: tuple[Input, ...]
    outputs: tuple[str, ...]
    include_dirs: tuple[str, ...] = ()
    scan: bool = False
    env: tuple[tuple[str, str | ToolDir], ...] = ()
    staged: tuple[tuple[str, int], ...] = ()
    begins: tuple[tuple[str, bytes], ...] = ()
    label: str = ""
    where: str = ""
    text: str = field(init=False, repr=False, default="")

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "argv", tuple(self.argv))
        put(self, "inputs", tuple(_input(i) for i in self.inputs))
        put(self, "outputs", tuple(self.outputs))
        put(self, "include_dirs", tuple(os.path.abspath(os.fspath(d)) for d in self.include_dirs))
        put(self, "env", tuple((name, value) for name, value in self.env))
        _check(self)
        staged = (self.staged,) if self.staged else ()
        put(self, "text", repr((self.argv, self.outputs, self.scan, self.env, *staged)))

    def describe(self) -> str:
        """How to speak of it to a person."""
        return self.label or f"{self.kind} {self.outputs[0]}"


def _input(item: Input) -> Input:
    if isinstance(item, (Text, Ref)):
        return item
    if isinstance(item, Recipe):
        raise TypeError(f"{item.describe()} as an input: say Ref(recipe) or Ref(recipe, output)")
    return os.path.abspath(os.fspath(item))


def _check(recipe: Recipe) -> None:
    def refuse(what: str) -> None:
        raise ValueError(f"recipe {recipe.label or recipe.kind!r} {recipe.where}: {what}")

    if not recipe.outputs:
        refuse("no outputs")
    for name in recipe.outputs:
        parts = name.split("/")
        if not name or name.startswith((".", "/")) or ".." in parts or "\n" in name:
            refuse(f"output {name!r} must be a plain name inside the result's directory")
    if len(set(recipe.outputs)) != len(recipe.outputs):
        refuse(f"an output twice: {recipe.outputs}")
    for path in (*(i for i in recipe.inputs if isinstance(i, str)), *recipe.include_dirs):
        if "\n" in path:
            refuse(f"{path!r}: a dependency file cannot say a name with a newline")
    if recipe.include_dirs and not recipe.scan:
        refuse("include directories without scan=True: their headers would be in no key")
    if recipe.include_dirs and IncludeDirs() not in recipe.argv:
        refuse("include directories, but no IncludeDirs() in argv")
    for argument in recipe.argv:
        _check_argument(recipe, argument, refuse)
    for name, index in recipe.staged:
        if not _SAFE(name) or name in recipe.outputs or not 0 <= index < len(recipe.inputs):
            refuse(f"staged file {name!r} must be a plain safe name, no output's, of an input")
    if len({name for name, _ in recipe.staged}) != len(recipe.staged):
        refuse(f"a staged name twice: {recipe.staged}")


def _check_argument(recipe: Recipe, argument: Argument, refuse: Callable[[str], None]) -> None:
    for part in argument.parts if isinstance(argument, Joined) else (argument,):
        if isinstance(part, In) and not 0 <= part.index < len(recipe.inputs):
            refuse(f"{part} with {len(recipe.inputs)} inputs")
        elif isinstance(part, Out) and part.name not in recipe.outputs:
            refuse(f"{part} is not among the outputs {recipe.outputs}")
        elif not isinstance(part, (str, In, Out, IncludeDirs, ToolDir)):
            raise TypeError(f"recipe {recipe.label or recipe.kind!r}: {part!r} in argv")
    if recipe.scan and argument in ("-MD", "-MMD", "-MF", "-M", "-MM"):
        refuse(f"{argument} in argv: dependency files are made by the build layer")


def render(
    recipe: Recipe,
    input_path: Callable[[int], str],
    output_path: Callable[[str], str],
    tool_dir: Callable[[str], str],
) -> list[str]:
    """The arguments (without the program) as strings."""

    def one(part: str | In | Out | ToolDir) -> str:
        if isinstance(part, In):
            return input_path(part.index)
        if isinstance(part, Out):
            return output_path(part.name)
        return tool_dir(part.name) if isinstance(part, ToolDir) else part

    out: list[str] = []
    for argument in recipe.argv:
        if isinstance(argument, IncludeDirs):
            out.extend("-I" + directory for directory in recipe.include_dirs)
        elif isinstance(argument, Joined):
            out.append("".join(one(part) for part in argument.parts))
        else:
            out.append(one(argument))
    return out
