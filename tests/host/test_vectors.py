"""Vectors and affine operations in core bodies, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from designs import acquire, core, fifo, in_and_out, module, release

from iron import host, ir
from iron.host import HostError

I32, F32 = np.int32, np.float32


def design(body: str, *, n: int = 32, m: int = 32, element: str = "i32") -> str:
    """A core that has %in0 (memref<n>) and fills %out0 (memref<m>)."""
    return module(
        fifo("in", "0_0", "0_2", f"{n}x{element}"),
        fifo("out", "0_2", "0_0", f"{m}x{element}"),
        core(
            "0_2",
            "\n".join(
                [
                    acquire("in", "Consume", f"{n}x{element}"),
                    acquire("out", "Produce", f"{m}x{element}"),
                    body,
                    release("in", "Consume"),
                    release("out", "Produce"),
                ]
            ),
        ),
        in_and_out("in", "out", n, m, element),
    )


LOAD = """%a = vector.load %in0[%c0] : memref<32xi32>, vector<8xi32>
%c8 = arith.constant 8 : index
%b = vector.load %in0[%c8] : memref<32xi32>, vector<8xi32>
"""
STORE = "\nvector.store %r, %out0[%c0] : memref<32xi32>, vector<8xi32>"
X = np.arange(32, dtype=I32) * 7 % 19 - 5
A, B = X[:8], X[8:16]
CASES = {
    "add": ("%r = arith.addi %a, %b : vector<8xi32>", A + B),
    "constant": (
        "%k = arith.constant dense<[1, 2, 3, 4, 5, 6, 7, 8]> : vector<8xi32>\n"
        "%r = arith.muli %a, %k : vector<8xi32>",
        A * np.arange(1, 9),
    ),
    "splat": (
        "%k = arith.constant dense<3> : vector<8xi32>\n%r = arith.subi %a, %k : vector<8xi32>",
        A - 3,
    ),
    "broadcast": (
        "%k = vector.extract %b[2] : i32 from vector<8xi32>\n"
        "%s = vector.broadcast %k : i32 to vector<8xi32>\n"
        "%r = arith.addi %a, %s : vector<8xi32>",
        A + B[2],
    ),
    "select": (
        "%m = arith.cmpi slt, %a, %b : vector<8xi32>\n"
        "%r = arith.select %m, %a, %b : vector<8xi1>, vector<8xi32>",
        np.minimum(A, B),
    ),
    "reduction": (
        "%k = vector.reduction <add>, %a : vector<8xi32> into i32\n"
        "%r = vector.insert %k, %b[3] : i32 into vector<8xi32>",
        np.concatenate([B[:3], [A.sum()], B[4:]]),
    ),
    "shuffle": (
        "%r = vector.shuffle %a, %b [0, 8, 1, 9, 2, 10, 3, 11] : vector<8xi32>, vector<8xi32>",
        np.stack([A[:4], B[:4]], 1).ravel(),
    ),
    "transpose": (
        "%m = vector.shape_cast %a : vector<8xi32> to vector<2x4xi32>\n"
        "%t = vector.transpose %m, [1, 0] : vector<2x4xi32> to vector<4x2xi32>\n"
        "%r = vector.shape_cast %t : vector<4x2xi32> to vector<8xi32>",
        A.reshape(2, 4).T.ravel(),
    ),
    "slices": (
        "%s = vector.extract_strided_slice %a {offsets = [2], sizes = [4], strides = [1]}"
        " : vector<8xi32> to vector<4xi32>\n"
        "%r = vector.insert_strided_slice %s, %b {offsets = [1], strides = [1]}"
        " : vector<4xi32> into vector<8xi32>",
        np.concatenate([B[:1], A[2:6], B[5:]]),
    ),
    "extend": (
        "%h = arith.trunci %a : vector<8xi32> to vector<8xi8>\n"
        "%r = arith.extsi %h : vector<8xi8> to vector<8xi32>",
        A.astype(np.int8).astype(I32),
    ),
}


@pytest.fixture(scope="module")
def every_case() -> str:
    """One design for all of them: each case its own eight numbers of the output."""
    parts = [LOAD]
    for k, (code, _) in enumerate(CASES.values()):
        names = {"%r", "%k", "%s", "%m", "%t", "%h"}
        for name in names:
            code = code.replace(name + " ", f"{name}{k} ").replace(name + ",", f"{name}{k},")
            code = code.replace(name + "[", f"{name}{k}[")
        parts.append(code)
        parts.append(
            f"%o{k} = arith.constant {8 * k} : index\n"
            f"vector.store %r{k}, %out0[%o{k}] : memref<{8 * len(CASES)}xi32>, vector<8xi32>"
        )
    return design("\n".join(parts), m=8 * len(CASES))


def test_vectors(build, every_case):
    out = build(every_case)(X, np.zeros(8 * len(CASES), I32))[1].reshape(-1, 8)
    for row, (name, (_, expected)) in zip(out, CASES.items(), strict=True):
        np.testing.assert_array_equal(row, expected, err_msg=name)


def test_vectors_of_two_dimensions_in_memory(build):
    body = """%m = memref.expand_shape %in0 [[0, 1]] output_shape [4, 8]
  : memref<32xi32> into memref<4x8xi32>
