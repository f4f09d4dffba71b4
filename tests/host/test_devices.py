"""Several devices in one module, resets, scratchpad parameters, external buffers."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest
from designs import add, core, fifo, map_core, module, sequence, transfer

from iron import host, ir
from iron.host import HostError
from iron.runtime.errors import Deadlock

I32 = np.int32


def device(name: str, *parts: str) -> str:
    """One aie.device of a module with several."""
    text = module(*parts)
    inner = text[text.index("{") + 1 : text.rindex("}")]
    return inner.replace("aie.device(npu1_1col) {", f"aie.device(npu1_1col) @{name} {{")


def adder(name: str, amount: int, *, times: str = "") -> str:
    """Adds to each of four numbers in place; its sequence is @go."""
    return device(
        name,
        fifo("in", "0_0", "0_2", "4xi32", 1),
        fifo("out", "0_2", "0_0", "4xi32", 1),
        map_core("0_2", "in", "out", 4, add(amount), **({"times": int(times)} if times else {})),
        sequence(
            ["4xi32"],
            transfer(0, "in", 0, 4, "4xi32"),
            transfer(1, "out", 0, 4, "4xi32", wait=True),
            wait=[1],
            name="go",
        ),
    )


def part(offset: int) -> str:
    type = f"memref<4xi32, strided<[1], offset: {offset}>>"
    return f"""%s{offset} = memref.subview %a0[{offset}] [4] [1] : memref<16xi32> to {type}
