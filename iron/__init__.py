"""iron: AMD AI Engine designs in Python and C++, built by SCons, run from Python.

Everything public is here by name and imported when first used, so that ``import iron`` costs
little: no SCons, no compiler is looked for, no device is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"

_ROOMS = {
    "iron.jit": (
        "CallResult CallableDesign CompilableDesign CompileTime GenerationError In InOut Out "
        "ReloadError Unkeyable compile_context compileconfig configure get_compile_arg options"
    ),
    "iron.jit.errors": "ExportError",
    "iron.jit.loading": "LoadedDesign load",
    "iron.design": (
        "Acquire AnyComputeTile AnyMemTile AnyShimTile Bd BdIteration Buffer CascadeFlow Device "
        "DmaChannel ExternalArchive ExternalFunction ExternalModule Flow IronRuntimeError Kernel "
        "Lock ObjectFifo PacketDest PacketFlow PadDims PlacementError Program Release Runtime "
        "RuntimeData ScopeError ScratchpadParameter StreamDims Task TaskGroup "
        "TensorAccessPattern TensorAccessSequence TensorTiler2D Tile TileDma Worker "
        "WorkerRuntimeBarrier device dtype_to_str else_ ensure_current_device func "
        "get_current_device if_ range_ str_to_dtype sync_parameters yield_"
    ),
    "iron.design.devices": (
        "NPU1 NPU1Col1 NPU1Col2 NPU1Col3 NPU2 NPU2Col1 NPU2Col2 NPU2Col3 NPU2Col4 NPU2Col5 "
        "NPU2Col6 NPU2Col7 XCVC1902 XCVE2302 XCVE2802"
    ),
    "iron.runtime.device": "set_current_device",
    "iron.runtime.tensor": "Tensor",
    "iron.runtime.makers": (
        "arange ceildiv full ones rand randint set_tensor_class tensor zeros zeros_like"
    ),
    "iron.runtime.errors": "Deadlock HostRuntimeError KernelCrash KernelTimeout",
    "iron.build": "BuildError",
    "iron.host": "HostError LimitError",
    "iron.ir": "VerifyError",
    "iron.toolchain.compiler": "ToolNotFound",
    "iron.toolchain.symbols": "SymbolError",
}
_HOMES = {name: room for room, names in _ROOMS.items() for name in names.split()}
_SUBMODULES = (
    "algorithms", "benchmark", "build", "compat", "design", "host", "ir", "jit", "kernels",
    "runtime", "scons", "toolchain", "verify",
)  # fmt: skip

__all__ = ["__version__", "jit", "tool", *sorted(_HOMES)]


def tool(env: Any, **arguments: Any) -> None:
    """The SCons tool: ``Environment(tools=[iron.tool])``; see `iron.scons`."""
    from importlib import import_module

    import_module("iron.scons").generate(env, **arguments)


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _SUBMODULES:
        return import_module(f"iron.{name}")
    room = _HOMES.get(name)
    if room is None:
        raise AttributeError(f"module 'iron' has no attribute {name!r}")
    value = getattr(import_module(room), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
