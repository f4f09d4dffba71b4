"""What bodies compute: element types, control flow, blocks, views, functions."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from designs import (
    acquire,
    core,
    fifo,
    in_and_out,
    loop,
    map_core,
    module,
    release,
    sequence,
    transfer,
)

I32 = np.int32


def expression(build, element: str, dtype: type, code: str, x: np.ndarray) -> np.ndarray:
    n = len(x)
    design = build(
        module(
            fifo("in", "0_0", "0_2", f"{n}x{element}"),
            fifo("out", "0_2", "0_0", f"{n}x{element}"),
            map_core("0_2", "in", "out", n, code, element=element),
            in_and_out("in", "out", n, element=element),
        )
    )
    return design(x.astype(dtype), np.zeros(n, dtype))[1]


def test_integers(build):
    rng = np.random.default_rng(1)
    x = rng.integers(-(2**31), 2**31, 64).astype(I32)
    x[:4] = [0, -1, 2**31 - 1, -(2**31)]
    code = """%k = arith.constant 7 : i32
%one = arith.constant 1 : i32
%d = arith.divsi %x, %k : i32
%m = arith.remui %x, %k : i32
%f = arith.floordivsi %x, %k : i32
%c = arith.ceildivsi %x, %k : i32
%a = arith.addi %x, %x : i32
%s = arith.shrsi %a, %one : i32
%u = arith.shrui %a, %one : i32
%lt = arith.cmpi ult, %x, %k : i32
%e = arith.extsi %lt : i1 to i32
%h = arith.trunci %x : i32 to i8
%w = arith.extui %h : i8 to i32
%max = arith.maxui %x, %k : i32
%y0 = arith.xori %d, %m : i32
%y1 = arith.muli %y0, %f : i32
%y2 = arith.subi %y1, %c : i32
%y3 = arith.addi %y2, %s : i32
%y4 = arith.xori %y3, %u : i32
%y5 = arith.addi %y4, %e : i32
%y6 = arith.addi %y5, %w : i32
%y = arith.select %lt, %max, %y6 : i32"""
    y = expression(build, "i32", I32, code, x)
    v = x.astype(np.int64)
    u = v % 2**32
    wrap = lambda a: ((np.asarray(a) + 2**31) % 2**32) - 2**31  # noqa: E731
    d = np.trunc(v / 7).astype(np.int64)
    a = wrap(2 * v)
    t = d ^ wrap(u % 7)
    t = wrap(wrap(wrap(t * (v // 7)) - -(-v // 7)) + (a >> 1))
    t = wrap(t ^ wrap((a % 2**32) >> 1))
    t = wrap(t - (u < 7) + u % 256)
    np.testing.assert_array_equal(y, np.where(u < 7, wrap(np.maximum(u, 7)), t))


@pytest.mark.parametrize(
    ("element", "dtype"),
    [("bf16", ml_dtypes.bfloat16), ("f16", np.float16), ("f32", np.float32)],
)
def test_floats(build, element, dtype):
    rng = np.random.default_rng(2)
    x = (rng.standard_normal(256) * 10).astype(np.float32).astype(dtype)
    code = f"""%k = arith.constant 1.5 : {element}
