"""``aie.dialects.arith``: arithmetic of traced bodies by name, where operators are not used."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..design.dtypes import ir_type
from ..design.values import Scalar, binary, compare, convert, unwrap
from ..design.values import constant as known
from ..ir.dialects.enums import CmpIPredicate
from ..ir.types import I32, INDEX, Type

_SIGNS = {
    CmpIPredicate.eq: "==",
    CmpIPredicate.ne: "!=",
    CmpIPredicate.slt: "<",
    CmpIPredicate.sle: "<=",
    CmpIPredicate.sgt: ">",
    CmpIPredicate.sge: ">=",
}


def cmpi(predicate: CmpIPredicate | int | str, lhs: Any, rhs: Any) -> Scalar:
    """A signed comparison of integers; NotImplementedError for an unsigned one."""
    found = CmpIPredicate[predicate] if isinstance(predicate, str) else CmpIPredicate(predicate)
    if found not in _SIGNS:
        raise NotImplementedError(f"cmpi: traced integers are signed, {found.name} is not")
    return compare(_SIGNS[found], _scalar(lhs), _scalar(rhs))


def index_cast(value: Any, to: Any = None, *, out: Any = None) -> Scalar:
    """An index as an integer (i32 unless `to` says another) or an integer as an index."""
    scalar = _scalar(value)
    target = out if to is None else to
    if target is None:
        target = I32 if scalar.type == INDEX else INDEX
    return convert(scalar, _type(target))


def _type(given: Any) -> Type:
    """A type, or what a function such as ``T.i32`` gives."""
    return ir_type(given() if isinstance(given, FunctionType) else given)


def _scalar(value: Any) -> Any:
    return value if isinstance(value, (int, float, Scalar)) else Scalar(unwrap(value))


def _operator(sign: str, doc: str) -> Callable[..., Scalar]:
    def operation(lhs: Any, rhs: Any) -> Scalar:
        return binary(sign, _scalar(lhs), _scalar(rhs))

    operation.__doc__ = doc
    return operation


def extsi(to: Any, value: Any) -> Scalar:
    """A signed integer in a wider type; type and value come in either order."""
    return _converted(to, value)


def trunci(to: Any, value: Any) -> Scalar:
    """An integer cut to a narrower type; type and value come in either order."""
    return _converted(to, value)


def _converted(to: Any, value: Any) -> Scalar:
    if isinstance(to, Scalar) or hasattr(to, "owner"):
        to, value = value, to
    return convert(_scalar(value), _type(to))


addi = addf = _operator("+", "A sum.")
subi = subf = _operator("-", "A difference.")
muli = mulf = _operator("*", "A product.")
divsi = _operator("/", "A quotient of integers, cut towards zero.")
floordivsi = _operator("//", "A quotient of integers, rounded down.")
andi = _operator("&", "Bitwise and.")
ori = _operator("|", "Bitwise or.")
xori = _operator("^", "Bitwise exclusive or.")


def constant(value: Any, type: Any = None, *, index: bool = False) -> Scalar:
    """A number as a traced value; type and value may come in either order, as they do in
    mlir-aie's two modules of this name."""
    if not isinstance(value, (int, float)):
        value, type = type, value
    if index:
        type = INDEX
    return known(value, None if type is None else _type(type))


__all__ = [
    *("CmpIPredicate", "addf", "addi", "andi", "cmpi", "constant", "divsi", "extsi"),
    *("floordivsi", "index_cast", "mulf", "muli", "trunci"),
    *("ori", "subf", "subi", "xori"),
]
