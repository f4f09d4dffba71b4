"""``algorithms`` of every spelling: called with array types they give a module, for a generator to
return; called with tensors, as before June 2026, they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import algorithms
from ...runtime.tensor import Tensor
from .jit import TensorShape, WholeCallDesign

__all__ = [
    "for_each",
    "transform",
    "transform_binary",
    "transform_parallel",
    "transform_parallel_binary",
]

_TENSORS = {
    "for_each": 1,
    "transform": 2,
    "transform_parallel": 2,
    "transform_binary": 3,
    "transform_parallel_binary": 3,
}
"""How many tensors of one shape an algorithm takes before its further parameters."""


def _generate(algorithm: str, func: Any, *arguments: Any, **options: Any) -> Any:
    """The design of a call with tensors, or with their shapes inside of a generator."""
    count = _TENSORS[algorithm]
    tensors, params = arguments[:count], arguments[count:]
    for i, tensor in enumerate(tensors):
        if tensor.shape != tensors[0].shape:
            raise ValueError(
                f"{algorithm}: Tensor {i} shape {tensor.shape} doesn't match expected "
                f"{tensors[0].shape}"
            )
        if tensor.dtype != tensors[0].dtype:
            raise ValueError(
                f"{algorithm}: Tensor {i} dtype {tensor.dtype} doesn't match expected "
                f"{tensors[0].dtype}"
            )
    of = algorithms.ParamDescriptor(tensors[0].shape, tensors[0].dtype).type
    if algorithm == "for_each":
        return algorithms.for_each(func, of, params=params, **options)
    return getattr(algorithms, algorithm)(func, of, *params, **options)


_run = WholeCallDesign(_generate)


def _door(algorithm: str) -> Callable[..., Any]:
    newer = getattr(algorithms, algorithm)

    def call(func: Any, *arguments: Any, **options: Any) -> Any:
        if arguments and isinstance(arguments[0], TensorShape):
            return _generate(algorithm, func, *arguments, **options)
        if arguments and isinstance(arguments[0], (Tensor, np.ndarray)):
            return _run(algorithm, func, *arguments, **options)
        return newer(func, *arguments, **options)

    call.__name__ = algorithm
    call.__doc__ = newer.__doc__
    return call


for_each = _door("for_each")
transform = _door("transform")
transform_binary = _door("transform_binary")
transform_parallel = _door("transform_parallel")
transform_parallel_binary = _door("transform_parallel_binary")
