"""The recipes between a placed design and its package: cores, overlay, sequences.

`Steps` says what follows from what; what a step's command looks like is known by `mlir_aie`,
`peano` and `packaging`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from iron.build import FunctionTool, In, Joined, Out, Recipe, Ref, Text

from . import packaging
from .aiecc import Aiecc
from .files import placing
from .mlir_aie import MlirAie
from .peano import Peano
from .rewrites import Core, Outline, PlanError, split_cores

if TYPE_CHECKING:
    from .npu import Design
    from .pipelines import Generation

_SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*").fullmatch
_REWRITES = ("iron.toolchain.npu_steps", "iron.toolchain.rewrites", "iron.ir")


class Package(NamedTuple):
    """What a package is put together from: an xclbin and instructions, or one full ELF."""

    overlay: Ref
    sequences: tuple[tuple[str, Ref], ...]


@dataclass(frozen=True)
class Steps:
    """One design's steps. `made` are its objects by ``link_with`` name."""

    mlir_aie: MlirAie
    peano: Peano
    outline: Outline
    made: Mapping[str, Recipe | str]
    label: str

    # -- one step at a time ----------------------------------------------------------------

    def fine(self, design: Design, generation: Generation) -> Package:
        """Every step its own recipe; the placing runs now, for what follows depends on it."""
        routed, elfs, overlay = self._configured(design, generation)
        cdo = self.mlir_aie.cdo(
            overlay, self.outline.device, elfs, f"configuration of {self.label}"
        )
        sequences = tuple(
            (name, Ref(self._sequence(generation, routed, name))) for name in design.wanted()
        )
        return Package(Ref(self._xclbin(design, generation, cdo)), sequences)

    def transaction(self, design: Design, generation: Generation) -> Recipe:
        """The configuration as register writes, in MLIR."""
        _, elfs, overlay = self._configured(design, generation)
        what = f"transaction of {self.label}"
        return self.mlir_aie.transaction(generation, overlay, self.outline.device, elfs, what)

    def _configured(
        self, design: Design, generation: Generation
    ) -> tuple[Recipe, list[tuple[str, Recipe]], Recipe]:
        """The routed design, its cores' ELFs, and the overlay that names them."""
        text, made = self._spelled(design, generation)
        placed = self._placed(generation, text)
        addressed = design.session.build(placed)[0].path()
        routed = self.mlir_aie.optimised(
            "route", generation.route, placed, "input_physical.mlir", f"routing of {self.label}"
        )
        safe = safe_names(made)
        with open(addressed, encoding="utf-8") as f:
            cores = split_cores(f.read(), safe)
        elfs = self._elfs(generation, cores, made, safe)
        return routed, elfs, self._overlay(routed, elfs)

    def _placed(self, generation: Generation, text: str) -> Recipe:
        pipeline = generation.place.format(device=self.outline.device, target=self.outline.target)
        source = Text(text, "aie.mlir")
        what = f"placing of {self.label}"
        return self.mlir_aie.optimised("place", pipeline, source, "input_with_addresses.mlir", what)

    def _spelled(
        self, design: Design, generation: Generation
    ) -> tuple[str, dict[str, Recipe | str]]:
        """The text as this mlir-aie reads it, and the objects it names."""
        from iron import ir

        from .rewrites import bind_links, the_device

        spell = design.toolchain.spellings.get(generation.name)
        made = dict(self.made)
        if spell is None and not generation.core_links:
            return design.text, made
        module = ir.parse(design.text, "aie.mlir")
        changed = False
        if generation.core_links:
            changed, merged = bind_links(the_device(module))
            for name, parts in merged.items():
                objects = [self._object(made, part) for part in parts]
                what = f"{', '.join(parts)} in one for {self.label}"
                made[name] = self.peano.merged(objects, name, what)
        if spell is not None:
            spell(module)
            changed = True
        return (ir.print_module(module) if changed else design.text), made

    def _object(self, made: Mapping[str, Recipe | str], name: str) -> Recipe | str:
        if name not in made:
            raise PlanError(
                f"{self.label}: nothing makes {name}; declare an ExternalFunction for it, or give "
                "the file in object_files"
            )
        return made[name]

    # -- cores -----------------------------------------------------------------------------

    def _elfs(
        self,
        generation: Generation,
        cores: Sequence[Core],
        made: Mapping[str, Recipe | str],
        safe: Mapping[str, str],
    ) -> list[tuple[str, Recipe]]:
        """(name in the configuration, ELF) for each core; alike cores share one."""
        known: dict[tuple[object, ...], Recipe] = {}
        found = []
        for core in cores:
            named = core.names if core.links else ()
            alike = (core.body, core.script, core.links, core.merges, named)
            if alike not in known:
                known[alike] = self._elf(generation, core, made, safe)
            name = f"{self.outline.device}_{core.elf}"
            found.append((name, known[alike]))
        return found

    def _elf(
        self,
        generation: Generation,
        core: Core,
        made: Mapping[str, Recipe | str],
        safe: Mapping[str, str],
    ) -> Recipe:
        what = f"core ({core.column}, {core.row}) of {self.label}"
        device, target = self.outline.device, self.outline.target
        name = f"{device}_core_{core.compiled_at[0]}_{core.compiled_at[1]}"
        pipeline = generation.lower_core.format(
            device=device, column=core.compiled_at[0], row=core.compiled_at[1], target=target
        )
        lowered = self.mlir_aie.optimised(
            "core-lower", pipeline, Text(core.body, f"{name}.mlir"), "core_llvm.mlir", what
        )
        ir = self.peano.compatible(self.mlir_aie.llvm_ir(lowered, what), what)
        if core.merges:
            kernels = [self._object(made, n) for n in core.merges]
            ir = self.peano.link_ir(ir, kernels, what)
            ir = self.peano.compatible(ir, what, keep_align=True)
        optimised = self.peano.optimised(ir, generation.opt_passes, what)
        script = self.mlir_aie.linker_script(
            Text(core.script, f"{name}.mlir"), device, core.compiled_at, what
        )
        objects = [(safe[n], self._object(made, n)) for n in core.links]
        if objects and core.names:
            script = self.peano.named(script, [o for _, o in objects], core.names, what)
        compiled = self.peano.object(optimised, target, what)
        return self.peano.elf(target, compiled, script, objects, what)

    # -- overlay and sequences -------------------------------------------------------------

    def _overlay(self, routed: Recipe, elfs: Sequence[tuple[str, Recipe]]) -> Recipe:
        """The routed design without its sequences; then with its cores' ELFs named."""
        bare = _rewrite("overlay", drop_sequences, routed, "overlay.mlir", (), self.label)
        names = tuple(name for name, _ in elfs)
        return _rewrite(
            "elf-files", name_elfs, bare, "input_physical_with_elfs.mlir", names, self.label
        )

    def _xclbin(self, design: Design, generation: Generation, cdo: Recipe) -> Recipe:
        toolchain, shape, device = design.toolchain, self.outline.shape, self.outline.device
        image = packaging.pdi(toolchain.bootgen_tool, device, cdo, f"PDI of {self.label}")
        columns = packaging.columns_of(
            shape.name, shape.columns, from_one=generation.starts_from_one
        )
        described = packaging.descriptions(
            device, toolchain.kernel_name, columns, self._buffers(), image, self.label
        )
        return packaging.xclbin(toolchain.xclbin_tool, described, image, f"xclbin of {self.label}")

    def _buffers(self) -> int:
        most = max((len(s.arguments) for s in self.outline.sequences), default=0)
        if most > packaging.MOST_BUFFERS:
            raise PlanError(
                f"{self.label}: a runtime sequence has {most} arguments; the NPU takes "
                f"{packaging.MOST_BUFFERS} at most"
            )
        return max(packaging.LEAST_BUFFERS, most)

    def _sequence(self, generation: Generation, routed: Recipe, name: str) -> Recipe:
        what = f"sequence {name} of {self.label}"
        alone = _rewrite("sequence", keep_sequence, routed, "sequence.mlir", (name,), what)
        lowered = self.mlir_aie.optimised(
            "npu-lower", generation.lower_sequence, alone, "npu_insts.mlir", what
        )
        return self.mlir_aie.instructions(lowered, self.outline.device, name, what)

    # -- all at once -----------------------------------------------------------------------

    def coarse(self, design: Design) -> Package:
        """mlir-aie's own driver as one recipe."""
        toolchain = design.toolchain
        driver = Aiecc.find(self.mlir_aie)
        tools = [f.path for f in (toolchain.bootgen, toolchain.xclbinutil) if f]
        unsafe = [n for n in self.made if not _SAFE(n)]
        if unsafe:
            raise PlanError(
                f"{self.label}: aiecc cannot link a file called {unsafe[0]!r}; give its function "
                "an object_file_name of letters, digits, dots, dashes and underscores"
            )
        recipe = driver.recipe(
            self.mlir_aie,
            self.peano,
            tools,
            Text(design.text, "aie.mlir"),
            self.made,
            toolchain.aiecc_flags,
            full_elf=toolchain.full_elf,
            chess=design.chess,
            label=self.label,
        )
        if toolchain.full_elf:
            return Package(Ref(recipe), ())
        overlay = packaging.settled(recipe, "raw.xclbin", self.label)
        return Package(Ref(overlay), ((design.wanted()[0], Ref(recipe, "insts.bin")),))


