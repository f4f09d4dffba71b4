"""A backend that does nothing, so that a call of a design costs just what the call itself costs.

It is the bench's and the tests' only: nothing is computed, so no call through it has a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import iron
from iron import CallableDesign, In, ObjectFifo, Out, Program, Runtime
from iron.runtime.host import RunReport

ELEMENTS = 64
_DONE = RunReport(0, 0.0)


class NullKernel:
    """Takes what a kernel handle takes, and gives the report of a run that did nothing."""

    def run(self, args: Sequence[Any], timeout: float | None = None) -> RunReport:
        return _DONE

    def close(self) -> None:
        pass


class NullDesign(CallableDesign):
    """A design that is generated, built and called as every other one, and never runs."""

    def _kernel(self, built: Any) -> Any:
        return NullKernel()


def _copies(tensors: int) -> Any:
    """Half of an even number of `tensors` go through the array into the other half."""
    pairs = tensors // 2
    whole = np.ndarray[(ELEMENTS,), np.dtype[np.int32]]

    sources = [ObjectFifo(whole, name=f"in{i}") for i in range(pairs)]
    results = [s.cons().forward(name=f"out{i}") for i, s in enumerate(sources)]

    def sequence(*given: Any) -> None:
        data, handles = given[:tensors], given[tensors:]
        for i in range(pairs):
            handles[i].fill(data[i])
            handles[pairs + i].drain(data[pairs + i], wait=True)

    handles = [*(s.prod() for s in sources), *(r.cons() for r in results)]
    runtime = Runtime(sequence, [*[whole] * tensors, *handles])
    return Program(iron.get_current_device(), runtime).resolve_program()


def two(a: In, b: Out) -> Any:
    return _copies(2)


def four(a: In, b: In, c: Out, d: Out) -> Any:
    return _copies(4)


def eight(a: In, b: In, c: In, d: In, e: Out, f: Out, g: Out, h: Out) -> Any:
    return _copies(8)


def design(tensors: int) -> NullDesign:
    """One that takes that many: 2, 4 or 8."""
    return NullDesign({2: two, 4: four, 8: eight}[tensors])


def arguments(tensors: int) -> list[Any]:
    return [iron.zeros(ELEMENTS, dtype=np.int32) for _ in range(tensors)]
