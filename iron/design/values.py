"""Numbers a traced body computes with, with Python's operators.

Every operator appends an operation to the body being traced. Python numbers take the type of the
value they meet; nothing is narrowed in silence (`Scalar.astype` says so explicitly).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.attributes import BoolAttr, FloatAttr, IntegerAttr
from ..ir.core import Value
from ..ir.types import (
    F32,
    I1,
    I32,
    I64,
    INDEX,
    FloatType,
    IndexType,
    IntegerType,
    Type,
    bit_width,
)
from .context import DesignContext, emitting
from .dtypes import describe, ir_type, numpy_dtype

__all__ = ["Scalar", "as_index", "as_value", "constant", "unwrap"]

_INTEGER = {
    "+": "addi",
    "-": "subi",
    "*": "muli",
    "//": "floordivsi",
    "/": "divsi",
    "%": "remsi",
    "&": "andi",
    "|": "ori",
    "^": "xori",
    "<<": "shli",
    ">>": "shrsi",
}
_FLOAT = {"+": "addf", "-": "subf", "*": "mulf", "/": "divf", "%": "remf"}
# Numbers of arith.cmpi and arith.cmpf predicates; NaN is unequal to everything, as in Python.
_COMPARE_INTEGER = {"==": 0, "!=": 1, "<": 2, "<=": 3, ">": 4, ">=": 5}
_COMPARE_FLOAT = {"==": 1, ">": 2, ">=": 3, "<": 4, "<=": 5, "!=": 13}

Number = (int, float, bool, np.generic)


class Traced:
    """A value of the body being traced."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    @property
    def type(self) -> Type:
        """The MLIR type."""
        return self.value.type


class Scalar(Traced):
    """A number known only when the design runs."""

    __slots__ = ()

    @property
    def dtype(self) -> np.dtype[Any]:
        """Its type as a NumPy dtype."""
        return numpy_dtype(self.type)

    def astype(self, dtype: Any) -> Scalar:
        """Converted to a NumPy or MLIR scalar type: integers are sign-extended or cut, floats
        rounded, floats to integers cut towards zero."""
        return convert(self, ir_type(dtype))

    def __bool__(self) -> bool:
        raise TypeError(
            "a traced value is not known while the design is built, so Python cannot branch on "
            "it; write `with if_(condition) as branch: ...` and `with else_(branch): ...`"
        )

    def __index__(self) -> int:
        raise TypeError(
            "a traced value is not known while the design is built, so it cannot be used where "
            "Python needs an integer; loop with range_(...) instead of range(...)"
        )

    __int__ = __index__

    def __float__(self) -> float:
        raise TypeError("a traced value is not known while the design is built")

    def __add__(self, other: Any) -> Scalar:
        return binary("+", self, other)

    def __radd__(self, other: Any) -> Scalar:
        return binary("+", other, self)

    def __sub__(self, other: Any) -> Scalar:
        return binary("-", self, other)

    def __rsub__(self, other: Any) -> Scalar:
        return binary("-", other, self)

    def __mul__(self, other: Any) -> Scalar:
        return binary("*", self, other)

    def __rmul__(self, other: Any) -> Scalar:
        return binary("*", other, self)

    def __truediv__(self, other: Any) -> Scalar:
        """Of integers: the quotient cut towards zero, as the machine divides."""
        return binary("/", self, other)

    def __rtruediv__(self, other: Any) -> Scalar:
        return binary("/", other, self)

    def __floordiv__(self, other: Any) -> Scalar:
        return binary("//", self, other)

    def __rfloordiv__(self, other: Any) -> Scalar:
        return binary("//", other, self)

    def __mod__(self, other: Any) -> Scalar:
        """The remainder of ``/``: it has the sign of the dividend, unlike Python's."""
        return binary("%", self, other)

    def __rmod__(self, other: Any) -> Scalar:
        return binary("%", other, self)

    def __and__(self, other: Any) -> Scalar:
        return binary("&", self, other)

    def __rand__(self, other: Any) -> Scalar:
        return binary("&", other, self)

    def __or__(self, other: Any) -> Scalar:
        return binary("|", self, other)

    def __ror__(self, other: Any) -> Scalar:
        return binary("|", other, self)

    def __xor__(self, other: Any) -> Scalar:
        return binary("^", self, other)

    def __rxor__(self, other: Any) -> Scalar:
        return binary("^", other, self)

    def __lshift__(self, other: Any) -> Scalar:
        return binary("<<", self, other)

    def __rlshift__(self, other: Any) -> Scalar:
        return binary("<<", other, self)

    def __rshift__(self, other: Any) -> Scalar:
        return binary(">>", self, other)

    def __rrshift__(self, other: Any) -> Scalar:
        return binary(">>", other, self)

    def __neg__(self) -> Scalar:
        if isinstance(self.type, FloatType):
            context = emitting("-x was asked")
            return Scalar(context.create("arith.negf", [self.value], [self.type]).result)
        return binary("-", 0, self)

    def __pos__(self) -> Scalar:
        return self

    def __invert__(self) -> Scalar:
        return binary("^", self, True if self.type == I1 else -1)

    def __eq__(self, other: Any) -> Scalar:  # type: ignore[override]
        return compare("==", self, other)

    def __ne__(self, other: Any) -> Scalar:  # type: ignore[override]
        return compare("!=", self, other)

    def __lt__(self, other: Any) -> Scalar:
        return compare("<", self, other)

    def __le__(self, other: Any) -> Scalar:
        return compare("<=", self, other)

    def __gt__(self, other: Any) -> Scalar:
        return compare(">", self, other)

    def __ge__(self, other: Any) -> Scalar:
        return compare(">=", self, other)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<traced {describe(self.type)}>"


