"""The host's AIE API against NumPy: integers exactly, reals in bfloat16's rounding.

Semantics: AIE API reference (rounding and saturation modes, reshaping, mmul, sliding_mul, lookup).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

HERE = Path(__file__).parent
Array = NDArray[Any]
RNG = np.random.default_rng(4)


@pytest.fixture(scope="module")
def kernels(workshop: Any) -> ctypes.CDLL:
    names = ("aie_api_integers.cc", "aie_api_reals.cc")
    return ctypes.CDLL(str(workshop.library([(HERE / name).read_text() for name in names])))


def aligned(a: Array) -> Array:
    """A copy at a multiple of 64 bytes, with room before and after."""
    raw = np.zeros(a.nbytes + 256, np.uint8)
    start = 64 + -raw.ctypes.data % 64
    out = raw[start : start + a.nbytes].view(a.dtype).reshape(a.shape)
    out[...] = a
    return out


def call(f: Any, *args: Array | int) -> None:
    f.restype = None
    f(*(ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else a for a in args))


def out(n: int, dtype: Any) -> Array:
    return aligned(np.zeros(n, dtype))


X = aligned(RNG.integers(-(2**15), 2**15, 32).astype(np.int16))
Y = aligned(RNG.integers(-900, 900, 32).astype(np.int16))
X[:4], Y[:4] = [-(2**15), 2**15 - 1, 5, 0], [-1, 1, 5, 0]
W, V = X.astype(np.int64), Y.astype(np.int64)
UP, AT = np.arange(32), np.arange(32)


def zipped(chunk: int) -> Array:
    return np.stack([X.reshape(-1, chunk), Y.reshape(-1, chunk)], 1).reshape(-1)


def chunks(chunk: int) -> Array:
    """Every other chunk of both, the even ones first."""
    both = np.concatenate([X, Y]).reshape(-1, 2, chunk)
    return np.concatenate([both[:, 0].reshape(-1), both[:, 1].reshape(-1)])


def every_other(chunk: int) -> Array:
    parts = X.reshape(-1, 2, chunk)
    return np.concatenate([parts[:, 0].reshape(-1), parts[:, 1].reshape(-1)])


def pushed() -> Array:
    c = np.concatenate([[42], X[:-1]])
    c[31] = 43
    c[1] = c[2]
    return c


BOTH = np.concatenate([X, Y])
BINARY: dict[str, Callable[[], Array]] = {
    "add": lambda: W + V,
    "add_scalar": lambda: W + 1234,
    "scalar_sub": lambda: 1000 - V,
    "sub": lambda: W - V,
    "max": lambda: np.maximum(X, Y),
    "min": lambda: np.minimum(X, Y),
    "maxdiff": lambda: np.maximum(W - V, 0),
    "abs": lambda: abs(W),
    "neg": lambda: -W,
    "and": lambda: X & Y,
    "or": lambda: X | Y,
    "xor": lambda: X ^ Y,
    "not": lambda: ~X,
    "saturating_add": lambda: np.clip(W + V, -(2**15), 2**15 - 1),
    "saturating_sub": lambda: np.clip(W - V, -(2**15), 2**15 - 1),
    "clamp": lambda: np.clip(X, -500, 700),
    "logical_downshift": lambda: X.view(np.uint16) >> 3,
    "select": lambda: np.where(X < Y, Y, X),
    "select_scalar": lambda: np.where((X >= 0) & (X != Y), 7, X),
    "reverse": lambda: X[::-1],
    "transpose": lambda: X.reshape(4, 8).T.reshape(-1),
    "up_rotate": lambda: np.roll(X, 5),
    "down_rotate": lambda: np.roll(X, -5),
    "up_replicate": lambda: np.concatenate([[X[0]] * 3, X[:-3]]),
    "down_replicate": lambda: np.concatenate([X[3:], [X[-1]] * 3]),
    "up_fill": lambda: np.concatenate([Y[-7:], X[:-7]]),
    "down_fill": lambda: np.concatenate([X[7:], Y[:7]]),
    "filter_even": lambda: every_other(1),
    "filter_even_4": lambda: every_other(4),
    "zip": lambda: zipped(2)[:32],
    "zip_high": lambda: zipped(2)[32:],
    "unzip": lambda: chunks(4)[:32],
    "unzip_high": lambda: chunks(4)[32:],
    "shift_bytes": lambda: BOTH[3:35],
    "shuffle": lambda: BOTH.reshape(32, 2).T.reshape(-1)[:32],
    "shuffle_high": lambda: BOTH.reshape(2, 32).T.reshape(-1)[32:],
    "insert": lambda: np.concatenate([X[16:], Y[24:], X[8:16]]),
    "grow_replicate": lambda: np.tile(X[16:24], 4),
    "push": pushed,
    "iota": lambda: np.arange(32) * 5 - 3,
    "broadcast": lambda: np.full(32, X[3]),
    "unaligned": lambda: np.concatenate([[0] * 3, Y[:-3]]),
    "max_cmp": lambda: np.maximum(X, Y),
}


@pytest.mark.parametrize("name", BINARY)
def test_elements_and_their_order(kernels: ctypes.CDLL, name: str) -> None:
    z = out(32, np.int16)
    call(kernels[f"t_{name}"], X, Y, z)
    np.testing.assert_array_equal(z, BINARY[name]().astype(np.int16))


ROUNDING = {
    "floor": 0, "ceil": 1, "symmetric_floor": 2, "symmetric_ceil": 3, "negative_inf": 8,
    "positive_inf": 9, "symmetric_zero": 10, "symmetric_inf": 11, "conv_even": 12, "conv_odd": 13,
}  # fmt: skip
SATURATION = {"none": 0, "saturate": 1, "symmetric": 3}


def rounded(q: Array, mode: str) -> Array:
    """Quotients as float64 that are exact, rounded as the mode's words say."""
    down, away = np.floor(q), np.where(q < 0, np.floor(q), np.ceil(q))
    zero, half = np.trunc(q), q - np.floor(q) == 0.5
    nearest = np.floor(q + 0.5)
    at_half = {
        "negative_inf": down,
        "positive_inf": down + 1,
        "symmetric_zero": zero,
        "symmetric_inf": away,
        "conv_even": np.where(down % 2 == 0, down, down + 1),
        "conv_odd": np.where(down % 2 == 0, down + 1, down),
    }
    always = {"floor": down, "ceil": np.ceil(q), "symmetric_floor": zero, "symmetric_ceil": away}
    return always[mode] if mode in always else np.where(half, at_half[mode], nearest)


