"""Peano: C++ kernels to objects, LLVM IR of cores to objects, and the link of a core's ELF.

Command lines are those of mlir-aie's own drivers. Knows nothing of modules, devices or packages.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from iron.build import FunctionTool, In, IncludeDirs, Joined, Out, ProgramTool, Recipe, Ref, Text

from .compiler import ToolNotFound
from .objects import CompileSpec, ObjectSpec, SourceFile

KERNEL_FLAGS = (
    "-std=c++20", "-Wno-parentheses", "-Wno-attributes", "-Wno-macro-redefined", "-Wno-empty-body",
    "-O2", "-DNDEBUG", "-D__AIE_API_AIE_ADF_HPP__",
)  # fmt: skip
ELF, ARCHIVE, BITCODE = b"\x7fELF", b"!<arch>\n", b"BC\xc0\xde"
_HERE = "iron.toolchain.peano"


@dataclass(frozen=True)
class Peano:
    """An installation: its directory, and the include directory of mlir-aie for kernels."""

    root: str
    includes: tuple[str, ...] = ()

    def program(self, name: str, *extra: str, response_file: bool = True) -> ProgramTool:
        """One of its programs; ToolNotFound when the installation lacks it."""
        path = os.path.join(self.root, "bin", name)
        if not (os.path.isfile(path) and os.access(path, os.X_OK)):
            raise ToolNotFound(
                f"Peano in {self.root} has no bin/{name}: the installation is incomplete; "
                "reinstall it (pip install --force-reinstall llvm-aie) or set PEANO_INSTALL_DIR"
            )
        return ProgramTool(path, identity_extra=extra, response_file=response_file)

    def linker(self, target: str) -> ProgramTool:
        """clang as it links: what it is includes the linker and the libraries of the target."""
        lld = os.path.join(self.root, "bin", "ld.lld")
        return self.program("clang", lld, *self.libraries(target))

    def libraries(self, target: str) -> tuple[str, ...]:
        """The target's libraries and start files that are there."""
        directory = os.path.join(self.root, "lib", f"{target}-none-unknown-elf")
        try:
            names = sorted(os.listdir(directory))
        except OSError:
            return ()
        return tuple(os.path.join(directory, n) for n in names if n.endswith((".a", ".o")))

    # -- kernels ---------------------------------------------------------------------------

    def kernel(
        self,
        spec: ObjectSpec,
        target: str,
        flags: Sequence[str] = (),
        include_dirs: Sequence[str] = (),
    ) -> Recipe:
        """The object, renamed object, archive or LLVM IR that `spec` asks for."""
        where = ", ".join(spec.where)
        if spec.merge and (spec.archive or spec.symbol_prefix is not None):
            raise ToolNotFound(
                f"{spec.describe()}: inline=True goes with neither an archive nor a symbol_prefix"
            )
        members = [
            self.compile(m, target, flags, include_dirs, where, to_ir=spec.merge)
            for m in spec.members
        ]
        if spec.merge:
            return self._inlinable(members[0], spec)
        if spec.symbol_prefix is not None:
            members = [self.prefixed(m, spec.symbol_prefix) for m in members]
        return self.archive(members, where) if spec.archive else members[0]

    def compile(
        self,
        spec: CompileSpec,
        target: str,
        flags: Sequence[str] = (),
        include_dirs: Sequence[str] = (),
        where: str = "",
        *,
        to_ir: bool = False,
    ) -> Recipe:
        """One translation unit to ``kernel.o``, or to ``kernel.ll``."""
        if isinstance(spec.source, SourceFile):
            source: str | Text = spec.source.path
            label = os.path.basename(spec.source.path)
        else:
            source, label = Text(spec.source.text, spec.source.name), spec.source.name
        output = "kernel.ll" if to_ir else "kernel.o"
        how = ("-S", "-emit-llvm") if to_ir else ("-c",)
        target_flag = f"--target={target}-none-unknown-elf"
        return Recipe(
            "kernel-ir" if to_ir else "kernel-object",
            self.program("clang++"),
            (
                In(0), *how, "-o", Out(output), *KERNEL_FLAGS, target_flag, IncludeDirs(),
                *flags, *spec.flags,
            ),
            (source,),
            (output,),
            include_dirs=(*self.includes, *spec.include_dirs, *include_dirs),
            scan=True,
            begins=() if to_ir else ((output, ELF),),
            label=label,
            where=where,
        )  # fmt: skip

    def _inlinable(self, ir: Recipe, spec: ObjectSpec) -> Recipe:
        modules = (_HERE, "iron.toolchain.llvm_text")
        return Recipe(
            "kernel-inlinable",
            FunctionTool("kernel-inlinable", inlinable, modules),
            (In(0), Out("kernel.ll"), *spec.functions),
            (Ref(ir),),
            ("kernel.ll",),
            label=ir.label,
            where=ir.where,
        )

    def prefixed(self, compiled: Recipe, prefix: str) -> Recipe:
        """An object with every symbol it defines renamed ``prefix_symbol``."""
        renames = Recipe(
            "symbol-names",
            FunctionTool("symbol-names", list_renames, (_HERE, "iron.formats")),
            (In(0), Out("renames.txt"), prefix),
            (Ref(compiled),),
            ("renames.txt",),
            label=f"symbols of {compiled.label}",
            where=compiled.where,
        )
        return Recipe(
            "symbol-prefix",
            self.program("llvm-objcopy"),
            (Joined("--redefine-syms=", In(1)), In(0), Out("kernel.o")),
            (Ref(compiled), Ref(renames)),
            ("kernel.o",),
            begins=(("kernel.o", ELF),),
            label=f"{compiled.label} with symbols {prefix}_*",
            where=compiled.where,
        )

    def archive(self, members: Sequence[Recipe], where: str = "") -> Recipe:
        """A static library; members are numbered, since their recipes share a file name."""
        staged = tuple((f"{i:04d}.o", i) for i in range(len(members)))
        return Recipe(
            "archive",
            self.program("llvm-ar"),
            ("rcsD", "kernels.a", *(name for name, _ in staged)),
            tuple(Ref(m) for m in members),
            ("kernels.a",),
            staged=staged,
            begins=(("kernels.a", ARCHIVE),),
            label=f"archive of {', '.join(m.label for m in members)}",
            where=where,
        )

    def merged(self, objects: Sequence[Recipe | str], name: str, label: str) -> Recipe:
        """Several objects as one, for a core that can name only one."""
        suffixed = [f"{i:04d}{_suffix(o)}" for i, o in enumerate(objects)]
        return Recipe(
            "merged-object",
            self.program("ld.lld"),
            ("-r", "-o", name, *suffixed),
            tuple(Ref(o) if isinstance(o, Recipe) else o for o in objects),
            (name,),
            staged=tuple((s, i) for i, s in enumerate(suffixed)),
            begins=((name, ELF),),
            label=label,
        )

    # -- cores -----------------------------------------------------------------------------

    def link_ir(self, core: Recipe, kernels: Sequence[Recipe | str], label: str) -> Recipe:
        """The core's LLVM IR with the kernels that are to be inlined into it."""
        return Recipe(
            "core-merge",
            self.program("llvm-link"),
            ("-S", *(In(i) for i in range(1 + len(kernels))), "-o", Out("merged.ll")),
            (Ref(core), *(Ref(k) if isinstance(k, Recipe) else k for k in kernels)),
            ("merged.ll",),
            label=label,
        )

    def compatible(self, ir: Recipe, label: str, *, keep_align: bool = False) -> Recipe:
        """mlir-aie's LLVM IR in the dialect of Peano's LLVM."""
        modules = (_HERE, "iron.toolchain.llvm_text")
        keep = ("keep-align",) if keep_align else ()
        return Recipe(
            "core-compatible",
            FunctionTool("core-compatible", make_compatible, modules),
            (In(0), Out("core.ll"), *keep),
            (Ref(ir),),
            ("core.ll",),
            label=label,
        )

    def optimised(self, ir: Recipe, passes: str, label: str) -> Recipe:
        return Recipe(
            "core-opt",
            self.program("opt"),
            (f"--passes={passes}", "-inline-threshold=10", "-S", In(0), "-o", Out("core.opt.ll")),
            (Ref(ir),),
            ("core.opt.ll",),
            label=label,
        )

    def object(self, ir: Recipe, target: str, label: str) -> Recipe:
        options = ("-O2", f"--march={target}", "--function-sections", "--filetype=obj")
        return Recipe(
            "core-object",
            self.program("llc"),
            (In(0), *options, "-o", Out("core.o")),
            (Ref(ir),),
            ("core.o",),
            begins=(("core.o", ELF),),
            label=label,
        )

    def named(
        self,
        script: Recipe,
        objects: Sequence[Recipe | str],
        names: Sequence[tuple[str, str]],
        label: str,
    ) -> Recipe:
        """The linker script with those buffers also under their names in the design that an
        object refers to; alike cores whose kernels refer to none keep one script."""
        output = script.outputs[0]
        given = [Ref(o) if isinstance(o, Recipe) else o for o in objects]
        return Recipe(
            "linker-names",
            FunctionTool("linker-names", name_buffers, (_HERE, "iron.formats")),
            (
                In(0), Out(output), *(In(1 + i) for i in range(len(given))), "--",
                *(f"{name} = {canonical};" for name, canonical in names),
            ),
            (Ref(script), *given),
            (output,),
            label=label,
        )  # fmt: skip

    def elf(
        self,
        target: str,
        core: Recipe,
        script: Recipe,
        objects: Sequence[tuple[str, Recipe | str]],
        flags: Sequence[str],
        label: str,
    ) -> Recipe:
        """A core's ELF. `script` names its `objects` (name there, what it is); they are linked in
        a directory of their own, since a name with a space or a second one would not work."""
        script_name = script.outputs[0]
        given = [Ref(o) if isinstance(o, Recipe) else o for _, o in objects]
        staged = [("core.o", 0), (script_name, 1)]
        staged += [(name, 2 + i) for i, (name, _) in enumerate(objects)]
        return Recipe(
            "core-link",
            self.linker(target),
            (
                "-O2", f"--target={target}-none-unknown-elf", *flags, "core.o",
                "-Wl,--gc-sections", "-Wl,--orphan-handling=error", f"-Wl,-T,{script_name}",
                "-o", "core.elf",
            ),
            (Ref(core), Ref(script), *given),
            ("core.elf",),
            staged=tuple(staged),
            begins=(("core.elf", ELF),),
            label=label,
        )  # fmt: skip


