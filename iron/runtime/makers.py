"""Makes tensors, in the spelling and with the default dtypes of PyTorch, as mlir-aie's tensors do.

What is made is a `Tensor`, or of the class that `set_tensor_class` chose.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .tensor import Tensor, as_shape

if TYPE_CHECKING:
    import numpy.typing as npt

_chosen: list[type[Tensor]] = [Tensor]


def set_tensor_class(cls: type[Tensor]) -> None:
    """Choose what this process's makers make; ValueError unless it is a kind of Tensor."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise ValueError(f"a tensor class is a subclass of {Tensor.__qualname__}, got {cls!r}")
    _chosen[0] = cls


def tensor_class() -> type[Tensor]:
    """What makers make."""
    return _chosen[0]


def tensor(
    shape_or_data: tuple[int, ...] | npt.ArrayLike,
    dtype: npt.DTypeLike | None = None,
    device: str | None = None,
) -> Tensor:
    """A tensor of a shape (a tuple) or with a copy of data (anything else); see `Tensor`."""
    return tensor_class()(shape_or_data, dtype, device)


def ceildiv(a: int, b: int) -> int:
    """How many parts of `b` it takes to cover `a`; ZeroDivisionError for parts of 0."""
    return -(a // -b)


def full(
    size: int | Sequence[int],
    fill_value: Any,
    *,
    out: Tensor | None = None,
    dtype: npt.DTypeLike | None = None,
    device: str | None = None,
) -> Tensor:
    """Every element `fill_value`, of its dtype unless one is given.

    `out` is written and given back instead of a new tensor; ValueError when its shape, dtype or
    device is another.
    """
    kind = np.asarray(fill_value).dtype
    return _made(_size((size,)), dtype, kind, out, device).fill_(fill_value)


def zeros(
    *size: Any,
    out: Tensor | None = None,
    dtype: npt.DTypeLike | None = None,
    device: str | None = None,
) -> Tensor:
    """Zeros, float32 unless a dtype is given. The size is ``2, 3`` or ``(2, 3)``; `out` as for
    `full`."""
    return _made(_size(size), dtype, np.float32, out, device).fill_(0)


def ones(
    *size: Any,
    out: Tensor | None = None,
    dtype: npt.DTypeLike | None = None,
    device: str | None = None,
) -> Tensor:
    """Ones, float32 unless a dtype is given. The size is ``2, 3`` or ``(2, 3)``; `out` as for
    `full`."""
    return _made(_size(size), dtype, np.float32, out, device).fill_(1)


def rand(
    *size: Any,
    out: Tensor | None = None,
    dtype: npt.DTypeLike | None = None,
    device: str | None = None,
    generator: np.random.Generator | None = None,
) -> Tensor:
    """Uniform in [0, 1), float32 unless a dtype is given; never 1 by rounding.

    `generator` is where the numbers come from, by default NumPy's own state (``np.random.seed``);
    `out` as for `full`. ValueError without a size.
    """
    if not size:
        raise ValueError("rand() received no arguments; give it a size")
    made = _made(_size(size), dtype, np.float32, out, device)
    values = np.random.random(made.shape) if generator is None else generator.random(made.shape)
    rounded = np.asarray(values).astype(made.dtype)
    if made.dtype.kind in "fV":
        one = made.dtype.type(1)
        rounded = np.minimum(rounded, np.nextafter(one, made.dtype.type(0)))
    made[...] = rounded
    return made


def randint(
    low: int,
    high: int,
    size: int | Sequence[int],
    *,
    out: Tensor | None = None,
    dtype: npt.DTypeLike | None = None,
    device: str | None = None,
    generator: np.random.Generator | None = None,
) -> Tensor:
    """Integers in [low, high), int64 unless a dtype is given. ValueError when the dtype does not
    hold them; `generator` as for `rand`, `out` as for `full`."""
    made = _made(_size((size,)), dtype, np.int64, out, device)
    if made.dtype.kind in "iu":
        limits = np.iinfo(made.dtype)
        if low < limits.min or high - 1 > limits.max:
            raise ValueError(f"[{low}, {high}) is out of bounds for {made.dtype}")
    if generator is None:
        made[...] = np.random.randint(low, high, made.shape, dtype=np.int64)
    else:
        made[...] = generator.integers(low, high, made.shape)
    return made


def arange(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    shape: Sequence[int] | None = None,
    out: Tensor | None = None,
    dtype: npt.DTypeLike | None = None,
    device: str | None = None,
) -> Tensor:
    """``start, start + step, ...`` below `end`; int64, or float32 when an argument is a float.
    ValueError when they do not fill `shape`; `out` as for `full`."""
    if end is None:
        start, end = 0, start
    floats = any(isinstance(v, (float, np.floating)) for v in (start, end, step))
    values = np.arange(start, end, step)
    if shape is not None:
        values = values.reshape(tuple(shape))
    made = _made(values.shape, dtype, np.float32 if floats else np.int64, out, device)
    made[...] = values.astype(made.dtype)
    return made


def zeros_like(
    other: Tensor, dtype: npt.DTypeLike | None = None, device: str | None = None
) -> Tensor:
    """Zeros of another tensor's shape, and of its dtype and device unless given."""
    kind = other.dtype if dtype is None else dtype
    return tensor_class()(other.shape, kind, other.device if device is None else device)


def _size(size: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape given as ``(2, 3)`` or as ``2, 3``."""
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        return as_shape(size[0])
    return as_shape(size)


def _made(
    shape: tuple[int, ...],
    dtype: npt.DTypeLike | None,
    default: npt.DTypeLike,
    out: Tensor | None,
    device: str | None,
) -> Tensor:
    """`out` when it is given and fits, a new tensor otherwise."""
    if out is None:
        return tensor_class()(shape, default if dtype is None else dtype, device)
    kind = out.dtype if dtype is None else np.dtype(dtype)
    if out.shape != shape or out.dtype != kind or device not in (None, out.device):
        raise ValueError(
            f"out is a tensor of shape {out.shape} and dtype {out.dtype} on {out.device}; "
            f"shape {shape} and dtype {kind} are to be written"
        )
    return out
