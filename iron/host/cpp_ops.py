"""How operations that only compute read in C++: a table from operation to expression.

Templates see the operands as ``{0}``, ``{1}``..., the result's type as ``{T}``, its unsigned
twin as ``{U}``, the unsigned twin of the first operand's type as ``{V}`` and the type in which
the C++ library computes as ``{F}``.
"""

from __future__ import annotations

import math

from iron.ir.attributes import Attribute, BoolAttr, DenseElementsAttr, FloatAttr, IntegerAttr
from iron.ir.core import Operation
from iron.ir.types import FloatType, IndexType, IntegerType, MemRefType, Type, VectorType

from .errors import refuse

FLOATS = {"bf16": "iron::bf16", "f16": "iron::f16", "f32": "float", "f64": "double"}


def ctype(op: Operation, type: Type) -> str:
    """The C++ type of a value; a memref is a pointer to its first element."""
    if isinstance(type, MemRefType):
        return f"{ctype(op, type.element)} *"
    if isinstance(type, VectorType):
        return f"iron::vec<{ctype(op, type.element)}, {type.size}>"
    if isinstance(type, IndexType):
        return "int64_t"
    if isinstance(type, IntegerType) and type.width == 1:
        return "bool"
    if isinstance(type, IntegerType) and type.width in (8, 16, 32, 64):
        return f"{'u' if type.signedness == 'u' else ''}int{type.width}_t"
    if isinstance(type, FloatType) and type.name in FLOATS:
        return FLOATS[type.name]
    raise refuse(op, f"the host target has no values of type {type}")


def unsigned(type: Type) -> str:
    if isinstance(type, IntegerType):
        return "bool" if type.width == 1 else f"uint{type.width}_t"
    return "uint64_t"


def literal(op: Operation, value: Attribute | None, type: Type) -> str:
    """A constant, written so that it has the type and value MLIR gives it."""
    if isinstance(value, DenseElementsAttr) and isinstance(type, VectorType):
        return vector_literal(op, value, type)
    if isinstance(value, BoolAttr) or (
        isinstance(value, IntegerAttr) and isinstance(type, IntegerType) and type.width == 1
    ):
        return "true" if value.value else "false"
    if isinstance(value, IntegerAttr):
        width = type.width if isinstance(type, IntegerType) else 64
        n = (value.value + (1 << (width - 1))) % (1 << width) - (1 << (width - 1))
        if n == -(1 << 63):
            return "INT64_MIN"
        if width == 64:
            return f"INT64_C({n})" if n < 0 or n >= 1 << 31 else str(n)
        return f"(int{width}_t){n}" if n < 0 or width < 32 else str(n)
    if isinstance(value, FloatAttr):
        return float_literal(ctype(op, type), value.value)
    raise refuse(op, f"the host target has no constants like {value}")


def vector_literal(op: Operation, value: DenseElementsAttr, type: VectorType) -> str:
    element = ctype(op, type.element)
    is_float = isinstance(type.element, FloatType)
    words = [
        literal(op, FloatAttr(float(v)) if is_float else IntegerAttr(int(v)), type.element)
        for v in value.values
    ]
    if value.is_splat or len(words) == 1:
        return f"iron::splat<{element}, {type.size}>({words[0]})"
    return f"iron::vec<{element}, {type.size}>{{{{{', '.join(words)}}}}}"


def float_literal(c: str, value: float) -> str:
    plain = "double" if c == "double" else "float"
    if math.isnan(value):
        text = f"std::numeric_limits<{plain}>::quiet_NaN()"
    elif math.isinf(value):
        text = f"{'-' if value < 0 else ''}std::numeric_limits<{plain}>::infinity()"
    else:
        text = repr(float(value)) + ("" if plain == "double" else "f")
        if "e" not in text and "." not in text:
            text = text.replace("f", ".0f")
    if c != plain:
        return f"{c}({text})"
    return f"({text})" if text.startswith("-") else text


