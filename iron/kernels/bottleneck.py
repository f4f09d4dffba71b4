"""Convolutions of MobileNet's bottleneck blocks. ``bottleneck.h`` says how results are scaled and
rounded, ``conv2d.cc`` how channels and weights lie in memory.

Numbers of channels are multiples of 8. The kernels of a cascade have symbols for blocks 13 and 14,
so that the designs that name them can.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..design.kernel import ExternalFunction
from .conv import NAMES, activation, grouped
from .sources import declare, tile

_FILE, _CASCADE_FILE = "bottleneck.cc", "bottleneck_cascade.cc"
_BLOCKS = (13, 14)


def bn_conv2dk1_relu(
    input_width: int = 32, input_channels: int = 64, output_channels: int = 64
) -> ExternalFunction:
    """``(in, weights, out, width, channels in, channels out, scale)``: 1 x 1 of int8, uint8
    results. ValueError for channels in no groups of 8."""
    sizes = (input_width, input_channels, output_channels)
    types = _pointwise("bn_conv2dk1_relu", np.int8, np.uint8, *sizes)
    return _of("conv2dk1_relu_i8_ui8", types, 4)


def bn_conv2dk1_i8(
    input_width: int = 32, input_channels: int = 64, output_channels: int = 64
) -> ExternalFunction:
    """``(in, weights, out, width, channels in, channels out, scale)``: 1 x 1 of uint8, int8
    results. ValueError for channels in no groups of 8."""
    sizes = (input_width, input_channels, output_channels)
    types = _pointwise("bn_conv2dk1_i8", np.uint8, np.int8, *sizes)
    return _of("conv2dk1_ui8_i8", types, 4)


def bn_conv2dk1_skip(
    input_width: int = 32,
    input_channels: int = 64,
    output_channels: int = 64,
    skip_dtype: Any = np.uint8,
) -> ExternalFunction:
    """``(in, weights, out, skip, width, channels in, channels out, scale, skip scale)``: as
    `bn_conv2dk1_i8`, and `skip` added, of `skip_dtype`, uint8 or int8. ValueError for another and
    for channels in no groups of 8."""
    kind = activation("bn_conv2dk1_skip", skip_dtype)
    sizes = (input_width, input_channels, output_channels)
    types = _pointwise("bn_conv2dk1_skip", np.uint8, np.int8, *sizes)
    skip = tile(kind, input_width * output_channels)
    return _of(f"conv2dk1_skip_ui8_{NAMES[kind]}_i8", [*types, skip], 5)


def bn_conv2dk3(
    input_width: int = 32, input_channels: int = 64, output_channels: int = 64
) -> ExternalFunction:
    """``(above, line, below, weights, out, width, channels in, channels out, 3, 3, where, scale,
    first channel)``: every other pixel of a 3 x 3 convolution of int8 with zeros around the image,
    uint8 results; `where` is 0 for its first line and 2 for its last. ValueError for channels in
    no groups of 8."""
    grouped("bn_conv2dk3", 8, input_channels, output_channels)
    line = tile(np.int8, input_width * input_channels)
    weights = tile(np.int8, 3 * 3 * input_channels * output_channels)
    out = tile(np.uint8, input_width // 2 * output_channels)
    return _of("conv2dk3_stride2_i8", [line, line, line, weights, out], 8)


def bn_conv2dk3_dw(
    input_width: int = 32, input_channels: int = 64, output_channels: int = 64, stride: int = 1
) -> ExternalFunction:
    """``(above, line, below, weights, out, width, channels in, channels out, 3, 3, where, scale,
    first channel)``: 3 x 3 of each channel by itself, uint8; every pixel (`stride` 1) or every
    other (2). ValueError for another stride and for channels in no groups of 8."""
    if stride not in (1, 2):
        raise ValueError(f"bn_conv2dk3_dw(): stride is 1 or 2, got {stride}")
    types = _depthwise("bn_conv2dk3_dw", input_width, input_channels)
    grouped("bn_conv2dk3_dw", 8, output_channels)
    out = tile(np.uint8, input_width // stride * output_channels)
    return _of(f"conv2dk3_dw_stride{stride}_relu_ui8_ui8", [*types, out], 8)


def bn_conv2dk3_dw_out_split(
    input_width: int = 7,
    input_channels: int = 480,
    output_split_channels: int = 240,
    *,
    block_index: int = 13,
) -> ExternalFunction:
    """``(above, line, below, weights, first half, second half, width, channels in, channels out,
    3, 3, where, scale, first channel)``: as `bn_conv2dk3_dw` of stride 1, the results in two halves
    of their channels. ValueError for a block that is neither 13 nor 14, and as there."""
    name = "bn_conv2dk3_dw_out_split"
    block = _block(name, block_index)
    types = _depthwise(name, input_width, input_channels)
    grouped(name, 8, output_split_channels)
    out = tile(np.uint8, input_width * output_split_channels)
    return _of(f"bn{block}_conv2dk3_ui8_out_split", [*types, out, out], 8)


def bn_conv2dk1_relu_xy_pool_padded(
    input_width: int = 7,
    input_channels: int = 80,
    output_channels: int = 1280,
    weight_chunk_count: int | None = None,
) -> ExternalFunction:
    """``(in, weights, out, width, channels in, channels out, channels held, scale, line, parts,
    part)``: 1 x 1 of one of the `parts` of the channels out, int8, and the mean over the pixels of
    the square image; uint16 results, sums until the last line. `weight_chunk_count` elements of the
    weights come at a time, all by default. ValueError for channels in no groups of 8."""
    grouped("bn_conv2dk1_relu_xy_pool_padded", 8, input_channels, output_channels)
    types = [
        tile(np.int8, input_width * input_channels),
        tile(np.int8, _held(weight_chunk_count, input_channels, output_channels)),
        tile(np.uint16, output_channels),
    ]
    return _of("conv2dk1_xy_pool_fused_relu_large_padded_i8_ui8", types, 8)


def bn_fc_relu_ui16_pad(
    input_channels: int = 1280,
    output_channels: int = 16,
    weight_chunk_count: int | None = None,
) -> ExternalFunction:
    """``(in, weights, out, width, channels in, channels in that weights are held for, channels out,
    scale)``: a fully connected layer of uint16, results at most 255. `weight_chunk_count` elements
    of the weights come at a time, all by default. ValueError for channels in no groups of 8."""
    grouped("bn_fc_relu_ui16_pad", 8, input_channels, output_channels)
    types = [
        tile(np.uint16, input_channels),
        tile(np.int8, _held(weight_chunk_count, input_channels, output_channels)),
        tile(np.uint16, output_channels),
    ]
    return _of("post_L2_conv2dk1_relu_i16_ui16_pad", types, 5)


def bn_conv2dk1_partial_put_i8(
    input_width: int = 7,
    input_channels: int = 80,
    weight_count: int = 4800,
    *,
    block_index: int = 13,
) -> ExternalFunction:
    """``(in, weights, width, channels in, channels out, 2, part, first pixel, group)``: sums of a
    1 x 1 convolution over the first half of the channels of int8, put on the cascade for
    `bn_conv2dk1_partial_get_relu_i8`, for one group of 8 channels out. ValueError for a block that
    is neither 13 nor 14, and for channels in no groups of 16."""
    name = "bn_conv2dk1_partial_put_i8"
    block = _block(name, block_index)
    grouped(name, 16, input_channels)
    types = [tile(np.int8, input_width * input_channels), tile(np.int8, weight_count)]
    return _of(f"bn{block}_1_conv2dk1_i8_ui8_partial_width_put_new", types, 7, _CASCADE_FILE)


def bn_conv2dk1_partial_get_relu_i8(
    input_width: int = 7,
    input_channels: int = 80,
    output_channels: int = 480,
    weight_count: int = 4800,
    *,
    block_index: int = 13,
) -> ExternalFunction:
    """``(in, weights, out, width, channels in, channels out, scale, 2, parts, part, first pixel,
    group)``: sums over the second half of the channels added to what the cascade brings, uint8
    results. ValueError as for `bn_conv2dk1_partial_put_i8`."""
    name = "bn_conv2dk1_partial_get_relu_i8"
    block = _block(name, block_index)
    grouped(name, 16, input_channels)
    grouped(name, 8, output_channels)
    types = [
        tile(np.int8, input_width * input_channels),
        tile(np.int8, weight_count),
        tile(np.uint8, input_width * output_channels),
    ]
    return _of(f"bn{block}_1_conv2dk1_i8_ui8_partial_width_get_new", types, 9, _CASCADE_FILE)


def bn_conv2dk1_input_split_partial_put_ui8(
    input_width: int = 7,
    input_channels: int = 240,
    weight_count: int = 9600,
    *,
    block_index: int = 13,
) -> ExternalFunction:
    """``(in, weights, width, channels in of both halves, channels out, 2, part, first pixel,
    group)``: as `bn_conv2dk1_partial_put_i8`, of uint8, and `in` holds just the half, of
    `input_channels`; for `bn_conv2dk1_input_split_partial_skip_get`."""
    name = "bn_conv2dk1_input_split_partial_put_ui8"
    block = _block(name, block_index)
    grouped(name, 8, input_channels)
    types = [tile(np.uint8, input_width * input_channels), tile(np.int8, weight_count)]
    symbol = f"bn{block}_1_conv2dk1_ui8_ui8_input_split_partial_width_put_new"
    return _of(symbol, types, 7, _CASCADE_FILE)


def bn_conv2dk1_input_split_partial_skip_get(
    input_width: int = 7,
    input_channels: int = 240,
    output_channels: int = 80,
    weight_count: int = 9600,
    *,
    block_index: int = 13,
) -> ExternalFunction:
    """``(in, weights, out, skip, width, channels in of both halves, channels out, scale, skip
    scale, 2, parts, part, first pixel, group)``: sums over the half in `in` added to what the
    cascade brings, and `skip` added to the int8 results. ValueError for a block that is neither 13
    nor 14, and for channels in no groups of 8."""
    name = "bn_conv2dk1_input_split_partial_skip_get"
    block = _block(name, block_index)
    grouped(name, 8, input_channels, output_channels)
    out = tile(np.int8, input_width * output_channels)
    types = [tile(np.uint8, input_width * input_channels), tile(np.int8, weight_count), out, out]
    symbol = f"bn_{block}_2_conv2dk1_ui8_i8_i8_scalar_input_split_partial_width_get_new"
    return _of(symbol, types, 10, _CASCADE_FILE)


def _pointwise(name: str, given: Any, made: Any, width: int, channels: int, to: int) -> list[Any]:
    grouped(name, 8, channels, to)
    return [tile(given, width * channels), tile(np.int8, channels * to), tile(made, width * to)]


def _depthwise(name: str, width: int, channels: int) -> list[Any]:
    grouped(name, 8, channels)
    line = tile(np.uint8, width * channels)
    return [line, line, line, tile(np.int8, 3 * 3 * channels)]


def _held(count: int | None, channels: int, to: int) -> int:
    return channels * to if count is None else count


def _block(name: str, index: int) -> int:
    if index not in _BLOCKS:
        raise ValueError(f"{name}(): block_index is 13 or 14, got {index}")
    return index


def _of(symbol: str, types: Sequence[Any], numbers: int, file: str = _FILE) -> ExternalFunction:
    """A function of arrays and then int32s."""
    return declare(symbol, file, [*types, *[np.int32] * numbers])
