"""A tile's DMA programmed by hand: channels with chains of buffer descriptors and locks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...ir.attributes import Attribute, DenseArrayAttr, IntegerAttr, StructAttr
from ...ir.core import Block, Operation, Region, Value
from ...ir.dialects.enums import AIETileType, DMAChannelDir, LockAction
from ...ir.types import I1, I32, I64, INDEX
from .. import buffer as buffers
from .. import lock as locks
from ..buffer import Buffer
from ..context import DesignContext, Scope, here
from ..lock import Lock
from ..tiles import Tile
from .emit import pad_word, pads

__all__ = ["Acquire", "Bd", "BdIteration", "DMAChannelDir", "DmaChannel", "Release", "TileDma"]


@dataclass
class Acquire:
    """Wait at the start of a descriptor until `lock` holds at least `value` (just `value` without
    `greater_equal`), and take it."""

    lock: Lock
    value: int = 1
    greater_equal: bool = True


@dataclass
class Release:
    """Give `value` to `lock` at the end of a descriptor."""

    lock: Lock
    value: int = 1


@dataclass
class BdIteration:
    """One descriptor for `size` runs, each `stride` elements further, starting with run
    `current`."""

    size: int
    stride: int
    current: int = 0


@dataclass
class Bd:
    """One buffer descriptor: `length` elements of `buffer` from element `offset` on, all of it by
    default, in the order of `sizes` and `strides` (outermost first, in elements).

    `acquires` are waited for before the transfer, `releases` given after it. `next` is the index of
    the one that follows in the channel, ``"self"``, or None for the end of the chain. `packet` is
    (type, id) of the header to send. `pad_dimensions` is (before, after) for each dimension, in
    elements; memtiles only.
    """

    buffer: Buffer
    offset: int = 0
    length: int | None = None
    acquires: list[Acquire] = field(default_factory=list)
    releases: list[Release] = field(default_factory=list)
    next: int | str | None = "self"
    packet: tuple[int, int] | None = None
    sizes: list[int] = field(default_factory=list)
    strides: list[int] = field(default_factory=list)
    pad_dimensions: list[Sequence[int]] | None = None
    iteration: BdIteration | None = None


@dataclass
class DmaChannel:
    """A channel of the tile's DMA and its descriptors, of which the first is started.

    `direction` is MM2S (memory to stream) or S2MM (stream to memory). `pad_value` fills padded
    regions, as an element of the buffers.
    """

    direction: DMAChannelDir
    channel: int
    bds: list[Bd]
    pad_value: int = 0


class TileDma:
    """The DMA program of one tile; the Runtime takes it with ``add_tile_dma``.

    ValueError for a channel without descriptors, a ``Bd.next`` that is not there, sizes and strides
    that do not pair up, or a pad value without padding.
    """

    def __init__(self, tile: Tile, channels: Iterable[DmaChannel]) -> None:
        self._tile = tile
        self._channels = list(channels)
        self.where = here()
        for channel in self._channels:
            self._check(channel)

    def _check(self, channel: DmaChannel) -> None:
        what = f"TileDma ({self.where}), {channel.direction.name} {channel.channel}"
        if not channel.bds:
            raise ValueError(f"{what}: a channel has at least one Bd")
        for i, bd in enumerate(channel.bds):
            if isinstance(bd.next, int) and not 0 <= bd.next < len(channel.bds):
                raise ValueError(
                    f"{what}, Bd {i}: Bd.next index {bd.next} out of range for a channel with "
                    f"{len(channel.bds)} Bds"
                )
            if len(bd.sizes) != len(bd.strides):
                raise ValueError(
                    f"{what}, Bd {i}: {len(bd.sizes)} sizes but {len(bd.strides)} strides"
                )
        if channel.pad_value and len(self._padded_sizes(channel)) != 1:
            raise ValueError(
                f"{what}: pad_value needs Bds with pad_dimensions, of buffers with one size of "
                "element"
            )

    @staticmethod
    def _padded_sizes(channel: DmaChannel) -> set[int]:
        padded = [b for b in channel.bds if b.pad_dimensions is not None]
        return {np.dtype(b.buffer.dtype).itemsize for b in padded}

    @property
    def tile(self) -> Tile:
        """The tile whose DMA it is."""
        return self._tile

    def all_tiles(self) -> list[Tile]:
        return [self._tile]

    def buffers(self) -> list[Buffer]:
        return list(dict.fromkeys(bd.buffer for c in self._channels for bd in c.bds))

    def locks(self) -> list[Lock]:
        found: dict[Lock, None] = {}
        for bd in (bd for c in self._channels for bd in c.bds):
            found.update(dict.fromkeys(use.lock for use in bd.acquires))
            found.update(dict.fromkeys(use.lock for use in bd.releases))
        return list(found)

    def declare(self, context: DesignContext) -> None:
        """Take its Buffers and Locks into the design."""
        for b in self.buffers():
            buffers.declare(context, b)
        for made in self.locks():
            locks.declare(context, made)

    def operation(self, context: DesignContext, values: Mapping[Tile, Value]) -> Operation:
        """The ``aie.mem``, ``aie.memtile_dma`` or ``aie.shim_dma`` of the tile."""
        name = {
            AIETileType.MemTile: "aie.memtile_dma",
            AIETileType.ShimNOCTile: "aie.shim_dma",
            AIETileType.ShimPLTile: "aie.shim_dma",
        }.get(self._kind(context), "aie.mem")
        starts = [Block() for _ in range(len(self._channels) + 1)]
        chains = [[Block() for _ in c.bds] for c in self._channels]
        blocks = [starts[0]]
        for chain, start in zip(chains, starts[1:], strict=True):
            blocks += [*chain, start]
        for i, channel in enumerate(self._channels):
            starts[i].append(self._start(channel, chains[i][0], starts[i + 1]))
            for bd, block in zip(channel.bds, chains[i], strict=True):
                with context.entered(Scope("function", self, f"TileDma ({self.where})"), block):
                    self._descriptor(context, bd, block, chains[i])
        starts[-1].append(Operation("aie.end", location=self.where))
        return Operation(
            name,
            [values[self._tile]],
            [INDEX],
            regions=[Region(blocks)],
            location=self.where,
        )

    def _kind(self, context: DesignContext) -> AIETileType:
        if self._tile.tile_type is not None or self._tile.col is None or self._tile.row is None:
            wish = self._tile.tile_type
            return AIETileType.CoreTile if wish is None else wish
        return context.device.get_tile_type(self._tile.col, self._tile.row)

    def _start(self, channel: DmaChannel, first: Block, then: Block) -> Operation:
        attributes = {
            "channel_dir": IntegerAttr(int(channel.direction), I32),
            "channel_index": IntegerAttr(channel.channel, I32),
        }
        if channel.pad_value:
            word = pad_word(channel.pad_value, self._padded_sizes(channel).pop())
            attributes["pad_value"] = IntegerAttr(word, I32)
        return Operation(
            "aie.dma_start", (), [I1], attributes, successors=[first, then], location=self.where
        )

    def _descriptor(self, context: DesignContext, bd: Bd, block: Block, chain: list[Block]) -> None:
        for use in bd.acquires:
            action = LockAction.AcquireGreaterEqual if use.greater_equal else LockAction.Acquire
            locks.use(context, context.locks[use.lock].result, action, use.value)
        if bd.packet is not None:
            header = {
                "packet_type": IntegerAttr(bd.packet[0], I32),
                "packet_id": IntegerAttr(bd.packet[1], I32),
            }
            context.create("aie.dma_bd_packet", (), (), header, location=self.where)
        context.create(
            "aie.dma_bd",
            [context.buffers[bd.buffer].result],
            (),
            _bd_attributes(bd),
            segments=(1, 0, 0, 0, 0),
            location=self.where,
        )
        for give in bd.releases:
            locks.use(context, context.locks[give.lock].result, LockAction.Release, give.value)
        if bd.next is None:
            context.create("aie.end", location=self.where)
            return
        target = block if bd.next == "self" else chain[int(bd.next)]
        block.append(Operation("aie.next_bd", successors=[target], location=self.where))


def _bd_attributes(bd: Bd) -> dict[str, Attribute]:
    out: dict[str, Attribute] = {}
    count = int(np.prod(bd.buffer.shape))
    length = bd.length if bd.length is not None else count - bd.offset
    out["static_offset"] = IntegerAttr(bd.offset, I32)
    out["static_len"] = IntegerAttr(length, I32)
    if bd.sizes:
        out["static_sizes"] = DenseArrayAttr(I64, tuple(int(n) for n in bd.sizes))
        out["static_strides"] = DenseArrayAttr(I64, tuple(int(n) for n in bd.strides))
    if bd.pad_dimensions is not None:
        out["pad_dimensions"] = pads(bd.pad_dimensions)
    if bd.iteration is not None:
        it: Any = bd.iteration
        out["iteration"] = StructAttr(
            "aie.bd_iteration",
            (("size", it.size), ("stride", it.stride), ("current", it.current)),
        )
    return out
