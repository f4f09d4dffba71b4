"""Small designs the tests of iron.design share, and ways to look at what they emit."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from iron.design import Module, ObjectFifo, Program, Runtime, Worker, range_
from iron.design.devices import NPU2Col1
from iron.ir import Operation

T = 16
TILE = np.ndarray[(T,), np.dtype[np.int32]]
WHOLE = np.ndarray[(4 * T,), np.dtype[np.int32]]


def line() -> int:
    """The line of the call, to be compared with the lines of messages and locations."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def copy_program(
    body: Any = None,
    args: list[Any] | None = None,
    *,
    device: Any = None,
    tile: Any = TILE,
    whole: Any = WHOLE,
    **worker: Any,
) -> Program:
    """One core between two fifos, "in" and "out"; `body(input, output, *args)`."""

    def copy(i: Any, o: Any) -> None:
        x, y = i.acquire(1), o.acquire(1)
        for n in range_(T):
            y[n] = x[n]
        i.release(1)
        o.release(1)

    fi, fo = ObjectFifo(tile, name="in"), ObjectFifo(tile, name="out")
    w = Worker(body or copy, [fi.cons(), fo.prod(), *(args or [])], **worker)

    def sequence(a: Any, c: Any, i: Any, o: Any) -> None:
        i.fill(a)
        o.drain(c, wait=True)

    rt = Runtime(sequence, [whole, whole, fi.prod(), fo.cons()])
    return Program(device or NPU2Col1(), rt, [w])


def in_core(body: Any, *args: Any, tile: Any = TILE) -> Operation:
    """The ``aie.core`` of a design whose core runs ``body(x, y, *args)`` on one object of each
    fifo."""

    def core(i: Any, o: Any, *rest: Any) -> None:
        x, y = i.acquire(1), o.acquire(1)
        body(x, y, *rest)
        i.release(1)
        o.release(1)

    module = copy_program(core, list(args), tile=tile, whole=tile).resolve_program()
    return one(module, "aie.core")


def ops(module: Module | Operation, name: str) -> list[Operation]:
    root = module.operation if isinstance(module, Module) else module
    return [op for op in root.walk() if op.name == name]


def one(module: Module | Operation, name: str) -> Operation:
    found = ops(module, name)
    assert len(found) == 1, f"{len(found)} {name}"
    return found[0]


def names(core: Operation, *, prefix: str = "arith.") -> list[str]:
    """Names of operations in a core that start with `prefix`, without constants."""
    return [
        op.name for op in core.walk() if op.name.startswith(prefix) and op.name != "arith.constant"
    ]


def tiles(module: Module) -> list[tuple[int, int]]:
    return [
        (op.attributes["col"].value, op.attributes["row"].value) for op in ops(module, "aie.tile")
    ]


def place_of_core(core: Operation) -> tuple[int, int]:
    tile = core.operands[0].owner
    return tile.attributes["col"].value, tile.attributes["row"].value
