"""The npu target: a design's MLIR and its objects become an xclbin and instructions.

    kernels ──Peano──▶ objects ─────────────────────────────────────────┐
    MLIR ─▶ placed, addressed ─┬▶ one core ─▶ LLVM IR ─▶ object ─▶ ELF ◀─┘
                               └▶ routed ─┬▶ overlay with ELFs ─▶ CDO ─▶ PDI ─▶ xclbin
                                          └▶ one sequence ─▶ lowered ─▶ insts.bin

Every arrow is a recipe. Cores that do the same are one recipe; the overlay is cut off from the
sequences, so that editing one remakes instructions only.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from iron.build import ProgramTool, Recipe, Session, source_digest

from .chess import Chess
from .files import given_file
from .mlir_aie import MlirAie
from .npu_steps import Steps, package_recipe
from .objects import ObjectSpec
from .packaging import Kernel, usable_xclbinutil
from .peano import Peano
from .resolver import Found, find_bootgen, find_mlir_aie, find_peano, find_xclbinutil
from .rewrites import Outline, PlanError, outline

if TYPE_CHECKING:
    from iron.build import Result
    from iron.ir import Operation

    from .pipelines import Generation

DRIVERS = ("auto", "steps", "aiecc")
XCLBIN, INSTRUCTIONS, TEXT, ARGUMENTS, ABOUT = (
    "final.xclbin", "insts.bin", "aie.mlir", "arguments.json", "design.json",
)  # fmt: skip
PACKAGE_FILES = (XCLBIN, INSTRUCTIONS, TEXT, ARGUMENTS, ABOUT)
"""What every package has, first in its outputs; further sequences come after."""

_OURS = ("iron.toolchain", "iron.ir", "iron.formats")


class UnknownVersion(UserWarning):
    """mlir-aie of a version whose passes are not known: its own driver builds everything anew."""


@dataclass(frozen=True)
class NpuToolchain:
    """Recipes for the npu target. `flags` and `include_dirs` apply to every kernel; `sequences`
    are the runtime sequences wanted (all when empty); `spellings` changes a generated module in
    place to the spelling of a generation of mlir-aie, by its name."""

    mlir_aie: MlirAie
    peano: Peano
    bootgen: Found | None
    xclbinutil: Found | None
    flags: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    driver: str = "auto"
    aiecc_flags: tuple[str, ...] = ()
    full_elf: bool = False
    kernel_name: Kernel = field(default_factory=Kernel)
    sequences: tuple[str, ...] = ()
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
        kernel_name: str | None = None,
        spellings: Mapping[str, Callable[[Operation], object]] | None = None,
    ) -> NpuToolchain:
        """With the tools of this machine; ToolNotFound says what is missing and where it was
        looked for. `driver` is by default what IRON_NPU_DRIVER says, else "auto"."""
        at = find_mlir_aie().need()
        peano = find_peano(at).need()
        mlir_aie = MlirAie.of(at)
        return NpuToolchain(
            mlir_aie,
            Peano(peano.path, (mlir_aie.include,) if os.path.isdir(mlir_aie.include) else ()),
            find_bootgen(at).found,
            find_xclbinutil(at).found,
            tuple(flags),
            tuple(include_dirs),
            driver or os.environ.get("IRON_NPU_DRIVER") or "auto",
            tuple(aiecc_flags),
            full_elf,
            Kernel(kernel_name) if kernel_name else Kernel(),
            tuple(sequences),
            dict(spellings or {}),
        )

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
        path of a file that is there. Raises iron.build.BuildError, PlanError, ToolNotFound and
        the errors of `iron.ir.parse` and `iron.ir.verify`.
        """
        design = Design(self, session, text, objects, label)
        return session.composite("npu-package", design.parts(), design.recipe)

    def find_package(
        self,
        session: Session,
        text: str,
        objects: Mapping[str, ObjectSpec | str],
        label: str = "design",
    ) -> Result | None:
        """As `package`, but None when it would have to be made."""
        design = Design(self, session, text, objects, label)
        try:
            return session.composite("npu-package", design.parts(), _absent)
        except _Absent:
            return None

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

        def recipe() -> Recipe:
            generation = self.mlir_aie.generation
            if generation is None:
                raise PlanError(
                    f"{label}: the passes of this mlir-aie are not known, so a transaction cannot "
                    "be made"
                )
            return design.steps().transaction(design, generation)

        return session.composite("npu-transaction", design.parts(), recipe)

    # -- tools -----------------------------------------------------------------------------

    @cached_property
    def xclbin_tool(self) -> ProgramTool | None:
        """xclbinutil when there is one that can do it; None: our own writer does."""
        if self.xclbinutil is None or not usable_xclbinutil(self.xclbinutil.path)[0]:
            return None
        return ProgramTool(self.xclbinutil.path, response_file=False)

    @cached_property
    def bootgen_tool(self) -> ProgramTool:
        return ProgramTool(
            find_bootgen(None).need().path if self.bootgen is None else self.bootgen.path,
            response_file=False,
        )

    def programs(self, target: str) -> list[ProgramTool]:
        """Everything that a design without kernels may run."""
        own = [self.mlir_aie.program(n) for n in ("aie-opt", "aie-translate")]
        own += [self.peano.program(n) for n in ("opt", "llc")]
        own.append(self.peano.linker(target))
        own += [self.mlir_aie.program(n) for n in ("aiecc", "aiecc.py") if self.mlir_aie.has(n)]
        return own + [ProgramTool(f.path) for f in (self.bootgen, self.xclbinutil) if f]


