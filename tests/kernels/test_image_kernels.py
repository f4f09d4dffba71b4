"""Kernels of images, activations and convolutions, each called as the C function it is and compared
with NumPy."""

import ml_dtypes
import numpy as np
import pytest
from test_kernels import compiled, numbers

from iron import kernels

bf16 = ml_dtypes.bfloat16
W = 40


def close(found, wanted):
    """Equal, or next to each other among the bfloat16: a result is rounded from float."""
    steps = found.view(np.int16).astype(int) - wanted.view(np.int16).astype(int)
    assert np.abs(steps).max() <= 1, (found[np.abs(steps).argmax()], wanted[np.abs(steps).argmax()])


def test_activations():
    functions = [kernels.gelu(256), kernels.silu(256), kernels.bf16_exp(256), kernels.softmax(256)]
    gelu, silu, exp, softmax, swiglu = compiled(*functions, kernels.swiglu(256))
    x = np.concatenate([np.linspace(-6, 6, 236), [0, -0.0, 88, -88, 87.5, -100, 120, 1e-30, 20, -20,
                        1, -1, 0.5, -0.5, 30, -30, 3e38, -3e38, 60, -60]]).astype(bf16)  # fmt: skip
    out = np.zeros(256, bf16)
    exp(x, out)
    close(out, kernels.bf16_exp_ref(x))
    assert np.isinf(out[list(x).index(bf16(120))])
    silu(x, out)
    close(out[:250], kernels.silu_ref(x)[:250])
    assert (out[252], out[253]) == (bf16(3e38), 0)
    y = np.clip(x.astype(np.float32), -5, 20).astype(bf16)
    gelu(y, out)
    np.testing.assert_allclose(out.astype(float), kernels.gelu_ref(y).astype(float), 0.01, 2e-6)
    softmax(y, out, 256)
    close(out, kernels.softmax_ref(y, tile_size=256))
    assert abs(out.astype(float).sum() - 1) < 0.01
    out[:] = 7
    softmax(y, out, 16)
    close(out[:16], kernels.softmax_ref(y[:16], tile_size=16))
    assert (out[16:] == 7).all()
    w1, w2 = numbers(256, bf16, 1), numbers(256, bf16, 2)
    swiglu(y, w1, w2, out)
    f, f1, f2 = (v.astype(np.float32) for v in (y, w1, w2))
    with np.errstate(over="ignore"):
        wanted = f * f1 * f * f2 / (1 + np.exp(-f * f2))
    np.testing.assert_allclose(out.astype(float), wanted, 0.004, 1e-6)


def test_what_activations_refuse():
    with pytest.raises(ValueError, match="at least one element, got tile_size=0"):
        kernels.silu(0)
    with pytest.raises(ValueError, match="10 elements are no whole tiles of tile_size=4"):
        kernels.softmax_ref(np.zeros(10, bf16), tile_size=4)
    assert kernels.gelu_ref(np.zeros((2, 3), bf16)).shape == (2, 3)


def test_colours():
    import colorsys

    hue, gray, rgba = compiled(kernels.rgba2hue(W), kernels.rgba2gray(W), kernels.gray2rgba(W))
    pixels, out = numbers(4 * W, np.uint8), np.zeros(W, np.uint8)
    pixels[:12] = [255, 0, 0, 9, 0, 255, 0, 9, 7, 7, 7, 0]
    hue(pixels, out, W)
    assert list(out[:3]) == [0, 85, 0]
    rgb = pixels.reshape(W, 4)[:, :3].astype(int)
    turns = [255 * colorsys.rgb_to_hsv(*p)[0] for p in rgb]
    off = (out.astype(float) - turns + 128) % 256 - 128
    assert np.abs(off).max() <= 2.01  # at the end of the turn 256 steps stand for 255
    gray(pixels, out, W)
    exact = rgb @ [0.299, 0.587, 0.114]
    assert np.abs(out - exact).max() <= 0.51
    wide = np.zeros(4 * W, np.uint8)
    rgba(out, wide, W)
    assert (wide.reshape(W, 4) == np.stack([out, out, out, np.full(W, 255)], axis=1)).all()


