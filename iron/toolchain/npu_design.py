"""One design on its way to a package of the npu target: what it depends on, which devices and
sequences are meant, whether its steps are driven one by one, and which files come out.

How a step's command looks is known elsewhere; nothing here runs before it is asked to.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from iron.build import In, Out, Recipe, Ref, Session, Text, source_digest

from .aiebu import Control, full_elf
from .aiecc import Aiecc, Wanted, instructions_file
from .cores import cores_of, functions_of, links_of, place_of_core
from .files import given_file, placing
from .npu_steps import SAFE_NAME, Steps, loading_itself
from .objects import ObjectSpec
from .outline import DeviceOutline, Outline, PlanError, RuntimeSequence, devices, outline
from .packaging import buffers_of, columns_of
from .symbols import check_linked, functions_by_object
from .xclbins import Base, settled

if TYPE_CHECKING:
    from .npu import NpuToolchain
    from .pipelines import Generation

XCLBIN, ELF, INSTRUCTIONS, TEXT, ARGUMENTS, ABOUT = (
    "final.xclbin", "design.elf", "insts.bin", "aie.mlir", "arguments.json", "design.json",
)  # fmt: skip
_OURS = ("iron.toolchain", "iron.ir", "iron.formats")


class UnknownVersion(UserWarning):
    """mlir-aie's own driver builds a design anew as a whole, for a reason that the text says."""


@dataclass(frozen=True)
class Sequence:
    """A runtime sequence that goes into a package."""

    device: DeviceOutline
    own: RuntimeSequence

    @property
    def full_name(self) -> str:
        return f"{self.device.symbol}:{self.own.name}"


