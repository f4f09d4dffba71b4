"""CDO and PDI: commands, images, checksums, and what is loaded into tiles."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iron.formats import cdo, pdi
from iron.formats.cdo import Command
from iron.formats.errors import FormatError

word = st.integers(0, 2**32 - 1)
COMMANDS = {
    "mask_poll": ("address", "mask", "value", "timeout"),
    "mask_write": ("address", "mask", "value"),
    "write": ("address", "value"),
    "write64": ("high", "low", "value"),
    "mask_write64": ("high", "low", "mask", "value"),
    "delay": ("cycles",),
    "nop": (),
}
command = st.one_of(
    *(
        st.fixed_dictionaries(dict.fromkeys(fields, word)).map(
            lambda f, name=name: Command(name, f)
        )
        for name, fields in COMMANDS.items()
    ),
    st.tuples(word, st.lists(word, max_size=300)).map(
        lambda t: Command("dma_write", {"high": 0, "low": t[0]}, tuple(t[1]))
    ),
)


@given(st.lists(command, max_size=5))
def test_commands_are_read_as_they_were_written(commands):
    raw = cdo.write(commands)
    assert list(cdo.read(raw)) == commands
    assert cdo.write(cdo.read(raw)) == raw
    assert list(cdo.read(raw + b"\0" * 12)) == commands  # padding of a partition


def test_the_bytes_of_a_write():
    raw = cdo.write([Command("write", {"address": 0x21F000, "value": 5})])
    assert raw == struct.pack("<8I", 4, 0x4F4443, 0x200, 3, 0xFFB0B9B5, 0x020103, 0x21F000, 5)


@pytest.mark.parametrize(
    ("at", "value", "said"),
    [(1, 0, 'not "CDO"'), (4, 1, "checksum"), (3, 50, "checksum"), (5, 0x300103, "ends outside")],
)
def test_a_damaged_cdo_is_refused(at, value, said):
    words = list(struct.unpack("<8I", cdo.write([Command("write", {"address": 1, "value": 2})])))
    words[at] = value
    with pytest.raises(FormatError, match=said):
        cdo.read(struct.pack("<8I", *words))


def test_a_cdo_cut_short_is_refused():
    raw = cdo.write([Command("write", {"address": 1, "value": 2})])
    with pytest.raises(FormatError, match="cut short: 3 words of commands announced, 2 there"):
        cdo.read(raw[:-4])


def load(column, row, offset, *words):
    return Command("dma_write", {"high": 0, "low": column << 25 | row << 20 | offset}, words)


def test_what_is_loaded_into_the_memories_of_cores():
    found = cdo.loaded(
        [
            load(1, 2, 0x20000, 0x04030201),
            load(1, 2, 0x400, 5),
            load(1, 2, 0x1D000, *range(8)),  # a buffer descriptor
            load(1, 1, 0x400, 6),  # a memory tile
            load(0, 0, 0x20000, 7),
            Command("write", {"address": 1 << 25 | 2 << 20, "value": 8}),
        ]
    )
    assert [(x.column, x.row, x.memory, x.offset, x.data) for x in found] == [
        (1, 2, "program", 0, b"\1\2\3\4"),
        (1, 2, "data", 0x400, b"\5\0\0\0"),
    ]


PARTS = [cdo.write([Command("nop", {})]), b"something else!!"]
RAW = pdi.write([("first", 0x1C000000, PARTS), ("second", 2, PARTS[:1])], 0x14CA8093)


def test_images_and_their_partitions():
    file = pdi.read(RAW)
    assert file.identification_code == 0x14CA8093
    assert [(i.name, i.identifier, len(i.partitions)) for i in file.images] == [
        ("first", 0x1C000000, 2),
        ("second", 2, 1),
    ]
    one, other = file.images[0].partitions
    assert one.is_cdo
    assert [c.name for c in one.commands()] == ["nop"]
    assert not other.is_cdo
    assert other.data == b"something else!!"
    assert all(RAW[p.offset : p.offset + p.size] == p.data for p in (one, other))


@pytest.mark.parametrize("at", [0x14, 0x90, 0x110])
def test_a_damaged_header_is_told_by_its_checksum(at):
    raw = bytearray(RAW)
    raw[at] ^= 1
    with pytest.raises(FormatError, match=r"checksum|cut short"):
        pdi.read(bytes(raw), "main.pdi")


@pytest.mark.parametrize("end", [0, 40, 0x95, 0x130, len(RAW) - 20])
def test_a_pdi_cut_short_is_refused(end):
    with pytest.raises(FormatError):
        pdi.read(RAW[:end])
