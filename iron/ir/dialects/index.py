"""The index dialect."""

from __future__ import annotations

from ..definition import OpDefinition as Op

_BINARY = (
    *("add", "sub", "mul", "divs", "divu", "ceildivs", "ceildivu", "floordivs", "rems", "remu"),
    *("maxs", "maxu", "mins", "minu", "shl", "shrs", "shru", "and", "or", "xor"),
)

ROWS = (
    *(
        Op(
            f"index.{name}",
            "%lhs, %rhs attrs",
            operands="lhs:index rhs:index",
            results="result:index",
        )
        for name in _BINARY
    ),
    Op("index.constant", "attrs $value", attributes="value:index", results="result:index"),
    *(
        Op(
            f"index.{name}",
            "%input attrs : type(input) to type(output)",
            operands="input:int",
            results="output:int",
        )
        for name in ("casts", "castu")
    ),
)
