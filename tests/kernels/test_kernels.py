"""The kernels that come with iron, each called as the C function it is and compared with NumPy."""

import ctypes
import itertools
import sys

import ml_dtypes
import numpy as np
import pytest

import iron
from iron import ObjectFifo, kernels
from iron.build import Ref, default_session
from iron.toolchain.host import HostToolchain

bf16 = ml_dtypes.bfloat16


def compiled(*functions):
    """The functions, which share one object, as functions of arrays and ints."""
    tools = HostToolchain.find()
    specs = {f.object_spec for f in functions}
    assert len(specs) == 1, "they were to be of one object"
    objects = [tools.kernel(s) for s in specs]
    flags = ("-shared", *(["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ()))
    linked = tools.link("test-library", [Ref(o) for o in objects], "kernel.so", flags)
    library = ctypes.CDLL(default_session().build(linked)[0].path(), mode=ctypes.RTLD_LOCAL)

    def call(function):
        symbol = getattr(library, function.name)

        def run(*arguments):
            for argument, wanted in zip(arguments, function.arg_types(), strict=True):
                if isinstance(argument, np.ndarray):
                    assert argument.dtype == function_dtype(wanted)
            symbol(
                *(
                    a.ctypes.data_as(ctypes.c_void_p)
                    if isinstance(a, np.ndarray)
                    else ctypes.c_int32(a)
                    for a in arguments
                )
            )

        return run

    return [call(f) for f in functions]


def function_dtype(annotation):
    return np.dtype(annotation.__args__[1].__args__[0])


def numbers(n, dtype, seed=0):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, n, dtype=dtype, endpoint=True)
    return rng.uniform(-4, 4, n).astype(dtype)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32])
def test_passthrough(dtype):
    (copy,) = compiled(kernels.passthrough(64, dtype))
    source, result = numbers(64, dtype), np.zeros(64, dtype)
    copy(source, result, 60)
    np.testing.assert_array_equal(result[:60], source[:60])
    assert not result[60:].any()


@pytest.mark.parametrize("dtype", [np.int16, np.int32])
def test_scale_wraps(dtype):
    both = compiled(
        kernels.scale(64, dtype, vectorized=False), kernels.scale(64, dtype, vectorized=True)
    )
    source, factor = numbers(64, dtype), np.array([-77777], np.int32)
    wanted = (source.astype(np.int64) * -77777).astype(dtype)
    for scale in both:
        result = np.zeros(64, dtype)
        scale(source, result, factor, 64)
        np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("size", [32, 1024])
def test_elements_of_bfloat16(size):
    kinds = [kernels.add(size), kernels.mul(size, vectorized=False), kernels.relu(size)]
    add, mul, relu = compiled(*kinds)
    a, b, result = numbers(size, bf16, 1), numbers(size, bf16, 2), np.zeros(size, bf16)
    add(a, b, result)
    np.testing.assert_array_equal(
        result, (a.astype(np.float32) + b.astype(np.float32)).astype(bf16)
    )
    mul(a, b, result)
    np.testing.assert_array_equal(
        result, (a.astype(np.float32) * b.astype(np.float32)).astype(bf16)
    )
    relu(a, result)
    np.testing.assert_array_equal(result, kernels.relu_ref(a))
    np.testing.assert_array_equal(result, np.maximum(a.astype(np.float32), 0).astype(bf16))


def test_reductions_of_one_object():
    names = [kernels.reduce_add, kernels.reduce_min, kernels.reduce_max]
    add, least, greatest, scalar, greater = compiled(
        *(k(100) for k in names), kernels.reduce_max(100, vectorized=False), kernels.compute_max()
    )
    x, out = numbers(100, np.int32), np.zeros(1, np.int32)
    add(x, out, 100)
    assert out[0] == x.astype(np.int64).sum().astype(np.int32)
    least(x, out, 100)
    assert out[0] == x.min()
    greatest(x, out, 99)
    assert out[0] == x[:99].max()
    scalar(x, out, 0)
    assert out[0] == np.iinfo(np.int32).min
    greater(np.array([-5], np.int32), np.array([3], np.int32), out)
    assert out[0] == 3


