"""Program: everything put together. What resolves it to MLIR is imported when that is asked for:
a process that finds its designs built never does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .context import here
from .runtime import Runtime
from .worker import Worker, flatten

if TYPE_CHECKING:
    from .devices import Device
    from .module import Module


class Program:
    """A design for one device: its Workers and the Runtime that feeds them.

    `workers` may be nested lists. ValueError when `device` is None, TypeError for a worker that is
    none.
    """

    def __init__(
        self, device: Device | None, rt: Runtime, workers: Sequence[Any] | None = None
    ) -> None:
        if device is None:
            raise ValueError(
                "Program requires a device, but none was selected: pass one, such as NPU2Col1(), "
                "or call iron.set_current_device(...)"
            )
        if isinstance(device, type):
            from .devices import Device

            if issubclass(device, Device):
                device = device()  # type: ignore[call-arg]
        self.where = here()
        self._device = device
        self._rt = rt
        self._workers = list(flatten(list(workers or ())))
        for w in self._workers:
            if not isinstance(w, Worker):
                raise TypeError(f"Program ({self.where}): workers are Workers, found {w!r}")

    def enable_trace(
        self,
        trace_size: int | None = None,
        workers: Sequence[Any] | None = None,
        reuse_output_buffer: bool = False,
        coretile_events: Sequence[Any] | None = None,
        coremem_events: Sequence[Any] | None = None,
        memtile_events: Sequence[Any] | None = None,
        shimtile_events: Sequence[Any] | None = None,
        egress_shim_col: int = 0,
        core_trace_mode: Any = None,
    ) -> None:
        """Accepted for the sake of existing designs; tracing is hardware's and is not emitted."""

    def resolve_program(self, device_name: str = "main") -> Module:
        """The design as MLIR, verified, with what must be compiled for it.

        It may be called again, on this or on another Program with the same parts: the text is the
        same whatever was resolved before. `device_name` is the symbol of its ``aie.device``.

        Errors name the user's lines: PlacementError when a part finds no place, ScopeError and
        TypeError from the bodies traced, IronRuntimeError from the runtime sequence, ValueError for
        a Buffer that lies nowhere or an end of a fifo that nobody has, VerifyError for what breaks
        the rules of the dialect.
        """
        from .assembly import resolve

        return resolve(self._device, self._rt, self._workers, device_name, self.where)
