"""A whole tensor into a smaller one, by one call of a kernel that keeps its own state."""

from __future__ import annotations

from typing import Any

from ..design.current import get_current_device
from ..design.dataflow.objectfifo import ObjectFifo
from ..design.kernel import BaseKernel
from ..design.module import Module
from ..design.program import Program
from ..design.runtime import Runtime
from ..design.worker import Worker
from .parameters import described


def reduce(func: Any, input_ty: Any, output_ty: Any, *, trace_size: int = 0) -> Module:
    """``func(input, output, elements)`` on one core.

    `input_ty` and `output_ty` are array types; `trace_size` is in bytes. TypeError when `func` is
    no kernel: a function of one element has no place for a sum.
    """
    if not isinstance(func, BaseKernel):
        raise TypeError(
            f"reduce takes an ExternalFunction, got {func!r}; a reduction keeps a value across "
            "elements, which a function of one element cannot"
        )
    source, result = described(input_ty, "reduce"), described(output_ty, "reduce")
    whole = ObjectFifo(source.type, name="in")
    reduced = ObjectFifo(result.type, name="out")

    def core(whole: Any, reduced: Any, func: Any) -> None:
        output, elements = reduced.acquire(1), whole.acquire(1)
        func(elements, output, source.size)
        whole.release(1)
        reduced.release(1)

    def sequence(given: Any, made: Any, whole: Any, reduced: Any) -> None:
        whole.fill(given)
        reduced.drain(made, wait=True)

    worker = Worker(core, [whole.cons(), reduced.prod(), func], trace=1 if trace_size > 0 else None)
    runtime = Runtime(sequence, [source.type, result.type, whole.prod(), reduced.cons()])
    program = Program(get_current_device(), runtime, workers=[worker])
    if trace_size > 0:
        program.enable_trace(trace_size)
    return program.resolve_program()
