"""One function applied to every tile, or every element, of tensors of equal shape.

A design is a set of lanes, each one Worker that does a part of the tensor. The host's arguments
are the inputs, the output, then the tensors among the further parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..design.controlflow import range_
from ..design.current import get_current_device
from ..design.dataflow.objectfifo import ObjectFifo
from ..design.kernel import BaseKernel
from ..design.module import Module
from ..design.program import Program
from ..design.runtime import Runtime
from ..design.taps import TensorAccessPattern
from ..design.tasks import TaskGroup
from ..design.worker import Worker
from .parameters import Extras, ParamDescriptor, described

CHANNELS = (1, 2)
"""Shim DMA channels a column has in each direction, on every NPU."""


def transform(
    func: Callable[..., Any],
    tensor_ty: Any,
    *params: Any,
    tile_size: int = 16,
    trace_size: int = 0,
) -> Module:
    """``output = func(input)`` on one core.

    A kernel is called as ``func(tile, out_tile, *params, tile_size)``, any other function with one
    element at a time. `tensor_ty` is the array type of input and output; `params` are numbers
    where the kernel takes scalars, else array types (or tensors), which become arguments of the
    design after the output. `trace_size` is in bytes.

    ValueError when the tensor is no multiple of `tile_size` or the kernel has another tile,
    TypeError for what is no array type.
    """
    plan = _Plan("transform", func, 1, tensor_ty, tile_size)
    return plan.build([_Lane("", plan.elements)], params, trace_size)


def transform_binary(
    func: Callable[..., Any], tensor_ty: Any, tile_size: int = 16, trace_size: int = 0
) -> Module:
    """``output = func(first, second)`` on one core; see `transform`."""
    plan = _Plan("transform_binary", func, 2, tensor_ty, tile_size)
    return plan.build([_Lane("", plan.elements)], (), trace_size)


def transform_parallel(
    func: Callable[..., Any],
    tensor_ty: Any,
    *params: Any,
    tile_size: int = 16,
    trace_size: int = 0,
    num_channels: int = 1,
    pass_size_to_kernel: bool = True,
) -> Module:
    """`transform` on one core for each column of the device and shim channel used.

    The tensor is a multiple of ``tile_size * columns * num_channels``. `num_channels` is 1 or 2,
    and 1 when there are tensors among `params`. `pass_size_to_kernel` False leaves out the last
    argument of the kernel.
    """
    plan = _Plan("transform_parallel", func, 1, tensor_ty, tile_size, pass_size_to_kernel)
    return plan.build(plan.lanes(num_channels, params), params, trace_size)


def transform_parallel_binary(
    func: Callable[..., Any],
    tensor_ty: Any,
    tile_size: int = 16,
    trace_size: int = 0,
    num_channels: int = 1,
    pass_size_to_kernel: bool = True,
) -> Module:
    """`transform_binary` on one core for each column and channel; see `transform_parallel`."""
    plan = _Plan("transform_parallel_binary", func, 2, tensor_ty, tile_size, pass_size_to_kernel)
    return plan.build(plan.lanes(num_channels, ()), (), trace_size)


def for_each(
    func: Callable[..., Any], tensor_ty: Any, tile_size: int = 16, *, params: Sequence[Any] = ()
) -> Module:
    """``tensor = func(tensor)`` in place, on one core; see `transform`. The design takes the one
    tensor, then those among `params`."""
    plan = _Plan("for_each", func, 1, tensor_ty, tile_size, in_place=True)
    return plan.build([_Lane("", plan.elements)], tuple(params), 0)


@dataclass(frozen=True)
class _Lane:
    """The part of the tensor one Worker does: `count` elements from `offset` on."""

    suffix: str
    count: int
    offset: int | None = None

    def tap(self, elements: int) -> TensorAccessPattern | None:
        if self.offset is None:
            return None
        return TensorAccessPattern((1, elements), self.offset, [1, 1, 1, self.count], [0, 0, 0, 1])


@dataclass
class _Ends:
    """The host's ends of one lane's fifos."""

    inputs: list[Any] = field(default_factory=list)
    output: Any = None


class _Plan:
    """What is applied to what."""

    def __init__(
        self,
        what: str,
        func: Callable[..., Any],
        inputs: int,
        tensor_ty: Any,
        tile_size: int,
        pass_size: bool = True,
        in_place: bool = False,
    ) -> None:
        tensor = described(tensor_ty, what)
        self.what, self.func, self.inputs = what, func, inputs
        self.tile_size, self.pass_size, self.in_place = tile_size, pass_size, in_place
        self.elements = tensor.size
        self.tensor = ParamDescriptor((tensor.size,), tensor.dtype).type
        self.tile = ParamDescriptor((tile_size,), tensor.dtype).type
        self.is_kernel = isinstance(func, BaseKernel)
        if not callable(func):
            raise TypeError(f"{what} takes a function or a kernel, got {func!r}")
        if isinstance(func, BaseKernel) and int(np.prod(func.arg_shape())) != tile_size:
            raise ValueError(
                f"{what}: tile_size ({tile_size}) does not match the kernel's: {func!r} takes "
                f"tiles of shape {func.arg_shape()}"
            )
        if self.elements % tile_size:
            raise ValueError(
                f"{what}: Number of elements ({self.elements}) must be a multiple of tile size "
                f"({tile_size})"
            )

    def lanes(self, channels: int, params: Sequence[Any]) -> list[_Lane]:
        """One for each column of the device and channel, each with an equal part."""
        if channels not in CHANNELS:
            raise ValueError(
                f"{self.what}: num_channels must be 1 or 2, the shim's DMA channels per direction "
                f"and column; got {channels}"
            )
        if channels > 1 and params:
            raise ValueError(
                f"{self.what}: num_channels=2 is not supported together with further parameters, "
                "which take shim channels themselves; use num_channels=1"
            )
        columns = get_current_device().cols
        count = self.tile_size * columns * channels
        if self.elements % count:
            raise ValueError(
                f"{self.what}: Number of elements ({self.elements}) must be a multiple of "
                f"tile_size x columns x num_channels ({self.tile_size} x {columns} x {channels} = "
                f"{count})"
            )
        part = self.elements // (columns * channels)
        names = [
            f"_{col}" if channels == 1 else f"_{col}_{channel}"
            for col in range(columns)
            for channel in range(channels)
        ]
        return [_Lane(name, part, i * part) for i, name in enumerate(names)]

    def build(self, lanes: list[_Lane], params: Sequence[Any], trace_size: int) -> Module:
        """The resolved design."""
        extras = Extras.of(self.func, self.inputs + 1, params, self.what)
        shared = [ObjectFifo(d.type, name=f"param{i}") for i, d in extras.tensors]
        workers, ends = [], []
        for lane in lanes:
            worker, end = self._lane(lane, extras, shared, trace_size)
            workers.append(worker)
            ends.append(end)
        runtime = self._runtime(lanes, ends, extras, [f.prod() for f in shared])
        program = Program(get_current_device(), runtime, workers=workers)
        if trace_size > 0:
            program.enable_trace(trace_size)
        return program.resolve_program()

    def _lane(
        self, lane: _Lane, extras: Extras, shared: list[ObjectFifo], trace_size: int
    ) -> tuple[Worker, _Ends]:
        prefix = ["in"] if self.in_place else [f"in{i}" for i in range(self.inputs)]
        inputs = [ObjectFifo(self.tile, name=f"{p}{lane.suffix}") for p in prefix]
        output = ObjectFifo(self.tile, name=f"out{lane.suffix}")
        tiles = lane.count // self.tile_size

        def core(sources: list[Any], parameters: list[Any], result: Any, func: Any) -> None:
            values = extras.with_tensors([p.acquire(1) for p in parameters])
            for _ in range_(tiles):
                elements = [s.acquire(1) for s in sources]
                self._apply(func, elements, result.acquire(1), values)
                for s in sources:
                    s.release(1)
                result.release(1)
            for p in parameters:
                p.release(1)

        arguments = [
            [f.cons() for f in inputs],
            [f.cons() for f in shared],
            output.prod(),
            self.func,
        ]
        worker = Worker(core, arguments, trace=1 if trace_size > 0 else None)
        return worker, _Ends([f.prod() for f in inputs], output.cons())

    def _apply(self, func: Any, inputs: list[Any], output: Any, values: list[Any]) -> None:
        if self.is_kernel:
            func(*inputs, output, *values, *([self.tile_size] if self.pass_size else []))
            return
        for i in range_(self.tile_size):
            output[i] = func(*(x[i] for x in inputs))

    def _runtime(
        self, lanes: list[_Lane], ends: list[_Ends], extras: Extras, parameters: list[Any]
    ) -> Runtime:
        tensors = [self.tensor] * (1 if self.in_place else self.inputs + 1)
        types = [*tensors, *(d.type for _, d in extras.tensors)]
        taps = [lane.tap(self.elements) for lane in lanes]

        def sequence(*arguments: Any) -> None:
            data = arguments[: len(types)]
            inputs = data[: self.inputs]
            output = data[len(tensors) - 1]
            group = TaskGroup()
            for parameter, value in zip(parameters, data[len(tensors) :], strict=True):
                parameter.fill(value, group=group)
            for end, tap in zip(ends, taps, strict=True):
                for source, value in zip(end.inputs, inputs, strict=True):
                    source.fill(value, tap, group=group)
                end.output.drain(output, tap, wait=True, group=group)
            group.finish()

        handles = [h for end in ends for h in (*end.inputs, end.output)]
        return Runtime(sequence, [*types, *handles, *parameters])
