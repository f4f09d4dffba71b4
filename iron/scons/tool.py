"""Builders and their construction variables, and what each makes of its arguments.

AIEFLAGS      compiler flags of kernels, in order
AIEPATH       include directories of kernels, in order
AIEDEVICE     name of the device, as "npu1_1col"; empty: the current one
AIETARGET     "host" or "npu"
AIEDRIVER     of the npu target: "steps", "aiecc" or empty: what fits the tools that are there
DEVICE        as AIEDEVICE, for one design
SEQUENCES     names of the runtime sequences to make instructions of on the npu target; all if none
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
from iron.build.nodes import RecipeAction, named_targets
from iron.toolchain.objects import CompileSpec, ObjectSpec, SourceFile

from .design import DesignAction, DesignRequest, MlirAction


def generate(env: Any, **arguments: Any) -> None:
    """Add builders and variables to `env`; nothing is looked for yet."""
    iron.build.tool(env, **arguments)
    env.SetDefault(AIEFLAGS=[], AIEPATH=[], AIEDEVICE="", AIETARGET="host", AIEDRIVER="")
    sources = [".cc", ".cpp", ".cxx", ".c"]
    builder = SCons.Builder.Builder
    env["BUILDERS"]["AIEKernel"] = builder(
        generator=_kernel,
        emitter=named_targets,
        suffix=".o",
        src_suffix=sources,
        single_source=True,
    )
    env["BUILDERS"]["AIEArchive"] = builder(
        generator=_archive, emitter=named_targets, suffix=".a", src_suffix=sources
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


def _spec(source: str, env: Any) -> CompileSpec:
    return CompileSpec(SourceFile(source), _words(env, "AIEFLAGS"), _directories(env, "AIEPATH"))


def _kernel(target: Any, source: Any, env: Any, for_signature: bool) -> RecipeAction:
    def recipe(targets: list[str], sources: list[str], env: Any) -> Any:
        return _kernel_recipe(ObjectSpec((_spec(sources[0], env),)), env)

    return RecipeAction(env["IRON_SESSION"], recipe)


def _archive(target: Any, source: Any, env: Any, for_signature: bool) -> RecipeAction:
    def recipe(targets: list[str], sources: list[str], env: Any) -> Any:
        members = tuple(_spec(s, env) for s in sources)
        return _kernel_recipe(ObjectSpec(members, archive=True), env)

    return RecipeAction(env["IRON_SESSION"], recipe)


def _kernel_recipe(spec: ObjectSpec, env: Any) -> Any:
    if _target(env) == "npu":
        from iron.toolchain.npu import NpuToolchain

        device = _device(env)
        return NpuToolchain.find().kernel(spec, "aie2p" if device.startswith("npu2") else "aie2")
    from iron.toolchain.host import HostToolchain

    return HostToolchain.find().kernel(spec)


def _target(env: Any) -> str:
    target: str = env.subst("$AIETARGET")
    if target not in ("host", "npu"):
        raise SCons.Errors.UserError(f"AIETARGET={target!r}: it is 'host' or 'npu'")
    return target


def _device(env: Any) -> str:
    return str(env.subst(str(env.get("DEVICE") or "$AIEDEVICE")))


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
    )


def _package_files(target: Any, source: Any, env: Any) -> tuple[Any, Any]:
    """A design's target is a directory; the files that every package has stand for it."""
    directory = target[0]
    nodes = [directory.File(name) for name in _files_of(_target(env))]
    env.Clean(nodes, directory)
    env.Depends(nodes, env.get("OBJECTS") or [])
    return named_targets(nodes, source, env)


def _files_of(target: str) -> tuple[str, ...]:
    if target == "npu":
        from iron.toolchain import npu

        return npu.PACKAGE_FILES
    from iron.toolchain import host

    return host.PACKAGE_FILES


def _words(env: Any, variable: str) -> tuple[str, ...]:
    return tuple(str(w) for line in env.subst_list(f"${variable}") for w in line)


def _directories(env: Any, variable: str) -> tuple[str, ...]:
    paths = SCons.Util.flatten(env.get(variable) or [])
    return tuple(os.path.abspath(env.Dir(env.subst(str(p))).get_abspath()) for p in paths)
