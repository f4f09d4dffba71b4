"""The command line flags that example scripts of mlir-aie share."""

from __future__ import annotations

import argparse
from typing import Any

DEFAULT_DEV_CHOICES: tuple[str, ...] = ("npu", "npu2")


def add_compile_args(
    parser: argparse.ArgumentParser,
    *,
    with_dev: bool = True,
    dev_choices: tuple[str, ...] = DEFAULT_DEV_CHOICES,
    default_dev: str | None = None,
    short_dev: str | None = "-d",
    with_elf: bool = False,
    with_full_elf: bool = False,
    with_pdi: bool = False,
    with_emit_mlir: bool = False,
) -> None:
    """``--dev``, ``--xclbin-path``, ``--insts-path``, and those asked for: ``--emit-mlir``,
    ``--elf-path``, ``--full-elf-path``, ``--pdi-path``."""
    if with_dev:
        names = ["--dev"] if short_dev is None else [short_dev, "--dev"]
        parser.add_argument(
            *names,
            choices=list(dev_choices),
            default=default_dev,
            help="the device to build for (default: the current one)",
        )
    if with_emit_mlir:
        parser.add_argument("--emit-mlir", action="store_true", help="print the design's MLIR")
    paths = [
        ("--xclbin-path", True, "only build, and write the configuration here"),
        ("--insts-path", True, "where the instructions go; with --xclbin-path"),
        ("--elf-path", with_elf, "also write the instructions as ELF here"),
        ("--full-elf-path", with_full_elf, "only build, into this one ELF"),
        ("--pdi-path", with_pdi, "also write the device image here"),
    ]
    for name, wanted, text in paths:
        if wanted:
            parser.add_argument(name, default=None, metavar="PATH", help=text)


def add_benchmark_args(
    parser: argparse.ArgumentParser, *, default_warmup: int = 2, default_iters: int = 5
) -> None:
    """``-w/--warmup`` and ``-i/--iters``."""
    parser.add_argument(
        "-w", "--warmup", type=int, default=default_warmup, help="calls before those that count"
    )
    parser.add_argument("-i", "--iters", type=int, default=default_iters, help="calls that count")


def add_trace_arg(
    parser: argparse.ArgumentParser, *, with_short: bool = True, default: int = 0
) -> None:
    """``-t/--trace_size``, also spelled ``--trace-size``."""
    names = ["--trace_size", "--trace-size"]
    parser.add_argument(
        *(["-t", *names] if with_short else names),
        dest="trace_size",
        type=int,
        default=default,
        help="bytes of trace, 0 for none",
    )


def add_runtime_args(
    parser: argparse.ArgumentParser, *, with_io_sizes: bool = False, with_benchmark: bool = False
) -> None:
    """The flags of a script that runs what was built before: ``--xclbin``, ``--instr``,
    ``--kernel``, ``--verbosity``, ``--verify``, and those of tracing, sizes and timing."""
    parser.add_argument("--xclbin", required=True, help="what was built")
    parser.add_argument("--instr", default="instr.txt", help="the instructions")
    parser.add_argument("-k", "--kernel", default="MLIR_AIE", help="the kernel's name")
    parser.add_argument("-v", "--verbosity", type=int, default=0)
    parser.add_argument("--verify", action=argparse.BooleanOptionalAction, default=True)
    add_trace_arg(parser)
    parser.add_argument("--trace-file", default="trace.txt")
    parser.add_argument("--ddr-id", type=int, default=4)
    parser.add_argument("--enable-ctrl-pkts", action="store_true")
    if with_io_sizes:
        for name in ("--in1-size", "--in2-size", "--out-size"):
            parser.add_argument(name, type=int, default=0, metavar="BYTES")
    if with_benchmark:
        add_benchmark_args(parser)


def device_from_args(args: Any, *, dev_attr: str = "dev", n_cols: int | str | None = "auto") -> Any:
    """The device that ``--dev`` names, None without it.

    `n_cols`: how many columns, None for all; "auto" is the namespace's own ``n_cols``, else 1.
    """
    name = getattr(args, dev_attr)
    if name is None:
        return None
    if n_cols == "auto":
        n_cols = getattr(args, "n_cols", None) or 1
    if isinstance(n_cols, str):
        raise ValueError(f"n_cols must be an int, None or 'auto'; got {n_cols!r}")
    from ..design.devices import from_name

    return from_name(name, n_cols=n_cols)