def limited(x: Array, dtype: Any, mode: str) -> Array:
    info = np.iinfo(dtype)
    if mode == "none":
        return x.astype(np.int64).astype(dtype)
    low = -info.max if mode == "symmetric" and info.min < 0 else info.min
    return np.clip(x, low, info.max).astype(dtype)


@pytest.mark.parametrize("saturation", SATURATION)
@pytest.mark.parametrize("rounding", ROUNDING)
def test_leaving_an_accumulator(kernels: ctypes.CDLL, rounding: str, saturation: str) -> None:
    """Shift, round, saturate; halves and both limits among the numbers."""
    few = [8, -8, 24, -24, 12, -12, 2**31 - 1, -(2**31), 128 * 16, -129 * 16 + 8]
    x = aligned(np.concatenate([few, RNG.integers(-(2**22), 2**22, 6)]).astype(np.int32))
    for shift in (0, 1, 4, 13):
        types = (np.int8, np.uint8, np.int16, np.uint16, np.int32)
        results = [out(16, t) for t in types]
        call(kernels.t_srs, x, shift, ROUNDING[rounding], SATURATION[saturation], *results)
        for got, dtype in zip(results, types, strict=True):
            entered = x.astype(np.float64) * (16 if dtype is np.int32 else 1)
            want = limited(rounded(entered / 2**shift, rounding), dtype, saturation)
            np.testing.assert_array_equal(got, want, f"{dtype.__name__} >> {shift}")
    assert kernels.t_modes() == 0  # the modes are the core's, and were put back


def test_shifts_of_vectors_round(kernels: ctypes.CDLL) -> None:
    for mode in ("floor", "conv_even", "positive_inf"):
        up, down = out(32, np.int16), out(32, np.int16)
        call(kernels.t_shifts, X, 3, 2, ROUNDING[mode], up, down)
        np.testing.assert_array_equal(up, (W << 3).astype(np.int16))
        np.testing.assert_array_equal(down, rounded(W / 4, mode).astype(np.int16))


def test_casts_and_packs(kernels: ctypes.CDLL) -> None:
    for mode, number in SATURATION.items():
        packed, wide, words = out(32, np.int8), out(16, np.int32), out(16, np.int32)
        call(kernels.t_cast_pack, X, packed, wide, words, number)
        np.testing.assert_array_equal(packed, limited(W, np.int8, mode))
        np.testing.assert_array_equal(wide, X[:16])
        np.testing.assert_array_equal(words, X.view(np.int32))


