"""Designs made of one function: run against NumPy, and refused with the reason."""

import numpy as np
import pytest

import iron
from iron import CompileTime, ExternalFunction, In, InOut, Out, algorithms

TILE = np.ndarray[(16,), np.dtype[np.int32]]
AFFINE = """extern "C" void affine(const int *x, int *y, const int *table, int by, int count) {
  for (int i = 0; i < count; ++i) y[i] = x[i] * table[0] + table[1] + by;
}"""
BARE = """extern "C" void bare(const int *x, const int *y, int *z) {
  for (int i = 0; i < 16; ++i) z[i] = x[i] - y[i];
}"""
SUM = """extern "C" void sum(const int *x, int *total, int count) {
  total[0] = 0;
  for (int i = 0; i < count; ++i) total[0] += x[i];
}"""


def vector(n, dtype=np.int32):
    return np.ndarray[(n,), np.dtype[dtype]]


def affine():
    table = np.ndarray[(2,), np.dtype[np.int32]]
    return ExternalFunction(
        "affine", source_string=AFFINE, arg_types=[TILE, TILE, table, np.int32, np.int32]
    )


def data(n=128, dtype=np.int32):
    rng = np.random.default_rng(n)
    return iron.tensor(rng.integers(-99, 99, n).astype(dtype))


def test_a_function_of_one_element():
    @iron.jit
    def cubed(x: In, y: Out, *, func: CompileTime[object]):
        return algorithms.transform(func, vector(128), tile_size=32)

    x, y = data(), iron.zeros(128, dtype=np.int32)
    for by in (3, -4):
        cubed(x, y, func=lambda a, by=by: a * a * a + by)
        np.testing.assert_array_equal(y.numpy(), x.numpy() ** 3 + by)


def test_a_function_of_two_elements_in_float():
    @iron.jit
    def mean(x: In, y: In, z: Out):
        return algorithms.transform_binary(
            lambda a, b: (a + b) * 0.5, vector(64, np.float32), tile_size=16
        )

    x, y, z = data(64, np.float32), iron.ones(64), iron.zeros(64)
    mean(x, y, z)
    np.testing.assert_array_equal(z.numpy(), (x.numpy() + 1) / 2)


def test_a_kernel_with_a_tensor_and_a_number_of_its_own():
    @iron.jit
    def tabled(x: In, y: Out, table: In, *, by: CompileTime[int]):
        return algorithms.transform(affine(), vector(128), vector(2), by)

    x, y, table = data(), iron.zeros(128, dtype=np.int32), iron.tensor(np.array([3, 5], np.int32))
    tabled(x, y, table, by=7)
    np.testing.assert_array_equal(y.numpy(), x.numpy() * 3 + 12)
    table[:] = [-1, 0]
    tabled(x, y, table, by=7)  # the table is read again for each run
    np.testing.assert_array_equal(y.numpy(), 7 - x.numpy())


def test_in_place():
    @iron.jit
    def step(x: InOut):
        return algorithms.for_each(lambda a: a + 1, vector(128))

    x = data()
    before = x.numpy().copy()
    step(x)
    step(x)
    np.testing.assert_array_equal(x.numpy(), before + 2)


@pytest.mark.parametrize("channels", [1, 2])
def test_one_core_for_each_column_and_channel(channels):
    @iron.jit
    def negated(x: In, y: Out):
        return algorithms.transform_parallel(
            lambda a: -a, vector(256), tile_size=16, num_channels=channels
        )

    x, y = data(256), iron.zeros(256, dtype=np.int32)
    with iron.device("npu1_2col"):
        negated(x, y)
        assert negated.as_mlir().count("aie.core(") == 2 * channels
    np.testing.assert_array_equal(y.numpy(), -x.numpy())


def test_parallel_binary_and_a_kernel_that_is_not_told_its_size():
    bare = ExternalFunction("bare", source_string=BARE, arg_types=[TILE, TILE, TILE])

    @iron.jit
    def difference(x: In, y: In, z: Out):
        return algorithms.transform_parallel_binary(bare, vector(64), pass_size_to_kernel=False)

    x, y, z = data(64), iron.arange(64, dtype=np.int32), iron.zeros(64, dtype=np.int32)
    with iron.device("npu2_2col"):
        difference(x, y, z)
    np.testing.assert_array_equal(z.numpy(), x.numpy() - y.numpy())