def unwrap(value: Any) -> Value:
    """The value of the IR behind a traced one; TypeError for anything else."""
    if isinstance(value, Traced):
        return value.value
    if isinstance(value, Value):
        return value
    raise TypeError(f"expected a traced value, found {value!r} of type {type(value).__name__}")


def constant(number: Any, type: Any = None) -> Scalar:
    """A number known now, of an MLIR or NumPy scalar type: by default its own for a NumPy scalar,
    i1 for a bool, f32 for a float, i32 for an int (i64 when it is too large). TypeError or
    OverflowError when the type cannot hold it."""
    context = emitting(f"the constant {number!r} was asked")
    type = _own_type(number) if type is None else ir_type(type)
    if isinstance(number, np.generic):
        number = number.item()
    attribute: BoolAttr | FloatAttr | IntegerAttr
    if isinstance(type, FloatType):
        attribute = FloatAttr(rounded(float(number), type), type)
    elif isinstance(number, float) and not number.is_integer():
        raise TypeError(f"{number!r} is no {describe(type)}: it has a fraction")
    elif type == I1:
        attribute = BoolAttr(bool(number))
    else:
        attribute = IntegerAttr(_fitting(int(number), type), type)
    result = context.create("arith.constant", (), [type], {"value": attribute}).result
    return Scalar(result)


def _own_type(number: Any) -> Type:
    if isinstance(number, (bool, np.bool_)):
        return I1
    if isinstance(number, np.generic):
        return ir_type(number.dtype)
    if isinstance(number, float):
        return F32
    return I32 if -(1 << 31) <= number < 1 << 31 else I64


def rounded(number: float, type: FloatType) -> float:
    """The nearest number `type` can hold."""
    return float(np.asarray(number, dtype=numpy_dtype(type)).astype(np.float64))


def _fitting(number: int, type: Type) -> int:
    if isinstance(type, IntegerType) and type.signedness:
        raise TypeError(
            f"{number} is wanted as {describe(type)}, but arithmetic has no unsigned numbers; "
            "declare the data signed, or work on it in a C++ kernel"
        )
    width = bit_width(type)
    if not -(1 << (width - 1)) <= number < (1 << width):
        raise OverflowError(f"{number} does not fit into {describe(type)}")
    return number - (1 << width) if number >= 1 << (width - 1) else number


def as_value(value: Any, type: Type, what: str) -> Value:
    """`value` as a `type`: numbers become constants, an index an integer. TypeError otherwise."""
    if isinstance(value, Number):
        return constant(value, type).value
    if not isinstance(value, (Traced, Value)):
        raise TypeError(f"{what} takes a number or a traced value, found {value!r}")
    found = unwrap(value)
    if found.type == type:
        return found
    if isinstance(found.type, IndexType) and isinstance(type, IntegerType):
        return convert(Scalar(found), type).value
    raise TypeError(
        f"{what} takes {describe(type)}, found a traced {describe(found.type)}; convert it with "
        ".astype(...)"
    )


