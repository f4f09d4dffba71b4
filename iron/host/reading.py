"""Reads attributes and operands of AIE operations in either spelling mlir-aie had in 2026.

Owns how a name becomes a Python value; knows nothing of the network.
"""

from __future__ import annotations

from collections.abc import Sequence

from iron.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DenseArrayAttr,
    DenseElementsAttr,
    IntegerAttr,
    StringAttr,
    StructAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
)
from iron.ir.core import Operation, Value, defining_op
from iron.ir.types import (
    FloatType,
    IndexType,
    IntegerType,
    MemRefType,
    ObjectFifoType,
    ShapedType,
    Type,
)

from .errors import refuse

DYNAMIC_INDEX = -(2**63)
"""What MLIR writes in a static index list where an operand stands (ShapedType::kDynamic)."""


def where(op: Operation) -> str:
    """``file:line`` of an operation, empty when it is not known."""
    return str(op.location) if op.location else ""


def integer(op: Operation, name: str, otherwise: int | None = None) -> int:
    """An integer attribute; HostError when it is missing and there is no default."""
    value = _number(op.attributes.get(name))
    if value is not None:
        return value
    if otherwise is None:
        raise refuse(op, f"has no integer attribute {name!r}")
    return otherwise


def optional_integer(op: Operation, name: str) -> int | None:
    return _number(op.attributes.get(name))


def _number(a: Attribute | None) -> int | None:
    if isinstance(a, IntegerAttr | BoolAttr):
        return int(a.value)
    return None


def flag(op: Operation, name: str, otherwise: bool = False) -> bool:
    a = op.attributes.get(name)
    if isinstance(a, UnitAttr):
        return True
    n = _number(a)
    return otherwise if n is None else bool(n)


def string(op: Operation, name: str) -> str | None:
    a = op.attributes.get(name)
    return a.value if isinstance(a, StringAttr) else None


def symbol(op: Operation, name: str) -> str:
    """The last name of a symbol reference."""
    a = op.attributes.get(name)
    if not isinstance(a, SymbolRefAttr):
        raise refuse(op, f"has no symbol {name!r}")
    return a.path[-1]


def symbols(op: Operation, name: str) -> list[str]:
    a = op.attributes.get(name)
    values = a.values if isinstance(a, ArrayAttr) else ()
    return [v.path[-1] for v in values if isinstance(v, SymbolRefAttr)]


def integers(a: Attribute | None) -> list[int]:
    """An array of integers in any of MLIR's forms; empty when there is none."""
    if isinstance(a, DenseArrayAttr | DenseElementsAttr):
        return [int(v) for v in a.values]
    if isinstance(a, ArrayAttr):
        return [n for v in a.values if (n := _number(v)) is not None]
    n = _number(a)
    return [] if n is None else [n]


def pairs(a: Attribute | None, first: str, second: str) -> list[tuple[int, int]]:
    """Two fields of each record in an array of records."""
    values = a.values if isinstance(a, ArrayAttr) else ()
    return [(_field(v, first), _field(v, second)) for v in values if isinstance(v, StructAttr)]


def dimensions(a: Attribute | None) -> list[tuple[int, int]]:
    """(size, stride) of a bd_dim_layout array, outermost first."""
    return pairs(a, "size", "stride")


def record(a: Attribute | None, *names: str) -> tuple[int, ...] | None:
    """Fields of one record; None when the attribute is absent."""
    return tuple(_field(a, n) for n in names) if isinstance(a, StructAttr) else None


def _field(a: StructAttr, name: str) -> int:
    v = a[name]
    n = _number(v) if isinstance(v, Attribute) else int(v)
    assert n is not None
    return n


def group(op: Operation, name: str) -> list[Value]:
    """The operands of a name; empty when the operation has none such."""
    try:
        return op.group(name)
    except KeyError:
        return []


def single(op: Operation, name: str) -> Value | None:
    values = group(op, name)
    return values[0] if values else None