%v = vector.load %m[%c1, %c1] : memref<4x8xi32>, vector<2x4xi32>
%w = arith.addi %v, %v : vector<2x4xi32>
%f = vector.shape_cast %w : vector<2x4xi32> to vector<8xi32>
vector.store %f, %out0[%c0] : memref<8xi32>, vector<8xi32>"""
    (_, out) = build(design(body, m=8))(X, np.zeros(8, I32))
    np.testing.assert_array_equal(out, 2 * X.reshape(4, 8)[1:3, 1:5].ravel())


def test_affine(build):
    """out[4 i + j] = in[(i + 2 j) mod 7] + min(i, 3), stored through maps."""
    body = """affine.for %i = 0 to 8 {
  affine.for %j = 0 to 4 step 2 {
    %k = affine.apply affine_map<(d0, d1) -> ((d0 + d1 * 2) mod 7)>(%i, %j)
    %x = affine.load %in0[%k] : memref<32xi32>
    %n = affine.min affine_map<(d0) -> (d0, 3)>(%i)
    %o = arith.index_cast %n : index to i32
    %y = arith.addi %x, %o : i32
    affine.store %y, %out0[%i * 4 + %j] : memref<32xi32>
    %h = affine.apply affine_map<(d0)[s0] -> (d0 floordiv 2 - s0)>(%i)[%j]
    %hi = arith.index_cast %h : index to i32
    affine.store %hi, %out0[%i * 4 + %j + 1] : memref<32xi32>
  }
}"""
    expected = np.zeros(32, I32)
    for i in range(8):
        for j in (0, 2):
            expected[4 * i + j] = X[(i + 2 * j) % 7] + min(i, 3)
            expected[4 * i + j + 1] = i // 2 - j
    (_, out) = build(design(body))(X, np.zeros(32, I32))
    np.testing.assert_array_equal(out, expected)


def test_affine_loops_carry_values(build):
    body = """%zero = arith.constant 0 : i32
%sum = affine.for %i = 0 to 32 iter_args(%s = %zero) -> (i32) {
  %x = affine.load %in0[%i] : memref<32xi32>
  %t = arith.addi %s, %x : i32
  affine.yield %t : i32
}
memref.store %sum, %out0[%c0] : memref<1xi32>"""
    (_, out) = build(design(body, m=1))(X, np.zeros(1, I32))
    assert out[0] == X.sum()


def test_what_vectors_cannot_do():
    for body, reason in (
        (
            "%z = arith.constant 0 : i32\n%v = vector.transfer_read %in0[%iteration], %z"
            " : memref<32xi32>, vector<7xi32>",
            "may reach beyond",
        ),
        (
            "%v = arith.constant dense<1> : vector<4xi32>\nvector.print %v : vector<4xi32>",
            "does not run this operation",
        ),
    ):
        with pytest.raises(HostError, match=reason):
            host.lower(ir.parse(design(body), "d.mlir"))


def test_contraction(build):
    """A matrix product of vectors, and a dot product into a number."""
    body = """%a0 = vector.load %in0[%c0] : memref<32xi32>, vector<12xi32>
%c12 = arith.constant 12 : index
%b0 = vector.load %in0[%c12] : memref<32xi32>, vector<8xi32>
%a = vector.shape_cast %a0 : vector<12xi32> to vector<3x4xi32>
%b = vector.shape_cast %b0 : vector<8xi32> to vector<4x2xi32>
%k = arith.constant dense<5> : vector<3x2xi32>
%m = vector.contract {
  indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
                   affine_map<(i, j, k) -> (i, j)>],
  iterator_types = ["parallel", "parallel", "reduction"]}
  %a, %b, %k : vector<3x4xi32>, vector<4x2xi32> into vector<3x2xi32>
