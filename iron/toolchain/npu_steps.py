"""The recipes between a design's text and its packages: placing, cores, overlay, sequences.

`Steps` says what follows from what; what a step's command looks like is known by `mlir_aie`,
`peano`, `packaging` and `xclbins`. Devices are placed and routed one at a time: mlir-aie's passes
are not to be trusted with several.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from iron.build import FunctionTool, In, Joined, Out, ProgramTool, Recipe, Ref, Session, Text

from . import packaging, xclbins
from .cores import Core, bind_links, split_cores
from .mlir_aie import MlirAie
from .outline import DEVICE_NAME, DeviceOutline, Outline, PlanError, devices
from .peano import Peano
from .pipelines import Generation, Placing

if TYPE_CHECKING:
    from iron.ir import Operation

Spell = Callable[["Operation"], object]
SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*").fullmatch
_REWRITES = (
    "iron.toolchain.npu_steps", "iron.toolchain.rewrites", "iron.toolchain.cores",
    "iron.toolchain.outline", "iron.ir",
)  # fmt: skip


@dataclass(frozen=True)
class Configured:
    """A device that is routed: its module, its cores' ELFs by their names in the configuration,
    and its overlay, which names them."""

    device: DeviceOutline
    routed: Recipe
    elfs: tuple[tuple[str, Recipe], ...]
    overlay: Recipe


@dataclass
class Steps:
    """One design's steps with one generation of mlir-aie. `text` is the design in its spelling,
    `made` are its objects by ``link_with`` name."""

    mlir_aie: MlirAie
    peano: Peano
    generation: Generation
    placing: Placing
    session: Session
    outline: Outline
    text: str
    made: Mapping[str, Recipe | str]
    label: str
    _placed: dict[str, Recipe] = field(default_factory=dict)
    _configured: dict[str, Configured] = field(default_factory=dict)

    @staticmethod
    def of(
        mlir_aie: MlirAie,
        peano: Peano,
        generation: Generation,
        placing: Placing,
        session: Session,
        outline: Outline,
        text: str,
        made: Mapping[str, Recipe | str],
        label: str,
        spell: Spell | None = None,
    ) -> Steps:
        """With the text as the generation wants it: objects named on each core (one) or on
        functions, then in the spelling that `spell` changes a module to, in place."""
        steps = Steps(
            mlir_aie, peano, generation, placing, session, outline, text, dict(made), label
        )
        if generation.core_links or spell is not None:
            steps._spell(spell)
        return steps

    def _spell(self, spell: Spell | None) -> None:
        from iron import ir

        module = ir.parse(self.text, "aie.mlir")
        changed = False
        if self.generation.core_links:
            changed, merged = bind_links(devices(module))
            for name, parts in merged.items():
                objects = [self._object(part) for part in parts]
                what = f"{', '.join(parts)} in one for {self.label}"
                self.made = {**self.made, name: self.peano.merged(objects, name, what)}
        if spell is not None:
            spell(module)
        if changed or spell is not None:
            self.text = ir.print_module(module)

    def _object(self, name: str) -> Recipe | str:
        if name not in self.made:
            raise PlanError(
                f"{self.label}: nothing makes {name}; declare an ExternalFunction for it, or give "
                "the file in object_files"
            )
        return self.made[name]

    def _called(self, device: DeviceOutline) -> str:
        """How to speak of a device to people."""
        if len(self.outline.devices) == 1:
            return self.label
        return f"@{device.symbol} of {self.label}"

    # -- devices ---------------------------------------------------------------------------

    def place(self, wanted: Iterable[DeviceOutline]) -> None:
        """Run the placing of these devices now, for what follows depends on it."""
        self.session.build(*(self._place(d) for d in wanted))

    def _place(self, device: DeviceOutline) -> Recipe:
        """The device placed, addressed, and its fifos lowered."""
        if device.symbol not in self._placed:
            pipeline = self.generation.placing(self.outline.target, self.placing)
            self._placed[device.symbol] = self.mlir_aie.optimised(
                "place", pipeline, Text(self._text_of(device), "aie.mlir"),
                "input_with_addresses.mlir", f"placing of {self._called(device)}",
            )  # fmt: skip
        return self._placed[device.symbol]

    def _text_of(self, device: DeviceOutline) -> str:
        if len(self.outline.devices) == 1:
            return self.text
        from iron import ir

        from .rewrites import with_shells

        return ir.print_module(with_shells(ir.parse(self.text, "aie.mlir"), device.symbol))

    def _routed(self, device: DeviceOutline) -> Recipe:
        what = f"routing of {self._called(device)}"
        placed = self._place(device)
        return self.mlir_aie.optimised(
            "route", self.generation.route, placed, "input_physical.mlir", what
        )

    def configured(self, device: DeviceOutline) -> Configured:
        """The routed device, its cores' ELFs, and the overlay that names them."""
        if device.symbol not in self._configured:
            placed = self.session.build(self._place(device))[0].path()
            safe = safe_names(self.made)
            with open(placed, encoding="utf-8") as f:
                cores = split_cores(f.read(), device.symbol, safe)
            routed = self._routed(device)
            elfs = tuple(self._elfs(device, cores, safe))
            overlay = self._overlay(device, routed, [name for name, _ in elfs])
            self._configured[device.symbol] = Configured(device, routed, elfs, overlay)
        return self._configured[device.symbol]

    # -- cores -----------------------------------------------------------------------------

    def _elfs(
        self, device: DeviceOutline, cores: Sequence[Core], safe: Mapping[str, str]
    ) -> list[tuple[str, Recipe]]:
        """(name in the configuration, ELF) for each core; alike cores share one."""
        known: dict[tuple[object, ...], Recipe] = {}
        found = []
        for core in cores:
            named = core.names if core.links else ()
            alike = (core.body, core.script, core.links, core.merges, named)
            if alike not in known:
                known[alike] = self._elf(device, core, safe)
            found.append((f"{device.symbol}_{core.elf}", known[alike]))
        return found

    def _elf(self, device: DeviceOutline, core: Core, safe: Mapping[str, str]) -> Recipe:
        what = f"core ({core.column}, {core.row}) of {self._called(device)}"
        target, generation = self.outline.target, self.generation
        name = f"core_{core.compiled_at[0]}_{core.compiled_at[1]}"
        pipeline = generation.lower_core.format(
            device=DEVICE_NAME, column=core.compiled_at[0], row=core.compiled_at[1], target=target,
        )  # fmt: skip
        lowered = self.mlir_aie.optimised(
            "core-lower", pipeline, Text(core.body, f"{name}.mlir"), "core_llvm.mlir", what
        )
        ir = self.peano.compatible(self.mlir_aie.llvm_ir(lowered, what), what)
        if core.merges:
            kernels = [self._object(n) for n in core.merges]
            ir = self.peano.link_ir(ir, kernels, what)
            ir = self.peano.compatible(ir, what, keep_align=True)
        optimised = self.peano.optimised(ir, generation.opt_passes, what)
        script = self.mlir_aie.linker_script(
            Text(core.script, f"{name}.mlir"), DEVICE_NAME, core.compiled_at, what
        )
        objects = [(safe[n], self._object(n)) for n in core.links]
        if objects and core.names:
            script = self.peano.named(script, [o for _, o in objects], core.names, what)
        compiled = self.peano.object(optimised, target, what)
        return self.peano.elf(target, compiled, script, objects, generation.link_flags, what)

    # -- overlay ---------------------------------------------------------------------------

    def _overlay(self, device: DeviceOutline, routed: Recipe, names: Sequence[str]) -> Recipe:
        """The routed device without its sequences; then with its cores' ELFs named."""
        what = self._called(device)
        bare = _rewrite(
            "overlay", drop_sequences, (routed,), "overlay.mlir", (device.symbol,), what
        )
        return _rewrite(
            "elf-files", name_elfs, (bare,), "input_physical_with_elfs.mlir", tuple(names), what
        )

    def image(self, configured: Configured, bootgen: ProgramTool) -> Recipe:
        """The device's PDI."""
        symbol, what = configured.device.symbol, self._called(configured.device)
        cdo = self.mlir_aie.cdo(
            configured.overlay, symbol, configured.elfs, f"configuration of {what}"
        )
        return packaging.pdi(bootgen, symbol, cdo, f"PDI of {what}")

    def transaction(self, device: DeviceOutline) -> Recipe:
        """The configuration as register writes, in MLIR."""
        made = self.configured(device)
        what = f"transaction of {self._called(device)}"
        return self.mlir_aie.transaction(
            self.generation, made.overlay, device.symbol, made.elfs, what
        )

    def xclbin(
        self,
        device: DeviceOutline,
        image: Recipe,
        kernel: packaging.Kernel,
        columns: packaging.Columns,
        buffers: int,
        tool: ProgramTool | None,
        base: xclbins.Base | None,
    ) -> Recipe:
        """The xclbin of the device's PDI, or `base` with it."""
        what = f"xclbin of {self._called(device)}"
        described = packaging.descriptions(
            device.symbol, kernel, columns, buffers, image, self._called(device)
        )
        if base is not None:
            return xclbins.extended(tool, base, described, image, what)
        return xclbins.xclbin(tool, described, image, what)

    # -- sequences -------------------------------------------------------------------------

    def instructions(self, device: DeviceOutline, name: str, *, folded: bool = True) -> Recipe:
        """The instructions of a sequence and of all that it runs on other devices. `folded` ones
        are for the driver of an xclbin, others for a full ELF."""
        what = f"sequence {name} of {self._called(device)}"
        if device.loads:
            lowered = self._lowered_with_callees(device, name, what)
        else:
            routed = self._routed(device)
            argument = (device.symbol, name)
            alone = _rewrite("sequence", keep_sequence, (routed,), "sequence.mlir", argument, what)
            lowered = self._lowered(alone, what)
        if device.loads or not folded:
            numbers = [f"{d.symbol}={self.outline.number(d.symbol)}" for d in self.outline.devices]
            lowered = _rewrite(
                "pdi-numbers", number_loads, (lowered,), "npu_insts.mlir", numbers, what
            )
        options = () if folded else self.generation.unfolded
        return self.mlir_aie.instructions(lowered, device.symbol, name, what, options)

    def _lowered(self, sequence: Recipe, what: str) -> Recipe:
        return self.mlir_aie.optimised(
            "npu-lower", self.generation.lower_sequence, sequence, "npu_insts.mlir", what
        )

    def _lowered_with_callees(self, device: DeviceOutline, name: str, what: str) -> Recipe:
        needed = self.outline.reached([device.symbol])
        routed = tuple(self._routed(d) for d in needed)
        arguments = (device.symbol, name, *(d.symbol for d in needed))
        together = _rewrite("sequence", join_sequence, routed, "sequence.mlir", arguments, what)
        return self._lowered(together, what)


