"""Kernels that give one element for each element."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ..design.kernel import ExternalFunction
from .sources import declare, scalar_class, tile

bfloat16 = ml_dtypes.bfloat16


def passthrough(tile_size: int = 4096, dtype: Any = np.int32) -> ExternalFunction:
    """``(in, out, count)``: a copy of `count` of `tile_size` elements. `dtype` is uint8, int16 or
    int32, ValueError otherwise. Source: ``passthrough.cc``."""
    kind = scalar_class(dtype, (np.uint8, np.int16, np.int32), "passthrough")
    bits = 8 * np.dtype(kind).itemsize
    of = tile(kind, tile_size)
    types = [of, of, np.int32]
    macros = {"BIT_WIDTH": bits}
    return declare("passThroughLine", "passthrough.cc", types, macros, prefix=f"copy{bits}")


def scale(
    tile_size: int = 1024,
    dtype: Any = np.int32,
    vectorized: bool = True,
    use_chess: bool = False,
) -> ExternalFunction:
    """``(in, out, factor[1], count)``: each of `tile_size` elements times an int32, wrapping.
    `dtype` is int16 or int32, ValueError otherwise. Source: ``scale.cc``."""
    kind = scalar_class(dtype, (np.int16, np.int32), "scale")
    bits = 8 * np.dtype(kind).itemsize
    of = tile(kind, tile_size)
    return declare(
        f"vector_scalar_mul_{_variant(vectorized)}",
        "scale.cc",
        [of, of, tile(np.int32, 1), np.int32],
        {"BIT_WIDTH": bits},
        prefix=f"scale{bits}",
        use_chess=use_chess,
    )


def add(tile_size: int = 1024, dtype: Any = bfloat16, vectorized: bool = True) -> ExternalFunction:
    """``(a, b, out)``: sums of `tile_size` bfloat16. ValueError for another dtype or a tile without
    elements. Source: ``eltwise.cc``."""
    return _bfloat16("add", tile_size, dtype, vectorized)


def mul(tile_size: int = 1024, dtype: Any = bfloat16, vectorized: bool = True) -> ExternalFunction:
    """``(a, b, out)``: products of `tile_size` bfloat16. ValueError as for `add`. Source:
    ``eltwise.cc``."""
    return _bfloat16("mul", tile_size, dtype, vectorized)


def relu(tile_size: int = 1024) -> ExternalFunction:
    """``(in, out)``: `tile_size` bfloat16, what is not above zero becomes zero. ValueError for a
    tile without elements. Source: ``eltwise.cc``."""
    of = tile(bfloat16, tile_size)
    return _sized("bf16_relu", [of, of], tile_size)


def relu_ref(x: Any) -> np.ndarray[Any, Any]:
    """What `relu` computes, in NumPy: an array of the shape and dtype of `x`."""
    array = np.asarray(x)
    return np.where(array.astype(np.float32) > 0, array, array.dtype.type(0))


def _bfloat16(op: str, tile_size: int, dtype: Any, vectorized: bool) -> ExternalFunction:
    scalar_class(dtype, (bfloat16,), op)
    of = tile(bfloat16, tile_size)
    return _sized(f"eltwise_{op}_bf16_{_variant(vectorized)}", [of, of, of], tile_size)


def _sized(name: str, types: list[Any], tile_size: int) -> ExternalFunction:
    """A function whose tile size is compiled in."""
    if tile_size < 1:
        raise ValueError(f"{name}: a tile has at least one element, got tile_size={tile_size}")
    macros = {"TILE_SIZE": tile_size}
    return declare(name, "eltwise.cc", types, macros, prefix=f"elements{tile_size}")


def _variant(vectorized: bool) -> str:
    return "vector" if vectorized else "scalar"
