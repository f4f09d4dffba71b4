"""The link a tile makes between fifos that end at it and fifos that start there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...ir.core import Location
from ..context import ScopeError, current, here
from ..tiles import AIETileType, AnyMemTile, Tile

if TYPE_CHECKING:
    from .handles import ObjectFifoHandle


class ObjectFifoLink:
    """Several sources and one target, or one source and several targets, at one tile (a memtile
    unless another kind is asked for). Offsets are in elements of the single one's objects.

    ValueError when a handle is linked already, or the counts do not fit.
    """

    def __init__(
        self,
        srcs: Sequence[ObjectFifoHandle] | ObjectFifoHandle,
        dsts: Sequence[ObjectFifoHandle] | ObjectFifoHandle,
        tile: Tile | None = AnyMemTile,
        src_offsets: Sequence[int] | None = None,
        dst_offsets: Sequence[int] | None = None,
    ) -> None:
        if current() is not None:
            raise ScopeError(
                "forward(), split() and join() belong outside of core_fn and seq_fn: they are "
                "parts of the design, not steps of it"
            )
        srcs = list(srcs) if isinstance(srcs, Sequence) else [srcs]
        dsts = list(dsts) if isinstance(dsts, Sequence) else [dsts]
        if not srcs or not dsts or (len(srcs) > 1 and len(dsts) > 1):
            raise ValueError(
                f"a link joins many fifos into one or splits one into many, found {len(srcs)} "
                f"sources and {len(dsts)} targets"
            )
        for what, handles, offsets in (
            ("source", srcs, src_offsets),
            ("target", dsts, dst_offsets),
        ):
            if offsets and len(offsets) != len(handles):
                raise ValueError(
                    f"a link of {len(handles)} {what}s takes as many {what} offsets, found "
                    f"{len(offsets)}"
                )
        for handle in (*srcs, *dsts):
            if handle.link is not None:
                raise ValueError(
                    f"the {handle.handle_type} handle of ObjectFifo {handle.name} is already "
                    f"linked at {handle.link.where}; "
                    + ("a fifo has one producer" if handle.is_producer else "call .cons() again")
                )
        tile = tile if tile is not None else AnyMemTile
        pinned = tile.col is not None and tile.row is not None
        if tile.tile_type is None and not pinned:
            tile = tile.with_type(AIETileType.MemTile)
        self.tile = tile.copy()
        self.sources = tuple(srcs)
        self.targets = tuple(dsts)
        self.source_offsets = tuple(int(o) for o in src_offsets or ())
        self.target_offsets = tuple(int(o) for o in dst_offsets or ())
        self.where: Location = here()
        for handle in (*srcs, *dsts):
            handle.link = self


class PerOffset:
    """Checks that every list given to split or join has one entry per offset."""

    def __init__(self, fifo: str, n: int) -> None:
        if n == 0:
            raise ValueError(f"ObjectFifo {fifo}: at least one offset is needed")
        self._n = n
        self._of = fifo

    def of(self, what: str, given: Sequence[Any] | None, default: Any) -> list[Any]:
        if given is None:
            return [default] * self._n
        if len(given) != self._n:
            raise ValueError(
                f"Number of {what} does not match number of offsets: ObjectFifo {self._of} has "
                f"{len(given)} and {self._n}"
            )
        return list(given)
