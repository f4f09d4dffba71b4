"""A transfer of the runtime sequence under way, and groups of them that end together."""

from __future__ import annotations

from typing import Any

from .context import here, in_sequence
from .values import unwrap


class Task:
    """What ``fill`` and ``drain`` give. It may be carried by a ``range_`` as an iter_arg."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    @property
    def handle(self) -> Any:
        """The traced index that stands for the transfer."""
        return self._handle

    def free(self) -> None:
        """Give back the transfer's buffer descriptor, without waiting. ScopeError outside of a
        runtime sequence."""
        in_sequence("Task.free()").create("aiex.dma_free_task", [unwrap(self._handle)])

    def await_(self) -> None:
        """Wait for the end of the transfer, which was started with ``wait=True``. ScopeError
        outside of a runtime sequence."""
        in_sequence("Task.await_()").create("aiex.dma_await_task", [unwrap(self._handle)])


class TaskGroup:
    """Transfers that are awaited and freed together: pass it as ``group=`` to fill and drain, then
    ``finish()`` it.

    Made in a runtime sequence, ScopeError elsewhere. IronRuntimeError for one that is never
    finished, and for a transfer into one that is. `id` is a number for messages.
    """

    def __init__(self, id: int | None = None) -> None:
        self.where = here()
        self._active = in_sequence("TaskGroup()").active
        self._id: int = self._active.register(self, id)

    @property
    def group_id(self) -> int:
        return self._id

    def finish(self) -> None:
        """Wait for the transfers made with ``wait=True``, then free all."""
        in_sequence("TaskGroup.finish()").active.finish(self)

    def __str__(self) -> str:
        return f"TaskGroup({self._id}) of {self.where}"
