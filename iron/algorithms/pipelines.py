"""Loops of a Worker that goes through an image row by row, for use inside a core function.

`do_kernel` gets the rows and, last but one or last, the weights: the object of `of_wts`, acquired
once around all rows, or None when there is no such fifo.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from ..design.controlflow import range_


@contextlib.contextmanager
def _held(*fifos: Any) -> Iterator[list[Any]]:
    """One object of each fifo, handed on at the end; None for a fifo that is None."""
    yield [None if f is None else f.acquire(1) for f in fifos]
    for f in fifos:
        if f is not None:
            f.release(1)


def row_at_a_time(
    of_in: Any, of_out: Any, *, n_rows: int, do_kernel: Callable[..., Any], of_wts: Any = None
) -> None:
    """``do_kernel(row, out_row, weights)`` for each of `n_rows` rows."""
    row_at_a_time_tiled(
        of_in, of_out, n_rows=n_rows, n_tiles_per_row=None, do_kernel=do_kernel, of_wts=of_wts
    )


def row_at_a_time_tiled(
    of_in: Any,
    of_out: Any,
    *,
    n_rows: int,
    n_tiles_per_row: int | None,
    do_kernel: Callable[..., Any],
    of_wts: Any = None,
) -> None:
    """``do_kernel(tile, out_tile, weights)`` for each of `n_tiles_per_row` tiles of `n_rows` rows;
    None: a row is one tile."""
    with _held(of_wts) as [weights]:
        for _ in range_(n_rows):
            for _ in [None] if n_tiles_per_row is None else range_(n_tiles_per_row):
                with _held(of_in, of_out) as [row, result]:
                    do_kernel(row, result, weights)


def row_at_a_time_with_skip(
    of_in: Any,
    of_out: Any,
    of_skip: Any,
    *,
    n_rows: int,
    do_kernel: Callable[..., Any],
    of_wts: Any = None,
) -> None:
    """``do_kernel(row, out_row, skip_row, weights)`` for each of `n_rows` rows."""
    with _held(of_wts) as [weights]:
        for _ in range_(n_rows):
            with _held(of_in, of_out, of_skip) as [row, result, skip]:
                do_kernel(row, result, skip, weights)


def sliding_3row(
    of_in: Any, of_out: Any, *, n_out_rows: int, do_kernel: Callable[..., Any], of_wts: Any = None
) -> None:
    """``do_kernel(above, row, below, out_row, weights, border)`` for each of `n_out_rows` rows.

    Beyond the first and the last row that row itself is given again; `border` is 0 for the first
    row, 2 for the last and 1 between. `of_in` needs a depth of at least 3.
    """
    with _held(of_wts) as [weights]:
        rows = of_in.acquire(2)
        with _held(of_out) as [result]:
            do_kernel(rows[0], rows[0], rows[1], result, weights, 0)
        for _ in range_(n_out_rows - 2):
            rows = of_in.acquire(3)
            with _held(of_out) as [result]:
                do_kernel(rows[0], rows[1], rows[2], result, weights, 1)
            of_in.release(1)
        rows = of_in.acquire(2)
        with _held(of_out) as [result]:
            do_kernel(rows[0], rows[1], rows[1], result, weights, 2)
        of_in.release(2)