def safe_names(made: Mapping[str, object]) -> dict[str, str]:
    """For each ``link_with`` name, what the file is called where it is linked: itself when a
    linker script can say that, and no other file's."""
    taken: set[str] = {"core.o", "core.elf"}
    found = {}
    for index, name in enumerate(sorted(made)):
        chosen = name
        if not _SAFE(name) or name in taken:
            chosen = f"object_{index}{os.path.splitext(name)[1] or '.o'}"
        if not _SAFE(chosen):
            chosen = f"object_{index}.o"
        taken.add(chosen)
        found[name] = chosen
    return found


def package_recipe(design: Design, package: Package) -> Recipe:
    """The files of a package in one result."""
    from .npu import ABOUT, ARGUMENTS, INSTRUCTIONS, TEXT, XCLBIN

    first = design.outline.sequences[0] if design.outline.sequences else None
    by_name = {s.name: s for s in design.outline.sequences}
    if package.sequences:
        first = by_name[package.sequences[0][0]]
    arguments = [vars(a) for a in first.arguments] if first is not None else []
    full = not package.sequences
    files: dict[str, Text | Ref] = {"design.elf" if full else XCLBIN: package.overlay}
    named: dict[str, str] = {}
    for index, (name, made) in enumerate(package.sequences):
        if index == 0:
            files[INSTRUCTIONS] = made
        if len(package.sequences) > 1:
            named[name] = f"insts_{name}.bin"
            files[named[name]] = made
        else:
            named[name] = INSTRUCTIONS
    files[TEXT] = Text(design.text, TEXT)
    files[ARGUMENTS] = Text(json.dumps(arguments, indent=1) + "\n", ARGUMENTS)
    about = {
        "kernel": design.toolchain.kernel_name.name,
        "device": design.outline.shape.name,
        "symbol": design.outline.device,
        "sequences": named,
    }
    files[ABOUT] = Text(json.dumps(about, indent=1) + "\n", ABOUT)
    order = [n for n in (XCLBIN, INSTRUCTIONS, TEXT, ARGUMENTS, ABOUT) if n in files]
    outputs = (*order, *(n for n in files if n not in order))
    return Recipe(
        "package",
        placing("package"),
        tuple(a for i, o in enumerate(outputs) for a in (In(i), Out(o))),
        tuple(files[o] for o in outputs),
        outputs,
        label=f"package of {design.label}",
    )