def test_the_greatest_bfloat16():
    greatest, greater = compiled(kernels.reduce_max(50, bf16), kernels.compute_max(bf16))
    x, out = -np.abs(numbers(50, bf16)) - bf16(1), np.zeros(2, bf16)
    greatest(x, out, 50)
    assert out[0] == x.max()
    greater(np.array([2, 9], bf16), np.array([1, 9], bf16), out)
    assert out[0] == 2


def in_blocks(matrix, height, width):
    """The elements of a matrix, block after block."""
    rows, columns = matrix.shape
    blocks = matrix.reshape(rows // height, height, columns // width, width)
    return np.ascontiguousarray(blocks.transpose(0, 2, 1, 3)).ravel()


def product(a, b, c, dtype):
    if np.dtype(dtype).kind == "i":
        return (c.astype(np.int64) + a.astype(np.int64) @ b.astype(np.int64)).astype(dtype)
    wide = c.astype(np.float64) + a.astype(np.float64) @ b.astype(np.float64)
    return wide.astype(np.float32).astype(dtype)


PAIRS = [
    *((np.int8, o) for o in (np.int8, np.int16, np.int32)),
    *((np.int16, o) for o in (np.int16, np.int32)),
    *((bf16, o) for o in (bf16, np.float32)),
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda p: "-".join(np.dtype(d).name for d in p))
def test_matrix_products(pair):
    m, k, n = 16, 24, 16
    plain, blocked = (kernels.mm(m, k, n, *pair, vectorized=v) for v in (False, True))
    functions = compiled(plain, plain.zero, blocked, blocked.zero)
    check_product(plain, *functions[:2], pair, (m, k, n), vectorized=False)
    check_product(blocked, *functions[2:], pair, (m, k, n), vectorized=True)


def check_product(kernel, multiply, zero, pair, extents, vectorized):
    m, k, n = extents
    a, b = numbers((m, k), pair[0], 1), numbers((k, n), pair[0], 2)
    c = np.full((m, n), 3).astype(pair[1])
    r, s, t = kernel.mac_dims if vectorized else (1, k, n)
    flat = [
        in_blocks(x, *of) if vectorized else x.ravel().copy()
        for x, of in ((a, (r, s)), (b, (s, t)), (c, (r, t)))
    ]
    multiply(*flat)
    wanted = product(a, b, c, pair[1])
    wanted = in_blocks(wanted, r, t) if vectorized else wanted.ravel()
    if np.dtype(pair[1]).kind == "i":
        np.testing.assert_array_equal(flat[2], wanted)
    else:
        rounding = 2.0**-7 if pair[1] is bf16 else 2.0**-20
        np.testing.assert_allclose(
            flat[2].astype(np.float64), wanted.astype(np.float64), rtol=rounding, atol=1e-4
        )
    zero(flat[2])
    assert not flat[2].astype(np.float32).any()


def test_column_major_matrices():
    m, k, n = 8, 16, 24
    both = [
        kernels.mm(m, k, n, np.int16, np.int32, vectorized=v, b_col_maj=True, c_col_maj=True)
        for v in (False, True)
    ]
    a, b = numbers((m, k), np.int16, 1), numbers((k, n), np.int16, 2)
    r, s, t = both[1].mac_dims
    wanted = product(a, b, np.zeros((m, n)), np.int32)
    for multiply, arrange in zip(
        compiled(*both), (lambda x, *of: x.ravel().copy(), in_blocks), strict=True
    ):
        result = np.zeros(m * n, np.int32)
        multiply(arrange(a, r, s), arrange(b.T, t, s), result)
        np.testing.assert_array_equal(result, arrange(wanted.T, t, r))


def test_matrix_vector_products():
    m, k = 12, 10
    a, b = numbers((m, k), np.int16), numbers(k, np.int16, 1)
    pairs = np.ascontiguousarray(a.reshape(m, k // 2, 2).transpose(1, 0, 2))
    plain, paired = (kernels.mv(m, k, vectorized=v) for v in (False, True))
    functions = compiled(plain, plain.zero, paired, paired.zero)
    for matrix, multiply, zero in ((a, *functions[:2]), (pairs, *functions[2:])):
        c = np.arange(m, dtype=np.int32)
        wanted = product(a, b, c, np.int32)
        multiply(matrix.ravel(), b, c)
        np.testing.assert_array_equal(c, wanted)
        zero(c)
        assert not c.any()


def test_a_product_along_a_cascade():
    m = k = n = 8
    kernel = kernels.cascade_mm(m, k, n, np.int16, np.int32)
    tile, wide = np.ndarray[(64,), np.dtype[np.int16]], np.ndarray[(64,), np.dtype[np.int32]]

    @iron.jit
    def chained(a: iron.In, b: iron.In, c: iron.Out):
        parts_a, parts_b = (
            [ObjectFifo(tile, name=f"{x}{i}") for i in range(3)] for x in ("a", "b")
        )
        out = ObjectFifo(wide, name="c")

        def last(a, b, c, zero, multiply):
            x, y, z = a.acquire(1), b.acquire(1), c.acquire(1)
            zero(z)
            multiply(x, y, z)
            a.release(1), b.release(1), c.release(1)

        def other(a, b, scratch, multiply):
            multiply(a.acquire(1), b.acquire(1), scratch)
            a.release(1), b.release(1)

        verbs = [kernel.put_only, kernel.put_get]
        ends = [[f.cons() for f in pair] for pair in zip(parts_a, parts_b, strict=True)]
        workers = [
            iron.Worker(
                other, [*ends[i], iron.Buffer(wide, name=f"scratch{i}"), verbs[i]],
                tile=iron.Tile(0, 4 - i),
            )
            for i in range(2)
        ]  # fmt: skip
        workers.append(
            iron.Worker(
                last, [*ends[2], out.prod(), kernel.zero, kernel.get_only], tile=iron.Tile(0, 2)
            )
        )
        for one, next_one in itertools.pairwise(workers):
            iron.CascadeFlow(one, next_one)

        def sequence(a, b, c, to_a, to_b, out):
            for i in range(3):
                tap = iron.TensorAccessPattern((3, 64), 64 * i, [1, 1, 1, 64], [0, 0, 0, 1])
                to_a[i].fill(a, tap), to_b[i].fill(b, tap)
            out.drain(c, wait=True)

        of_a = np.ndarray[(3, 64), np.dtype[np.int16]]
        prods = [[f.prod() for f in fifos] for fifos in (parts_a, parts_b)]
        runtime = iron.Runtime(sequence, [of_a, of_a, wide, *prods, out.cons()])
        return iron.Program(iron.NPU2(), runtime, workers=workers).resolve_program()

    a = numbers((3, 8, 8), np.int16, 1)
    b = numbers((3, 8, 8), np.int16, 2) % 100
    result = np.zeros(64, np.int32)
    chained(a, b.astype(np.int16), result)
    wanted = sum(x.astype(np.int64) @ y.astype(np.int64) for x, y in zip(a, b, strict=True))
    np.testing.assert_array_equal(result.reshape(8, 8), wanted.astype(np.int32))


def test_two_sizes_of_one_kernel_meet_on_one_core():
    """Both have symbols for product and zeroing; each finds its own."""
    small = kernels.mm(4, 4, 4, np.int16, np.int32, vectorized=False)
    large = kernels.mm(8, 8, 8, np.int16, np.int32, vectorized=False)
    names = {f.name for f in (small, small.zero, large, large.zero)}
    assert len(names) == 4
    of = {
        n: np.ndarray[(n,), np.dtype[d]]
        for n, d in ((16, np.int32), (64, np.int32), (128, np.int16))
    }

    @iron.jit
    def both(source: iron.In, first: iron.Out, second: iron.Out):
        fifos = [ObjectFifo(t, name=n) for n, t in (("one", of[16]), ("two", of[64]))]
        buffers = [
            iron.Buffer(initial_value=np.full(n, 2, np.int16), name=f"matrix{n}") for n in (16, 64)
        ]
        into = ObjectFifo(of[128], name="into")

        def core(into, one, two, matrix16, matrix64, *functions):
            into.acquire(1)
            multiply, zero, multiply_large, zero_large = functions
            for end, matrix, m, z in (
                (one, matrix16, multiply, zero), (two, matrix64, multiply_large, zero_large),
            ):  # fmt: skip
                element = end.acquire(1)
                z(element)
                m(matrix, matrix, element)
                end.release(1)
            into.release(1)

        worker = iron.Worker(
            core,
            [
                into.cons(),
                *(f.prod() for f in fifos),
                *buffers,
                small,
                small.zero,
                large,
                large.zero,
            ],
        )

        def sequence(source, first, second, into, one, two):
            into.fill(source)
            one.drain(first, wait=True), two.drain(second, wait=True)

        ends = [into.prod(), *(f.cons() for f in fifos)]
        runtime = iron.Runtime(sequence, [of[128], of[16], of[64], *ends])
        return iron.Program(iron.NPU2(), runtime, workers=[worker]).resolve_program()

    first, second = iron.zeros(16, dtype=np.int32), iron.zeros(64, dtype=np.int32)
    both(iron.zeros(128, dtype=np.int16), first, second)
    assert set(first.numpy()) == {4 * 4}
    assert set(second.numpy()) == {8 * 4}


def test_blocks_are_those_of_the_device():
    with iron.device("npu1"):
        assert kernels.mm(64, 64, 64, bf16, bf16, vectorized=False).mac_dims == (1, 1, 1)
        assert kernels.mm(64, 64, 64, bf16, bf16).mac_dims == (4, 8, 4)
        emulated = kernels.mm(64, 64, 64, bf16, bf16, emulate_bf16_mmul_with_bfp16=True)
        assert emulated.mac_dims == (4, 8, 4)
    with iron.device("npu2"):
        assert kernels.mm(64, 64, 64, bf16, bf16).mac_dims == (4, 8, 8)
        emulated = kernels.mm(64, 64, 64, bf16, bf16, emulate_bf16_mmul_with_bfp16=True)
        assert emulated.mac_dims == (8, 8, 8)
        with pytest.raises(ValueError, match="no multiple of the blocks 4 x 8 x 8"):
            kernels.mm(6, 64, 64, bf16, bf16)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: kernels.passthrough(dtype=np.float32), r"passthrough\(\) dtype must be one of"),
        (lambda: kernels.scale(dtype=np.uint8), r"scale\(\) dtype must be one of int16, int32"),
        (lambda: kernels.add(dtype=np.int32), "must be one of bfloat16, got"),
        (lambda: kernels.relu(0), "at least one element"),
        (lambda: kernels.reduce_add(dtype=bf16), "must be one of int32"),
        (lambda: kernels.compute_max("nothing"), "must be one of int32, bfloat16"),
        (lambda: kernels.mm(input_dtype=np.int8, output_dtype=bf16), r"mm\(\): unsupported"),
        (lambda: kernels.mv(output_dtype=np.int16), r"mv\(\) dtype must be one of int32"),
        (lambda: kernels.cascade_mm(input_dtype=np.int8), r"cascade_mm\(\): unsupported"),
    ],
)
def test_what_no_kernel_does_is_refused(make, says):
    with pytest.raises(ValueError, match=says):
        make()
