"""The func dialect."""

from __future__ import annotations

from ..definition import OpDefinition as Op

ROWS = (
    Op(
        "func.func",
        "!func.Signature()",
        attributes="""
            sym_name:name function_type:type sym_visibility:str? arg_attrs:array? res_attrs:array?
            link_with:str? no_inline:unit?
        """,
        regions="body:any?",
        traits="symbol isolated",
    ),
    Op(
        "func.call",
        "$callee (%operands) attrs : fn(operands; results)",
        operands="operands:any*",
        attributes="callee:sym no_inline:unit?",
        results="results:any*",
    ),
    Op("func.constant", "attrs $value : type(result)", attributes="value:sym", results="result"),
    Op(
        "func.return",
        "attrs [? operands : type(operands) ?]",
        operands="operands:any*",
        traits="terminator",
        parents="func.func",
    ),
)
