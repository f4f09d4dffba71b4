"""Against recorded inputs and outputs of the real tools, where IRON_GOLDEN names a folder of them
(one folder a design: aie.mlir, input_with_addresses.mlir, ..., final.xclbin). Skipped elsewhere."""

import copy
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from iron import ir
from iron.cli.run_mlir import MlirProgram
from iron.formats import aie_partition, cdo, insts, pdi, xclbin, xclbin_build
from iron.formats.elf_image import read as read_elf
from iron.toolchain import cores, outline, rewrites
from iron.toolchain.llvm_text import downgrade

GOLDEN = os.environ.get("IRON_GOLDEN")
DESIGNS = sorted(p.parent for p in Path(GOLDEN).glob("*/aie.mlir")) if GOLDEN else []
pytestmark = pytest.mark.skipif(not DESIGNS, reason="IRON_GOLDEN names no recorded designs")


@pytest.fixture(params=DESIGNS or [None], ids=lambda p: p.name if p else "none")
def recorded(request):
    return request.param


def text(recorded, name):
    return (recorded / name).read_text()


def described(recorded, name):
    return json.loads(text(recorded, f"main_{name}.json"))


def test_steps_reproduce_what_the_real_tools_left(recorded, tools, tmp_path, build_log):
    from iron.build import Session
    from iron.toolchain.npu import NpuToolchain

    tools.configure(replay=str(recorded.parent))
    objects = {}
    for op in ir.parse(text(recorded, "aie.mlir")).walk():
        link = op.attributes.get("link_with")
        if link is not None:
            (tmp_path / link.value).write_bytes(b"\x7fELF " + link.value.encode())
            objects[link.value] = str(tmp_path / link.value)
    session = Session(tmp_path / "store")
    made = NpuToolchain.find().package(session, text(recorded, "aie.mlir"), objects, "demo")
    for path in recorded.glob("insts*.bin"):
        if len(list(recorded.glob("insts*.bin"))) == 1 or path.name.count(".") == 2:
            ours = path.name.replace("insts.", "insts_") if path.name.count(".") == 2 else path.name
            assert Path(made.path(ours)).read_bytes() == path.read_bytes()
    (bif,) = (tmp_path / "store").rglob("main_design.bif")
    assert bif.read_text() == text(recorded, "main_design.bif")
    for name in ("mem_topology", "kernels"):
        (ours,) = (tmp_path / "store").rglob(f"main_{name}.json")
        assert ours.read_text() == text(recorded, f"main_{name}.json")
    (ours,) = (tmp_path / "store").rglob("main_aie_partition.json")
    pair = [json.loads(ours.read_text()), described(recorded, "aie_partition")]
    for each in pair:
        del each["aie_partition"]["PDIs"][0]["uuid"]
    assert pair[0] == pair[1]


def test_the_rewrite_of_cores_is_that_of_the_real_driver(recorded):
    module = ir.parse(text(recorded, "input_physical.mlir"))
    there = cores.cores_of(outline.device_called(module, "main"))
    files = {p: f"main_core_{p[0]}_{p[1]}.elf" for p in map(cores.core_place, there)}
    ours = rewrites.with_elfs(module, files)
    ir.verify(ours)
    assert ir.equivalent(ours, ir.parse(text(recorded, "input_physical_with_elfs.mlir")))


def test_cores_alone_are_whole_modules(recorded):
    class Same(dict):
        def __missing__(self, key):
            return key

        def __contains__(self, key):
            return True

    for core in cores.split_cores(text(recorded, "input_with_addresses.mlir"), "main", Same()):
        for module in (core.body, core.script):
            ir.verify(ir.parse(module))


def test_the_down_grade_of_llvm_ir(recorded):
    assert downgrade(text(recorded, "main_input.ll")) == text(recorded, "main_input.llpeanohack.ll")


def test_instructions_say_what_the_lowered_sequence_says(recorded):
    import mlir  # the stand-in of aie-translate encodes the same operations

    module = ir.parse(text(recorded, "npu_insts.mlir"))
    sequences = {
        op.symbol or "sequence": op for op in module.walk() if op.name == "aie.runtime_sequence"
    }
    for path in recorded.glob("insts*.bin"):
        name = path.name.removeprefix("insts.").removesuffix("bin").rstrip(".")
        raw = path.read_bytes()
        program = insts.read(raw)
        assert insts.write(program.header, program.instructions) == raw
        if name or len(sequences) == 1:
            sequence = sequences[name] if name else next(iter(sequences.values()))
            assert list(program.instructions) == mlir._operations(sequence, module)


