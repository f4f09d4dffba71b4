"""The affine dialect."""

from __future__ import annotations

from ..definition import OpDefinition as Op

ROWS = (
    Op(
        "affine.for",
        "!affine.For() attrs",
        operands="lowerBoundOperands:index* upperBoundOperands:index* inits:any*",
        attributes="lowerBoundMap:map upperBoundMap:map step:index",
        results="results:any*",
        regions="region",
        terminator="affine.yield",
    ),
    Op(
        "affine.load",
        "%memref & !affine.Subscripts() attrs : type(memref)",
        operands="memref:memref indices:index*",
        attributes="map:map",
        results="result:elem(memref)",
    ),
    Op(
        "affine.store",
        "%value, %memref & !affine.Subscripts() attrs : type(memref)",
        operands="value:elem(memref) memref:memref indices:index*",
        attributes="map:map",
    ),
    Op(
        "affine.vector_load",
        "%memref & !affine.Subscripts() attrs : type(memref), type(result)",
        operands="memref:memref indices:index*",
        attributes="map:map",
        results="result:vector",
    ),
    Op(
        "affine.vector_store",
        "%value, %memref & !affine.Subscripts() attrs : type(memref), type(value)",
        operands="value:vector memref:memref indices:index*",
        attributes="map:map",
    ),
    *(
        Op(
            f"affine.{name}",
            "!affine.MapApply() attrs",
            operands="mapOperands:index*",
            attributes="map:map",
            results="result:index",
        )
        for name in ("apply", "min", "max")
    ),
    Op(
        "affine.yield",
        "attrs [? operands : type(operands) ?]",
        operands="operands:any*",
        traits="terminator",
        parents="affine.for affine.if affine.parallel",
    ),
)
