"""A device being lowered: its network so far and which operation became which part of it.

Owns the naming of the parts; the rules of each kind of operation are elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from iron.ir.core import Operation, Value

from . import reading as r
from .errors import refuse
from .network import Buffer, Channel, End, Lock, Network, Port, Route, Tile

SEND, RECEIVE = "MM2S", "S2MM"
DIRECTIONS = (RECEIVE, SEND)  # by number of DMAChannelDir in mlir-aie
BUNDLE_CORE, BUNDLE_DMA, BUNDLE_TRACE, BUNDLE_CONTROL = 0, 1, 9, 10  # WireBundle in mlir-aie
OUTSIDE = Tile("outside", None, None, "shim")
"""Where external buffers are: in no tile."""
_TILE_KINDS = ("core", "mem", "shim", "shim")  # by number of AIETileType

AIE2_MEMTILE_ROWS = {"xcve2802": 2}
"""Rows of memory tiles above the shim where it is not one (AIETargetModel.h of mlir-aie)."""


class Lowering:
    """The state of lowering one ``aie.device``."""

    def __init__(self, device: Operation, device_name: str, names: set[str] | None = None) -> None:
        """`names` are those taken already by other devices of the module."""
        self.op = device
        self.network = Network(device=device_name, name=device.symbol or "main")
        self.mem_rows = AIE2_MEMTILE_ROWS.get(device_name, 1)
        self.tiles: dict[int, Tile] = {}
        self.buffers: dict[int, Buffer] = {}
        self.buffer_symbols: dict[str, Buffer] = {}
        self.buffer_types: dict[str, Operation] = {}
        self.locks: dict[int, Lock] = {}
        self.symbols: dict[str, Channel] = {}
        self.packets: dict[str, tuple[int, int]] = {}  # of shim allocations: id, type
        self.ends: dict[tuple[str, str, str], End] = {}
        self.parameters: dict[tuple[str, str], Buffer] = {}  # cells: scratchpad parameter, tile
        self.parameter_locks: dict[str, Lock] = {}  # by tile
        self._channels: dict[tuple[str, str, int], Channel] = {}
        self._ports: dict[tuple[str, str, int], Port] = {}
        self._names: set[str] = set() if names is None else names

    def each(self, *names: str) -> Iterator[Operation]:
        """Operations of the device's own block, in order."""
        for op in self.op.body.operations:
            if op.name in names:
                yield op

    # ---- tiles
    def add_tile(self, op: Operation) -> None:
        column, row = r.optional_integer(op, "col"), r.optional_integer(op, "row")
        if column is not None and row is not None:
            kind = "shim" if row == 0 else "mem" if row <= self.mem_rows else "core"
            tile = Tile(f"({column},{row})", column, row, kind)
        else:
            kind = _TILE_KINDS[r.integer(op, "tile_type", 0)]
            tile = Tile(f"({kind}{len(self.tiles)})", None, None, kind)
        self.tiles[id(op.result)] = tile

    def tile(self, op: Operation, value: Value | None) -> Tile:
        found = self.tiles.get(id(value))
        if found is None:
            raise refuse(op, "its tile is not an aie.tile of this device")
        return found

    # ---- parts
    def unique(self, wish: str) -> str:
        name, n = wish, 1
        while name in self._names:
            name, n = f"{wish}.{n}", n + 1
        self._names.add(name)
        return name

    def add_buffer(
        self, name: str, tile: Tile, nbytes: int, initial: bytes | None, where: str
    ) -> Buffer:
        b = Buffer(self.unique(name), tile, nbytes, initial, where)
        self.network.buffers.append(b)
        return b

    def add_lock(
        self, name: str, tile: Tile, value: int, text: str = "", fifo: str = "", where: str = ""
    ) -> Lock:
        lock = Lock(self.unique(name), tile, value, text, fifo, where)
        self.network.locks.append(lock)
        return lock

    def channel(self, tile: Tile, direction: str, index: int) -> Channel:
        """The DMA channel, made when it is first spoken of."""
        key = (tile.key, direction, index)
        if key not in self._channels:
            c = Channel(self.unique(f"{tile}{direction}{index}"), tile, direction, index)
            self._channels[key] = c
            self.network.channels.append(c)
        return self._channels[key]

    def has_channel(self, tile: Tile, direction: str, index: int) -> bool:
        return (tile.key, direction, index) in self._channels

    def free_channel(self, tile: Tile, direction: str) -> Channel:
        """The first channel nothing has spoken of."""
        index = 0
        while self.has_channel(tile, direction, index):
            index += 1
        return self.channel(tile, direction, index)

    def port(self, tile: Tile, direction: str, index: int) -> Port:
        key = (tile.key, direction, index)
        if key not in self._ports:
            p = Port(self.unique(f"{tile}core-{direction}{index}"), tile, direction, index)
            self._ports[key] = p
            self.network.ports.append(p)
        return self._ports[key]

    def stream(self, tile: Tile, bundle: int, index: int, sends: bool) -> Channel | Port | None:
        """The end of a flow; None for ports that carry no data of the design."""
        if bundle == BUNDLE_DMA:
            return self.channel(tile, SEND if sends else RECEIVE, index)
        if bundle == BUNDLE_CORE:
            return self.port(tile, "out" if sends else "in", index)
        return None

    def add_route(
        self,
        source: Channel | Port,
        sinks: list[Channel | Port],
        packet: int | None,
        *,
        keep_header: bool,
    ) -> None:
        """Sinks of one source and packet id are one route: they take the same bytes."""
        for route in self.network.routes:
            same = route.packet == packet and route.keep_header == keep_header
            if route.source is source and same:
                route.sinks += [k for k in sinks if k not in route.sinks]
                return
        self.network.routes.append(Route(source, list(sinks), packet, keep_header))

    # ---- what operations refer to
    def lock(self, op: Operation, value: Value | None) -> Lock:
        found = self.locks.get(id(value))
        if found is None:
            raise refuse(op, "its lock is not an aie.lock of this device")
        return found

    def channel_named(self, op: Operation, symbol: str) -> Channel:
        """The shim channel of an allocation or of an ObjectFifo; either name may be given."""
        for name in (symbol, f"{symbol}_shim_alloc", symbol.removesuffix("_shim_alloc")):
            if name in self.symbols:
                return self.symbols[name]
        known = ", ".join(sorted(self.symbols)) or "none"
        raise refuse(op, f"@{symbol} is no shim DMA allocation; those of this device: {known}")
