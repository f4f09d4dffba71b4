"""TensorAccessSequence: walks through one tensor, one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, MutableSequence, Sequence
from typing import Any, overload

import numpy as np

from . import checks
from .pattern import Order, TensorAccessPattern


class TensorAccessSequence(MutableSequence[TensorAccessPattern]):
    """A list of patterns over one tensor.

    Made from fixed `offset`, `sizes` and `strides`, or from functions of the step and the value
    before (at first the fixed one): ``offset_fn(step, offset)``, and likewise the others.
    ValueError when one is given neither way, or any is given for no steps.
    """

    def __init__(
        self,
        tensor_dims: Sequence[int],
        num_steps: int,
        offset: int | None = None,
        sizes: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        offset_fn: Callable[[int, Any], int] | None = None,
        sizes_fn: Callable[[int, Any], Sequence[int]] | None = None,
        strides_fn: Callable[[int, Any], Sequence[int]] | None = None,
    ) -> None:
        self._dims = checks.tensor_dims(tensor_dims)
        self._taps: list[TensorAccessPattern] = []
        if num_steps < 0:
            raise ValueError(f"a sequence has at least 0 steps, found {num_steps}")
        given = (offset, sizes, strides, offset_fn, sizes_fn, strides_fn)
        if num_steps == 0:
            if any(g is not None for g in given):
                raise ValueError("a sequence of 0 steps takes no offset, sizes or strides")
            return
        next_offset = _next("offset", offset, offset_fn)
        next_sizes = _next("sizes", sizes, sizes_fn)
        next_strides = _next("strides", strides, strides_fn)
        now: tuple[Any, Any, Any] = (offset, sizes, strides)
        for step in range(num_steps):
            now = next_offset(step, now[0]), next_sizes(step, now[1]), next_strides(step, now[2])
            self._taps.append(TensorAccessPattern(self._dims, *now))

    @classmethod
    def from_taps(cls, taps: Iterable[TensorAccessPattern]) -> TensorAccessSequence:
        """A sequence of given patterns; ValueError when there are none or their tensors differ."""
        taps = list(taps)
        if not taps:
            raise ValueError("a sequence is made from at least one pattern")
        sequence = cls(taps[0].tensor_dims, 0)
        sequence.extend(taps)
        return sequence

    @property
    def tensor_dims(self) -> list[int]:
        """Extents of the tensor in elements, outermost first."""
        return list(self._dims)

    def accesses(self) -> tuple[Order, Order]:
        """(`access_order()`, `access_count()`)."""
        return self.access_order(), self.access_count()

    def access_order(self) -> Order:
        """int32 of the tensor's shape: the number of an element's last visit, counted over all
        patterns in turn, -1 for none."""
        order = np.full(math.prod(self._dims), -1, dtype=np.int32)
        start = 0
        for tap in self._taps:
            visits = tap.indices()
            order[visits] = np.arange(start, start + len(visits), dtype=np.int32)
            start += len(visits)
        return order.reshape(self._dims)

    def access_count(self) -> Order:
        """int32 of the tensor's shape: how often an element is visited by all patterns."""
        count = np.zeros(self._dims, dtype=np.int32)
        for tap in self._taps:
            count += tap.access_count()
        return count

    def compare_access_orders(self, other: TensorAccessSequence) -> bool:
        """Whether both have as many patterns, each pair visiting the same in the same order."""
        return len(self) == len(other) and all(
            a.compare_access_orders(b) for a, b in zip(self, other, strict=True)
        )

    def visualize(
        self,
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
            title=title or "TensorAccessSequence",
            show_arrows=False,
            file_path=file_path,
            show_plot=show_plot,
        )

    def animate(self, title: str | None = None, animate_access_count: bool = False) -> Any:
        """A matplotlib animation, a frame per pattern."""
        from .plots import animate

        frames = [t.access_count() if animate_access_count else t.access_order() for t in self]
        return animate(frames, title or "TensorAccessSequence Animation")

    @overload
    def __getitem__(self, index: int) -> TensorAccessPattern: ...
    @overload
    def __getitem__(self, index: slice) -> list[TensorAccessPattern]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self._taps[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._taps[index] = self._checked(value)

    def __delitem__(self, index: int | slice) -> None:
        del self._taps[index]

    def __len__(self) -> int:
        return len(self._taps)

    def insert(self, index: int, value: TensorAccessPattern) -> None:
        """Insert a pattern before `index`; ValueError when its tensor has other extents."""
        self._taps.insert(index, self._checked(value))

    def _checked(self, tap: TensorAccessPattern) -> TensorAccessPattern:
        if tap.tensor_dims != self._dims:
            raise ValueError(
                f"a pattern over a tensor {tap.tensor_dims} does not belong into a sequence over "
                f"{self._dims}"
            )
        return tap

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorAccessSequence) and self._taps == other._taps

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"TensorAccessSequence({self._dims}, {len(self)} patterns)"


def _next(what: str, fixed: Any, function: Callable[[int, Any], Any] | None) -> Any:
    if function is not None:
        return function
    if fixed is None:
        raise ValueError(f"{what} must be given, either fixed or as {what}_fn")
    return lambda _step, _before: fixed
