"""Designs written with locks, buffer descriptors, flows and packets."""

from __future__ import annotations

import numpy as np
import pytest
from designs import acquire, core, fifo, loop, map_core, module, release, sequence, transfer

from iron.runtime.errors import Deadlock

I32 = np.int32


def bd(
    name: str,
    use: tuple[str, str],
    buffer: str,
    type: str,
    rest: str = "",
    after: str = "",
    flags: str = "",
) -> str:
    """A block ^name: acquire one lock, move, release another, go on."""
    take, give = use
    return f"""^{name}:
  aie.use_lock(%{take}, AcquireGreaterEqual, %one)
  aie.dma_bd(%{buffer} : memref<{type}>{rest}){flags}
  aie.use_lock(%{give}, Release, %one)
  aie.next_bd ^{after or name}"""


def lock(tile: str, name: str, init: int) -> str:
    return f'%{name} = aie.lock(%t{tile}) {{init = {init} : i32, sym_name = "{name}"}}'


def buffer(tile: str, name: str, type: str, initial: str = "") -> str:
    return f'%{name} = aie.buffer(%t{tile}) {{sym_name = "{name}"}} : memref<{type}>{initial}'


ONE = "%one = arith.constant 1 : i32"


def double(n: int) -> str:
    """The core's part: x doubled into y, in place of any lock left out by the caller."""
    return loop(
        "i",
        n,
        f"""%v = memref.load %x[%i] : memref<{n}xi32>
%w = arith.addi %v, %v : i32
memref.store %w, %y[%i] : memref<{n}xi32>""",
    )


def explicit(*more: str, n: int = 16, to_core: str = "", from_core: str = "") -> str:
    """One core, one buffer each way; descriptors may be given."""
    return module(
        ONE,
        buffer("0_2", "x", f"{n}xi32"),
        buffer("0_2", "y", f"{n}xi32"),
        lock("0_2", "xfree", 1),
        lock("0_2", "xfull", 0),
        lock("0_2", "yfree", 1),
        lock("0_2", "yfull", 0),
        "aie.flow(%t0_0, DMA : 0, %t0_2, DMA : 1)",
        "aie.flow(%t0_2, DMA : 0, %t0_0, DMA : 1)",
        core(
            "0_2",
            "\n".join(
                [
                    "aie.use_lock(%xfull, AcquireGreaterEqual, %one)",
                    "aie.use_lock(%yfree, AcquireGreaterEqual, %one)",
                    double(n),
                    "aie.use_lock(%xfree, Release, %one)",
                    "aie.use_lock(%yfull, Release, %one)",
                ]
            ),
        ),
        f"""%mem = aie.mem(%t0_2) {{
  %s = aie.dma_start(S2MM, 1, ^in, ^next)
{to_core or bd("in", ("xfree", "xfull"), "x", f"{n}xi32")}
^next:
  %t = aie.dma_start(MM2S, 0, ^out, ^end)
{from_core or bd("out", ("yfull", "yfree"), "y", f"{n}xi32")}
^end:
  aie.end
}}""",
        "aie.shim_dma_allocation @to_core(%t0_0, MM2S, 0)",
        "aie.shim_dma_allocation @from_core(%t0_0, S2MM, 1)",
        *more,
    )


def memcpy(
    argument: int,
    n: int,
    symbol: str,
    *,
    total: int,
    offset: int = 0,
    flags: str = "",
    packet: str = "",
    number: int = 0,
) -> str:
    return (
        f"aiex.npu.dma_memcpy_nd(%a{argument}[0, 0, 0, {offset}][1, 1, 1, {n}][0, 0, 0, 1]{packet})"
        f" {{id = {number} : i64, metadata = @{symbol}{flags}}} : memref<{total}xi32>"
    )