def test_products(kernels: ctypes.CDLL) -> None:
    got = out(32, np.int32)
    call(kernels.t_products, X, Y, got)
    c = W * V + W * 3 - V * V + V - W * W - 5 * V
    np.testing.assert_array_equal(got, (-c + V * V).astype(np.int32))
    x = aligned(RNG.integers(-(2**31), 2**31, 16).astype(np.int32))
    low, high = out(16, np.int32), out(16, np.int32)
    call(kernels.t_wrap, x, low, high)
    square = x.astype(np.int64) ** 2
    np.testing.assert_array_equal(low, square.astype(np.int32))
    np.testing.assert_array_equal(high, (square >> 32).astype(np.int32))


def test_accumulate_and_sliding(kernels: ctypes.CDLL) -> None:
    got = out(16, np.int32)
    call(kernels.t_accumulate, X, Y, got)
    a, b = W[:16], W[16:]
    want = V[2] * a + V[3] * b + V[7] * b + V[8] * a + V[9] * b
    np.testing.assert_array_equal(got, want.astype(np.int32))

    def slide(points: int, step: int, x: int, y: int, c: int, d: int) -> Array:
        lanes, p = np.arange(16)[:, None], np.arange(points)[None, :]
        return np.sum(V[(c + p * step) % 16] * W[(d + lanes * y + p * x) % 32], 1)

    one, two, ops = out(16, np.int32), out(16, np.int32), out(16, np.int32)
    call(kernels.t_sliding, X, Y, one, two, ops)
    first = slide(4, 1, 1, 1, 1, 3)
    np.testing.assert_array_equal(one, first.astype(np.int32))
    np.testing.assert_array_equal(two, (first + slide(4, 2, 2, 1, 0, -2)).astype(np.int32))
    np.testing.assert_array_equal(ops, (-slide(8, 1, 2, 2, 0, 0)).astype(np.int32))


def test_matrices(kernels: ctypes.CDLL) -> None:
    a, b = (aligned(RNG.integers(-128, 128, n).astype(np.int8)) for n in (64, 128))
    c, d = (aligned(RNG.integers(-999, 999, 16).astype(np.int16)) for _ in range(2))
    e, f = out(32, np.int32), out(16, np.int32)
    call(kernels.t_mmul, a, b, c, d, e, f)
    i = a.astype(np.int64).reshape(2, 4, 8) @ b.astype(np.int64).reshape(2, 8, 8)
    np.testing.assert_array_equal(e, i.sum(0).reshape(-1) >> 1)
    j = c.astype(np.int64).reshape(4, 4) @ d.astype(np.int64).reshape(4, 4)
    np.testing.assert_array_equal(f, e[:16] + j.reshape(-1))


def test_reductions_and_masks(kernels: ctypes.CDLL) -> None:
    small = aligned(RNG.integers(-128, 128, 32).astype(np.int8))
    r = out(6, np.int32)
    call(kernels.t_reduce, X, small, r)
    total = W.sum().astype(np.int16)
    want = [total, X.max(), X.min(), small.sum(dtype=np.int64).astype(np.int8), total, -total]
    np.testing.assert_array_equal(r, want)
    m = out(8, np.uint32)
    call(kernels.t_mask, X, Y, m)

    def bits(on: Array) -> int:
        return int(np.packbits(on, bitorder="little").view(np.uint32)[0])

    mixed = bits(X != 0) ^ 0xF0F0F0F0
    want = [bits(X < Y), bits(X >= Y), mixed, mixed.bit_count(), 8, 8, 0x1234567]
    np.testing.assert_array_equal(m, [*want, mixed << 3 & 0xFFFFFFFF])


