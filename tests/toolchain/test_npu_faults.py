"""What the npu target says when a tool fails, lies, is missing or is not known."""

import os
from pathlib import Path

import npu_designs
import pytest
from npu_designs import core, design, sequence

from iron.build import BuildError, Text
from iron.toolchain.compiler import ToolNotFound
from iron.toolchain.npu import NpuToolchain, UnknownVersion, given_file
from iron.toolchain.objects import CompileSpec, ObjectSpec, SourceText
from iron.toolchain.rewrites import PlanError


def failure(built, **how):
    built.tools.fail(**how)
    with pytest.raises(BuildError) as caught:
        built.build()
    return caught.value.failures[0]


def other(built):
    """A design whose every step is still to be made."""
    built.text = npu_designs.usual(4242).replace("x_ready", "w_ready").replace("64xi32", "32xi32")
    return built


def test_a_failing_tool_is_quoted_whole_with_its_command_and_directory(built):
    found = failure(other(built), aie_opt="exit")
    assert "this is its second line" in found.stderr
    assert found.command[0].endswith("aie-opt")
    assert "placing of demo" in str(found)
    assert "--pass-pipeline=builtin.module(" in (Path(found.directory) / "command.sh").read_text()


def one_step(built, kind):
    """One recipe of the target, on an input of our own."""
    toolchain = NpuToolchain.find()
    if kind == "aie_opt":
        pipeline = toolchain.mlir_aie.generation.route
        text = Text(built.text, "aie.mlir")
        return toolchain.mlir_aie.optimised("route", pipeline, text, "out.mlir", "routing")
    return toolchain.peano.object(given_file(str(built.kernel)), "aie2", "a core")


@pytest.mark.parametrize(
    ("tool", "how", "said"),
    [
        ("aie_opt", "nothing", "succeeded but left no out.mlir"),
        ("aie_opt", "empty", "succeeded but left out.mlir empty"),
        ("llc", "nothing", "succeeded but left no core.o"),
        ("llc", "empty", "succeeded but left core.o empty"),
        ("llc", "garbage", "succeeded but core.o begins b'garb'"),
    ],
)
def test_success_without_the_right_output_is_a_failure(project, tool, how, said):
    recipe = one_step(project, tool)
    project.tools.fail(**{tool: how})
    with pytest.raises(BuildError) as caught:
        project.session.build(recipe)
    assert said in caught.value.failures[0].reason
    project.tools.fail()
    assert project.session.build(recipe)  # nothing of the kind was kept


def test_instructions_that_cannot_be_read_are_a_failure(built):
    built.text = npu_designs.usual(999)
    found = failure(built, aie_translate="garbage")
    assert "insts.bin as aie-translate left it" in found.stderr


# -- what is missing --------------------------------------------------------------------------


