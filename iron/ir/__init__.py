"""MLIR as this package sees it: types, attributes, operations, text in and out, rules.

Everything above uses these names; the dialects' tables are in `iron.ir.dialects`. What reads,
prints and checks text is imported when first asked for, so that building a module costs no parser.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .attributes import (
    UNIT,
    ArrayAttr,
    Attribute,
    BoolAttr,
    DenseArrayAttr,
    DenseElementsAttr,
    DictAttr,
    FloatAttr,
    IntegerAttr,
    OpaqueAttr,
    StringAttr,
    StructAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
)
from .builder import Builder
from .core import (
    UNKNOWN,
    Block,
    BlockArgument,
    Location,
    Operation,
    OpResult,
    Region,
    Value,
    defining_op,
    module,
)
from .types import (
    BF16,
    DYNAMIC,
    F16,
    F32,
    F64,
    I1,
    I8,
    I16,
    I32,
    I64,
    INDEX,
    NONE,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    NoneType,
    ObjectFifoSubviewType,
    ObjectFifoType,
    OpaqueType,
    ShapedType,
    TensorType,
    Type,
    VectorType,
    bit_width,
)

if TYPE_CHECKING:
    from .equivalence import equivalent
    from .lexer import ParseError
    from .parser import parse
    from .printer import print_module
    from .symbols import find_symbol
    from .verifier import Fault, VerifyError, verify

__all__ = [
    "BF16",
    "DYNAMIC",
    "F16",
    "F32",
    "F64",
    "I1",
    "I8",
    "I16",
    "I32",
    "I64",
    "INDEX",
    "NONE",
    "UNIT",
    "UNKNOWN",
    "ArrayAttr",
    "Attribute",
    "Block",
    "BlockArgument",
    "BoolAttr",
    "Builder",
    "DenseArrayAttr",
    "DenseElementsAttr",
    "DictAttr",
    "Fault",
    "FloatAttr",
    "FloatType",
    "FunctionType",
    "IndexType",
    "IntegerAttr",
    "IntegerType",
    "Location",
    "MemRefType",
    "NoneType",
    "ObjectFifoSubviewType",
    "ObjectFifoType",
    "OpResult",
    "OpaqueAttr",
    "OpaqueType",
    "Operation",
    "ParseError",
    "Region",
    "ShapedType",
    "StringAttr",
    "StructAttr",
    "SymbolRefAttr",
    "TensorType",
    "Type",
    "TypeAttr",
    "UnitAttr",
    "Value",
    "VectorType",
    "VerifyError",
    "bit_width",
    "defining_op",
    "equivalent",
    "find_symbol",
    "module",
    "parse",
    "print_module",
    "verify",
]

_HOMES = {
    "Fault": "verifier",
    "ParseError": "lexer",
    "VerifyError": "verifier",
    "equivalent": "equivalence",
    "find_symbol": "symbols",
    "parse": "parser",
    "print_module": "printer",
    "verify": "verifier",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    return value
