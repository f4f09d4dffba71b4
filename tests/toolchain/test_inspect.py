"""`iron inspect` on what a build leaves, in words and as JSON."""

import json

import pytest

from iron.cli.main import main


def shown(capsys, path, *options):
    assert main(["inspect", str(path), *options]) == 0
    return capsys.readouterr().out


def test_the_files_of_a_package(built, capsys):
    package = built.build()
    found = json.loads(shown(capsys, package.path("final.xclbin"), "--json"))
    assert found["kind"] == "xclbin"
    (pdi,) = found["pdis"].values()
    (image,) = pdi["images"]
    loads = image["partitions"][0]["loads"]
    assert [(x["tile"], x["memory"]) for x in loads] == [
        ([0, row], memory) for row in (2, 3, 4) for memory in ("program", "data")
    ]
    assert loads[0]["begins"] == loads[2]["begins"] != loads[4]["begins"]
    words = shown(capsys, package.path("final.xclbin"))
    assert "MLIR_AIE:MLIRAIE" in words
    assert "column_width" in words

    found = json.loads(shown(capsys, package.path("insts.bin"), "--json"))
    assert (found["device"], found["columns"]) == ("npu1", 1)
    words = shown(capsys, package.path("insts.bin"))
    assert "1 operation(s)" in words
    assert "tile (0, 0) + 0x1d204 (S2MM 0 start queue)" in words


def test_a_descriptor_is_told_field_by_field(tmp_path, capsys):
    from iron.formats.insts import Header, Instruction, write

    words = (256, 0, 0, (15 << 20) | 3, 0x80000000, 0x02000000, 0, 0x02000000)
    ops = [
        Instruction("blockwrite", {"address": 0x1D040}, words),
        Instruction("address_patch", {"address": 0x1D044, "argument": 2, "offset": 64}),
    ]
    path = tmp_path / "insts.bin"
    path.write_bytes(write(Header(0, 1, 4, 6, 8, 1), ops))
    text = shown(capsys, path)
    assert "(BD 2)" in text
    assert "length=256" in text
    assert "d0_size=15 d0_stride=4" in text
    assert "(BD 2 word 1)  argument=2 offset=64" in text


def test_an_elf_and_a_cdo(tmp_path, capsys):
    from iron.formats import cdo

    raw = cdo.write([cdo.Command("mask_write", {"address": 0x232000, "mask": 1, "value": 1})])
    (tmp_path / "x.bin").write_bytes(raw)
    found = json.loads(shown(capsys, tmp_path / "x.bin", "--json"))
    assert found["list"] == [
        {"name": "mask_write", "where": "tile (0, 2) + 0x32000", "mask": 1, "value": 1}
    ]
    from common import small_elf

    (tmp_path / "core.elf").write_bytes(small_elf(b"x"))
    found = json.loads(shown(capsys, tmp_path / "core.elf", "--json"))
    assert [s["address"] for s in found["segments"]] == ["0x0", "0x70000"]


@pytest.mark.parametrize("content", [b"", b"#include <x>\n", b"\x7fELF"])
def test_anything_else_is_refused_in_one_line(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(SystemExit, match="iron: "):
        main(["inspect", str(tmp_path / "file")])
    with pytest.raises(SystemExit, match="No such file"):
        main(["inspect", str(tmp_path / "absent")])
