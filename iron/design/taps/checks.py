"""What dimensions, sizes, strides and offsets may be; ValueErrors that say what was found."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def tensor_dims(dims: Sequence[int], rank: int | None = None) -> list[int]:
    """Extents of a tensor, each at least 1; one extent n means (1, n). `rank` asks for as many."""
    found = [_integer(d, "a tensor dimension") for d in dims]
    if not found:
        raise ValueError(f"a tensor has at least one dimension, found {list(dims)}")
    if any(d < 1 for d in found):
        raise ValueError(f"each tensor dimension is at least 1, found {found}")
    if len(found) == 1:
        found = [1, found[0]]
    if rank is not None and len(found) != rank:
        raise ValueError(f"{rank} dimensions are expected, found {found}")
    return found


def offset(value: int, dims: Sequence[int]) -> int:
    """An offset in elements, inside of the tensor."""
    value = _integer(value, "an offset")
    if value < 0:
        raise ValueError(f"an offset is at least 0, found {value}")
    if value >= math.prod(dims):
        raise ValueError(
            f"offset {value} is outside of a tensor of {math.prod(dims)} elements {list(dims)}"
        )
    return value


def sizes(values: Sequence[int]) -> list[int]:
    found = [_integer(v, "a size") for v in values]
    if not found:
        raise ValueError("an access pattern has at least one size")
    if any(v < 1 for v in found):
        raise ValueError(f"each size is at least 1, found {found}")
    return found


def strides(values: Sequence[int]) -> list[int]:
    found = [_integer(v, "a stride") for v in values]
    if not found:
        raise ValueError("an access pattern has at least one stride")
    if any(v < 0 for v in found):
        raise ValueError(f"each stride is at least 0, found {found}")
    return found


def walk(size: Sequence[int], stride: Sequence[int]) -> tuple[list[int], list[int]]:
    """Sizes and strides of one length; the stride of an outer dimension of size 1 says nothing and
    becomes 0, up to the first that is not, and never the innermost."""
    n, s = sizes(size), strides(stride)
    if len(n) != len(s):
        raise ValueError(f"{len(n)} sizes {n} but {len(s)} strides {s}")
    for i, count in enumerate(n[:-1]):
        if count != 1:
            break
        s[i] = 0
    return n, s


def _integer(value: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{what} is an integer, found {value!r}")
    return int(value)
