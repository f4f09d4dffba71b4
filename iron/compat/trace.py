"""Tracing is the hardware's: its configuration is accepted, and nothing is recorded on the host."""

from __future__ import annotations

from typing import Any

DEFAULT_TRACE_FILE = "trace.txt"


class TraceConfig:
    """What would be traced: `trace_size` in bytes, into `trace_file`."""

    def __init__(
        self,
        trace_size: int,
        trace_file: str = DEFAULT_TRACE_FILE,
        reuse_output_buffer: bool = False,
        enable_ctrl_pkts: bool = False,
        last_tensor_shape: Any = None,
        last_tensor_dtype: Any = None,
    ) -> None:
        if trace_size <= 0:
            raise ValueError(f"trace_size is a positive number of bytes, got {trace_size}")
        self.trace_size = trace_size
        self.trace_file = trace_file
        self.reuse_output_buffer = reuse_output_buffer
        self.enable_ctrl_pkts = enable_ctrl_pkts
        self.last_tensor_shape = last_tensor_shape
        self.last_tensor_dtype = last_tensor_dtype
        self.physical_mlir_path: str | None = None

    def __repr__(self) -> str:
        return f"TraceConfig(trace_size={self.trace_size}, trace_file={self.trace_file!r})"

    def trace_to_json(self, mlir_file: str, output_name: str = "trace.json") -> None:
        raise NotImplementedError(NOTHING_RECORDED)


NOTHING_RECORDED = (
    "traces are recorded by the hardware's trace units; the host target has none, so there is "
    "nothing to convert"
)


def parse_trace(*args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError(NOTHING_RECORDED)


def print_cycles_summary(*args: Any, **kwargs: Any) -> None:
    raise NotImplementedError(NOTHING_RECORDED)
