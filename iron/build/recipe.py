"""A recipe: one command as data, with placeholders where paths of ours will stand.

Knows nothing of keys, files' contents, the store or SCons. `render` turns a recipe's arguments
into strings once somebody says where inputs and outputs are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import NoReturn, Protocol


class Tool(Protocol):
    """What runs a recipe. `identity` is equal for two tools exactly if they do the same."""

    @property
    def name(self) -> str:
        """What messages call it."""

    def identity(self) -> str:
        """Equal for two tools exactly if they do the same; a digest."""


_put = object.__setattr__


class _Frozen:
    """Cannot be changed once made. Plain code instead of `dataclass`, which every process that
    only wants a stored result would have to wait for."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be deleted")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._fields)
        return f"{type(self).__name__}({shown})"

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), self._values()

    def _values(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self._fields)


class _Value(_Frozen):
    """Equal to others of its type with equal fields."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), self._values()))


class In(_Value):
    """The path of `inputs[index]`."""

    __slots__ = _fields = ("index",)
    index: int

    def __init__(self, index: int) -> None:
        _put(self, "index", index)


class Out(_Value):
    """The path of an output while it is being written."""

    __slots__ = _fields = ("name",)
    name: str

    def __init__(self, name: str) -> None:
        _put(self, "name", name)


class IncludeDirs(_Value):
    """`-I<directory>` for each include directory, in order."""

    __slots__ = ()


class ToolDir(_Value):
    """A lasting directory of the tool's own, in the store: its private cache. Never in a key."""

    __slots__ = _fields = ("name",)
    name: str

    def __init__(self, name: str) -> None:
        _put(self, "name", name)


class ToolPath(str):
    """A path of the tool's own. Keys tell it by its `role`: what is there counts as part of the
    tool, which must name it in its identity."""

    __slots__ = ("role",)
    role: str

    def __new__(cls, text: str, role: str) -> ToolPath:
        made = super().__new__(cls, text)
        made.role = role
        return made

    def __repr__(self) -> str:
        return f"ToolPath({self.role!r})"


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


class Text(_Value):
    """Content known in memory, used in place of a file.

    It is kept in the store under its digest, so no later edit reaches it. It lies in no
    directory of the user's: `#include "x"` in it is looked up in the include directories.
    `name` is what diagnostics call it; only its suffix (the language) is part of a key.
    """

    __slots__ = _fields = ("text", "name")
    text: str
    name: str

    def __init__(self, text: str, name: str) -> None:
        _put(self, "text", text)
        _put(self, "name", name)

    @property
    def suffix(self) -> str:
        """The suffix of `name`, with its dot."""
        return os.path.splitext(self.name)[1]


class Ref(_Frozen):
    """An output of another recipe, by default its first."""

    __slots__ = _fields = ("recipe", "output")
    recipe: Recipe
    output: str | None

    def __init__(self, recipe: Recipe, output: str | None = None) -> None:
        if output is not None and output not in recipe.outputs:
            raise ValueError(
                f"{recipe.describe()} has no output {output!r}; it has {', '.join(recipe.outputs)}"
            )
        _put(self, "recipe", recipe)
        _put(self, "output", output)

    @property
    def name(self) -> str:
        """The name of the output."""
        return self.recipe.outputs[0] if self.output is None else self.output


def _is_safe(name: str) -> bool:
    """Whether it means itself in every script, option and shell."""
    return re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*", name) is not None


Argument = str | In | Out | IncludeDirs | ToolDir | Joined
Input = str | Text | Ref


class Recipe(_Frozen):
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

    _fields = (
        "kind", "tool", "argv", "inputs", "outputs", "include_dirs", "scan", "env", "staged",
        "begins", "label", "where",
    )  # fmt: skip

    def __init__(
        self,
        kind: str,
        tool: Tool,
        argv: Sequence[Argument],
        inputs: Sequence[Input],
        outputs: Sequence[str],
        include_dirs: Sequence[str | os.PathLike[str]] = (),
        scan: bool = False,
        env: Sequence[tuple[str, str | ToolDir]] = (),
        staged: Sequence[tuple[str, int]] = (),
        begins: Sequence[tuple[str, bytes]] = (),
        label: str = "",
        where: str = "",
    ) -> None:
        self.kind: str
        self.tool: Tool
        self.argv: tuple[Argument, ...]
        self.inputs: tuple[Input, ...]
        self.outputs: tuple[str, ...]
        self.include_dirs: tuple[str, ...]
        self.scan: bool
        self.env: tuple[tuple[str, str | ToolDir], ...]
        self.staged: tuple[tuple[str, int], ...]
        self.begins: tuple[tuple[str, bytes], ...]
        self.label: str
        self.where: str
        self.text: str
        self.__dict__.update(
            kind=kind,
            tool=tool,
            argv=tuple(argv),
            inputs=tuple(map(_input, inputs)),
            outputs=tuple(outputs),
            include_dirs=tuple(os.path.abspath(os.fspath(d)) for d in include_dirs),
            scan=scan,
            env=tuple((name, value) for name, value in env),
            staged=tuple(staged),
            begins=tuple(begins),
            label=label,
            where=where,
        )
        _check(self)
        more = (self.staged,) if self.staged else ()
        self.__dict__["text"] = repr((self.argv, self.outputs, self.scan, self.env, *more))

    def of(self, *inputs: Input, label: str) -> Recipe:
        """The same command for other inputs, as many as these."""
        if len(inputs) != len(self.inputs):
            raise ValueError(f"{self.describe()}: {len(inputs)} inputs for {len(self.inputs)}")
        other = object.__new__(Recipe)
        other.__dict__.update(self.__dict__, inputs=tuple(map(_input, inputs)), label=label)
        _check_paths(other)
        return other

    def describe(self) -> str:
        """How to speak of it to a person."""
        return self.label or f"{self.kind} {self.outputs[0]}"


def _input(item: Input) -> Input:
    if isinstance(item, (Text, Ref)):
        return item
    if isinstance(item, Recipe):
        raise TypeError(f"{item.describe()} as an input: say Ref(recipe) or Ref(recipe, output)")
    return os.path.abspath(os.fspath(item))


def _refuse(recipe: Recipe, what: str) -> NoReturn:
    raise ValueError(f"recipe {recipe.label or recipe.kind!r} {recipe.where}: {what}")


def _check_paths(recipe: Recipe) -> None:
    for path in (*(i for i in recipe.inputs if isinstance(i, str)), *recipe.include_dirs):
        if "\n" in path:
            _refuse(recipe, f"{path!r}: a dependency file cannot say a name with a newline")


def _check(recipe: Recipe) -> None:
    def refuse(what: str) -> None:
        _refuse(recipe, what)

    if not recipe.outputs:
        refuse("no outputs")
    for name in recipe.outputs:
        parts = name.split("/")
        if not name or name.startswith((".", "/")) or ".." in parts or "\n" in name:
            refuse(f"output {name!r} must be a plain name inside the result's directory")
    if len(set(recipe.outputs)) != len(recipe.outputs):
        refuse(f"an output twice: {recipe.outputs}")
    _check_paths(recipe)
    if recipe.include_dirs and not recipe.scan:
        refuse("include directories without scan=True: their headers would be in no key")
    if recipe.include_dirs and IncludeDirs() not in recipe.argv:
        refuse("include directories, but no IncludeDirs() in argv")
    for argument in recipe.argv:
        _check_argument(recipe, argument, refuse)
    for name, index in recipe.staged:
        if not _is_safe(name) or name in recipe.outputs or not 0 <= index < len(recipe.inputs):
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
