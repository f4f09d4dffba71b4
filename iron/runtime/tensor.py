"""Tensors a design can be called with: NumPy arrays in memory that the worker process sees too.

``Tensor((4096,), dtype=np.int32)`` takes a shape, ``Tensor(array)`` takes data. On the host target
the device names ``"npu"`` and ``"cpu"`` name the same memory, so that nothing is ever out of date;
the rules of mlir-aie's tensors hold all the same (alignment of views, scopes for writing), so that
what works here works there. Makers (`zeros`, `rand`, ...) are in `makers`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .memory import SharedBuffer, SharedSlice

if TYPE_CHECKING:
    import numpy.typing as npt

DEVICES = ("npu", "cpu")

COHERENCE_GRANULE = 64
"""Bytes of the cache line by which host and device agree about memory: views begin at multiples of
it, and end at one or where the tensor ends."""


class Tensor:
    """An array of fixed shape and dtype in shared memory.

    `shape_or_data` is a shape when it is a tuple (dtype: uint32 unless given; zeros) and data
    otherwise (dtype: the data's own). TypeError when `dtype` is given and differs from an array's;
    ValueError for a device that is neither "npu" nor "cpu".
    """

    DEVICES: ClassVar[tuple[str, ...]] = DEVICES
    DEFAULT_DEVICE: ClassVar[str] = "npu"

    def __init__(
        self,
        shape_or_data: tuple[int, ...] | npt.ArrayLike,
        dtype: npt.DTypeLike | None = None,
        device: str | None = None,
    ) -> None:
        if isinstance(shape_or_data, tuple):
            shape, data = as_shape(shape_or_data), None
            kind = np.dtype(np.uint32 if dtype is None else dtype)
        else:
            data = _data(shape_or_data, dtype)
            shape, kind = data.shape, data.dtype
        self._base: Tensor | None = None
        self._place(SharedBuffer(max(1, math.prod(shape) * kind.itemsize)), 0, shape, kind)
        self.device = self.DEFAULT_DEVICE if device is None else device
        if data is not None:
            self._array[...] = data

    def _place(
        self, buffer: SharedBuffer, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> None:
        """Be `shape` elements from byte `offset` of `buffer` on."""
        self._buffer, self._offset = buffer, offset
        nbytes = math.prod(shape) * dtype.itemsize
        used = buffer.array[offset : offset + nbytes]
        self._array: npt.NDArray[Any] = used.view(dtype).reshape(shape)
        self.buffer: SharedBuffer | SharedSlice = (
            buffer if self._base is None else buffer.slice(offset, nbytes)
        )
        """The shared memory of just these elements."""

    @property
    def device(self) -> str:
        """``"npu"`` or ``"cpu"``; both are the same memory on the host target."""
        return self._device

    @device.setter
    def device(self, name: str) -> None:
        if name not in self.DEVICES:
            raise ValueError(
                f"Unsupported device: {name!r}; a tensor lives on {' or '.join(self.DEVICES)}"
            )
        self._device = name

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents in elements, outermost first."""
        return self._array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of its elements."""
        return self._array.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._array.nbytes

    @property
    def element_size(self) -> int:
        """Bytes of one element."""
        return self._array.itemsize

    @property
    def data(self) -> npt.NDArray[Any]:
        """The elements as an array, as `numpy()`."""
        return self._array

    def numel(self) -> int:
        """How many elements it has."""
        return self._array.size

    def numpy(self) -> npt.NDArray[Any]:
        """The elements as an array: a live view, which a later run of a design changes. Copy it to
        keep what it holds now."""
        return self._array

    def to(self, target_device: str) -> Tensor:
        """This tensor, on that device."""
        self.device = target_device
        return self

    # -- views -----------------------------------------------------------------------------

    def subview(
        self, offset: int, shape: int | Sequence[int], dtype: npt.DTypeLike | None = None
    ) -> Tensor:
        """A tensor over a part of this one's memory: `shape` elements from byte `offset` on.

        No bytes are copied, and the memory lives as long as any view of it. ValueError when the
        part is not inside, or begins or ends within a granule of 64 bytes that it does not own.
        """
        kind = self.dtype if dtype is None else np.dtype(dtype)
        extent = as_shape((shape,) if isinstance(shape, (int, np.integer)) else tuple(shape))
        try:
            start = operator.index(offset)
        except TypeError:
            raise TypeError(
                f"subview() offset must be an integer number of bytes, got {offset!r}"
            ) from None
        nbytes = math.prod(extent) * kind.itemsize
        asked = f"subview(offset={start}, shape={extent}, dtype={kind})"
        if start < 0 or start + nbytes > self.nbytes:
            raise ValueError(f"{asked} is out of bounds for a buffer of {self.nbytes} bytes")
        at_end = start + nbytes == self.nbytes
        if start % COHERENCE_GRANULE or (nbytes % COHERENCE_GRANULE and not at_end):
            raise ValueError(
                f"{asked} is not aligned: host and device agree about memory {COHERENCE_GRANULE} "
                f"bytes at a time, so a view begins at a multiple of {COHERENCE_GRANULE} bytes "
                f"and ends at one, or at the end of the tensor; it covers bytes {start} to "
                f"{start + nbytes}"
            )
        view = object.__new__(type(self))
        view._base = self.base or self
        view._place(self._buffer, self._offset + start, extent, kind)
        view._device = self._device
        return view

    @property
    def base(self) -> Tensor | None:
        """The tensor whose memory this view is a part of; None when it is its own."""
        return self._base

    @property
    def is_view(self) -> bool:
        """Whether its memory is part of that of another tensor."""
        return self._base is not None

    @property
    def storage(self) -> SharedBuffer:
        """The memory it is in, which views share."""
        return self._buffer

    @property
    def storage_offset(self) -> int:
        """Where it begins in its storage, in bytes."""
        return self._offset

    # -- writing ---------------------------------------------------------------------------

    def mutate(self) -> WriteScope:
        """``with t.mutate() as array:`` change some of the elements. The array is read-only after
        the block."""
        return WriteScope(self)

    def overwrite(self) -> WriteScope:
        """``with t.overwrite() as array:`` as `mutate`, promising to write every element."""
        return WriteScope(self)

    def fill_(self, value: Any) -> Tensor:
        """Make every element `value`; this tensor."""
        self._array.fill(value)
        return self

    # -- torch -----------------------------------------------------------------------------

    def to_torch(self) -> Any:
        """A torch tensor over the same memory. ImportError without torch."""
        return _torch_over(self._array)

    def torch_view(self) -> Any:
        """As `to_torch`, for writing."""
        self.device = "cpu"
        return _torch_over(self._array)

    @classmethod
    def from_torch(cls, torch_tensor: Any, device: str | None = None) -> Tensor:
        """A tensor with a copy of a torch tensor's elements. ImportError without torch."""
        torch = _torch()
        source = torch_tensor.detach().cpu().contiguous()
        if source.dtype == torch.bfloat16:
            import ml_dtypes

            return cls(source.view(torch.uint16).numpy().view(ml_dtypes.bfloat16), device=device)
        return cls(source.numpy(), device=device)

    # -- as an array -----------------------------------------------------------------------

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
        return f"{type(self).__name__}({self._array!r}, device={self.device!r})"


class WriteScope:
    """A writable array of a tensor's elements for the length of a ``with`` block."""

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        self._lent: list[npt.NDArray[Any]] = []

    def __enter__(self) -> npt.NDArray[Any]:
        self._lent.append(self._tensor.data.view())
        return self._lent[-1]

    def __exit__(self, *fault: Any) -> None:
        self._lent.pop().flags.writeable = False


def _torch() -> Any:
    from importlib import import_module

    return import_module("torch")


def _torch_over(array: npt.NDArray[Any]) -> Any:
    torch = _torch()
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def as_shape(shape: Sequence[Any]) -> tuple[int, ...]:
    """`shape` as a tuple of ints; TypeError when it is something else, such as data."""
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
