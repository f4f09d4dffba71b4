"""Symbols of ELF object files: which are defined, which are wanted, and their renaming.

Constants are those of the System V ABI, chapter "Object Files" (and the gABI for 64-bit).
Handles 32- and 64-bit files of either byte order, as a relocatable object of any machine is.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .errors import FormatError

__all__ = ["FormatError", "Layout", "Symbol", "layout_of", "rename_symbols", "symbols"]

SHT_SYMTAB = 2
STB_LOCAL, STB_GLOBAL, STB_WEAK = 0, 1, 2
SHN_UNDEF, SHN_COMMON = 0, 0xFFF2


@dataclass(frozen=True)
class Symbol:
    name: str
    binding: int
    section: int
    size: int

    @property
    def defined(self) -> bool:
        return self.section != SHN_UNDEF

    @property
    def strong(self) -> bool:
        """Defined and global: a second one at a link is an error."""
        return self.binding == STB_GLOBAL and self.section not in (SHN_UNDEF, SHN_COMMON)


@dataclass(frozen=True)
class Layout:
    """Where the fields stand in one class (32 or 64 bit) and byte order."""

    header: struct.Struct
    section: struct.Struct
    symbol: struct.Struct
    wide: bool
    order: str

    def fields(self, raw: bytes, offset: int) -> tuple[int, int, int, int]:
        """name, info, section and size of the symbol at `offset`."""
        s = self.symbol.unpack_from(raw, offset)
        if self.wide:
            name, info, _, section, _, size = s
        else:
            name, _, size, info, _, section = s
        return name, info, section, size


def layout_of(raw: bytes, what: str) -> Layout:
    if raw[:4] != b"\x7fELF" or len(raw) < 52 or raw[4] not in (1, 2) or raw[5] not in (1, 2):
        raise FormatError(f"{what} is not an ELF file: it starts with {raw[:4].hex(' ')}")
    order = "<" if raw[5] == 1 else ">"
    if raw[4] == 2:
        parts = ("16sHHIQQQIHHHHHH", "IIQQQQIIQQ", "IBBHQQ")
    else:
        parts = ("16sHHIIIIIHHHHHH", "IIIIIIIIII", "IIIBBH")
    header, section, symbol = (struct.Struct(order + p) for p in parts)
    return Layout(header, section, symbol, raw[4] == 2, order)


@dataclass(frozen=True)
class _Table:
    """The symbol table of a file: where it and its string table stand."""

    layout: Layout
    offset: int
    count: int
    names_header: int
    names_offset: int
    names_size: int


def _tables(raw: bytes, what: str) -> Iterator[_Table]:
    layout = layout_of(raw, what)
    head = layout.header.unpack_from(raw)
    first, entry, number = head[6], head[11], head[12]
    try:
        sections = [layout.section.unpack_from(raw, first + i * entry) for i in range(number)]
    except struct.error as e:
        raise FormatError(f"{what} is cut short: its section headers end outside the file") from e
    for s in sections:
        if s[1] == SHT_SYMTAB:
            names = sections[s[6]]
            yield _Table(
                layout,
                s[4],
                s[5] // layout.symbol.size,
                first + s[6] * entry,
                names[4],
                names[5],
            )


def symbols(raw: bytes, what: str = "the file") -> list[Symbol]:
    """The named, non-local symbols of an object file; FormatError when it is not one."""
    found = []
    for table in _tables(raw, what):
        names = raw[table.names_offset : table.names_offset + table.names_size]
        for i in range(table.count):
            at = table.offset + i * table.layout.symbol.size
            name, info, section, size = table.layout.fields(raw, at)
            text = names[name : names.find(b"\0", name)].decode("utf-8", "surrogateescape")
            if text and info >> 4 != STB_LOCAL:
                found.append(Symbol(text, info >> 4, section, size))
    return found


def rename_symbols(raw: bytes, names: Mapping[str, str], what: str = "the file") -> bytes:
    """The file with non-local symbols renamed.

    The string table may be shared with section names, so the new names go to a copy of it at the
    end of the file. FormatError when a name to be replaced is not there.
    """
    out = bytearray(raw)
    missing = set(names)
    for table in _tables(raw, what):
        strings = bytearray(raw[table.names_offset : table.names_offset + table.names_size])
        for i in range(table.count):
            at = table.offset + i * table.layout.symbol.size
            name, info, _, _ = table.layout.fields(raw, at)
            text = strings[name : strings.find(b"\0", name)].decode("utf-8", "surrogateescape")
            if info >> 4 == STB_LOCAL or text not in names:
                continue
            missing.discard(text)
            struct.pack_into(table.layout.order + "I", out, at, len(strings))
            strings += names[text].encode("utf-8", "surrogateescape") + b"\0"
        out += b"\0" * (-len(out) % 8)
        header = list(table.layout.section.unpack_from(out, table.names_header))
        header[4], header[5] = len(out), len(strings)
        table.layout.section.pack_into(out, table.names_header, *header)
        out += strings
    if missing:
        raise FormatError(f"{what} has no symbol {', '.join(sorted(missing))}")
    return bytes(out)
