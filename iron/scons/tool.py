"""Builders and their construction variables, and what each makes of its arguments.

AIEFLAGS      compiler flags of kernels, in order
AIEPATH       include directories of kernels, in order
AIEDEVICE     name of the device, as "npu1_1col"; empty: the current one
AIETARGET     "host" or "npu"
AIECCFLAGS    of the npu target: flags of mlir-aie's aiecc, such as --xclbin-kernel-name=...
AIEDRIVER     of the npu target: "steps", "aiecc" or empty: what fits the tools that are there
DEVICE        as AIEDEVICE, for one design
SEQUENCES     names of the runtime sequences wanted: one on the host target; on the npu target those
              to make instructions of, all if none
XCLBIN_INPUT  an xclbin that the design's kernel is added to, on the npu target
FULL_ELF      true: one ELF in place of xclbin and instructions, on the npu target
DESIGN, SET   name of the design in its file, and its compile-time values
OBJECTS       ready objects for a hand-written MLIR text, found by file name
"""

from __future__ import annotations

import os
from typing import Any

import SCons.Builder
import SCons.Errors
import SCons.Util

import iron.build
from iron.build import Recipe
from iron.build.sconstool import EnvironmentAction
from iron.build.targets import named_targets
from iron.toolchain.objects import CompileSpec, ObjectSpec, SourceFile

from .design import DesignAction, DesignRequest, MlirAction


def generate(env: Any, **arguments: Any) -> None:
    """Add builders and variables to `env`; nothing is looked for yet."""
    iron.build.tool(env, **arguments)
    env.SetDefault(AIEFLAGS=[], AIEPATH=[], AIEDEVICE="", AIETARGET="host", AIEDRIVER="")
    sources = [".cc", ".cpp", ".cxx", ".c"]
    builder = SCons.Builder.Builder
    env["BUILDERS"]["AIEKernel"] = builder(
        action=KernelAction(),
        emitter=named_targets,
        suffix=".o",
        src_suffix=sources,
        single_source=True,
    )
    env["BUILDERS"]["AIEArchive"] = builder(
        action=ArchiveAction(), emitter=named_targets, suffix=".a", src_suffix=sources
    )
    env["BUILDERS"]["AIEMlir"] = builder(
        generator=_mlir, emitter=named_targets, suffix=".mlir", src_suffix=".py", single_source=True
    )
    env["BUILDERS"]["AIEDesign"] = builder(
        generator=_design,
        emitter=_package_files,
        src_suffix=".py",
        single_source=True,
        target_factory=env.fs.Dir,
    )


def exists(env: Any) -> bool:
    return True


class KernelAction(EnvironmentAction):
    """One source to an object. On the host target kernels that differ in their source only are
    one recipe for several inputs: a large project has thousands of them. Its compiler and flags
    are decided once a run and environment."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[Any, Recipe] = {}

    def recipe(self, target: list[str], source: list[str], env: Any) -> Recipe:
        flags, directories = _words(env, "AIEFLAGS"), _directories(env, "AIEPATH")
        if _target(env) != "host":
            return _kernel_recipe(ObjectSpec((_spec(source[0], flags, directories),)), env)
        known = self._known.get((flags, directories))
        if known is None:
            known = _kernel_recipe(ObjectSpec((_spec(source[0], flags, directories),)), env)
            self._known[flags, directories] = known
        return known.of(source[0], label=os.path.basename(source[0]))


class ArchiveAction(EnvironmentAction):
    """Sources, compiled alike, to a static library."""

    def recipe(self, target: list[str], source: list[str], env: Any) -> Recipe:
        flags, directories = _words(env, "AIEFLAGS"), _directories(env, "AIEPATH")
        members = tuple(_spec(s, flags, directories) for s in source)
        return _kernel_recipe(ObjectSpec(members, archive=True), env)


def _spec(source: str, flags: tuple[str, ...], directories: tuple[str, ...]) -> CompileSpec:
    return CompileSpec(SourceFile(source), flags, directories)


def _kernel_recipe(spec: ObjectSpec, env: Any) -> Recipe:
    if _target(env) == "npu":
        from iron.toolchain.npu import NpuToolchain

        device = _device(env)
        return NpuToolchain.find().kernel(spec, "aie2p" if device.startswith("npu2") else "aie2")
    from iron.toolchain.host import HostToolchain

    return HostToolchain.find().kernel(spec)


def _target(env: Any) -> str:
    target = _text(env, "AIETARGET")
    if target not in ("host", "npu"):
        raise SCons.Errors.UserError(f"AIETARGET={target!r}: it is 'host' or 'npu'")
    return target


def _device(env: Any) -> str:
    return _text(env, "DEVICE") or _text(env, "AIEDEVICE")


def _mlir(target: Any, source: Any, env: Any, for_signature: bool) -> MlirAction:
    return MlirAction(env["IRON_SESSION"], _request(env))


def _design(target: Any, source: Any, env: Any, for_signature: bool) -> DesignAction:
    return DesignAction(env["IRON_SESSION"], _request(env))


def _request(env: Any) -> DesignRequest:
    return DesignRequest(
        name=env.get("DESIGN"),
        values=dict(env.get("SET") or {}),
        device=_device(env),
        target=_target(env),
        objects=tuple(n.get_abspath() for n in env.arg2nodes(env.get("OBJECTS") or [])),
        sequences=tuple(map(str, SCons.Util.flatten(env.get("SEQUENCES") or []))),
        driver=env.subst("$AIEDRIVER"),
        aiecc_flags=_words(env, "AIECCFLAGS"),
        extend=next((n.get_abspath() for n in _base(env)), ""),
        full_elf=bool(env.get("FULL_ELF")),
    )


def _package_files(target: Any, source: Any, env: Any) -> tuple[Any, Any]:
    """A design's target is a directory; the files that every package has stand for it."""
    directory = target[0]
    full_elf = bool(env.get("FULL_ELF"))
    nodes = [directory.File(name) for name in _files_of(_target(env), full_elf=full_elf)]
    env.Clean(nodes, directory)
    env.Depends(nodes, env.get("OBJECTS") or [])
    env.Depends(nodes, _base(env))
    return named_targets(nodes, source, env)


def _base(env: Any) -> list[Any]:
    """The xclbin that a design's kernel is added to, if one."""
    return list(env.arg2nodes(env.get("XCLBIN_INPUT") or []))


def _files_of(target: str, *, full_elf: bool) -> tuple[str, ...]:
    if target == "npu":
        from iron.toolchain import npu

        return npu.ELF_FILES if full_elf else npu.PACKAGE_FILES
    from iron.toolchain import host

    return host.PACKAGE_FILES


def _text(env: Any, variable: str) -> str:
    value = str(env.get(variable) or "")
    return value if "$" not in value else str(env.subst(value))


def _words(env: Any, variable: str) -> tuple[str, ...]:
    value = env.get(variable) or []
    # A list of plain words is what SCons would make of it.
    if isinstance(value, (list, tuple)) and all(map(_is_word, value)):
        return tuple(value)
    return tuple(str(w) for line in env.subst_list(f"${variable}") for w in line)


def _is_word(item: Any) -> bool:
    return type(item) is str and "$" not in item and item.split() == [item]


def _directories(env: Any, variable: str) -> tuple[str, ...]:
    paths = SCons.Util.flatten(env.get(variable) or [])
    return tuple(env.Dir(str(path)).get_abspath() for path in paths)