def test_a_reduction():
    total = ExternalFunction("sum", source_string=SUM, arg_types=[vector(128), vector(1), np.int32])

    @iron.jit
    def summed(x: In, y: Out):
        return algorithms.reduce(total, vector(128), vector(1))

    x, y = data(), iron.zeros(1, dtype=np.int32)
    summed(x, y)
    assert y.numpy().tolist() == [x.numpy().sum()]


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (
            lambda: algorithms.transform(lambda a: a, vector(100)),
            ValueError,
            r"Number of elements \(100\) must be a multiple of tile size \(16\)",
        ),
        (
            lambda: algorithms.transform(affine(), vector(128), vector(2), 1, tile_size=32),
            ValueError,
            r"tile_size \(32\) does not match the kernel's",
        ),
        (lambda: algorithms.transform(lambda a: a, np.int32), TypeError, "numpy ndarray type"),
        (
            lambda: algorithms.transform(affine(), vector(128), vector(2), vector(1)),
            TypeError,
            "a parameter of type int32 is a number",
        ),
        (
            lambda: algorithms.transform(lambda a: a, vector(16), 3),
            ValueError,
            "arguments of a kernel",
        ),
        (
            lambda: algorithms.transform_parallel(lambda a: a, vector(64), num_channels=3),
            ValueError,
            "num_channels must be 1 or 2",
        ),
        (
            lambda: algorithms.transform_parallel(affine(), vector(64), vector(2), num_channels=2),
            ValueError,
            "not supported together with further parameters",
        ),
        (
            lambda: algorithms.transform_parallel(lambda a: a, vector(48)),
            ValueError,
            r"must be a multiple of tile_size x columns x num_channels \(16 x 8 x 1 = 128\)",
        ),
        (
            lambda: algorithms.reduce(lambda a: a, vector(16), vector(1)),
            TypeError,
            "reduce takes an ExternalFunction",
        ),
    ],
)
def test_what_cannot_be_is_refused(make, error, says):
    with iron.device("npu2"), pytest.raises(error, match=says):
        make()


def test_a_description_of_a_tensor():
    described = algorithms.make_param_descriptor(np.ndarray[(4, 8), np.dtype[np.int16]])
    assert (described.shape, described.size, described.dtype) == ((4, 8), 32, np.int16)
    with pytest.raises(TypeError, match="make_param_descriptor expects"):
        algorithms.make_param_descriptor(3)


def test_rows_with_their_neighbours():
    """A vertical sum of three rows, the border rows counted twice."""
    row = np.ndarray[(16,), np.dtype[np.int32]]
    rows = 5

    @iron.jit
    def blurred(image: In, result: Out):
        source, result_rows = (
            iron.ObjectFifo(row, depth=4, name="source"),
            iron.ObjectFifo(row, name="rows"),
        )

        def core(source, result_rows):
            def add(above, at, below, out, weights, border):
                for i in iron.range_(16):
                    out[i] = above[i] + at[i] + below[i]

            algorithms.sliding_3row(source, result_rows, n_out_rows=rows, do_kernel=add)

        def sequence(image, result, source, result_rows):
            source.fill(image)
            result_rows.drain(result, wait=True)

        worker = iron.Worker(core, [source.cons(), result_rows.prod()])
        whole = vector(16 * rows)
        ends = [source.prod(), result_rows.cons()]
        runtime = iron.Runtime(sequence, [whole, whole, *ends])
        device = iron.get_current_device()
        return iron.Program(device, runtime, workers=[worker]).resolve_program()

    image, result = data(16 * rows), iron.zeros(16 * rows, dtype=np.int32)
    blurred(image, result)
    blurred(image, result)  # nothing is left over from one image to the next
    padded = np.pad(image.numpy().reshape(rows, 16), ((1, 1), (0, 0)), mode="edge")
    wanted = padded[:-2] + padded[1:-1] + padded[2:]
    np.testing.assert_array_equal(result.numpy().reshape(rows, 16), wanted)