def _rewrite(
    kind: str,
    function: object,
    source: Recipe,
    output: str,
    arguments: Sequence[str],
    label: str,
) -> Recipe:
    return Recipe(
        kind,
        FunctionTool(kind, function, _REWRITES),  # type: ignore[arg-type]
        (In(0), Out(output), *(Joined(a) for a in arguments)),
        (Ref(source),),
        (output,),
        label=label,
    )


# -- the steps in this process ----------------------------------------------------------------


def drop_sequences(argv: list[str]) -> None:
    """``in out``"""
    from .rewrites import overlay

    _through(argv, overlay)


def name_elfs(argv: list[str]) -> None:
    """``in out name...``, each name ending in ``_core_<column>_<row>.elf``"""
    from .rewrites import with_elfs

    files = {}
    for name in argv[2:]:
        column, row = os.path.splitext(name)[0].rsplit("_", 2)[1:]
        files[int(column), int(row)] = name
    _through(argv, lambda module: with_elfs(module, files))


def keep_sequence(argv: list[str]) -> None:
    """``in out name``"""
    from .rewrites import sequence_alone

    _through(argv, lambda module: sequence_alone(module, argv[2]))


def _through(argv: Sequence[str], change: object) -> None:
    from iron import ir

    with open(argv[0], encoding="utf-8") as f:
        module = ir.parse(f.read(), os.path.basename(argv[0]))
    changed = change(module)  # type: ignore[operator]
    with open(argv[1], "w", encoding="utf-8") as f:
        f.write(ir.print_module(changed))