class _Absent(Exception):
    pass


def _absent() -> Recipe:
    raise _Absent


@dataclass
class Design:
    """One design on its way to a package."""

    toolchain: NpuToolchain
    session: Session
    text: str
    objects: Mapping[str, ObjectSpec | str]
    label: str

    @cached_property
    def outline(self) -> Outline:
        """Device and sequences: parsed once per text, then remembered in the store."""
        return _outline(self.session, self.text)

    @cached_property
    def made(self) -> dict[str, Recipe | str]:
        """Objects by their ``link_with`` name."""
        chess = [o for o in self.objects.values() if isinstance(o, ObjectSpec) and o.use_chess]
        peano = [o for o in self.objects.values() if isinstance(o, ObjectSpec) and not o.use_chess]
        if chess and peano:
            raise PlanError(
                f"{self.label}: {chess[0].describe()} is for Chess and {peano[0].describe()} for "
                "Peano. Their objects follow different calling conventions and cannot be linked "
                "on one core: give use_chess=True to all kernels of a design or to none"
            )
        target = self.outline.target
        return {
            name: self.toolchain.kernel(o, target) if isinstance(o, ObjectSpec) else o
            for name, o in self.objects.items()
        }

    def parts(self) -> list[str | Recipe]:
        """Everything the package depends on, as it is known before anything is built."""
        t = self.toolchain
        facts = self.session.store.side("tools")
        parts: list[str | Recipe] = [
            self.text,
            source_digest(*_OURS),
            repr((t.driver, t.aiecc_flags, t.full_elf, t.kernel_name, t.sequences, t.flags)),
            *(
                f"{name} {source_digest(change.__module__)}"
                for name, change in sorted(t.spellings.items())
            ),
            *(p.facts(facts).identity for p in t.programs(self.outline.target)),
        ]
        for name in sorted(self.made):
            given = self.made[name]
            parts += [name, given if isinstance(given, Recipe) else given_file(given)]
        return parts

    def recipe(self) -> Recipe:
        """Say how the package is put together; the placing of the design is run for that."""
        generation = self._generation()
        steps = self.steps()
        if generation is None:
            return package_recipe(self, steps.coarse(self))
        return package_recipe(self, steps.fine(self, generation))

    @property
    def chess(self) -> bool:
        """Whether kernels, and so cores, are for AMD's own compiler."""
        return any(isinstance(o, ObjectSpec) and o.use_chess for o in self.objects.values())

    def steps(self) -> Steps:
        t = self.toolchain
        return Steps(t.mlir_aie, t.peano, self.outline, self.made, self.label)

    def _generation(self) -> Generation | None:
        """The pipelines to drive the steps with; None: mlir-aie's own driver does it all."""
        t = self.toolchain
        if t.driver == "aiecc" or t.full_elf:
            return None
        if self.chess:
            if t.driver == "steps":
                raise PlanError(
                    f"{self.label}: the cores of a design with use_chess=True are compiled by "
                    "aiecc; leave out driver='steps'"
                )
            return None
        generation = t.mlir_aie.generation
        if generation is not None:
            return generation
        version = t.mlir_aie.version or f"in {t.mlir_aie.root}, of unknown version"
        if t.driver == "steps":
            raise PlanError(
                f"{self.label}: the passes of mlir-aie {version} are not known, so its steps "
                "cannot be driven one by one; use driver='aiecc'"
            )
        warnings.warn(
            f"mlir-aie {version}: its passes are not known, so its own aiecc builds "
            f"{self.label} as one step; any change remakes all of it",
            UnknownVersion,
            stacklevel=2,
        )
        return None

    def wanted(self) -> list[str]:
        """Names of the runtime sequences to make instructions of."""
        there = [s.name for s in self.outline.sequences]
        wanted = list(self.toolchain.sequences) or there
        absent = [n for n in wanted if n not in there]
        if absent:
            raise PlanError(
                f"{self.label} has no runtime sequence {', '.join(absent)}; "
                f"it has {', '.join(there) or 'none'}"
            )
        if not wanted:
            raise PlanError(f"{self.label} has no runtime sequence, so there is nothing to run")
        return wanted


def _outline(session: Session, text: str) -> Outline:
    from iron import ir
    from iron.ir.devices import DEVICES

    from .rewrites import Argument, RuntimeSequence

    ours = source_digest(*_OURS)
    kept = session.recall("npu-outline", [ours, text])
    if kept is None:
        module = ir.parse(text, "aie.mlir")
        ir.verify(module)
        made = outline(module)
        about = {
            "device": made.device,
            "shape": made.shape.name,
            "sequences": [[s.name, [vars(a) for a in s.arguments]] for s in made.sequences],
        }
        session.keep("npu-outline", [ours, text], {"outline.json": json.dumps(about)})
        return made
    with open(kept.path("outline.json"), encoding="utf-8") as f:
        about = json.load(f)
    shape = next(d for d in DEVICES.values() if d.name == about["shape"])
    sequences = tuple(
        RuntimeSequence(
            name,
            tuple(Argument(a["name"], a["dtype"], tuple(a["shape"]), a["scalar"]) for a in args),
        )
        for name, args in about["sequences"]
    )
    return Outline(about["device"], shape, sequences)
