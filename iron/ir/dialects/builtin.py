"""The builtin dialect."""

from __future__ import annotations

from ..definition import OpDefinition as Op

ROWS = (
    Op(
        "builtin.module",
        "[? @sym_name ?] attributes {bodyRegion}",
        attributes="sym_name:name? sym_visibility:str?",
        regions="bodyRegion",
        traits="symbol table isolated free",
    ),
    Op(
        "builtin.unrealized_conversion_cast",
        "[? %inputs : type(inputs) ?] to type(outputs) attrs",
        operands="inputs:any*",
        results="outputs:any*",
    ),
)