%f = vector.shape_cast %m : vector<3x2xi32> to vector<6xi32>
vector.store %f, %out0[%c0] : memref<8xi32>, vector<6xi32>
%z = arith.constant 100 : i32
%s = vector.contract {
  indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
  iterator_types = ["reduction"], kind = #vector.kind<maxsi>}
  %b0, %b0, %z : vector<8xi32>, vector<8xi32> into i32
%c6 = arith.constant 6 : index
memref.store %s, %out0[%c6] : memref<8xi32>"""
    (_, out) = build(design(body, m=8))(X, np.zeros(8, I32))
    product = X[:12].reshape(3, 4) @ X[12:20].reshape(4, 2) + 5
    np.testing.assert_array_equal(out[:6], product.ravel())
    assert out[6] == max(100, (X[12:20] ** 2).max())


def test_reduction_of_dimensions(build):
    body = """%a0 = vector.load %in0[%c0] : memref<32xi32>, vector<24xi32>
%a = vector.shape_cast %a0 : vector<24xi32> to vector<2x3x4xi32>
%k = arith.constant dense<[1, 2, 3]> : vector<3xi32>
%r = vector.multi_reduction <add>, %a, %k [0, 2] : vector<2x3x4xi32> to vector<3xi32>
vector.store %r, %out0[%c0] : memref<8xi32>, vector<3xi32>
%z = arith.constant 7 : i32
%m = vector.multi_reduction <minsi>, %a, %z [0, 1, 2] : vector<2x3x4xi32> to i32
%c3 = arith.constant 3 : index
memref.store %m, %out0[%c3] : memref<8xi32>"""
    (_, out) = build(design(body, m=8))(X, np.zeros(8, I32))
    cube = X[:24].reshape(2, 3, 4)
    np.testing.assert_array_equal(out[:3], cube.sum((0, 2)) + np.arange(1, 4))
    assert out[3] == min(7, cube.min())


def test_masks(build):
    """What a mask leaves out is neither read nor written: here it lies beyond the memory."""
    body = """%c5 = arith.constant 5 : index
%c28 = arith.constant 28 : index
%few = vector.create_mask %c5 : vector<8xi1>
%four = vector.constant_mask [4] : vector<8xi1>
%other = arith.constant dense<[-1, -2, -3, -4, -5, -6, -7, -8]> : vector<8xi32>
%a = vector.maskedload %in0[%c28], %four, %other
  : memref<32xi32>, vector<8xi1>, vector<8xi32> into vector<8xi32>
vector.maskedstore %out0[%c0], %few, %a : memref<32xi32>, vector<8xi1>, vector<8xi32>
%pad = arith.constant 9 : i32
%b = vector.transfer_read %in0[%c28], %pad, %four : memref<32xi32>, vector<8xi32>
%c8 = arith.constant 8 : index
vector.store %b, %out0[%c8] : memref<32xi32>, vector<8xi32>
vector.transfer_write %b, %out0[%c28], %four : vector<8xi32>, memref<32xi32>"""
    (_, out) = build(design(body))(X, np.zeros(32, I32))
    expected = np.zeros(32, I32)
    expected[:5] = [*X[28:], -5]
    expected[8:16] = [*X[28:], 9, 9, 9, 9]
    expected[28:] = X[28:]
    np.testing.assert_array_equal(out, expected)


def test_steps_that_the_type_does_not_say(build):
    """Views whose strides are values: every second column of a 4 x 8 matrix, from row 1 on."""
    body = """%c2 = arith.constant 2 : index
%c3 = arith.constant 3 : index
%c4 = arith.constant 4 : index
%c8 = arith.constant 8 : index
%n = arith.addi %c4, %c4 : index
%m = memref.reinterpret_cast %in0 to offset: [0], sizes: [4, 8], strides: [%n, 1]
  : memref<32xi32> to memref<4x8xi32, strided<[?, 1]>>
%v = memref.subview %m[%c1, %c1][3, 4][1, %c2]
  : memref<4x8xi32, strided<[?, 1]>> to memref<3x4xi32, strided<[?, ?], offset: ?>>
%d = memref.cast %v : memref<3x4xi32, strided<[?, ?], offset: ?>>
  to memref<?x?xi32, strided<[?, ?], offset: ?>>
scf.for %i = %c0 to %c3 step %c1 {
  scf.for %j = %c0 to %c4 step %c1 {
    %x = memref.load %d[%i, %j] : memref<?x?xi32, strided<[?, ?], offset: ?>>
    %r = arith.muli %i, %c4 : index
    %o = arith.addi %r, %j : index
    memref.store %x, %out0[%o] : memref<12xi32>
  }
}"""
    (_, out) = build(design(body, m=12))(X, np.zeros(12, I32))
    np.testing.assert_array_equal(out, X.reshape(4, 8)[1:, 1::2].ravel())
