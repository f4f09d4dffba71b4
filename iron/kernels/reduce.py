"""Kernels that give one element for a whole tile. All are of one source and share one object."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ..design.kernel import ExternalFunction
from .sources import aligned_elements, declare, scalar_class, tile

bfloat16 = ml_dtypes.bfloat16


def reduce_add(
    tile_size: int = 1024, dtype: Any = np.int32, vectorized: bool = True
) -> ExternalFunction:
    """``(in, out[1], count)``: the sum of `count` of `tile_size` int32, wrapping. ValueError for
    another dtype. Source: ``reduce.cc``."""
    return _reduction("add", tile_size, dtype, vectorized, (np.int32,))


def reduce_min(
    tile_size: int = 1024, dtype: Any = np.int32, vectorized: bool = True
) -> ExternalFunction:
    """``(in, out[1], count)``: the least of `count` of `tile_size` int32. ValueError for another
    dtype. Source: ``reduce.cc``."""
    return _reduction("min", tile_size, dtype, vectorized, (np.int32,))


def reduce_max(
    tile_size: int = 1024, dtype: Any = np.int32, vectorized: bool = True
) -> ExternalFunction:
    """``(in, out, count)``: the greatest element, in the first of `out`, which has one int32 or two
    bfloat16. ValueError for another dtype."""
    return _reduction("max", tile_size, dtype, vectorized, (np.int32, bfloat16))


def compute_max(dtype: Any = np.int32) -> ExternalFunction:
    """``(a, b, out)``: the greater of two results of `reduce_max`."""
    kind = scalar_class(dtype, (np.int32, bfloat16), "compute_max")
    of = tile(kind, aligned_elements(kind))
    return declare(f"compute_max{_suffix(kind)}", "reduce.cc", [of, of, of])


def _reduction(
    op: str, tile_size: int, dtype: Any, vectorized: bool, allowed: tuple[Any, ...]
) -> ExternalFunction:
    kind = scalar_class(dtype, allowed, f"reduce_{op}")
    variant = "vector" if vectorized else "scalar"
    types = [tile(kind, tile_size), tile(kind, aligned_elements(kind)), np.int32]
    return declare(f"reduce_{op}_{variant}{_suffix(kind)}", "reduce.cc", types)


def _suffix(kind: Any) -> str:
    return "_bfloat16" if kind is bfloat16 else ""
