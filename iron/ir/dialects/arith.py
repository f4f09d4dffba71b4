"""The arith dialect."""

from __future__ import annotations

from ..definition import OpDefinition as Op

_INTEGER = (
    *("divsi", "divui", "ceildivsi", "ceildivui", "floordivsi", "remsi", "remui"),
    *("andi", "ori", "xori", "maxsi", "maxui", "minsi", "minui"),
)
_OVERFLOWING = ("addi", "subi", "muli", "shli")
_EXACT = ("shrsi", "shrui")
_FLOAT = (
    *("addf", "subf", "mulf", "divf", "remf"),
    *("maximumf", "minimumf", "maxnumf", "minnumf", "maxf", "minf"),
)
_CASTS = {
    "extsi": ("intlike", "intlike"),
    "extui": ("intlike", "intlike"),
    "trunci": ("intlike", "intlike"),
    "index_cast": ("any", "any"),
    "index_castui": ("any", "any"),
    "bitcast": ("any", "any"),
    "sitofp": ("intlike", "floatlike"),
    "uitofp": ("intlike", "floatlike"),
    "fptosi": ("floatlike", "intlike"),
    "fptoui": ("floatlike", "intlike"),
    "extf": ("floatlike", "floatlike"),
}


def _binary(name: str, family: str, flags: str = "", attributes: str = "") -> Op:
    return Op(
        f"arith.{name}",
        f"%lhs, %rhs {flags} attrs : type(result)",
        operands="lhs:=result rhs:=result",
        attributes=attributes,
        results=f"result:{family}",
    )


ROWS = (
    Op(
        "arith.constant",
        "attrs !common.Constant()",
        attributes="value:any",
        results="result:any",
    ),
    *(_binary(n, "intlike") for n in _INTEGER),
    *(
        _binary(n, "intlike", "!common.Flags(overflowFlags, overflow)", "overflowFlags:any?")
        for n in _OVERFLOWING
    ),
    *(_binary(n, "intlike", "!common.Flag(isExact, exact)", "isExact:unit?") for n in _EXACT),
    *(
        _binary(n, "floatlike", "!common.Flags(fastmath, fastmath)", "fastmath:any?")
        for n in _FLOAT
    ),
    Op(
        "arith.negf",
        "%operand !common.Flags(fastmath, fastmath) attrs : type(result)",
        operands="operand:=result",
        attributes="fastmath:any?",
        results="result:floatlike",
    ),
    *(
        Op(
            f"arith.{name}",
            "%in attrs : type(in) to type(out)",
            operands=f"in:{source}",
            attributes="fastmath:any?",
            results=f"out:{target}",
        )
        for name, (source, target) in _CASTS.items()
    ),
    Op(
        "arith.truncf",
        "%in !arith.Rounding() !common.Flags(fastmath, fastmath) attrs : type(in) to type(out)",
        operands="in:floatlike",
        attributes="roundingmode:any? fastmath:any?",
        results="out:floatlike",
    ),
    Op(
        "arith.cmpi",
        "$predicate, %lhs, %rhs attrs : type(lhs)",
        operands="lhs:intlike rhs:=lhs",
        attributes="predicate:CmpIPredicate",
        results="result:i1(lhs)",
    ),
    Op(
        "arith.cmpf",
        "$predicate, %lhs, %rhs !common.Flags(fastmath, fastmath) attrs : type(lhs)",
        operands="lhs:floatlike rhs:=lhs",
        attributes="predicate:CmpFPredicate fastmath:any?",
        results="result:i1(lhs)",
    ),
    Op(
        "arith.select",
        "%condition, %true_value, %false_value attrs : !arith.SelectTypes()",
        operands="condition:intlike true_value:=result false_value:=result",
        results="result:any",
    ),
    *(
        Op(
            f"arith.{name}",
            "%lhs, %rhs attrs : type(lhs)",
            operands="lhs:intlike rhs:=lhs",
            results="low:=lhs high:=lhs",
        )
        for name in ("mulsi_extended", "mului_extended")
    ),
    Op(
        "arith.addui_extended",
        "%lhs, %rhs attrs : type(lhs), type(overflow)",
        operands="lhs:intlike rhs:=lhs",
        results="sum:=lhs overflow:any",
    ),
)
