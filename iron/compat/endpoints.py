"""Classes of mlir-aie that its tests name and designs do not use."""

from __future__ import annotations

from typing import Any

from ..design.endpoints import shim_tile
from ..design.tiles import Tile


class Resolvable:
    """What mlir-aie calls a part of a design. iron's parts need no base class; one that a user
    writes has ``resolve()`` and ``tiles()``, here none."""

    def tiles(self) -> list[Tile]:
        return []


class ObjectFifoEndpoint:
    """One end of a fifo by its tile."""

    def __init__(self, tile: Tile | None) -> None:
        self._tile = tile

    @property
    def tile(self) -> Tile | None:
        return self._tile


class RuntimeEndpoint(ObjectFifoEndpoint):
    """The host's end of a fifo; ValueError when `tile` is no shim tile."""

    def __init__(self, tile: Tile | None = None) -> None:
        super().__init__(shim_tile(tile))

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, RuntimeEndpoint) and other.tile is self.tile

    __hash__ = object.__hash__
