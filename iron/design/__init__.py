"""What a design is written with. Names are imported when first used.

Emits IR (`Program.resolve_program` gives a `Module`); knows nothing of compilers, stores or
devices at hand.
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULES: dict[str, tuple[str, ...]] = {
    "archive": ("ArchivedFunction", "ExternalArchive", "ExternalModule"),
    "barrier": ("WorkerRuntimeBarrier",),
    "buffer": ("Buffer",),
    "context": ("ScopeError", "UnresolvedError"),
    "by_hand": (
        *("bds", "dma_await_task", "dma_configure_task", "dma_configure_task_for"),
        *("dma_free_task", "dma_start_task", "next_bd", "shim_dma_bd", "shim_dma_single_bd_task"),
    ),
    "controlflow": ("else_", "if_", "range_", "yield_"),
    "current": ("device", "ensure_current_device", "get_current_device"),
    "dataflow.flow": ("CascadeFlow", "Flow", "PacketDest", "PacketFlow", "WireBundle"),
    "dataflow.handles": ("ObjectFifoHandle",),
    "dataflow.links": ("ObjectFifoLink",),
    "dataflow.objectfifo": ("ObjectFifo", "PadDims", "StreamDims"),
    "dataflow.tile_dma": (
        *("Acquire", "Bd", "BdIteration", "DMAChannelDir", "DmaChannel", "Release", "TileDma"),
    ),
    "devices": ("Device", "from_mlir_name", "from_name"),
    "dtypes": ("dtype_to_str", "str_to_dtype"),
    "functions": ("func",),
    "kernel": ("BaseKernel", "ExternalFunction", "Kernel"),
    "lock": ("Lock",),
    "module": ("Module",),
    "objects": ("CompileSpec", "ObjectSpec", "SourceFile", "SourceText"),
    "parameter": ("ScratchpadParameter",),
    "placement": ("PlacementError",),
    "program": ("Program",),
    "runtime": ("IronRuntimeError", "Runtime", "RuntimeData", "sync_parameters"),
    "taps": ("TensorAccessPattern", "TensorAccessSequence", "TensorTiler2D"),
    "tasks": ("Task", "TaskGroup"),
    "tiles": ("AnyComputeTile", "AnyMemTile", "AnyShimTile", "Tile"),
    "memory": ("MemRef",),
    "values": ("Scalar", "constant"),
    "worker": ("Worker",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}
_DEVICES = (
    *("NPU1", "NPU1Col1", "NPU1Col2", "NPU1Col3"),
    *("NPU2", *(f"NPU2Col{n}" for n in range(1, 8))),
    *("XCVC1902", "XCVE2302", "XCVE2802"),
)
_HOME.update(dict.fromkeys(_DEVICES, "devices"))

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    module = _HOME.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
