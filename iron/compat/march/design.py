"""``ObjectFifo``, ``Worker``, ``Runtime`` and ``Program`` of every spelling.

A Runtime made without a function is of the older spelling: its sequence is written as a ``with``
block right where it stands. The block cannot be traced there, since cores come first; it is
recorded as calls on stand-ins and played when the program is resolved.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ... import design
from ...design.buffer import Buffer as _Buffer
from ...design.dataflow.handles import ObjectFifoHandle as _Handle
from ...design.dataflow.objectfifo import ObjectFifo as _ObjectFifo
from ...design.dtypes import array_dtype, array_shape
from ...design.module import Module
from ...design.program import Program as _Program
from ...design.tiles import Tile
from ...design.worker import Worker as _Worker


class _Door(type):
    """What iron made itself, as ``forward()`` does, is an instance as well."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__mro__[1])


class ObjectFifo(_ObjectFifo, metaclass=_Door):
    """iron's ObjectFifo, which takes depth and name by position as well."""

    def __init__(
        self,
        obj_type: Any,
        depth: int | None = 2,
        name: str | None = None,
        *rest: Any,
        **options: Any,
    ) -> None:
        names = ("dims_to_stream", "dims_from_stream_per_cons", "plio")
        options.update(zip(names, rest, strict=False))
        super().__init__(obj_type, depth=depth, name=name, **options)

    def _end(self, *arguments: Any, **options: Any) -> ObjectFifoHandle:
        return ObjectFifoHandle(self, *arguments, **options)


class ObjectFifoHandle(_Handle, metaclass=_Door):
    """iron's handle, whose links take ``placement=`` for their tile as well."""

    def join(self, *args: Any, placement: Tile | None = None, **options: Any) -> list[Any]:
        return super().join(*args, **_placed(options, placement))

    def split(self, *args: Any, placement: Tile | None = None, **options: Any) -> list[Any]:
        return super().split(*args, **_placed(options, placement))

    def forward(self, *args: Any, placement: Tile | None = None, **options: Any) -> Any:
        return super().forward(*args, **_placed(options, placement))


def _placed(options: dict[str, Any], placement: Tile | None) -> dict[str, Any]:
    return options if placement is None else {**options, "tile": placement}


class Buffer(_Buffer, metaclass=_Door):
    """iron's Buffer, which takes ``placement=`` for its tile as well."""

    def __init__(self, *args: Any, placement: Tile | None = None, **options: Any) -> None:
        super().__init__(*args, **_placed(options, placement))


class Worker(_Worker, metaclass=_Door):
    """iron's Worker, which takes ``placement=`` for its tile as well."""

    def __init__(
        self,
        core_fn: Callable[..., Any] | None,
        fn_args: Sequence[Any] | None = None,
        *args: Any,
        placement: Tile | None = None,
        **options: Any,
    ) -> None:
        super().__init__(core_fn, fn_args, *args, **_placed(options, placement))


class RecordedData:
    """A tensor of a recorded sequence."""

    def __init__(self, arr_type: Any, index: int) -> None:
        self.arr_type = arr_type
        self.index = index

    @property
    def shape(self) -> tuple[int, ...]:
        return array_shape(self.arr_type)

    @property
    def dtype(self) -> Any:
        return array_dtype(self.arr_type)


class RecordedGroup:
    """A task group of a recorded sequence."""


