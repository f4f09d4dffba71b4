"""Writes of the sequence into memory and locks of tiles; registers are refused by name.

Semantics: mlir-aie's AIEX dialect (npu.write32, maskwrite32, blockwrite) and getAbsoluteAddress:
words of a named buffer, bytes of a tile's address space.
"""

from __future__ import annotations

import numpy as np
import pytest
from designs import module

from iron import host, ir
from iron.host import HostError

CORE = """
%first = aie.buffer(%t0_2) {sym_name = "first"} : memref<8xi32>
%small = aie.buffer(%t0_2) {sym_name = "small"} : memref<8xi16>
%go = aie.lock(%t0_2, 3) {init = 0 : i32}
%done = aie.lock(%t0_2, 4) {init = 0 : i32}
aie.flow(%t0_2, DMA : 0, %t0_0, DMA : 0)
aie.shim_dma_allocation @out(%t0_0, S2MM, 0)
%core = aie.core(%t0_2) {
  %c1 = arith.constant 1 : i32
  aie.use_lock(%go, AcquireGreaterEqual, %c1)
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %i8 = arith.constant 8 : index
  scf.for %i = %i0 to %i8 step %i1 {
    %a = memref.load %first[%i] : memref<8xi32>
    %b = memref.load %small[%i] : memref<8xi16>
    %w = arith.extsi %b : i16 to i32
    %s = arith.addi %a, %w : i32
    memref.store %s, %first[%i] : memref<8xi32>
  }
  aie.use_lock(%done, Release, %c1)
  aie.end
}
%mem = aie.mem(%t0_2) {
  %d = aie.dma_start(MM2S, 0, ^bd, ^end)
^bd:
  %c1 = arith.constant 1 : i32
  aie.use_lock(%done, AcquireGreaterEqual, %c1)
  aie.dma_bd(%first : memref<8xi32> offset = 0 len = 8)
  aie.next_bd ^end
^end:
  aie.end
}
memref.global "private" @four : memref<4xi32> = dense<[10, 20, 30, 40]>
"""
GO = "aiex.npu.write32(%lock, %one) {column = 0 : i32, row = 2 : i32} : i32, i32"


def text(*writes: str) -> str:
    numbers = {"one": 1, "two": 2, "five": 5, "x": 0x12345678, "m": 0xF0F0F0F0, "lock": 0x1F030,
               "at": 1024, "register": 0x32038}  # fmt: skip
    constants = "\n".join(f"%{n} = arith.constant {v} : i32" for n, v in numbers.items())
    body = "\n".join(writes)
    return module(
        CORE,
        f"""aie.runtime_sequence(%arg0: memref<8xi32>) {{
          {constants}
          {body}
          {GO}
          aiex.npu.dma_memcpy_nd(%arg0[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1])
            {{id = 0 : i64, metadata = @out}} : memref<8xi32>
          aiex.npu.dma_wait {{symbol = @out}}
        }}""",
    )


def test_words_of_named_buffers(build):
    """The two halves of a word of 16 bit elements; a block of a global; single bits of a mask."""
    run = build(
        text(
            "aiex.npu.write32(%two, %x) {buffer = @small} : i32, i32",
            "%g = memref.get_global @four : memref<4xi32>",
            "aiex.npu.blockwrite(%g) {buffer = @first, address = 2 : ui32} : memref<4xi32>",
            "aiex.npu.write32(%five, %one) {buffer = @first} : i32, i32",
            "aiex.npu.maskwrite32(%two, %x, %m) {buffer = @first} : i32, i32, i32",
        )
    )
    (out,) = run(np.zeros(8, np.int32))
    first = np.array([0, 0, (10 & ~0xF0F0F0F0) | (0x12345678 & 0xF0F0F0F0), 20, 30, 1, 0, 0])
    small = np.zeros(8, np.int64)
    small[4:6] = [0x5678, 0x1234]
    np.testing.assert_array_equal(out, first + small)


def test_bytes_of_a_tile(build):
    """The largest buffer lies after the stack; the value of lock 3 starts the core."""
    (out,) = build(text("aiex.npu.write32(%at, %x) {column = 0 : i32, row = 2 : i32} : i32, i32"))(
        np.zeros(8, np.int32)
    )
    np.testing.assert_array_equal(out, [0x12345678, 0, 0, 0, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (
            "aiex.npu.maskwrite32(%register, %one, %one) {column = 0 : i32, row = 2 : i32}"
            " : i32, i32, i32",
            "aiex.npu.maskwrite32: writes registers of the device",
        ),
        ("aiex.npu.write32(%at, %one) : i32, i32", "aiex.npu.write32: writes registers"),
        (
            "aiex.npu.write32(%at, %one) {column = 3 : i32, row = 2 : i32} : i32, i32",
            r"the design has no tile \(3,2\)",
        ),
        (
            "aiex.npu.write32(%five, %one) {buffer = @small} : i32, i32",
            "word 5 lies outside @small of 16 bytes",
        ),
        (
            "aiex.npu.write32(%five, %one) {buffer = @none} : i32, i32",
            "there is no aie.buffer @none",
        ),
    ],
)
def test_what_is_no_memory_is_refused(write: str, message: str):
    with pytest.raises(HostError, match=message):
        host.lower(ir.parse(text(write), "design.mlir"))
