"""Kernels written in Python: ``@func`` traces the function once per design, cores call it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

from ..ir.attributes import StringAttr, SymbolRefAttr, TypeAttr
from ..ir.core import Block, Location, Operation, Region, Value
from ..ir.types import FunctionType
from .context import DesignContext, Scope, place_of, told_place
from .kernel import BaseKernel
from .memory import wrap
from .values import unwrap


class PythonFunction(BaseKernel):
    """A traced function. Every parameter is annotated with its type, as for a Kernel; what it
    returns are traced values. Calls are checked as those of a Kernel."""

    kind = "func"

    def __init__(self, body: Callable[..., Any], scope: dict[str, Any] | None = None) -> None:
        self.body = self.__wrapped__ = body
        super().__init__(body.__name__, _annotations(body, scope))
        self.where = place_of(body)
        self.__name__ = body.__name__
        self.__doc__ = body.__doc__

    def identity(self) -> tuple[Any, ...]:
        return (type(self).__name__, self._name, self.types, id(self.body))

    def __iron_key__(self) -> tuple[Any, ...]:
        return (type(self).__name__, self._name, self.types, self.body)

    def definition(self, context: DesignContext) -> Operation:
        """The ``func.func`` with its body."""
        block = Block(self.types)
        scope = Scope("function", self, f"func {self._name!r} ({self.where})")
        with context.entered(scope, block):
            returned = self.body(*(wrap(a) for a in block.arguments))
            values = _values(returned)
            context.create("func.return", values, location=self.where)
        type = FunctionType(self.types, tuple(v.type for v in values))
        attributes = {"sym_name": StringAttr(self._name), "function_type": TypeAttr(type)}
        return Operation("func.func", (), (), attributes, [Region([block])], location=self.where)

    def __call__(self, *args: Any, loc: Location | None = None, ip: None = None) -> Any:
        """Call it from the core being traced; what it returns, traced. `loc` and `ip` are as of
        `range_`."""
        where = told_place(f"{self.kind} {self._name!r}", loc, ip)
        context, operands = self.operands(args)
        context.functions.declare(context, self)
        type = context.functions.operations[self._name].attributes["function_type"]
        assert isinstance(type, TypeAttr)
        assert isinstance(type.type, FunctionType)
        callee = {"callee": SymbolRefAttr((self._name,))}
        op = context.create("func.call", operands, type.type.results, callee, location=where)
        results = tuple(wrap(r) for r in op.results)
        return results if len(results) > 1 else results[0] if results else None


def func(body: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Make a Python function a kernel: ``@func`` above a function with annotated parameters.

    Annotations are array types or NumPy scalar types, TypeError where there is none. The body is
    traced once per design; cores call it as they call a `Kernel`, and get what it returns, traced.
    `options` of MLIR's builder are accepted and mean nothing here.
    """
    scope = sys._getframe(1).f_locals
    if body is None:
        return lambda body: PythonFunction(body, scope)
    return PythonFunction(body, scope)


def _annotations(body: Callable[..., Any], scope: dict[str, Any] | None) -> list[Any]:
    signature = inspect.signature(body, eval_str=True, locals=scope)
    missing = [
        p.name for p in signature.parameters.values() if p.annotation is inspect.Parameter.empty
    ]
    if missing:
        raise TypeError(
            f"func {body.__name__!r} ({place_of(body)}): parameters {', '.join(missing)} have no "
            "type; annotate them, e.g. np.ndarray[(16,), np.dtype[np.int32]] or np.int32"
        )
    return [p.annotation for p in signature.parameters.values()]


def _values(returned: Any) -> list[Value]:
    if returned is None:
        return []
    return [unwrap(v) for v in (returned if isinstance(returned, (tuple, list)) else (returned,))]
