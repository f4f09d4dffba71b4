"""An xclbin with several kernels: one design after another is added to what is there."""

import shutil
from pathlib import Path

import npu_designs
import pytest

from iron.formats import aie_partition, xclbin
from iron.formats.xclbin_build import kernel_names, payload_of
from iron.toolchain.outline import PlanError

SECOND = ("--xclbin-kernel-name=SECOND", "--xclbin-kernel-id=0x902")


@pytest.fixture
def base(built, tmp_path):
    """The xclbin of the usual design, somewhere else."""
    path = tmp_path / "first.xclbin"
    shutil.copy(built.build().path("final.xclbin"), path)
    return path


def sections(path):
    file = xclbin.read(Path(path).read_bytes())
    return file, {s.title: payload_of(s) for s in file.sections}


def check(made, base):
    file, found = sections(made)
    _, before = sections(base)
    assert kernel_names(file) == ("MLIR_AIE", "SECOND")
    layout = found["IP_LAYOUT"]["ip_layout"]["m_ip_data"]
    assert [(e["m_name"], e["m_kernel_id"]) for e in layout] == [
        ("MLIR_AIE:MLIRAIE", "0x901"), ("SECOND:MLIRAIE", "0x902"),
    ]  # fmt: skip
    old = before["CONNECTIVITY"]["connectivity"]["m_connection"]
    new = found["CONNECTIVITY"]["connectivity"]["m_connection"]
    assert new[: len(old)] == old
    assert [{**c, "m_ip_layout_index": "0"} for c in new[len(old) :]] == old
    assert {c["m_ip_layout_index"] for c in new[len(old) :]} == {"1"}
    assert found["MEM_TOPOLOGY"] == before["MEM_TOPOLOGY"]
    described, images = aie_partition.read(file.section("AIE_PARTITION").data)
    pdis = described["aie_partition"]["PDIs"]
    ids = [e["cdo_groups"][0]["dpu_kernel_ids"] for e in pdis]
    assert ids == [["0x901"], ["0x902"]]
    first, second = images.values()
    original = xclbin.read(Path(base).read_bytes()).section("AIE_PARTITION").data
    assert first == second == next(iter(aie_partition.read(original)[1].values()))
    assert len({e["uuid"] for e in pdis}) == 2  # one configuration, for two kernels


def test_a_kernel_is_added_by_xclbinutil(built, base):
    made = built.build(extend=base, aiecc_flags=SECOND)
    check(made.path("final.xclbin"), base)
    (argv,) = [r["argv"] for r in built.log.lines() if r["kind"] == "xclbin"]
    assert argv[1:3] == ["--input", "base.xclbin"]
    assert built.ran(extend=base, aiecc_flags=SECOND) == {}


def test_without_xclbinutil_iron_adds_the_same(built, base):
    by_tool = xclbin.read(
        Path(built.build(extend=base, aiecc_flags=SECOND).path("final.xclbin")).read_bytes()
    )
    built.tools.tool("xclbinutil").unlink()
    made = built.build(extend=base, aiecc_flags=SECOND).path("final.xclbin")
    assert built.log.kinds() == {"xclbin-extended": 1}
    check(made, base)
    ours = xclbin.read(Path(made).read_bytes())
    assert ours == by_tool


def test_mlir_aies_own_flag_does_the_same(built, base):
    one = built.build(extend=base, kernel_name="SECOND", kernel_id="2306")
    two = built.build(aiecc_flags=(f"--xclbin-input={base}", *SECOND))
    for name in one.outputs:
        assert Path(one.path(name)).read_bytes() == Path(two.path(name)).read_bytes()


def test_another_base_is_another_package_and_its_place_does_not_matter(built, base, tmp_path):
    built.build(extend=base, aiecc_flags=SECOND)
    moved = tmp_path / "elsewhere" / base.name
    moved.parent.mkdir()
    shutil.copy(base, moved)
    assert built.ran(extend=moved, aiecc_flags=SECOND) == {}
    file = xclbin.read(base.read_bytes())
    other = xclbin.Section(xclbin.NUMBERS["USER_METADATA"], "note", b"another")
    base.write_bytes(xclbin.write(xclbin.Xclbin((*file.sections, other), file.uuid)))
    ran = built.ran(extend=base, aiecc_flags=SECOND)
    assert ran == {"partition-merged": 1, "xclbin": 1, "xclbin-settled": 1, "package": 1}
    made = xclbin.read(
        Path(built.build(extend=base, aiecc_flags=SECOND).path("final.xclbin")).read_bytes()
    )
    assert made.section("USER_METADATA").data == b"another"  # what is not ours stays


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ((), "has a kernel MLIR_AIE already; give this one another name"),
        (("--xclbin-kernel-name=SECOND",), "the identifier 0x901 already"),
        (("--xclbin-kernel-id=many",), "kernel identifier 'many': it is a number"),
    ],
)
def test_kernels_that_clash_are_told(built, base, flags, said):
    with pytest.raises(PlanError, match=said):
        built.build(extend=base, aiecc_flags=flags)


def test_a_wider_design_does_not_fit(built, base):
    built.text = npu_designs.usual().replace("npu1_1col", "npu1_2col")
    with pytest.raises(PlanError, match=r"takes 2 columns, and the partition of .* has 1"):
        built.build(extend=base, aiecc_flags=SECOND)


def test_what_is_no_xclbin_is_told(built, base):
    with pytest.raises(PlanError, match=r"no xclbin .*/absent"):
        built.build(extend=base.parent / "absent", aiecc_flags=SECOND)
    base.write_bytes(b"\x7fELF")
    with pytest.raises(PlanError, match=r"no kernel can be added to .*is no xclbin"):
        built.build(extend=base, aiecc_flags=SECOND)
