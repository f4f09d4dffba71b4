"""Addresses in the array and what lies there: tiles, program and data memory, shim DMA.

Numbers are those of AM025 (AIE-ML register reference): a column is 1 << 25 bytes wide and a row
1 << 20; a buffer descriptor of the shim has eight words from 0x1D000 on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

COLUMN_SHIFT, ROW_SHIFT = 25, 20
PROGRAM_MEMORY = 0x20000
"""Offset of a core tile's program memory; its data memory begins at 0."""
PROGRAM_BYTES, DATA_BYTES = 0x4000, 0x10000

SHIM_BD, SHIM_BD_SIZE, SHIM_BD_COUNT = 0x1D000, 0x20, 16
_SHIM_DMA = {
    0x1D200 + 8 * i + 4 * j: f"{channel} {part}"
    for i, channel in enumerate(("S2MM 0", "S2MM 1", "MM2S 0", "MM2S 1"))
    for j, part in enumerate(("control", "start queue"))
}


class Place(NamedTuple):
    """A tile and a byte offset in it."""

    column: int
    row: int
    offset: int

    def __str__(self) -> str:
        return f"tile ({self.column}, {self.row}) + 0x{self.offset:x}"


def place(address: int) -> Place:
    """Where an absolute address is."""
    row = address >> ROW_SHIFT & 0x1F
    return Place(address >> COLUMN_SHIFT, row, address & (1 << ROW_SHIFT) - 1)


def shim_register(at: Place) -> str | None:
    """What a shim register is, as far as runtime sequences use it."""
    if at.row:
        return None
    if at.offset in _SHIM_DMA:
        return _SHIM_DMA[at.offset]
    descriptor, word = divmod(at.offset - SHIM_BD, SHIM_BD_SIZE)
    if 0 <= descriptor < SHIM_BD_COUNT:
        return f"BD {descriptor}" + (f" word {word // 4}" if word else "")
    return None


def is_shim_descriptor(at: Place, words: int) -> bool:
    register = shim_register(at)
    return (
        words == 8 and register is not None and register.startswith("BD") and " w" not in register
    )


def shim_descriptor(words: Sequence[int]) -> dict[str, int]:
    """The fields of a shim buffer descriptor's eight words. Sizes as stored (0: not used)."""
    w = words
    return {
        "length": w[0],
        "base": w[1] | (w[2] & 0xFFFF) << 32,
        "packet_enable": w[2] >> 30 & 1,
        "packet_id": w[2] >> 19 & 0x1F,
        "packet_type": w[2] >> 16 & 7,
        "d0_size": w[3] >> 20 & 0x3FF,
        "d0_stride": (w[3] & 0xFFFFF) + 1,
        "d1_size": w[4] >> 20 & 0x3FF,
        "d1_stride": (w[4] & 0xFFFFF) + 1,
        "d2_stride": (w[5] & 0xFFFFF) + 1,
        "burst_length": w[4] >> 30,
        "iteration_size": (w[6] >> 20 & 0x3F) + 1,
        "iteration_stride": (w[6] & 0xFFFFF) + 1,
        "next_bd": w[7] >> 27 & 0xF,
        "use_next_bd": w[7] >> 26 & 1,
        "valid": w[7] >> 25 & 1,
    }
