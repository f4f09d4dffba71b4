"""The text of networks and images: what it depends on, what cannot be lowered."""

from __future__ import annotations

import re

import pytest
from designs import (
    acquire,
    add,
    core,
    fifo,
    in_and_out,
    link,
    map_core,
    module,
    release,
    sequence,
    transfer,
)

import iron.ir as ir
from iron.host import HostError, lower


def simple(**more: object) -> str:
    return module(
        fifo("in", "0_0", "0_2", "16xi32"),
        fifo("out", "0_2", "0_0", "16xi32"),
        map_core("0_2", "in", "out", 16, add(1)),
        in_and_out("in", "out", 64),
        **more,  # type: ignore[arg-type]
    )


def lowered(text: str, file: str = "design.py", **more: object):
    return lower(ir.parse(text, file), **more)  # type: ignore[arg-type]


def test_the_same_module_gives_the_same_text():
    assert lowered(simple()) == lowered(simple())


def test_names_of_values_do_not_matter():
    renamed = re.sub(r"%(x|y|k|i|times)\b", r"%other_\1", simple())
    assert renamed != simple()
    assert lowered(renamed) == lowered(simple())


def test_a_moved_line_touches_the_network_only():
    a, b = lowered(simple()), lowered("\n\n" + simple(), "elsewhere.py")
    assert a.images == b.images
    assert a.network != b.network
    assert a.network.replace("design.py", "").count("\n") == b.network.count("\n")


def test_a_change_of_the_sequence_touches_its_image_only():
    a = lowered(simple())
    b = lowered(simple().replace("len = 64", "len = 32"))
    assert [i.name for i in a.images if i not in b.images] == ["sequence"]


def test_groups_by_linked_objects():
    def caller(tile: str, name: str) -> str:
        return core(
            tile,
            acquire(name, "Consume", "4xi32")
            + f"\nfunc.call @{name}(%{name}0) : (memref<4xi32>) -> ()\n"
            + release(name, "Consume"),
        )

    d = lowered(
        module(
            *(
                f'func.func private @{n}(memref<4xi32>) attributes {{link_with = "{o}"}}'
                for n, o in (("f", "a.o"), ("g", "b.o"), ("h", "a.o"))
            ),
            *(fifo(n, "0_0", f"0_{i + 2}", "4xi32") for i, n in enumerate("fgh")),
            *(caller(f"0_{i + 2}", n) for i, n in enumerate("fgh")),
            sequence(["4xi32"], transfer(0, "f", 0, 4, "4xi32")),
        )
    )
    assert [(i.name, i.objects, i.cores) for i in d.images] == [
        ("cores0", ("a.o",), ("(0,2)", "(0,4)")),
        ("cores1", ("b.o",), ("(0,3)",)),
        ("sequence", (), ()),
    ]


def test_arguments():
    d = lowered(
        module(
            fifo("in", "0_0", "0_2", "4xbf16"),
            sequence(["2x8xbf16", "i32", "f32"], transfer(0, "in", 0, 16, "2x8xbf16")),
        )
    )
    assert [(a.dtype, a.shape, a.scalar) for a in d.arguments] == [
        ("bf16", (2, 8), False),
        ("i32", (), True),
        ("f32", (), True),
    ]


def test_links_by_the_rules_of_the_hardware_flow():
    """Names, lock values and descriptors of a split, as objectFifo-stateful-transform has them."""
    d = lowered(
        module(
            fifo("in", "0_0", "0_1", "8xi32", 3),
            *(fifo(f"p{i}", "0_1", f"0_{i + 2}", "4xi32") for i in range(2)),
            link("@in", "@p0, @p1", "[] [0, 4]"),
            sequence(["8xi32"], transfer(0, "in", 0, 8, "8xi32")),
        )
    )
    locks = re.findall(r"^lock (in_\S+) tile=\(0,1\) value=(\d)", d.network, re.M)
    assert locks == [
        ("in_cons_prod_lock_0", "3"),
        ("in_cons_cons_lock_0", "0"),
        ("in_cons_prod_lock_1", "3"),
        ("in_cons_cons_lock_1", "0"),
    ]
    first = d.network.split("task channel=(0,1)S2MM0")[1].splitlines()[1:7]
    assert [re.search(r"buff_(\d) offset=(\d) length=4", line).groups() for line in first] == [
        (str(i), offset) for i in range(3) for offset in ("0", "4")
    ]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["aiex.npu.preempt {level = 1 : ui8}"], None),
        (
            ["aiex.npu.dma_wait {symbol = @nowhere}"],
            "aiex.npu.dma_wait: @nowhere is no shim DMA allocation; those of this device: in, out",
        ),
        (
            [transfer(0, "in", 0, 64, "64xi32"), "aiex.dma_await_task(%task0)"],
            "aiex.dma_await_task: the task configured at design.py:.* issues no token",
        ),
        (
            [transfer(0, "in", 0, 63, "64xi32", layout=[(4, 16), (16, 1)])],
            "aie.dma_bd: its length is 63 elements, but its inner dimensions describe 64",
        ),
        (
            [transfer(0, "in", 0, 64, "64xi32", layout=[(2, 32), (2, 16), (2, 8), (2, 4), (4, 1)])],
            "aie.dma_bd: has 5 dimensions, a descriptor has at most 4",
        ),
        (
            [
                "%a = arith.constant 0 : i32",
                "aiex.npu.write32(%a, %a) : i32, i32",
            ],
            "aiex.npu.write32: writes registers of the device, which the host target does not",
        ),
    ],
)
def test_what_a_sequence_may_say(lines, message):
    text = module(
        fifo("in", "0_0", "0_2", "16xi32"),
        fifo("out", "0_2", "0_0", "16xi32"),
        sequence(["64xi32"], *lines),
    )
    if message is None:
        lowered(text)
        return
    with pytest.raises(HostError, match=r"^design\.py:\d+: " + message):
        lowered(text)


def test_what_a_core_may_say():
    def design(body: str) -> str:
        return module(
            fifo("in", "0_0", "0_2", "16xi32"),
            core("0_3", body),
            sequence(["16xi32"], transfer(0, "in", 0, 16, "16xi32")),
        )

    message = (
        r"a core on tile \(0,3\) cannot consume objects of fifo 'in'; it has: consume on \(0,2\)"
    )
    with pytest.raises(HostError, match=message):
        lowered(design(acquire("in", "Consume", "16xi32")))
    with pytest.raises(HostError, match="no values of type i128"):
        lowered(design("%v = arith.constant 0 : i128\n%w = arith.addi %v, %v : i128"))


def test_which_device_and_sequence():
    two = module(
        fifo("in", "0_0", "0_2", "16xi32"),
        sequence(["16xi32"], transfer(0, "in", 0, 16, "16xi32"), name="a"),
        sequence(["16xi32"], transfer(1, "in", 0, 8, "16xi32"), name="b"),
    )
    with pytest.raises(HostError, match="there are several, say which: a, b"):
        lowered(two)
    with pytest.raises(HostError, match="there is none called @c; there is: a, b"):
        lowered(two, sequence="c")
    assert lowered(two, sequence="a").images != lowered(two, sequence="b").images
    with pytest.raises(HostError, match="no runtime sequence"):
        lowered(module(fifo("in", "0_0", "0_2", "16xi32")))
    with pytest.raises(HostError, match="the module has no device"):
        lowered("module {}")
