"""Transfers of the runtime sequence written step by step, for DMAs that no ObjectFifo drives.

    task = dma_configure_task(shim.op, DMAChannelDir.MM2S, 0)
    with bds(task) as bd:
        with bd[0]:
            shim_dma_bd(a.op, sizes=[1, 1, 1, 64], strides=[0, 0, 0, 1])
            end()
    dma_start_task(task)

Names are those of mlir-aie's dialect functions.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from ..ir.attributes import BoolAttr, IntegerAttr, SymbolRefAttr
from ..ir.core import Block, Operation, Region
from ..ir.types import I32, INDEX, MemRefType
from .context import DesignContext, in_sequence
from .dataflow.transfers import Pattern, describe_walk, emit_descriptor
from .taps import TensorAccessPattern
from .values import as_value, unwrap

__all__ = [
    "bds", "dma_await_task", "dma_configure_task", "dma_configure_task_for", "dma_free_task",
    "dma_start_task", "end", "next_bd", "shim_dma_bd", "shim_dma_single_bd_task",
]  # fmt: skip


def dma_configure_task(
    tile: Any, direction: int, channel: int, *, issue_token: bool = False, repeat_count: Any = 0
) -> Operation:
    """A task of a tile's DMA channel; its descriptors are given with `bds`."""
    where = {"direction": IntegerAttr(int(direction), I32), "channel": IntegerAttr(channel, I32)}
    return _task("dma_configure_task", [unwrap(tile)], where, issue_token, repeat_count)


def dma_configure_task_for(
    alloc: str, *, issue_token: bool = False, repeat_count: Any = 0
) -> Operation:
    """A task of the shim end called `alloc`: an ObjectFifo, or the shim_symbol of a Flow."""
    where = {"alloc": SymbolRefAttr((alloc,))}
    return _task("dma_configure_task_for", [], where, issue_token, repeat_count)


def _task(
    name: str, operands: list[Any], attributes: dict[str, Any], issue_token: bool, repeat: Any
) -> Operation:
    context = in_sequence(f"{name}()")
    if issue_token:
        attributes["issue_token"] = BoolAttr(True)
    traced = not isinstance(repeat, int)
    if traced:
        operands.append(as_value(repeat, I32, "repeat_count"))
    elif repeat:
        attributes["repeat_count"] = IntegerAttr(repeat, I32)
    segments = (1, int(traced), 0) if name == "dma_configure_task" else None
    return context.create(
        f"aiex.{name}", operands, [INDEX], attributes, [Region([Block()])], segments=segments
    )


class Descriptors:
    """The blocks of a task; each is made when first named."""

    def __init__(self, context: DesignContext, region: Region) -> None:
        self._context = context
        self._region = region

    def block(self, index: int) -> Block:
        while len(self._region.blocks) <= index:
            self._region.add_block()
        return self._region.blocks[index]

    def __getitem__(self, index: int) -> Descriptor:
        return Descriptor(self._context, self.block(index))


class Descriptor(contextlib.AbstractContextManager["Descriptor"]):
    """One block: ``with bd[0]:`` writes into it, ``next_bd(bd[1])`` goes on to it."""

    def __init__(self, context: DesignContext, block: Block) -> None:
        self.block = block
        self._entered = context.builder.at(block)

    def __enter__(self) -> Descriptor:
        self._entered.__enter__()
        return self

    def __exit__(self, *fault: Any) -> None:
        self._entered.__exit__(*fault)


@contextlib.contextmanager
def bds(task: Operation) -> Iterator[Descriptors]:
    """The buffer descriptors of a task, by number."""
    yield Descriptors(in_sequence("bds()"), task.region)


def next_bd(descriptor: Descriptor) -> None:
    """Go on with another descriptor."""
    context = in_sequence("next_bd()")
    op = context.create("aie.next_bd")
    op.successors = [(descriptor.block, [])]


def end() -> None:
    """The end of a descriptor."""
    in_sequence("end()").create("aie.end")


def shim_dma_bd(
    mem: Any,
    tap: TensorAccessPattern | None = None,
    offset: Any = None,
    sizes: Sequence[Any] | None = None,
    strides: Sequence[Any] | None = None,
    transfer_len: Any = None,
    burst_length: int = 0,
    packet: tuple[int, int] | None = None,
    offset_parameter: str | None = None,
) -> None:
    """A descriptor that walks host memory `mem`, as `ObjectFifoHandle.fill` does."""
    context = in_sequence("shim_dma_bd()")
    memory = unwrap(mem)
    if not isinstance(memory.type, MemRefType):
        raise TypeError(f"shim_dma_bd() takes the memory of a tensor argument, found {mem!r}")
    pattern = Pattern(tap, sizes, strides, offset, transfer_len)
    walk = describe_walk("shim_dma_bd()", pattern, memory.type.shape)
    emit_descriptor(context, memory, walk, packet, offset_parameter, burst_length)


def shim_dma_single_bd_task(
    alloc: str,
    mem: Any,
    tap: TensorAccessPattern | None = None,
    offset: Any = None,
    sizes: Sequence[Any] | None = None,
    strides: Sequence[Any] | None = None,
    transfer_len: Any = None,
    issue_token: bool = False,
    burst_length: int = 0,
    packet: tuple[int, int] | None = None,
    offset_parameter: str | None = None,
) -> Operation:
    """A task of one descriptor. An outermost size above 1 becomes the task's repeat."""
    memory = unwrap(mem)
    pattern = Pattern(tap, sizes, strides, offset, transfer_len)
    assert isinstance(memory.type, MemRefType)
    walk = describe_walk("shim_dma_single_bd_task()", pattern, memory.type.shape)
    task = dma_configure_task_for(alloc, issue_token=issue_token, repeat_count=walk.repeat)
    context = in_sequence("shim_dma_single_bd_task()")
    with context.builder.at(task.body):
        emit_descriptor(context, memory, walk, packet, offset_parameter, burst_length)
        context.create("aie.end")
    return task


def dma_start_task(*tasks: Operation) -> None:
    """Start tasks, in order."""
    _each("dma_start_task", tasks)


def dma_await_task(*tasks: Operation) -> None:
    """Wait for tasks made with ``issue_token=True``, in order."""
    _each("dma_await_task", tasks)


def dma_free_task(*tasks: Operation) -> None:
    """Give back the descriptors of tasks."""
    _each("dma_free_task", tasks)


def _each(name: str, tasks: Sequence[Operation]) -> None:
    context = in_sequence(f"{name}()")
    if not tasks:
        raise ValueError(f"{name}() takes at least one task")
    for task in tasks:
        context.create(f"aiex.{name}", [task.result])
