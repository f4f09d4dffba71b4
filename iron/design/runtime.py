"""Runtime: the sequence of transfers the host starts, as it is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.core import Value
from .context import here, in_sequence
from .dataflow.handles import ObjectFifoHandle
from .dataflow.objectfifo import ObjectFifo
from .dtypes import array_dtype, array_shape, describe
from .memory import wrap
from .tasks import Task, TaskGroup
from .worker import flatten

if TYPE_CHECKING:
    from .dataflow.flow import Flow, PacketFlow
    from .dataflow.tile_dma import TileDma
    from .lock import Lock
    from .taps import TensorAccessPattern

__all__ = [
    "IronRuntimeError", "Runtime", "RuntimeData", "Task", "TaskGroup", "sync_parameters",
]  # fmt: skip


class IronRuntimeError(Exception):
    """A runtime sequence that cannot be closed as it was written."""


class RuntimeData:
    """A tensor of the host, as a runtime sequence sees it: what ``fill`` reads and ``drain``
    writes."""

    def __init__(self, arr_type: Any, value: Value) -> None:
        self._arr_type = arr_type
        self.value = value

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents in elements, outermost first."""
        return array_shape(self._arr_type)

    @property
    def dtype(self) -> Any:
        """The NumPy scalar class of its elements."""
        return array_dtype(self._arr_type)

    @property
    def arr_type(self) -> Any:
        """The array type, as given in fn_args."""
        return self._arr_type

    @property
    def op(self) -> Any:
        """The traced memory."""
        return wrap(self.value)

    @property
    def is_scalar(self) -> bool:
        """False: it is an array."""
        return False

    def default_tap(self) -> TensorAccessPattern:
        """All of it, in order."""
        from .taps import TensorAccessPattern, TensorTiler2D

        if len(self.shape) <= 2:
            return TensorTiler2D.simple_tiler(self.shape)[0]
        size = int(np.prod(self.shape))
        return TensorAccessPattern(self.shape, 0, [1, 1, 1, size], [0, 0, 0, 1])

    def __repr__(self) -> str:
        return f"RuntimeData({describe(self._arr_type)})"


class Runtime:
    """The runtime sequence ``seq_fn(*fn_args)``, traced once per design, after the cores.

    An entry of `fn_args` that is an array type becomes a tensor argument (RuntimeData), a scalar
    type a number known at run time, an int a constant; anything else, such as handles, Buffers and
    barriers, is passed on as it is. `strict_task_groups` forbids transfers both with and without a
    TaskGroup (IronRuntimeError when the design is resolved).

    TypeError when `seq_fn` is no function, ValueError for an ObjectFifo in place of a handle.
    """

    def __init__(
        self,
        seq_fn: Callable[..., Any],
        fn_args: Sequence[Any] | None = None,
        *,
        strict_task_groups: bool = True,
    ) -> None:
        self.where = here()
        if not callable(seq_fn):
            raise TypeError(f"Runtime takes a function, found {seq_fn!r}")
        self.seq_fn = seq_fn
        self.fn_args = list(fn_args) if fn_args is not None else []
        self.strict_task_groups = strict_task_groups
        self._flows: list[Flow | PacketFlow] = []
        self._locks: list[Lock] = []
        self._tile_dmas: list[TileDma] = []
        for arg in flatten(self.fn_args):
            if isinstance(arg, ObjectFifo):
                raise ValueError(
                    f"{self.label}: it takes an end of an ObjectFifo, found the whole "
                    f"{arg.name!r} ({arg.where}); pass {arg.name}.prod() or {arg.name}.cons()"
                )

    @property
    def label(self) -> str:
        """How messages call it: its function and the line it was made."""
        return f"Runtime {getattr(self.seq_fn, '__name__', 'sequence')} ({self.where})"

    def add_flow(self, flow: Flow | PacketFlow) -> None:
        """Take an explicit route into the design."""
        self._flows.append(flow)

    def add_lock(self, lock: Lock) -> None:
        """Take an explicit lock into the design."""
        self._locks.append(lock)

    def add_tile_dma(self, tile_dma: TileDma) -> None:
        """Take an explicit DMA program into the design."""
        self._tile_dmas.append(tile_dma)

    @property
    def flows(self) -> list[Flow | PacketFlow]:
        """The explicit routes added so far."""
        return list(self._flows)

    @property
    def locks(self) -> list[Lock]:
        """The explicit locks added so far."""
        return list(self._locks)

    @property
    def tile_dmas(self) -> list[TileDma]:
        """The explicit DMA programs added so far."""
        return list(self._tile_dmas)

    @property
    def fifos(self) -> list[ObjectFifoHandle]:
        """The handles among its arguments."""
        return [a for a in flatten(self.fn_args) if isinstance(a, ObjectFifoHandle)]

    def __repr__(self) -> str:
        return f"<{self.label}>"


def sync_parameters() -> None:
    """Let cores see the scratchpad parameters the host has written; in a runtime sequence,
    ScopeError elsewhere."""
    in_sequence("sync_parameters()").create("aiex.sync_scratchpad_parameters_from_host")
