"""Kernels of bottleneck blocks against convolutions in NumPy, rounded as NumPy rounds: to even."""

import numpy as np
import pytest
from test_image_kernels import conv, grouped, grouped_weights, values
from test_kernels import compiled

import iron
from iron import ObjectFifo, kernels


def rounded(total, scale, dtype):
    limits = np.iinfo(dtype)
    return np.clip(np.rint(np.asarray(total) / 2.0**scale), limits.min, limits.max).astype(int)


def test_on_one_core():
    w, given, made = 7, 16, 32
    relu, k1, unsigned, signed, k3, every, other, halves, pool, fc = compiled(
        kernels.bn_conv2dk1_relu(w, given, made),
        kernels.bn_conv2dk1_i8(w, given, made),
        kernels.bn_conv2dk1_skip(w, given, made),
        kernels.bn_conv2dk1_skip(w, given, made, np.int8),
        kernels.bn_conv2dk3(w + 1, given, made),
        kernels.bn_conv2dk3_dw(w + 1, given, given),
        kernels.bn_conv2dk3_dw(w + 1, given, given, stride=2),
        kernels.bn_conv2dk3_dw_out_split(w, made, given, block_index=14),
        kernels.bn_conv2dk1_relu_xy_pool_padded(w, given, made + 8, given * 16),
        kernels.bn_fc_relu_ui16_pad(16, 8, 24 * 8),
    )

    def same(found, wanted):
        np.testing.assert_array_equal(found, grouped(np.asarray(wanted)))

    # Pixels by themselves. Sums of few, small numbers: many of them are just between two results.
    weights = values((made, given, 1, 1), np.int8, 1)
    sizes = (w, given, made)
    for divisor, scales in ((1, (0, 9)), (30, (1, 3))):
        few = weights // divisor
        for act, out, function in ((np.int8, np.uint8, relu), (np.uint8, np.int8, k1)):
            image, result = values((given, 1, w), act, 2) // divisor, np.zeros(w * made, out)
            for scale in scales:
                function(grouped(image[:, 0]), grouped_weights(few), result, *sizes, scale)
                same(result, rounded(conv(image, few), scale, out))
    image, result = values((given, 1, w), np.uint8, 3), np.zeros(w * made, np.int8)
    through = rounded(conv(image, weights), 8, np.int8)
    for kind, function in ((np.uint8, unsigned), (np.int8, signed)):
        skip = values((made, w), kind, 4)
        for scale in (0, 1):
            function(grouped(image[:, 0]), grouped_weights(weights), result, grouped(skip), *sizes,
                     8, scale)  # fmt: skip
            same(result, rounded(through + skip, scale, np.int8))

    # Windows: at the top, in the middle, at the bottom.
    rows_of = {0: slice(1, 3), 1: slice(0, 3), 2: slice(0, 2)}
    weights, image = values((made, given, 3, 3), np.int8, 5), values((given, 3, w + 1), np.int8, 6)
    lines = [grouped(image[:, y]) for y in range(3)]
    result = np.zeros((w + 1) // 2 * made, np.uint8)
    for where, rows in rows_of.items():
        k3(*lines, grouped_weights(weights), result, w + 1, given, made, 3, 3, where, 9, 0)
        same(result, rounded(conv(image[:, rows], weights[:, :, rows])[:, ::2], 9, np.uint8))

    def alone(image, weights, rows):
        """Each channel with its own window."""
        each = zip(image[:, rows], weights[:, rows], strict=True)
        return np.concatenate([conv(i[None], k[None, None]) for i, k in each])

    def by_channel(weights):
        return np.ascontiguousarray(weights.reshape(-1, 8, 9).transpose(0, 2, 1)).reshape(-1)

    image, weights = values((made, 3, w + 1), np.uint8, 7), values((made, 3, 3), np.int8, 8)
    few, lines = weights[:given], [grouped(image[:given, y]) for y in range(3)]
    for where, rows in rows_of.items():
        for stride, function in ((1, every), (2, other)):
            result = np.zeros((w + 1) // stride * given, np.uint8)
            function(*lines, by_channel(few), result, w + 1, given, given, 3, 3, where, 7, 0)
            wanted = alone(image[:given], few, rows)[:, ::stride]
            same(result, rounded(wanted, 7, np.uint8))
    image, (first, second) = image[:, :, :w], np.zeros((2, w * given), np.uint8)
    lines = [grouped(image[:, y]) for y in range(3)]
    halves(*lines, by_channel(weights), first, second, w, made, made, 3, 3, 1, 7, 0)
    wanted = rounded(alone(image, weights, rows_of[1]), 7, np.uint8)
    same(first, wanted[:given]), same(second, wanted[given:])

    # The mean over an image, in two parts of the channels.
    image, weights = values((given, w, w), np.int8, 23), values((made, given, 1, 1), np.int8, 24)
    result, total = np.full(made + 8, 9, np.uint16), 0
    for y in range(w):
        for part in range(2):
            pool(grouped(image[:, y]), grouped_weights(weights[16 * part : 16 * part + 16]), result,
                 w, given, made, made + 8, 8, y, 2, part)  # fmt: skip
        total = total + rounded(conv(image[:, y : y + 1], weights), 8, np.uint8).sum(axis=1)
        if y < w - 1:
            np.testing.assert_array_equal(result[:made], total)
    mean = total / (w * w)
    whole, tenths = mean.astype(int), (mean * 10).astype(int) % 10
    wanted = np.where(tenths == 5, whole + whole % 2, whole + (tenths > 5))
    assert (tenths == 5).any()
    np.testing.assert_array_equal(result, [*wanted, *[0] * 8])

    x, weights = values((16, 1), np.uint16, 11), values((8, 24, 1, 1), np.int8, 12)
    result = np.zeros(8, np.uint16)
    fc(grouped(x), grouped_weights(weights), result, 1, 16, 24, 8, 17)
    same(result, rounded(weights[:, :16, 0, 0].astype(int) @ x.astype(int), 17, np.uint8))


@pytest.mark.parametrize("skip", [False, True], ids=["relu", "skip"])
def test_on_two_cores(skip):
    """Four groups of channels out, in two parts, each core with half of the channels in."""
    w, half, made = 7, 16, 32
    act, out = (np.uint8, np.int8) if skip else (np.int8, np.uint8)
    held = half if skip else 2 * half
    if skip:
        put = kernels.bn_conv2dk1_input_split_partial_put_ui8(w, half, half * 16, block_index=14)
        get = kernels.bn_conv2dk1_input_split_partial_skip_get(
            w, half, made, half * 16, block_index=14
        )
    else:
        put = kernels.bn_conv2dk1_partial_put_i8(w, 2 * half, half * 16)
        get = kernels.bn_conv2dk1_partial_get_relu_i8(w, 2 * half, made, half * 16)
    line, part = np.ndarray[(w * held,), np.dtype[act]], np.ndarray[(half * 16,), np.dtype[np.int8]]
    result = np.ndarray[(w * made,), np.dtype[out]]

    image, weights = values((2 * half, 1, w), act, 0), values((made, 2 * half, 1, 1), np.int8, 1)
    added = values((made, w), out, 2)

    @iron.jit
    def pair(a: iron.In, b: iron.In, added: iron.In, c: iron.Out):
        lines = [ObjectFifo(line, name=f"line{i}") for i in range(2)]
        extra, results = ObjectFifo(result, name="skip"), ObjectFifo(result, name="out")
        kept = [
            [iron.Buffer(part, grouped_weights(weights[p : p + 16, i : i + half])) for p in (0, 16)]
            for i in (0, half)
        ]

        def putting(line, weights, put):
            x = line.acquire(1)
            for part in range(2):
                for group in range(2):
                    put(x, weights[part], w, 2 * half, made, 2, part, 0, group)
            line.release(1)

        def getting(line, weights, skipped, out, get):
            x, y, s = line.acquire(1), out.acquire(1), skipped.acquire(1)
            scales, of_skip = ([9, 1], [s]) if skip else ([9], [])
            for part in range(2):
                for group in range(2):
                    sizes = [w, 2 * half, made, *scales, 2, 2, part, 0, group]
                    get(x, weights[part], y, *of_skip, *sizes)
            line.release(1), out.release(1), skipped.release(1)

        workers = [
            iron.Worker(putting, [lines[0].cons(), kept[0], put], tile=iron.Tile(0, 3)),
            iron.Worker(
                getting, [lines[1].cons(), kept[1], extra.cons(), results.prod(), get],
                tile=iron.Tile(0, 2),
            ),
        ]  # fmt: skip
        iron.CascadeFlow(*workers)

        def sequence(a, b, added, c, first, second, extra, out):
            first.fill(a), second.fill(b), extra.fill(added)
            out.drain(c, wait=True)

        ends = [lines[0].prod(), lines[1].prod(), extra.prod(), results.cons()]
        rt = iron.Runtime(sequence, [line, line, result, result, *ends])
        return iron.Program(iron.get_current_device(), rt, workers).resolve_program()

    given = [image[:half, 0], image[half:, 0]] if skip else [image[:, 0]] * 2
    c = iron.zeros(w * made, dtype=out)
    pair(*(iron.tensor(grouped(t)) for t in (*given, added)), c)
    wanted = rounded(conv(image, weights), 9, out)
    if skip:
        wanted = rounded(wanted + added, 1, out)
    np.testing.assert_array_equal(c.numpy(), grouped(wanted))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: kernels.bn_conv2dk3_dw(stride=3), "stride is 1 or 2, got 3"),
        (lambda: kernels.bn_conv2dk1_skip(skip_dtype=np.int16), "must be one of int8, uint8"),
        (lambda: kernels.bn_conv2dk1_relu(output_channels=12), "12 is no multiple of 8"),
        (lambda: kernels.bn_conv2dk1_partial_put_i8(block_index=12), "is 13 or 14, got 12"),
    ],
)
def test_what_they_refuse(make, says):
    with pytest.raises(ValueError, match=says):
        make()
