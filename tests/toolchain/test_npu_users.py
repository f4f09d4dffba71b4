"""The npu target as users reach it: a jitted design, and AIEDesign in an SConstruct."""

import importlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import fake_pyxrt
import npu_designs
import numpy as np
import pytest

import iron
from iron.formats import control_elf, xclbin
from iron.formats.xclbin_build import kernel_names
from iron.toolchain.compiler import ToolNotFound

TOP = Path(__file__).resolve().parents[2]
DESIGN = """
import numpy as np

import iron
from iron import ExternalFunction, In, ObjectFifo, Out, Program, Runtime, Worker

TILE = 64


@iron.jit
def scaled(source: In, result: Out, *, N: iron.CompileTime[int] = 128):
    tile = np.ndarray[(TILE,), np.dtype[np.int32]]
    whole = np.ndarray[(N,), np.dtype[np.int32]]
    scale = ExternalFunction(
        "scale", source_file="scale.cc", arg_types=[tile, tile, np.int32]
    )
    arriving, leaving = ObjectFifo(tile, name="arriving"), ObjectFifo(tile, name="leaving")

    def core(arriving, leaving, scale):
        x, y = arriving.acquire(1), leaving.acquire(1)
        scale(x, y, 10)
        arriving.release(1)
        leaving.release(1)

    worker = Worker(core, [arriving.cons(), leaving.prod(), scale])

    def sequence(a, b, arriving, leaving):
        arriving.fill(a)
        leaving.drain(b, wait=True)

    runtime = Runtime(sequence, [whole, whole, arriving.prod(), leaving.cons()])
    return Program(iron.get_current_device(), runtime, workers=[worker]).resolve_program()
"""
KERNEL = """extern "C" void scale(const int *in, int *out, int by) {
  for (int i = 0; i < 64; ++i) out[i] = in[i] * by;
}
"""


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "user"
    made.mkdir()
    (made / "design.py").write_text(DESIGN)
    (made / "scale.cc").write_text(KERNEL)
    return made


