"""Tiles as the user names them: wholly, partly, or only by kind. Where an unnamed one lands is
the business of `placement`, and is never written back here."""

from __future__ import annotations

from typing import Any

from ..ir.dialects.enums import AIETileType

__all__ = ["AIETileType", "AnyComputeTile", "AnyMemTile", "AnyShimTile", "Tile"]


class Tile:
    """A place in the array. ``Tile(0, 2)`` is that one, ``Tile(col=1)`` any of column 1,
    ``Tile()`` any at all. Two tiles are the same only when they are one object: two unnamed tiles
    are two places, and one object given to a Worker and a Buffer puts them together.
    """

    def __init__(
        self,
        col: int | None = None,
        row: int | None = None,
        *,
        tile_type: AIETileType | None = None,
        allocation_scheme: str | None = None,
    ) -> None:
        self.col = col
        self.row = row
        self.tile_type = tile_type
        self.allocation_scheme = allocation_scheme

    def copy(self) -> Tile:
        """Another tile with the same wishes."""
        return Tile(
            self.col,
            self.row,
            tile_type=self.tile_type,
            allocation_scheme=self.allocation_scheme,
        )

    def with_type(
        self,
        tile_type: AIETileType,
        *,
        allocation_scheme: str | None = None,
        mismatch_msg: str | None = None,
    ) -> Tile:
        """Another tile, of kind `tile_type`; ValueError when this one is of another kind."""
        if self.tile_type is not None and self.tile_type != tile_type:
            raise ValueError(
                mismatch_msg or f"expected a tile of kind {tile_type.name}, found {self}"
            )
        tile = self.copy()
        tile.tile_type = tile_type
        if allocation_scheme is not None:
            tile.allocation_scheme = allocation_scheme
        return tile

    @property
    def op(self) -> Any:
        """The traced tile, in a body of a design. Before the bodies, in ``resolve()`` of a part
        that names it in ``tiles()``, it may be named partly; later only wholly."""
        from .context import emitting

        context = emitting(f"{self}.op was used")
        before_placement = context.scope is not None and context.scope.kind == "device"
        if before_placement and (self.col is None or self.row is None):
            if self not in context.wished:
                context.wished[self] = context.device.tile_operation((0, 0))
            return context.wished[self].result
        at = context.device.resolve_tile(self)
        if at not in context.tiles:
            context.tiles[at] = context.device.tile_operation(at)
        return context.tiles[at].result

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __str__(self) -> str:
        kind = f"<{self.tile_type.name}>" if self.tile_type is not None else ""
        col = "?" if self.col is None else self.col
        row = "?" if self.row is None else self.row
        return f"Tile{kind}({col}, {row})"

    __repr__ = __str__


AnyShimTile = Tile(tile_type=AIETileType.ShimNOCTile)
AnyMemTile = Tile(tile_type=AIETileType.MemTile)
AnyComputeTile = Tile(tile_type=AIETileType.CoreTile)
