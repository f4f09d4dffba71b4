"""Kernels that are there already: each factory gives an ExternalFunction for one C++ source.

Sources lie in ``kernels/`` of a checkout and in this package when it is installed. Factories of
one source with the same parameters share one object; the symbols of those whose code depends on
parameters are prefixed with them, so that any two can meet on one core.
"""

from __future__ import annotations

from .eltwise import add, mul, passthrough, relu, relu_ref, scale
from .linalg import cascade_mm, mm, mv
from .reduce import compute_max, reduce_add, reduce_max, reduce_min

__all__ = [
    "add",
    "cascade_mm",
    "compute_max",
    "mm",
    "mul",
    "mv",
    "passthrough",
    "reduce_add",
    "reduce_max",
    "reduce_min",
    "relu",
    "relu_ref",
    "scale",
]
