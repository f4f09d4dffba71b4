"""Memory a traced body reads and writes by indexing: objects of fifos, Buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ..ir.core import Value
from ..ir.types import MemRefType
from .context import emitting
from .dtypes import describe, numpy_dtype
from .values import Scalar, Traced, as_index, as_value


class MemRef(Traced):
    """Memory of a fixed shape: an object of a fifo, a buffer. Indexing loads and stores."""

    __slots__ = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents in elements, outermost first."""
        return self._type.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of its elements."""
        return numpy_dtype(self._type.element)

    @property
    def _type(self) -> MemRefType:
        assert isinstance(self.type, MemRefType)
        return self.type

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> NoReturn:
        raise TypeError("loop over memory with `for i in range_(n)` and index it")

    def __getitem__(self, index: Any) -> Any:
        if _is_everything(index):
            return self
        context = emitting("memory was read")
        operands = [self.value, *_indices(self._type, index)]
        return Scalar(context.create("memref.load", operands, [self._type.element]).result)

    def __setitem__(self, index: Any, value: Any) -> None:
        context = emitting("memory was written")
        what = f"an element of {describe(self._type)}"
        # In this order the constants of the indices stand before that of the value, or after the
        # value when that was computed before.
        indices = _indices(self._type, index)
        stored = as_value(value, self._type.element, what)
        context.create("memref.store", [stored, self.value, *indices])

    def __repr__(self) -> str:
        return f"<traced memory {describe(self.type)}>"


def wrap(value: Value) -> Any:
    """A value of the IR with Python's operators."""
    return MemRef(value) if isinstance(value.type, MemRefType) else Scalar(value)


def _is_everything(index: Any) -> bool:
    if index is Ellipsis:
        return True
    parts = index if isinstance(index, tuple) else (index,)
    return all(isinstance(p, slice) and p == slice(None) for p in parts) and bool(parts)


def _indices(type: MemRefType, index: Any) -> list[Value]:
    parts: Sequence[Any] = index if isinstance(index, tuple) else (index,)
    if any(isinstance(p, slice) for p in parts):
        raise TypeError("memory is indexed element by element; slices of it are not supported")
    if len(parts) != type.rank:
        raise IndexError(
            f"memory of shape {type.shape} takes {type.rank} indices, found {len(parts)}"
        )
    return [
        as_index(_bounded(part, extent, axis, type))
        for axis, (part, extent) in enumerate(zip(parts, type.shape, strict=True))
    ]


def _bounded(part: Any, extent: int, axis: int, type: MemRefType) -> Any:
    if not isinstance(part, (int, np.integer)) or isinstance(part, bool):
        return part
    if not -extent <= part < extent:
        raise IndexError(f"index {part} is outside of axis {axis} of memory of shape {type.shape}")
    return int(part) % extent
