"""A design of the bench: 64 numbers get one more. `design.py call` calls it once in this process,
`design.py import` stops before that."""

import sys

import numpy as np

import iron
from iron import ExternalFunction, In, ObjectFifo, Out, Program, Runtime, Worker

KERNEL = """extern "C" void add_one(const int *in, int *out) {
  for (int i = 0; i < 64; ++i)
    out[i] = in[i] + 1;
}
"""


@iron.jit
def add_one_to_all(source: In, result: Out):
    tile = np.ndarray[(64,), np.dtype[np.int32]]
    add_one = ExternalFunction("add_one", source_string=KERNEL, arg_types=[tile, tile])
    arriving, leaving = ObjectFifo(tile, name="arriving"), ObjectFifo(tile, name="leaving")

    def core(arriving, leaving, add_one):
        x, y = arriving.acquire(1), leaving.acquire(1)
        add_one(x, y)
        arriving.release(1)
        leaving.release(1)

    def sequence(a, b, arriving, leaving):
        arriving.fill(a)
        leaving.drain(b, wait=True)

    worker = Worker(core, [arriving.cons(), leaving.prod(), add_one])
    runtime = Runtime(sequence, [tile, tile, arriving.prod(), leaving.cons()])
    return Program(iron.get_current_device(), runtime, workers=[worker]).resolve_program()


def tensors():
    """What a call takes: source and result."""
    return iron.arange(64, dtype=np.int32), iron.zeros(64, dtype=np.int32)


if __name__ == "__main__" and sys.argv[1] == "call":
    a, b = tensors()
    add_one_to_all(a, b)
    assert (b.numpy() == a.numpy() + 1).all()
