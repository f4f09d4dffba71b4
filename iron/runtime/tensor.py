"""Tensors a design can be called with: NumPy arrays in memory that the worker process sees too.

``iron.tensor((4096,), dtype=np.int32)`` takes a shape, ``iron.tensor(array)`` takes data. The
makers (`zeros`, `ones`, `full`, `rand`, `randint`, `arange`, `zeros_like`) follow the spelling and
the default dtypes of PyTorch, as mlir-aie's tensors do. On the host target the device names
``"npu"`` and ``"cpu"`` name the same memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .memory import SharedBuffer

DEVICES = ("npu", "cpu")


class Tensor:
    """An array of fixed shape and dtype in shared memory.

    `shape_or_data` is a shape when it is a tuple (dtype: uint32 unless given) and data otherwise
    (dtype: the data's own). TypeError when `dtype` is given and differs from an array's;
    ValueError for a device that is neither "npu" nor "cpu".
    """

    def __init__(
        self,
        shape_or_data: tuple[int, ...] | npt.ArrayLike,
        dtype: npt.DTypeLike | None = None,
        device: str = "npu",
    ) -> None:
        if isinstance(shape_or_data, tuple):
            shape, data = _shape(shape_or_data), None
            dtype = np.dtype(np.uint32 if dtype is None else dtype)
        else:
            data = _data(shape_or_data, dtype)
            shape, dtype = data.shape, data.dtype
        self._buffer = SharedBuffer(max(1, math.prod(shape) * dtype.itemsize))
        used = self._buffer.array[: math.prod(shape) * dtype.itemsize]
        self._array: npt.NDArray[Any] = used.view(dtype).reshape(shape)
        self.device = device
        if data is not None:
            self._array[...] = data

    @property
    def device(self) -> str:
        return self._device

    @device.setter
    def device(self, name: str) -> None:
        if name not in DEVICES:
            raise ValueError(f"no device {name!r}: a tensor lives on {' or '.join(DEVICES)}")
        self._device = name

    @property
    def buffer(self) -> SharedBuffer:
        """The shared memory that holds the elements, from its first byte on."""
        return self._buffer

    @property
    def shape(self) -> tuple[int, ...]:
        return self._array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._array.dtype

    @property
    def nbytes(self) -> int:
        return self._array.nbytes

    @property
    def element_size(self) -> int:
        """Bytes of one element."""
        return self._array.itemsize

    @property
    def data(self) -> npt.NDArray[Any]:
        return self._array

    def numel(self) -> int:
        return self._array.size

    def numpy(self) -> npt.NDArray[Any]:
        """The elements as an array: a live view, which a later run of a design changes."""
        return self._array

    def to(self, device: str) -> Tensor:
        """This tensor, on `device`."""
        self.device = device
        return self

    def fill_(self, value: Any) -> Tensor:
        self._array.fill(value)
        return self

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, index: Any) -> Any:
        return self._array[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._array[index] = value

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        if dtype is not None and np.dtype(dtype) != self.dtype:
            if copy is False:
                raise ValueError(f"a tensor of {self.dtype} is no {np.dtype(dtype)} without a copy")
            return self._array.astype(dtype)
        return self._array.copy() if copy else self._array

    def __repr__(self) -> str:
        return f"tensor({self._array!r}, device={self.device!r})"


def _shape(shape: Sequence[Any]) -> tuple[int, ...]:
    if not all(isinstance(d, (int, np.integer)) and d >= 0 for d in shape):
        raise TypeError(
            f"a tensor's shape is a tuple of counts, got {tuple(shape)!r}; "
            "give data as an array or a list"
        )
    return tuple(int(d) for d in shape)


def _data(data: npt.ArrayLike, dtype: npt.DTypeLike | None) -> npt.NDArray[Any]:
    if dtype is None or not hasattr(data, "dtype"):
        return np.asarray(data, dtype=dtype)
    array = np.asarray(data)
    if array.dtype != np.dtype(dtype):
        raise TypeError(
            f"the data is {array.dtype} but dtype={np.dtype(dtype)} was asked for; "
            f"convert it first: data.astype(np.dtype({np.dtype(dtype).name!r}))"
        )
    return array


def tensor(
    shape_or_data: tuple[int, ...] | npt.ArrayLike,
    dtype: npt.DTypeLike | None = None,
    device: str = "npu",
) -> Tensor:
    """A tensor of a shape (a tuple) or with a copy of data (anything else); see `Tensor`."""
    return Tensor(shape_or_data, dtype, device)


def _size(size: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape given as ``(2, 3)`` or as ``2, 3``."""
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        return _shape(size[0])
    return _shape(size)


def full(
    size: int | Sequence[int],
    fill_value: Any,
    *,
    out: Tensor | None = None,
    dtype: npt.DTypeLike | None = None,
    device: str | None = None,
) -> Tensor:
    """Every element `fill_value`; its dtype unless one is given."""
    shape = _size((size,))
    kind = np.asarray(fill_value).dtype if dtype is None else dtype
    return _made(shape, kind, out, device).fill_(fill_value)


def zeros(
    *size: Any,
    out: Tensor | None = None,
    dtype: npt.DTypeLike | None = None,
    device: str | None = None,
) -> Tensor:
    """Zeros, float32 unless a dtype is given."""
    return _made(_size(size), np.float32 if dtype is None else dtype, out, device).fill_(0)


def ones(
    *size: Any,
    out: Tensor | None = None,
    dtype: npt.DTypeLike | None = None,
    device: str | None = None,
) -> Tensor:
    """Ones, float32 unless a dtype is given."""
    return _made(_size(size), np.float32 if dtype is None else dtype, out, device).fill_(1)


def rand(
    *size: Any,
    out: Tensor | None = None,
    dtype: npt.DTypeLike | None = None,
    device: str | None = None,
    generator: np.random.Generator | None = None,
) -> Tensor:
    """Uniform in [0, 1), float32 unless a dtype is given."""
    made = _made(_size(size), np.float32 if dtype is None else dtype, out, device)
    made[...] = _generator(generator).random(made.shape)
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
    """Integers in [low, high), int64 unless a dtype is given."""
    made = _made(_size((size,)), np.int64 if dtype is None else dtype, out, device)
    made[...] = _generator(generator).integers(low, high, made.shape)
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
    """``start, start + step, ...`` below `end`; int64, or float32 when an argument is a float."""
    if end is None:
        start, end = 0, start
    if dtype is None:
        dtype = np.float32 if any(isinstance(v, float) for v in (start, end, step)) else np.int64
    values = np.arange(start, end, step)
    if shape is not None:
        values = values.reshape(tuple(shape))
    made = _made(values.shape, dtype, out, device)
    made[...] = values.astype(made.dtype)
    return made


def zeros_like(
    other: Tensor, dtype: npt.DTypeLike | None = None, device: str | None = None
) -> Tensor:
    """Zeros of another tensor's shape, and of its dtype and device unless given."""
    kind = other.dtype if dtype is None else dtype
    return Tensor(other.shape, kind, other.device if device is None else device).fill_(0)


def _made(
    shape: tuple[int, ...], dtype: npt.DTypeLike, out: Tensor | None, device: str | None
) -> Tensor:
    """`out` when it is given and fits, a new tensor otherwise."""
    if out is None:
        return Tensor(shape, dtype, "npu" if device is None else device)
    if out.shape != shape or out.dtype != np.dtype(dtype):
        raise ValueError(
            f"out is a tensor of shape {out.shape} and dtype {out.dtype}; "
            f"shape {shape} and dtype {np.dtype(dtype)} are to be written"
        )
    return out


def _generator(generator: np.random.Generator | None) -> np.random.Generator:
    return np.random.default_rng() if generator is None else generator
