"""mlir-aie's own driver as one coarse step: for versions whose passes we do not know, and for what
only it can do.

Any change remakes everything. It runs in a directory of its own with just the objects a design
names, because it looks for them in its working directory first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iron.build import Joined, ProgramTool, Recipe, Ref, Text, ToolPath
from iron.build.environ import SYSTEM_PATH
from iron.formats.xclbin import MAGIC

from .chess import version_files
from .compiler import ToolNotFound
from .mlir_aie import MlirAie, help_of
from .peano import ELF, Peano

NAMES = ("aiecc", "aiecc.py")
_CHESS = ("--unified", "--xchesscc", "--xbridge")


@dataclass(frozen=True)
class Wanted:
    """What is to come out: of the device `device` ("" when there is only one) an xclbin and the
    instructions of `sequences` ((device, sequence), all that it has), or one full ELF of all."""

    device: str
    sequences: tuple[tuple[str, str], ...]
    full_elf: bool

    def outputs(self) -> tuple[str, ...]:
        if self.full_elf:
            return ("design.elf",)
        return ("raw.xclbin", *(instructions_file(*pair) for pair in self.sequences))


def instructions_file(device: str, sequence: str) -> str:
    return f"insts_{device}_{sequence}.bin"


@dataclass(frozen=True)
class Aiecc:
    """The driver of one installation: its program, and which of its two languages it takes."""

    program: str
    modern: bool

    @staticmethod
    def find(mlir_aie: MlirAie) -> Aiecc:
        """What its ``--help`` says decides; ToolNotFound when there is none."""
        for name in NAMES:
            if mlir_aie.has(name):
                path = mlir_aie.program(name).path
                return Aiecc(path, "--get-npu-insts" in help_of(path))
        raise ToolNotFound(
            f"mlir-aie in {mlir_aie.root} has neither bin/aiecc nor bin/aiecc.py; reinstall it"
        )

    def recipe(
        self,
        mlir_aie: MlirAie,
        peano: Peano,
        tools: Sequence[str],
        text: Text,
        objects: Mapping[str, Recipe | str],
        flags: Sequence[str],
        wanted: Wanted,
        *,
        chess: bool,
        label: str,
    ) -> Recipe:
        """What is wanted, as `Wanted.outputs` names it. `objects` are the files it finds in its
        working directory, by name; `tools` are further programs that it runs: they are part of
        what it is."""
        extra = _identity(mlir_aie, peano, tools, self.program)
        if chess:
            extra += version_files(os.environ.get("AIETOOLS", ""))
        given = [Ref(o) if isinstance(o, Recipe) else o for o in objects.values()]
        outputs = wanted.outputs()
        compiler = _CHESS if chess else (Joined("--peano=", ToolPath(peano.root, "peano")),)
        argv = (self._modern if self.modern else self._classic)(compiler, wanted)
        program = self.program
        if program.endswith(".py"):  # its first line names a Python of its own choosing
            script = ToolPath(program, "aiecc.py")
            extra, argv, program = (*extra, program), (script, *argv), sys.executable
        return Recipe(
            "aiecc",
            ProgramTool(program, identity_extra=extra, response_file=False),
            (*argv, *((f"--device-name={wanted.device}",) if wanted.device else ()), *flags),
            (text, *given),
            outputs,
            env=_environment(mlir_aie, peano, tools, chess=chess),
            staged=(("aie.mlir", 0), *((name, 1 + i) for i, name in enumerate(objects))),
            begins=((outputs[0], ELF if wanted.full_elf else MAGIC),),
            label=label,
        )

    def _modern(self, compiler: tuple[str | Joined, ...], wanted: Wanted) -> _Words:
        """tools/aiecc/CommandLineOptions.h, 2026-08."""
        what = (
            ("--get-full-elf", "--full-elf-name=design.elf")
            if wanted.full_elf
            else (
                "--get-npu-insts", "--npu-insts-name=insts_{0}.bin", "--get-xclbin",
                "--xclbin-name=raw.xclbin",
            )
        )  # fmt: skip
        return (
            "aie.mlir", *compiler, *what, "--tmpdir=prj", "--output-dir=.",
            "--get-input-with-addresses",
        )  # fmt: skip

    def _classic(self, compiler: tuple[str | Joined, ...], wanted: Wanted) -> _Words:
        """python/compiler/aiecc/cl_arguments.py, 2026-03."""
        without = () if compiler == _CHESS else ("--no-xchesscc", "--no-xbridge")
        what = (
            ("--generate-full-elf", "--full-elf-name=design.elf")
            if wanted.full_elf
            else (
                "--aie-generate-npu-insts", "--npu-insts-name=insts_{0}_{1}.bin",
                "--aie-generate-xclbin", "--xclbin-name=raw.xclbin",
            )
        )  # fmt: skip
        return (
            "--no-aiesim", "--no-compile-host", *without, *compiler, *what, "--tmpdir=prj",
            "aie.mlir",
        )  # fmt: skip


_Words = tuple[str | Joined, ...]


def _environment(
    mlir_aie: MlirAie, peano: Peano, tools: Sequence[str], *, chess: bool
) -> tuple[tuple[str, str], ...]:
    """The driver looks for what it runs on PATH, and a Python one for its package."""
    homes = dict.fromkeys((os.path.join(mlir_aie.root, "bin"), *map(os.path.dirname, tools)))
    path = ":".join((*homes, os.path.join(peano.root, "bin"), SYSTEM_PATH))
    package = os.path.join(mlir_aie.root, "python")
    own = (("PATH", ToolPath(path, "tools")), ("PYTHONPATH", ToolPath(package, "python")))
    if not chess:
        return own
    return (*own, ("AIETOOLS", ToolPath(os.environ.get("AIETOOLS", ""), "aietools")))


def _identity(
    mlir_aie: MlirAie, peano: Peano, tools: Sequence[str], program: str
) -> tuple[str, ...]:
    """Everything the driver runs or loads, as far as it can be named: it counts by content."""
    own = [os.path.join(mlir_aie.root, "bin", n) for n in ("aie-opt", "aie-translate")]
    theirs = [
        os.path.join(peano.root, "bin", n)
        for n in ("clang", "opt", "llc", "ld.lld", "llvm-link", "llvm-objcopy")
    ]
    version = f"mlir-aie {mlir_aie.version}" if mlir_aie.version else "mlir-aie from source"
    loaded = _python_parts(mlir_aie.root) if program.endswith(".py") else ()
    files = (*own, *theirs, *tools, *loaded, *peano.libraries("aie2"), *peano.libraries("aie2p"))
    return (version, *(p for p in files if os.path.isfile(p)))


def _python_parts(root: str) -> tuple[str, ...]:
    """What the driver in Python imports of its own: its modules and the compiled library."""
    package = os.path.join(root, "python", "aie")
    found = []
    for folder in ("compiler/aiecc", "_mlir_libs"):
        directory = os.path.join(package, folder)
        names = sorted(os.listdir(directory)) if os.path.isdir(directory) else ()
        found += [os.path.join(directory, n) for n in names if n.endswith((".py", ".so"))]
    return tuple(found)
