"""The host target: a design's MLIR and its objects become a package the emulator's worker runs.

    kernels ──compile──▶ objects ─────────────┐
    MLIR ──lower──▶ network, bodies ──compile─┴─link──▶ images ──▶ package
    runtime ──compile, link──▶ worker ──────────────────────────────▲

A package is a directory: ``design.net``, ``arguments.json``, ``worker`` and one ``.so`` an image.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from iron.build import (
    FunctionTool,
    In,
    IncludeDirs,
    Out,
    Recipe,
    Ref,
    Session,
    Text,
    ToolDir,
    source_digest,
)

from .compiler import Command, ToolNotFound, find_archiver, find_compiler
from .files import given_file, placing
from .objects import CompileSpec, ObjectSpec, SourceFile
from .symbols import check_symbols

if TYPE_CHECKING:
    from iron.build import Result
    from iron.host import HostDesign, Image

TEXT, NETWORK, ARGUMENTS, WORKER = "aie.mlir", "design.net", "arguments.json", "worker"
PACKAGE_FILES = (TEXT, NETWORK, ARGUMENTS, WORKER)
"""What every package has, first in its outputs; its images come after."""
# What people call the first parts of a package's key.
_PARTS = ("the design's MLIR", "iron's lowering")


@dataclass(frozen=True)
class HostToolchain:
    """Recipes for the machine's own compiler. `flags` and `include_dirs` apply to every kernel."""

    compiler: Command
    flags: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    choice: Choice | None = None
    """What of a module is built, unless a request says so itself."""

    @staticmethod
    def find(
        flags: Sequence[str] = (), include_dirs: Sequence[str] = (), choice: Choice | None = None
    ) -> HostToolchain:
        """With the compiler of this machine; ToolNotFound when there is none."""
        return HostToolchain(find_compiler(), tuple(flags), tuple(include_dirs), choice)

    @property
    def private(self) -> tuple[tuple[str, str | ToolDir], ...]:
        """The environment of the compiler: where one that keeps a cache of its own has it."""
        if self.compiler.leading != ("c++",):
            return ()
        names = ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")
        return tuple((name, ToolDir("zig")) for name in names)

    # -- steps -----------------------------------------------------------------------------

    def compile(
        self,
        kind: str,
        source: str | Text,
        output: str,
        flags: Sequence[str],
        include_dirs: Sequence[str] = (),
        label: str = "",
        where: str = "",
    ) -> Recipe:
        """One translation unit to one object; the emulator's headers are found last."""
        from iron.host import include_dir

        return Recipe(
            kind,
            self.compiler.tool,
            (*self.compiler.leading, *flags, IncludeDirs(), "-c", In(0), "-o", Out(output)),
            (source,),
            (output,),
            include_dirs=(*include_dirs, include_dir()),
            scan=True,
            env=self.private,
            label=label,
            where=where,
        )

    def link(
        self,
        kind: str,
        inputs: Sequence[Ref | str],
        output: str,
        flags: Sequence[str],
        label: str = "",
    ) -> Recipe:
        """Objects and archives, in order, to one program or shared library."""
        named = tuple(In(i) for i in range(len(inputs)))
        return Recipe(
            kind,
            self.compiler.tool,
            (*self.compiler.leading, *named, "-o", Out(output), *flags),
            tuple(inputs),
            (output,),
            env=self.private,
            label=label,
        )

    # -- kernels ---------------------------------------------------------------------------

    @cached_property
    def image_flags(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """To compile what a core runs, and to link it.

        g++ makes the static data of templates and inline functions one for the whole process;
        every core has its own.
        """
        from iron.host import image_flags

        compile_flags, link = image_flags()
        gnu = "g++" in os.path.basename(os.path.realpath(self.compiler.program))
        return ((*compile_flags, "-fno-gnu-unique") if gnu else compile_flags), link

    def object(self, spec: CompileSpec, where: str = "") -> Recipe:
        """Compile one translation unit of the user's to ``kernel.o``."""
        if isinstance(spec.source, SourceFile):
            source: str | Text = spec.source.path
            label = os.path.basename(spec.source.path)
        else:
            source, label = Text(spec.source.text, spec.source.name), spec.source.name
        return self.compile(
            "kernel-object",
            source,
            "kernel.o",
            (*self.image_flags[0], *self.flags, *spec.flags),
            (*spec.include_dirs, *self.include_dirs),
            label=label,
            where=where,
        )

    def kernel(self, spec: ObjectSpec) -> Recipe:
        """The object, renamed object or archive that `spec` asks for.

        What is to be merged as LLVM IR is an object here: the same values, and the call stays.
        """
        if spec.use_chess:
            raise ToolNotFound(f"{spec.describe()}: use_chess=True is of the npu target only")
        where = ", ".join(spec.where)
        members = [self._prefixed(self.object(m, where), spec) for m in spec.members]
        return self._archive(members, spec) if spec.archive else members[0]

    def _prefixed(self, recipe: Recipe, spec: ObjectSpec) -> Recipe:
        if spec.symbol_prefix is None:
            return recipe
        return Recipe(
            "symbol-prefix",
            FunctionTool("symbol-prefix", prefix_symbols, ("iron.toolchain.host", "iron.formats")),
            (In(0), Out("kernel.o"), spec.symbol_prefix),
            (Ref(recipe),),
            ("kernel.o",),
            label=f"{recipe.label} with symbols {spec.symbol_prefix}_*",
            where=recipe.where,
        )

    def _archive(self, members: Sequence[Recipe], spec: ObjectSpec) -> Recipe:
        """A static library; its members are numbered, since their recipes share a file name."""
        archiver = find_archiver(self.compiler)
        named = [
            Recipe(
                "archive-member",
                placing("archive-member"),
                (In(0), Out(f"{i:04d}.o")),
                (Ref(m),),
                (f"{i:04d}.o",),
                label=m.label,
            )
            for i, m in enumerate(members)
        ]
        return Recipe(
            "archive",
            archiver.tool,
            (*archiver.leading, "qcsD", Out("kernels.a"), *(In(i) for i in range(len(named)))),
            tuple(Ref(m) for m in named),
            ("kernels.a",),
            label=f"archive of {', '.join(m.label for m in members)}",
            where=", ".join(spec.where),
        )

    # -- the worker ------------------------------------------------------------------------

    @cached_property
    def worker(self) -> Recipe:
        """The emulator's runtime, compiled once per machine."""
        from iron.host import runtime_sources, worker_flags

        compile_flags, link_flags = worker_flags()
        objects = [
            self.compile(
                "runtime-object",
                source,
                "runtime.o",
                compile_flags,
                label=f"emulator runtime, {os.path.basename(source)}",
            )
            for source in runtime_sources()
        ]
        return self.link(
            "runtime", [Ref(o) for o in objects], WORKER, link_flags, label="emulator runtime"
        )

    # -- designs ---------------------------------------------------------------------------

    def package(
        self,
        session: Session,
        text: str,
        objects: Mapping[str, ObjectSpec | str],
        label: str = "design",
        choice: Choice | None = None,
    ) -> Result:
        """The package of a design's MLIR `text`; nothing is parsed when it is known already.

        `objects` says for each ``link_with`` name of the text what it is: a spec to build, or the
        path of a file that is there. Raises iron.build.BuildError, SymbolError, and the errors of
        `iron.ir.parse`, `iron.ir.verify` and `iron.host.lower`. The result's watch is about
        everything but the emulator's own runtime.
        """
        design = self._design(text, objects, label, choice)
        return session.composite(
            "package",
            design.parts(),
            lambda: design.recipe(session),
            unwatched=(self.worker,),
            label=label,
            names=_PARTS,
        )

    def find_package(
        self,
        session: Session,
        text: str,
        objects: Mapping[str, ObjectSpec | str],
        label: str = "design",
    ) -> Result | None:
        """As `package`, but None when it would have to be made."""
        parts = self._design(text, objects, label).parts()
        return session.find_composite("package", parts, label=label, names=_PARTS)

    def _design(
        self,
        text: str,
        objects: Mapping[str, ObjectSpec | str],
        label: str,
        choice: Choice | None = None,
    ) -> _Design:
        chosen = choice or self.choice or Choice()
        return _Design(self, text, objects, self._made(objects), label, chosen)

    def kernels(self, objects: Mapping[str, ObjectSpec | str]) -> list[Recipe]:
        """What is compiled for a design besides what is generated."""
        return [made for made in self._made(objects).values() if isinstance(made, Recipe)]

    def _made(self, objects: Mapping[str, ObjectSpec | str]) -> dict[str, Recipe | str]:
        return {n: self.kernel(o) if isinstance(o, ObjectSpec) else o for n, o in objects.items()}


@dataclass(frozen=True)
class Choice:
    """Which device and sequence of a module are meant (None: the usual one), and whether the
    design must fit the real device."""

    device: str | None = None
    sequence: str | None = None
    limits: bool = True


@dataclass(frozen=True)
class _Design:
    """One design on its way to a package."""

    toolchain: HostToolchain
    text: str
    objects: Mapping[str, ObjectSpec | str]
    made: Mapping[str, Recipe | str]
    label: str
    choice: Choice = Choice()

    def parts(self) -> list[str | Recipe]:
        """Everything the package depends on, as it is known before anything is built."""
        parts: list[str | Recipe] = [self.text, _lowering_identity(), self.toolchain.worker]
        for name in sorted(self.made):
            given = self.made[name]
            parts += [name, given if isinstance(given, Recipe) else given_file(given)]
        if self.choice != Choice():
            parts.append(str(self.choice))
        return parts

    def recipe(self, session: Session) -> Recipe:
        """Lower the text, look into the objects, and say how the package is put together."""
        from iron import ir
        from iron.host import check_limits, lower

        module = ir.parse(self.text, "aie.mlir")
        ir.verify(module)
        if self.choice.limits:
            check_limits(module)
        design = lower(module, device=self.choice.device, sequence=self.choice.sequence)
        check_symbols(session, module, design, self.objects, self.made)
        return self._assemble(design)

    def _assemble(self, design: HostDesign) -> Recipe:
        images = [self._link(image) for image in design.images]
        outputs = (*PACKAGE_FILES, *(i.outputs[0] for i in images))
        arguments = json.dumps([vars(a) for a in design.arguments], indent=1) + "\n"
        return Recipe(
            "package",
            placing("package"),
            tuple(a for i, o in enumerate(outputs) for a in (In(i), Out(o))),
            (
                Text(self.text, TEXT),
                Text(design.network, NETWORK),
                Text(arguments, ARGUMENTS),
                Ref(self.toolchain.worker),
                *(Ref(i) for i in images),
            ),
            outputs,
            label=f"package of {self.label}",
        )

    def _link(self, image: Image) -> Recipe:
        bodies = self.toolchain.compile(
            "bodies",
            Text(image.source, f"{image.name}.cc"),
            "bodies.o",
            self.toolchain.image_flags[0],
            label=f"{image.name} of {self.label}",
        )
        linked = [self.made[name] for name in image.objects]
        inputs = (Ref(bodies), *(Ref(o) if isinstance(o, Recipe) else o for o in linked))
        return self.toolchain.link(
            "link",
            inputs,
            f"{image.name}.so",
            self.toolchain.image_flags[1],
            label=f"{image.name} of {self.label}",
        )


def prefix_symbols(argv: list[str]) -> None:
    """``in out prefix``: rename every symbol an object defines to ``prefix_symbol``."""
    from iron.formats.elf import rename_symbols, symbols

    source, target, prefix = argv
    with open(source, "rb") as f:
        raw = f.read()
    names = {s.name: f"{prefix}_{s.name}" for s in symbols(raw, source) if s.defined}
    with open(target, "wb") as f:
        f.write(rename_symbols(raw, names, source))


def _lowering_identity() -> str:
    """What the step from MLIR to C++ is: the sources of the packages that do it."""
    return source_digest("iron.host", "iron.ir", "iron.toolchain.host")
