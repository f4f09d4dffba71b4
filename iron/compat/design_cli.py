"""``run_design_cli``: what an example script does with its flags."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn


def run_design_cli(
    design: Any,
    opts: Any,
    *,
    compile_kwargs: Mapping[str, Any] | Callable[[Any], Mapping[str, Any]],
    run_and_verify: Callable[[Any], None] | None = None,
    device: Any = None,
    emit_mlir: Callable[[Any], None] | None = None,
    validate: Callable[[Any], None] | None = None,
) -> None:
    """Print the design's MLIR, build it to the paths given, or run it, as `opts` ask.

    `device` is a device or makes one of `opts`. Without ``--dev`` the current device's family is
    taken, and `opts.dev` set to it. SystemExit with a message when flags contradict each other.
    """
    _check_paths(opts)
    _choose_device(opts, device)
    if validate is not None:
        validate(opts)

    def specialized() -> Any:
        values = compile_kwargs(opts) if callable(compile_kwargs) else compile_kwargs
        return design.specialize(**values)

    if getattr(opts, "emit_mlir", False):
        if emit_mlir is not None:
            emit_mlir(opts)
        else:
            print(specialized().as_mlir())
        return
    if _compile_only(opts):
        specialized().compile(**_paths(opts))
        return
    if run_and_verify is None:
        _stop("this design has no Python run; build it with --xclbin-path and --insts-path")
    run_and_verify(opts)


def _stop(message: str) -> NoReturn:
    sys.exit(f"run_design_cli: {message}")


def _compile_only(opts: Any) -> bool:
    return bool(getattr(opts, "xclbin_path", None) or getattr(opts, "full_elf_path", None))


def _check_paths(opts: Any) -> None:
    xclbin, insts = getattr(opts, "xclbin_path", None), getattr(opts, "insts_path", None)
    if xclbin is not None and not insts:
        sys.exit("--xclbin-path requires --insts-path (must be set together)")
    if xclbin is not None and getattr(opts, "full_elf_path", None) is not None:
        sys.exit("--full-elf-path and --xclbin-path/--insts-path are mutually exclusive")


def _paths(opts: Any) -> dict[str, Any]:
    names = {
        "xclbin_path": "xclbin_path",
        "inst_path": "insts_path",
        "elf_path": "elf_path",
        "full_elf_path": "full_elf_path",
        "pdi_path": "pdi_path",
    }
    given = {key: getattr(opts, flag, None) for key, flag in names.items()}
    return {key: path for key, path in given.items() if path is not None}


def _choose_device(opts: Any, device: Any) -> None:
    """Make the device that is asked for the current one."""
    from ..design.current import get_current_device
    from ..design.devices import AIEArch, from_name
    from ..runtime.device import set_current_device

    if device is not None and not callable(device):
        set_current_device(device)
        return
    if getattr(opts, "dev", None) is None:
        if device is None and not hasattr(opts, "dev"):
            raise ValueError("run_design_cli: pass device=, or opts with a dev (add_compile_args)")
        opts.dev = "npu2" if get_current_device().arch == AIEArch.AIE2p else "npu"
    chosen = from_name(opts.dev) if device is None else device(opts)
    if chosen is None:
        raise ValueError("run_design_cli: device selector returned None")
    set_current_device(chosen)
