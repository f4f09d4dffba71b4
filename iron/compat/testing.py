"""``aie.utils.test``: scripts that run what another command built."""

from __future__ import annotations

from typing import Any

from .hostruntime import NPUKernel
from .trace import TraceConfig


def create_npu_kernel(opts: Any) -> Any:
    """`opts` of ``add_runtime_args``, with the kernel they name as ``opts.npu_kernel``."""
    size = getattr(opts, "trace_size", 0)
    trace = TraceConfig(size, getattr(opts, "trace_file", "trace.txt")) if size > 0 else None
    opts.npu_kernel = NPUKernel(
        opts.xclbin, opts.instr, kernel_name=opts.kernel, trace_config=trace
    )
    return opts
