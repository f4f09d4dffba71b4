"""Data goes through one core and comes back unchanged: shim -> core -> shim, no C++ at all."""

import numpy as np

import iron
from iron import In, ObjectFifo, Out, Program, Runtime, Worker, range_


@iron.jit
def passthrough(source: In, result: Out, *, N: iron.CompileTime[int] = 4096):
    line = np.ndarray[(256,), np.dtype[np.int32]]
    whole = np.ndarray[(N,), np.dtype[np.int32]]
    arriving, leaving = ObjectFifo(line, name="arriving"), ObjectFifo(line, name="leaving")

    def core(arriving, leaving):
        x, y = arriving.acquire(1), leaving.acquire(1)
        for i in range_(256):
            y[i] = x[i]
        arriving.release(1)
        leaving.release(1)

    worker = Worker(core, [arriving.cons(), leaving.prod()])

    def sequence(a, b, arriving, leaving):
        arriving.fill(a)
        leaving.drain(b, wait=True)

    runtime = Runtime(sequence, [whole, whole, arriving.prod(), leaving.cons()])
    return Program(iron.get_current_device(), runtime, workers=[worker]).resolve_program()


def main() -> str:
    source = iron.arange(4096, dtype=np.int32)
    result = iron.zeros(4096, dtype=np.int32)
    passthrough(source, result)
    np.testing.assert_array_equal(result.numpy(), source.numpy())
    return f"passthrough: {result.numel()} elements came back unchanged"


if __name__ == "__main__":
    print(main())
