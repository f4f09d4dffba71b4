"""Whole designs from one function: what to do with a tile, or an element, is all one writes.

Each returns a resolved `iron.design.Module`, for a generator to return::

    @iron.jit
    def add_one(x: In, y: Out, *, n: CompileTime[int]):
        return transform(lambda a: a + 1, np.ndarray[(n,), np.dtype[np.int32]])
"""

from __future__ import annotations

from .elementwise import (
    for_each,
    transform,
    transform_binary,
    transform_parallel,
    transform_parallel_binary,
)
from .parameters import ParamDescriptor, make_param_descriptor
from .pipelines import row_at_a_time, row_at_a_time_tiled, row_at_a_time_with_skip, sliding_3row
from .reduction import reduce

__all__ = [
    "ParamDescriptor",
    "for_each",
    "make_param_descriptor",
    "reduce",
    "row_at_a_time",
    "row_at_a_time_tiled",
    "row_at_a_time_with_skip",
    "sliding_3row",
    "transform",
    "transform_binary",
    "transform_parallel",
    "transform_parallel_binary",
]
