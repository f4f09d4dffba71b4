"""What an edit remakes on the npu target: counted in commands."""

from pathlib import Path

import npu_designs

SEQUENCE = {
    "sequence": 1,
    "npu-lower": 1,
    "npu-instructions": 1,
    "npu-instructions-checked": 1,
    "package": 1,
}
PLACED = {"place": 1, "route": 1, "overlay": 1}
CONFIGURED = {"cdo": 1, "pdi": 1, "partition-json": 1, "xclbin": 1, "xclbin-settled": 1}


def content(result, name="final.xclbin"):
    return Path(result.path(name)).read_bytes()


def test_everything_once_and_alike_cores_once(project):
    ran = project.ran()
    assert ran["kernel-object"] == 2
    per_core = ("core-lower", "core-llvm", "core-opt", "core-object", "linker-script", "core-link")
    assert {k: ran[k] for k in per_core} == dict.fromkeys(per_core, 2)  # of three cores
    assert ran == {
        **dict.fromkeys(per_core, 2), "core-compatible": 2, "kernel-object": 2,
        **PLACED, **SEQUENCE, **CONFIGURED,
        "linker-names": 3, "elf-files": 1, "bif": 1, "mem-topology": 1, "kernels-json": 1,
    }  # fmt: skip


def test_nothing_to_do_runs_nothing(built):
    assert built.ran() == {}


def test_another_installation_of_the_same_tools_is_the_same(built, tmp_path, monkeypatch):
    (tmp_path / "tools").rename(tmp_path / "moved")
    monkeypatch.setenv("MLIR_AIE_INSTALL_DIR", str(tmp_path / "moved" / "mlir_aie"))
    assert built.ran() == {}


def test_a_kernel_edit_stops_short_of_instructions_and_of_other_cores(built):
    before = built.build()
    text = built.kernel.read_text()
    built.kernel.write_text(
        text.replace("x[i] *= FACTOR", "x[i] = FACTOR == 2 ? x[i] + x[i] + 1 : x[i] * FACTOR")
    )
    ran = built.ran()
    # twice.o becomes another object and its core is linked; thrice.o is compiled to the same.
    names = {"linker-names": 2}  # the object may refer to other buffers now: it does not
    assert ran == {"kernel-object": 2, **names, "core-link": 1, **CONFIGURED, "package": 1}
    after = built.build()
    assert content(after) != content(before)
    assert content(after, "insts.bin") == content(before, "insts.bin")


def test_a_comment_in_a_kernel_stops_at_its_object(built):
    built.kernel.write_text(built.kernel.read_text() + "// said in passing\n")
    assert built.ran() == {"kernel-object": 2}


def test_a_sequence_edit_remakes_instructions_only(built):
    before = built.build()
    built.text = npu_designs.usual(128)
    assert built.ran() == {**PLACED, **SEQUENCE}
    after = built.build()
    assert content(after) == content(before)
    assert content(after, "insts.bin") != content(before, "insts.bin")


def test_a_core_edit_remakes_that_core(built):
    edited = npu_designs.usual().replace('"z_ready"}', '"z_ready"}\n    // the same otherwise')
    assert edited != built.text
    built.text = edited.replace(
        "aie.use_lock(%z_ready, Release, 1)",
        "aie.use_lock(%z_ready, Release, 1)\n      aie.use_lock(%z_ready, Release, 1)",
    )
    ran = built.ran()
    one = ("core-lower", "core-llvm", "core-compatible", "core-opt", "core-object", "core-link")
    assert {k: ran.get(k) for k in one} == dict.fromkeys(one, 1)
    assert "kernel-object" not in ran
    assert "linker-script" not in ran  # no memory moved
    assert "npu-lower" not in ran  # a sequence does not see what cores do


def test_a_packager_upgrade_remakes_the_package_only(built):
    built.tools.upgrade("xclbinutil")
    # What it makes has a time in it; without that it is what was there.
    assert built.ran() == {"xclbin": 1, "xclbin-settled": 1}
    built.tools.upgrade("bootgen")
    assert built.ran() == {"pdi": 1}


def test_a_compiler_library_is_part_of_the_linker(built):
    library = built.tools.peano / "lib" / "aie2-none-unknown-elf" / "libc.a"
    library.write_bytes(b"another")
    assert built.ran() == {"core-link": 2}


def test_sequences_share_one_overlay(built):
    built.text = npu_designs.usual().replace("@sequence", "@first").rstrip().removesuffix("}")
    built.text = built.text.rstrip().removesuffix("}") + npu_designs.sequence("second", 128)
    built.text += "\n  }\n}\n"
    both = built.build()
    assert {"insts_first.bin", "insts_second.bin"} <= set(both.outputs)
    assert content(both, "insts.bin") == content(both, "insts_first.bin")
    assert content(both, "insts_first.bin") != content(both, "insts_second.bin")
    built.text = built.text.replace("address = 128", "address = 132")
    ran = built.ran()
    assert ran["npu-lower"] == 1
    assert "cdo" not in ran
    one = built.build(sequences=("second",))
    assert content(one, "insts.bin") == content(built.build(), "insts_second.bin")


def test_two_builds_elsewhere_are_equal_byte_for_byte(built, project, tmp_path):
    from iron.build import Session

    first = built.build()
    built.session = Session(tmp_path / "another store")  # with a space in its path
    again = built.build()
    for name in first.outputs:
        assert content(again, name) == content(first, name)


def test_without_xclbinutil_iron_writes_the_same_sections(built):
    from iron.formats.xclbin import read

    with_tool = read(content(built.build()))
    built.tools.tool("xclbinutil").unlink()
    ran = built.ran()
    assert ran == {"xclbin-written": 1}
    assert read(content(built.build())).sections == with_tool.sections


def test_a_transaction_shares_all_its_steps(built):
    from iron.toolchain.npu import NpuToolchain

    built.log.clear()
    made = NpuToolchain.find().transaction(built.session, built.text, built.objects(), "demo")
    assert built.log.kinds() == {"transaction": 1}
    assert "elf_file" in Path(made.path()).read_text()
