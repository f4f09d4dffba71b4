"""Chess: AMD's xchesscc as the compiler of kernels, through mlir-aie's wrapper.

It leaves no dependency file, so what it reads must be told beforehand: a kernel for it may include
no files of the user's. Core code of a design with such kernels comes from aiecc as well.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from iron.build import In, Out, ProgramTool, Recipe, Text, ToolPath

from .compiler import ToolNotFound
from .mlir_aie import MlirAie
from .objects import ObjectSpec, SourceFile
from .outline import PlanError
from .peano import ELF
from .resolver import Found, find_chess

_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Chess:
    """The wrapper's program, and AMD's tools that it runs (``AIETOOLS``)."""

    program: str
    aietools: str
    include: str

    @staticmethod
    def find(mlir_aie: MlirAie) -> Chess:
        """ToolNotFound when the wrapper or AIETOOLS is missing."""
        wrapper = find_chess(Found(mlir_aie.root, "")).need()
        aietools = os.environ.get("AIETOOLS")
        if not aietools or not os.path.isdir(aietools):
            raise ToolNotFound(
                "use_chess=True needs AMD's Vitis tools: AIETOOLS names "
                f"{'no directory' if aietools else 'nothing'}; set it to <Vitis>/aietools"
            )
        return Chess(wrapper.path, aietools, mlir_aie.include)

    def kernel(
        self, spec: ObjectSpec, target: str, flags: Sequence[str], include_dirs: Sequence[str]
    ) -> Recipe:
        if spec.archive or spec.merge or spec.symbol_prefix is not None:
            raise PlanError(
                f"{spec.describe()}: use_chess=True makes plain objects only; leave out archive, "
                "inline and symbol_prefix"
            )
        (member,) = spec.members
        if isinstance(member.source, SourceFile):
            source: str | Text = member.source.path
            with open(member.source.path, encoding="utf-8", errors="replace") as f:
                text = f.read()
        else:
            source, text = Text(member.source.text, member.source.name), member.source.text
        included = _INCLUDE.findall(text)
        if included or member.include_dirs or include_dirs:
            raise PlanError(
                f"{spec.describe()}: includes {', '.join(included) or 'directories'}. Chess does "
                "not tell which headers it reads, so a changed one would go unseen: put what the "
                "kernel needs into its source, or compile it with Peano"
            )
        tool = ProgramTool(
            self.program,
            identity_extra=version_files(self.aietools),
            response_file=False,
        )
        return Recipe(
            "kernel-object",
            tool,
            (target, "-c", In(0), "-o", Out("kernel.o"), *flags, *member.flags),
            (source,),
            ("kernel.o",),
            env=(("AIETOOLS", ToolPath(self.aietools, "aietools")),),
            begins=(("kernel.o", ELF),),
            label=str(member.source),
            where=", ".join(spec.where),
        )


def version_files(root: str) -> tuple[str, ...]:
    """Files of an installation of AMD's tools that change with its version; they stand for it."""
    names = (
        "data/version.txt",
        "bin/unwrapped/lnx64.o/xchesscc",
        "tps/lnx64/target/bin/LNa64bin/chess-clang",
    )
    return tuple(p for n in names if os.path.isfile(p := os.path.join(root, n)))
