"""Objects of the npu target: prefixes, archives, several for one core, inlined ones, odd names."""

import re
from pathlib import Path

import pytest
from npu_designs import KERNEL, core, design, sequence

from iron.build import Session
from iron.formats.elf import symbols
from iron.toolchain.npu import NpuToolchain
from iron.toolchain.npu_steps import safe_names
from iron.toolchain.objects import CompileSpec, ObjectSpec, SourceText
from iron.toolchain.pipelines import AUGUST_2026
from iron.toolchain.symbols import archive_members


def spec(*flags: str, text: str = KERNEL, **options) -> ObjectSpec:
    member = CompileSpec(SourceText(text, "kernel.cc"), ("-DFACTOR=2", *flags))
    return ObjectSpec((member,), functions=("twice",), **options)


def other_kernel(name: str) -> str:
    return KERNEL.replace("define NAME twice", f"define NAME {name}")


@pytest.fixture
def session(tmp_path, tools):
    return Session(tmp_path / "store")


def names_in(path):
    return {s.name for s in symbols(Path(path).read_bytes()) if s.defined}


def test_a_prefix_renames_every_symbol_with_objcopy(session, build_log):
    made = session.build(NpuToolchain.find().kernel(spec(symbol_prefix="mine")))[0]
    assert names_in(made.path()) == {"mine_twice"}
    assert build_log.kinds() == {"kernel-object": 1, "symbol-names": 1, "symbol-prefix": 1}


def test_a_failing_rename_publishes_nothing(session, tools):
    from iron.build import BuildError

    tools.fail(llvm_objcopy="exit")
    recipe = NpuToolchain.find().kernel(spec(symbol_prefix="mine"))
    with pytest.raises(BuildError, match="llvm-objcopy failed"):
        session.build(recipe)
    assert session.find(recipe) is None


def test_an_archive_keeps_its_members_in_order(session):
    members = tuple(
        CompileSpec(SourceText(other_kernel(n), f"{n}.cc"), ("-DFACTOR=1",)) for n in ("b", "a")
    )
    made = session.build(NpuToolchain.find().kernel(ObjectSpec(members, archive=True)))[0]
    found = [
        (name, {s.name for s in symbols(data) if s.defined})
        for name, data in archive_members(Path(made.path()).read_bytes())
    ]
    assert found == [("0000.o", {"b"}), ("0001.o", {"a"})]


def build(session, text, objects, **options):
    return NpuToolchain.find(**options).package(session, text, objects, "demo")


def test_several_objects_for_one_core_become_one(session, build_log):
    text = design(
        core(0, 2, "x").replace(
            "aie.use_lock(%x_ready, Release, 1)",
            "func.call @more(%x) : (memref<64xi32>) -> ()\n      "
            "aie.use_lock(%x_ready, Release, 1)",
        ),
        core(0, 3, "y"),
        sequence("sequence", 4),
        functions=(("twice", "twice.o"), ("more", "more.o")),
    )
    objects = {"twice.o": spec(), "more.o": spec(text=other_kernel("more"))}
    build(session, text, objects)
    assert build_log.kinds()["merged-object"] == 1
    links = [line["argv"] for line in build_log.lines() if line["kind"] == "core-link"]
    assert len(links) == 2


def test_a_name_that_no_linker_script_can_say(session):
    name = "my (kernel).o"
    text = design(core(0, 2, "x"), sequence("sequence", 4), functions=(("twice", name),))
    assert build(session, text, {name: spec()})


def test_names_in_the_directory_of_a_link():
    names = ["scale.o", "-o.o", "a b.o", "core.o", "Ünder.o", "lib.a", "odd name.a"]
    safe = safe_names(dict.fromkeys(names))
    assert safe["scale.o"] == "scale.o"
    assert safe["lib.a"] == "lib.a"
    assert safe["odd name.a"].endswith(".a")
    assert len(set(safe.values())) == len(names)
    assert all(re.fullmatch(r"\w[\w.+-]*", n, re.ASCII) for n in safe.values())
    assert "core.o" not in safe.values()  # the core's own object


def test_an_inlined_kernel_is_merged_before_code_generation(session, build_log):
    text = design(core(0, 2, "x"), sequence("sequence", 4)).replace(
        'link_with = "twice.o"', 'link_with = "twice.ll", link_with_mode = "merge"'
    )
    build(session, text, {"twice.ll": spec(merge=True)})
    ran = build_log.kinds()
    assert ran["core-merge"] == 1
    assert ran["core-compatible"] == 2
    assert ran["kernel-inlinable"] == 1
    assert "kernel-object" not in ran


def test_a_ready_object_file_counts_by_content(session, build_log, tmp_path):
    ready = tmp_path / "ready.o"
    ready.write_bytes(b"\x7fELF one")
    text = design(core(0, 2, "x"), sequence("sequence", 4), functions=(("twice", "ready.o"),))
    first = build(session, text, {"ready.o": str(ready)})
    build_log.clear()
    ready.write_bytes(b"\x7fELF two")
    second = build(session, text, {"ready.o": str(ready)})
    assert build_log.kinds()["core-link"] == 1
    assert "kernel-object" not in build_log.kinds()
    assert first.key != second.key


def test_the_newer_generation_has_other_pipelines(session, tools, build_log):
    tools.configure(
        generation="2026-08",
        passes=list(AUGUST_2026.passes),
    )
    text = design(core(0, 2, "x"), sequence("sequence", 4))
    made = build(session, text, {"twice.o": spec()})
    place = [line["argv"] for line in build_log.lines() if line["kind"] == "place"]
    assert "aie-place-tiles" in place[0][1]
    assert Path(made.path("aie.mlir")).read_text() == text


def test_npu2_is_compiled_as_aie2p(session, build_log):
    text = design(core(0, 2, "x"), sequence("sequence", 4), device="npu2_1col")
    build(session, text, {"twice.o": spec()})
    argv = {line["kind"]: line["argv"] for line in build_log.lines() if line["event"] == "run"}
    assert "--target=aie2p-none-unknown-elf" in argv["kernel-object"]
    assert "--march=aie2p" in argv["core-object"]


def test_a_kernel_may_refer_to_a_buffer_by_its_name(session, build_log):
    text = design(core(0, 2, "x"), core(0, 3, "y"), sequence("sequence", 4))
    reading = KERNEL.replace("x[i] *= FACTOR", "x[i] *= table[i]")
    reading = reading.replace('extern "C"', 'extern "C" int y[64];\nextern "C"', 1)
    reading = reading.replace("table", "y")
    build(session, text, {"twice.o": spec(text=reading)})
    # The cores are no longer alike: y is a buffer of one of them, known to it by that name.
    assert build_log.kinds()["core-link"] == 2
    assert build_log.kinds()["core-lower"] == 1
    ends = {p.read_text()[-40:] for p in Path(session.store.root).rglob("*.ld.script")}
    assert sum("y = iron_buffer" in end for end in ends) == 1
    assert not any("x = iron_buffer" in end for end in ends)
