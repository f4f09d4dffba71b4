"""Arithmetic: constants and casts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..attributes import DenseElementsAttr, IntegerAttr
from ..core import Operation
from ..directives.common import attribute_type
from ..types import IndexType, IntegerType, ShapedType, Type, bit_width

if TYPE_CHECKING:
    from ..verifier import Check


def _constant(op: Operation, check: Check) -> None:
    value = op.attributes["value"]
    type = attribute_type(value)
    if type != op.result.type:
        check.fault(
            op,
            f"attribute 'value' is {value}, of type {type}, the result is of type {op.result.type}",
        )
    elif isinstance(value, IntegerAttr) and not _representable(value.value, type):
        check.fault(op, f"attribute 'value' is {value.value}, which does not fit {type}")
    elif isinstance(value, DenseElementsAttr) and len(value.values) not in (1, value.type.size):
        check.fault(
            op, f"attribute 'value' has {len(value.values)} elements, {type} has {value.type.size}"
        )


def _representable(number: int, type: Type | None) -> bool:
    """Whether the number is one of the type, read as signed or as unsigned."""
    width = type.width if isinstance(type, IntegerType) else 64
    return -(1 << (width - 1)) <= number < (1 << width) if width else number == 0


def _scalar(type: Type) -> Type:
    return type.element if isinstance(type, ShapedType) else type


def _shape(type: Type) -> tuple[int, ...] | None:
    return type.shape if isinstance(type, ShapedType) else None


def _cast(op: Operation, check: Check) -> None:
    source, target = op.operands[0].type, op.results[0].type
    if _shape(source) != _shape(target):
        check.fault(op, f"casts {source} to {target}, which differs in shape")
        return
    a, b = _scalar(source), _scalar(target)
    word = op.name.partition(".")[2]
    if word in ("index_cast", "index_castui"):
        if isinstance(a, IndexType) == isinstance(b, IndexType):
            check.fault(op, f"casts {source} to {target}: one of them must be index")
        return
    try:
        left, right = bit_width(a), bit_width(b)
    except ValueError:
        return
    if word in ("extsi", "extui", "extf") and left >= right:
        check.fault(op, f"casts {source} to {target}, a wider type is expected")
    if word in ("trunci", "truncf") and left <= right:
        check.fault(op, f"casts {source} to {target}, a narrower type is expected")
    if word == "bitcast" and left != right:
        check.fault(op, f"casts {source} to {target}, which differs in width")


def _select(op: Operation, check: Check) -> None:
    condition = op.operands[0].type
    if not isinstance(_scalar(condition), IntegerType) or bit_width(_scalar(condition)) != 1:
        check.fault(
            op, f"operand 'condition' is of type {condition}, i1 or a shape of it is expected"
        )


RULES = {
    "arith.constant": (_constant,),
    "arith.select": (_select,),
    **{
        f"arith.{name}": (_cast,)
        for name in (
            *("extsi", "extui", "extf", "trunci", "truncf", "bitcast", "index_cast"),
            *("index_castui", "sitofp", "uitofp", "fptosi", "fptoui"),
        )
    },
}
