"""Functions of neural networks on bfloat16 tiles, each with what it computes in NumPy. All are of
``activation.cc``; those of one tile size share one object."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from ..design.kernel import ExternalFunction
from .sources import declare, tile

Array = np.ndarray[Any, Any]


def softmax(tile_size: int = 1024) -> ExternalFunction:
    """``(in, out, count)``: exponentials over their sum, of `count` of `tile_size` bfloat16.
    ValueError for a tile without elements."""
    of = _tile(tile_size)
    return _sized("softmax_bf16", [of, of, np.int32], tile_size)


def gelu(tile_size: int = 1024) -> ExternalFunction:
    """``(in, out)``: GELU in its approximation by tanh, of `tile_size` bfloat16. ValueError for a
    tile without elements."""
    return _sized("gelu_bf16", [_tile(tile_size)] * 2, tile_size)


def silu(tile_size: int = 1024) -> ExternalFunction:
    """``(in, out)``: x * sigmoid(x), of `tile_size` bfloat16. ValueError as for `gelu`."""
    return _sized("silu_bf16", [_tile(tile_size)] * 2, tile_size)


def swiglu(tile_size: int = 1024) -> ExternalFunction:
    """``(in, w1, w2, out)``: in * w1 * silu(in * w2), of `tile_size` bfloat16. ValueError as for
    `gelu`."""
    return _sized("swiglu_bf16", [_tile(tile_size)] * 4, tile_size)


def bf16_exp(tile_size: int = 1024) -> ExternalFunction:
    """``(in, out)``: exponentials of `tile_size` bfloat16. ValueError as for `gelu`."""
    return _sized(f"exp_bf16_{tile_size}", [_tile(tile_size)] * 2, tile_size)


def softmax_ref(x: Any, *, tile_size: int = 1024) -> Array:
    """What `softmax` computes, tile by tile, in the shape and dtype of `x`; ValueError when it is
    not whole tiles."""
    array = np.asarray(x)
    if array.size % tile_size:
        raise ValueError(
            f"softmax_ref(): {array.size} elements are no whole tiles of tile_size={tile_size}"
        )
    tiles = array.astype(np.float32).reshape(-1, tile_size)
    raised = np.exp(tiles - tiles.max(axis=1, keepdims=True))
    shares = raised / raised.sum(axis=1, keepdims=True)
    return _rounded(shares.reshape(array.shape), array)


def gelu_ref(x: Any) -> Array:
    """What `gelu` computes, in the shape and dtype of `x`."""
    array, f = _floats(x)
    inner = math.sqrt(2 / math.pi) * (f + 0.044715 * f**3)
    return _rounded(0.5 * f * (1 + np.tanh(inner)), array)


def silu_ref(x: Any) -> Array:
    """What `silu` computes, in the shape and dtype of `x`."""
    array, f = _floats(x)
    with np.errstate(over="ignore"):
        return _rounded(f / (1 + np.exp(-f)), array)


def bf16_exp_ref(x: Any) -> Array:
    """What `bf16_exp` computes, in the shape and dtype of `x`; infinite where that holds no such
    number."""
    array, f = _floats(x)
    with np.errstate(over="ignore"):
        return _rounded(np.exp(f), array)


def _floats(x: Any) -> tuple[Array, Array]:
    array = np.asarray(x)
    return array, array.astype(np.float32)


def _rounded(result: Array, like: Array) -> Array:
    return result.astype(like.dtype, copy=False)


def _tile(tile_size: int) -> Any:
    return tile(ml_dtypes.bfloat16, tile_size)


def _sized(name: str, types: list[Any], tile_size: int) -> ExternalFunction:
    if tile_size < 1:
        raise ValueError(f"{name}: a tile has at least one element, got tile_size={tile_size}")
    macros = {"TILE_SIZE": tile_size}
    return declare(name, "activation.cc", types, macros, prefix=f"elements{tile_size}")
