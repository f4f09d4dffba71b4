"""The npu target: a design's MLIR and its objects become an xclbin and instructions.

    kernels ──Peano──▶ objects ─────────────────────────────────────────┐
    MLIR ─▶ placed, addressed ─┬▶ one core ─▶ LLVM IR ─▶ object ─▶ ELF ◀─┘
                               └▶ routed ─┬▶ overlay with ELFs ─▶ CDO ─▶ PDI ─▶ xclbin
                                          └▶ one sequence ─▶ lowered ─▶ insts.bin

Every arrow is a recipe. Cores that do the same are one recipe; the overlay is cut off from the
sequences, so that editing one remakes instructions only. A design whose sequences load one
configuration after another becomes one full ELF with the PDIs and instructions of all devices.

This module owns which tools and settings there are; `npu_design` decides what is made of a design,
`npu_steps` says how.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from iron.build import ProgramTool, Recipe, Session

from .aiebu import instruction_elf
from .chess import Chess
from .compiler import ToolNotFound
from .files import given_file
from .flags import Asked, read_flags
from .mlir_aie import MlirAie
from .npu_design import ABOUT, ARGUMENTS, ELF, INSTRUCTIONS, TEXT, XCLBIN, Design, UnknownVersion
from .objects import ObjectSpec
from .packaging import KERNEL_ID, Kernel
from .peano import Peano
from .resolver import (
    Found,
    Search,
    find_aiebu,
    find_bootgen,
    find_mlir_aie,
    find_peano,
    find_xclbinutil,
)
from .xclbins import usable_xclbinutil

if TYPE_CHECKING:
    from iron.build import Result
    from iron.ir import Operation

__all__ = ["ELF_FILES", "PACKAGE_FILES", "NpuToolchain", "UnknownVersion", "given_file"]

# What people call the first parts of a package's key.
_PARTS = ("the design's MLIR", "iron's own steps", "options of the build")
DRIVERS = ("auto", "steps", "aiecc")
PACKAGE_FILES = (XCLBIN, INSTRUCTIONS, TEXT, ARGUMENTS, ABOUT)
"""What every package with an xclbin has, first in its outputs; further sequences come after."""
ELF_FILES = (ELF, TEXT, ARGUMENTS, ABOUT)
"""All that the package of a full ELF has."""


@dataclass(frozen=True)
class NpuToolchain:
    """Recipes for the npu target. `flags` and `include_dirs` apply to every kernel; `sequences`
    are the runtime sequences wanted (``name`` or ``device:name``; all when empty), of `device`
    (all when empty); `extend` is an xclbin that the design's kernel is added to; `spellings`
    changes a generated module in place to the spelling of a generation of mlir-aie, by its
    name."""

    mlir_aie: MlirAie
    peano: Peano
    bootgen: Found | None
    xclbinutil: Found | None
    aiebu: Found | None = None
    flags: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    driver: str = "auto"
    asked: Asked = field(default_factory=Asked)
    full_elf: bool = False
    spellings: Mapping[str, Callable[[Operation], object]] = field(
        default_factory=dict, compare=False
    )

    def __post_init__(self) -> None:
        if self.driver not in DRIVERS:
            raise ValueError(f"driver={self.driver!r}: it is one of {', '.join(DRIVERS)}")

    @staticmethod
    def find(
        flags: Sequence[str] = (),
        include_dirs: Sequence[str] = (),
        *,
        driver: str | None = None,
        aiecc_flags: Sequence[str] = (),
        full_elf: bool = False,
        sequences: Sequence[str] = (),
        device: str | None = None,
        kernel_name: str | None = None,
        kernel_id: str | None = None,
        extend: str | os.PathLike[str] | None = None,
        spellings: Mapping[str, Callable[[Operation], object]] | None = None,
    ) -> NpuToolchain:
        """With the tools of this machine; ToolNotFound says everything that is missing and where
        it was looked for. `driver` is by default what IRON_NPU_DRIVER says, else "auto".
        `aiecc_flags` are mlir-aie's own words for what has a name here, and for what has none."""
        mlir_search = find_mlir_aie()
        peano_search = find_peano(mlir_search.found)
        at, peano = _needed(mlir_search, peano_search, find_bootgen(mlir_search.found))
        mlir_aie = MlirAie.of(at)
        usual = Kernel()
        kernel = Kernel(kernel_name or usual.name, usual.instance, kernel_id or KERNEL_ID)
        asked = read_flags(aiecc_flags, Asked(kernel=kernel))
        return NpuToolchain(
            mlir_aie,
            Peano(peano.path, (mlir_aie.include,) if os.path.isdir(mlir_aie.include) else ()),
            find_bootgen(at).found,
            find_xclbinutil(at).found,
            find_aiebu(at).found,
            tuple(flags),
            tuple(include_dirs),
            driver or os.environ.get("IRON_NPU_DRIVER") or "auto",
            asked.over(tuple(sequences), device, os.fspath(extend) if extend else ""),
            full_elf,
            dict(spellings or {}),
        )

    def with_choices(
        self, aiecc_flags: Sequence[str] = (), extend: str = "", *, full_elf: bool = False
    ) -> NpuToolchain:
        """The same tools with further choices for designs."""
        asked = read_flags(aiecc_flags, self.asked).over((), None, extend)
        return replace(self, asked=asked, full_elf=full_elf or self.full_elf)

    # -- kernels ---------------------------------------------------------------------------

    def kernel(self, spec: ObjectSpec, target: str = "aie2") -> Recipe:
        """What `spec` asks for, for cores of `target` (``aie2``, ``aie2p``)."""
        if spec.use_chess:
            return Chess.find(self.mlir_aie).kernel(spec, target, self.flags, self.include_dirs)
        return self.peano.kernel(spec, target, self.flags, self.include_dirs)

    # -- designs ---------------------------------------------------------------------------

    def package(
        self,
        session: Session,
        text: str,
        objects: Mapping[str, ObjectSpec | str],
        label: str = "design",
    ) -> Result:
        """The package of a design's MLIR `text`; nothing is parsed when it is known already.

        `objects` says for each ``link_with`` name of the text what it is: a spec to build, or the
        path of a file that is there. Raises iron.build.BuildError, PlanError, SymbolError,
        ToolNotFound and the errors of `iron.ir.parse` and `iron.ir.verify`.
        """
        design = Design(self, session, text, objects, label)
        return session.composite(
            "npu-package", design.parts(), design.recipe, label=label, names=_PARTS
        )

    def find_package(
        self,
        session: Session,
        text: str,
        objects: Mapping[str, ObjectSpec | str],
        label: str = "design",
    ) -> Result | None:
        """As `package`, but None when it would have to be made."""
        parts = Design(self, session, text, objects, label).parts()
        return session.find_composite("npu-package", parts, label=label, names=_PARTS)

    def transaction(
        self,
        session: Session,
        text: str,
        objects: Mapping[str, ObjectSpec | str],
        label: str = "design",
    ) -> Result:
        """The configuration of a design as register writes in MLIR (``transaction.mlir``), in
        place of a PDI. Raises as `package`; PlanError for a version whose passes are not known."""
        design = Design(self, session, text, objects, label)
        return session.composite("npu-transaction", design.parts(), design.transaction)

    def instruction_elf(
        self, session: Session, package: Result, output: str = INSTRUCTIONS
    ) -> Result:
        """The instructions of a package as an ELF (``insts.elf``), for programs that load them
        through ``xrt::elf`` beside its xclbin. ToolNotFound without aiebu-asm."""
        made = instruction_elf(self.aiebu_tool, package.path(output), "instructions as ELF")
        return session.build(made)[0]

    # -- tools -----------------------------------------------------------------------------

    @cached_property
    def xclbin_tool(self) -> ProgramTool | None:
        """xclbinutil when there is one that can do it; None: our own writer does."""
        if self.xclbinutil is None or not usable_xclbinutil(self.xclbinutil.path)[0]:
            return None
        return ProgramTool(self.xclbinutil.path, response_file=False)

    @cached_property
    def bootgen_tool(self) -> ProgramTool:
        at = Found(self.mlir_aie.root, "")
        found = find_bootgen(at).need() if self.bootgen is None else self.bootgen
        return ProgramTool(found.path, response_file=False)

    @cached_property
    def aiebu_tool(self) -> ProgramTool:
        at = Found(self.mlir_aie.root, "")
        found = find_aiebu(at).need() if self.aiebu is None else self.aiebu
        return ProgramTool(found.path, response_file=False)

    def programs(self, target: str, *, full_elf: bool) -> list[ProgramTool]:
        """Everything that a design without kernels may run."""
        own = [self.mlir_aie.program(n) for n in ("aie-opt", "aie-translate")]
        own += [self.peano.program(n) for n in ("opt", "llc")]
        own.append(self.peano.linker(target))
        own += [self.mlir_aie.program(n) for n in ("aiecc", "aiecc.py") if self.mlir_aie.has(n)]
        packers = (self.bootgen, self.aiebu if full_elf else self.xclbinutil)
        return own + [ProgramTool(f.path) for f in packers if f]


def _needed(mlir_aie: Search, peano: Search, bootgen: Search) -> tuple[Found, Found]:
    """mlir-aie and Peano. When one is missing everything that is missing is told at once; kernels
    alone need no bootgen."""
    if mlir_aie.found is None or peano.found is None:
        missing = [s.problem() for s in (mlir_aie, peano, bootgen) if s.found is None]
        raise ToolNotFound("\n".join(("the npu target has not all it needs here.", *missing)))
    return mlir_aie.found, peano.found
