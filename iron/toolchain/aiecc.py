"""mlir-aie's own driver as one coarse step: for versions whose passes we do not know, for designs
of several devices, and for what only it makes (full ELF).

Any change remakes everything. It runs in a directory of its own with just the objects a design
names, because it looks for them in its working directory first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iron.build import ProgramTool, Recipe, Ref, Text
from iron.build.environ import SYSTEM_PATH
from iron.formats.xclbin import MAGIC

from .compiler import ToolNotFound
from .mlir_aie import MlirAie, help_of
from .peano import ELF, Peano

NAMES = ("aiecc", "aiecc.py")
_CHESS = ("--unified", "--xchesscc", "--xbridge")


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
        *,
        full_elf: bool,
        chess: bool,
        label: str,
    ) -> Recipe:
        """``raw.xclbin`` and ``insts.bin``, or ``design.elf``. `tools` are further programs that
        it runs: they are part of what it is."""
        if full_elf and not self.modern:
            raise ToolNotFound(
                f"{label}: full_elf=True needs mlir-aie of 2026-08 or later; {self.program} "
                "cannot make one"
            )
        extra = _identity(mlir_aie, peano, tools)
        given = [Ref(o) if isinstance(o, Recipe) else o for o in objects.values()]
        staged = (("aie.mlir", 0), *((name, 1 + i) for i, name in enumerate(objects)))
        outputs, begins = _outputs(full_elf)
        with_compiler = _CHESS if chess else (f"--peano={peano.root}",)
        if self.modern:
            argv = self._modern(with_compiler, full_elf)
        else:
            argv = self._classic(with_compiler)
        program = self.program
        if program.endswith(".py"):  # its first line names a Python of its own choosing
            extra, argv, program = (*extra, program), (program, *argv), sys.executable
        return Recipe(
            "aiecc",
            ProgramTool(program, identity_extra=extra, response_file=False),
            (*argv, *flags),
            (text, *given),
            outputs,
            env=_environment(mlir_aie, peano, tools, chess=chess),
            staged=staged,
            begins=begins,
            label=label,
        )

    def _modern(self, compiler: tuple[str, ...], full_elf: bool) -> tuple[str, ...]:
        wanted = (
            ("--get-full-elf", "--full-elf-name=design.elf")
            if full_elf
            else (
                "--get-npu-insts", "--npu-insts-name=insts.bin", "--get-xclbin",
                "--xclbin-name=raw.xclbin",
            )
        )  # fmt: skip
        return (
            "aie.mlir", *compiler, *wanted, "--tmpdir=prj", "--output-dir=.",
            "--get-input-with-addresses",
        )  # fmt: skip

    def _classic(self, compiler: tuple[str, ...]) -> tuple[str, ...]:
        without = () if compiler == _CHESS else ("--no-xchesscc", "--no-xbridge")
        return (
            "--no-aiesim", "--no-compile-host", *without, *compiler,
            "--aie-generate-npu-insts", "--npu-insts-name=insts.bin",
            "--aie-generate-xclbin", "--xclbin-name=raw.xclbin", "--tmpdir=prj", "aie.mlir",
        )  # fmt: skip


def _environment(
    mlir_aie: MlirAie, peano: Peano, tools: Sequence[str], *, chess: bool
) -> tuple[tuple[str, str], ...]:
    """The driver looks for what it runs on PATH, and a Python one for its package."""
    homes = dict.fromkeys((os.path.join(mlir_aie.root, "bin"), *map(os.path.dirname, tools)))
    path = ":".join((*homes, os.path.join(peano.root, "bin"), SYSTEM_PATH))
    aietools = (("AIETOOLS", os.environ.get("AIETOOLS", "")),) if chess else ()
    return (("PATH", path), ("PYTHONPATH", os.path.join(mlir_aie.root, "python")), *aietools)


def _outputs(full_elf: bool) -> tuple[tuple[str, ...], tuple[tuple[str, bytes], ...]]:
    if full_elf:
        return ("design.elf",), (("design.elf", ELF),)
    return ("raw.xclbin", "insts.bin"), (("raw.xclbin", MAGIC),)


def _identity(mlir_aie: MlirAie, peano: Peano, tools: Sequence[str]) -> tuple[str, ...]:
    """Everything the driver runs or loads, as far as it can be named."""
    own = [os.path.join(mlir_aie.root, "bin", n) for n in ("aie-opt", "aie-translate")]
    theirs = [os.path.join(peano.root, "bin", n) for n in ("clang", "opt", "llc", "ld.lld")]
    version = f"mlir-aie {mlir_aie.version}" if mlir_aie.version else "mlir-aie from source"
    return (version, *(p for p in (*own, *theirs, *tools) if os.path.isfile(p)))
