"""Designs of several devices, and what is loaded as one ELF."""

import json
from pathlib import Path

import pytest
from npu_designs import core

from iron import ir
from iron.formats import control_elf, insts
from iron.toolchain.npu import NpuToolchain
from iron.toolchain.outline import PlanError, outline
from iron.toolchain.rewrites import load_themselves, sequence_with_callees, with_shells

TWICE = 'func.func private @twice(memref<64xi32>) attributes {link_with = "twice.o"}'


def device(symbol: str, *bodies: str) -> str:
    return f"\n  aie.device(npu2_1col) @{symbol} {{\n    {TWICE}{''.join(bodies)}\n  }}"


def sequence(name: str, body: str = "", value: int = 64) -> str:
    return f"""
    aie.runtime_sequence @{name}(%a: memref<64xi32>) {{{body}
      aiex.npu.write32 {{address = {value} : ui32, value = 1 : ui32}}
    }}"""


def run(where: str, what: str) -> str:
    return f"""
      aiex.configure @{where} {{
        aiex.run @{what} (%a) : (memref<64xi32>)
      }}"""


def reconfiguring(value: int = 64, extra: str = "") -> str:
    """@main runs first @one and then @two, which have a core each; nobody runs @two's idle."""
    main = sequence("sequence", run("one", "work") + run("two", "work"))
    return "module {" + "".join((
        f"\n  aie.device(npu2_1col) @main {{{main}\n  }}",
        device("one", core(0, 2, "x"), sequence("work")),
        device("two", core(0, 3, "y"), sequence("work", value=value), sequence("idle"), extra),
    )) + "\n}\n"  # fmt: skip


def independent() -> str:
    return "module {" + "".join((
        device("one", core(0, 2, "x"), sequence("first")),
        device("two", core(0, 3, "y"), sequence("second")),
    )) + "\n}\n"  # fmt: skip


def only_twice(project):
    project.text = reconfiguring()
    made = project.objects
    project.objects = lambda: {"twice.o": made()["twice.o"]}


@pytest.fixture(scope="session")
def several_store(make_store):
    return make_store("several-store", only_twice)


@pytest.fixture
def several(project, several_store, take_store):
    """The design of three devices, all of which is in the store."""
    from iron.build import Session

    project.session = Session(take_store(several_store))
    only_twice(project)
    return project


def test_the_outline_says_who_loads_whom():
    made = outline(ir.parse(reconfiguring()))
    assert [(d.symbol, d.loads) for d in made.devices][:2] == [
        ("main", ("one", "two")),
        ("one", ()),
    ]
    assert [d.symbol for d in made.reached(["main"])] == ["main", "one", "two"]
    assert [s.called for d in made.devices for s in d.sequences] == [False, True, True, False]
    assert made.number("two") == 3
    assert type(made).of_data(json.loads(json.dumps(made.data()))) == made
    with pytest.raises(PlanError, match="no device @three; it has @main, @one, @two"):
        made.device("three")


def test_devices_are_placed_one_at_a_time_with_the_others_by_name_only():
    module = with_shells(ir.parse(reconfiguring()), "two")
    ir.verify(module)
    text = ir.print_module(module)
    assert text.count("aie.core") == 1
    assert "@work(" in text
    main = with_shells(ir.parse(reconfiguring()), "main")
    ir.verify(main)  # what it runs is there by name
    assert "aie.core" not in ir.print_module(main)


def test_a_sequence_comes_with_what_it_runs_and_nothing_else():
    modules = {s: ir.parse(reconfiguring(extra=sequence("unused"))) for s in ("main", "one", "two")}
    made = sequence_with_callees(modules, "main", "sequence")
    ir.verify(made)
    text = ir.print_module(made)
    assert "unused" not in text
    assert "idle" not in text
    assert text.count("aie.runtime_sequence") == 3
    assert "use_lock" not in text  # cores are empty


def test_a_design_that_reconfigures_becomes_one_elf(several):
    made = several.build()
    assert "final.xclbin" not in made.outputs
    elf = control_elf.read(Path(made.path("design.elf")).read_bytes())
    kernels = {k.name: sorted(k.instances) for k in elf.kernels}
    assert kernels == {"main": ["sequence"], "one": ["work"], "two": ["idle", "work"]}
    images = [p.name for p in elf.parts if p.name.startswith(".pdi")]
    assert images == [".pdi.1", ".pdi.2", ".pdi.3"]
    (code,) = [p.data for p in elf.parts if p.owner == "main:sequence"]
    loads = [op.fields["id"] for op in insts.read(code).instructions if op.name == "load_pdi"]
    assert loads == [2, 3]  # @one, @two: by their place among the devices
    (idle,) = [p.data for p in elf.parts if p.owner == "two:idle"]
    assert insts.read(idle).instructions[0].fields["id"] == 3  # nobody else loads it
    (work,) = [p.data for p in elf.parts if p.owner == "one:work"]
    assert "load_pdi" not in [op.name for op in insts.read(work).instructions]
    about = json.loads(Path(made.path("design.json")).read_text())
    assert about["sequences"] == {
        "sequence": "main:sequence", "idle": "two:idle", "one:work": "one:work",
        "two:work": "two:work",
    }  # fmt: skip
    arguments = json.loads(Path(made.path("arguments.json")).read_text())
    assert [a["name"] for a in arguments] == ["a"]


