"""ELF files of control code: what is written is read back; what XRT's layout says; damage."""

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iron.formats import control_elf
from iron.formats.errors import FormatError

KERNELS = [("main", 3, "first", b"1111"), ("main", 3, "second", b"22"), ("other", 5, "only", b"3")]


def made():
    return control_elf.write([(".pdi.1", b"image"), (".pdi.2", b"another")], KERNELS)


def test_kernels_instances_and_what_belongs_to_them():
    file = control_elf.read(made())
    assert (file.platform, file.version) == ("aie2p", (1, 0))
    assert [(k.name, k.instances, len(k.arguments)) for k in file.kernels] == [
        ("main", ("first", "second"), 3), ("other", ("only",), 5),
    ]  # fmt: skip
    assert set(file.kernels[0].arguments) == {"char*"}
    assert [(p.name, p.owner, p.data) for p in file.parts] == [
        (".pdi.1", "", b"image"), (".pdi.2", "", b"another"),
        (".ctrltext.0", "main:first", b"1111"), (".ctrltext.1", "main:second", b"22"),
        (".ctrltext.2", "other:only", b"3"),
    ]  # fmt: skip


def test_code_alone_has_no_kernels():
    file = control_elf.read(control_elf.write([(".ctrltext", b"code")]))
    assert (file.version, file.kernels) == ((0, 2), ())
    assert [p.data for p in file.parts] == [b"code"]


def test_patches_and_the_identifier_are_read():
    """As aiebu-asm lays them out: .dynsym, .dynstr, .rela.dyn and a note."""
    sections = [(".ctrltext", bytes(64))]
    raw = control_elf._assembled(
        [
            control_elf._Section("", 0, 0, 0, b""),
            control_elf._Section(*sections[0][:1], 1, 0, 0, sections[0][1]),
            control_elf._Section(".dynstr", 3, 0, 0, b"\0" + b"3\0"),
            control_elf._Section(
                ".dynsym", 11, 2, 1, bytes(16) + struct.pack("<IIIBBH", 1, 0, 8, 17, 0, 1)
            ),
            control_elf._Section(".rela.dyn", 4, 3, 0, struct.pack("<IIi", 36, 1 << 8 | 5, 128)),
            control_elf._Section(
                ".note.xrt.UID", 7, 0, 0, struct.pack("<III4s16s", 4, 16, 4, b"XRT\0", b"u" * 16)
            ),
        ],
        2,
    )
    file = control_elf.read(raw)
    assert file.patches == (control_elf.Patch("3", ".ctrltext", 36, "shim DMA 48", 128),)
    assert file.identifier == b"u" * 16


def test_signatures():
    assert control_elf.demangled("_Z4mainPcPvi") == ("main", ("char*", "void*", "int"))
    assert control_elf.demangled("_Z3dpu") == ("dpu", ())
    for wrong in ("main", "_Z9main", "_Z4mainPx", "_Z4mainP"):
        with pytest.raises(FormatError, match="is not the symbol of a kernel"):
            control_elf.demangled(wrong)


@given(st.integers(0, 2000))
def test_a_file_cut_short_is_refused(end):
    raw = made()
    with pytest.raises(FormatError):
        control_elf.read(raw[: min(end, len(raw) - 1)])


@given(st.integers(52, 1000), st.binary(min_size=1, max_size=4))
def test_damage_is_an_error_of_one_kind_or_goes_unnoticed(at, junk):
    raw = bytearray(made())
    raw[at : at + len(junk)] = junk
    with contextlib.suppress(FormatError):
        control_elf.read(bytes(raw))


def test_an_elf_of_a_core_is_none():
    core = b"\x7fELF\1\1\1" + bytes(60)
    assert not control_elf.looks_like(core)
    with pytest.raises(FormatError, match="no ELF file of control code"):
        control_elf.read(core)
