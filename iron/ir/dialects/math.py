"""The math dialect: functions of one, two or three numbers of one type."""

from __future__ import annotations

from ..definition import OpDefinition as Op

_UNARY = (
    *("absf", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh"),
    *("erf", "erfc", "exp", "exp2", "expm1", "floor", "log", "log10", "log1p", "log2", "round"),
    *("roundeven", "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
)
_UNARY_INTEGER = ("absi", "ctlz", "cttz", "ctpop")
_BINARY = ("atan2", "copysign", "powf")
_FLAGS = "!common.Flags(fastmath, fastmath)"

ROWS = (
    *(
        Op(
            f"math.{name}",
            f"%operand {_FLAGS} attrs : type(result)",
            operands="operand:=result",
            attributes="fastmath:any?",
            results="result:floatlike",
        )
        for name in _UNARY
    ),
    *(
        Op(
            f"math.{name}",
            "%operand attrs : type(result)",
            operands="operand:=result",
            results="result:intlike",
        )
        for name in _UNARY_INTEGER
    ),
    *(
        Op(
            f"math.{name}",
            f"%lhs, %rhs {_FLAGS} attrs : type(result)",
            operands="lhs:=result rhs:=result",
            attributes="fastmath:any?",
            results="result:floatlike",
        )
        for name in _BINARY
    ),
    Op(
        "math.ipowi",
        "%lhs, %rhs attrs : type(result)",
        operands="lhs:=result rhs:=result",
        results="result:intlike",
    ),
    Op(
        "math.fpowi",
        f"%lhs, %rhs {_FLAGS} attrs : type(lhs), type(rhs)",
        operands="lhs:floatlike rhs:intlike",
        attributes="fastmath:any?",
        results="result:=lhs",
    ),
    Op(
        "math.fma",
        f"%a, %b, %c {_FLAGS} attrs : type(result)",
        operands="a:=result b:=result c:=result",
        attributes="fastmath:any?",
        results="result:floatlike",
    ),
)
