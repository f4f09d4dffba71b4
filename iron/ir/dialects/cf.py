"""The cf dialect: branches between blocks."""

from __future__ import annotations

from ..definition import OpDefinition as Op

ROWS = (
    Op("cf.br", "!common.Target(dest) attrs", successors="dest", traits="terminator forward"),
    Op(
        "cf.cond_br",
        "%condition [? weights ( $branch_weights ) ?], !common.Target(trueDest), "
        "!common.Target(falseDest) attrs",
        operands="condition:i1",
        attributes="branch_weights:dense:i32?",
        successors="trueDest falseDest",
        traits="terminator forward",
    ),
    Op("cf.assert", "%arg, $msg attrs", operands="arg:i1", attributes="msg:str"),
)
