"""Does a design fit the real device? A check of its own: the emulator itself has no such limits.

The numbers are those of mlir-aie's target models (include/aie/Dialect/AIE/IR/AIETargetModel.h and
lib/Dialect/AIE/IR/AIETargetModel.cpp, August 2026): AIE2 and AIE2P, which agree in all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from iron.ir.core import Operation

from . import reading as r
from .errors import HostError
from .explicit import lower_device
from .network import Bd, Channel, Dimension, Tile
from .state import DIRECTIONS, Lowering


class LimitError(Exception):
    """The design needs more than the device has. `faults` are the single complaints."""

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


@dataclass(frozen=True)
class Limits:
    """Of one kind of tile; bytes, counts and bits of the descriptor's fields."""

    memory: int
    banks: int
    channels: int  # of each direction
    bds: int
    locks: int
    dims: int
    length_words: int  # of one descriptor
    wrap_bits: int
    step_bits: int


LIMITS = {
    "core": Limits(0x10000, 4, 2, 16, 16, 3, (1 << 14) - 1, 8, 13),
    "mem": Limits(0x80000, 8, 6, 48, 64, 4, (1 << 17) - 1, 10, 17),
    "shim": Limits(0, 1, 2, 16, 16, 3, (1 << 32) - 1, 10, 20),
}
DEFAULT_STACK = 0x400
MAX_LOCK_VALUE = 0x3F
MAX_ITERATIONS = 64  # a field of 6 bits, one less than the number
MAX_REPEAT = 255  # a field of 8 bits, executions after the first
ROWS = 6
COLUMNS = {"npu1": 4, "npu2": 8}


def check_limits(module: Operation) -> None:
    """LimitError with every place where a device of the module is asked for more than it has."""
    faults: list[str] = []
    for op in module.body.operations:
        if op.name == "aie.device":
            faults += device_faults(op)
    if faults:
        raise LimitError(faults)


def device_faults(device: Operation) -> list[str]:
    from .checks_memory import memory_faults
    from .checks_sequence import sequence_faults
    from .devices import device_name

    name = device_name(device)
    s = Lowering(device, name)
    try:
        lower_device(s)
    except HostError:
        return []  # what cannot be lowered is told when it is run
    faults = list(place_faults(s, name))
    faults += memory_faults(s)
    for tile in s.tiles.values():
        faults += channel_faults(s, tile)
        faults += lock_faults(s, tile)
        faults += bd_count_faults(s, tile)
    for channel in s.network.channels:
        for task in channel.tasks:
            for bd in task.bds:
                faults += bd_faults(channel, bd, channel.where)
    for sequence in s.each("aie.runtime_sequence", "aiex.runtime_sequence"):
        faults += sequence_faults(s, sequence)
    return list(dict.fromkeys(faults))


def at(where: str) -> str:
    return f" ({where})" if where else ""


def place_faults(s: Lowering, name: str) -> Iterator[str]:
    m = re.fullmatch(r"(npu[12])(?:_(\d)col)?", name)
    if m is None:
        return
    columns = int(m[2] or COLUMNS[m[1]])
    for op in s.each("aie.tile", "aie.logical_tile"):
        tile = s.tiles[id(op.result)]
        if tile.column is None or tile.row is None:
            continue
        if tile.column >= columns or tile.row >= ROWS:
            yield (f"tile {tile}: {name} has {columns} columns and {ROWS} rows{at(r.where(op))}")


def channel_faults(s: Lowering, tile: Tile) -> Iterator[str]:
    limit = LIMITS[tile.kind].channels
    for direction in DIRECTIONS:
        used = [c for c in s.network.channels if c.tile == tile and c.direction == direction]
        if len(used) > limit or any(c.index >= limit for c in used):
            what = "out of" if direction == "MM2S" else "into"
            users = ", ".join(f"{c.fifo or c.symbol or c.index}{at(c.where)}" for c in used)
            yield (
                f"tile {tile}: {len(used)} DMA channels {what} the tile's memory ({direction}) "
                f"are used, it has {limit}: {users}"
            )