def loading_itself(text: str) -> str:
    """A design's text for a full ELF: with sequences that load their own configuration."""
    from iron import ir

    from .rewrites import load_themselves

    module = ir.parse(text, "aie.mlir")
    return ir.print_module(module) if load_themselves(module) else text


def safe_names(made: Mapping[str, object]) -> dict[str, str]:
    """For each ``link_with`` name, what the file is called where it is linked: itself when a
    linker script can say that, and no other file's."""
    taken: set[str] = {"core.o", "core.elf"}
    found = {}
    for index, name in enumerate(sorted(made)):
        chosen = name
        if not SAFE_NAME(name) or name in taken:
            chosen = f"object_{index}{os.path.splitext(name)[1] or '.o'}"
        if not SAFE_NAME(chosen):
            chosen = f"object_{index}.o"
        taken.add(chosen)
        found[name] = chosen
    return found


def _rewrite(
    kind: str,
    function: Callable[[list[str]], None],
    sources: Sequence[Recipe],
    output: str,
    arguments: Sequence[str],
    label: str,
) -> Recipe:
    return Recipe(
        kind,
        FunctionTool(kind, function, _REWRITES),
        (Out(output), *map(In, range(len(sources))), *(Joined(a) for a in arguments)),
        tuple(Ref(s) for s in sources),
        (output,),
        label=label,
    )


