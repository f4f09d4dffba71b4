"""Loops and branches of traced bodies. Each body is traced once, whatever the trip count.

``for i in range_(n):``, ``with if_(x > 0) as branch:``, ``with else_(branch):``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..ir.core import Block, Location, Operation, Region, Value
from ..ir.types import INDEX
from .context import DesignContext, emitting, here, told_place
from .memory import wrap
from .tasks import Task
from .values import Number, Traced, as_index, condition, unwrap

__all__ = ["else_", "if_", "range_", "yield_"]


def range_(
    *args: Any,
    iter_args: Sequence[Any] | None = None,
    insert_yield: bool = True,
    loc: Location | None = None,
    ip: None = None,
) -> Any:
    """``range`` of a traced body: ``range_(stop)``, ``range_(start, stop[, step])``.

    Bounds are integers, known or traced. The loop variable is an index. With `iter_args` the
    loop carries values: it gives ``(i, carried, results)``, where `carried` and `results` are
    single values for one argument and tuples for several, and the body ends with ``yield_``.
    A Task may be carried. `insert_yield` False leaves the end of the body to the caller. `loc` is
    the place that messages name, by default the caller's line; `ip` can only be None, since the
    loop is always written where it stands.

    TypeError for other bounds; leaving the body with break or return is an error of the design.
    """
    if not 1 <= len(args) <= 3:
        raise TypeError(f"range_ takes 1 to 3 bounds, found {len(args)}")
    start, stop, step = (0, *args, 1) if len(args) == 1 else (*args, 1)[:3]
    return _loop(start, stop, step, iter_args, insert_yield, told_place("range_", loc, ip))


def _loop(
    start: Any,
    stop: Any,
    step: Any,
    iter_args: Sequence[Any] | None,
    insert_yield: bool,
    told: Location | None,
) -> Iterator[Any]:
    context = emitting("range_ was used")
    where = told or here()
    what = "a bound of range_"
    _bounds_are_integers(start, stop, step)
    bounds = [as_index(b, what) for b in (start, stop, step)]
    carried = list(iter_args or ())
    values = [_carried_value(v) for v in carried]
    types = [v.type for v in values]
    body = Block([INDEX, *types])
    op = context.create(
        "scf.for", [*bounds, *values], types, None, [Region([body])], location=where
    )
    inner = [_like(v, a) for v, a in zip(carried, body.arguments[1:], strict=True)]
    results = [_like(v, r) for v, r in zip(carried, op.results, strict=True)]
    index = wrap(body.arguments[0])
    with context.builder.at(body):
        try:
            if len(carried) > 1:
                yield index, tuple(inner), tuple(results)
            elif carried:
                yield index, inner[0], results[0]
            else:
                yield index
        except GeneratorExit:
            context.broken_loops.append(where)
            raise
        _close(context, body, op, insert_yield)


def _bounds_are_integers(*bounds: Any) -> None:
    for b in bounds:
        if isinstance(b, (float, np.floating)):
            raise TypeError(f"a bound of range_ is an integer, found {b!r}")
    step = bounds[-1]
    if isinstance(step, (int, np.integer)) and step < 1:
        raise ValueError(
            f"the step of range_ is at least 1, found {step}; count up and compute the index from "
            "the loop variable"
        )


def _close(context: DesignContext, body: Block, op: Operation, insert_yield: bool) -> None:
    last = body.terminator
    if last is not None and last.name == "scf.yield":
        return
    if op.results:
        raise TypeError(
            f"the loop of {op.location} carries {len(op.results)} value(s) and must end with "
            "yield_([...]) of as many"
        )
    if insert_yield:
        context.create("scf.yield", location=op.location)


def _carried_value(value: Any) -> Value:
    if isinstance(value, Task):
        return unwrap(value.handle)
    if isinstance(value, Number):
        raise TypeError(
            f"iter_args takes traced values, found {value!r}; make it one with "
            "constant(value, dtype)"
        )
    return unwrap(value)


def _like(value: Any, carried: Value) -> Any:
    return Task(wrap(carried)) if isinstance(value, Task) else wrap(carried)


def yield_(values: Iterable[Any] | Any = ()) -> None:
    """End a loop body that carries values, with the values of the next round: one, or as many as
    the loop has `iter_args`. ScopeError outside of a traced body."""
    context = emitting("yield_ was used")
    if isinstance(values, (Traced, Task, Value)):
        values = [values]
    context.create("scf.yield", [_carried_value(v) for v in values])


@contextlib.contextmanager
def if_(cond: Any, hasElse: bool = True, insert_yield: bool = True) -> Iterator[Operation]:
    """What stands inside happens when the traced `cond` holds when the design runs.

    `cond` is a comparison of traced values. `hasElse` is accepted and means nothing here: the
    other branch exists when ``else_`` is used.
    """
    context = emitting("if_ was used")
    test = condition(cond)
    then = Block()
    op = context.create("scf.if", [test], (), None, [Region([then]), Region()])
    with context.builder.at(then):
        yield op
        if insert_yield:
            context.create("scf.yield", location=op.location)


@contextlib.contextmanager
def else_(if_op: Operation | None = None, insert_yield: bool = True) -> Iterator[None]:
    """The other branch of `if_op`, by default of the ``if_`` right before; TypeError when there is
    none, or it has one already."""
    context = emitting("else_ was used")
    block = context.builder.block
    assert block is not None
    op = if_op if if_op is not None else block.terminator
    if op is None or op.name != "scf.if":
        raise TypeError("else_ belongs right after an if_, or takes what `with if_(...) as x` gave")
    if op.regions[1].blocks:
        raise TypeError(f"the if_ of {op.location} has an else_ already")
    other = op.regions[1].add_block()
    with context.builder.at(other):
        yield
        if insert_yield:
            context.create("scf.yield", location=op.location)