def lock_faults(s: Lowering, tile: Tile) -> Iterator[str]:
    mine = [k for k in s.network.locks if k.tile == tile]
    limit = LIMITS[tile.kind].locks
    users = [f"{k.fifo or k.name}{at(k.where)}" for k in mine]
    if tile.kind == "shim":  # mlir-aie makes two for each fifo that begins or ends there
        fifos = [c for c in s.network.channels if c.tile == tile and c.fifo]
        users += [f"{c.fifo}{at(c.where)}" for c in fifos for _ in range(2)]
    if len(users) > limit:
        told = ", ".join(dict.fromkeys(users))
        yield f"tile {tile}: {len(users)} locks are used, it has {limit}: {told}"
    for k in mine:
        if k.value > MAX_LOCK_VALUE:
            yield (
                f"tile {tile}: lock {k.name} starts at {k.value}, a lock counts to "
                f"{MAX_LOCK_VALUE}{at(k.where)}"
            )


def bd_count_faults(s: Lowering, tile: Tile) -> Iterator[str]:
    counts = {
        c.name: (c, sum(len(t.bds) for t in c.tasks)) for c in s.network.channels if c.tile == tile
    }

    def over(chosen: Callable[[Channel], bool], limit: int, which: str) -> Iterator[str]:
        mine = [(c, n) for c, n in counts.values() if n and chosen(c)]
        used = sum(n for _, n in mine)
        if used > limit:
            users = ", ".join(f"{c.fifo or c.name} {n}{at(c.where)}" for c, n in mine)
            yield (
                f"tile {tile}: {used} buffer descriptors are used{which}, it has {limit}: {users}"
            )

    limit = LIMITS[tile.kind].bds
    if tile.kind == "mem":  # half of them serve the even channels, half the odd ones
        yield from over(lambda c: c.index % 2 == 0, limit // 2, " by channels of even number")
        yield from over(lambda c: c.index % 2 == 1, limit // 2, " by channels of odd number")
    else:
        yield from over(lambda c: True, limit, "")


def bd_faults(channel: Channel, bd: Bd, where: str) -> Iterator[str]:
    """Can the fields of a descriptor hold what it says?"""
    limits = LIMITS[channel.tile.kind]
    what = f"tile {channel.tile}: {channel.fifo or channel.symbol or channel.name}: "
    tail = at(where)
    nbytes = bd.length * bd.element
    if nbytes % 4 or (bd.offset * bd.element) % 4:
        yield (
            f"{what}a transfer of {nbytes} bytes from byte {bd.offset * bd.element}: the DMA moves "
            f"whole words of 4 bytes{tail}"
        )
    if nbytes // 4 > limits.length_words:
        yield f"{what}{nbytes} bytes in one transfer, at most {limits.length_words * 4}{tail}"
    if bd.iteration is not None and bd.iteration[0] > MAX_ITERATIONS:
        yield f"{what}{bd.iteration[0]} iterations, at most {MAX_ITERATIONS}{tail}"
    dims = bd.dims
    if len(dims) > limits.dims:
        yield f"{what}{len(dims)} dimensions, a descriptor there has {limits.dims}{tail}"
    if contiguous(dims) and not any(d.before or d.after for d in dims):
        return  # goes as a linear transfer
    words = max(1, 4 // bd.element)
    for i, d in enumerate(dims):
        innermost = i == len(dims) - 1
        outermost = i == 0 and len(dims) == limits.dims
        if innermost and bd.element < 4 and (d.stride != 1 or d.size % words) and d.size > 1:
            yield (
                f"{what}the innermost dimension, {d.size} elements of {bd.element} bytes with a "
                f"stride of {d.stride}, is not made of whole words of 4 bytes{tail}"
            )
        elif not innermost and d.size > 1 and (d.stride * bd.element) % 4:
            yield (
                f"{what}a stride of {d.stride} elements of {bd.element} bytes is not a multiple "
                f"of 4 bytes{tail}"
            )
        size = d.size // words if innermost else d.size
        if size >= 1 << limits.wrap_bits and not outermost:
            yield (
                f"{what}a dimension of size {d.size}, at most "
                f"{((1 << limits.wrap_bits) - 1) * (words if innermost else 1)}{tail}"
            )
        step = d.stride * bd.element // 4
        if d.size > 1 and step > 1 << limits.step_bits:
            yield (
                f"{what}a stride of {d.stride} elements, at most "
                f"{(1 << limits.step_bits) * 4 // bd.element}{tail}"
            )


def contiguous(dims: Sequence[Dimension]) -> bool:
    step = 1
    for d in reversed(dims):
        if d.size > 1 and d.stride != step:
            return False
        step *= d.size
    return True
