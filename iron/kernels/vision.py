"""Lines of images. All are of ``vision.cc``; those of one pixel type share one object."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..design.kernel import ExternalFunction
from .sources import declare, scalar_class, tile

_PIXELS = (np.uint8, np.int16, np.int32)


def rgba2hue(line_width: int = 1920, use_chess: bool = False) -> ExternalFunction:
    """``(in, out, width)``: the hue of RGBA pixels, 0 to 255 for a whole turn."""
    return _recoloured("rgba2hueLine", 4 * line_width, line_width, use_chess)


def rgba2gray(line_width: int = 1920, use_chess: bool = False) -> ExternalFunction:
    """``(in, out, width)``: the brightness of RGBA pixels (ITU-R BT.601)."""
    return _recoloured("rgba2grayLine", 4 * line_width, line_width, use_chess)


def gray2rgba(line_width: int = 1920, use_chess: bool = False) -> ExternalFunction:
    """``(in, out, width)``: gray pixels as opaque RGBA ones."""
    return _recoloured("gray2rgbaLine", line_width, 4 * line_width, use_chess)


def filter2d(line_width: int = 1920, use_chess: bool = False) -> ExternalFunction:
    """``(above, line, below, out, width, kernel[3, 3])``: a convolution of uint8 pixels with a
    kernel of Q3.12 (4096 is one), the line continued by its first and last pixel; rounded half up
    and limited to 0..255."""
    line = tile(np.uint8, line_width)
    types = [line, line, line, line, np.int32, tile(np.int16, 3, 3)]
    return _of("filter2dLine", types, np.uint8, use_chess)


def threshold(
    line_width: int = 1920, dtype: Any = np.uint8, use_chess: bool = False
) -> ExternalFunction:
    """``(in, out, width, limit, most, kind)``, kinds as OpenCV's: 0 `most` above the limit and else
    0, 1 the reverse, 2 cut off at the limit, 3 zero up to it, 4 zero above it. `dtype` is uint8,
    int16 or int32, ValueError otherwise."""
    kind = scalar_class(dtype, _PIXELS, "threshold")
    limit = np.int32 if kind is np.int32 else np.int16
    line = tile(kind, line_width)
    types = [line, line, np.int32, limit, limit, np.int8]
    return _of("thresholdLine", types, kind, use_chess)


def bitwise_or(
    line_width: int = 1920, dtype: Any = np.uint8, use_chess: bool = False
) -> ExternalFunction:
    """``(a, b, out, width)``. `dtype` is uint8, int16 or int32, ValueError otherwise."""
    return _bitwise("OR", "bitwise_or", line_width, dtype, use_chess)


def bitwise_and(
    line_width: int = 1920, dtype: Any = np.uint8, use_chess: bool = False
) -> ExternalFunction:
    """``(a, b, out, width)``. `dtype` is uint8, int16 or int32, ValueError otherwise."""
    return _bitwise("AND", "bitwise_and", line_width, dtype, use_chess)


def add_weighted(
    line_width: int = 1920, dtype: Any = np.uint8, use_chess: bool = False
) -> ExternalFunction:
    """``(a, b, out, width, alpha, beta, gamma)``: alpha * a + beta * b + gamma, alpha and beta of
    Q1.14 (16384 is one), rounded half up and limited to what `dtype` holds. That is uint8, int16 or
    int32, ValueError otherwise."""
    kind = scalar_class(dtype, _PIXELS, "add_weighted")
    gamma = np.int8 if kind is np.uint8 else kind
    line = tile(kind, line_width)
    types = [line, line, line, np.int32, np.int16, np.int16, gamma]
    return _of("addWeightedLine", types, kind, use_chess)


def _recoloured(name: str, taken: int, given: int, use_chess: bool) -> ExternalFunction:
    types = [tile(np.uint8, taken), tile(np.uint8, given), np.int32]
    return _of(name, types, np.uint8, use_chess)


def _bitwise(op: str, name: str, line_width: int, dtype: Any, use_chess: bool) -> ExternalFunction:
    kind = scalar_class(dtype, _PIXELS, name)
    line = tile(kind, line_width)
    return _of(f"bitwise{op}Line", [line, line, line, np.int32], kind, use_chess)


def _of(name: str, types: list[Any], pixel: Any, use_chess: bool) -> ExternalFunction:
    bits = 8 * np.dtype(pixel).itemsize
    macros = {"BIT_WIDTH": bits}
    return declare(name, "vision.cc", types, macros, prefix=f"pixels{bits}", use_chess=use_chess)
