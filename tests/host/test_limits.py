"""Limits of the device: what was used, what there is, where."""

from __future__ import annotations

import pytest
from designs import (
    FOREVER,
    acquire,
    add,
    core,
    fifo,
    in_and_out,
    map_core,
    module,
    release,
    sequence,
    transfer,
)

import iron.ir as ir
from iron.host import LimitError, check_limits


def faults(text: str) -> tuple[str, ...]:
    try:
        check_limits(ir.parse(text, "design.py"))
    except LimitError as e:
        return e.faults
    return ()


def simple(n: int, depth: int = 2, element: str = "i32", **more: object) -> str:
    return module(
        fifo("in", "0_0", "0_2", f"{n}x{element}", [2, depth]),
        fifo("out", "0_2", "0_0", f"{n}x{element}"),
        map_core("0_2", "in", "out", n, add(1, element), element=element),
        in_and_out("in", "out", 16 * n, element=element),
        **more,  # type: ignore[arg-type]
    )


def test_a_design_that_fits():
    assert faults(simple(1024)) == ()


def test_data_memory():
    # 3 + 2 objects of 16 KiB (minus 256 bytes for each) and 1 KiB of stack
    (fault,) = faults(simple(3840, 3))
    assert fault.startswith(
        "tile (0,2): 77824 bytes of data memory are used, 1024 of them stack, the tile has 65536; "
    )
    assert "in_cons_buff_0 15360 bytes (design.py:" in fault
    assert faults(simple(3840, 1)) == ()


def test_the_stack_counts():
    text = simple(4000)
    assert faults(text) == ()
    bigger = text.replace("aie.end\n}", "aie.end\n} {stack_size = 1600 : i32}", 1)
    (fault,) = faults(bigger)
    assert "65600 bytes of data memory are used, 1600 of them stack" in fault


def test_channels():
    names = range(3)
    (fault,) = faults(
        module(
            *(fifo(f"in{i}", "0_1", "0_2", "16xi32") for i in names),
            core(
                "0_2",
                "\n".join(
                    acquire(f"in{i}", "Consume", "16xi32") + "\n" + release(f"in{i}", "Consume")
                    for i in names
                ),
            ),
        )
    )
    assert fault.startswith(
        "tile (0,2): 3 DMA channels into the tile's memory (S2MM) are used, it has 2: in0 ("
    )


def test_locks_and_descriptors():
    # A ring of 20 objects: 20 descriptors; nine fifos of shared memory: 18 locks.
    found = faults(
        module(
            fifo("in", "0_1", "0_2", "4xi32", [2, 20]),
            *(fifo(f"f{i}", "0_2", "0_3", "4xi32") for i in range(8)),
            core("0_2", "", times=FOREVER),
        )
    )
    assert any(
        f.startswith("tile (0,2): 18 locks are used, it has 16: in (design.py:") for f in found
    )
    assert any("tile (0,2): 20 buffer descriptors are used, it has 16: in 20" in f for f in found)
    assert len(found) == 2


def test_descriptors_held_by_the_sequence():
    def text(free: bool) -> str:
        lines = []
        for i in range(18):
            lines.append(transfer(i, "in", 0, 16, "288xi32", offset=16 * i, wait=True))
            if free and i > 3:
                lines.append(f"aiex.dma_await_task(%task{i - 4})")
        return module(
            fifo("in", "0_0", "0_2", "16xi32"),
            core("0_2", acquire("in", "Consume", "16xi32") + "\n" + release("in", "Consume")),
            sequence(["288xi32"], *lines),
        )

    (fault,) = faults(text(False))
    assert "the sequence holds 17 buffer descriptors at once, the tile has 16" in fault
    assert faults(text(True)) == ()


@pytest.mark.parametrize(
    ("layout", "length", "fault"),
    [
        ([(2, 1), (8, 2)], 16, "is not made of whole words of 4 bytes"),
        ([(4, 3), (4, 1)], 16, "a stride of 3 elements of 2 bytes is not a multiple of 4 bytes"),
        ([(1100, 2), (2, 4), (2, 1)], 4400, None),  # the outermost is not bounded
        ([(1, 0), (1100, 4), (2, 1)], 2200, "a dimension of size 1100, at most 1023"),
        ([(65, 4), (1, 0), (1, 0), (2, 1)], 2, "65 iterations, at most 64"),
        ([(2, 4194304), (2, 1)], 4, "a stride of 4194304 elements, at most 2097152"),
    ],
)
def test_layouts(layout, length, fault):
    n = 1 << 24
    found = faults(
        module(
            fifo("in", "0_0", "0_2", "16xi16"),
            core("0_2", acquire("in", "Consume", "16xi16") + "\n" + release("in", "Consume")),
            sequence([f"{n}xi16"], transfer(0, "in", 0, length, f"{n}xi16", layout=layout)),
        )
    )
    assert bool(found) == (fault is not None)
    if fault:
        assert any(fault in f for f in found)


def test_lock_values_and_columns():
    found = faults(
        module(
            '%lock = aie.lock(%t1_2) {init = 70 : i32, sym_name = "many"}',
            columns=2,
        )
    )
    assert [f for f in found if "lock many starts at 70, a lock counts to 63" in f]
    assert [f for f in found if "tile (1,2): npu1_1col has 1 columns and 6 rows" in f]
