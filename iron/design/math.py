"""Functions of traced numbers: ``exp``, ``sqrt``, ``maximum``, ``select`` and their like."""

from __future__ import annotations

from typing import Any

from ..ir.types import FloatType, IntegerType
from .context import emitting
from .dtypes import describe
from .values import Scalar, condition, meet

__all__ = [
    "absolute", "ceil", "cos", "erf", "exp", "exp2", "floor", "log", "log2", "maximum", "minimum",
    "power", "rsqrt", "select", "sin", "sqrt", "tanh",
]  # fmt: skip


def _float(name: str, value: Any) -> Scalar:
    if not isinstance(value, Scalar) or not isinstance(value.type, FloatType):
        found = describe(value.type) if isinstance(value, Scalar) else repr(value)
        raise TypeError(f"{name} takes a traced floating-point number, found {found}")
    context = emitting(f"{name} was used")
    return Scalar(context.create(f"math.{name}", [value.value], [value.type]).result)


def exp(x: Any) -> Scalar:
    """e to the power of `x`."""
    return _float("exp", x)


def exp2(x: Any) -> Scalar:
    """2 to the power of `x`."""
    return _float("exp2", x)


def log(x: Any) -> Scalar:
    """The natural logarithm."""
    return _float("log", x)


def log2(x: Any) -> Scalar:
    """The logarithm to base 2."""
    return _float("log2", x)


def sqrt(x: Any) -> Scalar:
    """The square root."""
    return _float("sqrt", x)


def rsqrt(x: Any) -> Scalar:
    """1 over the square root."""
    return _float("rsqrt", x)


def sin(x: Any) -> Scalar:
    """The sine."""
    return _float("sin", x)


def cos(x: Any) -> Scalar:
    """The cosine."""
    return _float("cos", x)


def tanh(x: Any) -> Scalar:
    """The hyperbolic tangent."""
    return _float("tanh", x)


def erf(x: Any) -> Scalar:
    """The error function."""
    return _float("erf", x)


def floor(x: Any) -> Scalar:
    """The largest whole number not above `x`."""
    return _float("floor", x)


def ceil(x: Any) -> Scalar:
    """The smallest whole number not below `x`."""
    return _float("ceil", x)


def absolute(x: Any) -> Scalar:
    """The absolute value of an integer or float."""
    if isinstance(x, Scalar) and isinstance(x.type, IntegerType) and not x.type.signedness:
        context = emitting("absolute was used")
        return Scalar(context.create("math.absi", [x.value], [x.type]).result)
    return _float("absf", x)


def power(x: Any, y: Any) -> Scalar:
    """`x` to the power of `y`, of floats."""
    a, b = meet(x, y, "power")
    if not isinstance(a.type, FloatType):
        raise TypeError(f"power takes floating-point numbers, found {describe(a.type)}")
    context = emitting("power was used")
    return Scalar(context.create("math.powf", [a.value, b.value], [a.type]).result)


def maximum(x: Any, y: Any) -> Scalar:
    """The larger number; NaN when either is."""
    return _extreme("max", x, y)


def minimum(x: Any, y: Any) -> Scalar:
    """The smaller number; NaN when either is."""
    return _extreme("min", x, y)


def _extreme(which: str, x: Any, y: Any) -> Scalar:
    a, b = meet(x, y, f"{which}imum")
    suffix = "imumf" if isinstance(a.type, FloatType) else "si"
    context = emitting(f"{which}imum was used")
    return Scalar(context.create(f"arith.{which}{suffix}", [a.value, b.value], [a.type]).result)


def select(test: Any, x: Any, y: Any) -> Scalar:
    """`x` where the traced `test` holds, else `y`; both are computed."""
    a, b = meet(x, y, "select")
    context = emitting("select was used")
    op = context.create("arith.select", [condition(test), a.value, b.value], [a.type])
    return Scalar(op.result)