def test_filter2d():
    (filtered,) = compiled(kernels.filter2d(W))
    lines = [numbers(W, np.uint8, i) for i in range(3)]
    for weights in ([[0, 4096, 0], [4096, -16384, 4096], [0, 4096, 0]], [[455] * 3] * 3):
        kernel, out = np.array(weights, np.int16), np.zeros(W, np.uint8)
        filtered(*lines, out, W, kernel)
        image = np.pad(np.stack(lines), ((0, 0), (1, 1)), mode="edge").astype(int)
        total = sum(kernel[y, x] * image[y, x : x + W] for y in range(3) for x in range(3))
        np.testing.assert_array_equal(out, np.clip((total + 2048) >> 12, 0, 255))


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32])
def test_lines_of_every_pixel(dtype):
    factories = (kernels.threshold, kernels.bitwise_or, kernels.bitwise_and, kernels.add_weighted)
    threshold, either, both, weighted = compiled(*(f(W, dtype) for f in factories))
    a, b, out = numbers(W, dtype), numbers(W, dtype, 1), np.zeros(W, dtype)
    a[0], zero = 100, dtype(0)
    wanted = {
        0: np.where(a > 100, dtype(77), zero), 1: np.where(a > 100, zero, dtype(77)),
        2: np.minimum(a, dtype(100)), 3: np.where(a > 100, a, zero), 4: np.where(a > 100, zero, a),
    }  # fmt: skip
    for kind, result in wanted.items():
        threshold(a, out, W, 100, 77, kind)
        np.testing.assert_array_equal(out, result)
    either(a, b, out, W)
    np.testing.assert_array_equal(out, a | b)
    both(a, b, out, W)
    np.testing.assert_array_equal(out, a & b)
    limits = np.iinfo(dtype)
    for alpha, beta, gamma in ((16384, 16384, 0), (8192, 8193, 3), (-16384, 100, 5)):
        weighted(a, b, out, W, alpha, beta, gamma)
        total = (a.astype(object) * alpha + b.astype(object) * beta + 8192) // 16384 + gamma
        np.testing.assert_array_equal(out, np.clip(total, limits.min, limits.max).astype(dtype))


def test_pixel_types_that_are_none():
    for factory in (kernels.threshold, kernels.bitwise_or, kernels.add_weighted):
        with pytest.raises(ValueError, match=f"{factory.__name__}.. dtype must be one of uint8"):
            factory(dtype=np.float32)


