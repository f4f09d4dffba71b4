"""TensorTiler2D: the usual tilings of a matrix as sequences of patterns.

A matrix is cut into tiles; a pattern visits a group of tiles: `repeats` of them along each axis,
`steps` tiles apart. Everything follows from one axis at a time (`_Axis`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import checks
from .pattern import TensorAccessPattern
from .sequence import TensorAccessSequence


@dataclass(frozen=True)
class _Axis:
    """One axis in units of tiles: how many, how many in a group, how far apart."""

    tile: int
    tiles: int
    repeat: int
    step: int

    @property
    def positions(self) -> int:
        """How many groups start along this axis. A group of `repeat` tiles, `step` apart, leaves
        room for `step` interleaved ones; what is left at the end gets smaller groups."""
        block = self.step * self.repeat
        full, left = divmod(self.tiles, block)
        rest = self.step * (left // self.step)
        return full * self.step + ((left // rest) * self.step if rest else left)

    def start(self, position: int) -> int:
        """The first tile of a group."""
        chunk, inside = divmod(position, self.step)
        return chunk * self.step * self.repeat + inside

    def group(self, start: int) -> int:
        """How many tiles the group that starts there has, cut at the end of the axis."""
        return min(self.repeat, _ceil(self.tiles - start, self.step))


def _axis(extent: int, tile: int, repeat: int, step: int) -> _Axis:
    tiles = extent // tile
    return _Axis(tile, tiles, min(repeat, _ceil(tiles, step)), 1 if step > tiles else step)


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


class TensorTiler2D:
    """Makes sequences of patterns; it has no instances.

    `tile_dims` is (height, width) of a tile in elements and divides the tensor. Within a tile,
    within a group and between groups the order is row by row, or column by column with
    `tile_col_major`, `tile_group_col_major`, `iter_col_major`. `pattern_repeat` visits everything
    so often. `prune_step` merges neighbouring tiles where that is the same order.
    ValueError for what does not divide, or takes more than the four dimensions of a DMA.
    """

    def __init__(self) -> None:
        raise TypeError("TensorTiler2D has no instances; call its tilers")

    @classmethod
    def simple_tiler(
        cls,
        tensor_dims: Sequence[int],
        tile_dims: Sequence[int] | None = None,
        tile_col_major: bool = False,
        iter_col_major: bool = False,
        pattern_repeat: int = 1,
        prune_step: bool = True,
    ) -> TensorAccessSequence:
        """One pattern per tile; one for the whole tensor without `tile_dims`."""
        return cls.group_tiler(
            tensor_dims,
            tensor_dims if tile_dims is None else tile_dims,
            tile_col_major=tile_col_major,
            iter_col_major=iter_col_major,
            pattern_repeat=pattern_repeat,
            prune_step=prune_step,
        )

    @classmethod
    def group_tiler(
        cls,
        tensor_dims: Sequence[int],
        tile_dims: Sequence[int],
        tile_group_dims: Sequence[int] | None = None,
        tile_col_major: bool = False,
        tile_group_col_major: bool = False,
        iter_col_major: bool = False,
        pattern_repeat: int = 1,
        allow_partial: bool = False,
        prune_step: bool = True,
    ) -> TensorAccessSequence:
        """One pattern per group of adjacent tiles, `tile_group_dims` (in tiles) large."""
        return cls.step_tiler(
            tensor_dims,
            tile_dims,
            (1, 1) if tile_group_dims is None else tile_group_dims,
            tile_col_major=tile_col_major,
            tile_group_col_major=tile_group_col_major,
            iter_col_major=iter_col_major,
            allow_partial=allow_partial,
            pattern_repeat=pattern_repeat,
            prune_step=prune_step,
        )

    @classmethod
    def step_tiler(
        cls,
        tensor_dims: Sequence[int],
        tile_dims: Sequence[int],
        tile_group_repeats: Sequence[int],
        tile_group_steps: Sequence[int] | None = None,
        tile_col_major: bool = False,
        tile_group_col_major: bool = False,
        iter_col_major: bool = False,
        allow_partial: bool = False,
        pattern_repeat: int = 1,
        prune_step: bool = True,
    ) -> TensorAccessSequence:
        """One pattern per group of `tile_group_repeats` tiles that lie `tile_group_steps` apart.
        `allow_partial` lets groups be cut at the edges of the tensor."""
        dims = checks.tensor_dims(tensor_dims, 2)
        tile = checks.tensor_dims(tile_dims, 2)
        repeats = checks.tensor_dims(tile_group_repeats, 2)
        steps = checks.tensor_dims((1, 1) if tile_group_steps is None else tile_group_steps, 2)
        _check(dims, tile, repeats, steps, allow_partial, pattern_repeat)
        rows, cols = (
            _axis(d, t, r, s) for d, t, r, s in zip(dims, tile, repeats, steps, strict=True)
        )
        layout = _Layout(dims[1], tile_col_major, tile_group_col_major, prune_step, pattern_repeat)
        taps = [
            layout.pattern(dims, rows, cols, rows.start(r), cols.start(c))
            for r, c in _positions(rows.positions, cols.positions, iter_col_major)
        ]
        return TensorAccessSequence.from_taps(taps)


def _positions(rows: int, cols: int, col_major: bool) -> list[tuple[int, int]]:
    if col_major:
        return [(r, c) for c in range(cols) for r in range(rows)]
    return [(r, c) for r in range(rows) for c in range(cols)]


def _check(
    dims: list[int],
    tile: list[int],
    repeats: list[int],
    steps: list[int],
    allow_partial: bool,
    pattern_repeat: int,
) -> None:
    if isinstance(pattern_repeat, bool) or not isinstance(pattern_repeat, int):
        raise ValueError(f"pattern_repeat is an integer, found {pattern_repeat!r}")
    if pattern_repeat < 1:
        raise ValueError(f"pattern_repeat is at least 1, found {pattern_repeat}")
    for i, (d, t, r, s) in enumerate(zip(dims, tile, repeats, steps, strict=True)):
        if d % t:
            raise ValueError(f"tensor dimension {i} ({d}) is not divisible by the tile's ({t})")
        if not allow_partial and d % (t * r * s):
            raise ValueError(
                f"tensor dimension {i} ({d}) does not divide evenly into groups of {r} tiles of "
                f"{t}, {s} apart; allow_partial=True cuts them at the edge"
            )


@dataclass(frozen=True)
class _Layout:
    """How a group becomes sizes and strides."""

    width: int
    tile_col_major: bool
    group_col_major: bool
    prune: bool
    pattern_repeat: int

    def pattern(
        self, dims: list[int], rows: _Axis, cols: _Axis, row: int, col: int
    ) -> TensorAccessPattern:
        down, right = rows.group(row), cols.group(col)
        height, width = rows.tile, cols.tile
        if self.prune and not self.tile_col_major and self.group_col_major and rows.step == 1:
            height, down = height * down, 1  # tiles below each other are one higher tile
        elif self.prune and self.tile_col_major and not self.group_col_major and cols.step == 1:
            width, right = width * right, 1
        outer = self._group((down, self.width * height * rows.step), (right, width * cols.step))
        inner = [(height, self.width), (width, 1)]
        pairs = outer + (inner[::-1] if self.tile_col_major else inner)
        sizes, strides = checks.walk(*zip(*pairs, strict=True))
        if self.pattern_repeat != 1:
            if sizes[0] != 1:
                raise ValueError(
                    f"pattern_repeat takes a fifth dimension here (sizes {sizes}, strides "
                    f"{strides}); a DMA has four"
                )
            sizes[0] = self.pattern_repeat
        offset = row * rows.tile * self.width + col * cols.tile
        return TensorAccessPattern(dims, offset, sizes, strides)

    def _group(self, down: tuple[int, int], right: tuple[int, int]) -> list[tuple[int, int]]:
        """The two outer (size, stride) pairs."""
        if down[0] > 1 and right[0] > 1:
            return [right, down] if self.group_col_major else [down, right]
        if down[0] > 1:
            return [(1, 0), down]
        return [(1, 0), right] if right[0] > 1 else [(1, 0), (1, 0)]
