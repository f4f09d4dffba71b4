"""Drawings of access patterns, with matplotlib when it is installed."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .pattern import Order

MAX_ARROWS = 1024
"""With more visits than this, arrows are drawn only when asked for."""


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot  # type: ignore[import-not-found]
    except ImportError as fault:
        raise ImportError("drawing access patterns needs matplotlib: pip install matplotlib") from (
            fault
        )
    return pyplot


def draw(
    order: Order,
    count: Order | None,
    *,
    title: str,
    show_arrows: bool | None,
    file_path: str | None,
    show_plot: bool,
) -> None:
    """A picture of an order, and of the counts when given; saved to `file_path` if any."""
    if order.ndim != 2:
        raise NotImplementedError(f"tensors of 2 dimensions are drawn, found {order.ndim}")
    pyplot = _pyplot()
    parts = [("access order", order), *([("access count", count)] if count is not None else [])]
    figure, axes = pyplot.subplots(1, len(parts), squeeze=False)
    figure.suptitle(title)
    for axis, (name, values) in zip(axes[0], parts, strict=True):
        figure.colorbar(axis.imshow(values, aspect="auto"), ax=axis)
        axis.set_title(name)
    visits = int(order.max()) + 1
    if show_arrows or (show_arrows is None and 1 < visits <= MAX_ARROWS):
        _arrows(axes[0][0], order, visits)
    if file_path is not None:
        figure.savefig(file_path)
    if show_plot:
        pyplot.show()
    pyplot.close(figure)


def _arrows(axis: Any, order: Order, visits: int) -> None:
    where = {int(n): place for place, n in np.ndenumerate(order) if n >= 0}
    path = [where[n] for n in range(visits) if n in where]
    for (r0, c0), (r1, c1) in itertools.pairwise(path):
        axis.annotate("", (c1, r1), (c0, r0), arrowprops={"arrowstyle": "->", "color": "white"})


def animate(frames: list[Order], title: str) -> Any:
    """An animation with a frame per array, all in one scale; ValueError when there is none."""
    if not frames:
        raise ValueError("a sequence without patterns has nothing to animate")
    pyplot = _pyplot()
    from matplotlib.animation import FuncAnimation  # type: ignore[import-not-found]

    figure, axis = pyplot.subplots()
    scale = {"vmin": min(f.min() for f in frames), "vmax": max(f.max() for f in frames)}
    image = axis.imshow(frames[0], aspect="auto", **scale)
    axis.set_title(title)

    def show(i: int) -> list[Any]:
        image.set_data(frames[i])
        return [image]

    return FuncAnimation(figure, show, frames=len(frames))
