"""Explicit routes: circuit-switched, packet-switched, and the cascade between two cores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...ir.attributes import BoolAttr, IntegerAttr, StringAttr
from ...ir.core import Block, Operation, Region, Value
from ...ir.dialects.enums import AIETileType, DMAChannelDir, WireBundle
from ...ir.types import I32, I64, IntegerType
from ..context import here
from ..tiles import Tile

if TYPE_CHECKING:
    from ..worker import Worker

__all__ = ["CascadeFlow", "DMAChannelDir", "Flow", "PacketDest", "PacketFlow", "WireBundle"]

_SHIMS = (AIETileType.ShimNOCTile, AIETileType.ShimPLTile)
Values = Mapping[Tile, Value]


@dataclass
class PacketDest:
    """One more destination of a PacketFlow: channel `channel` of `port` of `tile`."""

    tile: Tile
    port: WireBundle = WireBundle.DMA
    channel: int = 0


class _Route:
    """What Flow and PacketFlow have in common. `shim_symbol` names the shim's end for the runtime
    sequence; ValueError when neither end is a shim."""

    kind = "Flow"

    def __init__(
        self, src: PacketDest, dsts: Sequence[PacketDest], shim_symbol: str | None
    ) -> None:
        self._src = src
        self._dsts = list(dsts)
        self._shim_symbol = shim_symbol
        self.where = here()
        if shim_symbol is not None and self._shim_end() is None:
            raise ValueError(
                f"{self.kind}.shim_symbol={shim_symbol!r} requires a shim endpoint, but neither "
                f"{src.tile} nor {self._dsts[0].tile} is a shim tile"
            )

    @property
    def src(self) -> Tile:
        """The tile it starts at."""
        return self._src.tile

    @property
    def dst(self) -> Tile:
        """The tile it ends at; of several, the first."""
        return self._dsts[0].tile

    def all_tiles(self) -> list[Tile]:
        """The tile it starts at, then those it ends at."""
        return [self._src.tile, *(d.tile for d in self._dsts)]

    def _shim_end(self) -> tuple[PacketDest, DMAChannelDir] | None:
        for end, direction in (
            (self._src, DMAChannelDir.MM2S),
            (self._dsts[0], DMAChannelDir.S2MM),
        ):
            if end.tile.tile_type in _SHIMS or end.tile.row == 0:
                return end, direction
        return None

    def _allocation(self, values: Values) -> Iterator[Operation]:
        found = self._shim_end()
        if self._shim_symbol is None or found is None:
            return
        end, direction = found
        attributes = {
            "sym_name": StringAttr(self._shim_symbol),
            "channel_dir": IntegerAttr(int(direction), I32),
            "channel_index": IntegerAttr(end.channel, I64),
        }
        yield Operation(
            "aie.shim_dma_allocation", [values[end.tile]], (), attributes, location=self.where
        )


class Flow(_Route):
    """A stream from one port of a tile to one of another, circuit-switched.

    Channels are numbered from 0 for each port and direction. `shim_symbol` is the name that the
    runtime sequence knows the shim's end by; ValueError when neither end is a shim tile.
    """

    def __init__(
        self,
        src: Tile,
        dst: Tile,
        *,
        src_port: WireBundle = WireBundle.DMA,
        src_channel: int = 0,
        dst_port: WireBundle = WireBundle.DMA,
        dst_channel: int = 0,
        shim_symbol: str | None = None,
    ) -> None:
        super().__init__(
            PacketDest(src, src_port, src_channel),
            [PacketDest(dst, dst_port, dst_channel)],
            shim_symbol,
        )

    def operations(self, values: Values) -> Iterator[Operation]:
        src, dst = self._src, self._dsts[0]
        attributes = {
            "source_bundle": IntegerAttr(int(src.port), I32),
            "source_channel": IntegerAttr(src.channel, I32),
            "dest_bundle": IntegerAttr(int(dst.port), I32),
            "dest_channel": IntegerAttr(dst.channel, I32),
        }
        yield Operation(
            "aie.flow", [values[src.tile], values[dst.tile]], (), attributes, location=self.where
        )
        yield from self._allocation(values)


class PacketFlow(_Route):
    """A route for packets of id `pkt_id`, which may be used again on other routes.

    `extra_dsts` are further destinations of the same packets. `keep_pkt_header` delivers the header
    word with the data. The rest is as in `Flow`.
    """

    kind = "PacketFlow"

    def __init__(
        self,
        pkt_id: int,
        src: Tile,
        dst: Tile,
        *,
        src_port: WireBundle = WireBundle.DMA,
        src_channel: int = 0,
        dst_port: WireBundle = WireBundle.DMA,
        dst_channel: int = 0,
        extra_dsts: Sequence[PacketDest] = (),
        keep_pkt_header: bool = False,
        shim_symbol: str | None = None,
    ) -> None:
        super().__init__(
            PacketDest(src, src_port, src_channel),
            [PacketDest(dst, dst_port, dst_channel), *extra_dsts],
            shim_symbol,
        )
        self._pkt_id = pkt_id
        self._keep = keep_pkt_header

    @property
    def pkt_id(self) -> int:
        """The id in the header word of its packets."""
        return self._pkt_id

    def operations(self, values: Values) -> Iterator[Operation]:
        ends = [("aie.packet_source", self._src), *(("aie.packet_dest", d) for d in self._dsts)]
        ports = Block()
        for name, end in ends:
            port = {
                "bundle": IntegerAttr(int(end.port), I32),
                "channel": IntegerAttr(end.channel, I32),
            }
            ports.append(Operation(name, [values[end.tile]], (), port, location=self.where))
        ports.append(Operation("aie.end", location=self.where))
        attributes: dict[str, IntegerAttr | BoolAttr] = {
            "ID": IntegerAttr(self._pkt_id, IntegerType(8))
        }
        if self._keep:
            attributes["keep_pkt_header"] = BoolAttr(True)
        yield Operation(
            "aie.packet_flow", (), (), attributes, [Region([ports])], location=self.where
        )
        yield from self._allocation(values)


class CascadeFlow:
    """The cascade stream from one Worker's core to that of a neighbour, one row south or one
    column east of it."""

    def __init__(self, src: Worker, dst: Worker) -> None:
        self._src = src
        self._dst = dst
        self.where = here()
        src._outgoing_cascades.append(self)

    @property
    def src(self) -> Worker:
        """The Worker that puts."""
        return self._src

    @property
    def dst(self) -> Worker:
        """The Worker that gets."""
        return self._dst

    def operation(self, values: Values) -> Operation:
        ends = [values[self.src.tile], values[self.dst.tile]]
        return Operation("aie.cascade_flow", ends, location=self.where)
