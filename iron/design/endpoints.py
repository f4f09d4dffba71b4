"""Who stands at the ends of the fifos of one design.

A handle is the user's wish for an end; here it is bound, for one resolve, to the core, the host or
the link that uses it. Also owns the names fifos get in that design. Knows nothing of placement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .tiles import AIETileType, AnyShimTile, Tile

if TYPE_CHECKING:
    from .context import DesignContext
    from .dataflow.handles import ObjectFifoHandle
    from .dataflow.links import ObjectFifoLink
    from .dataflow.objectfifo import ObjectFifo

CORE, HOST, LINK, TILE = "core", "host", "link", "tile"
_SHIMS = (AIETileType.ShimNOCTile, AIETileType.ShimPLTile)


@dataclass(frozen=True, eq=False)
class Endpoint:
    """One user of one end of a fifo: `kind` is CORE, HOST, LINK, or TILE for an end that nothing
    uses and that lies somewhere all the same; `owner` the Worker, Runtime, link or handle, `label`
    how messages call it."""

    kind: str
    tile: Tile
    owner: Any
    label: str


@dataclass
class Endpoints:
    """All fifos of a design, in the order they were met, and the bindings of their handles.
    `traced` and `producers` are handles made in traced bodies: they belong to this design only."""

    fifos: dict[ObjectFifo, str] = field(default_factory=dict)
    bound: dict[ObjectFifoHandle, Endpoint] = field(default_factory=dict)
    traced: dict[ObjectFifo, list[ObjectFifoHandle]] = field(default_factory=dict)
    producers: dict[ObjectFifo, ObjectFifoHandle] = field(default_factory=dict)

    def meet(self, context: DesignContext, handles: Iterable[ObjectFifoHandle]) -> None:
        """Take the fifos of `handles`, and all linked to them, into the design. Unnamed ones are
        numbered in the order they were made, whatever else was built before."""
        new: dict[ObjectFifo, None] = {}
        for handle in handles:
            for fifo in _linked(handle.fifo):
                if fifo not in self.fifos:
                    new[fifo] = None
        for fifo in new:
            if fifo.given_name is not None:
                self.fifos[fifo] = context.define(fifo.given_name, "an ObjectFifo", fifo.where)
        for fifo in sorted((f for f in new if f.given_name is None), key=lambda f: f.serial):
            if fifo.parent is None:
                self.fifos[fifo] = context.fresh("of", "an ObjectFifo", fifo.where)
            else:
                name = f"{self.fifos[fifo.parent]}{fifo.suffix}"
                self.fifos[fifo] = context.define(name, "an ObjectFifo", fifo.where)

    def bind(self, handle: ObjectFifoHandle, endpoint: Endpoint) -> None:
        """ValueError when someone else has the handle already."""
        known = self.bound.get(handle)
        if known is not None and known.owner is not endpoint.owner:
            end = "producer" if handle.is_producer else "consumer"
            fix = (
                "a fifo has one producer"
                if handle.is_producer
                else "call .cons() once for each of them"
            )
            raise ValueError(
                f"one {end} handle of ObjectFifo {self.label(handle.fifo)} is used by "
                f"{known.label} and by {endpoint.label}; {fix}"
            )
        if known is None:
            self.bound[handle] = endpoint

    def bind_host(self, handle: ObjectFifoHandle, runtime: Any) -> None:
        tile = shim_tile(handle.shim_tile)
        self.bind(handle, Endpoint(HOST, tile, runtime, "the Runtime"))

    def producer(self, fifo: ObjectFifo) -> Endpoint:
        """Who fills the fifo; ValueError when nobody does."""
        return self._endpoint(self.producer_handle(fifo))

    def producer_handle(self, fifo: ObjectFifo) -> ObjectFifoHandle:
        handle = fifo.producer_handle or self.producers.get(fifo)
        if handle is None:
            raise ValueError(
                f"ObjectFifo {self.label(fifo)} has no producer: call .prod() and pass the handle "
                "to a Worker or to the Runtime"
            )
        return handle

    def consumers(self, fifo: ObjectFifo) -> list[tuple[ObjectFifoHandle, Endpoint]]:
        """Who empties the fifo, the host at most once; ValueError when nobody does, or when two
        handles ask different things of the host."""
        handles = [*fifo.consumer_handles, *self.traced.get(fifo, ())]
        if not handles:
            raise ValueError(
                f"ObjectFifo {self.label(fifo)} has no consumer: call .cons() and pass the handle "
                "to a Worker or to the Runtime"
            )
        ends: list[tuple[ObjectFifoHandle, Endpoint]] = []
        for handle in handles:
            endpoint = self._endpoint(handle)
            twin = next((h for h, e in ends if e.kind == HOST == endpoint.kind), None)
            if twin is None:
                ends.append((handle, endpoint))
            elif not twin.same_wishes(handle):
                raise ValueError(
                    f"the Runtime drains ObjectFifo {self.label(fifo)} through two different "
                    f"handles, of {twin.where} and {handle.where}; use one of them for both"
                )
        return ends

    def ends(self, fifo: ObjectFifo) -> list[Endpoint]:
        """The producer, then every consumer."""
        return [self.producer(fifo), *(e for _, e in self.consumers(fifo))]

    def _endpoint(self, handle: ObjectFifoHandle) -> Endpoint:
        if handle.link is not None:
            link = handle.link
            return Endpoint(LINK, link.tile, link, f"the link of {link.where}")
        endpoint = self.bound.get(handle)
        if endpoint is None and handle.endpoint is not None:
            return Endpoint(TILE, handle.endpoint.tile, handle, "the tile it was given")
        if endpoint is None:
            end = "producer" if handle.is_producer else "consumer"
            raise ValueError(
                f"the {end} of ObjectFifo {self.label(handle.fifo)} made at {handle.where} is used "
                "by nobody: pass the handle in fn_args of a Worker that is in the Program's "
                "workers, or in fn_args of the Runtime"
            )
        return endpoint

    def label(self, fifo: ObjectFifo) -> str:
        return f"{self.fifos.get(fifo, fifo.name)!r} ({fifo.where})"

    def links(self) -> list[ObjectFifoLink]:
        """Every link between fifos of the design, once."""
        found: dict[ObjectFifoLink, None] = {}
        for fifo in self.fifos:
            for handle in fifo.handles:
                if handle.link is not None:
                    found[handle.link] = None
        return list(found)


def _linked(fifo: ObjectFifo) -> Iterator[ObjectFifo]:
    """The fifo and all that forward, split and join tie to it."""
    seen: dict[ObjectFifo, None] = {}
    todo = [fifo]
    while todo:
        fifo = todo.pop(0)
        if fifo in seen:
            continue
        seen[fifo] = None
        for handle in fifo.handles:
            if handle.link is not None:
                todo += [h.fifo for h in (*handle.link.sources, *handle.link.targets)]
    # A derived name needs its parent's first.
    yield from sorted(seen, key=lambda f: f.serial)


def shim_tile(tile: Tile | None) -> Tile:
    """A shim tile as wished; ValueError for a wish of another kind."""
    tile = tile if tile is not None else AnyShimTile
    if tile.tile_type in _SHIMS:
        return tile.copy() if tile is AnyShimTile else tile
    return tile.with_type(
        AIETileType.ShimNOCTile,
        mismatch_msg=f"RuntimeEndpoint requires a shim tile, found {tile}",
    )
