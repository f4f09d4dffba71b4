"""What a linked ELF of a core holds: sections, segments, where its stack starts, and how much stack
its functions say they need.

System V ABI, "Object Files" and "Program Loading"; ``.stack_sizes`` is clang's: for each function
its address and an unsigned LEB128 number of bytes.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from .elf import SHT_SYMTAB, layout_of
from .errors import FormatError

STACK_START = "_sp_start_value_DM_stack"
"""The symbol mlir-aie's linker script puts where the stack of a core begins."""
_TYPES = {0: "null", 1: "progbits", 2: "symtab", 3: "strtab", 4: "rela", 8: "nobits", 9: "rel"}
_LOAD = 1


@dataclass(frozen=True)
class Section:
    name: str
    type: str
    address: int
    offset: int
    size: int
    loaded: bool


@dataclass(frozen=True)
class Segment:
    """What a loader puts into memory: `data` at `address`, zeros up to `memory_size`."""

    address: int
    memory_size: int
    data: bytes


@dataclass(frozen=True)
class Image:
    machine: int
    entry: int
    sections: tuple[Section, ...]
    segments: tuple[Segment, ...]
    stack_start: int | None
    stack_sizes: tuple[tuple[int, int], ...]
    """(address of a function, bytes of stack it needs)."""


def read(raw: bytes, what: str = "the file") -> Image:
    """FormatError when it is no ELF file or ends before what its tables announce."""
    layout = layout_of(raw, what)
    head = layout.header.unpack_from(raw)
    machine, entry, programs, first = head[2], head[4], head[5], head[6]
    program_size, n_programs, entry_size, count, names_index = head[9:14]
    try:
        table = [layout.section.unpack_from(raw, first + i * entry_size) for i in range(count)]
        segments = [
            _program(raw, programs + i * program_size, layout.order, layout.wide)
            for i in range(n_programs)
        ]
    except struct.error as e:
        raise FormatError(f"{what} is cut short: its tables end outside the file") from e
    names = _bytes_of(raw, table[names_index], what) if table else b""
    sections = tuple(
        Section(_name(names, s[0]), _TYPES.get(s[1], str(s[1])), s[3], s[4], s[5], bool(s[2] & 2))
        for s in table
    )
    return Image(
        machine,
        entry,
        sections,
        tuple(s for s in segments if s is not None),
        _symbol_value(raw, table, layout.symbol, layout.wide, STACK_START),
        _stack_sizes(raw, sections, 8 if layout.wide else 4, layout.order),
    )


def _name(names: bytes, at: int) -> str:
    return names[at : names.find(b"\0", at)].decode("utf-8", "replace")


def _bytes_of(raw: bytes, section: tuple[int, ...], what: str) -> bytes:
    offset, size = section[4], section[5]
    if section[1] != 8 and offset + size > len(raw):
        raise FormatError(f"{what} is cut short: a section ends at byte {offset + size}")
    return raw[offset : offset + size]


def _program(raw: bytes, at: int, order: str, wide: bool) -> Segment | None:
    if wide:
        kind, _, offset, address, _, size, memory, _ = struct.unpack_from(
            order + "IIQQQQQQ", raw, at
        )
    else:
        kind, offset, address, _, size, memory, _, _ = struct.unpack_from(order + "8I", raw, at)
    if kind != _LOAD:
        return None
    if offset + size > len(raw):
        raise FormatError(f"a segment of the ELF file ends at byte {offset + size} of {len(raw)}")
    return Segment(address, memory, raw[offset : offset + size])


def _symbol_value(
    raw: bytes, table: list[tuple[int, ...]], symbol: struct.Struct, wide: bool, wanted: str
) -> int | None:
    for s in table:
        if s[1] != SHT_SYMTAB:
            continue
        names = _bytes_of(raw, table[s[6]], "the ELF file")
        for i in range(s[5] // symbol.size):
            values = symbol.unpack_from(raw, s[4] + i * symbol.size)
            if _name(names, values[0]) == wanted:
                return int(values[4] if wide else values[1])
    return None


def _stack_sizes(
    raw: bytes, sections: tuple[Section, ...], width: int, order: str
) -> tuple[tuple[int, int], ...]:
    found = []
    for s in sections:
        if s.name != ".stack_sizes":
            continue
        data, at = raw[s.offset : s.offset + s.size], 0
        while at + width < len(data):
            (address,) = struct.unpack_from(order + ("Q" if width == 8 else "I"), data, at)
            size, at = _uleb128(data, at + width)
            found.append((address, size))
    return tuple(found)


def _uleb128(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data):
            raise FormatError(".stack_sizes of the ELF file ends inside a number")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if byte < 0x80:
            return value, at
