"""ObjectFifo designs, from MLIR text to values compared with NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from designs import (
    acquire,
    add,
    core,
    fifo,
    in_and_out,
    link,
    loop,
    map_core,
    module,
    release,
    sequence,
    transfer,
)

I32 = np.int32


def iota(n: int, dtype: type = I32) -> np.ndarray:
    return (np.arange(n) % 30011).astype(dtype)


def test_a_core_over_dma(build):
    design = build(
        module(
            fifo("in", "0_0", "0_2", "64xi32"),
            fifo("out", "0_2", "0_0", "64xi32"),
            map_core("0_2", "in", "out", 64, add(5)),
            in_and_out("in", "out", 640),
        )
    )
    x = iota(640)
    for _ in range(3):  # the state of the array persists
        _, y = design(x, 0 * x)
        np.testing.assert_array_equal(y, x + 5)
    assert design.report.unfinished == ()


def test_a_chain_of_neighbours_in_shared_memory(build):
    design = build(
        module(
            fifo("in", "0_0", "0_2", "32xi32"),
            fifo("mid", "0_2", "0_3", "32xi32", 3),
            fifo("out", "0_3", "0_0", "32xi32"),
            map_core("0_2", "in", "mid", 32, add(1)),
            map_core("0_3", "mid", "out", 32, add(10)),
            in_and_out("in", "out", 320),
        )
    )
    lines = design.design.network.splitlines()
    assert not [line for line in lines if line.startswith("channel") and "mid" in line]
    assert design.design.network.count("buffer mid_buff") == 3
    x = iota(320)
    np.testing.assert_array_equal(design(x, 0 * x)[1], x + 11)


def test_forward_through_memtile(build):
    design = build(
        module(
            fifo("in", "0_0", "0_1", "128xi16"),
            fifo("mid", "0_1", "0_2", "32xi16"),
            fifo("back", "0_2", "0_1", "32xi16"),
            fifo("out", "0_1", "0_0", "128xi16"),
            link("@in", "@mid", "[] [0]"),
            link("@back", "@out", "[] [0]"),
            map_core("0_2", "mid", "back", 32, add(-3, "i16"), element="i16"),
            in_and_out("in", "out", 1024, element="i16"),
        )
    )
    x = iota(1024, np.int16)
    np.testing.assert_array_equal(design(x, 0 * x)[1], x - 3)


def test_split_and_join_over_four_cores(build):
    names = range(4)
    design = build(
        module(
            fifo("in", "0_0", "0_1", "64xi32"),
            *(fifo(f"part{i}", "0_1", f"0_{i + 2}", "16xi32") for i in names),
            link("@in", ", ".join(f"@part{i}" for i in names), "[] [0, 16, 32, 48]"),
            fifo("out", "0_1", "0_0", "64xi32"),
            *(fifo(f"result{i}", f"0_{i + 2}", "0_1", "16xi32") for i in names),
            link(", ".join(f"@result{i}" for i in names), "@out", "[0, 16, 32, 48] []"),
            *(map_core(f"0_{i + 2}", f"part{i}", f"result{i}", 16, add(1000 * i)) for i in names),
            in_and_out("in", "out", 640),
        )
    )
    x = iota(640)
    expected = x.reshape(-1, 4, 16) + 1000 * np.arange(4)[:, None]
    np.testing.assert_array_equal(design(x, 0 * x)[1], expected.reshape(-1))


def test_equal_bodies_are_compiled_once(build):
    names = range(4)
    design = build(
        module(
            fifo("in", "0_0", [f"0_{i + 2}" for i in names], "16xi32"),
            *(fifo(f"out{i}", f"0_{i + 2}", "0_0", "16xi32") for i in names[:2]),
            *(fifo(f"side{i}", f"0_{i + 2}", "0_1", "16xi32") for i in names[2:]),
            fifo("joined", "0_1", "0_0", "32xi32"),
            link("@side2, @side3", "@joined", "[0, 16] []"),
            *(
                map_core(f"0_{i + 2}", "in", f"{'out' if i < 2 else 'side'}{i}", 16, add(7))
                for i in names
            ),
            sequence(
                ["64xi32", "64xi32", "64xi32"],
                transfer(0, "in", 0, 64, "64xi32"),
                transfer(1, "out0", 1, 64, "64xi32", wait=True),
                transfer(2, "out1", 2, 64, "64xi32", wait=True),
                transfer(3, "joined", 0, 64, "64xi32"),
                wait=[1, 2],
            ),
        )
    )
    image = design.design.images[0]
    assert image.source.count('extern "C" void body_') == 1
    assert image.cores == ("(0,2)", "(0,3)", "(0,4)", "(0,5)")


def test_broadcast(build):
    design = build(
        module(
            fifo("in", "0_0", ["0_2", "0_4"], "16xi32", [2, 1, 3]),
            fifo("a", "0_2", "0_0", "16xi32"),
            fifo("b", "0_4", "0_0", "16xi32"),
            map_core("0_2", "in", "a", 16, add(1)),
            map_core("0_4", "in", "b", 16, add(2)),
            sequence(
                ["160xi32"] * 3,
                transfer(0, "in", 0, 160, "160xi32"),
                transfer(1, "a", 1, 160, "160xi32", wait=True),
                transfer(2, "b", 2, 160, "160xi32", wait=True),
                wait=[1, 2],
            ),
        )
    )
    network = design.design.network
    assert network.count("buffer in_0_cons_buff") == 1  # a depth for each side
    assert network.count("buffer in_1_cons_buff") == 3
    x = iota(160)
    _, a, b = design(x, 0 * x, 0 * x)
    np.testing.assert_array_equal(a, x + 1)
    np.testing.assert_array_equal(b, x + 2)


def test_sliding_window(build):
    """Acquire three, release one: each object is seen three times."""
    window = "\n".join(
        [
            acquire("in", "Consume", "8xi32", 3),
            acquire("out", "Produce", "8xi32"),
            loop(
                "i",
                8,
                """%p = memref.load %in0[%i] : memref<8xi32>
