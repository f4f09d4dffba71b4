"""Worker: a Python function that becomes the program of one core."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..ir.attributes import BoolAttr, IntegerAttr
from ..ir.core import Block, Operation, Region
from ..ir.types import I32, INDEX
from .barrier import WorkerRuntimeBarrier
from .buffer import Buffer
from .context import DesignContext, Scope, here
from .dataflow.handles import ObjectFifoHandle
from .dataflow.objectfifo import ObjectFifo
from .tiles import AIETileType, AnyComputeTile, Tile

if TYPE_CHECKING:
    from .dataflow.flow import CascadeFlow

__all__ = ["Worker", "WorkerRuntimeBarrier", "flatten"]


class Worker:
    """The program ``core_fn(*fn_args)`` of one core, traced once per design.

    `fn_args` are handles of fifos, Buffers, Kernels, barriers and plain Python values, in lists
    and tuples if need be. `while_true` repeats it for ever. `stack_size` is in bytes; the tools'
    default is 1024 (mlir-aie's). `core_fn` None is a core that does nothing. `tile` pins it.
    `trace` and `trace_events` are accepted and mean nothing here; `allocation_scheme` and
    `dynamic_objfifo_lowering` are passed on to mlir-aie's compiler.

    ValueError for a tile that is no compute tile, an ObjectFifo in place of a handle, or a stack
    of less than 1 byte.
    """

    def __init__(
        self,
        core_fn: Callable[..., Any] | None,
        fn_args: Sequence[Any] | None = None,
        tile: Tile | None = AnyComputeTile,
        while_true: bool = True,
        stack_size: int | None = None,
        allocation_scheme: str | None = None,
        trace: int | None = None,
        trace_events: Sequence[Any] | None = None,
        dynamic_objfifo_lowering: bool | None = None,
    ) -> None:
        self.where = here()
        self._tile = _compute_tile(tile, allocation_scheme)
        self.core_fn = core_fn
        self.fn_args = list(fn_args) if fn_args is not None else []
        self.while_true = while_true
        self.stack_size = stack_size
        self.allocation_scheme = allocation_scheme
        self.trace = trace
        self.trace_events = trace_events
        self.dynamic_objfifo_lowering = dynamic_objfifo_lowering
        self._outgoing_cascades: list[CascadeFlow] = []
        self._check_arguments()

    def _check_arguments(self) -> None:
        for arg in self.flat_fn_args:
            if isinstance(arg, ObjectFifo):
                raise ValueError(
                    f"{self.label}: a Worker takes an end of an ObjectFifo, found the whole "
                    f"{arg.name!r} ({arg.where}); pass {arg.name}.prod() or {arg.name}.cons()"
                )
        if self.stack_size is not None and self.stack_size < 1:
            raise ValueError(f"{self.label}: stack_size is in bytes, found {self.stack_size}")

    @staticmethod
    def grid(rows: int, cols: int, factory: Callable[[int, int], Worker]) -> list[list[Worker]]:
        """``factory(r, c)`` for every r and c, as `rows` lists of `cols` Workers."""
        return [[factory(r, c) for c in range(cols)] for r in range(rows)]

    @property
    def label(self) -> str:
        """How messages call it: its function and the line it was made."""
        if self.core_fn is None:
            return f"Worker without a core_fn ({self.where})"
        name = getattr(self.core_fn, "__name__", type(self.core_fn).__name__)
        return f"Worker {name} ({self.where})"

    @property
    def tile(self) -> Tile:
        """The tile asked for, wholly or partly named."""
        return self._tile

    @property
    def flat_fn_args(self) -> list[Any]:
        """The arguments without the lists and tuples around them."""
        return list(flatten(self.fn_args))

    @property
    def fifos(self) -> list[ObjectFifoHandle]:
        """The handles among its arguments."""
        return [a for a in self.flat_fn_args if isinstance(a, ObjectFifoHandle)]

    @property
    def buffers(self) -> list[Buffer]:
        """The Buffers among its arguments."""
        return [a for a in self.flat_fn_args if isinstance(a, Buffer)]

    def __repr__(self) -> str:
        return f"<{self.label}>"


def flatten(args: Sequence[Any]) -> Iterator[Any]:
    """Every leaf of nested lists and tuples, in order."""
    for arg in args:
        if isinstance(arg, (list, tuple)):
            yield from flatten(arg)
        else:
            yield arg


def _compute_tile(tile: Tile | None, scheme: str | None) -> Tile:
    tile = tile if tile is not None else AnyComputeTile
    if tile.tile_type == AIETileType.CoreTile and scheme is None and tile is not AnyComputeTile:
        return tile  # the very object, so that a Buffer given the same one lies with it
    return tile.with_type(
        AIETileType.CoreTile,
        allocation_scheme=scheme,
        mismatch_msg=f"Worker requires a compute tile, found {tile}",
    )


def trace(context: DesignContext, worker: Worker) -> Operation:
    """The ``aie.core`` of a worker, without its tile until it is placed."""
    body = Block()
    attributes: dict[str, Any] = {}
    if worker.stack_size is not None:
        attributes["stack_size"] = IntegerAttr(worker.stack_size, I32)
    if worker.dynamic_objfifo_lowering is not None:
        attributes["dynamic_objfifo_lowering"] = BoolAttr(worker.dynamic_objfifo_lowering)
    core = Operation("aie.core", (), [INDEX], attributes, [Region([body])], location=worker.where)
    with context.entered(Scope("core", worker, worker.label), body):
        # A single pass is a loop as well: one form for everything that reads cores.
        passes = sys.maxsize if worker.while_true else 1
        bounds = [
            context.create(
                "arith.constant",
                (),
                [INDEX],
                {"value": IntegerAttr(n, INDEX)},
                location=worker.where,
            ).result
            for n in (0, passes, 1)
        ]
        inner = Block([INDEX])
        context.create("scf.for", bounds, (), None, [Region([inner])], location=worker.where)
        with context.builder.at(inner):
            if worker.core_fn is not None:
                worker.core_fn(*worker.fn_args)
            context.create("scf.yield", location=worker.where)
        context.create("aie.end", location=worker.where)
    return core
