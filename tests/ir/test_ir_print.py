"""Printing: names, blanks, labels, and modules made by hand."""

from __future__ import annotations

import pytest

from iron import ir
from iron.ir import I32, INDEX, Builder, IntegerAttr, Region, StringAttr


def i32(value: int) -> IntegerAttr:
    return IntegerAttr(value, I32)


def constant(b: Builder, value: int, name: str | None = None) -> ir.Value:
    op = b.create("arith.constant", [], [INDEX], {"value": IntegerAttr(value, INDEX)})
    op.result.name = name
    return op.result


def test_names_come_from_what_a_value_is() -> None:
    module = ir.module()
    b = Builder(module.body)
    device = b.create("aie.device", [], [], {"device": i32(4)}, [Region([ir.Block()])])
    with b.at(device.body):
        tiles = [
            b.create("aie.tile", [], [INDEX], {"col": i32(c), "row": i32(r)}).result
            for c, r in ((0, 0), (1, 1), (1, 3))
        ]
        b.create(
            "aie.buffer", [tiles[2]], [ir.MemRefType((4,), I32)], {"sym_name": StringAttr("in put")}
        )
        b.create("aie.lock", [tiles[2]], [INDEX])
        b.create("aie.lock", [tiles[2]], [INDEX])
        core = b.create("aie.core", [tiles[2]], [INDEX], {}, [Region([ir.Block()])])
        with b.at(core.body):
            zero, again = constant(b, 0), constant(b, 0)
            named = constant(b, 3, "three")
            minus = b.create("arith.constant", [], [I32], {"value": i32(-1)}).result
            b.create("arith.addi", [minus, minus], [I32])
            b.create("arith.muli", [zero, again], [INDEX])
            b.create("arith.constant", [], [ir.I1], {"value": ir.BoolAttr(True)})
            b.create("arith.constant", [], [ir.F32], {"value": ir.FloatAttr(0.5, ir.F32)})
            constant(b, named and 4)
            b.create("aie.end")
    assert ir.print_module(module) == (
        "module {\n"
        "  aie.device(npu1) {\n"
        "    %shim_noc_tile_0_0 = aie.tile(0, 0)\n"
        "    %mem_tile_1_1 = aie.tile(1, 1)\n"
        "    %tile_1_3 = aie.tile(1, 3)\n"
        '    %in_put = aie.buffer(%tile_1_3) {sym_name = "in put"} : memref<4xi32>\n'
        "    %lock_1_3 = aie.lock(%tile_1_3)\n"
        "    %lock_1_3_0 = aie.lock(%tile_1_3)\n"
        "    %core_1_3 = aie.core(%tile_1_3) {\n"
        "      %c0 = arith.constant 0 : index\n"
        "      %c0_1 = arith.constant 0 : index\n"
        "      %three = arith.constant 3 : index\n"
        "      %c-1_i32 = arith.constant -1 : i32\n"
        "      %0 = arith.addi %c-1_i32, %c-1_i32 : i32\n"
        "      %1 = arith.muli %c0, %c0_1 : index\n"
        "      %true = arith.constant true\n"
        "      %cst = arith.constant 0.5 : f32\n"
        "      %c4 = arith.constant 4 : index\n"
        "      aie.end\n"
        "    }\n"
        "  }\n"
        "}\n"
    )
    assert ir.equivalent(ir.parse(ir.print_module(module)), module)


def test_arguments_loops_and_labels() -> None:
    text = (
        "module {\n"
        "  func.func @f(%arg0: index, %arg1: i1) {\n"
        "    %c1 = arith.constant 1 : index\n"
        "    scf.for %arg2 = %arg0 to %arg0 step %c1 {\n"
        "      %1:2 = scf.if %arg1 -> (index, index) {\n"
        "        scf.yield %arg2, %c1 : index, index\n"
        "      } else {\n"
        "        %c1_0 = arith.constant 1 : index\n"
        "        scf.yield %c1_0, %c1 : index, index\n"
        "      }\n"
        "      %2 = arith.addi %1#0, %1#1 : index\n"
        "    }\n"
        "    cf.cond_br %arg1, ^bb1(%c1 : index), ^bb2\n"
        "  ^bb1(%0: index):\n"
        "    cf.br ^bb2\n"
        "  ^bb2:\n"
        "    func.return\n"
        "  }\n"
        "}\n"
    )
    spoiled = text.replace("%arg2", "%i").replace("^bb1", "^bb7").replace("%c1_0", "%own")
    printed = ir.print_module(ir.parse(spoiled))
    assert printed == text.replace("%arg2", "%i").replace("%c1_0", "%own")
    module = ir.parse(text)
    for op in module.walk():
        for result in op.results:
            result.name = None
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    argument.name = None
    assert ir.print_module(module) == text