def test_memcpy_and_wait(build):
    design = build(
        explicit(
            sequence(
                ["64xi32", "64xi32"],
                memcpy(0, 32, "to_core", total=64, offset=32),
                memcpy(0, 32, "to_core", total=64, number=1),  # queued behind the first
                memcpy(1, 64, "from_core", total=64, number=2),
                "aiex.npu.dma_wait {symbol = @from_core}",
            )
        )
    )
    x = np.arange(64, dtype=I32)
    expected = 2 * np.concatenate([x[32:], x[:32]])
    for _ in range(2):
        np.testing.assert_array_equal(design(x, 0 * x)[1], expected)


def test_two_sequences_share_the_array(build):
    text = explicit(
        sequence(
            ["64xi32", "64xi32"],
            memcpy(0, 64, "to_core", total=64),
            memcpy(1, 64, "from_core", total=64, number=1),
            "aiex.npu.dma_wait {symbol = @from_core}",
            name="whole",
        ),
        sequence(
            ["64xi32", "64xi32"],
            memcpy(0, 16, "to_core", total=64),
            memcpy(1, 16, "from_core", total=64, number=1),
            "aiex.npu.dma_wait {symbol = @from_core}",
            name="part",
        ),
    )
    x = np.arange(64, dtype=I32)
    whole, part = build(text, sequence="whole"), build(text, sequence="part")
    np.testing.assert_array_equal(whole(x, 0 * x)[1], 2 * x)
    np.testing.assert_array_equal(part(x, 0 * x)[1], np.where(x < 16, 2 * x, 0))
    # Only the sequence's image is another one.
    assert whole.design.images[:-1] == part.design.images[:-1]


def test_a_descriptor_transposes(build):
    design = build(
        explicit(
            sequence(
                ["16xi32", "16xi32"],
                memcpy(0, 16, "to_core", total=16),
                memcpy(1, 16, "from_core", total=16, number=1),
                "aiex.npu.dma_wait {symbol = @from_core}",
            ),
            from_core=bd(
                "out", ("yfull", "yfree"), "y", "16xi32", " sizes = [8, 2] strides = [1, 8]"
            ),
        )
    )
    x = np.arange(16, dtype=I32)
    np.testing.assert_array_equal(design(x, 0 * x)[1], 2 * x.reshape(2, 8).T.reshape(-1))


def test_iteration_of_a_descriptor(build):
    """Executions of one descriptor write the thirds of a buffer in turn."""
    design = build(
        module(
            ONE,
            buffer("0_1", "b", "12xi32"),
            lock("0_1", "free", 3),
            lock("0_1", "full", 0),
            "%three = arith.constant 3 : i32",
            "aie.flow(%t0_0, DMA : 0, %t0_1, DMA : 0)",
            "aie.flow(%t0_1, DMA : 0, %t0_0, DMA : 0)",
            f"""%mem = aie.memtile_dma(%t0_1) {{
  %s = aie.dma_start(S2MM, 0, ^in, ^next)
{
                bd(
                    "in",
                    ("free", "full"),
                    "b",
                    "12xi32",
                    " offset = 0 len = 4",
                    "",
                    " {iteration = #aie.bd_iteration<size = 3, stride = 4, current = 1>}",
                )
            }
^next:
  %t = aie.dma_start(MM2S, 0, ^out, ^end)
^out:
  aie.use_lock(%full, AcquireGreaterEqual, %three)
  aie.dma_bd(%b : memref<12xi32> offset = 0 len = 12)
  aie.use_lock(%free, Release, %three)
  aie.next_bd ^out
^end:
  aie.end
}}""",
            "aie.shim_dma_allocation @in(%t0_0, MM2S, 0)",
            "aie.shim_dma_allocation @out(%t0_0, S2MM, 0)",
            sequence(
                ["24xi32", "24xi32"],
                memcpy(0, 24, "in", total=24),
                memcpy(1, 24, "out", total=24, number=1),
                "aiex.npu.dma_wait {symbol = @out}",
            ),
        )
    )
    x = np.arange(24, dtype=I32)
    expected = x.reshape(2, 3, 4)[:, [2, 0, 1]].reshape(-1)  # the first goes to the second third
    np.testing.assert_array_equal(design(x, 0 * x)[1], expected)