@pytest.fixture
def bare(monkeypatch, tmp_path):
    for name in ("MLIR_AIE_INSTALL_DIR", "PEANO_INSTALL_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))


def test_a_bare_machine_is_told_where_was_looked_and_what_to_do(bare):
    with pytest.raises(ToolNotFound) as caught:
        NpuToolchain.find()
    for said in ("mlir-aie", "the mlir_aie wheel", "aie-opt on PATH", "pip install mlir_aie"):
        assert said in str(caught.value)


def test_what_the_environment_names_is_not_passed_over(tools, monkeypatch, tmp_path):
    monkeypatch.setenv("MLIR_AIE_INSTALL_DIR", str(tmp_path / "typo"))
    monkeypatch.setenv("PATH", f"{tools.mlir_aie / 'bin'}:{os.environ['PATH']}")
    with pytest.raises(ToolNotFound, match="typo"):
        NpuToolchain.find()
    monkeypatch.delenv("MLIR_AIE_INSTALL_DIR")
    assert NpuToolchain.find().mlir_aie.root == str(tools.mlir_aie)


def test_peano_of_the_environment_comes_before_the_one_beside_mlir_aie(
    tools, monkeypatch, tmp_path
):
    assert NpuToolchain.find().peano.root == str(tools.peano)
    (tmp_path / "mine" / "bin").mkdir(parents=True)
    (tmp_path / "mine" / "bin" / "clang++").touch()
    monkeypatch.setenv("PEANO_INSTALL_DIR", str(tmp_path / "mine"))
    assert NpuToolchain.find().peano.root == str(tmp_path / "mine")


def test_an_incomplete_peano_is_told_before_anything_runs(built):
    built.tools.tool("llc").unlink()
    with pytest.raises(ToolNotFound, match="no bin/llc: the installation is incomplete"):
        built.build()
    assert built.log.kinds() == {}


def test_no_bootgen(tools, monkeypatch):
    tools.tool("bootgen").unlink()
    monkeypatch.setenv("PATH", str(tools.root))
    with pytest.raises(ToolNotFound, match="xilinx-bootgen"):
        _ = NpuToolchain.find().bootgen_tool


def test_an_old_xclbinutil_is_not_used(tools):
    assert NpuToolchain.find().xclbin_tool is not None
    tools.configure(xclbinutil="2.8.743")
    tools.upgrade("xclbinutil")
    assert NpuToolchain.find().xclbin_tool is None


# -- versions and drivers ---------------------------------------------------------------------


def test_an_unknown_version_is_built_by_its_own_driver_with_a_warning(built):
    built.tools.configure(passes=["aie-of-2031"])
    built.tools.upgrade("aie-opt")
    with pytest.warns(UnknownVersion, match=r"its own aiecc builds\s+demo"):
        ran = built.ran()
    assert ran["aiecc"] == 1
    assert "place" not in ran
    assert built.ran() == {}  # known now: no second warning either
    with pytest.raises(PlanError, match="driver='aiecc'"):
        built.build(driver="steps")


def test_the_driver_can_be_chosen(built, monkeypatch):
    first = built.ran(driver="aiecc")
    assert first == {"aiecc": 1, "xclbin-settled": 1, "package": 1}
    assert built.ran(driver="steps") == {}
    monkeypatch.setenv("IRON_NPU_DRIVER", "aiecc")
    assert built.ran() == {}
    with pytest.raises(ValueError, match="driver='make'"):
        built.build(driver="make")


def test_aiecc_sees_exactly_the_objects_of_the_design(built):
    before = Path(built.build(driver="aiecc").path("final.xclbin")).read_bytes()
    built.kernel.write_text(built.kernel.read_text().replace("x[i] *=", "x[i] +="))
    assert built.ran(driver="aiecc")["aiecc"] == 1
    assert Path(built.build(driver="aiecc").path("final.xclbin")).read_bytes() != before


def test_full_elf_comes_from_aiecc(built):
    made = built.build(full_elf=True)
    assert Path(made.path("design.elf")).read_bytes()[:4] == b"\x7fELF"


def test_several_devices_are_named(built):
    built.text = "module {\n aie.device(npu1) @a {\n}\n aie.device(npu1) @b {\n}\n}\n"
    with pytest.raises(PlanError, match=r"2 devices \(@a, @b\)"):
        built.build()


def test_a_device_that_is_no_npu(built):
    built.text = "module {\n aie.device(xcvc1902) {\n}\n}\n"
    with pytest.raises(PlanError, match="not for xcvc1902"):
        built.build()


def test_a_sequence_that_is_not_there(built):
    with pytest.raises(PlanError, match="no runtime sequence other; it has sequence"):
        built.build(sequences=("other",))


def test_an_object_nothing_makes(built):
    built.text = design(
        core(0, 2, "x"), sequence("sequence", 4), functions=(("twice", "absent.o"),)
    )
    with pytest.raises(PlanError, match=r"nothing makes absent\.o, which the core at \(0, 2\)"):
        built.build()


def test_chess_and_peano_are_not_mixed(built):
    chess = ObjectSpec((CompileSpec(SourceText("", "c.cc")),), use_chess=True, functions=("f",))
    peano = ObjectSpec((CompileSpec(SourceText("", "p.cc")),), functions=("g",))
    toolchain = NpuToolchain.find()
    with pytest.raises(PlanError, match="calling conventions"):
        toolchain.package(built.session, built.text, {"twice.o": chess, "thrice.o": peano}, "demo")
    with pytest.raises(ToolNotFound, match="AIETOOLS names nothing"):
        toolchain.package(built.session, built.text, {"twice.o": chess}, "demo")


def test_a_design_for_chess_is_built_by_aiecc(built, monkeypatch, tmp_path):
    (tmp_path / "aietools").mkdir()
    monkeypatch.setenv("AIETOOLS", str(tmp_path / "aietools"))

    def spec(text):
        member = CompileSpec(SourceText(text, "kernel.cc"), ("-DFACTOR=2",))
        return ObjectSpec((member,), use_chess=True, functions=("twice",))

    toolchain, text = NpuToolchain.find(), npu_designs.KERNEL
    objects = {"twice.o": spec(text), "thrice.o": spec(text + "\nint more;")}
    built.log.clear()
    toolchain.package(built.session, built.text, objects, "demo")
    assert built.log.kinds() == {
        "kernel-object": 2, "aiecc": 1, "xclbin-settled": 1, "package": 1,
    }  # fmt: skip
    with pytest.raises(PlanError, match="leave out driver='steps'"):
        NpuToolchain.find(driver="steps").package(built.session, built.text, objects, "demo")
    with pytest.raises(PlanError, match=r"includes mine\.h"):
        toolchain.kernel(spec('#include "mine.h"\n' + text))
