"""A core's ELF: sections, segments, stack."""

import struct

import pytest

from iron.formats.elf_image import STACK_START, read
from iron.formats.errors import FormatError


def elf(stack=0x70000, sizes=((0x100, 300), (0x200, 16))):
    """An ELF32 with .text, .stack_sizes and a symbol table, made by hand."""
    names = b"\0.text\0.stack_sizes\0.symtab\0.strtab\0"
    strings = b"\0" + STACK_START.encode() + b"\0"
    stacks = b""
    for address, size in sizes:
        stacks += struct.pack("<I", address)
        stacks += bytes((size & 0x7F | 0x80, size >> 7)) if size > 127 else bytes((size,))
    symbols = bytes(16) + struct.pack("<IIIBBH", 1, stack, 0, 0x10, 0, 0xFFF1)
    parts = [b"code", stacks, symbols, strings + names]
    at, offsets = 84, []
    for part in parts:
        offsets.append(at)
        at += len(part)
    name = len(strings)
    table = [
        (0,) * 10,
        (name + 1, 1, 6, 0x20, offsets[0], 4, 0, 0, 4, 0),
        (name + 7, 1, 0, 0, offsets[1], len(stacks), 0, 0, 1, 0),
        (name + 20, 2, 0, 0, offsets[2], len(symbols), 4, 1, 4, 16),
        (name + 28, 3, 0, 0, offsets[3], len(strings + names), 0, 0, 1, 0),
    ]
    # Section names live in the same table as symbols; their offsets count from its start.
    head = struct.pack(
        "<16sHHIIIIIHHHHHH",
        b"\x7fELF\1\1\1", 2, 264, 1, 0x20, 52, at, 0, 52, 32, 1, 40, len(table), 4,
    )  # fmt: skip
    program = struct.pack("<8I", 1, offsets[0], 0x20, 0x20, 4, 8, 5, 4)
    rows = b"".join(struct.pack("<10I", *row) for row in table)
    return head + program + b"".join(parts) + rows


def test_sections_segments_and_stack():
    image = read(elf())
    assert (image.machine, image.entry) == (264, 0x20)
    assert [s.name for s in image.sections] == ["", ".text", ".stack_sizes", ".symtab", ".strtab"]
    assert image.sections[1].loaded
    assert not image.sections[2].loaded
    assert [(s.address, s.memory_size, s.data) for s in image.segments] == [(0x20, 8, b"code")]
    assert image.stack_start == 0x70000
    assert image.stack_sizes == ((0x100, 300), (0x200, 16))


@pytest.mark.parametrize("end", [3, 30, 70, 90, 300])
def test_a_file_cut_short_is_refused(end):
    with pytest.raises(FormatError):
        read(elf()[:end])