def _suffix(item: Recipe | str) -> str:
    name = item.outputs[0] if isinstance(item, Recipe) else item
    return ".a" if name.endswith(".a") else ".o"


def inlinable(argv: list[str]) -> None:
    """``in out function...``: LLVM IR whose functions merge into their callers."""
    from .llvm_text import make_inlinable

    source, target, *functions = argv
    with open(source, encoding="utf-8") as f:
        text = f.read()
    with open(target, "w", encoding="utf-8") as f:
        f.write(make_inlinable(text, tuple(functions)))


def make_compatible(argv: list[str]) -> None:
    """``in out [keep-align]``"""
    from .llvm_text import downgrade

    with open(argv[0], encoding="utf-8") as f:
        text = f.read()
    with open(argv[1], "w", encoding="utf-8") as f:
        f.write(downgrade(text, keep_align="keep-align" in argv[2:]))


def name_buffers(argv: list[str]) -> None:
    """``script out object... -- 'name = other;'...``: append the assignments that are needed."""
    split = argv.index("--")
    source, target, *objects = argv[:split]
    wanted: set[str] = set()
    for path in objects:
        with open(path, "rb") as f:
            wanted |= _undefined(f.read())
    with open(source, encoding="utf-8") as f:
        text = f.read()
    needed = [a for a in argv[split + 1 :] if a.partition(" = ")[0] in wanted]
    with open(target, "w", encoding="utf-8") as f:
        f.write("\n".join((text.rstrip("\n"), *needed, "")))


def _undefined(raw: bytes) -> set[str]:
    """What an object, or an archive's members, refer to; nothing for what is neither: the linker
    says what is wrong with it."""
    from iron.formats.elf import FormatError, symbols

    from .symbols import archive_members

    try:
        members = [m for _, m in archive_members(raw)] if raw.startswith(ARCHIVE) else [raw]
        return {s.name for m in members for s in symbols(m) if not s.defined}
    except FormatError:
        return set()


def list_renames(argv: list[str]) -> None:
    """``object out prefix``: ``old new`` for each symbol the object defines, for llvm-objcopy."""
    from iron.formats.elf import symbols

    source, target, prefix = argv
    with open(source, "rb") as f:
        found = symbols(f.read(), source)
    names = sorted({s.name for s in found if s.defined})
    if not names:
        raise ValueError(f"{source} defines no symbol that could be prefixed")
    with open(target, "w", encoding="utf-8") as f:
        f.writelines(f"{name} {prefix}_{name}\n" for name in names)