def test_chains_end_and_starts_queue(build):
    """Two dma_starts of one channel run one after the other; the second is repeated."""
    design = build(
        module(
            ONE,
            buffer("0_1", "a", "4xi32", " = dense<[1, 2, 3, 4]>"),
            buffer("0_1", "b", "4xi32", " = dense<7>"),
            "aie.flow(%t0_1, DMA : 0, %t0_0, DMA : 0)",
            """%mem = aie.memtile_dma(%t0_1) {
  %s = aie.dma_start(MM2S, 0, ^first, ^next)
^first:
  aie.dma_bd(%a : memref<4xi32> offset = 0 len = 4)
  aie.next_bd ^second
^second:
  aie.dma_bd(%a : memref<4xi32> offset = 2 len = 2)
  aie.next_bd ^end
^next:
  %t = aie.dma_start(MM2S, 0, ^third, ^end, repeat_count = 2)
^third:
  aie.dma_bd(%b : memref<4xi32> offset = 0 len = 1)
  aie.next_bd ^end
^end:
  aie.end
}""",
            "aie.shim_dma_allocation @out(%t0_0, S2MM, 0)",
            sequence(["9xi32"], memcpy(0, 9, "out", total=9), "aiex.npu.dma_wait {symbol = @out}"),
        )
    )
    np.testing.assert_array_equal(design(np.zeros(9, I32))[0], [1, 2, 3, 4, 3, 4, 7, 7, 7])


def test_an_exact_acquire_leaves_the_value(build):
    """use_lock in mlir-aie's AIEOps.td: Acquire blocks until the lock is set to the value; only
    AcquireGreaterEqual decrements. So a barrier once set lets every round pass."""
    design = build(
        module(
            fifo("in", "0_0", "0_2", "4xi32"),
            fifo("out", "0_2", "0_0", "4xi32"),
            lock("0_2", "barrier", 0),
            "func.func private @nothing()",
            buffer("0_2", "gain", "2xi32", " = dense<1>"),
            core(
                "0_2",
                "\n".join(
                    [
                        "%three = arith.constant 3 : i32",
                        "aie.use_lock(%barrier, Acquire, %three)",
                        acquire("in", "Consume", "4xi32"),
                        acquire("out", "Produce", "4xi32"),
                        "%g = memref.load %gain[%c1] : memref<2xi32>",
                        loop(
                            "i",
                            4,
                            """%x = memref.load %in0[%i] : memref<4xi32>
%y = arith.muli %x, %g : i32
memref.store %y, %out0[%i] : memref<4xi32>""",
                        ),
                        release("in", "Consume"),
                        release("out", "Produce"),
                    ]
                ),
            ),
            sequence(
                ["12xi32", "12xi32", "i32"],
                "aiex.npu.rtp_write(@gain, 1, %a2) : i32",
                "aiex.set_lock(%barrier, 3)",
                transfer(0, "in", 0, 12, "12xi32"),
                transfer(1, "out", 1, 12, "12xi32", wait=True),
                wait=[1],
            ),
        )
    )
    x = np.arange(12, dtype=I32)
    # Without the barrier's last round the core would stand at it, so the first run is the test.
    np.testing.assert_array_equal(design(x, 0 * x, 5)[1], 5 * x)


def test_a_barrier_that_is_never_set(build):
    design = build(
        module(
            fifo("out", "0_2", "0_0", "4xi32"),
            lock("0_2", "barrier", 1),
            core(
                "0_2",
                "\n".join(
                    [
                        "%three = arith.constant 3 : i32",
                        "aie.use_lock(%barrier, Acquire, %three)",
                        acquire("out", "Produce", "4xi32"),
                        release("out", "Produce"),
                    ]
                ),
            ),
            sequence(["4xi32"], transfer(0, "out", 0, 4, "4xi32", wait=True), wait=[0]),
        )
    )
    with pytest.raises(Deadlock, match=r"lock 'barrier' \(value 1, wants exactly 3\)"):
        design(np.zeros(4, I32))


