"""Transfers of the runtime sequence: a shim DMA moves host memory to or from a fifo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.attributes import (
    BoolAttr,
    DenseArrayAttr,
    IntegerAttr,
    StructAttr,
    SymbolRefAttr,
)
from ...ir.core import Block, Operation, Region, Value
from ...ir.types import I32, I64, INDEX
from ..context import DesignContext, in_sequence
from ..memory import wrap
from ..tasks import Task, TaskGroup
from ..values import Scalar, as_value, convert

if TYPE_CHECKING:
    from ..runtime import RuntimeData
    from ..taps import TensorAccessPattern
    from .handles import ObjectFifoHandle

TRACED = -(2**63)
"""What a static list holds where a size or stride is known only at run time."""

MAX_DIMENSIONS = 4  # three of a shim's descriptor and the repeat of the queue


@dataclass
class Pattern:
    """The order in which host memory is walked, as the user gave it: a tap, or explicit numbers
    outermost first, some of them traced."""

    tap: TensorAccessPattern | None = None
    sizes: Sequence[Any] | None = None
    strides: Sequence[Any] | None = None
    offset: Any = None
    length: Any = None

    @property
    def explicit(self) -> bool:
        given = (self.sizes, self.strides, self.offset, self.length)
        return any(g is not None for g in given)


@dataclass
class Walk:
    """A pattern in four dimensions; entries are ints or traced numbers, `length` in elements."""

    offset: Any
    sizes: list[Any]
    strides: list[Any]
    length: Any

    @property
    def repeat(self) -> Any:
        """How often the queue repeats it: the outermost size less one, an int or traced i32."""
        outer = self.sizes[0]
        return outer - 1 if _known(outer) else convert(outer, I32) - 1


_VERBS = {"prod": "fill", "cons": "drain"}
_NEEDS = {
    "fill": "needs a producer handle, found a consumer; use drain(), or call .prod()",
    "drain": "needs a consumer handle, found the producer; use fill(), or call .cons()",
}


def transfer(
    handle: ObjectFifoHandle,
    verb: str,
    data: RuntimeData,
    pattern: Pattern,
    wait: bool,
    packet: tuple[int, int] | None,
    offset_parameter: Any,
    group: TaskGroup | None,
    managed: bool,
) -> Task:
    """Emit one transfer and start it; see `ObjectFifoHandle.fill`."""
    what = f"{verb}() of ObjectFifo {handle.name}"
    if verb != _VERBS[handle.handle_type]:
        raise ValueError(f"{what} {_NEEDS[verb]}")
    context = in_sequence(what)
    active = context.active
    _check_data(what, active, data)
    if not managed and group is not None:
        raise ValueError(
            f"{what}: a transfer with managed=False belongs to no TaskGroup; leave out group="
        )
    walk = _walk(what, pattern, data)
    context.endpoints.meet(context, [handle])
    context.endpoints.bind_host(handle, active.runtime)
    name = context.endpoints.fifos[handle.fifo]
    task = _configure(context, name, walk, wait)
    with context.builder.at(task.body):
        emit_descriptor(context, data.value, walk, packet, _parameter(context, offset_parameter))
        context.create("aie.end")
    context.create("aiex.dma_start_task", [task.result])
    if managed:
        active.enroll(task, wait, group)
    return Task(wrap(task.result))


def _check_data(what: str, active: Any, data: Any) -> None:
    from ..runtime import RuntimeData

    if not isinstance(data, RuntimeData):
        raise ValueError(
            f"{what} moves a tensor argument of the runtime sequence, found {data!r}; put its "
            "array type into fn_args of the Runtime and use the parameter of seq_fn"
        )
    if not any(data is d for d in active.data):
        raise ValueError(f"{what}: {data} belongs to another runtime sequence")


def _walk(what: str, pattern: Pattern, data: RuntimeData) -> Walk:
    if pattern.tap is None and not pattern.explicit:
        pattern = Pattern(data.default_tap())
    return describe_walk(what, pattern, data.shape)


def describe_walk(what: str, pattern: Pattern, shape: Sequence[int]) -> Walk:
    """A pattern over a tensor of that shape in four dimensions; ValueError when it cannot be."""
    if pattern.tap is not None and pattern.explicit:
        raise ValueError(f"{what}: Pass either tap or sizes/strides/offset/transfer_len, not both.")
    if pattern.tap is None:
        sizes, strides = _explicit(pattern)
        offset, length = pattern.offset, pattern.length
    else:
        tap = pattern.tap
        sizes, strides, offset, length = list(tap.sizes), list(tap.strides), tap.offset, None
    if len(sizes) != len(strides):
        raise ValueError(f"{what}: {len(sizes)} sizes but {len(strides)} strides")
    if len(sizes) > MAX_DIMENSIONS:
        raise ValueError(
            f"{what}: shim DMA BD supports at most {MAX_DIMENSIONS} dimensions, got {len(sizes)}"
        )
    missing = MAX_DIMENSIONS - len(sizes)
    sizes = [1] * missing + [_plain(s) for s in sizes]
    strides = [0] * missing + [_plain(s) for s in strides]
    walk = Walk(0 if offset is None else _plain(offset), sizes, strides, length)
    _check_bounds(what, walk, shape)
    walk.length = _plain(length) if length is not None else _product(sizes[1:])
    return walk


def _explicit(pattern: Pattern) -> tuple[list[Any], list[Any]]:
    sizes = pattern.sizes
    if sizes is None:
        sizes = [1, 1, 1, pattern.length if pattern.length is not None else 1]
    strides = pattern.strides
    if strides is None:
        strides = [*[0] * (len(sizes) - 1), 1]
    return list(sizes), list(strides)


def _known(value: Any) -> bool:
    return isinstance(value, (int, np.integer))


def _plain(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer, Scalar)):
        raise TypeError(f"sizes, strides and offsets are integers, found {value!r}")
    return int(value) if _known(value) else value


def _product(numbers: list[Any]) -> Any:
    known = 1
    traced: Any = None
    for n in numbers:
        if _known(n):
            known *= n
        else:
            n = convert(n, I32)
            traced = n if traced is None else traced * n
    return known if traced is None else (traced if known == 1 else traced * known)


def _check_bounds(what: str, walk: Walk, shape: Sequence[int]) -> None:
    numbers = [walk.offset, *walk.sizes, *walk.strides]
    if not all(map(_known, numbers)):
        return
    if any(s < 1 for s in walk.sizes) or any(s < 0 for s in walk.strides) or walk.offset < 0:
        raise ValueError(
            f"{what}: sizes are at least 1, strides and offset at least 0, found sizes "
            f"{walk.sizes}, strides {walk.strides}, offset {walk.offset}"
        )
    steps = zip(walk.sizes, walk.strides, strict=True)
    last = walk.offset + sum((n - 1) * stride for n, stride in steps)
    count = int(np.prod(shape))
    if last >= count:
        raise ValueError(
            f"{what}: the access pattern reaches element {last} of a tensor of shape "
            f"{tuple(shape)} ({count} elements): sizes {walk.sizes}, strides {walk.strides}, "
            f"offset {walk.offset}"
        )


def _parameter(context: DesignContext, given: Any) -> str | None:
    if given is None or isinstance(given, str):
        return given
    context.parameters.setdefault(given.name, given)
    return str(given.name)


def _configure(context: DesignContext, name: str, walk: Walk, wait: bool) -> Operation:
    attributes: dict[str, Any] = {"alloc": SymbolRefAttr((name,))}
    if wait:
        attributes["issue_token"] = BoolAttr(True)
    operands: list[Value] = []
    repeat = walk.repeat
    if not _known(repeat):
        operands.append(repeat.value)
    elif repeat:
        attributes["repeat_count"] = IntegerAttr(repeat, I32)
    return context.create(
        "aiex.dma_configure_task_for", operands, [INDEX], attributes, [Region([Block()])]
    )


def emit_descriptor(
    context: DesignContext,
    memory: Value,
    walk: Walk,
    packet: tuple[int, int] | None,
    parameter: str | None,
    burst_length: int = 0,
) -> None:
    """The ``aie.dma_bd`` of a walk through host memory."""
    attributes: dict[str, Any] = {
        "static_sizes": _static(walk.sizes),
        "static_strides": _static(walk.strides),
        "burst_length": IntegerAttr(burst_length, I32),
    }
    operands, segments = [memory], [1]
    for key, number in (("static_offset", walk.offset), ("static_len", walk.length)):
        if _known(number):
            attributes[key] = IntegerAttr(number, I32)
            segments.append(0)
        else:
            operands.append(as_value(convert(number, I32), I32, key))
            segments.append(1)
    for numbers in (walk.sizes, walk.strides):
        traced = [convert(n, I64).value for n in numbers if not _known(n)]
        operands += traced
        segments.append(len(traced))
    if packet is not None:
        attributes["packet"] = StructAttr(
            "aie.packet_info", (("pkt_type", int(packet[0])), ("pkt_id", int(packet[1])))
        )
    if parameter is not None:
        attributes["offset_parameter"] = SymbolRefAttr((parameter,))
    context.create("aie.dma_bd", operands, (), attributes, segments=segments)


def _static(numbers: list[Any]) -> DenseArrayAttr:
    return DenseArrayAttr(I64, tuple(n if _known(n) else TRACED for n in numbers))