%z = arith.constant 0.0 : {element}
%a = arith.mulf %x, %k : {element}
%b = arith.addf %a, %x : {element}
%n = arith.negf %b : {element}
%p = arith.cmpf olt, %x, %z : {element}
%y = arith.select %p, %n, %b : {element}"""
    y = expression(build, element, dtype, code, x)
    b = (x * dtype(1.5)).astype(dtype) + x
    expected = np.where(x < 0, -b, b).astype(dtype)
    np.testing.assert_array_equal(y.view(np.uint8), expected.view(np.uint8))


CONVERT = """
#include "aie_api/aie.hpp"
extern "C" void convert(float *x, bfloat16 *b, iron::f16 *h, float *y) {
  for (int i = 0; i < 4096; i++) {
    b[i] = x[i];
    h[i] = x[i];
  }
  for (int i = 0; i < 4096; i++) {
    iron::f16 any;
    any.bits = (uint16_t)(16 * i + i % 16);
    y[i] = any;
  }
}
"""


def test_narrow_floats_round_to_nearest_even(build):
    n = 4096
    rng = np.random.default_rng(3)
    x = rng.integers(0, 2**32, n, dtype=np.uint64).astype(np.uint32).view(np.float32).copy()
    x[:1024] = (rng.standard_normal(1024) * np.exp(rng.uniform(-20, 12, 1024))).astype(np.float32)
    ties = np.arange(1024, 1280)
    x[ties] = (1 + (2 * np.arange(256) + 1) / 2**11).astype(np.float32)  # half of f16's last bit
    x[1280:1290] = [0.0, -0.0, np.inf, -np.inf, np.nan, 65504, 65519.99, 65520, 2.0**-25, 2.0**-24]
    design = build(
        module(
            *(fifo(name, "0_0", "0_2", f"{n}x{t}", 1) for name, t in (("x", "f32"),)),
            fifo("b", "0_2", "0_0", f"{n}xbf16", 1),
            fifo("h", "0_2", "0_0", f"{n}xf16", 1),
            fifo("y", "0_2", "0_0", f"{n}xf32", 1),
            f"func.func private @convert(memref<{n}xf32>, memref<{n}xbf16>, memref<{n}xf16>,"
            f' memref<{n}xf32>) attributes {{link_with = "convert.o"}}',
            core(
                "0_2",
                "\n".join(
                    [
                        acquire("x", "Consume", f"{n}xf32"),
                        acquire("b", "Produce", f"{n}xbf16"),
                        acquire("h", "Produce", f"{n}xf16"),
                        acquire("y", "Produce", f"{n}xf32"),
                        f"func.call @convert(%x0, %b0, %h0, %y0) : (memref<{n}xf32>,"
                        f" memref<{n}xbf16>, memref<{n}xf16>, memref<{n}xf32>) -> ()",
                        release("x", "Consume"),
                        release("b", "Produce"),
                        release("h", "Produce"),
                        release("y", "Produce"),
                    ]
                ),
            ),
            sequence(
                [f"{n}xf32", f"{n}xbf16", f"{n}xf16", f"{n}xf32"],
                transfer(0, "x", 0, n, f"{n}xf32"),
                transfer(1, "b", 1, n, f"{n}xbf16", wait=True),
                transfer(2, "h", 2, n, f"{n}xf16", wait=True),
                transfer(3, "y", 3, n, f"{n}xf32", wait=True),
                wait=[1, 2, 3],
            ),
        ),
        {"convert.o": CONVERT},
    )
    _, b, h, y = design(
        x, np.zeros(n, ml_dtypes.bfloat16), np.zeros(n, np.float16), np.zeros(n, np.float32)
    )
    number = ~np.isnan(x)
    with np.errstate(over="ignore", invalid="ignore"):
        half = x.astype(np.float16)
        brain = x.astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(b.view(np.uint16)[number], brain.view(np.uint16)[number])
    np.testing.assert_array_equal(h.view(np.uint16)[number], half.view(np.uint16)[number])
    assert np.isnan(b.astype(np.float32)[~number]).all()
    assert np.isnan(h[~number]).all()
    i = np.arange(n)
    bits = (16 * i + i % 16).astype(np.uint16).view(np.float16)
    np.testing.assert_array_equal(y, bits.astype(np.float32))


def test_control_flow(build):
    """iter_args, nested if with results, while, blocks with arguments, views, a function."""
    n = 16
    body = f"""{acquire("in", "Consume", f"4x{n // 4}xi32")}
{acquire("out", "Produce", f"{n}xi32")}
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%c3 = arith.constant 3 : index
%c4 = arith.constant 4 : index
%total = scf.for %r = %c0 to %c4 step %c1 iter_args(%sum = %zero) -> (i32) {{
  %v = memref.load %in0[%r, %c3] : memref<4x4xi32>
  %even = arith.andi %v, %one : i32
  %p = arith.cmpi eq, %even, %zero : i32
  %t = scf.if %p -> (i32) {{
    %u = arith.addi %sum, %v : i32
    scf.yield %u : i32
  }} else {{
    %u = arith.subi %sum, %v : i32
    scf.yield %u : i32
  }}
  scf.yield %t : i32
}}
// the number of halvings until the absolute total is zero, and the last value before
%steps:2 = scf.while (%a = %total, %n = %zero) : (i32, i32) -> (i32, i32) {{
  %go = arith.cmpi sgt, %a, %zero : i32
  scf.condition(%go) %n, %a : i32, i32
}} do {{
^bb0(%n: i32, %a: i32):
  %half = arith.shrsi %a, %one : i32
  %m = arith.addi %n, %one : i32
  scf.yield %half, %m : i32, i32
}}
%row = memref.subview %in0[2, 0] [1, 4] [1, 1]
  : memref<4x4xi32> to memref<1x4xi32, strided<[4, 1], offset: 8>>
