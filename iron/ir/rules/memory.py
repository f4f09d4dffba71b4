"""Memory: accesses, views and globals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..attributes import DenseArrayAttr, DenseElementsAttr, SymbolRefAttr, TypeAttr
from ..core import Operation
from ..definition import operand_slice
from ..directives.common import DYNAMIC_INDEX
from ..types import DYNAMIC, MemRefType, ShapedType

if TYPE_CHECKING:
    from ..verifier import Check


def _access(op: Operation, check: Check) -> None:
    if op.definition is None:
        return
    names = {p.name for p in op.definition.operands}
    base = op.operands[operand_slice(op, "memref" if "memref" in names else "base")][0].type
    count = len(op.operands[operand_slice(op, "indices")])
    if isinstance(base, ShapedType) and base.rank != count:
        check.fault(op, f"{count} 'indices' are given, {base} takes {base.rank}")


def _view(op: Operation, check: Check) -> None:
    """Offsets, sizes and strides: as many dynamic ones as values."""
    for name in ("offsets", "sizes", "strides"):
        static = op.attributes[f"static_{name}"]
        values = op.operands[operand_slice(op, name)]
        assert isinstance(static, DenseArrayAttr)
        dynamic = sum(1 for v in static.values if v == DYNAMIC_INDEX)
        if dynamic != len(values):
            check.fault(
                op, f"'static_{name}' leaves {dynamic} open, {len(values)} '{name}' are given"
            )


def _subview(op: Operation, check: Check) -> None:
    source = op.operands[0].type
    static = op.attributes["static_offsets"]
    assert isinstance(static, DenseArrayAttr)
    if isinstance(source, ShapedType) and len(static.values) != source.rank:
        check.fault(op, f"{len(static.values)} offsets are given, {source} has rank {source.rank}")


def _global(op: Operation, check: Check) -> None:
    attribute = op.attributes["type"]
    value = op.attributes.get("initial_value")
    type = attribute.type if isinstance(attribute, TypeAttr) else None
    if not isinstance(type, MemRefType):
        check.fault(op, f"attribute 'type' is {attribute}, a memref is expected")
    elif isinstance(value, DenseElementsAttr) and (
        value.type.shape != type.shape or value.type.element != type.element
    ):
        check.fault(op, f"attribute 'initial_value' is of type {value.type}, the global of {type}")


def _get_global(op: Operation, check: Check) -> None:
    name = op.attributes["name"]
    assert isinstance(name, SymbolRefAttr)
    found = check.symbols.resolve(op, name.path)
    attribute = found.attributes.get("type") if found is not None else None
    if found is None or not isinstance(attribute, TypeAttr):
        return
    if attribute.type != op.result.type:
        check.fault(
            op,
            f"result is of type {op.result.type}, {name} at {found.location} is {attribute.type}",
        )


def _alike(op: Operation, check: Check) -> None:
    """Two shapes that may be the same, of one element type."""
    a = op.operands[0].type
    b = (op.results[0] if op.results else op.operands[1]).type
    if not isinstance(a, ShapedType) or not isinstance(b, ShapedType):
        return
    fit = a.rank == b.rank and all(
        x == y or DYNAMIC in (x, y) for x, y in zip(a.shape, b.shape, strict=False)
    )
    if not fit or a.element != b.element:
        check.fault(op, f"{a} and {b} differ in shape or element type")


def _alloc(op: Operation, check: Check) -> None:
    type = op.results[0].type
    if isinstance(type, ShapedType):
        dynamic = sum(1 for d in type.shape if d == DYNAMIC)
        given = len(op.operands[operand_slice(op, "dynamicSizes")])
        if dynamic != given:
            check.fault(op, f"{given} 'dynamicSizes' are given, {type} leaves {dynamic} open")


def _reshape(op: Operation, check: Check) -> None:
    a, b = op.operands[0].type, op.results[0].type
    if isinstance(a, ShapedType) and isinstance(b, ShapedType):
        static = DYNAMIC not in (*a.shape, *b.shape)
        if a.element != b.element or (static and a.size != b.size):
            check.fault(op, f"{a} cannot become {b}: the number or type of elements differs")


RULES = {
    "memref.load": (_access,),
    "memref.store": (_access,),
    "vector.load": (_access,),
    "vector.store": (_access,),
    "memref.subview": (_view, _subview),
    "memref.reinterpret_cast": (_view,),
    "memref.global": (_global,),
    "memref.get_global": (_get_global,),
    "memref.cast": (_alike,),
    "memref.memory_space_cast": (_alike,),
    "memref.copy": (_alike,),
    "memref.alloc": (_alloc,),
    "memref.alloca": (_alloc,),
    "memref.collapse_shape": (_reshape,),
    "memref.expand_shape": (_reshape,),
}
