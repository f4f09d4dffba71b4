"""Where every part of a design lies: deterministic, near its users, within DMA channels.

Compute tiles are taken column by column from the lowest row; links (memtiles) and shims then go to
the mean column of those they serve, or the next to the right, or else to the left, that has
channels free. Named tiles are honoured. The result is a map; the user's tiles stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..ir.core import Location
from ..ir.types import bit_width
from .devices import Device
from .endpoints import CORE, HOST, TILE, Endpoint, Endpoints
from .tiles import AIETileType, Tile

if TYPE_CHECKING:
    from .dataflow.links import ObjectFifoLink
    from .dataflow.objectfifo import ObjectFifo
    from .worker import Worker

Place = tuple[int, int]

_MAX_TRIES = 100_000
"""Ends the search among cascades that cannot be placed; designs that can take a few per core."""


class PlacementError(ValueError):
    """A part of the design has no place on the device."""


@dataclass
class _Room:
    """What is left of a tile."""

    dma_in: int
    dma_out: int
    memory: int


@dataclass
class Placement:
    """Places by tile. `place()` of a tile that was not placed is a KeyError."""

    device: Device
    endpoints: Endpoints
    places: dict[Tile, Place] = field(default_factory=dict)
    _rooms: dict[Place, _Room] = field(default_factory=dict)
    _users: dict[Place, list[str]] = field(default_factory=dict)

    def room(self, place: Place) -> _Room:
        if place not in self._rooms:
            r = self.device.resources(self.device.get_tile_type(*place))
            self._rooms[place] = _Room(r.dma_in, r.dma_out, r.memory)
        return self._rooms[place]

    def take(self, place: Place, dma_in: int, dma_out: int, memory: int, who: str) -> None:
        room = self.room(place)
        room.dma_in -= dma_in
        room.dma_out -= dma_out
        room.memory -= memory
        self._users.setdefault(place, []).append(who)

    def users(self, place: Place) -> list[str]:
        return self._users.get(place, [])

    def candidates(self, tile: Tile, kind: AIETileType) -> list[Place]:
        """The places of that kind that a tile's wishes allow, column by column."""
        return [
            (c, r)
            for c, r in self.device.tiles(kind)
            if tile.col in (None, c) and tile.row in (None, r)
        ]

    def fixed(self, tile: Tile, who: str, where: Location) -> Place | None:
        """The place of a wholly named tile, checked; None for others."""
        if tile.col is None or tile.row is None:
            return None
        try:
            return self.device.resolve_tile(tile)
        except ValueError as fault:
            raise PlacementError(f"{who} ({where}): {fault}") from None


def place(
    device: Device, endpoints: Endpoints, workers: list[Worker], others: Iterable[Tile] = ()
) -> dict[Tile, Place]:
    """A place for every tile of the workers, the links, the host's ends and `others`.

    PlacementError naming what did not fit and what the device has.
    """
    p = Placement(device, endpoints)
    others = list(others)
    for tile in others:
        fixed = p.fixed(tile, str(tile), Location())
        if fixed is not None:
            p.places[tile] = fixed
    _place_workers(p, workers)
    _place_links(p)
    _place_ends(p)
    for tile in others:
        if tile not in p.places:
            _place_other(p, tile, [p.places[w.tile][0] for w in workers])
    return p.places


def _place_other(p: Placement, tile: Tile, cols: list[int]) -> None:
    """A tile known by its kind only lies where nothing else does, near the cores. One of no kind,
    or that finds no room, stays without a place."""
    if tile.tile_type is None:
        return
    taken, near = set(p.places.values()), _mean(cols)
    free = [c for c in p.candidates(tile, tile.tile_type) if c not in taken]
    if free:
        p.places[tile] = min(free, key=lambda c: (abs(c[0] - near), c))


def _place_workers(p: Placement, workers: list[Worker]) -> None:
    taken: dict[Place, Worker] = {}
    for worker in workers:
        place = p.fixed(worker.tile, worker.label, worker.where)
        if place is not None:
            _occupy(p, taken, worker, place)
    rest = _by_freedom([w for w in workers if w.tile not in p.places])
    found = _seats(p, rest, taken, _neighbourhood(workers))
    for worker, place in found.items():
        _occupy(p, taken, worker, place)
    for worker in workers:
        _take_channels(p, worker)


def _freedom(tile: Tile) -> int:
    """Parts that may lie in fewer places choose first."""
    return 0 if tile.col is not None or tile.row is not None else 1


def _by_freedom(workers: list[Worker]) -> list[Worker]:
    """In the order given, but those with wishes first, and a cascade's cores one after another."""
    tied = {w for pair in _neighbourhood(workers) for w in pair}
    todo = sorted(workers, key=lambda w: (_freedom(w.tile), w not in tied))
    ordered: dict[Worker, None] = {}
    for worker in todo:
        chain = [worker]
        while chain:
            at = chain.pop(0)
            if at in todo and at not in ordered:
                ordered[at] = None
                chain += [c.dst for c in at._outgoing_cascades]
                chain += [w for w in todo if any(c.dst is at for c in w._outgoing_cascades)]
    return list(ordered)