class RecordedRuntime:
    """The Runtime of 2025 and March 2026: ``with rt.sequence(*types) as tensors:`` and verbs."""

    def __init__(self, strict_task_groups: bool = True) -> None:
        self.strict_task_groups = strict_task_groups
        self.workers: list[Any] = []
        self._types: list[Any] = []
        self._handles: list[Any] = []
        self._steps: list[Callable[[_Play], None]] = []

    @contextlib.contextmanager
    def sequence(self, *types: Any) -> Iterator[Any]:
        """The tensors of the sequence: one alone, several as a tuple."""
        if self._types:
            raise ValueError("a Runtime has one sequence")
        self._types = list(types)
        data = tuple(RecordedData(t, i) for i, t in enumerate(types))
        yield data[0] if len(data) == 1 else data

    def start(self, *workers: Any) -> None:
        """Take Workers into the program."""
        self.workers += workers

    def fill(
        self,
        in_fifo: Any,
        source: RecordedData,
        tap: Any = None,
        task_group: RecordedGroup | None = None,
        wait: bool = False,
        placement: Any = None,
    ) -> None:
        self._transfer("fill", in_fifo, source, tap, task_group, wait, placement)

    def drain(
        self,
        out_fifo: Any,
        dest: RecordedData,
        tap: Any = None,
        task_group: RecordedGroup | None = None,
        wait: bool = False,
        placement: Any = None,
    ) -> None:
        self._transfer("drain", out_fifo, dest, tap, task_group, wait, placement)

    def _transfer(
        self,
        verb: str,
        handle: Any,
        data: RecordedData,
        tap: Any,
        group: RecordedGroup | None,
        wait: bool,
        placement: Any,
    ) -> None:
        if placement is not None and handle.shim_tile is None:
            handle.shim_tile = placement
        self._handles.append(handle)
        self._steps.append(
            lambda play: getattr(handle, verb)(
                play.data[data.index], tap, wait=wait, group=play.group(group)
            )
        )

    def task_group(self) -> RecordedGroup:
        group = RecordedGroup()
        self._steps.append(lambda play: play.begin(group))
        return group

    def finish_task_group(self, task_group: RecordedGroup) -> None:
        self._steps.append(lambda play: play.groups.pop(task_group).finish())

    def inline_ops(self, inline_func: Callable[..., Any], inline_args: Sequence[Any]) -> None:
        """Call `inline_func` when the sequence is traced."""
        arguments = list(inline_args)
        self._steps.append(lambda play: inline_func(*(play.given(a) for a in arguments)))

    def set_barrier(self, barrier: Any, value: int) -> None:
        self._steps.append(lambda play: barrier.set(value))

    def enable_trace(self, trace_size: int | None = None, **options: Any) -> None:
        """Accepted; tracing is the hardware's."""

    def recorded(self) -> design.Runtime:
        """The same sequence as iron's Runtime."""

        def sequence(*arguments: Any) -> None:
            play = _Play(arguments[: len(self._types)])
            for step in self._steps:
                step(play)

        handles = list(dict.fromkeys(self._handles))
        return design.Runtime(
            sequence, [*self._types, *handles], strict_task_groups=self.strict_task_groups
        )


class _Play:
    """One tracing of a recorded sequence."""

    def __init__(self, data: Sequence[Any]) -> None:
        self.data = data
        self.groups: dict[RecordedGroup, Any] = {}

    def begin(self, group: RecordedGroup) -> None:
        self.groups[group] = design.TaskGroup()

    def group(self, group: RecordedGroup | None) -> Any:
        return None if group is None else self.groups[group]

    def given(self, argument: Any) -> Any:
        return self.data[argument.index] if isinstance(argument, RecordedData) else argument


class _RuntimeDoor(type):
    """Makes ``Runtime(function, ...)`` iron's Runtime and ``Runtime()`` a recorded one."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        if (args and callable(args[0])) or "seq_fn" in options:
            return design.Runtime(*args, **options)
        return RecordedRuntime(*args, **options)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (design.Runtime, RecordedRuntime))


class Runtime(metaclass=_RuntimeDoor):
    """The runtime sequence, in the spelling its arguments are of."""


class Program(_Program, metaclass=_Door):
    """iron's Program, which takes a recorded Runtime and a placer as well."""

    def __init__(self, device: Any, rt: Any, workers: Sequence[Any] | None = None) -> None:
        self._is_recorded = isinstance(rt, RecordedRuntime)
        if isinstance(rt, RecordedRuntime):
            workers = [*(workers or ()), *rt.workers]
            rt = rt.recorded()
        super().__init__(device, rt, workers)

    def resolve_program(  # type: ignore[override]
        self, placer: Any = None, device_name: str = "main"
    ) -> Module:
        """As iron's; a placer is accepted. A design of the older spelling prints in it too."""
        if isinstance(placer, str):
            device_name = placer
        module = super().resolve_program(device_name)
        if not self._is_recorded:
            return module
        from .text import MarchModule

        return MarchModule(module.operation, module.objects)
