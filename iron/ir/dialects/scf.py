"""The scf dialect."""

from __future__ import annotations

from ..definition import OpDefinition as Op

ROWS = (
    Op(
        "scf.for",
        "!scf.For() attrs",
        operands="lowerBound:int upperBound:=lowerBound step:=lowerBound initArgs:any*",
        attributes="unsignedCmp:unit?",
        results="results:any*",
        regions="region",
        terminator="scf.yield",
    ),
    Op(
        "scf.if",
        "!scf.If() attrs",
        operands="condition:i1",
        results="results:any*",
        regions="thenRegion elseRegion:any?",
        terminator="scf.yield",
    ),
    Op(
        "scf.while",
        "!scf.While()",
        operands="inits:any*",
        results="results:any*",
        regions="before after",
    ),
    Op(
        "scf.condition",
        "(%condition) attrs [? %args : type(args) ?]",
        operands="condition:i1 args:any*",
        traits="terminator",
        parents="scf.while",
    ),
    Op(
        "scf.index_switch",
        "!scf.IndexSwitch()",
        operands="arg:index",
        attributes="cases:dense:i64",
        results="results:any*",
        regions="defaultRegion caseRegions:any*",
        terminator="scf.yield",
    ),
    Op(
        "scf.parallel",
        "!scf.Parallel() attrs",
        operands="lowerBound:index* upperBound:index* step:index* initVals:any*",
        results="results:any*",
        regions="region",
        terminator="scf.reduce",
    ),
    Op(
        "scf.execute_region",
        "[? -> type(results) ?] {region} attrs",
        results="results:any*",
        regions="region",
    ),
    Op(
        "scf.yield",
        "attrs [? %results : type(results) ?]",
        operands="results:any*",
        traits="terminator",
        parents="scf.for scf.if scf.while scf.index_switch scf.execute_region scf.parallel",
    ),
    Op("scf.reduce", "attrs", operands="operands:any*", traits="terminator"),
)