%p{offset} = memref.reinterpret_cast %s{offset} to offset: [0], sizes: [4], strides: [1]
  : {type} to memref<4xi32>"""


def run(offset: int) -> str:
    return f"aiex.run @go (%p{offset}) : (memref<4xi32>)"


def test_configure_loads_another_device_and_run_runs_its_sequence(build):
    main = device(
        "main",
        sequence(
            ["16xi32"],
            "aiex.configure @two {\n" + part(0) + run(0) + part(12) + run(12) + "\n}",
            "aiex.configure @three {\n" + part(4) + run(4) + part(12) + run(12) + "\n}",
        ),
    )
    design = build("module {" + main + adder("two", 2) + adder("three", 3) + "}")
    data = np.arange(16, dtype=I32)
    for _ in range(2):  # the second run begins with the devices as the first did
        (data_out,) = design(data)
        expected = data + np.repeat([2, 3, 0, 5], 4)
        np.testing.assert_array_equal(data_out, expected)
        shutil.rmtree(design.directory, ignore_errors=True)  # the worker has what it needs


def test_configuring_begins_afresh_and_load_pdi_of_the_same_does_not(build):
    """A core that ends after one object serves one run of each configuration."""

    def design(again: str) -> str:
        body = [
            "aiex.configure @two {\n" + part(0) + run(0) + "\n}",
            again.format(part(4), run(4)),
        ]
        main = device("main", sequence(["16xi32"], *body))
        return "module {" + main + adder("two", 2, times="1") + "}"

    data = np.arange(16, dtype=I32)
    afresh = build(design("aiex.configure @two {{\n{} {}\n}}"))
    np.testing.assert_array_equal(afresh(data)[0], data + np.repeat([2, 2, 0, 0], 4))
    main = device(
        "two",
        fifo("in", "0_0", "0_2", "4xi32", 1),
        fifo("out", "0_2", "0_0", "4xi32", 1),
        map_core("0_2", "in", "out", 4, add(2), times=1),
        sequence(
            ["4xi32"],
            "{}",
            transfer(0, "in", 0, 4, "4xi32"),
            transfer(1, "out", 0, 4, "4xi32", wait=True),
            wait=[1],
        ),
    )
    load = "aiex.npu.load_pdi {device_ref = @%s}"
    empty = device("empty")
    again = build("module {" + main.replace("{}", load % "two") + empty + "}", device="two")
    np.testing.assert_array_equal(again(np.zeros(4, I32))[0], [2] * 4)
    with pytest.raises(Deadlock, match="has finished its body"):
        again(np.zeros(4, I32))
    both = load % "empty" + "\n" + load % "two"
    reset = build("module {" + main.replace("{}", both) + empty + "}", device="two")
    for _ in range(2):
        np.testing.assert_array_equal(reset(np.zeros(4, I32))[0], [2] * 4)


def test_static_data_of_kernels_begins_again(build):
    body = "%n = func.call @count() : () -> i32\n%y = arith.addi %x, %n : i32"
    dev = device(
        "count",
        'func.func private @count() -> i32 attributes {link_with = "k.o"}',
        fifo("in", "0_0", "0_2", "4xi32", 1),
        fifo("out", "0_2", "0_0", "4xi32", 1),
        map_core("0_2", "in", "out", 4, body),
        sequence(
            ["4xi32"],
            transfer(0, "in", 0, 4, "4xi32"),
            transfer(1, "out", 0, 4, "4xi32", wait=True),
            wait=[1],
            name="go",
        ),
    )
    again = "aiex.configure @count {\n" + part(4) + run(4) + "\n}"
    main = device(
        "main",
        sequence(["16xi32"], "aiex.configure @count {\n" + part(0) + run(0) + "\n}", again),
    )
    kernel = '#include <cstdint>\nextern "C" int32_t count() { static int32_t n = 0; return ++n; }'
    (out,) = build("module {" + main + dev + "}", {"k.o": kernel})(np.zeros(16, I32))
    np.testing.assert_array_equal(out, [1, 2, 3, 4, 1, 2, 3, 4] + [0] * 8)


def test_memory_tiles_keep_what_is_not_initialised(build):
    """The second device sends what the first left at the same place (mlir-aie's
    reconfigure_loadpdi_persistent_memtile)."""

    def source(name: str, initial: str) -> str:
        return device(
            name,
            f'%b = aie.buffer(%t0_1) {{sym_name = "b"}} : memref<4xi32>{initial}',
            """%m = aie.memtile_dma(%t0_1) {
  %s = aie.dma_start(MM2S, 0, ^bd, ^end)
^bd:
  aie.dma_bd(%b : memref<4xi32>)
  aie.next_bd ^bd
^end:
  aie.end
}""",
            "aie.flow(%t0_1, DMA : 0, %t0_0, DMA : 0)",
            "aie.shim_dma_allocation @out(%t0_0, S2MM, 0)",
            sequence(["4xi32"], transfer(1, "out", 0, 4, "4xi32", wait=True), wait=[1], name="go"),
        )

    main = device(
        "main",
        sequence(
            ["16xi32"],
            "aiex.configure @first {\n" + part(0) + run(0) + "\n}",
            "aiex.configure @second {\n" + part(4) + run(4) + "\n}",
        ),
    )
    text = "module {" + main + source("first", " = dense<[5, 6, 7, 8]>") + source("second", "")
    (out,) = build(text + "}")(np.zeros(16, I32))
    np.testing.assert_array_equal(out[:8], [5, 6, 7, 8, 5, 6, 7, 8])


def test_what_the_sequence_may_ask_of_devices():
    def lowered(line: str, *others: str) -> host.HostDesign:
        main = device("main", sequence(["16xi32"], line))
        return host.lower(ir.parse("module {" + main + "".join(others) + "}", "d.mlir"))

    with pytest.raises(HostError, match=r"d\.mlir:\d+: .*there is no device @x; there is: @main"):
        lowered("aiex.npu.load_pdi {device_ref = @x}")
    with pytest.raises(HostError, match="there is none called @stop; there is: go"):
        lowered("aiex.configure @two { aiex.run @stop () : () }", adder("two", 2))
    with pytest.raises(HostError, match="passes 0 arguments, the sequence takes 1"):
        lowered("aiex.configure @two { aiex.run @go () : () }", adder("two", 2))


# ---- resets
def test_core_reset_begins_the_body_again(build):
    """A core that ends after one object is there again after a reset; its data stay."""
    lines = [
        transfer(0, "in", 0, 4, "8xi32"),
        transfer(1, "out", 1, 4, "8xi32", wait=True),
        "aiex.dma_await_task(%task1)",
        "aiex.core_reset(%t0_2)",
        transfer(2, "in", 0, 4, "8xi32", offset=4),
        transfer(3, "out", 1, 4, "8xi32", offset=4, wait=True),
    ]
    parts = [
        fifo("in", "0_0", "0_2", "4xi32", 1),
        fifo("out", "0_2", "0_0", "4xi32", 1),
        map_core("0_2", "in", "out", 4, add(10), times=1),
    ]
    design = build(module(*parts, sequence(["8xi32", "8xi32"], *lines, wait=[3])))
    data = np.arange(8, dtype=I32)
    np.testing.assert_array_equal(design(data, np.zeros(8, I32))[1], data + 10)
    without = [line for line in lines if "core_reset" not in line]
    stuck = build(module(*parts, sequence(["8xi32", "8xi32"], *without, wait=[3])))
    with pytest.raises(Deadlock):
        stuck(data, np.zeros(8, I32))


def test_a_fifo_is_armed_again(build):
    """Objects that nobody took are gone after dma_channel_reset_for, and so is their count."""
    design = build(
        module(
            fifo("in", "0_0", "0_1", "4xi32", 2),
            fifo("out", "0_1", "0_0", "4xi32", 2),
            "aie.objectfifo.link [@in] -> [@out]([] [])",
            sequence(
                ["16xi32", "4xi32"],
                transfer(0, "in", 0, 8, "16xi32", wait=True),
                "aiex.dma_await_task(%task0)",
                "aiex.dma_channel_reset_for(@in)",
                "aiex.dma_channel_reset_for(@out)",
                transfer(1, "in", 0, 4, "16xi32", offset=8),
                transfer(2, "out", 1, 4, "4xi32", wait=True),
                wait=[2],
            ),
        )
    )
    data = np.arange(16, dtype=I32)
    np.testing.assert_array_equal(design(data, np.zeros(4, I32))[1], data[8:12])


# ---- what the host gives besides
def test_scratchpad_parameters(build):
    read = "%p = aiex.read_scratchpad_parameter @factor : i32\n%y = arith.muli %x, %p : i32"
    text = module(
        fifo("in", "0_0", "0_2", "4xi32", 1),
        fifo("out", "0_2", "0_0", "4xi32", 1),
        map_core("0_2", "in", "out", 4, read),
        sequence(
            ["16xi32", "4xi32"],
            """%task0 = aiex.dma_configure_task_for @in {
  aie.dma_bd(%a0 : memref<16xi32> offset = 0 len = 4) {offset_parameter = @first}
  aie.end
}
aiex.dma_start_task(%task0)""",
            transfer(1, "out", 1, 4, "4xi32", wait=True),
            wait=[1],
        ),
    ).replace(
        "module {",
        "module {\naiex.scratchpad_parameter @factor : i32\n"
        "aiex.scratchpad_parameter @first : i32\n",
    )
    design = build(text)
    names = [a.name for a in design.design.arguments]
    assert sorted(names[2:]) == ["factor", "first"]
    data = np.arange(16, dtype=I32)
    for factor, first in ((3, 0), (5, 8)):
        given = {"factor": factor, "first": first}
        _, out = design(data, np.zeros(4, I32), *(given[n] for n in names[2:]))
        np.testing.assert_array_equal(out, data[first : first + 4] * factor)


def test_external_buffers_are_arguments(build):
    design = build(
        module(
            '%e = aie.external_buffer {sym_name = "table"} : memref<8xi32>',
            """%d = aie.shim_dma(%t0_0) {
  %s = aie.dma_start(MM2S, 0, ^bd, ^end)
^bd:
  aie.dma_bd(%e : memref<8xi32> offset = 4 len = 4)
  aie.next_bd ^bd
^end:
  aie.end
}""",
            "aie.flow(%t0_0, DMA : 0, %t0_0, DMA : 1)",
            "aie.shim_dma_allocation @out(%t0_0, S2MM, 1)",
            sequence(["4xi32"], transfer(1, "out", 0, 4, "4xi32", wait=True), wait=[1]),
        )
    )
    assert [(a.name, a.shape) for a in design.design.arguments] == [("arg0", (4,)), ("table", (8,))]
    table = np.arange(8, dtype=I32) + 40
    out, kept = design(np.zeros(4, I32), table)
    np.testing.assert_array_equal(out, table[4:])
    np.testing.assert_array_equal(kept, table)


def test_packets_without_a_flow_are_refused():
    text = module(
        fifo("in", "0_0", "0_2", "4xi32", 1),
        core("0_2", ""),
        "aie.shim_dma_allocation @control(%t0_0, MM2S, 1)",
        sequence(
            ["4xi32"],
            "aiex.npu.dma_memcpy_nd(%a0[0, 0, 0, 0][1, 1, 1, 4][0, 0, 0, 1], "
            "packet = <pkt_id = 27, pkt_type = 1>) {id = 0 : i64, metadata = @control}"
            " : memref<4xi32>",
        ),
    )
    with pytest.raises(HostError, match=re.escape("sends packets with id 27")):
        host.lower(ir.parse(text, "d.mlir"))
