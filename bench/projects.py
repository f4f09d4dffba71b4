"""One project of N sources for every build tool, and what each of them is told about it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from iron.toolchain.compiler import find_compiler

from .measure import user_environment

HERE = Path(__file__).resolve().parent
STAND_IN = HERE.parent / "tests" / "faults" / "stand_in.c"
HEADERS = 30
FLAGS = ("-O2",)


def free_compiler(directory: Path) -> Path:
    """The stand-in of the tests, a millisecond a run: what is measured is the build tool."""
    program = directory / "stand-in"
    real = find_compiler()
    command = [real.program, *real.leading, "-x", "c", "-O2", "-o", program]
    subprocess.run([*command, STAND_IN], check=True)
    return program


class Project:
    """N sources in `src`, each with three of the headers in `include`."""

    def __init__(self, directory: Path, count: int, compiler: str | Path) -> None:
        self.directory, self.count, self.compiler = directory, count, str(compiler)
        self.shared = directory.parent  # by the projects of one comparison
        self.include = directory / "include"
        self.sources = [directory / "src" / f"s{i}.cc" for i in range(count)]
        for path in (self.include, directory / "src"):
            path.mkdir(parents=True)
        for i in range(HEADERS):
            (self.include / f"h{i}.h").write_text(f"#ifndef H{i}\n#define H{i} {i}\n#endif\n")
        for i in range(count):
            self.edit(i, 0)
        self._describe()

    def edit(self, number: int, version: int) -> None:
        lines = [f'#include "h{(number * k + k) % HEADERS}.h"' for k in (1, 3, 7)]
        lines.append(f"int f{number}() {{ return {version}; }}")
        self.sources[number].write_text("\n".join(lines) + "\n")

    def _describe(self) -> None:
        flags = " ".join(FLAGS)
        names = [(f"src/s{i}.cc", f"out/s{i}.o") for i in range(self.count)]
        objects = " ".join(o for _, o in names)
        self.write(
            "build.ninja",
            f"rule cc\n  command = {self.compiler} {flags} -Iinclude -MD -MF $out.d -MT $out "
            "-c $in -o $out\n  depfile = $out.d\n  deps = gcc\n"
            + "".join(f"build {o}: cc {s}\n" for s, o in names)
            + f"build all: phony {objects}\ndefault all\n",
        )
        self.write(
            "Makefile",
            f"all: {objects}\nout/%.o: src/%.cc\n"
            f"\t@{self.compiler} {flags} -Iinclude -MD -MF $@.d -MT $@ -c $< -o $@\n"
            "-include $(wildcard out/*.d)\n",
        )
        self.write(
            "SConstruct.stock",
            f"env = Environment(CXX={self.compiler!r}, CPPPATH=['include'], CXXFLAGS={FLAGS!r})\n"
            f"for i in range({self.count}):\n    env.Object(f'out/s{{i}}.o', f'src/s{{i}}.cc')\n",
        )
        self.write(
            "SConstruct.iron",
            "import iron\n"
            f"env = Environment(tools=[iron.tool], AIEPATH=['include'], AIEFLAGS={FLAGS!r})\n"
            f"for i in range({self.count}):\n"
            "    env.AIEKernel(f'out/s{i}.o', f'src/s{i}.cc')\n",
        )

    def write(self, name: str, text: str) -> None:
        (self.directory / name).write_text(text)

    def clean(self) -> None:
        """As nobody has ever built it, with any tool."""
        for name in ("out", "store", ".ninja_log", ".ninja_deps", ".sconsign.dblite"):
            path = self.directory / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        (self.directory / "out").mkdir()

    def environment(self) -> dict[str, str]:
        return user_environment(
            self.shared, IRON_STORE=str(self.directory / "store"), IRON_CXX=self.compiler
        )

    def commands(self) -> dict[str, list[str | Path]]:
        """What a user types, for the sides that are processes."""
        scons: list[str | Path] = [sys.executable, "-m", "SCons", "-Q", "-s", "-j2", "-f"]
        sides: dict[str, list[str | Path]] = {
            "iron scons": [*scons, "SConstruct.iron"],
            "stock scons": [*scons, "SConstruct.stock"],
        }
        if ninja := shutil.which("ninja"):
            sides["ninja"] = [ninja, "--quiet", "-j2"]
        if make := shutil.which("make"):
            sides["make"] = [make, "-s", "-j2"]
        return sides
