"""Reads the command line and calls the subcommand; errors end with one message and status 1."""

from __future__ import annotations

import argparse
import ast
import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from iron.jit import CallableDesign


def main(argv: Sequence[str] | None = None) -> int:
    """Run the ``iron`` command; its exit status."""
    arguments = _parser().parse_args(argv)
    try:
        arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as e:
        if not _expected(e):
            raise
        print(f"iron: {e}", file=sys.stderr)
        return 1
    return 0


def _expected(error: Exception) -> bool:
    """Whether an error says all there is to say to a user; others keep their traceback."""
    from iron.build import BuildError
    from iron.build.explain import Unexplained
    from iron.jit.errors import ExportError, GenerationError
    from iron.jit.scripts import NoSuchDesign
    from iron.runtime.errors import HostRuntimeError
    from iron.toolchain.compiler import ToolNotFound
    from iron.toolchain.rewrites import PlanError
    from iron.toolchain.symbols import SymbolError

    from .run_mlir import RunError

    kinds = (
        RunError,
        BuildError,
        Unexplained,
        GenerationError,
        ExportError,
        NoSuchDesign,
        HostRuntimeError,
        ToolNotFound,
        SymbolError,
        PlanError,
    )
    return isinstance(error, kinds)


def _parser() -> argparse.ArgumentParser:
    from iron import __version__

    from . import cache, doctor, explain, graph, inspect

    parser = argparse.ArgumentParser(
        prog="iron", description="Build and run AMD AI Engine designs."
    )
    parser.add_argument("--version", action="version", version=f"iron {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    run = commands.add_parser(
        "run", help="run a Python script that calls designs, or a design.mlir (--help after it)"
    )
    run.add_argument("script")
    run.add_argument("arguments", nargs=argparse.REMAINDER)
    run.set_defaults(run=_run)

    build = commands.add_parser("build", help="build a design of a Python file without running it")
    _say_which(build)
    build.add_argument("--mlir", action="store_true", help="print the MLIR text instead")
    build.add_argument(
        "--out", metavar="PATH", help="put the files here too: a directory, or one file.bundle"
    )
    build.set_defaults(run=_build)

    export = commands.add_parser(
        "export", help="write a design and all it is made from to a directory that scons builds"
    )
    _say_which(export)
    export.add_argument("directory", metavar="DIR", help="new, empty, or an earlier export")
    export.set_defaults(run=_export)

    cache.add_to(commands)
    explain.add_to(commands)
    doctor.add_to(commands)
    inspect.add_to(commands)
    graph.add_to(commands)
    return parser


def _say_which(command: argparse.ArgumentParser) -> None:
    """Which design, with which values, for what."""
    command.add_argument("design", help="file.py, or file.py:name")
    command.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a compile-time value"
    )
    command.add_argument("--device", help="as npu1_1col; otherwise the current device")
    command.add_argument("--target", choices=("host", "npu"), help="otherwise IRON_TARGET, or host")
    command.add_argument(
        "--driver",
        choices=("auto", "steps", "aiecc"),
        help="of the npu target: each step on its own, or mlir-aie's own driver for all of them",
    )
    command.add_argument(
        "--aiecc-flag",
        action="append",
        default=[],
        metavar="FLAG",
        help="of the npu target: a flag of aiecc, as --aiecc-flag=--xclbin-input=a.xclbin",
    )
    command.add_argument(
        "--full-elf", action="store_true", help="of the npu target: one ELF in place of an xclbin"
    )


def _run(arguments: argparse.Namespace) -> None:
    if arguments.script.endswith(".mlir"):
        from .run_mlir import command

        command(arguments.script, arguments.arguments)
        return
    from iron.compat import run_script

    run_script(arguments.script, arguments.arguments)


def _build(arguments: argparse.Namespace) -> None:
    with _chosen(arguments) as (design, values):
        if arguments.mlir:
            print(design.as_mlir(**values), end="")
        else:
            built = design.build(arguments.out, **values)
            print(built.directory)


def _export(arguments: argparse.Namespace) -> None:
    with _chosen(arguments) as (design, values):
        print(design.export(arguments.directory, **values))


@contextlib.contextmanager
def _chosen(arguments: argparse.Namespace) -> Iterator[tuple[CallableDesign, dict[str, Any]]]:
    """The design and the values that a command line names."""
    from iron.design.current import device_named
    from iron.jit.options import configure
    from iron.jit.scripts import beside, load_design
    from iron.runtime.device import set_current_device

    if arguments.target:
        configure(target=arguments.target)
    if arguments.driver:
        os.environ["IRON_NPU_DRIVER"] = arguments.driver
    path, _, name = arguments.design.partition(":")
    if arguments.device:
        set_current_device(device_named(arguments.device))
    values = dict(_assignment(text) for text in arguments.set)
    with beside(path):
        design = load_design(path, name or None)
        if arguments.aiecc_flag or arguments.full_elf:
            flags = (*design.compilable.aiecc_flags, *arguments.aiecc_flag)
            full_elf = arguments.full_elf or design.compilable.full_elf
            design = design.specialize(aiecc_flags=flags, full_elf=full_elf)
        yield design, values


def _assignment(text: str) -> tuple[str, Any]:
    """``NAME=VALUE``; the value as a Python literal, else as the text it is."""
    name, equals, value = text.partition("=")
    if not equals:
        raise SystemExit(f"iron: --set {text}: write it as NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value