# -- the steps in this process ----------------------------------------------------------------


def drop_sequences(argv: list[str]) -> None:
    """``out in device``"""
    from .rewrites import overlay

    _save(argv[0], overlay(_load(argv[1]), argv[2]))


def name_elfs(argv: list[str]) -> None:
    """``out in name...``, each name ending in ``_core_<column>_<row>.elf``"""
    from .rewrites import with_elfs

    files = {}
    for name in argv[2:]:
        column, row = os.path.splitext(name)[0].rsplit("_", 2)[1:]
        files[int(column), int(row)] = name
    _save(argv[0], with_elfs(_load(argv[1]), files))


def keep_sequence(argv: list[str]) -> None:
    """``out in device name``"""
    from .rewrites import sequence_alone

    _save(argv[0], sequence_alone(_load(argv[1]), *argv[2:]))


def join_sequence(argv: list[str]) -> None:
    """``out in... device name device...``, with as many modules as devices at the end"""
    from .rewrites import sequence_with_callees

    count = (len(argv) - 3) // 2
    paths, (device, name, *symbols) = argv[1 : 1 + count], argv[1 + count :]
    modules = {s: _load(p) for s, p in zip(symbols, paths, strict=True)}
    _save(argv[0], sequence_with_callees(modules, device, name))


def number_loads(argv: list[str]) -> None:
    """``out in device=number...``"""
    from .rewrites import with_numbers

    pairs = (a.rpartition("=") for a in argv[2:])
    _save(argv[0], with_numbers(_load(argv[1]), {s: int(n) for s, _, n in pairs}))


def _load(path: str) -> Operation:
    from iron import ir

    with open(path, encoding="utf-8") as f:
        return ir.parse(f.read(), os.path.basename(path))


def _save(path: str, module: Operation) -> None:
    from iron import ir

    with open(path, "w", encoding="utf-8") as f:
        f.write(ir.print_module(module))