def test_an_xclbin_is_read_and_written_byte_for_byte(recorded):
    raw = (recorded / "final.xclbin").read_bytes()
    file = xclbin.read(raw)
    assert xclbin.write(file) == raw
    ours = xclbin_build.build(
        described(recorded, "mem_topology"),
        described(recorded, "kernels"),
        described(recorded, "aie_partition"),
        lambda name: (recorded / name).read_bytes(),
        ("main_mem_topology.json", "main_aie_partition.json"),
    )
    assert ours.sections == file.sections
    same = replace(ours, uuid=file.uuid, stamp=file.stamp, unique_id=file.unique_id)
    assert xclbin.write(xclbin_build.with_mirror(same)) == raw
    found, files = aie_partition.read(file.section("AIE_PARTITION").data)
    wanted = copy.deepcopy(described(recorded, "aie_partition"))
    for each in (found, wanted):
        each["aie_partition"].pop("name")  # xclbinutil drops it
        each["aie_partition"]["PDIs"][0].pop("file_name")
    assert found == wanted
    assert list(files.values()) == [(recorded / "main.pdi").read_bytes()]


def plain(command):
    """bootgen writes 64-bit commands with a zero upper half as 32-bit ones."""
    rest = {k: v for k, v in command.fields.items() if k not in ("high", "low", "address")}
    return command.name.removesuffix("64"), command.address, rest, command.data


def test_a_pdi_holds_the_cdos_and_the_elfs(recorded):
    raw = (recorded / "main.pdi").read_bytes()
    file = pdi.read(raw)
    again = [(i.name, i.identifier, [p.data for p in i.partitions]) for i in file.images]
    assert pdi.write(again, file.identification_code) == raw
    commands = file.images[0].partitions[0].commands()
    separate = []
    for part in ("elfs", "init", "enable"):
        raw = (recorded / f"main_aie_cdo_{part}.bin").read_bytes()
        separate += cdo.read(raw)
        assert cdo.write(cdo.read(raw)) == raw
    assert [plain(c) for c in commands if c.name != "nop"] == [
        plain(c) for c in separate if c.name != "nop"
    ]
    loads = cdo.loaded(commands)
    for path in recorded.glob("main_core_*.elf"):
        column, row = map(int, path.stem.rsplit("_", 2)[1:])
        ours = [x.data for x in loads if (x.column, x.row) == (column, row)]
        assert ours == [s.data for s in read_elf(path.read_bytes()).segments]


# -- the IR, and the emulator -----------------------------------------------------------------


def test_every_module_parses_verifies_and_prints_back(recorded):
    for path in sorted(recorded.glob("*.mlir")):
        module = ir.parse(path.read_text(), path.name)
        ir.verify(module)
        printed = ir.print_module(module)
        again = ir.parse(printed, path.name)
        assert ir.equivalent(module, again), path.name
        assert ir.print_module(again) == printed


KERNELS = """
extern "C" {
void scale_i32(int *x, int *by, int *y, int n) { for (int i = 0; i < n; i++) y[i] = x[i] * by[0]; }
void zero_i32(int *c) { for (int i = 0; i < 256; i++) c[i] = 0; }
void matmul_i16_i32(short *a, short *b, int *c) {
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++)
      for (int k = 0; k < 16; k++) c[16 * i + j] += a[16 * i + k] * b[16 * k + j];
}
void send_partial(int *x, int n) { for (int i = 0; i < n; i++) x[i] += 1; }
void add_partial(int *x, int *y, int n) { for (int i = 0; i < n; i++) y[i] = 3 * x[i]; }
}
"""


def run_on_the_emulator(path, sequence, kernels):
    """What a run leaves in its arguments."""
    links = {o.attributes["link_with"].value for o in ir.parse(path.read_text()).walk()
             if "link_with" in o.attributes}  # fmt: skip
    program = MlirProgram(path, objects=dict.fromkeys(links, kernels), sequence=sequence)
    random = np.random.default_rng(7)
    given = [random.integers(0, 90, p.shape).astype(p.numpy) for p in program.load()]
    program(*given, timeout=60)
    return given


def test_both_levels_of_a_design_give_the_same_values(recorded, tmp_path):
    kernels = tmp_path / "kernels.cc"
    kernels.write_text(KERNELS)
    (device,) = outline.outline(ir.parse(text(recorded, "aie.mlir"))).devices
    for sequence in device.sequences:
        high, low = (
            run_on_the_emulator(recorded / name, sequence.name, kernels)
            for name in ("aie.mlir", "input_physical.mlir")
        )
        assert len(high) == len(sequence.arguments)
        for a, b in zip(high, low, strict=True):
            assert a.tolist() == b.tolist()


def test_the_same_design_in_iron_is_the_recorded_text(recorded):
    script = recorded.parent / f"{recorded.name.split('.')[0]}.py"
    if not script.exists():
        pytest.skip("written by hand")
    done = subprocess.run(
        [sys.executable, "-m", "iron", "run", str(script), recorded.suffix[1:]],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    made = ir.parse(done.stdout)
    ir.verify(made)
    assert ir.equivalent(made, ir.parse(text(recorded, "aie.mlir")))