def grouped(image):
    """(channels, width) as a kernel takes it: eight channels of a pixel beside each other."""
    c, w = image.shape
    return np.ascontiguousarray(image.reshape(c // 8, 8, w).transpose(0, 2, 1)).reshape(-1)


def grouped_weights(weights):
    """(out, in, *window) as a kernel takes it."""
    o, i = weights.shape[:2]
    split = weights.reshape(o // 8, 8, i // 8, 8, -1)
    return np.ascontiguousarray(split.transpose(0, 2, 4, 3, 1)).reshape(-1)


def scaled(total, scale, dtype):
    limits = np.iinfo(dtype)
    rounded = (total + (1 << (scale - 1) if scale else 0)) >> scale
    return np.clip(rounded, limits.min, limits.max)


def conv(image, weights):
    """(in, rows, width) with (out, in, rows, columns), zeros beside."""
    columns = weights.shape[3]
    padded = np.pad(image.astype(int), ((0, 0), (0, 0), (columns // 2,) * 2))
    width = image.shape[2]
    windows = np.stack([padded[:, :, k : k + width] for k in range(columns)], axis=2)
    return np.einsum("irkw,oirk->ow", windows, weights.astype(int))


def values(shape, dtype, seed):
    return numbers(int(np.prod(shape)), dtype, seed).reshape(shape)


@pytest.mark.parametrize("act", [np.int8, np.uint8])
def test_convolutions(act):
    width, given, made = 6, 32, 16
    k1, k3, skip, init = compiled(
        kernels.conv2dk1(width, given, made, act),
        kernels.conv2dk3(width, given, made, act, weight_output_channels=24),
        kernels.conv2dk1_skip(width, given, made, act),
        kernels.conv2dk1_skip_init(width, given, made, act, skip_input_channels=8),
    )
    image = values((given, 3, width), act, 0)
    out = np.zeros(width * made, np.uint8)

    weights = values((made, given, 1, 1), np.int8, 1)
    for scale in (0, 9):
        k1(grouped(image[:, 1]), grouped_weights(weights), out, width, given, made, scale)
        wanted = scaled(conv(image[:, 1:2], weights), scale, np.uint8)
        np.testing.assert_array_equal(out, grouped(wanted))

    weights = values((24, given, 3, 3), np.int8, 2)
    lines = [grouped(image[:, y]) for y in range(3)]
    for where, rows in ((0, slice(1, 3)), (1, slice(0, 3)), (2, slice(0, 2))):
        k3(*lines, grouped_weights(weights), out, width, given, made, 3, 3, where, 10, 8)
        wanted = conv(image[:, rows], weights[8:, :, rows])
        np.testing.assert_array_equal(out, grouped(scaled(wanted, 10, np.uint8)))

    halves = values((given, 1, width), np.uint8, 3)
    first, second = grouped(halves[: given // 2, 0]), grouped(halves[given // 2 :, 0])
    weights = values((made, given, 1, 1), np.int8, 4)
    through = scaled(conv(halves, weights), 11, np.int8)
    added = values((made, width), act, 5)
    skip(first, second, grouped_weights(weights), out, grouped(added), width, given, made, 11, 1)
    wanted = scaled(through + added.astype(int), 1, np.uint8)
    np.testing.assert_array_equal(out, grouped(wanted))

    added = values((8, 1, width), act, 6)
    own = values((made, 8, 1, 1), np.int8, 7)
    both = np.concatenate([grouped_weights(weights), grouped_weights(own)])
    sizes = (width, given, made, 8, 11, 1, 7)
    init(first, second, both, out, grouped(added[:, 0]), *sizes)
    wanted = scaled(through + scaled(conv(added, own), 7, np.int8), 1, np.uint8)
    np.testing.assert_array_equal(out, grouped(wanted))


def test_convolutions_with_signed_results():
    width, given, made = 5, 16, 8
    (k1,) = compiled(kernels.conv2dk1_i8(width, given, made))
    image, weights = values((given, 1, width), np.int8, 0), values((made, given, 1, 1), np.int8, 1)
    out = np.zeros(width * made, np.int8)
    k1(grouped(image[:, 0]), grouped_weights(weights), out, width, given, made, 8)
    wanted = scaled(conv(image, weights), 8, np.int8)
    np.testing.assert_array_equal(out, grouped(wanted))

    (k14,) = compiled(kernels.conv2dk14(16 * 4, 4, 8, kernel_width=4))
    patches, weights = values((16, 16, 4), np.uint8, 2), values((8, 16, 4), np.int8, 3)
    tiles = patches.reshape(2, 8, 8, 2, 4).transpose(0, 2, 1, 3, 4)
    packed = weights.transpose(1, 2, 0)  # pixels, their four bytes, channels out
    out = np.zeros(8 * 16, np.int8)
    k14(np.ascontiguousarray(tiles).reshape(-1), np.ascontiguousarray(packed).reshape(-1), out,
        64, 4, 8, 4, 9)  # fmt: skip
    total = np.einsum("tpb,opb->to", patches.astype(int), weights.astype(int))
    np.testing.assert_array_equal(out, scaled(total, 9, np.int8).reshape(-1))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: kernels.conv2dk1(act_dtype=np.int16), r"conv2dk1\(\) dtype must be one of int8"),
        (lambda: kernels.conv2dk1(input_channels=12), r"conv2dk1\(\): 12 is no multiple of 8"),
        (lambda: kernels.conv2dk3(output_channels=4), r"conv2dk3\(\): 4 is no multiple of 8"),
        (lambda: kernels.conv2dk1_skip(input_channels=24), "24 is no multiple of 16"),
        (lambda: kernels.conv2dk1_skip_init(skip_input_channels=0), "0 is no multiple of 8"),
        (lambda: kernels.conv2dk14(100), r"conv2dk14\(\): 7 is no multiple of 8"),
    ],
)
def test_channels_in_groups(make, says):
    with pytest.raises(ValueError, match=says):
        make()
