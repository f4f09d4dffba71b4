"""A runtime sequence while it is traced: its data, and the transfers its task groups see to."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..ir.attributes import IntegerAttr, StringAttr
from ..ir.core import Block, Location, Operation, Region
from ..ir.types import I32, IntegerType, Type
from .context import DesignContext, Scope, here
from .dtypes import array_dtype, array_shape, ir_type, is_array_type, is_scalar_type
from .memory import wrap
from .runtime import IronRuntimeError, Runtime, RuntimeData
from .tasks import TaskGroup


@dataclass
class _Pending:
    """A transfer whose end a group sees to."""

    operation: Operation
    wait: bool


@dataclass
class ActiveSequence:
    """A runtime sequence being traced: its data and its task groups."""

    runtime: Runtime
    context: DesignContext
    data: list[RuntimeData] = field(default_factory=list)
    open: dict[TaskGroup, list[_Pending]] = field(default_factory=dict)
    implicit: list[_Pending] = field(default_factory=list)
    used_implicit: bool = False
    used_explicit: bool = False
    groups: int = 0

    def register(self, group: TaskGroup, id: int | None) -> int:
        self.open[group] = []
        self.groups += 1
        return self.groups if id is None else id

    def enroll(self, operation: Operation, wait: bool, group: TaskGroup | None) -> None:
        """Let `group`, or the end of the sequence, await and free a transfer."""
        if group is None:
            self.used_implicit = True
            self.implicit.append(_Pending(operation, wait))
            return
        self.used_explicit = True
        if group not in self.open:
            raise IronRuntimeError(
                f"{operation.location}: {group} is finished already; make a new TaskGroup"
            )
        self.open[group].append(_Pending(operation, wait))

    def finish(self, group: TaskGroup) -> None:
        self._close(self.open.pop(group, []), here())

    def close(self) -> None:
        """The end of the sequence; IronRuntimeError for groups left open or mixed styles."""
        if self.open:
            groups = ", ".join(map(str, self.open))
            raise IronRuntimeError(
                f"Failed to close task groups: {groups}; call finish() on each in the sequence"
            )
        if self.runtime.strict_task_groups and self.used_implicit and self.used_explicit:
            raise IronRuntimeError(
                "Mixing explicit task groups and the default task group is prohibited. Give every "
                f"transfer of {self.runtime.label} a group, or pass strict_task_groups=False"
            )
        self._close(self.implicit, None)

    def _close(self, pending: list[_Pending], where: Location | None) -> None:
        # A waited transfer is freed as well: a wait gives no descriptor back.
        self._check_reach(pending)
        verbs = [("aiex.dma_await_task", t) for t in pending if t.wait]
        verbs += [("aiex.dma_free_task", t) for t in pending]
        for name, task in verbs:
            operation = task.operation
            self.context.create(name, [operation.result], location=where or operation.location)

    def _check_reach(self, pending: list[_Pending]) -> None:
        blocks = set()
        block = self.context.builder.block
        while block is not None:
            blocks.add(id(block))
            op = block.region.owner if block.region is not None else None
            block = op.block if op is not None else None
        for task in pending:
            if id(task.operation.block) not in blocks:
                raise IronRuntimeError(
                    f"{task.operation.location}: the transfer is started in a loop or branch but "
                    "awaited or freed outside of it; finish its TaskGroup in the same body, or "
                    "use managed=False and Task.await_() and free()"
                )


def trace(context: DesignContext, runtime: Runtime) -> Operation:
    """The ``aie.runtime_sequence`` of a Runtime."""
    body = Block()
    sequence = Operation(
        "aie.runtime_sequence",
        (),
        (),
        {"sym_name": StringAttr("sequence")},
        [Region([body])],
        location=runtime.where,
    )
    context.active = active = ActiveSequence(runtime, context)
    with context.entered(Scope("sequence", runtime, runtime.label), body):
        names = _parameter_names(runtime.seq_fn)
        arguments = [
            _argument(active, body, arg, names[i] if i < len(names) else None)
            for i, arg in enumerate(runtime.fn_args)
        ]
        runtime.seq_fn(*arguments)
        active.close()
    return sequence


def _argument(active: ActiveSequence, body: Block, arg: Any, name: str | None) -> Any:
    if isinstance(arg, (list, tuple)):
        return type(arg)(_argument(active, body, a, None) for a in arg)
    if isinstance(arg, (int, np.integer)) and not isinstance(arg, bool):
        return wrap(
            active.context.create(
                "arith.constant",
                (),
                [I32],
                {"value": IntegerAttr(int(arg), I32)},
                location=active.runtime.where,
            ).result
        )
    if is_array_type(arg) and array_shape(arg):
        data = RuntimeData(arg, body.add_argument(ir_type(arg), name))
        active.data.append(data)
        return data
    if is_array_type(arg) or is_scalar_type(arg):
        return wrap(body.add_argument(_number(arg), name))
    return arg


def _number(annotation: Any) -> Type:
    type = ir_type(array_dtype(annotation) if is_array_type(annotation) else annotation)
    # Numbers have no sign in MLIR's arithmetic; the bits are the same.
    return IntegerType(type.width) if isinstance(type, IntegerType) else type


def _parameter_names(function: Callable[..., Any]) -> list[str | None]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name if p.name.isascii() else None for p in parameters if p.kind in kinds]
