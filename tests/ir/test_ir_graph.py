"""Equivalence, dominance and symbols on modules made by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iron import ir
from iron.ir import I1, I32, Block, Builder, IntegerAttr, Operation, Region, VerifyError
from iron.ir.dominance import dominator_tree

CONSTANT = {"value": IntegerAttr(1, I32)}


def test_the_same_values_in_other_places_differ() -> None:
    buffer, number = ir.Value(ir.MemRefType((4,), I32)), ir.Value(I32)
    at = Operation("aie.dma_bd", [buffer, number], segments=(1, 1, 0, 0, 0))
    long = Operation("aie.dma_bd", [buffer, number], segments=(1, 0, 1, 0, 0))
    assert not ir.equivalent(at, long)
    assert ir.equivalent(at, Operation("aie.dma_bd", [buffer, number], segments=(1, 1, 0, 0, 0)))
    one = Operation("test.op", [number, number])
    two = Operation("test.op", [number, ir.Value(I32)])
    assert not ir.equivalent(one, two)
    assert not ir.equivalent(two, one)


def test_zero_has_a_sign_and_nan_equals_itself() -> None:
    def op(value: float) -> Operation:
        return Operation("test.op", [], [], {"v": ir.FloatAttr(value, ir.F32)})

    assert not ir.equivalent(op(0.0), op(-0.0))
    assert ir.equivalent(op(float("nan")), op(float("nan")))


def test_what_is_implied_is_there_after_reading() -> None:
    module = ir.parse("aie.device(npu1) { }\nfunc.func @f(%c: i1) { scf.if %c { }\nfunc.return }")
    device, function = module.body.operations
    assert [op.name for op in device.body.operations] == ["aie.end"]
    branch = function.body.operations[0]
    assert [op.name for op in branch.regions[0].entry.operations] == ["scf.yield"]
    assert branch.regions[1].blocks == []
    bare = Operation("aie.device", [], [], device.attributes, [Region([Block()])])
    assert ir.equivalent(bare, device)
    assert '"aie.device"() <{device = 4 : i32}>' in ir.print_module(bare, generic=True)


def test_values_of_a_region_end_with_it() -> None:
    module = ir.module()
    b = Builder(module.body)
    condition = b.create("arith.constant", [], [I1], {"value": ir.BoolAttr(True)}).result
    inside = Region([Block()])
    b.create("scf.if", [condition], [], {}, [inside, Region()])
    with b.at(inside.entry):
        value = b.create("arith.constant", [], [I32], CONSTANT).result
        b.create("scf.yield")
    b.create("arith.addi", [value, value], [I32])
    with pytest.raises(VerifyError, match="operand 'lhs' is the result"):
        ir.verify(module)


def test_arrays_of_arrays_of_records_in_the_generic_form() -> None:
    layout = ir.StructAttr("aie.bd_dim_layout", (("size", 2), ("stride", 1)))
    value = ir.ArrayAttr((ir.ArrayAttr((layout,)), ir.ArrayAttr(())))
    op = Operation("aie.objectfifo", [], [], {"dimensionsFromStreamPerConsumer": value})
    op.segments = (0, 0)
    text = ir.print_module(op, generic=True)
    assert "#aie<bd_dim_layout_array_array[[<size = 2, stride = 1>], []]>" in text


def test_hex_digits_in_dense_elements_are_no_shape() -> None:
    module = ir.parse('"test.d"() {v = dense<0xff> : tensor<1xi32>} : () -> ()')
    value = module.body.operations[0].attributes["v"]
    assert isinstance(value, ir.DenseElementsAttr)
    assert value.values == (255,)


def test_symbols() -> None:
    module = ir.parse(
        "aie.device(npu1) @d { %t = aie.tile(0, 2)\n"
        '%b = aie.buffer(%t) {sym_name = "b"} : memref<4xi32>\n'
        "aie.runtime_sequence() { aiex.npu.rtp_write(@b, 0, 1) } }\n"
        "aie.device(npu1) { }"
    )
    write = next(op for op in module.walk() if op.name == "aiex.npu.rtp_write")
    first, second = module.body.operations
    buffer = ir.find_symbol(write, "b")
    assert buffer is not None
    assert buffer.name == "aie.buffer"
    assert ir.find_symbol(module, ir.SymbolRefAttr(("d", "sequence"))) is write.parent
    assert ir.find_symbol(write, "d") is first
    assert ir.find_symbol(write, "main") is second
    assert ir.find_symbol(module, "b") is None


@settings(deadline=None, max_examples=80)
@given(st.lists(st.lists(st.integers(0, 7), max_size=3), min_size=1, max_size=8))
def test_dominators(edges: list[list[int]]) -> None:
    """A block dominates another when no way from the entry avoids it."""
    blocks = [Block() for _ in edges]
    region = Region(blocks)
    for block, targets in zip(blocks, edges, strict=True):
        known = [blocks[t] for t in targets if t < len(blocks)]
        block.append(Operation("test.jump", successors=known))

    def reached(without: Block | None) -> set[Block]:
        seen: set[Block] = set()
        stack = [blocks[0]] if blocks[0] is not without else []
        while stack:
            block = stack.pop()
            if block not in seen:
                seen.add(block)
                stack += [t for t, _ in block.operations[0].successors if t is not without]
        return seen

    children, unreachable = dominator_tree(region)
    everything = reached(None)
    assert set(unreachable) == set(blocks) - everything

    def below(block: Block) -> set[Block]:
        return {block}.union(*(below(c) for c in children.get(block, [])))

    for block in everything:
        assert below(block) == everything - reached(block)
