"""Steps that only move files: ready-made files as something with a key, packages put together."""

from __future__ import annotations

import os

from iron.build import FunctionTool, In, Out, Recipe

_OWN = ("iron.toolchain.files",)


def placing(kind: str) -> FunctionTool:
    """The tool that puts copies of its inputs at its outputs: arguments from, to, from, to, ..."""
    return FunctionTool(kind, place, _OWN)


def given_file(path: str) -> Recipe:
    """A file given as it is, as something that has a key."""
    return Recipe(
        "given-object",
        placing("given-object"),
        (In(0), Out("kernel.o")),
        (path,),
        ("kernel.o",),
        label=os.path.basename(path),
    )


def place(argv: list[str]) -> None:
    """Copy files, and whether they can be executed: from, to, from, to, ..."""
    import shutil

    for source, target in zip(argv[::2], argv[1::2], strict=True):
        shutil.copy(source, target)