%w = memref.load %row[%c0, %c1] : memref<1x4xi32, strided<[4, 1], offset: 8>>
%called = func.call @twice(%w) : (i32) -> i32
%table = memref.get_global @table : memref<3xi32>
%c2 = arith.constant 2 : index
%g = memref.load %table[%c2] : memref<3xi32>
{loop("i", n, f"memref.store %zero, %out0[%i] : memref<{n}xi32>")}
memref.store %total, %out0[%c0] : memref<{n}xi32>
memref.store %steps#0, %out0[%c1] : memref<{n}xi32>
memref.store %called, %out0[%c3] : memref<{n}xi32>
memref.store %g, %out0[%c4] : memref<{n}xi32>
{release("in", "Consume")}
{release("out", "Produce")}"""
    design = build(
        module(
            'memref.global "private" constant @table : memref<3xi32> = dense<[5, 6, -7]>',
            """func.func @twice(%a: i32) -> i32 {
  %c = arith.constant 100 : i32
  %p = arith.cmpi slt, %a, %c : i32
  cf.cond_br %p, ^small(%a : i32), ^big
^small(%s: i32):
  %d = arith.addi %s, %a : i32
  cf.br ^end(%d : i32)
^big:
  cf.br ^end(%c : i32)
^end(%r: i32):
  return %r : i32
}""",
            fifo("in", "0_0", "0_2", "4x4xi32"),
            fifo("out", "0_2", "0_0", f"{n}xi32"),
            core("0_2", body),
            in_and_out("in", "out", n * 2),
        )
    )
    x = np.arange(2 * n, dtype=I32) * 7 % 23
    x[n + 9] = 1000
    _, y = design(x, 0 * x)
    for given, made in zip(x.reshape(2, 4, 4), y.reshape(2, n), strict=True):
        last = given[:, 3]
        total = int(np.where(last % 2 == 0, last, -last).sum())
        a, steps = total, 0
        while a > 0:
            a, steps = a >> 1, steps + 1
        w = int(given[2, 1])
        assert made[:5].tolist() == [total, steps, 0, 2 * w if w < 100 else 100, -7]


def test_a_loop_of_blocks_swaps_its_arguments(build):
    """cf.br passes all arguments at once."""
    body = """%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%n = arith.constant 5 : index
%p = arith.constant 1 : i32
%q = arith.constant 2 : i32
%v = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<4xi32>>
%o = aie.objectfifo.subview.access %v[0] : !aie.objectfifosubview<memref<4xi32>> -> memref<4xi32>
cf.br ^head(%c0, %p, %q : index, i32, i32)
^head(%i: index, %a: i32, %b: i32):
%more = arith.cmpi slt, %i, %n : index
cf.cond_br %more, ^body, ^end
^body:
%j = arith.addi %i, %c1 : index
cf.br ^head(%j, %b, %a : index, i32, i32)
^end:
memref.store %a, %o[%c0] : memref<4xi32>
memref.store %b, %o[%c1] : memref<4xi32>
aie.objectfifo.release @out(Produce, 1)
aie.end"""
    design = build(
        module(
            fifo("out", "0_2", "0_0", "4xi32"),
            f"%core = aie.core(%t0_2) {{\n{body}\n}}",
            sequence(["4xi32"], transfer(0, "out", 0, 4, "4xi32", wait=True), wait=[0]),
        )
    )
    assert design(np.zeros(4, I32))[0][:2].tolist() == [2, 1]


def test_math(build):
    x = np.linspace(0.1, 3, 32).astype(np.float32)
    code = """%a = math.exp %x : f32
%b = math.sqrt %a : f32
%c = math.tanh %b : f32
%d = math.fma %a, %b, %c : f32
%y = math.absf %d : f32"""
    y = expression(build, "f32", np.float32, code, x)
    a = np.exp(x.astype(np.float64))
    np.testing.assert_allclose(y, a * np.sqrt(a) + np.tanh(np.sqrt(a)), rtol=1e-6)