def _neighbourhood(workers: list[Worker]) -> list[tuple[Worker, Worker]]:
    """(source, target) of every cascade: the target lies one row south or one column east."""
    return [(c.src, c.dst) for w in workers for c in w._outgoing_cascades]


def _seats(
    p: Placement,
    workers: list[Worker],
    taken: dict[Place, Worker],
    cascades: list[tuple[Worker, Worker]],
) -> dict[Worker, Place]:
    """A compute tile for each worker: the first that its wishes, its Buffers and its cascades
    allow, going back on earlier choices only where a cascade asks for it."""
    options = {w: p.candidates(w.tile, AIETileType.CoreTile) for w in workers}
    seats: dict[Worker, Place] = {}
    tries = [iter(options[workers[0]])] if workers else []
    for _ in range(_MAX_TRIES):
        if not tries:
            return seats
        worker = workers[len(tries) - 1]
        seats.pop(worker, None)
        used = {*taken, *seats.values()}
        for place in tries[-1]:
            if place in used or not _reaches_buffers(p, worker, place):
                continue
            seats[worker] = place
            if _cascades_fit(p, worker, seats, cascades):
                break
            del seats[worker]
        if worker not in seats:
            tied = any(worker in pair for pair in cascades)
            if not tied or len(tries) == 1:
                free = any(o not in used for o in options[worker])
                raise PlacementError(_no_compute_tile(p, worker, workers, free))
            tries.pop()
        elif len(seats) == len(workers):
            return seats
        else:
            tries.append(iter(options[workers[len(tries)]]))
    raise PlacementError(
        f"no placement of {len(workers)} Workers with {len(cascades)} cascades was found in "
        f"{_MAX_TRIES} tries; give the tiles of some of them"
    )


def _cascades_fit(
    p: Placement,
    worker: Worker,
    seats: dict[Worker, Place],
    cascades: list[tuple[Worker, Worker]],
) -> bool:
    for src, dst in cascades:
        if worker not in (src, dst):
            continue
        a = seats.get(src) or p.places.get(src.tile)
        b = seats.get(dst) or p.places.get(dst.tile)
        if a is not None and b is not None and b not in ((a[0], a[1] - 1), (a[0] + 1, a[1])):
            return False
    return True


def _occupy(p: Placement, taken: dict[Place, Worker], worker: Worker, place: Place) -> None:
    other = taken.get(place)
    if other is not None:
        raise PlacementError(
            f"tile {place} of {p.device.name} already has a core: {other.label} and {worker.label} "
            "are both placed there"
        )
    taken[place] = worker
    p.places[worker.tile] = place


def _reaches_buffers(p: Placement, worker: Worker, at: Place) -> bool:
    """A core reads the memory of its own tile, of those above and below, and of the one to the
    west."""
    col, row = at
    reach = {(col, row), (col, row + 1), (col, row - 1), (col - 1, row)}
    pinned = [b.tile for b in worker.buffers if b.tile is not None and b.tile is not worker.tile]
    return all(p.places[t] in reach for t in pinned if t in p.places)


def _no_compute_tile(p: Placement, worker: Worker, workers: list[Worker], some_free: bool) -> str:
    count = len(list(p.device.tiles(AIETileType.CoreTile)))
    wish = "" if worker.tile.col is None and worker.tile.row is None else f" at {worker.tile}"
    reason = (
        "no free one is next to the tiles of its Buffers or cascades"
        if some_free
        else f"{len(workers)} Workers ask for one"
    )
    return (
        f"{worker.label}: no compute tile is left{wish}; {p.device.name} has {count} "
        f"({p.device.cols} columns) and {reason}"
    )


def _take_channels(p: Placement, worker: Worker) -> None:
    place = p.places[worker.tile]
    fifos_in, fifos_out = _streams(p, worker)
    who = f"{worker.label}: {', '.join(p.endpoints.fifos[f] for f in fifos_in + fifos_out)}"
    p.take(place, len(fifos_in), len(fifos_out), 0, who)
    room = p.device.resources(AIETileType.CoreTile)
    for count, fifos, have, what in (
        (len(fifos_in), fifos_in, room.dma_in, "incoming (S2MM)"),
        (len(fifos_out), fifos_out, room.dma_out, "outgoing (MM2S)"),
    ):
        if count > have:
            names = ", ".join(p.endpoints.label(f) for f in fifos)
            raise PlacementError(
                f"{worker.label} needs {count} {what} DMA channels, a compute tile of "
                f"{p.device.name} has {have}: {names}"
            )