PACKETS = [
    "aie.packet_flow({0}) {{ aie.packet_source<%t0_0, DMA : 0>"
    " aie.packet_dest<%t0_{1}, DMA : 0> }}",
    "aie.packet_flow({2}) {{ aie.packet_source<%t0_{1}, DMA : 0> aie.packet_dest<%t0_0, DMA : 0> }}"
    " {{{3}}}",
]


def packet_tile(row: int, out_id: int, n: int = 8) -> str:
    return "\n".join(
        [
            buffer(f"0_{row}", f"b{row}", f"{n}xi32"),
            lock(f"0_{row}", f"free{row}", 1),
            lock(f"0_{row}", f"full{row}", 0),
            f"""%mem{row} = aie.mem(%t0_{row}) {{
  %s = aie.dma_start(S2MM, 0, ^in, ^next)
{bd("in", (f"free{row}", f"full{row}"), f"b{row}", f"{n}xi32")}
^next:
  %t = aie.dma_start(MM2S, 0, ^out, ^end)
{
                bd(
                    "out",
                    (f"full{row}", f"free{row}"),
                    f"b{row}",
                    f"{n}xi32",
                    "",
                    "",
                    f" {{packet = #aie.packet_info<pkt_type = 2, pkt_id = {out_id}>}}",
                )
            }
^end:
  aie.end
}}""",
        ]
    )


@pytest.mark.parametrize("keep", [False, True])
def test_packets_fan_out_and_in(build, keep):
    """Two tiles echo what is sent to them; both answer on one channel, headers kept or not."""
    n = 8
    flag = f"keep_pkt_header = {str(keep).lower()}"
    answer = 2 * (n + keep)
    design = build(
        module(
            ONE,
            *(p.format(1, 2, 5, flag) for p in PACKETS),
            *(p.format(2, 3, 6, flag) for p in PACKETS),
            packet_tile(2, 5),
            packet_tile(3, 6),
            "aie.shim_dma_allocation @in(%t0_0, MM2S, 0)",
            "aie.shim_dma_allocation @out(%t0_0, S2MM, 0)",
            sequence(
                [f"{2 * n}xi32", f"{answer}xi32"],
                memcpy(0, n, "in", total=2 * n, packet=", packet = <pkt_type = 0, pkt_id = 2>"),
                memcpy(
                    0,
                    n,
                    "in",
                    total=2 * n,
                    offset=n,
                    number=1,
                    packet=", packet = <pkt_type = 0, pkt_id = 1>",
                ),
                memcpy(1, answer, "out", total=answer, number=2),
                "aiex.npu.dma_wait {symbol = @out}",
            ),
        )
    )
    x = np.arange(2 * n, dtype=I32)
    _, y = design(x, np.zeros(answer, I32))
    rows = y.reshape(2, -1)
    np.testing.assert_array_equal(rows[:, -n:], x.reshape(2, n))
    if keep:
        headers = rows[:, 0].view(np.uint32)
        assert [h & 31 for h in headers] == [6, 5]
        assert [(h >> 12) & 7 for h in headers] == [2, 2]
        assert all(bin(int(h)).count("1") % 2 == 1 for h in headers)  # odd parity


def test_a_header_in_the_data_chooses_the_way(build):
    """A source that sends raw words: the first is the header and is taken off."""
    n = 8
    design = build(
        module(
            ONE,
            *(p.format(1, 2, 5, "") for p in PACKETS),
            *(p.format(2, 3, 6, "") for p in PACKETS),
            packet_tile(2, 5),
            packet_tile(3, 6),
            "aie.shim_dma_allocation @in(%t0_0, MM2S, 0)",
            "aie.shim_dma_allocation @out(%t0_0, S2MM, 0)",
            sequence(
                [f"{n + 1}xi32", f"{n}xi32"],
                memcpy(0, n + 1, "in", total=n + 1),
                memcpy(1, n, "out", total=n, number=1),
                "aiex.npu.dma_wait {symbol = @out}",
            ),
        )
    )
    x = np.arange(n + 1, dtype=I32)
    x[0] = 2
    np.testing.assert_array_equal(design(x, np.zeros(n, I32))[1], x[1:])