%q = memref.load %in1[%i] : memref<8xi32>
%r = memref.load %in2[%i] : memref<8xi32>
%s = arith.addi %p, %q : i32
%t = arith.addi %s, %r : i32
memref.store %t, %out0[%i] : memref<8xi32>""",
            ),
            release("in", "Consume"),
            release("out", "Produce"),
        ]
    )
    design = build(
        module(
            fifo("in", "0_0", "0_2", "8xi32", 5),
            fifo("out", "0_2", "0_0", "8xi32"),
            core("0_2", window),
            in_and_out("in", "out", 96, 80),
        )
    )
    # One more than the core holds at once, as the hardware flow allocates.
    assert design.design.network.count("buffer in_cons_buff") == 4
    x = iota(96)
    rows = x.reshape(12, 8)
    expected = rows[:-2] + rows[1:-1] + rows[2:]
    np.testing.assert_array_equal(design(x, np.zeros(80, I32))[1], expected.reshape(-1))


def test_layouts_to_and_from_the_stream(build):
    rows, columns = 4, 8
    n = rows * columns
    design = build(
        module(
            fifo("in", "0_0", "0_1", f"{n}xi32"),
            fifo("mid", "0_1", "0_2", f"{n}xi32", to=[(columns, 1), (rows, columns)]),
            link("@in", "@mid"),
            fifo("back", "0_2", "0_1", f"{n}xi32", fro=[[(columns, 1), (rows, columns)]]),
            fifo("out", "0_1", "0_0", f"{n}xi32"),
            link("@back", "@out"),
            fifo("seen", "0_2", "0_0", f"{n}xi32"),
            core(
                "0_2",
                "\n".join(
                    [
                        acquire("mid", "Consume", f"{n}xi32"),
                        acquire("back", "Produce", f"{n}xi32"),
                        acquire("seen", "Produce", f"{n}xi32"),
                        f"memref.copy %mid0, %back0 : memref<{n}xi32> to memref<{n}xi32>",
                        f"memref.copy %mid0, %seen0 : memref<{n}xi32> to memref<{n}xi32>",
                        release("mid", "Consume"),
                        release("back", "Produce"),
                        release("seen", "Produce"),
                    ]
                ),
            ),
            sequence(
                [f"{3 * n}xi32"] * 3,
                transfer(0, "in", 0, 3 * n, f"{3 * n}xi32"),
                transfer(1, "seen", 1, 3 * n, f"{3 * n}xi32", wait=True),
                transfer(2, "out", 2, 3 * n, f"{3 * n}xi32", wait=True),
                wait=[1, 2],
            ),
        )
    )
    x = iota(3 * n)
    _, seen, out = design(x, 0 * x, 0 * x)
    expected = x.reshape(3, rows, columns).transpose(0, 2, 1)
    np.testing.assert_array_equal(seen, expected.reshape(-1))
    np.testing.assert_array_equal(out, x)  # transposed back on the way out


def test_taps_in_the_sequence(build):
    """A matrix is read by tiles of 4 x 8 and written transposed."""
    rows, columns = 8, 32
    n = rows * columns
    design = build(
        module(
            fifo("in", "0_0", "0_2", "32xi16"),
            fifo("out", "0_2", "0_0", "32xi16"),
            map_core("0_2", "in", "out", 32, add(0, "i16"), element="i16"),
            sequence(
                [f"{n}xi16"] * 2,
                transfer(
                    0,
                    "in",
                    0,
                    n // 2,
                    f"{n}xi16",
                    layout=[(2, 128), (4, 8), (4, 32), (8, 1)],
                    repeat=1,
                ),
                transfer(
                    1, "out", 1, n, f"{n}xi16", layout=[(columns, 1), (rows, columns)], wait=True
                ),
                wait=[1],
            ),
        )
    )
    x = iota(n, np.int16)
    tiles = x.reshape(2, 4, 4, 8).transpose(0, 2, 1, 3).reshape(-1)
    expected = tiles.reshape(columns, rows).T
    np.testing.assert_array_equal(design(x, 0 * x)[1], expected.reshape(-1))


def test_a_repeated_part_of_an_argument(build):
    """A stride of 0 in the outermost of four dimensions is a repeat count."""
    design = build(
        module(
            fifo("in", "0_0", "0_2", "16xi32"),
            fifo("out", "0_2", "0_0", "16xi32"),
            map_core("0_2", "in", "out", 16, add(1)),
            sequence(
                ["64xi32", "48xi32"],
                transfer(
                    0,
                    "in",
                    0,
                    16,
                    "64xi32",
                    offset=32,
                    repeat=2,
                    layout=[(3, 0), (1, 0), (1, 0), (16, 1)],
                ),
                transfer(1, "out", 1, 48, "48xi32", wait=True),
                wait=[1],
            ),
        )
    )
    x = iota(64)
    np.testing.assert_array_equal(design(x, np.zeros(48, I32))[1], np.tile(x[32:48], 3) + 1)


def test_repeat_count(build):
    design = build(
        module(
            fifo("in", "0_0", "0_1", "16xi32"),
            fifo("mid", "0_1", "0_2", "16xi32", attributes="repeat_count = 3 : i32"),
            link("@in", "@mid"),
            fifo("out", "0_2", "0_0", "16xi32"),
            map_core("0_2", "mid", "out", 16, add(0)),
            in_and_out("in", "out", 64, 192),
        )
    )
    x = iota(64)
    expected = np.repeat(x.reshape(4, 1, 16), 3, axis=1).reshape(-1)
    np.testing.assert_array_equal(design(x, np.zeros(192, I32))[1], expected)


def test_repeat_count_of_a_core(build):
    design = build(
        module(
            fifo("in", "0_0", "0_2", "16xi32"),
            fifo("out", "0_2", "0_0", "16xi32", attributes="repeat_count = 2 : i32"),
            map_core("0_2", "in", "out", 16, add(4)),
            in_and_out("in", "out", 64, 128),
        )
    )
    x = iota(64)
    expected = np.repeat(x.reshape(4, 1, 16), 2, axis=1).reshape(-1) + 4
    np.testing.assert_array_equal(design(x, np.zeros(128, I32))[1], expected)


def test_padding(build):
    """2 x 3 becomes 4 x 5 on the way out of the memory tile."""
    design = build(
        module(
            fifo("in", "0_0", "0_1", "2x3xi32"),
            fifo(
                "mid",
                "0_1",
                "0_2",
                "4x5xi32",
                to=[(2, 3), (3, 1)],
                attributes="padDimensions = #aie<bd_pad_layout_array["
                "<const_pad_before = 1, const_pad_after = 1>,"
                " <const_pad_before = 2, const_pad_after = 0>]>, padValue = 7 : i32",
            ),
            link("@in", "@mid"),
            fifo("out", "0_2", "0_0", "20xi32"),
            core(
                "0_2",
                "\n".join(
                    [
                        acquire("mid", "Consume", "4x5xi32"),
                        acquire("out", "Produce", "20xi32"),
                        "%flat = memref.collapse_shape %mid0 [[0, 1]]"
                        " : memref<4x5xi32> into memref<20xi32>",
                        "memref.copy %flat, %out0 : memref<20xi32> to memref<20xi32>",
                        release("mid", "Consume"),
                        release("out", "Produce"),
                    ]
                ),
            ),
            in_and_out("in", "out", 12, 40),
            device="npu2_1col",
        )
    )
    x = iota(12) + 100
    expected = np.pad(x.reshape(2, 2, 3), ((0, 0), (1, 1), (2, 0)), constant_values=7)
    np.testing.assert_array_equal(design(x, np.zeros(40, I32))[1], expected.reshape(-1))


def test_padding_of_bytes_is_made_of_words(build):
    """A padded byte is the one that stands at its place in the 32-bit word of padding."""
    design = build(
        module(
            fifo("in", "0_0", "0_1", "4xi8"),
            fifo(
                "mid",
                "0_1",
                "0_2",
                "16xi8",
                to=[(4, 1)],
                attributes="padDimensions = #aie<bd_pad_layout_array["
                "<const_pad_before = 8, const_pad_after = 4>]>, padValue = 67305985 : i32",
            ),
            link("@in", "@mid"),
            fifo("out", "0_2", "0_0", "16xi8"),
            map_core("0_2", "mid", "out", 16, add(0, "i8"), element="i8"),
            in_and_out("in", "out", 4, 16, element="i8"),
            device="npu2_1col",
        )
    )
    x = np.array([50, 60, 70, 80], np.int8)
    word = [1, 2, 3, 4]  # 0x04030201
    _, y = design(x, np.zeros(16, np.int8))
    assert y.tolist() == [*word, *word, *x, *word]


def test_init_values(build):
    """Objects that are there before anything was produced: a delay of two."""
    design = build(
        module(
            fifo("in", "0_0", "0_2", "4xi32"),
            fifo(
                "mid",
                "0_2",
                "0_3",
                "4xi32",
                init=" = [dense<[1, 2, 3, 4]> : memref<4xi32>, dense<9> : memref<4xi32>]",
            ),
            fifo("out", "0_3", "0_0", "4xi32"),
            map_core("0_2", "in", "mid", 4, add(0)),
            map_core("0_3", "mid", "out", 4, add(0)),
            in_and_out("in", "out", 12, 20),
        )
    )
    x = iota(12) + 50
    expected = np.concatenate([[1, 2, 3, 4], [9] * 4, x])
    np.testing.assert_array_equal(design(x, np.zeros(20, I32))[1], expected)


def test_a_fifo_from_a_core_to_itself(build):
    body = "\n".join(
        [
            acquire("in", "Consume", "8xi32"),
            acquire("loop", "Produce", "8xi32"),
            "memref.copy %in0, %loop0 : memref<8xi32> to memref<8xi32>",
            release("loop", "Produce"),
            release("in", "Consume"),
            acquire("loop", "Consume", "8xi32", prefix="r"),
            acquire("out", "Produce", "8xi32"),
            "memref.copy %rloop0, %out0 : memref<8xi32> to memref<8xi32>",
            release("loop", "Consume"),
            release("out", "Produce"),
        ]
    )
    design = build(
        module(
            fifo("in", "0_0", "0_2", "8xi32"),
            fifo("loop", "0_2", "0_2", "8xi32", 1),
            fifo("out", "0_2", "0_0", "8xi32"),
            core("0_2", body),
            in_and_out("in", "out", 80),
        )
    )
    x = iota(80)
    np.testing.assert_array_equal(design(x, 0 * x)[1], x)


SCALE = """
#include <cstdint>
extern "C" void scale(int32_t *x, int32_t *factor, int32_t *y, int32_t n) {
  for (int i = 0; i < n; i++) y[i] = x[i] * *factor;
}
"""


def test_a_kernel_and_a_factor(build):
    body = "\n".join(
        [
            acquire("factor", "Consume", "1xi32"),
            loop(
                "r",
                4,
                "\n".join(
                    [
                        acquire("in", "Consume", "64xi32"),
                        acquire("out", "Produce", "64xi32"),
                        "%n = arith.constant 64 : i32",
                        "func.call @scale(%in0, %factor0, %out0, %n) :"
                        " (memref<64xi32>, memref<1xi32>, memref<64xi32>, i32) -> ()",
                        release("in", "Consume"),
                        release("out", "Produce"),
                    ]
                ),
            ),
            release("factor", "Consume"),
        ]
    )
    design = build(
        module(
            fifo("factor", "0_0", "0_2", "1xi32"),
            fifo("in", "0_0", "0_2", "64xi32"),
            fifo("out", "0_2", "0_0", "64xi32"),
            "func.func private @scale(memref<64xi32>, memref<1xi32>, memref<64xi32>, i32)"
            ' attributes {link_with = "scale.o"}',
            core("0_2", body),
            sequence(
                ["256xi32", "1xi32", "256xi32"],
                transfer(0, "in", 0, 256, "256xi32"),
                transfer(1, "factor", 1, 1, "1xi32"),
                transfer(2, "out", 2, 256, "256xi32", wait=True),
                wait=[2],
            ),
        ),
        {"scale.o": SCALE},
    )
    assert design.design.images[0].objects == ("scale.o",)
    x = iota(256)
    for factor in (3, -7):
        *_, y = design(x, np.array([factor], I32), 0 * x)
        np.testing.assert_array_equal(y, x * factor)


COUNTER = """
#include <cstdint>
static int32_t calls = 0;
extern "C" void index(int32_t *x, int32_t *y) {  // named like a function of the C library
  calls++;
  for (int i = 0; i < 8; i++) y[i] = x[i] + 100 * calls;
}
"""


def test_each_core_has_its_own_static_data(build):
    def worker(i: int) -> str:
        return core(
            f"0_{i + 2}",
            "\n".join(
                [
                    acquire(f"in{i}", "Consume", "8xi32"),
                    acquire(f"out{i}", "Produce", "8xi32"),
                    f"func.call @index(%in{i}0, %out{i}0) : (memref<8xi32>, memref<8xi32>) -> ()",
                    release(f"in{i}", "Consume"),
                    release(f"out{i}", "Produce"),
                ]
            ),
            attributes='link_with = "counter.o"',
        )

    design = build(
        module(
            *(fifo(f"in{i}", "0_0", f"0_{i + 2}", "8xi32") for i in range(2)),
            *(fifo(f"out{i}", f"0_{i + 2}", "0_0", "8xi32") for i in range(2)),
            "func.func private @index(memref<8xi32>, memref<8xi32>)",
            *(worker(i) for i in range(2)),
            sequence(
                ["24xi32"] * 2 + ["8xi32"] * 2,
                transfer(0, "in0", 0, 24, "24xi32"),
                transfer(1, "out0", 1, 24, "24xi32", wait=True),
                transfer(2, "in1", 2, 8, "8xi32"),
                transfer(3, "out1", 3, 8, "8xi32", wait=True),
                wait=[1, 3],
            ),
        ),
        {"counter.o": COUNTER},
    )
    zeros = np.zeros(24, I32)
    for run in (0, 1):
        _, a, _, b = design(zeros, zeros, zeros[:8], zeros[:8])
        np.testing.assert_array_equal(a[::8], 100 * np.array([1, 2, 3]) + 300 * run)
        np.testing.assert_array_equal(b, 100 + 100 * run)


@pytest.mark.parametrize("stride", [2, 3])
def test_bytes_with_a_stride(build, stride):
    n = 24
    design = build(
        module(
            fifo("in", "0_0", "0_2", f"{n}xi8"),
            fifo("out", "0_2", "0_0", f"{n}xi8"),
            map_core("0_2", "in", "out", n, add(1, "i8"), element="i8"),
            sequence(
                [f"{n}xi8"] * 2,
                transfer(0, "in", 0, n, f"{n}xi8", layout=[(stride, 1), (n // stride, stride)]),
                transfer(1, "out", 1, n, f"{n}xi8", wait=True),
                wait=[1],
            ),
        )
    )
    x = iota(n, np.int8)
    expected = x.reshape(-1, stride).T.reshape(-1) + 1
    np.testing.assert_array_equal(design(x, 0 * x)[1], expected)