def _streams(p: Placement, worker: Worker) -> tuple[list[ObjectFifo], list[ObjectFifo]]:
    """The fifos that reach a worker through its tile's DMA: those whose other end is no core."""
    into: list[ObjectFifo] = []
    out: list[ObjectFifo] = []
    for fifo in sorted(p.endpoints.fifos, key=lambda f: p.endpoints.fifos[f]):
        if fifo.aie_stream is not None:
            continue
        producer, *consumers = p.endpoints.ends(fifo)
        if producer.owner is worker and any(e.kind != CORE for e in consumers):
            out.append(fifo)
        elif producer.kind != CORE and any(e.owner is worker for e in consumers):
            into.append(fifo)
    return into, out


def _place_links(p: Placement) -> None:
    links = sorted(
        p.endpoints.links(),
        key=lambda k: (_freedom(k.tile), -len(k.sources) - len(k.targets), _link_name(p, k)),
    )
    for link in links:
        who = f"the link of {link.where} ({_link_name(p, link)})"
        wish = link.tile.tile_type
        kind = AIETileType.MemTile if wish is None else wish
        need = (len(link.sources), len(link.targets), _link_memory(link))
        fixed = p.fixed(link.tile, who, link.where)
        if fixed is None:
            cols = [p.places[e.tile][0] for e in _neighbours(p, link) if e.tile in p.places]
            fixed = _nearest(p, link.tile, kind, _mean(cols), need, who)
        p.places[link.tile] = fixed
        p.take(fixed, *need, who)


def _link_name(p: Placement, link: ObjectFifoLink) -> str:
    names = [p.endpoints.fifos[h.fifo] for h in (*link.sources, *link.targets)]
    return ", ".join(names)


def _link_memory(link: ObjectFifoLink) -> int:
    """Bytes a link keeps: the objects of its larger side, as deep as asked."""
    single = link.sources[0] if len(link.sources) == 1 else link.targets[0]
    memref = single.fifo.memref
    return single.depth * memref.size * bit_width(memref.element) // 8


def _neighbours(p: Placement, link: ObjectFifoLink) -> Iterator[Endpoint]:
    for handle in (*link.sources, *link.targets):
        for end in p.endpoints.ends(handle.fifo):
            if end.owner is not link and end.kind == CORE:
                yield end


def _place_ends(p: Placement) -> None:
    for fifo in sorted(p.endpoints.fifos, key=lambda f: p.endpoints.fifos[f]):
        producer, *consumers = p.endpoints.ends(fifo)
        for end, others, need in (
            (producer, consumers, (0, 1, 0)),
            *((c, [producer], (1, 0, 0)) for c in consumers),
        ):
            if end.kind in (HOST, TILE):
                _place_end(p, fifo, end, others, need)


def _place_end(
    p: Placement,
    fifo: ObjectFifo,
    end: Endpoint,
    others: list[Endpoint],
    need: tuple[int, int, int],
) -> None:
    whose, usual = (
        ("host's", AIETileType.ShimNOCTile) if end.kind == HOST else ("free", AIETileType.MemTile)
    )
    who = f"the {whose} end of ObjectFifo {p.endpoints.label(fifo)}"
    fixed = p.fixed(end.tile, who, fifo.where)
    if fixed is None:
        cols = [p.places[e.tile][0] for e in others if e.tile in p.places]
        wish = end.tile.tile_type
        kind = usual if wish is None else wish
        fixed = _nearest(p, end.tile, kind, _mean(cols), need, who)
    p.places[end.tile] = fixed
    p.take(fixed, *need, who)


def _mean(cols: list[int]) -> int:
    return round(sum(cols) / len(cols)) if cols else 0


def _nearest(
    p: Placement, tile: Tile, kind: AIETileType, col: int, need: tuple[int, int, int], who: str
) -> Place:
    every = p.candidates(tile, kind)
    right = [c for c in every if c[0] >= col]
    left = [c for c in reversed(every) if c[0] < col]
    fitting = [c for c in (*right, *left) if _has_channels(p.room(c), need)]
    roomy = [c for c in fitting if p.room(c).memory >= need[2]]
    if roomy or fitting:  # memory is checked when it is laid out; here it only spreads
        return (roomy or fitting)[0]
    raise PlacementError(_no_room(p, tile, kind, need, who, every))


def _has_channels(room: _Room, need: tuple[int, int, int]) -> bool:
    return room.dma_in >= need[0] and room.dma_out >= need[1]


def _no_room(
    p: Placement,
    tile: Tile,
    kind: AIETileType,
    need: tuple[int, int, int],
    who: str,
    every: list[Place],
) -> str:
    r = p.device.resources(kind)
    wish = f" that {tile} allows" if tile.col is not None or tile.row is not None else ""
    lines = [
        f"{who} needs {need[0]} incoming (S2MM) and {need[1]} outgoing (MM2S) DMA channels of a "
        f"{kind.name}; {p.device.name} has {len(every)}{wish}, with {r.dma_in} and {r.dma_out} "
        "each, and none has so many left"
    ]
    for place in every:
        room = p.room(place)
        lines.append(f"  {place}: {room.dma_in} and {room.dma_out} left")
        lines += [f"    used by {user}" for user in p.users(place)]
    lines.append("  use a device with more columns, or fewer fifos to the host")
    return "\n".join(lines)
