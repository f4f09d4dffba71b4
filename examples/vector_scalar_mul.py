"""A vector times a number, tile by tile, by a C++ kernel on one core."""

import numpy as np

import iron
from iron import ExternalFunction, In, ObjectFifo, Out, Program, Runtime, Worker, range_

TILE = 1024


@iron.jit
def vector_scalar_mul(vector: In, factor: In, result: Out, *, N: iron.CompileTime[int] = 4096):
    tile = np.ndarray[(TILE,), np.dtype[np.int32]]
    one = np.ndarray[(1,), np.dtype[np.int32]]
    whole = np.ndarray[(N,), np.dtype[np.int32]]
    scale = ExternalFunction(
        "vector_scalar_mul_scalar",
        source_file="../kernels/scale.cc",
        arg_types=[tile, tile, one, np.int32],
        compile_flags=["-DBIT_WIDTH=32"],
    )
    tiles, factors, products = (
        ObjectFifo(tile, name="tiles"),
        ObjectFifo(one, name="factor"),
        ObjectFifo(tile, name="products"),
    )

    def core(tiles, factors, products, scale):
        by = factors.acquire(1)
        for _ in range_(N // TILE):
            x, y = tiles.acquire(1), products.acquire(1)
            scale(x, y, by, TILE)
            tiles.release(1)
            products.release(1)
        factors.release(1)

    worker = Worker(core, [tiles.cons(), factors.cons(), products.prod(), scale])

    def sequence(a, f, c, tiles, factors, products):
        tiles.fill(a)
        factors.fill(f)
        products.drain(c, wait=True)

    runtime = Runtime(sequence, [whole, one, whole, tiles.prod(), factors.prod(), products.cons()])
    return Program(iron.get_current_device(), runtime, workers=[worker]).resolve_program()


def main() -> str:
    vector = iron.arange(4096, dtype=np.int32)
    factor = iron.tensor(np.array([3], dtype=np.int32))
    result = iron.zeros(4096, dtype=np.int32)
    vector_scalar_mul(vector, factor, result)
    np.testing.assert_array_equal(result.numpy(), vector.numpy() * 3)
    return f"vector_scalar_mul: {result.numel()} products equal NumPy's"


if __name__ == "__main__":
    print(main())
