"""insts.bin: read back as it was written, and refused when header and contents disagree."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iron.formats.errors import FormatError
from iron.formats.insts import Header, Instruction, read, write

HEADER = Header(0, 1, 3, 6, 4, 1)

# Written by hand from TxnEncoding.h: header, a write, a block of two words, a sync.
WORDS = (
    0x06030100, 0x00000104, 3, 16 + 24 + 24 + 16,
    0, 0, 0x1D204, 0, 0x80000002, 24,
    1, 0, 0x1D000, 24, 7, 8,
    0x80, 16, 0x00010200, 0x03040500,
)  # fmt: skip
RAW = struct.pack(f"<{len(WORDS)}I", *WORDS)


def test_words_become_operations():
    program = read(RAW)
    assert program.header == Header(0, 1, 3, 6, 4, 1, 3, 80)
    a, b, c = program.instructions
    assert (a.name, a.fields) == ("write32", {"address": 0x1D204, "value": 0x80000002})
    assert (b.name, b.fields, b.data) == ("blockwrite", {"address": 0x1D000}, (7, 8))
    assert c.fields == {
        "column": 1, "row": 2, "direction": 0, "channel": 3, "column_num": 4, "row_num": 5,
    }  # fmt: skip
    assert [op.offset for op in program.instructions] == [16, 40, 64]
    assert write(HEADER, program.instructions) == RAW


word = st.integers(0, 2**32 - 1)
byte = st.integers(0, 255)
FIELDS = {
    "write32": {"address": word, "value": word},
    "maskwrite32": {"address": word, "value": word, "mask": word},
    "maskpoll": {"address": word, "value": word, "mask": word},
    "sync": dict.fromkeys(("column", "row", "direction", "channel", "column_num", "row_num"), byte),
    "address_patch": {"address": word, "argument": word, "offset": word},
    "preempt": {"level": byte},
    "load_pdi": {"id": st.integers(0, 65535), "size": word, "address": st.integers(0, 2**64 - 1)},
    "create_scratchpad": {"usage": byte, "size": word},
    "update_register": {"table": byte, "function": byte, "value": word, "address": word},
    "noop": {},
}
operation = st.one_of(
    *(
        st.fixed_dictionaries(fields).map(lambda f, name=name: Instruction(name, f))
        for name, fields in FIELDS.items()
    ),
    st.tuples(word, st.lists(word, min_size=1, max_size=9)).map(
        lambda t: Instruction("blockwrite", {"address": t[0]}, tuple(t[1]))
    ),
)


@given(st.lists(operation, max_size=6))
def test_every_operation_is_read_as_it_was_written(operations):
    raw = write(HEADER, operations)
    program = read(raw)
    assert list(program.instructions) == operations
    assert write(program.header, program.instructions) == raw


@given(st.lists(operation, min_size=1, max_size=3), st.data())
def test_a_file_cut_short_is_refused(operations, data):
    raw = write(HEADER, operations)
    end = data.draw(st.integers(0, len(raw) - 1))
    with pytest.raises(FormatError):
        read(raw[:end])


@pytest.mark.parametrize(
    ("at", "value", "said"),
    [
        (2, 4, "has 3 operations, its header says 4"),
        (3, 84, "has 80 bytes, its header says 84"),
        (0, 0x06030001, "version 1.0"),
        (0, 0x00030100, "an array without tiles"),
        (9, 20, "byte 16: an instruction says that it has 20 bytes"),
        (4, 77, "byte 16: opcode 77 is not known"),
        (13, 400, "ends outside the file"),
    ],
)
def test_what_does_not_hold_together_is_told(at, value, said):
    words = list(WORDS)
    words[at] = value
    with pytest.raises(FormatError, match=said):
        read(struct.pack(f"<{len(words)}I", *words), "insts.bin")


def test_a_custom_operation_is_passed_over():
    words = [*WORDS[:2], 1, 28, 200, 12, 99]
    (op,) = read(struct.pack("<7I", *words)).instructions
    assert (op.name, op.data) == ("opcode 200", (99,))
