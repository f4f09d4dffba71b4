"""The words that say which types a value may have and which attributes a name may hold.

Types: ``any``, a type by its name (``index``, ``i32``, ``bf16``), a family (``int``, ``signless``,
``float``, ``scalar``, ``intlike``, ``floatlike``, ``memref``, ``vector``, ``tensor``, ``fifo``,
``subview``), several joined with ``|``, or one derived from another part: ``=x`` the type of `x`,
``elem(x)`` its element type, ``i1(x)`` its shape with elements of i1.

Attributes: ``any``, an integer type (``i32``, ``ui8``), ``bool``, ``str``, ``type``, ``unit``,
``name`` (of a symbol), ``sym`` (``@x``), ``symref`` (``@x::@y``), ``elements``, ``dense:i64`` (an
``array<i64: ...>``), the name of an enum or of a record, or one of these with ``[]`` appended (an
array of them).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from . import types as t
from .attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DenseArrayAttr,
    DenseElementsAttr,
    FloatAttr,
    IntegerAttr,
    OpaqueAttr,
    StringAttr,
    StructAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
)
from .types import (
    FloatType,
    IndexType,
    IntegerType,
    MemRefType,
    OpaqueType,
    ShapedType,
    TensorType,
    Type,
    VectorType,
)

NAMED: dict[str, Type] = {
    "index": t.INDEX,
    "none": t.NONE,
    **{
        f"{s}i{w}": IntegerType(w, s)
        for s in ("", "s", "u")
        for w in (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128)
    },
    **{
        n: FloatType(n)
        for n in (
            *("f16", "bf16", "f32", "f64", "f80", "f128", "tf32"),
            *("f8E5M2", "f8E4M3", "f8E4M3FN", "f8E5M2FNUZ", "f8E4M3FNUZ", "f8E4M3B11FNUZ"),
            *("f8E3M4", "f8E8M0FNU", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN"),
        )
    },
}
"""Types that are one word, by that word."""

_INTEGER_WORD = re.compile(r"([su]?)i([1-9]\d*)\Z")


def named_type(word: str) -> Type | None:
    """The type written as one word, None when `word` is none."""
    found = NAMED.get(word)
    if found is None and (m := _INTEGER_WORD.match(word)):
        return IntegerType(int(m[2]), m[1])
    return found


def _element(type: Type) -> Type:
    return type.element if isinstance(type, VectorType | TensorType) else type


def _is_int(type: Type) -> bool:
    return isinstance(type, IntegerType | IndexType)


def _is_float(type: Type) -> bool:
    return isinstance(type, FloatType)


_FAMILIES: dict[str, Callable[[Type], bool]] = {
    "any": lambda x: True,
    "int": _is_int,
    "signless": lambda x: isinstance(x, IntegerType) and not x.signedness,
    "float": _is_float,
    "scalar": lambda x: _is_int(x) or _is_float(x),
    "intlike": lambda x: _is_int(_element(x)),
    "floatlike": lambda x: _is_float(_element(x)),
    "memref": lambda x: (
        isinstance(x, MemRefType) or (isinstance(x, OpaqueType) and x.text.startswith("memref<"))
    ),
    "vector": lambda x: (
        isinstance(x, VectorType) or (isinstance(x, OpaqueType) and x.text.startswith("vector<"))
    ),
    "tensor": lambda x: (
        isinstance(x, TensorType) or (isinstance(x, OpaqueType) and x.text.startswith("tensor<"))
    ),
    "shaped": lambda x: isinstance(x, ShapedType),
    "fifo": lambda x: isinstance(x, t.ObjectFifoType),
    "subview": lambda x: isinstance(x, t.ObjectFifoSubviewType),
    "ptr": lambda x: isinstance(x, OpaqueType) and x.text.startswith("!llvm.ptr"),
}

_SAID: dict[str, str] = {
    "int": "an integer or index",
    "signless": "a signless integer",
    "float": "a float",
    "scalar": "an integer, index or float",
    "intlike": "an integer, index or a vector of them",
    "floatlike": "a float or a vector of floats",
    "memref": "a memref",
    "vector": "a vector",
    "tensor": "a tensor",
    "shaped": "a memref, vector or tensor",
    "fifo": "an !aie.objectfifo",
    "subview": "an !aie.objectfifosubview",
    "ptr": "an !llvm.ptr",
}

_DERIVED = re.compile(r"=(\w+)\Z|(elem|i1)\((\w+)\)\Z")


def is_derived(kind: str) -> bool:
    return kind[0] == "=" or kind.endswith(")")


def fixed_type(kind: str) -> Type | None:
    """The only type of this kind, None when there are several."""
    return NAMED.get(kind)


def derived_type(kind: str, known: Mapping[str, Sequence[Type]]) -> Type | None:
    """The type a derived kind stands for, from the types of other parts; None when unknown."""
    m = _DERIVED.match(kind)
    if m is None:
        return None
    source = known.get(m[1] or m[3])
    if not source:
        return None
    base = source[0]
    if m[1]:
        return base
    if m[2] == "elem":
        return base.element if isinstance(base, ShapedType) else None
    if isinstance(base, VectorType | TensorType):
        return type(base)(base.shape, t.I1)
    return t.I1


def accepts_type(kind: str, type: Type) -> bool:
    """Whether `type` is of a kind that is not derived."""
    family = _FAMILIES.get(kind)
    if family is not None:
        return family(type)
    fixed = NAMED.get(kind)
    if fixed is not None:
        return fixed == type
    return any(accepts_type(k, type) for k in kind.split("|")) if "|" in kind else False


def said_type(kind: str) -> str:
    """The kind in words, for messages."""
    if "|" in kind:
        return " or ".join(said_type(k) for k in kind.split("|"))
    return _SAID.get(kind, kind)


def is_enum(kind: str) -> bool:
    return kind[0].isupper() and kind.isidentifier()


def is_record(kind: str) -> bool:
    return "." in kind and not kind.endswith("]")


_ATTRIBUTES: dict[str, tuple[type[Attribute] | tuple[type[Attribute], ...], str]] = {
    "bool": (BoolAttr, "true or false"),
    "str": (StringAttr, "a string"),
    "name": (StringAttr, "the name of a symbol"),
    "symref": (SymbolRefAttr, "a symbol reference"),
    "type": (TypeAttr, "a type"),
    "unit": (UnitAttr, "nothing but its name"),
    "elements": ((DenseElementsAttr, OpaqueAttr), "dense elements"),
    "array": (ArrayAttr, "an array"),
    "map": (OpaqueAttr, "an affine map"),
    "float": (FloatAttr, "a float"),
}


def accepts_attribute(kind: str, value: Attribute) -> bool:
    if kind == "any":
        return True
    if "|" in kind:
        return any(accepts_attribute(k, value) for k in kind.split("|"))
    if kind in _ATTRIBUTES:
        return isinstance(value, _ATTRIBUTES[kind][0])
    if kind == "sym":
        return isinstance(value, SymbolRefAttr) and len(value.path) == 1
    if kind.endswith("[]"):
        return isinstance(value, ArrayAttr) and all(
            accepts_attribute(kind[:-2], v) for v in value.values
        )
    if kind.startswith("dense:"):
        return isinstance(value, DenseArrayAttr) and value.element == NAMED[kind[6:]]
    if is_enum(kind):
        from .dialects.enums import members, number_type

        return (
            isinstance(value, IntegerAttr)
            and value.type == number_type(kind)
            and value.value in members(kind)
        )
    if is_record(kind):
        return isinstance(value, StructAttr) and value.name == kind
    return isinstance(value, IntegerAttr) and value.type == NAMED.get(kind)


def said_attribute(kind: str) -> str:
    """The kind in words, for messages."""
    if "|" in kind:
        return " or ".join(said_attribute(k) for k in kind.split("|"))
    if kind in _ATTRIBUTES:
        return _ATTRIBUTES[kind][1]
    if kind == "sym":
        return "a flat symbol reference"
    if kind.endswith("[]"):
        return f"an array, each of it {said_attribute(kind[:-2])}"
    if kind.startswith("dense:"):
        return f"an array<{kind[6:]}: ...>"
    if is_enum(kind):
        from .dialects.enums import members

        return f"{kind} (an integer of its type, one of {', '.join(members(kind).values())})"
    if is_record(kind):
        return f"#{kind}<...>"
    return f"an integer of type {kind}"
