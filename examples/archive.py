"""A static library of two sources, flags stated once, two functions bound to it."""

import numpy as np

import iron
from iron import ExternalArchive, In, ObjectFifo, Out, Program, Runtime, Worker

TILE, LOW, HIGH, BY = 128, -50, 50, 1000


@iron.jit
def archive(source: In, result: Out, *, N: iron.CompileTime[int] = 2048):
    tile = np.ndarray[(TILE,), np.dtype[np.int32]]
    whole = np.ndarray[(N,), np.dtype[np.int32]]
    library = ExternalArchive(
        "elementwise",
        sources=["../kernels/clamp.cc", "../kernels/offset.cc"],
        compile_flags=["-O2"],
    )
    clamp = library.function("clamp", [tile, tile, np.int32, np.int32, np.int32])
    offset = library.function("offset", [tile, np.int32, np.int32])
    tiles, results = ObjectFifo(tile, name="tiles"), ObjectFifo(tile, name="results")

    def core(tiles, results, clamp, offset):
        x, y = tiles.acquire(1), results.acquire(1)
        clamp(x, y, LOW, HIGH, TILE)
        offset(y, BY, TILE)
        tiles.release(1)
        results.release(1)

    worker = Worker(core, [tiles.cons(), results.prod(), clamp, offset])

    def sequence(a, c, tiles, results):
        tiles.fill(a)
        results.drain(c, wait=True)

    runtime = Runtime(sequence, [whole, whole, tiles.prod(), results.cons()])
    return Program(iron.get_current_device(), runtime, workers=[worker]).resolve_program()


def main() -> str:
    source = iron.randint(-200, 200, 2048, dtype=np.int32)
    result = iron.zeros(2048, dtype=np.int32)
    archive(source, result)
    np.testing.assert_array_equal(result.numpy(), np.clip(source.numpy(), LOW, HIGH) + BY)
    return f"archive: {result.numel()} results equal NumPy's, from a library of two sources"


if __name__ == "__main__":
    print(main())