TEMPLATES: dict[str, str] = {
    "arith.addi": "({T})({0} + {1})",
    "arith.subi": "({T})({0} - {1})",
    "arith.muli": "({T})({0} * {1})",
    "arith.divsi": "({T})({0} / {1})",
    "arith.remsi": "({T})({0} % {1})",
    "arith.divui": "({T})(({V}){0} / ({V}){1})",
    "arith.remui": "({T})(({V}){0} % ({V}){1})",
    "arith.ceildivsi": "iron::ceil_div<{T}>({0}, {1})",
    "arith.floordivsi": "iron::floor_div<{T}>({0}, {1})",
    "arith.ceildivui": "iron::ceil_div<{V}>({0}, {1})",
    "arith.andi": "({T})({0} & {1})",
    "arith.ori": "({T})({0} | {1})",
    "arith.xori": "({T})({0} ^ {1})",
    "arith.shli": "({T})(({V}){0} << ({V}){1})",
    "arith.shrsi": "({T})({0} >> {1})",
    "arith.shrui": "({T})(({V}){0} >> ({V}){1})",
    "arith.maxsi": "({0} > {1} ? {0} : {1})",
    "arith.minsi": "({0} < {1} ? {0} : {1})",
    "arith.maxui": "(({V}){0} > ({V}){1} ? {0} : {1})",
    "arith.minui": "(({V}){0} < ({V}){1} ? {0} : {1})",
    "arith.addf": "({T})({0} + {1})",
    "arith.subf": "({T})({0} - {1})",
    "arith.mulf": "({T})({0} * {1})",
    "arith.divf": "({T})({0} / {1})",
    "arith.remf": "({T})std::fmod(({F}){0}, ({F}){1})",
    "arith.negf": "({T})(-{0})",
    "arith.maximumf": "iron::maximum<{T}>({0}, {1})",
    "arith.minimumf": "iron::minimum<{T}>({0}, {1})",
    "arith.maxnumf": "iron::maxnum<{T}>({0}, {1})",
    "arith.minnumf": "iron::minnum<{T}>({0}, {1})",
    "arith.select": "({0} ? {1} : {2})",
    "arith.extui": "({T})({V}){0}",
    "arith.extsi": "({T}){0}",
    "arith.trunci": "({T}){0}",
    "arith.extf": "({T}){0}",
    "arith.truncf": "({T}){0}",
    "arith.sitofp": "({T}){0}",
    "arith.uitofp": "({T})({V}){0}",
    "arith.fptosi": "({T}){0}",
    "arith.fptoui": "({T})({U}){0}",
    "arith.index_cast": "({T}){0}",
    "arith.index_castui": "({T})({V}){0}",
    "arith.bitcast": "iron::bit_cast<{T}>({0})",
    "math.absi": "({T})({0} < 0 ? -{0} : {0})",
    "math.fma": "({T})std::fma(({F}){0}, ({F}){1}, ({F}){2})",
    "math.rsqrt": "({T})(({F})1 / std::sqrt(({F}){0}))",
    "math.roundeven": "({T})std::nearbyint(({F}){0})",
    "math.absf": "({T})std::fabs(({F}){0})",
    "math.powf": "({T})std::pow(({F}){0}, ({F}){1})",
    "math.atan2": "({T})std::atan2(({F}){0}, ({F}){1})",
    "math.copysign": "({T})std::copysign(({F}){0}, ({F}){1})",
}
TEMPLATES |= {
    f"math.{name}": f"({{T}})std::{name}(({{F}}){{0}})"
    for name in [
        "sqrt",
        "cbrt",
        "exp",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
        "asin",
        "acos",
        "atan",
        "erf",
        "floor",
        "ceil",
        "trunc",
        "round",
    ]
}

_SIGNED = ("==", "!=", "<", "<=", ">", ">=")
_FLOAT_COMPARISONS = (  # by number of arith.cmpf's predicate
    "false",
    "({0} == {1})",
    "({0} > {1})",
    "({0} >= {1})",
    "({0} < {1})",
    "({0} <= {1})",
    "({0} < {1} || {0} > {1})",
    "({0} == {0} && {1} == {1})",
    "!({0} < {1} || {0} > {1})",
    "!({0} <= {1})",
    "!({0} < {1})",
    "!({0} >= {1})",
    "!({0} > {1})",
    "({0} != {1})",
    "({0} != {0} || {1} != {1})",
    "true",
)


def template_of(op: Operation) -> str | None:
    """The expression of an operation with one result; None when it is none of these."""
    name = op.name
    if name == "arith.cmpi":
        predicate = op.attributes["predicate"]
        assert isinstance(predicate, IntegerAttr)
        n = predicate.value
        if n < 6:
            return f"({{0}} {_SIGNED[n]} {{1}})"
        return f"(({{V}}){{0}} {_SIGNED[n - 4]} ({{V}}){{1}})"  # 6 ult, 7 ule, 8 ugt, 9 uge
    if name == "arith.cmpf":
        predicate = op.attributes["predicate"]
        assert isinstance(predicate, IntegerAttr)
        return _FLOAT_COMPARISONS[predicate.value]
    type = op.results[0].type if op.results else None
    if isinstance(type, VectorType):
        type = type.element
    if isinstance(type, IntegerType) and type.width == 1:
        if name in ("arith.addi", "arith.subi"):
            return "({0} != {1})"
        if name == "arith.muli":
            return "({0} && {1})"
        if name in ("arith.trunci", "arith.index_cast"):
            return "(bool)({0} & 1)"
    first = op.operands[0].type if op.operands else None
    if isinstance(first, VectorType):
        first = first.element
    if name in ("arith.extsi", "arith.sitofp") and first == IntegerType(1):
        return "({T})-(int){0}"
    return TEMPLATES.get(name)
