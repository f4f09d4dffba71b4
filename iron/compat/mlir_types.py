"""``aie.extras.types``: MLIR types as functions, ``T.i32()``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..design.dtypes import ir_type
from ..ir.types import INDEX, FloatType, IntegerType, MemRefType, Type


def _made(type: Type) -> Callable[[], Type]:
    return lambda: type


bool = _made(IntegerType(1))
i8, i16, i32, i64 = (_made(IntegerType(w)) for w in (8, 16, 32, 64))
ui8, ui16, ui32 = (_made(IntegerType(w, "u")) for w in (8, 16, 32))
f32, bf16 = _made(FloatType("f32")), _made(FloatType("bf16"))
index = _made(INDEX)


def memref(*shape_and_element: Any) -> MemRefType:
    """``T.memref(4, 8, T.i32())``."""
    *shape, element = shape_and_element
    made_type = element() if callable(element) and not isinstance(element, type) else element
    return MemRefType(tuple(int(n) for n in shape), ir_type(made_type))


T = sys.modules[__name__]
