"""Convolutions of int8 weights. ``conv2d.cc`` says how channels and weights lie in memory.

Numbers of channels are multiples of 8 (16 where the input comes in two halves).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..design.kernel import ExternalFunction
from .sources import declare, scalar_class, tile

NAMES = {np.int8: "i8", np.uint8: "ui8"}
_PIXEL_BYTES, _TILE_GROUP = 4, 8


def conv2dk1(
    input_width: int = 32,
    input_channels: int = 64,
    output_channels: int = 64,
    act_dtype: Any = np.int8,
) -> ExternalFunction:
    """``(in, weights, out, width, channels in, channels out, scale)``: 1 x 1, uint8 results.
    `act_dtype` is int8 or uint8; ValueError otherwise, and for channels in no groups of 8."""
    kind = activation("conv2dk1", act_dtype)
    grouped("conv2dk1", 8, input_channels, output_channels)
    types = [
        tile(kind, input_width * input_channels),
        tile(np.int8, input_channels * output_channels),
        tile(np.uint8, input_width * output_channels),
    ]
    return _of("conv2dk1", kind, types, 4)


def conv2dk3(
    input_width: int = 32,
    input_channels: int = 64,
    output_channels: int = 64,
    act_dtype: Any = np.int8,
    weight_output_channels: int | None = None,
) -> ExternalFunction:
    """``(above, line, below, weights, out, width, channels in, channels out, 3, 3, where, scale,
    first channel)``: 3 x 3 with zeros around the image, uint8 results; `where` is 0 for its first
    line and 2 for its last. `weight_output_channels` of the weights are there, of which
    `output_channels` from the first channel on are used. ValueError as for `conv2dk1`."""
    kind = activation("conv2dk3", act_dtype)
    held = output_channels if weight_output_channels is None else weight_output_channels
    grouped("conv2dk3", 8, input_channels, output_channels, held)
    line = tile(kind, input_width * input_channels)
    weights = tile(np.int8, 3 * 3 * input_channels * held)
    types = [line, line, line, weights, tile(np.uint8, input_width * output_channels)]
    return _of("conv2dk3", kind, types, 8)


def conv2dk1_skip(
    input_width: int = 32,
    input_channels: int = 64,
    output_channels: int = 64,
    act_dtype: Any = np.int8,
) -> ExternalFunction:
    """``(first half, second half, weights, out, skip, width, channels in, channels out, scale, skip
    scale)``: 1 x 1 on uint8 in two halves of the channels, and `skip` added, of `act_dtype`; uint8
    results. ValueError as for `conv2dk1`, with groups of 16 channels in."""
    kind = activation("conv2dk1_skip", act_dtype)
    types = _two_halves(
        "conv2dk1_skip", input_width, input_channels, output_channels, input_channels
    )
    return _of("conv2dk1_skip", kind, [*types, tile(kind, input_width * output_channels)], 5)


def conv2dk1_skip_init(
    input_width: int = 32,
    input_channels: int = 64,
    output_channels: int = 64,
    act_dtype: Any = np.int8,
    skip_input_channels: int | None = None,
) -> ExternalFunction:
    """``(first half, second half, weights, out, skip, width, channels in, channels out, channels
    skip, scale, skip scale, scale of the skip's convolution)``: as `conv2dk1_skip`, but `skip` has
    `skip_input_channels` (default: as many as the input) and goes through a 1 x 1 convolution
    first, whose weights follow the others."""
    kind = activation("conv2dk1_skip_init", act_dtype)
    skipped = input_channels if skip_input_channels is None else skip_input_channels
    grouped("conv2dk1_skip_init", 8, skipped)
    types = _two_halves(
        "conv2dk1_skip_init",
        input_width,
        input_channels,
        output_channels,
        input_channels + skipped,
    )
    return _of("conv2dk1_skip_init", kind, [*types, tile(kind, input_width * skipped)], 7)


def conv2dk1_i8(
    input_width: int = 32, input_channels: int = 64, output_channels: int = 64
) -> ExternalFunction:
    """``(in, weights, out, width, channels in, channels out, scale)``: `conv2dk1` of int8 with int8
    results."""
    grouped("conv2dk1_i8", 8, input_channels, output_channels)
    types = [
        tile(np.int8, input_width * input_channels),
        tile(np.int8, input_channels * output_channels),
        tile(np.int8, input_width * output_channels),
        *[np.int32] * 4,
    ]
    # The symbol is conv2dk1's of int8; both can meet on one core.
    return declare("conv2dk1_i8", "conv2d.cc", types, {"INT8_OUT": None}, prefix="int8_out")


def conv2dk14(
    input_width: int = 224,
    input_channels: int = 16,
    output_channels: int = 16,
    kernel_width: int = 14,
) -> ExternalFunction:
    """``(tiles, weights, out, width, channels in, channels out, kernel width, scale)``: patches of
    `kernel_width` squared RGBA pixels, as many as fit into `input_width`, in groups of 8; int8
    results. ValueError when they are no whole groups, or the pixels of one no pairs."""
    patches, pixels = input_width // kernel_width, kernel_width * kernel_width
    grouped("conv2dk14", _TILE_GROUP, patches, output_channels)
    if pixels % 2:
        raise ValueError(f"conv2dk14(): kernel_width={kernel_width}: pixels are taken in pairs")
    types = [
        tile(np.uint8, patches * pixels * _PIXEL_BYTES),
        tile(np.int8, output_channels * pixels * _PIXEL_BYTES),
        tile(np.int8, output_channels * patches),
        *[np.int32] * 5,
    ]
    return declare("conv2dk14_i8", "conv2d.cc", types)


def _two_halves(name: str, width: int, channels: int, to: int, weights: int) -> list[Any]:
    """The types up to the result, of a convolution whose input comes in two halves."""
    grouped(name, 16, channels)
    grouped(name, 8, to)
    half = tile(np.uint8, width * channels // 2)
    return [half, half, tile(np.int8, weights * to), tile(np.uint8, width * to)]


def activation(name: str, dtype: Any) -> Any:
    """int8 or uint8; ValueError for another type."""
    return scalar_class(dtype, tuple(NAMES), name)


def grouped(name: str, group: int, *counts: int) -> None:
    """ValueError for numbers of channels that are in no whole groups."""
    for count in counts:
        if count < group or count % group:
            raise ValueError(f"{name}(): {count} is no multiple of {group}, the group it goes in")


def _of(name: str, kind: Any, types: Sequence[Any], numbers: int) -> ExternalFunction:
    """The variant of a function for activations of one kind, which also takes int32s."""
    return declare(f"{name}_{NAMES[kind]}", "conv2d.cc", [*types, *[np.int32] * numbers])