def load(folder):
    spec = importlib.util.spec_from_file_location("npu_user_design", folder / "design.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.scaled


@pytest.fixture
def npu(monkeypatch):
    """An NPU that adds one to everything."""
    world = fake_pyxrt.World()

    def body(arguments):
        first, last = (np.frombuffer(arguments[i].device, dtype=np.int32) for i in (3, -1))
        last[:] = first + 1

    world.body = body
    monkeypatch.setattr(fake_pyxrt, "world", world)
    monkeypatch.setitem(sys.modules, "pyxrt", fake_pyxrt)
    monkeypatch.setattr("iron.runtime.xrt_device._runtimes", {})
    return world


def test_a_jitted_design_is_built_and_run(tools, folder, npu, build_log):
    design = load(folder)
    x, y = iron.arange(128, dtype=np.int32), iron.zeros(128, dtype=np.int32)
    with iron.options(target="npu"):
        design(x, y)
    assert y.numpy().tolist() == list(range(1, 129))
    ran = build_log.kinds()
    assert ran["kernel-object"] == ran["place"] == ran["core-link"] == ran["xclbin"] == 1
    place = next(line["argv"] for line in build_log.lines() if line["kind"] == "place")
    text = Path(place[2]).read_text()
    assert 'link_with = "scale.o"' in text.split("aie.core", 1)[1]  # the spelling of 2026-03
    assert "attributes {link_with" not in text
    build_log.clear()
    with iron.options(target="npu"):
        design(x, y)
    assert build_log.runs() == 0
    assert [len(npu.did(n)) for n in ("context", "run")] == [1, 2]


def test_compile_writes_the_files_that_are_asked_for(tools, folder, tmp_path):
    from iron.formats import insts, pdi

    names = ("xclbin_path", "inst_path", "pdi_path", "elf_path")
    paths = {n: tmp_path / f"{n}.out" for n in names}
    design = load(folder)
    with iron.options(target="npu"):
        assert design.get_pdi_paths() == []  # nothing is built yet
        design.compilable.compile(**paths)
        (own,) = design.get_pdi_paths()
        symbol = own.name.removesuffix(".pdi")
        assert design.get_pdi_path() == design.get_pdi_path(symbol) == own
        assert design.get_pdi_path("another") is None
    assert xclbin.read(paths["xclbin_path"].read_bytes()).section("AIE_PARTITION")
    assert insts.read(paths["inst_path"].read_bytes()).instructions
    assert pdi.read(paths["pdi_path"].read_bytes()).images
    assert own.read_bytes() == paths["pdi_path"].read_bytes()
    elf = control_elf.read(paths["elf_path"].read_bytes())
    assert elf.parts[0].data == paths["inst_path"].read_bytes()


def test_a_jitted_design_as_one_elf(tools, folder, npu, tmp_path):
    design = load(folder).specialize(full_elf=True)
    x, y = iron.arange(128, dtype=np.int32), iron.zeros(128, dtype=np.int32)
    with iron.options(target="npu"):
        npu.body = lambda arguments: None
        design(x, y)
        made, nothing = design.compilable.compile(full_elf_path=tmp_path / "design.elf")
        (image,) = design.get_pdi_paths()
    assert nothing is None
    elf = control_elf.read(made.read_bytes())
    assert [k.name for k in elf.kernels] == ["main"]
    assert image.read_bytes() in [part.data for part in elf.parts]
    assert npu.did("register") == []
    assert npu.did("kernel")[0][0].startswith("main:")


def test_the_command_hands_on_flags_of_aiecc(tools, folder, capsys, monkeypatch):
    from iron.cli import main

    options = importlib.import_module("iron.jit.options")
    monkeypatch.setattr(options, "_configured", list(options._configured))
    flags = ["--aiecc-flag=--xclbin-kernel-name=MINE", "--aiecc-flag=--alloc-scheme=bank-aware"]
    assert main(["build", str(folder / "design.py"), "--target", "npu", *flags]) == 0
    made = Path(capsys.readouterr().out.strip())
    assert kernel_names(xclbin.read((made / "final.xclbin").read_bytes())) == ("MINE",)
    assert main(["build", str(folder / "design.py"), "--target", "npu", "--full-elf"]) == 0
    assert (Path(capsys.readouterr().out.strip()) / "design.elf").exists()


def test_without_tools_the_call_says_what_is_missing(folder, monkeypatch, tmp_path):
    for name in ("MLIR_AIE_INSTALL_DIR", "PEANO_INSTALL_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    x = iron.zeros(128, dtype=np.int32)
    with iron.options(target="npu"), pytest.raises(ToolNotFound, match="pip install mlir_aie"):
        load(folder)(x, x)


SCONSTRUCT = """
import iron.scons
env = Environment(tools=[iron.scons.generate], AIETARGET=ARGUMENTS.get("TARGET", "npu"))
env.AIEDesign("out", "hand.mlir", OBJECTS=["twice.o", "thrice.o"], SEQUENCES=["sequence"])
env.AIEKernel("twice.o", "twice.cc", AIEFLAGS=["-DFACTOR=2"])
env.AIEKernel("thrice.o", "twice.cc", AIEFLAGS=["-DFACTOR=3", "-DNAME=thrice"])
if ARGUMENTS.get("TARGET", "npu") == "npu":
    more = env.Clone(OBJECTS=["twice.o", "thrice.o"])
    more.AIEDesign("both", "other.mlir", XCLBIN_INPUT="out/final.xclbin",
                   AIECCFLAGS=["--xclbin-kernel-name=SECOND", "--xclbin-kernel-id=0x902"])
    more.AIEDesign("elf", "hand.mlir", FULL_ELF=True)
"""


def scons(folder, *arguments, **changed):
    return subprocess.run(
        [sys.executable, "-m", "SCons", "-Q", *arguments],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, **changed},
    )  # fmt: skip


def test_a_hand_written_design_in_an_sconstruct(built, folder):
    (folder / "SConstruct").write_text(SCONSTRUCT)
    (folder / "hand.mlir").write_text(npu_designs.usual())
    (folder / "other.mlir").write_text(npu_designs.usual().replace("Release, 1", "Release, 2"))
    (folder / "twice.cc").write_text(npu_designs.KERNEL)
    done = scons(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    made = {p.name for p in (folder / "out").iterdir()}
    assert {"final.xclbin", "insts.bin", "aie.mlir", "design.json"} <= made
    assert json.loads((folder / "out" / "design.json").read_text())["device"] == "npu1_1col"
    both = xclbin.read((folder / "both" / "final.xclbin").read_bytes())
    assert kernel_names(both) == ("MLIR_AIE", "SECOND")
    assert (folder / "elf" / "design.elf").read_bytes()[:4] == b"\x7fELF"
    assert not (folder / "elf" / "final.xclbin").exists()
    again = scons(folder)
    assert "up to date" in again.stdout
    wrong = scons(folder, "TARGET=fpga")
    assert wrong.returncode != 0
    assert "it is 'host' or 'npu'" in wrong.stdout + wrong.stderr


def test_the_example_project_builds_for_the_npu_with_one_variable(tools, tmp_path):
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    for name in ("SConstruct", "site_scons", "kernels", "examples"):
        source = TOP / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, checkout / name)
    bare = {"PATH": "/usr/bin:/bin", "MLIR_AIE_INSTALL_DIR": ""}
    told = scons(checkout, "TARGET=npu", "passthrough", **bare)
    assert told.returncode == 2
    for said in ("mlir-aie", "Peano", "bootgen"):
        assert (told.stdout + told.stderr).count(f"{said} ") >= 1
    assert "Traceback" not in told.stdout + told.stderr
    done = scons(checkout, "TARGET=npu", "passthrough")
    assert done.returncode == 0, done.stdout + done.stderr
    made = checkout / "build" / "npu" / "examples" / "passthrough"
    assert (made / "final.xclbin").read_bytes()[:7] == b"xclbin2"


@pytest.mark.slow
def test_every_example_builds_for_the_npu(tools, tmp_path):
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    for name in ("SConstruct", "site_scons", "kernels", "examples"):
        source = TOP / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, checkout / name)
    done = scons(checkout, "TARGET=npu", "examples")
    assert done.returncode == 0, done.stdout + done.stderr
    made = list((checkout / "build" / "npu" / "examples").glob("*/final.xclbin"))
    names = {p.stem for p in (TOP / "examples").glob("*.py")}
    assert {p.parent.name for p in made} == names
