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


def copying(line: str) -> str:
    return module(
        fifo("in", "0_0", "0_2", "16xi32"),
        core("0_2", acquire("in", "Consume", "16xi32") + "\n" + release("in", "Consume")),
        sequence(["65536xi32"], line),
    )


@pytest.mark.parametrize(
    ("layout", "number", "message"),
    [
        ("[1, 2, 1024, 16][0, 4, 8, 1]", 0, "a dimension of size 1024, at most 1023"),
        ("[65, 1, 1, 16][32, 0, 0, 1]", 0, "65 iterations, at most 64"),
        ("[1, 1, 1, 16][0, 0, 0, 1]", 16, "buffer descriptor 16, the tile has 16"),
        ("[1, 1, 2, 16][0, 0, 1048577, 1]", 0, "a stride of 1048577 elements, at most 1048576"),
        ("[1, 1, 1, 65536][0, 0, 0, 1]", 15, None),  # contiguous
        ("[64, 2, 4, 16][32, 64, 16, 1]", 0, None),
    ],
)
def test_memcpy(layout, number, message):
    text = copying(
        f"aiex.npu.dma_memcpy_nd(%a0[0, 0, 0, 0]{layout})"
        f" {{id = {number} : i64, metadata = @in}} : memref<65536xi32>"
    )
    if message is None:
        assert faults(text) == ()
        return
    (fault,) = faults(text)
    assert message in fault
    assert fault.startswith("tile (0,0): in: ")
    assert "(design.py:" in fault


def test_descriptors_inside_loops_of_the_sequence():
    text = copying(
        "%z = arith.constant 0 : index\n%n = arith.constant 2 : index\n"
        "%o = arith.constant 1 : index\nscf.for %i = %z to %n step %o {\n"
        "aiex.npu.dma_memcpy_nd(%a0[0, 0, 0, 0][65, 1, 1, 16][32, 0, 0, 1])"
        " {id = 0 : i64, metadata = @in} : memref<65536xi32>\n}"
    )
    (fault,) = faults(text)
    assert "65 iterations" in fault


def buffers(*attributes: str, n: int = 1024) -> str:
    return module(
        *(
            f'%b{i} = aie.buffer(%t0_2) {{sym_name = "b{i}", {a}}} : memref<{n}xi32>'
            for i, a in enumerate(attributes)
        )
    )


def test_banks_and_addresses():
    bank = "mem_bank = {} : i32"
    assert faults(buffers(*[bank.format(1)] * 4)) == ()
    (fault,) = faults(buffers(*[bank.format(1)] * 5))
    assert fault.startswith(
        "tile (0,2): 20480 bytes are put into bank 1, it has 16384: b0 4096 bytes"
    )
    (fault,) = faults(buffers(bank.format(4)))
    assert fault.startswith("tile (0,2): b0 is put into bank 4, the tile has 4, from 0 (design.py:")
    place = "address = {} : i32"
    assert faults(buffers(place.format(0x1000), place.format(0x2000))) == ()
    (fault,) = faults(buffers(place.format(0x1000), place.format(0x1FFC)))
    assert "b0, 4096 bytes from 4096 (design.py:" in fault
    assert "reaches into b1 at 8188" in fault
    (fault,) = faults(buffers(place.format(0xF004)))
    assert fault.startswith("tile (0,2): b0 ends at byte 65540, the tile's memory has 65536")


def test_fifos_take_locks_of_a_shim():
    locks = [f"%k{i} = aie.lock(%t0_0) {{init = 0 : i32}}" for i in range(13)]
    parts = [fifo("in", "0_0", "0_2", "16xi32"), core("0_2", "")]
    assert faults(module(*parts, *locks)) == ()
    (fault,) = faults(module(*parts, *locks, fifo("out", "0_2", "0_0", "16xi32")))
    assert fault.startswith("tile (0,0): 17 locks are used, it has 16: ")


def memory(*lines: str, scheme: str = "") -> str:
    """A device with one core tile and its core, and buffers on it."""
    text = module(*lines, core("0_2", "", times=1))
    return text.replace("%t0_2 = aie.tile(0, 2)", f"%t0_2 = aie.tile(0, 2){scheme}")


def buffer(name: str, nbytes: int, attributes: str = "") -> str:
    return f'%{name} = aie.buffer(%t0_2) {{sym_name = "{name}"{attributes}}} : memref<{nbytes}xi8>'


def test_buffers_begin_at_multiples_of_the_bus():
    """As mlir-aie's -aie-assign-buffer-addresses places them: 32 bytes on a core."""
    small = [buffer(f"b{i}", 33) for i in range(1008)]
    assert faults(memory(*small[:1007])) == ()  # 64 bytes each, the last one 33
    (fault,) = faults(memory(*small, buffer("c", 1)))
    assert fault.startswith("tile (0,2): 34289 bytes of data memory are used, 1024 of them stack")
    assert "ends at byte 65537; the tile has 65536" in fault
    loose = [buffer(f"b{i}", 33, ", aligned = false") for i in range(1010)]
    assert faults(memory(*loose)) == ()


def test_banks_only_bind_where_asked_for():
    """16 KiB a bank, the first one less the stack; by default what crosses banks is tried next."""
    big = [buffer(f"b{i}", 16000) for i in range(4)]
    assert faults(memory(*big)) == ()
    asked = ' {allocation_scheme = "bank-aware"}'
    (fault,) = faults(memory(*big, scheme=asked))
    assert fault.startswith("tile (0,2): no bank has room for b3 16000 bytes")
    assert "4 banks of 16384 bytes, 1024 of them stack" in fault
    assert faults(memory(*big[:3], scheme=asked)) == ()


def test_nothing_lies_in_the_stack():
    (fault,) = faults(memory(buffer("b", 64, ", address = 512 : i32")))
    assert fault.startswith("tile (0,2): b is at byte 512, the stack takes the first 1024")


def test_what_a_configured_device_is_asked_for_counts():
    """The descriptors inside aiex.configure are of the device it names."""
    one = simple(1024).replace("aie.device(npu1_1col) {", "aie.device(npu1_1col) @other {")
    copy = (
        "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 1024][0, 0, 0, 1]) "
        "{id = 31 : i64, metadata = @in} : memref<1024xi32>"
    )
    first = f"""aie.device(npu1_1col) @first {{
      aie.runtime_sequence(%a: memref<1024xi32>) {{
        aiex.configure @other {{ {copy} }}
      }}
    }}"""
    text = one.replace("module {", "module { " + first, 1)
    (fault,) = faults(text)
    assert fault.startswith("tile (0,0): in: buffer descriptor 31, the tile has 16")