def test_an_edit_remakes_what_depends_on_it(several):
    assert several.ran() == {}
    several.text = reconfiguring(value=128)  # what @two's sequence does
    ran = several.ran()
    assert "cdo" not in ran
    assert "core-lower" not in ran
    assert ran["place"] == 1
    assert ran["npu-lower"] == 2  # its own, and @main's, which runs it
    several.tools.upgrade("aiebu-asm")
    assert several.ran() == {"full-elf": 1}


def test_cores_of_all_devices_that_are_alike_are_one(several):
    links = list(Path(several.session.store.root).rglob("core.elf"))
    assert len(links) == 1


def test_one_device_of_several_is_a_design_of_its_own(several):
    several.text = independent()
    with pytest.raises(PlanError, match=r"2 devices \(@one, @two\).*device.*full_elf=True"):
        several.build()
    made = several.build(device="two")
    assert json.loads(Path(made.path("design.json")).read_text())["symbol"] == "two"
    assert several.ran(device="two") == {}
    flagged = several.build(aiecc_flags=["--device-name=two"])
    assert Path(flagged.path("final.xclbin")).read_bytes() == (
        Path(made.path("final.xclbin")).read_bytes()
    )
    with pytest.raises(PlanError, match="no device @three; it has @one, @two"):
        several.build(device="three")
    both = several.build(full_elf=True)
    elf = control_elf.read(Path(both.path("design.elf")).read_bytes())
    assert [k.name for k in elf.kernels] == ["one", "two"]


def test_sequences_of_a_full_elf_can_be_chosen(several):
    made = several.build(sequences=("two:work",))
    elf = control_elf.read(Path(made.path("design.elf")).read_bytes())
    assert [(k.name, k.instances) for k in elf.kernels] == [("two", ("work",))]


def test_a_full_elf_of_one_device_loads_its_own_configuration(built):
    made = built.build(full_elf=True)
    elf = control_elf.read(Path(made.path("design.elf")).read_bytes())
    (code,) = [p.data for p in elf.parts if p.owner == "main:sequence"]
    names = [op.name for op in insts.read(code).instructions]
    assert names == ["load_pdi", "write32"]
    assert Path(made.path("aie.mlir")).read_text() == built.text  # as the user wrote it
    module = ir.parse(built.text)
    assert load_themselves(module)
    assert not load_themselves(module)


def test_the_newer_tools_are_told_that_addresses_are_not_folded(tools):
    from iron.build import Text
    from iron.toolchain.npu_steps import Steps
    from iron.toolchain.pipelines import AUGUST_2026, Placing

    toolchain = NpuToolchain.find()
    text = independent()
    steps = Steps.of(
        toolchain.mlir_aie, toolchain.peano, AUGUST_2026, Placing(), None,
        outline(ir.parse(text)), text, {}, "demo",
    )  # fmt: skip
    device = steps.outline.devices[0]
    for folded in (True, False):
        checked = steps.instructions(device, "first", folded=folded)
        argv = checked.inputs[0].recipe.argv
        assert ("--aie-npu-fold-ddr-addr-offset=false" in argv) == (not folded)
    assert isinstance(steps._place(device).inputs[0], Text)


def test_aiecc_builds_a_design_of_several_devices_too(several):
    made = several.build(driver="aiecc")
    assert several.log.kinds()["aiecc"] == 1
    assert Path(made.path("design.elf")).read_bytes()[:4] == b"\x7fELF"
    several.text = independent()
    several.build(driver="aiecc", device="one")
    (argv,) = [r["argv"] for r in several.log.lines() if r["kind"] == "aiecc"]
    assert "--device-name=one" in argv


def test_devices_of_two_kinds_do_not_go_together(project):
    project.text = "module {\n aie.device(npu1) @a {\n}\n aie.device(npu2) @b {\n}\n}\n"
    with pytest.raises(PlanError, match="@a for npu1 and @b for npu2"):
        project.build()
    project.text = "module {\n}\n"
    with pytest.raises(PlanError, match=r"no aie\.device"):
        project.build()


def test_instructions_as_an_elf_of_their_own(built):
    package = built.build()
    toolchain = NpuToolchain.find()
    made = toolchain.instruction_elf(built.session, package)
    elf = control_elf.read(Path(made.path("insts.elf")).read_bytes())
    assert [p.data for p in elf.parts] == [Path(package.path("insts.bin")).read_bytes()]
    assert built.log.kinds() == {"instruction-elf": 1}
    built.log.clear()
    toolchain.instruction_elf(built.session, package)
    assert built.log.kinds() == {}


def test_without_aiebu_asm_only_elf_files_are_missing(built, monkeypatch):
    from iron.toolchain.compiler import ToolNotFound

    built.tools.tool("aiebu-asm").unlink()
    assert built.ran() == {}
    with pytest.raises(ToolNotFound, match="aiebu-asm was not found"):
        built.build(full_elf=True)
    with pytest.raises(ToolNotFound, match="aiebu-asm was not found"):
        NpuToolchain.find().instruction_elf(built.session, built.build())


def test_what_tools_leave_is_checked(built):
    from iron.build import BuildError

    built.tools.fail(aiebu_asm="garbage")
    with pytest.raises(BuildError, match=r"design\.elf begins b'garb'"):
        built.build(full_elf=True)