CASCADE = """
#include "aie_api/aie.hpp"
extern "C" void give(int32_t *x) {
  for (int i = 0; i < 32; i += 16) {
    v16int32 t;
    for (int k = 0; k < 16; k++) t[k] = x[i + k];
    put_mcd(t);
  }
}
extern "C" void take(int32_t *x, int32_t *y) {
  for (int i = 0; i < 32; i += 16) {
    v16int32 t = get_scd_v16int32();
    for (int k = 0; k < 16; k++) y[i + k] = x[i + k] - t[k];
  }
}
"""


def test_cascade_between_kernels(build):
    def worker(tile: str, name: str, out: bool) -> str:
        args, types = f"%{name}0", "memref<32xi32>"
        lines = [acquire(name, "Consume", "32xi32")]
        if out:
            lines.append(acquire("out", "Produce", "32xi32"))
            args, types = args + ", %out0", types + ", memref<32xi32>"
        lines.append(f"func.call @{'take' if out else 'give'}({args}) : ({types}) -> ()")
        lines.append(release(name, "Consume"))
        if out:
            lines.append(release("out", "Produce"))
        return core(tile, "\n".join(lines))

    design = build(
        module(
            "aie.cascade_flow(%t0_3, %t0_2)",
            fifo("a", "0_0", "0_3", "32xi32"),
            fifo("b", "0_0", "0_2", "32xi32"),
            fifo("out", "0_2", "0_0", "32xi32"),
            'func.func private @give(memref<32xi32>) attributes {link_with = "cascade.o"}',
            "func.func private @take(memref<32xi32>, memref<32xi32>)"
            ' attributes {link_with = "cascade.o"}',
            worker("0_3", "a", False),
            worker("0_2", "b", True),
            sequence(
                ["64xi32"] * 3,
                transfer(0, "a", 0, 64, "64xi32"),
                transfer(1, "b", 1, 64, "64xi32"),
                transfer(2, "out", 2, 64, "64xi32", wait=True),
                wait=[2],
            ),
        ),
        {"cascade.o": CASCADE},
    )
    a, b = np.arange(64, dtype=I32), np.arange(64, dtype=I32)[::-1] * 7
    np.testing.assert_array_equal(design(a, b, 0 * a)[2], b - a)


def test_core_streams(build):
    """Words from one core's stream port to another's, and from a port to the shim."""
    design = build(
        module(
            "aie.flow(%t0_2, Core : 0, %t0_4, Core : 0)",
            "aie.flow(%t0_4, Core : 0, %t0_0, DMA : 0)",
            "aie.shim_dma_allocation @out(%t0_0, S2MM, 0)",
            core(
                "0_2",
                loop(
                    "i",
                    8,
                    """%w = arith.index_cast %i : index to i32
%port = arith.constant 0 : i32
aie.put_stream(%port : i32, %w : i32)""",
                ),
            ),
            core(
                "0_4",
                """%port = arith.constant 0 : i32
%w = aie.get_stream(%port : i32) : i32
%k = arith.constant 100 : i32
%y = arith.addi %w, %k : i32
aie.put_stream(%port : i32, %y : i32)""",
            ),
            sequence(
                ["16xi32"], memcpy(0, 16, "out", total=16), "aiex.npu.dma_wait {symbol = @out}"
            ),
        )
    )
    np.testing.assert_array_equal(design(np.zeros(16, I32))[0], np.tile(np.arange(8), 2) + 100)


