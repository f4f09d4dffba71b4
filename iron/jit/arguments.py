"""The tensors of a call against what a built design expects, before anything runs."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from iron.runtime.tensor import Tensor

from .scalars import Number
from .signature import ScalarParameter, Signature, TensorParameter

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


class Expected(NamedTuple):
    """One argument of a design: its parameter, element type and shape in elements; for a scalar,
    what numbers it takes."""

    parameter: TensorParameter | ScalarParameter
    element: str
    shape: tuple[int, ...]
    number: Number | None = None

    @property
    def elements(self) -> int:
        return math.prod(self.shape)


class Buffers(NamedTuple):
    """The buffers of one call, and the plain arrays that results go back to."""

    given: tuple[Any, ...]
    results: tuple[tuple[np.ndarray[Any, Any], Tensor], ...]

    def copy_back(self) -> None:
        for array, tensor in self.results:
            array[...] = tensor.numpy().reshape(array.shape)


class Arguments(NamedTuple):
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
        made = Arguments(signature.design, signature.where, ())
        return made._replace(expected=tuple(map(made._expected, tensors, sequence)))

    def _expected(self, parameter: TensorParameter | ScalarParameter, a: Any) -> Expected:
        """What the sequence takes for a parameter; TypeError when they are not of one kind."""
        element, shape = a["dtype"], tuple(a["shape"])
        if bool(a["scalar"]) is not isinstance(parameter, ScalarParameter):
            kinds = ("a tensor", "a number") if a["scalar"] else ("a number", "a tensor")
            raise TypeError(
                f"{self.design}: {parameter.name} is declared as {kinds[0]}, but the runtime "
                f"sequence takes {kinds[1]} of {element} there; let parameter and fn_args agree"
                f"{self._declared()}"
            )
        if not isinstance(parameter, ScalarParameter):
            return Expected(parameter, element, shape)
        declared = parameter.dtype
        if declared is not None and np.dtype(declared).name not in accepted_dtypes(element):
            raise TypeError(
                f"{self.design}: {parameter.name} is declared as {np.dtype(declared).name}, but "
                f"the runtime sequence takes {element} there; let parameter and fn_args agree"
                f"{self._declared()}"
            )
        names = (np.dtype(declared).name,) if declared else accepted_dtypes(element)
        return Expected(parameter, element, shape, Number(names))

    def check(self, tensors: Sequence[Any]) -> Buffers:
        """The buffers of `tensors`; TypeError naming design, parameter and expectation."""
        given: list[Any] = []
        results = []
        for expected, value in zip(self.expected, tensors, strict=True):
            tensor = value
            if expected.number is not None:
                called = f"{self.design}: {expected.parameter.name}"
                given.append(expected.number.of(value, called, self._declared()))
                continue
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
        if not dtype.isnative or dtype.name not in accepted_dtypes(expected.element):
            raise TypeError(
                f"{self.design}: {expected.parameter.name} is to be of "
                f"{self._says(expected)}, got dtype {dtype}{self._declared()}"
            )
        if count != expected.elements:
            raise TypeError(
                f"{self.design}: {expected.parameter.name} is to be of {self._says(expected)}, "
                f"which is {expected.elements} elements, got {count}{self._declared()}"
            )

    def _says(self, expected: Expected) -> str:
        dtypes = " or ".join(accepted_dtypes(expected.element))
        return f"shape {expected.shape} and dtype {dtypes}"

    def _declared(self) -> str:
        return f" (declared at {self.where})" if self.where else ""
