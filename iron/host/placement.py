"""Where buffers come to lie in a tile's data memory, as mlir-aie places them by default.

Rules of its ``-aie-assign-buffer-addresses``: what the user placed comes first; then the largest,
into the next bank (round robin) with room for it; when that fails for one of them, one after the
other from the end of the stack on, banks or not. A buffer begins at a multiple of the width of the
tile's bus (32 bytes of a core, 4 of a memory tile) unless it is ``aligned = false``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ALIGNMENT = {"core": 32, "mem": 4, "shim": 4}
BANK_AWARE, SEQUENTIAL = "bank-aware", "basic-sequential"


@dataclass(frozen=True)
class Wish:
    """A buffer to place; `address` and `bank` are what the user asked for."""

    name: str
    nbytes: int
    alignment: int
    address: int | None = None
    bank: int | None = None


@dataclass(frozen=True)
class Memory:
    """Of one tile: bytes, banks, and what the stack takes at its beginning."""

    nbytes: int
    banks: int
    stack: int = 0


@dataclass(frozen=True)
class Placement:
    """`addresses` in the order of the wishes, None for what found no room; `end` is the first
    byte after all of them."""

    addresses: tuple[int | None, ...]
    end: int
    scheme: str

    @property
    def whole(self) -> bool:
        return None not in self.addresses


def place(wishes: Sequence[Wish], memory: Memory, scheme: str | None = None) -> Placement:
    """By the scheme, or by banks and, where that fails, in sequence."""
    if scheme != SEQUENTIAL:
        banked = by_banks(wishes, memory)
        if banked.whole or scheme == BANK_AWARE:
            return banked
    return in_sequence(wishes, memory)


def by_banks(wishes: Sequence[Wish], memory: Memory) -> Placement:
    size = memory.nbytes // memory.banks
    free = [size * i for i in range(memory.banks)]
    free[0] += memory.stack
    addresses: list[int | None] = [None] * len(wishes)

    def fits(i: int, bank: int) -> bool:
        start = _up(free[bank], wishes[i].alignment)
        if start + wishes[i].nbytes > size * (bank + 1):
            return False
        addresses[i], free[bank] = start, start + wishes[i].nbytes
        return True

    numbered = list(enumerate(wishes))
    for i, w in sorted(numbered, key=lambda p: (p[1].address is None, p[1].address or 0)):
        if w.address is not None:
            bank = min(w.address // size, memory.banks - 1)
            if w.address >= free[bank]:
                addresses[i], free[bank] = w.address, w.address + w.nbytes
        elif w.bank is not None and w.bank < memory.banks:
            fits(i, w.bank)
    turn = 0
    for i, w in sorted(numbered, key=lambda p: -p[1].nbytes):
        if w.address is not None or w.bank is not None:
            continue
        for bank in (*range(turn, memory.banks), *range(turn)):
            if fits(i, bank):
                turn = (bank + 1) % memory.banks
                break
    return _placement(wishes, addresses, memory, BANK_AWARE)


def in_sequence(wishes: Sequence[Wish], memory: Memory) -> Placement:
    addresses: list[int | None] = [w.address for w in wishes]
    taken = sorted((w.address, w.nbytes) for w in wishes if w.address is not None)
    at = memory.stack
    for i, w in sorted(enumerate(wishes), key=lambda p: -p[1].nbytes):
        if w.address is not None:
            continue
        at = _up(at, w.alignment)
        while taken and at + w.nbytes > taken[0][0]:
            first, nbytes = taken.pop(0)
            at = _up(first + nbytes, w.alignment)
        addresses[i] = at
        at += w.nbytes
    return _placement(wishes, addresses, memory, SEQUENTIAL)


def _placement(
    wishes: Sequence[Wish], addresses: Sequence[int | None], memory: Memory, scheme: str
) -> Placement:
    ends = [a + w.nbytes for w, a in zip(wishes, addresses, strict=True) if a is not None]
    return Placement(tuple(addresses), max([memory.stack, *ends]), scheme)


def _up(address: int, alignment: int) -> int:
    return -(-address // alignment) * alignment
