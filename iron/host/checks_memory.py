"""Do a tile's stack and buffers fit its data memory, the way mlir-aie places them?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from iron.ir.core import Operation

from . import reading as r
from .checks import DEFAULT_STACK, LIMITS, at
from .network import Buffer, Tile
from .placement import ALIGNMENT, BANK_AWARE, Memory, Placement, Wish, place
from .state import Lowering


def memory_faults(s: Lowering) -> Iterator[str]:
    for tile in s.tiles.values():
        yield from tile_faults(s, tile)
    yield from bank_faults(s)


def buffers_of(s: Lowering, tile: Tile) -> list[Buffer]:
    return [b for b in s.network.buffers if b.tile == tile]


def memory_of(s: Lowering, tile: Tile) -> Memory:
    """The tile's data memory and the stack of its core."""
    stack = 0
    for core in s.each("aie.core"):
        if s.tile(core, r.single(core, "tile")) == tile:
            stack = r.integer(core, "stack_size", DEFAULT_STACK)
    return Memory(LIMITS[tile.kind].memory, LIMITS[tile.kind].banks, stack)


def placed(s: Lowering, tile: Tile) -> Placement:
    """The places of the tile's buffers, in the order of `buffers_of`."""
    made = {id(s.buffers[id(op.results[0])]): op for op in s.op.walk() if op.name == "aie.buffer"}
    wishes = [wish(b, made.get(id(b))) for b in buffers_of(s, tile)]
    return place(wishes, memory_of(s, tile), scheme_of(s, tile))


def wish(b: Buffer, op: Operation | None) -> Wish:
    """What the operation, if the buffer has one of its own, asks for."""
    if op is None:
        return Wish(b.name, b.nbytes, ALIGNMENT[b.tile.kind])
    aligned = r.integer(op, "aligned", 1)
    return Wish(
        b.name,
        b.nbytes,
        ALIGNMENT[b.tile.kind] if aligned else 1,
        r.optional_integer(op, "address"),
        r.optional_integer(op, "mem_bank"),
    )


def scheme_of(s: Lowering, tile: Tile) -> str | None:
    for op in s.each("aie.tile", "aie.logical_tile"):
        if s.tiles[id(op.result)] == tile and "allocation_scheme" in op.attributes:
            return r.string(op, "allocation_scheme")
    return None


def tile_faults(s: Lowering, tile: Tile) -> Iterator[str]:
    mine, memory = buffers_of(s, tile), memory_of(s, tile)
    if not mine and not memory.stack:
        return
    if tile.kind == "shim":
        if mine:
            yield f"tile {tile}: a shim tile has no data memory, but holds {names(mine)}"
        return
    reserved = f", {memory.stack} of them stack" if memory.stack else ""
    used = memory.stack + sum(b.nbytes for b in mine)
    largest = names(sorted(mine, key=lambda b: -b.nbytes)[:5])
    if used > memory.nbytes:
        yield (
            f"tile {tile}: {used} bytes of data memory are used{reserved}, the tile has "
            f"{memory.nbytes}; the largest: {largest}"
        )
        return
    placement = placed(s, tile)
    if placement.scheme == BANK_AWARE:
        homeless = [b for b, a in zip(mine, placement.addresses, strict=True) if a is None]
        if homeless:
            yield (
                f"tile {tile}: no bank has room for {names(homeless)}; the tile has "
                f"{memory.banks} banks of {memory.nbytes // memory.banks} bytes{reserved}, and its "
                f'allocation_scheme is "{BANK_AWARE}"'
            )
    elif placement.end > memory.nbytes:
        yield (
            f"tile {tile}: {used} bytes of data memory are used{reserved}, and each buffer begins "
            f"at a multiple of {ALIGNMENT[tile.kind]} bytes, so that the last one ends at byte "
            f"{placement.end}; the tile has {memory.nbytes}; the largest: {largest}"
        )


def bank_faults(s: Lowering) -> Iterator[str]:
    """Buffers the user has put somewhere: into a bank, or at an address."""
    banks: dict[tuple[str, int], list[Buffer]] = {}
    by_address: dict[str, list[tuple[int, Buffer]]] = {}
    for op in s.op.walk():
        if op.name != "aie.buffer":
            continue
        b = s.buffers[id(op.results[0])]
        limits = LIMITS[b.tile.kind]
        bank, address = r.optional_integer(op, "mem_bank"), r.optional_integer(op, "address")
        if bank is not None:
            banks.setdefault((b.tile.key, bank), []).append(b)
            if bank >= limits.banks:
                yield (
                    f"tile {b.tile}: {b.name} is put into bank {bank}, the tile has "
                    f"{limits.banks}, from 0{at(b.where)}"
                )
        if address is not None:
            by_address.setdefault(b.tile.key, []).append((address, b))
            stack = memory_of(s, b.tile).stack
            if address < stack:
                yield (
                    f"tile {b.tile}: {b.name} is at byte {address}, the stack takes the first "
                    f"{stack}{at(b.where)}"
                )
            if address + b.nbytes > limits.memory:
                yield (
                    f"tile {b.tile}: {b.name} ends at byte {address + b.nbytes}, the tile's memory "
                    f"has {limits.memory}{at(b.where)}"
                )
    for (key, bank), mine in banks.items():
        limits = LIMITS[mine[0].tile.kind]
        size, used = limits.memory // limits.banks, sum(b.nbytes for b in mine)
        if used > size:
            yield f"tile {key}: {used} bytes are put into bank {bank}, it has {size}: {names(mine)}"
    for key, here in by_address.items():
        here.sort(key=lambda p: p[0])
        for (first, a), (second, b) in itertools.pairwise(here):
            if first + a.nbytes > second:
                yield (
                    f"tile {key}: {a.name}, {a.nbytes} bytes from {first}{at(a.where)}, reaches "
                    f"into {b.name} at {second}{at(b.where)}"
                )


def names(buffers: Sequence[Buffer]) -> str:
    return ", ".join(f"{b.name} {b.nbytes} bytes{at(b.where)}" for b in buffers)
