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
from iron.toolchain.symbols import SymbolError


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
    for said in (
        "mlir-aie", "the mlir_aie wheel", "aie-opt on PATH", "pip install mlir_aie", "Peano",
        "the llvm-aie wheel", "pip install llvm-aie", "bootgen was not found",
    ):  # fmt: skip
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
    with pytest.warns(UnknownVersion, match=r"of unknown version are not known; .* own aiecc"):
        ran = built.ran()
    assert ran["aiecc"] == 1
    assert "place" not in ran
    assert built.ran() == {}  # known now: no second warning either
    with pytest.raises(PlanError, match="leave out driver='steps'"):
        built.build(driver="steps")


def test_the_driver_can_be_chosen(built, monkeypatch):
    first = built.ran(driver="aiecc")
    assert first == {"aiecc": 1, "xclbin-settled": 1, "package": 1}
    assert built.ran(driver="steps") == {}
    monkeypatch.setenv("IRON_NPU_DRIVER", "aiecc")
    assert built.ran() == {}
    with pytest.raises(ValueError, match="driver='make'"):
        built.build(driver="make")


def several_sequences():
    text = npu_designs.usual().replace("@sequence", "@first").rstrip().removesuffix("}").rstrip()
    return text.removesuffix("}") + sequence("second", 128) + "\n  }\n}\n"


def test_aiecc_makes_the_instructions_of_every_sequence(built):
    built.text = several_sequences()
    made = built.build(driver="aiecc")
    assert built.log.kinds()["aiecc"] == 1
    names = ("insts.bin", "insts_first.bin", "insts_second.bin")
    first, one, other = (Path(made.path(n)).read_bytes() for n in names)
    assert first == one != other
    chosen = built.build(driver="aiecc", sequences=("second",))
    assert Path(chosen.path("insts.bin")).read_bytes() == other
    assert "aiecc" not in built.log.kinds()  # they were made together


def test_aiecc_of_the_older_language(built):
    """aiecc.py: other words, and a Python that is ours."""
    tool = built.tools.tool("aiecc")
    text = tool.read_text().replace(" aiecc ", " aiecc.py ")
    tool.unlink()
    script = tool.with_name("aiecc.py")
    script.write_text("import os, sys\n" + f"os.execv('/bin/sh', ['sh', {str(tool)!r} + '.sh', "
                      "*sys.argv[1:]])\n")  # fmt: skip
    script.chmod(0o755)
    Path(f"{tool}.sh").write_text(text)
    built.text = several_sequences()
    made = built.build(driver="aiecc")
    (argv,) = [r["argv"] for r in built.log.lines() if r["kind"] == "aiecc"]
    assert "--aie-generate-npu-insts" in argv
    assert (
        Path(made.path("insts_second.bin")).read_bytes()
        != Path(made.path("insts_first.bin")).read_bytes()
    )


def test_where_aiecc_lies_is_in_no_key(built, tmp_path, monkeypatch):
    built.build(driver="aiecc")
    (tmp_path / "tools").rename(tmp_path / "moved")
    monkeypatch.setenv("MLIR_AIE_INSTALL_DIR", str(tmp_path / "moved" / "mlir_aie"))
    assert built.ran(driver="aiecc") == {}
    built.tools = type(built.tools)(tmp_path / "moved")
    built.tools.upgrade("llc")  # which it runs
    assert built.ran(driver="aiecc")["aiecc"] == 1


def test_flags_that_only_aiecc_knows_have_it_build_the_design(built):
    with pytest.warns(UnknownVersion, match="only aiecc knows --of-its-own; .* as one step"):
        ran = built.ran(aiecc_flags=["--of-its-own", "--alloc-scheme=x"])
    assert ran["aiecc"] == 1
    (argv,) = [r["argv"] for r in built.log.lines() if r["kind"] == "aiecc"]
    assert argv[-2:] == ["--alloc-scheme=x", "--of-its-own"]
    with pytest.raises(PlanError, match="only aiecc knows --of-its-own, so its steps"):
        built.build(driver="steps", aiecc_flags=["--of-its-own"])
    assert "place" in built.ran(aiecc_flags=["--alloc-scheme=x"])