def test_two_values_never_share_a_name_where_both_are_seen() -> None:
    block = ir.Block()
    b = Builder(block)
    x = [constant(b, k, "x") for k in range(4)]
    inner = Region([ir.Block([INDEX])])
    inner.entry.arguments[0].name = "x_1"
    b.create("test.op", x, [], {}, [inner])
    with b.at(inner.entry):
        b.create("test.use", [inner.entry.arguments[0], *x])
    module = ir.module()
    for op in list(block.operations):
        module.body.append(op.detach())
    text = ir.print_module(module)
    again = ir.parse(text)
    assert ir.equivalent(again, module)
    assert len({v.name for v in again.body.operations[4].operands}) == 4


def test_what_early_2026_wrote_is_printed_so_again() -> None:
    lines = [
        "aie.use_lock(%lock, AcquireGreaterEqual, 1)",
        "aie.dma_bd(%buffer : memref<8xi32>, 4, 4, "
        "[<size = 2, stride = 2>, <size = 2, stride = 1>]) {bd_id = 0 : i32}",
        "aie.dma_bd(%buffer : memref<8xi32>) {len = 4 : i32}",
        "aie.dma_bd(%buffer : memref<8xi32>, 0, 4) {pad_dimensions = "
        "#aie<bd_pad_layout_array[<const_pad_before = 1, const_pad_after = 2>]>}",
        "aie.dma_bd(%buffer : memref<8xi32> offset = 4 len = 4)",
        "aie.dma_bd(%buffer : memref<8xi32> sizes = [4] strides = [1]"
        " pad [<const_pad_before = 1, const_pad_after = 0>])",
    ]
    for line in lines:
        module = ir.parse(
            "aie.device(npu1) { %t = aie.tile(0, 2)\n%lock = aie.lock(%t)\n"
            "%buffer = aie.buffer(%t) : memref<8xi32>\n"
            f"aie.mem(%t) {{ {line}\naie.end }} }}"
        )
        assert line in [text.strip() for text in ir.print_module(module).splitlines()]


def test_the_order_of_attributes_does_not_show() -> None:
    one = ir.parse('aie.device(npu1) { %t = aie.tile(0, 2) {b = 1 : i32, a = "x", c} }')
    two = ir.parse('aie.device(npu1) { %t = aie.tile(0, 2) {c, a = "x", b = 1 : i32} }')
    assert ir.print_module(one) == ir.print_module(two)
    assert 'aie.tile(0, 2) {a = "x", b = 1 : i32, c}' in ir.print_module(one)


def test_an_operation_without_what_its_form_shows_is_an_error() -> None:
    op = ir.Operation("aie.tile", [], [INDEX], {"col": i32(1)}, location=ir.Location("d.py", 7, 1))
    with pytest.raises(ValueError, match=r"aie\.tile at d\.py:7 has no attribute 'row'"):
        ir.print_module(op)
    assert '"aie.tile"() <{col = 1 : i32}>' in ir.print_module(op, generic=True)


def test_a_region_keeps_its_empty_block() -> None:
    module = ir.parse("aie.device(npu1) { aie.runtime_sequence(%a: memref<4xi32>) { } }")
    again = ir.parse(ir.print_module(module, generic=True))
    sequence = next(op for op in again.walk() if op.name == "aie.runtime_sequence")
    assert [a.type for a in sequence.body.arguments] == [ir.MemRefType((4,), I32)]
    assert ir.equivalent(module, again)