def test_iterators_and_tables(kernels: ctypes.CDLL) -> None:
    x = aligned(RNG.integers(-999, 999, 64).astype(np.int16))
    z = out(64, np.int16)
    call(kernels.t_iterate, x, z, 4)
    np.testing.assert_array_equal(z, x + np.tile(x[:32], 2))

    def banked(entries: Array) -> Array:
        """Twice, in runs of 16 bytes."""
        runs = entries.reshape(-1, 16 // entries.itemsize)
        return aligned(np.repeat(runs[:, None], 2, 1).reshape(-1))

    table = RNG.integers(0, 2**16, 256).astype(np.uint16)
    keys = aligned(RNG.integers(0, 256, 16).astype(np.uint8))
    found = out(16, np.uint16)
    call(kernels.t_lut, keys, banked(table), found)
    np.testing.assert_array_equal(found, table[keys])

    slope, offset = RNG.integers(-50, 50, (2, 8)).astype(np.int16)
    pairs = np.stack([slope, offset], 1).copy().view(np.uint32).reshape(-1)
    at = aligned(RNG.integers(-64, 64, 16).astype(np.int16))
    line = out(16, np.int32)
    call(kernels.t_linear, at, banked(pairs), 8, line)
    i = (at >> 4) + 4
    np.testing.assert_array_equal(line, slope[i].astype(int) * (at & 15) + (offset[i] << 2))


# ---- reals


def bf16(x: Array, mode: str = "conv_even") -> Array:
    """The bits of float32 numbers as bfloat16: the mode's rounding of a grid of 2^e."""
    x = np.asarray(x, np.float32)
    step = np.exp2(np.floor(np.log2(np.maximum(abs(x.astype(np.float64)), 1e-30))) - 7)
    q = rounded(x / step, mode) * step
    return (q.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def floats(bits: Array) -> Array:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def some(n: int) -> Array:
    return aligned(bf16(RNG.normal(0, 3, n).astype(np.float32)))


@pytest.mark.parametrize("mode", ROUNDING)
def test_float_to_bfloat16(kernels: ctypes.CDLL, mode: str) -> None:
    x = RNG.normal(0, 100, 16).astype(np.float32)
    halves = (np.array([0x3F808000, 0x3F818000, 0xBF808000, 0xBF818000], np.uint32)).view(
        np.float32
    )
    x[:4], x[4:6] = halves, [1.5, -1.5]
    z = out(16, np.uint16)
    call(kernels.r_round, aligned(x), ROUNDING[mode], z)
    np.testing.assert_array_equal(z, bf16(x, mode))
    special = aligned(np.array([np.inf, -np.inf, np.nan, 0, -0.0] + [1] * 11, np.float32))
    call(kernels.r_round, special, ROUNDING[mode], z)
    np.testing.assert_array_equal(floats(z), special)


def test_bfloat16_arithmetic(kernels: ctypes.CDLL) -> None:
    x, y = some(16), some(16)
    a, b = floats(x), floats(y)
    z = out(112, np.uint16)
    call(kernels.r_arithmetic, x, y, z)
    for i, want in enumerate((a + b, a - b, a * b, np.maximum(a, b), abs(a), -a)):
        np.testing.assert_array_equal(z[16 * i : 16 * i + 16], bf16(want))
    total = floats(z)[96]
    assert abs(total - a.sum()) <= abs(a).sum() * 2**-8
    assert floats(z)[97] == a.max()
    assert z[98] == 0xFF7F
    f = out(32, np.float32)
    call(kernels.r_accumulate, x, y, f)
    np.testing.assert_allclose(f[:16], a * b + 2 * a - b * b + a, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(f[16], f[:16].sum(), rtol=1e-5, atol=1e-4)


def test_real_matrices(kernels: ctypes.CDLL) -> None:
    a, b = some(32), some(32)
    c = aligned(RNG.normal(0, 1, 16).astype(np.float32))
    want = floats(a).reshape(4, 8) @ floats(b).reshape(8, 4) + c.reshape(4, 4)
    call(kernels.r_mmul, a, b, c)
    np.testing.assert_allclose(c.reshape(4, 4), want, rtol=1e-5, atol=1e-4)


def test_functions(kernels: ctypes.CDLL) -> None:
    x = aligned(RNG.uniform(0.1, 3, 16).astype(np.float32))
    z, h = out(80, np.float32), out(64, np.uint16)
    call(kernels.r_functions, x, z, h)
    want = np.concatenate([1 / x, 1 / np.sqrt(x), np.sqrt(x), x / 3])
    np.testing.assert_allclose(z[:64], want, rtol=1e-6)
    assert z[64] == z[0]
    near = floats(bf16(x, "floor"))
    want = np.concatenate([np.exp2(x), np.tanh(x), np.tanh(near), np.exp(near)])
    np.testing.assert_allclose(floats(h), want, rtol=2**-7)


def test_fixed_point(kernels: ctypes.CDLL) -> None:
    x = aligned(RNG.normal(0, 900, 16).astype(np.float32))
    x[:4] = [2.5, -2.5, 1e30, -1e30]
    w = aligned(RNG.integers(-999, 999, 16).astype(np.int32))
    for shift in (0, 4):
        z, h, f = out(16, np.int32), out(16, np.int16), out(16, np.float32)
        call(kernels.r_fixed, x, w, shift, z, h, f)
        scaled = np.rint(x.astype(np.float64) * 2**shift)
        np.testing.assert_array_equal(z, np.clip(scaled, -(2**31), 2**31 - 1).astype(np.int32))
        np.testing.assert_array_equal(h, np.clip(scaled, -(2**15), 2**15 - 1).astype(np.int16))
        np.testing.assert_array_equal(f, w / np.float32(2**shift))
