"""Kernels that are there already: each factory gives an ExternalFunction for one C++ source.

Sources lie in ``kernels/`` of a checkout and in this package when it is installed. Factories of
one source with the same parameters share one object; the symbols of those whose code depends on
parameters are prefixed with them, so that any two can meet on one core.
"""

from __future__ import annotations

from .activation import (
    bf16_exp,
    bf16_exp_ref,
    gelu,
    gelu_ref,
    silu,
    silu_ref,
    softmax,
    softmax_ref,
    swiglu,
)
from .bottleneck import (
    bn_conv2dk1_i8,
    bn_conv2dk1_input_split_partial_put_ui8,
    bn_conv2dk1_input_split_partial_skip_get,
    bn_conv2dk1_partial_get_relu_i8,
    bn_conv2dk1_partial_put_i8,
    bn_conv2dk1_relu,
    bn_conv2dk1_relu_xy_pool_padded,
    bn_conv2dk1_skip,
    bn_conv2dk3,
    bn_conv2dk3_dw,
    bn_conv2dk3_dw_out_split,
    bn_fc_relu_ui16_pad,
)
from .conv import (
    conv2dk1,
    conv2dk1_i8,
    conv2dk1_skip,
    conv2dk1_skip_init,
    conv2dk3,
    conv2dk14,
)
from .eltwise import add, mul, passthrough, relu, relu_ref, scale
from .linalg import cascade_mm, mm, mv
from .reduce import compute_max, reduce_add, reduce_max, reduce_min
from .vision import (
    add_weighted,
    bitwise_and,
    bitwise_or,
    filter2d,
    gray2rgba,
    rgba2gray,
    rgba2hue,
    threshold,
)

__all__ = [
    "add",
    "add_weighted",
    "bf16_exp",
    "bf16_exp_ref",
    "bitwise_and",
    "bitwise_or",
    "bn_conv2dk1_i8",
    "bn_conv2dk1_input_split_partial_put_ui8",
    "bn_conv2dk1_input_split_partial_skip_get",
    "bn_conv2dk1_partial_get_relu_i8",
    "bn_conv2dk1_partial_put_i8",
    "bn_conv2dk1_relu",
    "bn_conv2dk1_relu_xy_pool_padded",
    "bn_conv2dk1_skip",
    "bn_conv2dk3",
    "bn_conv2dk3_dw",
    "bn_conv2dk3_dw_out_split",
    "bn_fc_relu_ui16_pad",
    "cascade_mm",
    "compute_max",
    "conv2dk1",
    "conv2dk1_i8",
    "conv2dk1_skip",
    "conv2dk1_skip_init",
    "conv2dk3",
    "conv2dk14",
    "filter2d",
    "gelu",
    "gelu_ref",
    "gray2rgba",
    "mm",
    "mul",
    "mv",
    "passthrough",
    "reduce_add",
    "reduce_max",
    "reduce_min",
    "relu",
    "relu_ref",
    "rgba2gray",
    "rgba2hue",
    "scale",
    "silu",
    "silu_ref",
    "softmax",
    "softmax_ref",
    "swiglu",
    "threshold",
]
