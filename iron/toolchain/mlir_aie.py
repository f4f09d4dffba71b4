"""mlir-aie's aie-opt and aie-translate: each step of theirs as a recipe, and which version it is.

Knows pipelines (as data) and option names; does not know what a design's steps are for.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from iron.build import FunctionTool, In, Out, ProgramTool, Recipe, Ref, Text

from .compiler import ToolNotFound
from .pipelines import Generation, by_passes, by_version
from .resolver import Found, version_of

CDO = b"\x04\0\0\0CDO\0"
_HERE = "iron.toolchain.mlir_aie"
CDO_PARTS = ("elfs", "init", "enable")


@dataclass(frozen=True)
class MlirAie:
    """An installation. `version` is its wheel's, None for another kind of installation."""

    root: str
    version: str | None = None

    @staticmethod
    def of(found: Found) -> MlirAie:
        wheel = found.source == "the mlir_aie wheel"
        return MlirAie(found.path, version_of("mlir-aie") if wheel else None)

    def program(self, name: str) -> ProgramTool:
        """One of its programs; ToolNotFound when the installation lacks it."""
        path = os.path.join(self.root, "bin", name)
        if not (os.path.isfile(path) and os.access(path, os.X_OK)):
            raise ToolNotFound(
                f"mlir-aie in {self.root} has no bin/{name}: the installation is incomplete; "
                "reinstall it or set MLIR_AIE_INSTALL_DIR"
            )
        return ProgramTool(path, response_file=False)

    def has(self, name: str) -> bool:
        path = os.path.join(self.root, "bin", name)
        return os.path.isfile(path) and os.access(path, os.X_OK)

    @property
    def include(self) -> str:
        """Where kernels find aie_api and friends."""
        return os.path.join(self.root, "include")

    @cached_property
    def generation(self) -> Generation | None:
        """The pipelines these tools take: by the wheel's date, else by the passes that aie-opt
        lists; None when it is no version we know."""
        return by_version(self.version) or by_passes(help_of(self.program("aie-opt").path))

    # -- aie-opt ---------------------------------------------------------------------------

    def optimised(
        self, kind: str, pipeline: str, source: Recipe | Text, output: str, label: str
    ) -> Recipe:
        """A module through a pass pipeline."""
        return Recipe(
            kind,
            self.program("aie-opt"),
            (f"--pass-pipeline={pipeline}", In(0), "-o", Out(output)),
            (Ref(source) if isinstance(source, Recipe) else source,),
            (output,),
            label=label,
        )

    # -- aie-translate ---------------------------------------------------------------------

    def llvm_ir(self, lowered: Recipe, label: str) -> Recipe:
        return Recipe(
            "core-llvm",
            self.program("aie-translate"),
            ("--mlir-to-llvmir", In(0), "-o", Out("core.ll")),
            (Ref(lowered),),
            ("core.ll",),
            label=label,
        )

    def linker_script(self, module: Text, device: str, at: tuple[int, int], label: str) -> Recipe:
        """The linker script of the core at (column, row)."""
        output = f"core_{at[0]}_{at[1]}.ld.script"
        return Recipe(
            "linker-script",
            self.program("aie-translate"),
            (
                In(0), "--aie-generate-ldscript", "--aie-device-name", device,
                f"--tilecol={at[0]}", f"--tilerow={at[1]}", "-o", Out(output),
            ),
            (module,),
            (output,),
            label=label,
        )  # fmt: skip

    def cdo(
        self, module: Recipe, device: str, elfs: Sequence[tuple[str, Recipe | str]], label: str
    ) -> Recipe:
        """The configuration as three CDOs; `elfs` are (name in the module, ELF)."""
        outputs = tuple(f"{device}_aie_cdo_{part}.bin" for part in CDO_PARTS)
        given = [Ref(e) if isinstance(e, Recipe) else e for _, e in elfs]
        return Recipe(
            "cdo",
            self.program("aie-translate"),
            (
                "--aie-generate-cdo", f"--aie-device-name={device}", "--work-dir-path=.",
                "input_physical_with_elfs.mlir",
            ),
            (Ref(module), *given),
            outputs,
            staged=(
                ("input_physical_with_elfs.mlir", 0),
                *((name, 1 + i) for i, (name, _) in enumerate(elfs)),
            ),
            begins=tuple((name, CDO) for name in outputs),
            label=label,
        )  # fmt: skip

    def transaction(
        self,
        generation: Generation,
        module: Recipe,
        device: str,
        elfs: Sequence[tuple[str, Recipe | str]],
        label: str,
    ) -> Recipe:
        """The configuration as a runtime sequence of register writes."""
        given = [Ref(e) if isinstance(e, Recipe) else e for _, e in elfs]
        return Recipe(
            "transaction",
            self.program("aie-opt"),
            (
                f"--pass-pipeline={generation.transaction.format(device=device, elfs='.')}",
                "input_physical_with_elfs.mlir", "-o", "transaction.mlir",
            ),
            (Ref(module), *given),
            ("transaction.mlir",),
            staged=(
                ("input_physical_with_elfs.mlir", 0),
                *((name, 1 + i) for i, (name, _) in enumerate(elfs)),
            ),
            label=label,
        )  # fmt: skip

    def instructions(
        self,
        lowered: Recipe,
        device: str,
        sequence: str,
        label: str,
        options: Sequence[str] = (),
    ) -> Recipe:
        """The words of a lowered runtime sequence, checked."""
        raw = Recipe(
            "npu-instructions",
            self.program("aie-translate"),
            (
                "--aie-npu-to-binary", "--aie-output-binary", f"--aie-device-name={device}",
                f"--aie-sequence-name={sequence}", *options, In(0), "-o", Out("insts.bin"),
            ),
            (Ref(lowered),),
            ("insts.bin",),
            label=label,
        )  # fmt: skip
        return Recipe(
            "npu-instructions-checked",
            FunctionTool("npu-instructions-checked", check_instructions, (_HERE, "iron.formats")),
            (In(0), Out("insts.bin")),
            (Ref(raw),),
            ("insts.bin",),
            label=label,
        )


def check_instructions(argv: list[str]) -> None:
    """``in out``: hand on what can be read as instructions; FormatError for anything else."""
    import shutil

    from iron.formats.insts import read

    with open(argv[0], "rb") as f:
        read(f.read(), "insts.bin as aie-translate left it")
    shutil.copyfile(argv[0], argv[1])


class Answer(NamedTuple):
    """What a program said when it was asked; status None: it does not run."""

    status: int | None
    text: str


_ANSWERS: dict[tuple[str, int, int], Answer] = {}


def help_of(program: str, option: str = "--help") -> str:
    """What a program says of itself. Empty when it does not run."""
    return answer_of(program, option).text


def answer_of(program: str, option: str = "--help") -> Answer:
    """What a program says of itself, asked once per process and state of the file."""
    import subprocess
    import tempfile

    from iron.build.environ import scrubbed

    stat = os.stat(program)
    key = (f"{program} {option}", stat.st_mtime_ns, stat.st_size)
    if key not in _ANSWERS:
        try:
            done = subprocess.run(
                [program, option],
                cwd="/",
                env=scrubbed(program, tempfile.gettempdir()),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=60,
                check=False,
            )
            _ANSWERS[key] = Answer(done.returncode, done.stdout.decode("utf-8", "replace"))
        except (OSError, subprocess.TimeoutExpired) as e:
            _ANSWERS[key] = Answer(None, "" if isinstance(e, OSError) else "no answer in 60 s")
    return _ANSWERS[key]
