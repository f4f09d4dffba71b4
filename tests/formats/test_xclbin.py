"""xclbin: what is written is read back, equal content is equal bytes, damage is told."""

import copy
import json
import struct
import uuid
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iron.formats import aie_partition
from iron.formats.errors import FormatError
from iron.formats.xclbin import MAGIC, Section, Xclbin, content_uuid, read, without_chance, write
from iron.formats.xclbin_build import build, payload_of, with_mirror
from iron.toolchain.packaging import (
    Columns,
    Kernel,
    kernel_description,
    memory_description,
    partition_description,
)

PDI = bytes(range(200))
KERNEL = Kernel()
UUID = "25d8f8c4-4231-8b98-a559-1dd52f9aba78"


def parts(starts=(1, 2, 3), buffers=5):
    return (
        memory_description(),
        kernel_description(KERNEL, buffers),
        partition_description(KERNEL, Columns(2, starts), "main.pdi", UUID),
    )


def made(**options):
    return build(*parts(**options), lambda name: PDI, ("a_memory.json", "a_partition.json"))


def test_the_sections_say_what_was_asked():
    memory, _, partition = parts()
    file = read(write(made()))
    assert [s.title for s in file.sections] == [
        "MEM_TOPOLOGY", "AIE_PARTITION", "EMBEDDED_METADATA", "IP_LAYOUT", "CONNECTIVITY",
        "ASK_GROUP_CONNECTIVITY", "ASK_GROUP_TOPOLOGY",
    ]  # fmt: skip
    assert [s.name for s in file.sections][:2] == ["a_memory", "a_partition"]
    assert payload_of(file.sections[0]) == memory
    found, files = aie_partition.read(file.sections[1].data)
    wanted = copy.deepcopy(partition)
    wanted["aie_partition"]["name"] = ""
    wanted["aie_partition"]["PDIs"][0]["file_name"] = f"{UUID}.pdi"
    assert found == wanted
    assert files == {f"{UUID}.pdi": PDI}
    assert b'<arg name="bo4" addressQualifier="1" id="7"' in file.sections[2].data
    (ip,) = payload_of(file.sections[3])["ip_layout"]["m_ip_data"]
    assert (ip["m_name"], ip["m_kernel_id"]) == ("MLIR_AIE:MLIRAIE", "0x901")
    connected = payload_of(file.sections[4])["connectivity"]["m_connection"]
    assert [(c["arg_index"], c["mem_data_index"]) for c in connected] == [
        ("1", "1"), ("3", "0"), ("4", "0"), ("5", "0"), ("6", "0"), ("7", "0"),
    ]  # fmt: skip


def test_the_header_is_xrts():
    raw = write(made())
    assert raw[:8] == MAGIC
    assert struct.unpack_from("<Q", raw, 0x130) == (len(raw),)
    assert raw[0x148:0x14C] == bytes((0, 0, 2, 18))  # patch (two bytes), major, minor
    assert struct.unpack_from("<I", raw, 0x1C0) == (7,)
    assert struct.unpack_from("<I16s", raw, 0x1C8)[0] == 6


def test_the_mirror_says_what_the_sections_say():
    file = read(write(made()))
    pairs = json.loads(file.mirror, object_pairs_hook=list)
    headers = [dict(v) for k, v in pairs if k == "section_header"]
    raw = write(file)
    for header, section in zip(headers, file.sections, strict=True):
        offset, size = int(header["Offset"], 16), int(header["Size"], 16)
        assert raw[offset : offset + size] == section.data
        assert offset % 8 == 0
        assert ("payload" in header) == (payload_of(section) is not None)


def test_equal_content_is_equal_bytes_and_other_content_another_uuid():
    assert write(made()) == write(made())
    assert made().uuid != made(starts=(1,)).uuid
    assert uuid.UUID(bytes=made().uuid).version == 8


def test_what_a_tool_leaves_to_chance_is_settled():
    plain = made()
    other = parts()
    other[2]["aie_partition"]["PDIs"][0]["uuid"] = str(uuid.uuid4())
    chance = build(*other, lambda name: PDI, ("a_memory.json", "a_partition.json"))
    chance = with_mirror(replace(chance, stamp=7654321, unique_id=7654321, uuid=b"r" * 16))
    settled = without_chance(write(chance))
    assert settled == without_chance(write(plain))
    assert settled == without_chance(settled)
    file = read(settled)
    assert (file.stamp, file.unique_id) == (0, 0)
    assert file.uuid == content_uuid(file.sections)
    assert b"7654321" not in settled


section = st.builds(
    Section,
    st.integers(0, 40),
    st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=15),
    st.binary(max_size=40),
)


@given(st.lists(section, max_size=5), st.binary(min_size=16, max_size=16), st.integers(0, 2**40))
def test_any_container_is_read_as_it_was_written(sections, identifier, stamp):
    file = Xclbin(tuple(sections), identifier, stamp, 7, (2, 3, 4), b'{"x":1}')
    assert read(write(file)) == file


@given(st.integers(0, 4000))
def test_a_file_cut_short_is_refused(end):
    raw = write(made())
    with pytest.raises(FormatError):
        read(raw[: min(end, len(raw) - 1)])


def test_other_bytes_are_refused():
    with pytest.raises(FormatError, match="is no xclbin"):
        read(b"\x7fELF" + bytes(1000), "some.elf")
    raw = bytearray(write(made()))
    raw[0x1C8 + 24 : 0x1C8 + 32] = struct.pack("<Q", 10**6)
    with pytest.raises(FormatError, match="section MEM_TOPOLOGY has bytes 1000000 to"):
        read(bytes(raw))


def test_several_pdis_keep_their_contents():
    _, _, partition = parts()
    body = partition["aie_partition"]
    second = copy.deepcopy(body["PDIs"][0])
    second.update(uuid=UUID[:-1] + "0", file_name="second.pdi")
    second["cdo_groups"][0]["dpu_kernel_ids"] = ["0x902", "0x903"]
    body["PDIs"].append(second)
    files = {"main.pdi": PDI, "second.pdi": b"the second, of odd length"}
    section = aie_partition.write(partition, files.__getitem__)
    found, data = aie_partition.read(section)
    assert list(data.values()) == list(files.values())
    groups = [e["cdo_groups"][0]["dpu_kernel_ids"] for e in found["aie_partition"]["PDIs"]]
    assert groups == [["0x901"], ["0x902", "0x903"]]