def test_sync_and_a_loop_in_the_sequence(build):
    """A dynamic sequence: tasks in a loop with a computed offset, the count an argument."""
    design = build(
        module(
            fifo("in", "0_0", "0_2", "8xi32"),
            fifo("out", "0_2", "0_0", "8xi32"),
            map_core(
                "0_2", "in", "out", 8, "%k = arith.constant 3 : i32\n%y = arith.muli %x, %k : i32"
            ),
            sequence(
                ["64xi32", "64xi32", "i32"],
                """%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%z = arith.constant 0 : i32
%one = arith.constant 1 : i32
%n = arith.index_cast %a2 : i32 to index
scf.for %i = %c0 to %n step %c1 {
  %i32 = arith.index_cast %i : index to i32
  %eight = arith.constant 8 : i32
  %offset = arith.muli %i32, %eight : i32
  %t0 = aiex.dma_configure_task_for @in {
    aie.dma_bd(%a0 : memref<64xi32> offset = %offset len = 8)
    aie.end
  }
  aiex.dma_start_task(%t0)
  %t1 = aiex.dma_configure_task_for @out {
    aie.dma_bd(%a1 : memref<64xi32> offset = %offset len = 8)
    aie.end
  } {issue_token = true}
  aiex.dma_start_task(%t1)
  aiex.npu.sync(%z, %z, %z, %z, %one, %one) : i32, i32, i32, i32, i32, i32
  aiex.dma_free_task(%t0)
}""",
            ),
        )
    )
    x = np.arange(64, dtype=I32)
    for n in (3, 8):
        np.testing.assert_array_equal(design(x, 0 * x, n)[1], np.where(x < 8 * n, 3 * x, 0))


def test_channels_that_share_a_lock_take_turns(build):
    """One transfer in, then one out of each channel: a channel that has moved its share waits
    behind the other (seen in mlir-aie's test ctrl_packet_reconfig_1x4_cores)."""
    design = build(
        module(
            ONE,
            "%two = arith.constant 2 : i32",
            buffer("0_1", "x", "4xi32"),
            lock("0_1", "free", 2),
            lock("0_1", "full", 0),
            """%mem = aie.memtile_dma(%t0_1) {
  %s = aie.dma_start(S2MM, 0, ^in, ^a)
^in:
  aie.use_lock(%free, AcquireGreaterEqual, %two)
  aie.dma_bd(%x : memref<4xi32>)
  aie.use_lock(%full, Release, %two)
  aie.next_bd ^in
^a:
  %t = aie.dma_start(MM2S, 0, ^first, ^b)
"""
            + bd("first", ("full", "free"), "x", "4xi32")
            + "\n^b:\n  %u = aie.dma_start(MM2S, 1, ^second, ^end)\n"
            + bd("second", ("full", "free"), "x", "4xi32")
            + "\n^end:\n  aie.end\n}",
            "aie.flow(%t0_0, DMA : 0, %t0_1, DMA : 0)",
            "aie.flow(%t0_1, DMA : 0, %t0_0, DMA : 0)",
            "aie.flow(%t0_1, DMA : 1, %t0_0, DMA : 1)",
            "aie.shim_dma_allocation @in(%t0_0, MM2S, 0)",
            "aie.shim_dma_allocation @out0(%t0_0, S2MM, 0)",
            "aie.shim_dma_allocation @out1(%t0_0, S2MM, 1)",
            sequence(
                ["8xi32", "8xi32", "8xi32"],
                transfer(1, "out0", 1, 8, "8xi32", wait=True),
                transfer(2, "out1", 2, 8, "8xi32", wait=True),
                transfer(0, "in", 0, 8, "8xi32"),
                wait=[1, 2],
            ),
        )
    )
    data = np.arange(8, dtype=I32)
    _, a, b = design(data, 0 * data, 0 * data)
    np.testing.assert_array_equal(a, data)
    np.testing.assert_array_equal(b, data)