@dataclass
class Design:
    """A design's text and its objects, with the tools it is built with."""

    toolchain: NpuToolchain
    session: Session
    text: str
    objects: Mapping[str, ObjectSpec | str]
    label: str

    # -- what it depends on ----------------------------------------------------------------

    @cached_property
    def outline(self) -> Outline:
        """Devices and sequences: parsed once per text, then remembered in the store."""
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
        asked = replace(t.asked, extend="an xclbin" if t.asked.extend else "")
        parts: list[str | Recipe] = [
            self.text,
            source_digest(*_OURS),
            repr((t.driver, t.full_elf, asked, t.flags)),
            *(
                f"{name} {source_digest(change.__module__)}"
                for name, change in sorted(t.spellings.items())
            ),
            *(
                p.facts(facts).identity
                for p in t.programs(self.outline.target, full_elf=self.full_elf)
            ),
        ]
        if t.asked.extend:
            parts.append(given_file(self._base_path()))
        for name in sorted(self.made):
            given = self.made[name]
            parts += [name, given if isinstance(given, Recipe) else given_file(given)]
        return parts

    def _base_path(self) -> str:
        path = os.path.abspath(self.toolchain.asked.extend)
        if not os.path.isfile(path):
            raise PlanError(f"{self.label}: no xclbin {path} that a kernel could be added to")
        return path

    # -- what is meant ---------------------------------------------------------------------

    @cached_property
    def chosen(self) -> tuple[DeviceOutline, ...]:
        """The devices whose sequences go into the package: the one asked for, else all."""
        symbol = self.toolchain.asked.device
        return (self.outline.device(symbol),) if symbol else self.outline.devices

    @property
    def full_elf(self) -> bool:
        """Whether the package is one ELF; what loads configurations while it runs is nothing
        else, for an xclbin has but one."""
        return self.toolchain.full_elf or any(d.loads for d in self.chosen)

    def wanted(self) -> list[Sequence]:
        """The sequences to make instructions of, in order; those that are run by others last."""
        there = [Sequence(d, s) for d in self.chosen for s in d.sequences]
        there.sort(key=lambda s: s.own.called)
        names = self.toolchain.asked.sequences
        found = [s for n in names for s in there if n in (s.own.name, s.full_name)]
        shown = ", ".join(s.own.name for s in there) or "none"
        absent = [n for n in names if not any(n in (s.own.name, s.full_name) for s in there)]
        if absent:
            raise PlanError(
                f"{self.label} has no runtime sequence {', '.join(absent)}; it has {shown}"
            )
        if not there:
            raise PlanError(f"{self.label} has no runtime sequence, so there is nothing to run")
        return found or there

    def _one_device(self) -> DeviceOutline:
        """The device whose configuration an xclbin or a transaction holds."""
        if len(self.chosen) > 1:
            names = ", ".join(f"@{d.symbol}" for d in self.chosen)
            raise PlanError(
                f"{self.label} has {len(self.chosen)} devices ({names}), and an xclbin holds the "
                "configuration of one: say which with device (--device-name), or build one full "
                "ELF of all (full_elf=True)"
            )
        return self.chosen[0]

    # -- how it is made --------------------------------------------------------------------

    def recipe(self) -> Recipe:
        """Say how the package is put together; the placing of the design is run for that."""
        generation = self._generation()
        wanted = self.wanted()
        if not self.full_elf:
            self._one_device()
        self._check_objects()
        if generation is None:
            return self._coarse(wanted)
        steps = self._steps(generation)
        if self.full_elf:
            return self._elf_package(steps, wanted)
        return self._xclbin_package(steps, wanted)

    def transaction(self) -> Recipe:
        """Say how the configuration becomes register writes."""
        generation = self.toolchain.mlir_aie.generation
        if generation is None:
            raise PlanError(
                f"{self.label}: the passes of this mlir-aie are not known, so a transaction cannot "
                "be made"
            )
        device = self._one_device()
        self._check_objects()
        return self._steps(generation).transaction(device)

    @property
    def chess(self) -> bool:
        """Whether kernels, and so cores, are for AMD's own compiler."""
        return any(isinstance(o, ObjectSpec) and o.use_chess for o in self.objects.values())

    def _steps(self, generation: Generation) -> Steps:
        t = self.toolchain
        return Steps.of(
            t.mlir_aie, t.peano, generation, t.asked.placing, self.session, self.outline,
            self._text(), self.made, self.label, t.spellings.get(generation.name),
        )  # fmt: skip

    def _text(self) -> str:
        return loading_itself(self.text) if self.full_elf else self.text

    def _generation(self) -> Generation | None:
        """The pipelines to drive the steps with; None: mlir-aie's own driver does it all."""
        t = self.toolchain
        if t.driver == "aiecc":
            return None
        generation = t.mlir_aie.generation
        reason = self._coarse_reason(generation)
        if reason is None:
            return generation
        if t.driver == "steps":
            raise PlanError(
                f"{self.label}: {reason}, so its steps cannot be driven one by one; leave out "
                "driver='steps'"
            )
        if not self.chess:
            warnings.warn(
                f"{self.label}: {reason}; mlir-aie's own aiecc builds it as one step, and any "
                "change remakes all of it",
                UnknownVersion,
                stacklevel=2,
            )
        return None

    def _coarse_reason(self, generation: Generation | None) -> str | None:
        if self.chess:
            return "its kernels are for Chess (use_chess=True), whose cores aiecc compiles"
        if self.toolchain.asked.unknown:
            return f"only aiecc knows {' '.join(self.toolchain.asked.unknown)}"
        if generation is None:
            at = self.toolchain.mlir_aie
            version = at.version or f"in {at.root}, of unknown version"
            return f"the passes of mlir-aie {version} are not known"
        return None

    def _check_objects(self) -> None:
        """Look into the objects before anything is linked with them."""
        from iron import ir

        module = ir.parse(self.text, "aie.mlir")
        linked = []
        for device in devices(module):
            functions = functions_of(device)
            for core in cores_of(device):
                objects = [n for n in links_of(core, functions)[0] if n in self.made]
                linked.append((objects, place_of_core(core)))
        check_linked(self.session, functions_by_object(module), linked, self.objects, self.made)

    # -- packages --------------------------------------------------------------------------

    def _xclbin_package(self, steps: Steps, wanted: list[Sequence]) -> Recipe:
        t, device = self.toolchain, self._one_device()
        generation = steps.generation
        columns = columns_of(
            device.shape.name, device.shape.columns, from_one=generation.starts_from_one
        )
        base = None
        if t.asked.extend:
            base = Base.at(self._base_path())
            base.check(t.asked.kernel, columns, self.label)
        image = steps.image(steps.configured(device), t.bootgen_tool)
        made = steps.xclbin(
            device, image, t.asked.kernel, columns, self._buffers(device), t.xclbin_tool, base
        )
        named = [(s, Ref(steps.instructions(s.device, s.own.name))) for s in wanted]
        return self._with_instructions(Ref(made), named)

    def _elf_package(self, steps: Steps, wanted: list[Sequence]) -> Recipe:
        needed = self.outline.reached([d.symbol for d in self.chosen])
        steps.place(needed)
        bootgen = self.toolchain.bootgen_tool
        images = [
            (self.outline.number(d.symbol), steps.image(steps.configured(d), bootgen))
            for d in needed
        ]
        controls = []
        for device in self.chosen:
            own = [s.own for s in wanted if s.device is device]
            if own:
                made = tuple((s, steps.instructions(device, s.name, folded=False)) for s in own)
                controls.append(Control(device.symbol, made))
        tool = self.toolchain.aiebu_tool
        return self._full(
            Ref(full_elf(tool, images, controls, f"full ELF of {self.label}")), wanted
        )

    def _buffers(self, device: DeviceOutline) -> int:
        most = max((len(s.arguments) for s in device.sequences), default=0)
        return buffers_of(most, self.label)

    def _coarse(self, wanted: list[Sequence]) -> Recipe:
        """mlir-aie's own driver as one recipe."""
        t = self.toolchain
        driver = Aiecc.find(t.mlir_aie)
        packers = (t.bootgen, t.aiebu if self.full_elf else t.xclbinutil)
        objects = dict(self.made)
        if t.asked.extend:
            objects["base.xclbin"] = self._base_path()
        every = [Sequence(d, s) for d in self.chosen for s in d.sequences]
        pairs = tuple((s.device.symbol, s.own.name) for s in every)
        unsafe = [n for n in (*objects, *(n for p in pairs for n in p)) if not SAFE_NAME(n)]
        if unsafe:
            raise PlanError(
                f"{self.label}: aiecc cannot work with the name {unsafe[0]!r}; give it one of "
                "letters, digits, dots, dashes and underscores (of a function's object: "
                "object_file_name)"
            )
        made = driver.recipe(
            t.mlir_aie,
            t.peano,
            [f.path for f in packers if f],
            Text(self._text(), TEXT),
            objects,
            t.asked.flags("base.xclbin"),
            Wanted("" if self.full_elf else t.asked.device, pairs, self.full_elf),
            chess=self.chess,
            label=self.label,
        )
        if self.full_elf:
            return self._full(Ref(made), wanted)
        named = [(s, Ref(made, instructions_file(s.device.symbol, s.own.name))) for s in wanted]
        return self._with_instructions(Ref(settled(made, self.label)), named)

    def _with_instructions(self, xclbin: Ref, named: list[tuple[Sequence, Ref]]) -> Recipe:
        """The package of an xclbin: the first sequence's instructions, then all by name."""
        known = {
            s.own.name: f"insts_{s.own.name}.bin" if len(named) > 1 else INSTRUCTIONS
            for s, _ in named
        }
        files: dict[str, Text | Ref] = {XCLBIN: xclbin, INSTRUCTIONS: named[0][1]}
        files |= self._about([s for s, _ in named], known)
        for (_, made), file in zip(named, known.values(), strict=True):
            files.setdefault(file, made)
        return self._placed(files)

    def _full(self, made: Ref, wanted: list[Sequence]) -> Recipe:
        """The package of a full ELF: its sequences are instances of kernels."""
        names = [s.own.name for s in wanted]
        known = {
            s.own.name if names.count(s.own.name) == 1 else s.full_name: s.full_name for s in wanted
        }
        return self._placed({ELF: made, **self._about(wanted, known)})

    def _about(self, built: list[Sequence], known: Mapping[str, str]) -> dict[str, Text | Ref]:
        """What a package says of itself: `known` are the sequences by name, in order, with their
        file or what a full ELF calls them."""
        first = built[0]
        arguments = [vars(a) for a in first.own.arguments]
        about = {
            "kernel": self.toolchain.asked.kernel.name,
            "device": first.device.shape.name,
            "symbol": first.device.symbol,
            "sequences": known,
            "arity": {name: len(s.own.arguments) for name, s in zip(known, built, strict=True)},
        }
        return {
            TEXT: Text(self.text, TEXT),
            ARGUMENTS: Text(json.dumps(arguments, indent=1) + "\n", ARGUMENTS),
            ABOUT: Text(json.dumps(about, indent=1) + "\n", ABOUT),
        }

    def _placed(self, files: Mapping[str, Text | Ref]) -> Recipe:
        return Recipe(
            "package",
            placing("package"),
            tuple(a for i, o in enumerate(files) for a in (In(i), Out(o))),
            tuple(files.values()),
            tuple(files),
            label=f"package of {self.label}",
        )


def _outline(session: Session, text: str) -> Outline:
    from iron import ir

    ours = source_digest(*_OURS)
    kept = session.recall("npu-outline", [ours, text])
    if kept is None:
        module = ir.parse(text, "aie.mlir")
        ir.verify(module)
        made = outline(module)
        session.keep("npu-outline", [ours, text], {"outline.json": json.dumps(made.data())})
        return made
    with open(kept.path("outline.json"), encoding="utf-8") as f:
        return Outline.of_data(json.load(f))
