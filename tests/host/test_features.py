"""Attributes and spellings that other designs of these tests do not use, with values.

Semantics: mlir-aie's AIE dialect (via_DMA, allocate, iter_count, aie_stream, bd_chain, logical
tiles) and its older spelling of the sequence; trace operations change no values.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from designs import acquire, add, core, fifo, in_and_out, map_core, module, release

from iron import host
from iron.formats import elf
from iron.runtime.errors import HostRuntimeError
from iron.toolchain.compiler import ToolNotFound
from iron.toolchain.host import HostToolchain

I32 = np.int32
OBJECT = "8xi32"


def iota(n: int) -> np.ndarray:
    return np.arange(n, dtype=I32)


@pytest.mark.parametrize("how", ["shared", "via_DMA", "allocate"])
def test_between_neighbours(build, how: str):
    """In the producer's memory; by DMA when asked; in the memory of the tile that is named."""
    chosen = build(
        module(
            fifo("in", "0_0", "0_2", OBJECT),
            fifo("mid", "0_2", "0_3", OBJECT, attributes="via_DMA = true" * (how == "via_DMA")),
            "aie.objectfifo.allocate @mid (%t0_3)" if how == "allocate" else "",
            fifo("out", "0_3", "0_0", OBJECT),
            map_core("0_2", "in", "mid", 8, add(1)),
            map_core("0_3", "mid", "out", 8, add(10)),
            in_and_out("in", "out", 32),
        )
    )
    network = chosen.design.network
    buffers = [line for line in network.splitlines() if line.startswith("buffer mid")]
    tiles = {"shared": {"(0,2)"}, "via_DMA": {"(0,2)", "(0,3)"}, "allocate": {"(0,3)"}}[how]
    assert {t for t in ("(0,2)", "(0,3)") if any(t in b for b in buffers)} == tiles
    np.testing.assert_array_equal(chosen(iota(32), np.zeros(32, I32))[1], iota(32) + 11)


def test_a_pattern_of_acquires_that_changes(build):
    """One object, then three at once, again and again (cyclostatic): 1 and 3 of every 4."""
    body = "\n".join(
        [
            acquire("in", "Consume", OBJECT, 1, "a"),
            acquire("out", "Produce", OBJECT, 1, "a"),
            "%x = memref.load %ain0[%c0] : memref<8xi32>",
            "memref.store %x, %aout0[%c0] : memref<8xi32>",
            release("in", "Consume"),
            release("out", "Produce"),
            acquire("in", "Consume", OBJECT, 3, "b"),
            acquire("out", "Produce", OBJECT, 1, "b"),
            "%p = memref.load %bin0[%c0] : memref<8xi32>",
            "%q = memref.load %bin1[%c0] : memref<8xi32>",
            "%r = memref.load %bin2[%c0] : memref<8xi32>",
            "%s = arith.addi %p, %q : i32",
            "%t = arith.addi %s, %r : i32",
            "memref.store %t, %bout0[%c0] : memref<8xi32>",
            release("in", "Consume", 3),
            release("out", "Produce"),
        ]
    )
    design = build(
        module(
            fifo("in", "0_0", "0_2", OBJECT, 4),
            fifo("out", "0_2", "0_0", OBJECT),
            core("0_2", body),
            in_and_out("in", "out", 96, 48),
        )
    )
    (_, out) = design(iota(96), np.zeros(48, I32))
    first = iota(96).reshape(3, 4, 8)[:, :, 0]
    expected = np.stack([first[:, 0], first[:, 1:].sum(1)], 1)
    np.testing.assert_array_equal(out.reshape(3, 2, 8)[:, :, 0], expected)


def test_logical_tiles_traces_and_the_older_sequence(build):
    text = module(
        fifo("in", "0_0", "0_2", OBJECT),
        fifo("out", "0_2", "0_0", OBJECT),
        map_core("0_2", "in", "out", 8, add(3)),
        """aie.trace @watched(%t0_2) {
          aie.trace.mode "Event-Time"
          aie.trace.packet id=1 type=core
          aie.trace.event<"INSTR_EVENT_0">
          aie.trace.start broadcast=15
          aie.trace.stop broadcast=14
        }""",
        in_and_out("in", "out", 16),
    )
    text = text.replace("%t0_2 = aie.tile(0, 2)", "%t0_2 = aie.logical_tile<CoreTile>(?, ?)")
    text = text.replace("aie.runtime_sequence(", "aiex.runtime_sequence(")
    traced = "aie.trace.host_config {buffer_size = 8192 : i32}\naie.trace.start_config @watched\n"
    text = text.replace("%task0 =", traced + "%task0 =", 1)
    np.testing.assert_array_equal(build(text)(iota(16), np.zeros(16, I32))[1], iota(16) + 3)


