"""The rules of single operations, one module per family of dialects.

A rule is a function of an operation, whose parts are already known to fit its definition, and of
the `Check` it complains to.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core import Operation
    from ..verifier import Check

    Rule = Callable[[Operation, Check], None]

_MODULES = {
    "func": "general",
    "scf": "general",
    "cf": "general",
    "arith": "numbers",
    "memref": "memory",
    "affine": "memory",
    "vector": "memory",
    "aie": "aie",
    "aiex": "aiex",
}


@functools.cache
def _table(dialect: str) -> dict[str, tuple[Rule, ...]]:
    module = _MODULES.get(dialect)
    if module is None:
        return {}
    found: dict[str, tuple[Rule, ...]] = importlib.import_module(f"{__name__}.{module}").RULES
    return found


def rules(name: str) -> tuple[Rule, ...]:
    """The rules of an operation."""
    return _table(name.partition(".")[0]).get(name, ())


_FIFO = ("aie.objectfifo",)
_ALLOCATION = ("aie.shim_dma_allocation", "aie.objectfifo")

REFERENCES: dict[tuple[str, str], tuple[str, ...] | None] = {
    ("func.call", "callee"): ("func.func",),
    ("func.constant", "value"): ("func.func",),
    ("memref.get_global", "name"): ("memref.global",),
    ("llvm.call", "callee"): ("llvm.func",),
    ("llvm.mlir.addressof", "global_name"): ("llvm.mlir.global", "llvm.func"),
    ("aie.objectfifo.acquire", "objFifo_name"): _FIFO,
    ("aie.objectfifo.release", "objFifo_name"): _FIFO,
    ("aie.objectfifo.allocate", "objFifo_name"): _FIFO,
    ("aie.objectfifo.register_external_buffers", "objFifo_name"): _FIFO,
    ("aie.objectfifo.link", "fifoIns"): _FIFO,
    ("aie.objectfifo.link", "fifoOuts"): _FIFO,
    ("aie.trace.start_config", "trace_config"): ("aie.trace", "aie.trace.config"),
    ("aie.dma_bd", "offset_parameter"): ("aiex.scratchpad_parameter",),
    ("aiex.npu.dma_memcpy_nd", "metadata"): _ALLOCATION,
    ("aiex.npu.dma_memcpy_nd", "offset_parameter"): ("aiex.scratchpad_parameter",),
    ("aiex.npu.dma_wait", "symbol"): (),
    ("aiex.dma_configure_task_for", "alloc"): _ALLOCATION,
    ("aiex.dma_start_bd_chain", "symbol"): ("aie.bd_chain",),
    ("aiex.dma_start_bd_chain_for", "symbol"): ("aie.bd_chain",),
    ("aiex.dma_start_bd_chain_for", "alloc"): _ALLOCATION,
    ("aiex.dma_channel_reset_for", "objfifo"): (*_FIFO, "aie.objectfifo_rearm_binding"),
    ("aiex.npu.rtp_write", "buffer"): ("aie.buffer",),
    ("aiex.npu.load_pdi", "device_ref"): ("aie.device",),
    ("aiex.configure", "symbol"): ("aie.device",),
    ("aiex.read_scratchpad_parameter", "parameter"): ("aiex.scratchpad_parameter",),
    ("aiex.run", "runtime_sequence_symbol"): None,
    ("aiex.cert.uc_dma_bd", "remote_address"): None,
}
"""What a reference must name, where that is known; None where a rule of its own finds it."""
