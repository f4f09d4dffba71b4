"""The tensors of a call against what a built design expects, before anything runs."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iron.runtime.tensor import Tensor

from .signature import Signature, TensorParameter

_NUMPY: dict[str, tuple[str, ...]] = {
    "i8": ("int8", "uint8"),
    "i16": ("int16", "uint16"),
    "i32": ("int32", "uint32"),
    "i64": ("int64", "uint64"),
    "bf16": ("bfloat16",),
    "f16": ("float16",),
    "f32": ("float32",),
    "f64": ("float64",),
    "i1": ("bool",),
    "index": ("int64",),
}
"""NumPy dtypes by name for an MLIR element type; a signless integer takes either signedness."""


def accepted_dtypes(element: str) -> tuple[str, ...]:
    if element[0] in "su" and element[1:] in _NUMPY:
        return (_NUMPY[element[1:]][0 if element[0] == "s" else 1],)
    return _NUMPY.get(element, (element,))


@dataclass(frozen=True)
class Expected:
    """One tensor of a design: its parameter, element type and shape in elements."""

    parameter: TensorParameter
    element: str
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class Buffers:
    """The buffers of one call, and the plain arrays that results go back to."""

    given: tuple[Any, ...]
    results: tuple[tuple[np.ndarray[Any, Any], Tensor], ...]

    def copy_back(self) -> None:
        for array, tensor in self.results:
            array[...] = tensor.numpy().reshape(array.shape)


@dataclass(frozen=True)
class Arguments:
    """What one built design expects of its call."""

    design: str
    where: str
    expected: tuple[Expected, ...]

    @staticmethod
    def read(package: str, signature: Signature) -> Arguments:
        """From a package; TypeError when the design's function and its sequence disagree."""
        with open(os.path.join(package, "arguments.json"), encoding="utf-8") as f:
            sequence = json.load(f)
        tensors = signature.tensors
        if len(sequence) != len(tensors):
            raise TypeError(
                f"{signature.design} has {len(tensors)} tensor parameter(s) "
                f"({', '.join(t.name for t in tensors) or 'none'}), but its runtime sequence takes "
                f"{len(sequence)}; list one type in Runtime(..., fn_args) for each parameter, in "
                f"the same order (declared at {signature.where})"
            )
        expected = tuple(
            Expected(t, a["dtype"], tuple(a["shape"]))
            for t, a in zip(tensors, sequence, strict=True)
        )
        return Arguments(signature.design, signature.where, expected)

    def check(self, tensors: Sequence[Any]) -> Buffers:
        """The buffers of `tensors`; TypeError naming design, parameter and expectation."""
        given, results = [], []
        for expected, value in zip(self.expected, tensors, strict=True):
            tensor = value
            if isinstance(value, np.ndarray):
                self._check_one(expected, value.dtype, value.size)
                tensor = Tensor(value)
                if expected.parameter.role != "In":
                    results.append((value, tensor))
            elif isinstance(value, Tensor):
                self._check_one(expected, value.dtype, value.numel())
            else:
                raise TypeError(
                    f"{self.design}: {expected.parameter.name} is to be a tensor or NumPy array "
                    f"of {self._says(expected)}, got {type(value).__name__}{self._declared()}"
                )
            given.append(tensor.buffer)
        return Buffers(tuple(given), tuple(results))

    def _check_one(self, expected: Expected, dtype: np.dtype[Any], count: int) -> None:
        if dtype.name not in accepted_dtypes(expected.element):
            raise TypeError(
                f"{self.design}: {expected.parameter.name} is to be of "
                f"{self._says(expected)}, got dtype {dtype.name}{self._declared()}"
            )
        if count != expected.count:
            raise TypeError(
                f"{self.design}: {expected.parameter.name} is to be of {self._says(expected)}, "
                f"which is {expected.count} elements, got {count}{self._declared()}"
            )

    def _says(self, expected: Expected) -> str:
        dtypes = " or ".join(accepted_dtypes(expected.element))
        return f"shape {expected.shape} and dtype {dtypes}"

    def _declared(self) -> str:
        return f" (declared at {self.where})" if self.where else ""