def test_a_named_chain_of_descriptors(build):
    """Started twice with other arguments: halves in turn, the second one first."""
    text = module(
        fifo("in", "0_0", "0_2", OBJECT),
        fifo("out", "0_2", "0_0", OBJECT),
        map_core("0_2", "in", "out", 8, add(0)),
        """aie.bd_chain @swapped(%m: memref<16xi32>) {
          aie.dma_bd(%m : memref<16xi32> offset = 8 len = 8)
          aie.next_bd ^second
        ^second:
          aie.dma_bd(%m : memref<16xi32> offset = 0 len = 8)
          aie.end
        }""",
        """aie.runtime_sequence(%a0: memref<16xi32>, %a1: memref<16xi32>, %a2: memref<32xi32>) {
          %x = aiex.dma_start_bd_chain_for @swapped(%a0) : (memref<16xi32>) for @in
          %y = aiex.dma_start_bd_chain_for @swapped(%a1) : (memref<16xi32>) for @in
          aiex.npu.dma_memcpy_nd(%a2[0, 0, 0, 0][1, 1, 1, 32][0, 0, 0, 1])
            {id = 5 : i64, metadata = @out} : memref<32xi32>
          aiex.npu.dma_wait {symbol = @out}
        }""",
    )
    a, b = iota(16), iota(16) + 100
    out = build(text)(a, b, np.zeros(32, I32))[2]
    np.testing.assert_array_equal(out, np.concatenate([a[8:], a[:8], b[8:], b[:8]]))


def test_a_fifo_read_as_a_stream(build):
    """aie_stream: the consumer's core takes words; nothing is kept in its memory."""
    text = module(
        fifo(
            "in", "0_0", "0_2", OBJECT, attributes="aie_stream = 1 : i32, aie_stream_port = 0 : i32"
        ),
        fifo("out", "0_2", "0_0", OBJECT),
        'func.func private @take(memref<8xi32>) attributes {link_with = "take.o"}',
        core(
            "0_2",
            "\n".join(
                [
                    acquire("out", "Produce", OBJECT),
                    "func.call @take(%out0) : (memref<8xi32>) -> ()",
                    release("out", "Produce"),
                ]
            ),
        ),
        in_and_out("in", "out", 32),
    )
    kernel = """#include <aie_api/aie.hpp>
    extern "C" void take(int *out) { for (int i = 0; i < 8; i++) out[i] = 2 * get_ss(); }"""
    design = build(text, {"take.o": kernel})
    assert "buffer in" not in design.design.network
    np.testing.assert_array_equal(design(iota(32), np.zeros(32, I32))[1], 2 * iota(32))


def test_a_memory_tile_that_counts_iterations(build):
    """iter_count: the tile's transfers end after so many objects; a new run starts them again."""
    text = module(
        fifo("whole", "0_0", "0_1", OBJECT, attributes="iter_count = 2 : i32"),
        fifo("out", "0_1", "0_0", OBJECT, attributes="iter_count = 2 : i32"),
        "aie.objectfifo.link [@whole] -> [@out]([] [])",
        in_and_out("whole", "out", 16),
    )
    np.testing.assert_array_equal(build(text)(iota(16), np.zeros(16, I32))[1], iota(16))


def test_vectors_at_odd_addresses_stop_the_run(build):
    """The array would load other bytes, so a result must not come of it."""
    text = module(
        fifo("in", "0_0", "0_2", "64xi16"),
        fifo("out", "0_2", "0_0", "64xi16"),
        'func.func private @f(memref<64xi16>, memref<64xi16>) attributes {link_with = "f.o"}',
        core(
            "0_2",
            "\n".join(
                [
                    acquire("in", "Consume", "64xi16"),
                    acquire("out", "Produce", "64xi16"),
                    "func.call @f(%in0, %out0) : (memref<64xi16>, memref<64xi16>) -> ()",
                    release("in", "Consume"),
                    release("out", "Produce"),
                ]
            ),
        ),
        in_and_out("in", "out", 64, element="i16"),
    )
    kernel = """#include <aie_api/aie.hpp>
    extern "C" void f(short *in, short *out) {
      event0();
      aie::store_v(out, aie::add(aie::load_v<16>(in + ODD), (short)1));
      aie::store_v(out + 16, aie::load_unaligned_v<16>(in + 3));
      event1();
    }"""
    x, zeros = np.arange(64, dtype=np.int16), np.zeros(64, np.int16)
    (_, out) = build(text, {"f.o": kernel.replace("ODD", "16")})(x, zeros)
    np.testing.assert_array_equal(out[:32], [*(x[16:32] + 1), *x[3:19]])
    with pytest.raises(HostRuntimeError, match="no multiple of its size"):
        build(text, {"f.o": kernel.replace("ODD", "1")})(x, zeros)


@pytest.mark.skipif(sys.platform != "linux", reason="symbols of ELF")
def test_no_datum_of_a_kernel_is_one_for_the_whole_process(tmp_path):
    """g++ makes the static data of templates unique in the process (binding 10); every core is to
    have its own."""
    try:
        tools = HostToolchain.find()
    except ToolNotFound:
        pytest.skip("no C++ compiler")
    source = tmp_path / "k.cc"
    source.write_text(
        "template <class T> int count() { static int n; return ++n; }\n"
        'extern "C" int k() { return count<int>() + count<char>(); }\n'
    )
    command = [tools.compiler.program, *tools.compiler.leading, *tools.image_flags[0]]
    command += ["-I", host.include_dir(), "-c", "k.cc", "-o", "k.o"]
    subprocess.run(command, cwd=tmp_path, check=True)
    symbols = elf.symbols((tmp_path / "k.o").read_bytes())
    assert any(s.name == "k" for s in symbols)
    assert not [s.name for s in symbols if s.binding == 10]