def as_index(value: Any, what: str = "an index") -> Value:
    """`value` as an ``index``: a Python integer or a traced integer of any width."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return constant(int(value), INDEX).value
    if isinstance(value, (Traced, Value)):
        found = unwrap(value)
        if isinstance(found.type, IndexType):
            return found
        if isinstance(found.type, IntegerType):
            return convert(Scalar(found), INDEX).value
        raise TypeError(f"{what} is an integer, found a traced {describe(found.type)}")
    raise TypeError(f"{what} is an integer, found {value!r} of type {type(value).__name__}")


def convert(value: Scalar, to: Type) -> Scalar:
    """`value` with the arithmetic of `Scalar.astype`."""
    source = value.type
    if source == to:
        return value
    name = _conversion(source, to)
    if name is None:
        raise TypeError(f"there is no conversion from {describe(source)} to {describe(to)}")
    context = emitting("a conversion was asked")
    return Scalar(context.create(f"arith.{name}", [value.value], [to]).result)


def _conversion(source: Type, to: Type) -> str | None:
    if isinstance(source, IndexType) or isinstance(to, IndexType):
        both = all(isinstance(t, (IndexType, IntegerType)) for t in (source, to))
        return "index_cast" if both else None
    if any(isinstance(t, IntegerType) and t.signedness for t in (source, to)):
        return None
    if isinstance(source, IntegerType) and isinstance(to, IntegerType):
        if to.width < source.width:
            return "trunci"
        return "extui" if source.width == 1 else "extsi"
    if isinstance(source, FloatType) and isinstance(to, FloatType):
        if bit_width(to) == bit_width(source):
            return None
        return "truncf" if bit_width(to) < bit_width(source) else "extf"
    if isinstance(source, FloatType):
        return "fptosi"
    return "uitofp" if source == I1 else "sitofp"


def meet(left: Any, right: Any, what: str) -> tuple[Scalar, Scalar]:
    """Both operands with one type: numbers take the other's type, an index that of an integer."""
    if not isinstance(left, Scalar) and not isinstance(right, Scalar):
        raise TypeError(f"{what} needs a traced value, found {left!r} and {right!r}")
    for operand in (left, right):
        if not isinstance(operand, (Scalar, *Number)):
            raise TypeError(f"{what} takes numbers and traced values, found {operand!r}")
    if not isinstance(left, Scalar):
        return constant(left, right.type), right
    if not isinstance(right, Scalar):
        return left, constant(right, left.type)
    if left.type != right.type:
        if isinstance(left.type, IndexType) and isinstance(right.type, IntegerType):
            return convert(left, right.type), right
        if isinstance(right.type, IndexType) and isinstance(left.type, IntegerType):
            return left, convert(right, left.type)
        raise TypeError(
            f"{what} of {describe(left.type)} and {describe(right.type)}: convert one of them "
            "with .astype(...)"
        )
    return left, right


def _arithmetic(what: str, type: Type) -> None:
    if isinstance(type, IntegerType) and type.signedness:
        raise TypeError(
            f"{what} of {describe(type)}: MLIR's arithmetic has no unsigned types; declare the "
            "data signed, or work on it in a C++ kernel"
        )


def binary(sign: str, left: Any, right: Any) -> Scalar:
    """``left sign right`` as an operation of arith."""
    context = emitting(f"{sign} was applied to a traced value")
    a, b = meet(left, right, sign)
    _arithmetic(sign, a.type)
    table = _FLOAT if isinstance(a.type, FloatType) else _INTEGER
    if sign not in table:
        raise TypeError(f"{sign} is not defined for {describe(a.type)}")
    return Scalar(context.create(f"arith.{table[sign]}", [a.value, b.value], [a.type]).result)


def compare(sign: str, left: Any, right: Any) -> Scalar:
    """``left sign right`` as a traced truth value."""
    context = emitting(f"{sign} was applied to a traced value")
    a, b = meet(left, right, sign)
    _arithmetic(sign, a.type)
    return Scalar(compared(context, sign, a, b))


def compared(context: DesignContext, sign: str, a: Scalar, b: Scalar) -> Value:
    floats = isinstance(a.type, FloatType)
    number = (_COMPARE_FLOAT if floats else _COMPARE_INTEGER)[sign]
    name = "arith.cmpf" if floats else "arith.cmpi"
    predicate = {"predicate": IntegerAttr(number, I64)}
    return context.create(name, [a.value, b.value], [I1], predicate).result


def condition(value: Any) -> Value:
    """A traced truth value; a bool becomes a constant."""
    if isinstance(value, (bool, np.bool_)):
        return constant(bool(value), I1).value
    if isinstance(value, (Traced, Value)) and unwrap(value).type == I1:
        return unwrap(value)
    found = f"a traced {describe(value.type)}" if isinstance(value, Traced) else repr(value)
    raise TypeError(f"a condition is a comparison such as `x > 0`, found {found}")
