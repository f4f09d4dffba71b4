"""A matrix product on four cores.

The rows of A are split over the cores in a memtile, B is broadcast to all of them, and the rows of
C are joined on the way back. The product and the zeroing come from one source, its extents and
types chosen by macros.
"""

import numpy as np

import iron
from iron import (
    ExternalFunction,
    In,
    ObjectFifo,
    Out,
    Program,
    Runtime,
    TaskGroup,
    TensorAccessPattern,
    Worker,
    range_,
)

CORES, T = 4, 16  # cores in a column; extent of the square tile one core multiplies


def kernels(a_tile, b_tile, c_tile):
    flags = [f"-DDIM_M={T}", f"-DDIM_K={T}", f"-DDIM_N={T}", "-DINPUT=i16", "-DOUTPUT=i32"]
    source = {"source_file": "../kernels/matmul.cc", "compile_flags": flags}
    zero = ExternalFunction("zero_scalar_i32", arg_types=[c_tile], **source)
    multiply = ExternalFunction(
        "matmul_scalar_i16_i32", arg_types=[a_tile, b_tile, c_tile], **source
    )
    return zero, multiply


@iron.jit
def matmul(
    a: In,
    b: In,
    c: Out,
    *,
    M: iron.CompileTime[int] = 128,
    K: iron.CompileTime[int] = 128,
    N: iron.CompileTime[int] = 128,
):
    rows = CORES * T  # rows of A and C in flight: one tile a core
    i16, i32 = np.dtype[np.int16], np.dtype[np.int32]
    a_tile, b_tile, c_tile = (
        np.ndarray[(T, T), i16],
        np.ndarray[(T, T), i16],
        np.ndarray[(T, T), i32],
    )
    zero, multiply = kernels(a_tile, b_tile, c_tile)
    a_rows = ObjectFifo(np.ndarray[(rows, T), i16], name="a_rows")
    b_tiles = ObjectFifo(b_tile, name="b_tiles")
    c_rows = ObjectFifo(np.ndarray[(rows, T), i32], name="c_rows")
    offsets = [i * T * T for i in range(CORES)]
    a_parts = a_rows.cons().split(offsets, obj_types=[a_tile] * CORES)
    c_parts = c_rows.prod().join(offsets, obj_types=[c_tile] * CORES)

    def core(a_part, b_tiles, c_part, zero, multiply):
        y = c_part.acquire(1)
        zero(y)
        for _ in range_(K // T):
            x, w = a_part.acquire(1), b_tiles.acquire(1)
            multiply(x, w, y)
            a_part.release(1)
            b_tiles.release(1)
        c_part.release(1)

    workers = [
        Worker(core, [x.cons(), b_tiles.cons(), y.prod(), zero, multiply])
        for x, y in zip(a_parts, c_parts, strict=True)
    ]

    def sequence(a, b, c, a_rows, b_tiles, c_rows):
        for row in range(0, M, rows):
            for column in range(0, N, T):
                group = TaskGroup()
                a_tap = TensorAccessPattern((M, K), row * K, [1, K // T, rows, T], [0, T, K, 1])
                b_tap = TensorAccessPattern((K, N), column, [1, K // T, T, T], [0, T * N, N, 1])
                c_tap = TensorAccessPattern((M, N), row * N + column, [1, 1, rows, T], [0, 0, N, 1])
                a_rows.fill(a, tap=a_tap, group=group)
                b_tiles.fill(b, tap=b_tap, group=group)
                c_rows.drain(c, tap=c_tap, wait=True, group=group)
                group.finish()

    types = [np.ndarray[s, d] for s, d in (((M, K), i16), ((K, N), i16), ((M, N), i32))]
    runtime = Runtime(sequence, [*types, a_rows.prod(), b_tiles.prod(), c_rows.cons()])
    return Program(iron.get_current_device(), runtime, workers=workers).resolve_program()


def main() -> str:
    a = iron.randint(-100, 100, (128, 128), dtype=np.int16)
    b = iron.randint(-100, 100, (128, 128), dtype=np.int16)
    c = iron.zeros(128, 128, dtype=np.int32)
    matmul(a, b, c)
    expected = a.numpy().astype(np.int32) @ b.numpy().astype(np.int32)
    np.testing.assert_array_equal(c.numpy(), expected)
    return f"matmul: a 128 x 128 product on {CORES} cores equals NumPy's"


if __name__ == "__main__":
    print(main())
