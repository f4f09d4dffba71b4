"""Finds the machine's own C++ compiler and archiver: the tools of the host target.

Order: ``IRON_CXX``, ``CXX``, ``clang++``, ``g++``, ``c++``, the ``zig`` of the ziglang wheel. One
resolver for keys, builds and reports.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from iron.build import ProgramTool

CANDIDATES = ("clang++", "g++", "c++")


class ToolNotFound(Exception):
    """A tool that a build needs and that is not on this machine."""


@dataclass(frozen=True)
class Command:
    """A program and the arguments that always come first (``zig`` and ``c++``)."""

    program: str
    leading: tuple[str, ...] = ()

    @property
    def tool(self) -> ProgramTool:
        return ProgramTool(self.program)

    def __str__(self) -> str:
        import shlex

        return shlex.join((self.program, *self.leading))


def find_compiler() -> Command:
    """The C++ compiler to use; ToolNotFound says what was looked for."""
    for variable in ("IRON_CXX", "CXX"):
        asked = os.environ.get(variable)
        if asked:
            import shlex

            words = shlex.split(asked)
            path = which(words[0])
            if path is None:
                raise ToolNotFound(
                    f"{variable}={asked!r} names no program on this machine; "
                    f"unset it to use one of {', '.join(CANDIDATES)}"
                )
            return Command(path, tuple(words[1:]))
    for name in CANDIDATES:
        path = which(name)
        if path is not None:
            return Command(path)
    zig = find_zig()
    if zig is not None:
        return Command(zig, ("c++",))
    raise ToolNotFound(
        f"no C++ compiler: looked for {', '.join(CANDIDATES)} on PATH and for the ziglang package; "
        "install one (Debian: apt-get install g++; anywhere: pip install ziglang) or set CXX"
    )


def find_archiver(compiler: Command) -> Command:
    """The ``ar`` to use with `compiler`; ToolNotFound says what was looked for."""
    asked = os.environ.get("AR")
    for name in (*((asked,) if asked else ()), "ar", "llvm-ar"):
        path = which(name)
        if path is not None:
            return Command(path)
    zig = compiler.program if compiler.leading == ("c++",) else find_zig()
    if zig is not None:
        return Command(zig, ("ar",))
    raise ToolNotFound("no archiver: looked for ar and llvm-ar on PATH; install binutils or set AR")


def which(program: str) -> str | None:
    """`shutil.which`; a module that is not needed for what is found in the store."""
    import shutil

    return shutil.which(program)


def find_zig() -> str | None:
    """The program inside the ziglang wheel, None when the wheel is not installed."""
    import importlib.util

    spec = importlib.util.find_spec("ziglang")
    for directory in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = os.path.join(directory, "zig")
        if os.access(path, os.X_OK):
            return path
    return None
