"""Two functions of one C++ source on one core: one compile, one object, linked once."""

import numpy as np

import iron
from iron import ExternalFunction, In, ObjectFifo, Out, Program, Runtime, Worker

SOURCE = """
extern "C" void add_one(const T *in, T *out, int count) {
  for (int i = 0; i < count; ++i) out[i] = in[i] + 1;
}
extern "C" void add_two(const T *in, T *out, int count) {
  for (int i = 0; i < count; ++i) out[i] = in[i] + 2;
}
"""
TILE = 64


@iron.jit
def two_functions(source: In, result: Out, *, N: iron.CompileTime[int] = 1024):
    tile = np.ndarray[(TILE,), np.dtype[np.int32]]
    whole = np.ndarray[(N,), np.dtype[np.int32]]
    add_one, add_two = (
        ExternalFunction(
            name,
            source_string=SOURCE,
            arg_types=[tile, tile, np.int32],
            compile_flags=["-DT=int"],
        )
        for name in ("add_one", "add_two")
    )
    tiles, sums = ObjectFifo(tile, name="tiles"), ObjectFifo(tile, name="sums")

    def core(tiles, sums, add_one, add_two):
        for add in (add_one, add_two):
            x, y = tiles.acquire(1), sums.acquire(1)
            add(x, y, TILE)
            tiles.release(1)
            sums.release(1)

    worker = Worker(core, [tiles.cons(), sums.prod(), add_one, add_two])

    def sequence(a, c, tiles, sums):
        tiles.fill(a)
        sums.drain(c, wait=True)

    runtime = Runtime(sequence, [whole, whole, tiles.prod(), sums.cons()])
    return Program(iron.get_current_device(), runtime, workers=[worker]).resolve_program()


def main() -> str:
    source = iron.arange(1024, dtype=np.int32)
    result = iron.zeros(1024, dtype=np.int32)
    two_functions(source, result)
    expected = source.numpy().reshape(-1, 2, TILE) + np.array([[[1], [2]]], dtype=np.int32)
    np.testing.assert_array_equal(result.numpy(), expected.ravel())
    return f"two_functions: {result.numel()} sums equal NumPy's, both functions from one object"


if __name__ == "__main__":
    print(main())
