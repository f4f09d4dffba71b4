"""ObjectFifos and links as data, and who can use whose memory.

Read from the IR and acted upon by `fifo`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from iron.ir.core import Operation
from iron.ir.types import MemRefType

from . import reading as r
from .network import Buffer, Lock, LockUse, Tile


@dataclass
class Pool:
    """Objects on one tile, with a pair of locks (free, filled) for each part of an object."""

    buffers: list[Buffer]
    locks: list[tuple[Lock, Lock]]
    element: int
    repeat: int = 1


@dataclass
class Fifo:
    op: Operation
    name: str
    producer: Tile
    consumers: list[Tile]
    type: MemRefType  # an object as produced
    consumer_type: MemRefType
    repeat: int
    to_stream: list[tuple[int, int]]
    from_stream: list[list[tuple[int, int]]]
    element: int
    init: list[bytes] = field(default_factory=list)
    via_dma: bool = False

    @property
    def where(self) -> str:
        return r.where(self.op)


@dataclass
class Link:
    op: Operation
    ins: list[Fifo]
    outs: list[Fifo]
    offsets: list[int]
    tile: Tile
    pool: Pool | None = None

    @property
    def parts(self) -> list[Fifo]:
        """The fifos that carry parts of an object; empty for a plain forward."""
        return self.ins if len(self.ins) > 1 else self.outs if len(self.outs) > 1 else []

    @property
    def whole(self) -> Fifo:
        return self.outs[0] if len(self.ins) > 1 else self.ins[0]


def take_give(locks: tuple[Lock, Lock] | None, sends: bool, count: int = 1) -> tuple[LockUse, ...]:
    """What a descriptor acquires, then what it releases."""
    if locks is None:
        return ()
    free, filled = locks
    first, second = (filled, free) if sends else (free, filled)
    return (LockUse(first, count), LockUse(second, count))


def consumer_name(f: Fifo, position: int) -> str:
    return f"{f.name}_cons" if len(f.consumers) == 1 else f"{f.name}_{position}_cons"


def reaches(core: Tile, memory: Tile) -> bool:
    """Can the core of one tile use the memory of another? AIE2: its own and that of the
    neighbours to the west, north and south (isLegalMemAffinity in mlir-aie)."""
    if core == memory:
        return True
    if core.kind != "core" or memory.kind != "core" or None in (core.column, memory.column):
        return False
    assert core.column is not None
    assert core.row is not None
    return (memory.column, memory.row) in (
        (core.column - 1, core.row),
        (core.column, core.row + 1),
        (core.column, core.row - 1),
    )


def share_memory(a: Tile, b: Tile) -> bool:
    if a.kind != "core" or b.kind != "core":
        return a == b and a.kind == "mem"
    return reaches(a, b) or reaches(b, a)
