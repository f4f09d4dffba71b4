"""How a memref's elements lie in memory."""

from __future__ import annotations

import re
from collections.abc import Sequence

from iron.ir.core import Operation
from iron.ir.types import DYNAMIC, MemRefType

from .errors import refuse

_STRIDED = re.compile(r"#?(?:builtin\.)?strided<\s*\[([^\]]*)\]")


def dense_strides(shape: Sequence[int]) -> list[int]:
    out, step = [], 1
    for extent in reversed(shape):
        out.append(step)
        step *= extent
    return out[::-1]


def strides(op: Operation, type: MemRefType) -> list[int]:
    """Steps between elements of each dimension, in elements."""
    if type.layout is None:
        if any(d == DYNAMIC for d in type.shape[1:]):
            raise refuse(op, f"{type} has strides that are not known")
        return dense_strides(type.shape)
    m = _STRIDED.match(str(type.layout))
    if m is None or "?" in m[1]:
        raise refuse(op, f"{type} has strides that are not known")
    return [int(x) for x in m[1].split(",") if x.strip()]


def known(type: MemRefType) -> bool:
    """Does the type alone say how its elements lie?"""
    if type.layout is None:
        return DYNAMIC not in type.shape[1:]
    m = _STRIDED.match(str(type.layout))
    return m is not None and "?" not in m[1]