def test_one_symbol_in_two_objects_of_a_core_is_told_before_the_link(project):
    text = npu_designs.KERNEL.replace("extern", "int shared(int x) { return x; }\nextern", 1)
    project.kernel.write_text(text.replace("int shared", 'extern "C" int shared'))
    project.text = project.text.replace(
        "aie.use_lock(%z_ready, Release, 1)",
        "func.call @twice(%z) : (memref<64xi32>) -> ()\n      aie.use_lock(%z_ready, Release, 1)",
    )
    with pytest.raises(SymbolError) as caught:
        project.build()
    for said in (
        "shared is defined twice on core(s) (0, 4)", "thrice (declared at design.py:7)",
        "twice (declared at design.py:7)", "-DFACTOR=2", "-DFACTOR=3", "symbol_prefix",
    ):  # fmt: skip
        assert said in str(caught.value)
    assert set(project.log.kinds()) == {"kernel-object"}  # nothing was linked, nothing placed


def test_a_function_that_its_object_lacks_is_told_before_the_link(project):
    project.kernel.write_text(project.kernel.read_text().replace('extern "C" ', ""))
    with pytest.raises(SymbolError, match=r'does not define .*declare the function extern "C"'):
        project.build()


def test_aiecc_sees_exactly_the_objects_of_the_design(built):
    before = Path(built.build(driver="aiecc").path("final.xclbin")).read_bytes()
    built.kernel.write_text(built.kernel.read_text().replace("x[i] *=", "x[i] +="))
    assert built.ran(driver="aiecc")["aiecc"] == 1
    assert Path(built.build(driver="aiecc").path("final.xclbin")).read_bytes() != before


def test_full_elf_comes_from_aiecc(built):
    made = built.build(full_elf=True)
    assert Path(made.path("design.elf")).read_bytes()[:4] == b"\x7fELF"


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


@pytest.mark.parametrize("option", [{"archive": True}, {"symbol_prefix": "p"}, {"merge": True}])
def test_chess_makes_plain_objects_only(built, monkeypatch, tmp_path, option):
    (tmp_path / "aietools").mkdir()
    monkeypatch.setenv("AIETOOLS", str(tmp_path / "aietools"))
    member = CompileSpec(SourceText("", "c.cc"))
    spec = ObjectSpec((member,), use_chess=True, functions=("f",), **option)
    with pytest.raises(PlanError, match="use_chess=True makes plain objects only"):
        NpuToolchain.find().kernel(spec)


def test_a_design_for_chess_is_built_by_aiecc(built, monkeypatch, tmp_path):
    (tmp_path / "aietools" / "data").mkdir(parents=True)
    monkeypatch.setenv("AIETOOLS", str(tmp_path / "aietools"))

    def spec(text):
        member = CompileSpec(SourceText(text, "kernel.cc"), ("-DFACTOR=2",))
        return ObjectSpec((member,), use_chess=True, functions=("twice",))

    toolchain, text = NpuToolchain.find(), npu_designs.KERNEL
    objects = {"twice.o": spec(text), "thrice.o": spec("#define NAME thrice\n" + text)}
    built.log.clear()
    toolchain.package(built.session, built.text, objects, "demo")
    assert built.log.kinds() == {
        "kernel-object": 2, "aiecc": 1, "xclbin-settled": 1, "package": 1,
    }  # fmt: skip
    with pytest.raises(PlanError, match="leave out driver='steps'"):
        NpuToolchain.find(driver="steps").package(built.session, built.text, objects, "demo")
    built.log.clear()
    moved = (tmp_path / "aietools").rename(tmp_path / "tools of amd")
    monkeypatch.setenv("AIETOOLS", str(moved))
    toolchain.package(built.session, built.text, objects, "demo")
    assert built.log.kinds() == {}  # where they lie is in no key
    (moved / "data" / "version.txt").write_text("2031.1")
    toolchain.package(built.session, built.text, objects, "demo")
    assert built.log.kinds()["kernel-object"] == 2
    assert built.log.kinds()["aiecc"] == 1
    with pytest.raises(PlanError, match=r"includes mine\.h"):
        toolchain.kernel(spec('#include "mine.h"\n' + text))
