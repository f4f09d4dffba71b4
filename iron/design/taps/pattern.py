"""TensorAccessPattern: one walk through a tensor."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from . import checks

Order = np.ndarray[Any, np.dtype[np.int32]]


class TensorAccessPattern:
    """Visits ``offset + i0*stride0 + i1*stride1 + ...`` for i0 in range(size0), i1 in ..., the last
    index fastest. Numbers are in elements of the tensor laid out row by row; an index past its end
    wraps around. A tensor of one dimension n is taken as (1, n).

    ValueError for sizes below 1, negative strides or an offset outside of the tensor.
    """

    def __init__(
        self,
        tensor_dims: Sequence[int],
        offset: int,
        sizes: Sequence[int],
        strides: Sequence[int],
    ) -> None:
        self._dims = checks.tensor_dims(tensor_dims)
        self._offset = checks.offset(offset, self._dims)
        self._sizes, self._strides = checks.walk(sizes, strides)

    @property
    def tensor_dims(self) -> list[int]:
        """Extents of the tensor in elements, outermost first."""
        return list(self._dims)

    @property
    def offset(self) -> int:
        """Where the first visit is, in elements."""
        return self._offset

    @property
    def sizes(self) -> list[int]:
        """Visits of each dimension, outermost first."""
        return list(self._sizes)

    @property
    def strides(self) -> list[int]:
        """Steps of each dimension in elements, outermost first."""
        return list(self._strides)

    @property
    def transformation_dims(self) -> list[tuple[int, int]]:
        """(size, stride) pairs, outermost first."""
        return list(zip(self._sizes, self._strides, strict=True))

    def indices(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The flat index of every visit, in order; int64 of shape (number of visits,)."""
        found = np.array([self._offset], dtype=np.int64)
        for size, stride in self.transformation_dims:
            found = (found[:, None] + np.arange(size, dtype=np.int64) * stride).reshape(-1)
        return found % math.prod(self._dims)

    def access_generator(self) -> Iterator[int]:
        """The flat index of every visit, in order."""
        return iter(self.indices().tolist())

    def accesses(self) -> tuple[Order, Order]:
        """(`access_order()`, `access_count()`)."""
        return self.access_order(), self.access_count()

    def access_order(self) -> Order:
        """int32 of the tensor's shape: the number of an element's last visit, -1 for none."""
        order = np.full(math.prod(self._dims), -1, dtype=np.int32)
        visits = self.indices()
        order[visits] = np.arange(len(visits), dtype=np.int32)
        return order.reshape(self._dims)

    def access_count(self) -> Order:
        """int32 of the tensor's shape: how often an element is visited."""
        count = np.bincount(self.indices(), minlength=math.prod(self._dims))
        return count.astype(np.int32).reshape(self._dims)

    def compare_access_orders(self, other: TensorAccessPattern) -> bool:
        """Whether both visit the same elements in the same order, however that is written."""
        if not isinstance(other, TensorAccessPattern):
            raise ValueError(f"access orders of patterns are compared, found {other!r}")
        return bool(np.array_equal(self.indices(), other.indices()))

    def visualize(
        self,
        show_arrows: bool | None = None,
        title: str | None = None,
        file_path: str | None = None,
        show_plot: bool = True,
        plot_access_count: bool = False,
    ) -> None:
        """Draw the order with matplotlib; NotImplementedError unless it has 2 dimensions."""
        from .plots import draw

        draw(
            self.access_order(),
            self.access_count() if plot_access_count else None,
            title=title or str(self),
            show_arrows=show_arrows,
            file_path=file_path,
            show_plot=show_plot,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorAccessPattern) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return tuple(self._dims), self._offset, tuple(self._sizes), tuple(self._strides)

    def __str__(self) -> str:
        return (
            f"TensorAccessPattern({self._dims} offset={self._offset}, sizes={self._sizes}, "
            f"strides={self._strides})"
        )

    __repr__ = __str__