def required(op: Operation, name: str) -> Value:
    value = single(op, name)
    if value is None:
        raise refuse(op, f"has no operand {name!r}")
    return value


def constant(value: Value) -> int | None:
    """The integer a value always has, None when it is not a constant."""
    op = defining_op(value)
    if op is None:
        return None
    if op.name == "arith.constant":
        return _number(op.attributes.get("value"))
    if op.name in ("arith.index_cast", "arith.extsi", "arith.extui", "arith.trunci"):
        return constant(op.operands[0])
    return None


def number_or_value(op: Operation, operand: str, attribute: str) -> int | Value | None:
    """A number given as attribute or as operand; constants fold. The spelling before operands
    came has the attribute under the operand's name."""
    for name in (attribute, operand):
        n = optional_integer(op, name)
        if n is not None:
            return n
    value = single(op, operand)
    if value is None:
        return None
    folded = constant(value)
    return value if folded is None else folded


def mixed(op: Operation, operands: str, attribute: str) -> list[int | Value]:
    """A list of numbers, some of which are operands (DynamicIndexList)."""
    dynamic = iter(group(op, operands))
    out: list[int | Value] = []
    for n in integers(op.attributes.get(attribute)):
        if n != DYNAMIC_INDEX:
            out.append(n)
            continue
        value = next(dynamic)
        folded = constant(value)
        out.append(value if folded is None else folded)
    return out


def static_numbers(op: Operation, values: Sequence[int | Value], what: str) -> list[int]:
    for v in values:
        if not isinstance(v, int):
            raise refuse(op, f"{what} must be constants here")
    return [v for v in values if isinstance(v, int)]


def memref(op: Operation, type: Type) -> MemRefType:
    if not isinstance(type, MemRefType):
        raise refuse(op, f"needs a memref, not {type}")
    return type


def fifo_type(op: Operation, name: str) -> MemRefType | None:
    """The memref inside an objectfifo type attribute."""
    a = op.attributes.get(name)
    if isinstance(a, TypeAttr) and isinstance(a.type, ObjectFifoType):
        return memref(op, a.type.element)
    return None


def element_bytes(op: Operation, type: Type) -> int:
    """Bytes of one element in memory; HostError for types the host target does not have."""
    if isinstance(type, IndexType):
        return 8
    if isinstance(type, IntegerType) and type.width in (1, 8, 16, 32, 64):
        return max(1, type.width // 8)
    if isinstance(type, FloatType) and type.name in FLOAT_BYTES:
        return FLOAT_BYTES[type.name]
    raise refuse(op, f"the host target has no elements of type {type}")


FLOAT_BYTES = {"bf16": 2, "f16": 2, "f32": 4, "f64": 8}


def size_in_bytes(op: Operation, type: ShapedType) -> int:
    return type.size * element_bytes(op, type.element)


def content(op: Operation, a: DenseElementsAttr) -> bytes:
    """The bytes of an initial value, row-major, little-endian."""
    import numpy as np

    count = a.type.size
    element = a.type.element
    if isinstance(element, FloatType) and element.name == "bf16":
        floats = np.array(a.values, dtype=np.float32)
        bits = floats.view(np.uint32).astype(np.uint64)
        rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
        array = np.where(np.isnan(floats), np.uint16(0x7FC0), rounded).astype(np.uint16)
    elif isinstance(element, FloatType):
        array = np.array(a.values, dtype={"f16": "<f2", "f32": "<f4", "f64": "<f8"}[element.name])
    else:
        width = element_bytes(op, element)
        mask = (1 << (8 * width)) - 1
        array = np.array([int(v) & mask for v in a.values], dtype=f"<u{width}")
    if len(array) == 1 and count != 1:
        array = np.repeat(array, count)
    if len(array) != count:
        raise refuse(op, f"{len(array)} initial values do not fit {a.type}")
    return bytes(array.tobytes())
