"""The verifier: each rule is broken once, and says the operation, the part and the expectation."""

from __future__ import annotations

import pytest
from ir_texts import FIFO_DESIGN

from iron import ir
from iron.ir import I32, INDEX, IntegerAttr, Region, VerifyError


def faults(text: str) -> list[str]:
    try:
        ir.verify(ir.parse(text, "f"))
    except VerifyError as e:
        return [f"{x.operation}: {x.message}" for x in e.faults]
    return []


def device(body: str, name: str = "npu1") -> str:
    return f"aie.device({name}) {{\n{body}\n}}"


def core(body: str, before: str = "") -> str:
    return device(f"%t = aie.tile(0, 2)\n{before}\naie.core(%t) {{\n{body}\naie.end }}")


def function(body: str, arguments: str = "%i: i32, %x: index, %f: f32, %c: i1") -> str:
    return f"func.func @f({arguments}) {{\n{body}\nfunc.return }}"


def fifo(rest: str, tile: str = "%m") -> str:
    return device(
        "%s = aie.tile(0, 0)\n%m = aie.tile(0, 1)\n%a = aie.tile(0, 2)\n%b = aie.tile(0, 3)\n"
        f"aie.objectfifo @in(%s, {{{tile}}}, 2 : i32) : !aie.objectfifo<memref<64xi32>>\n{rest}"
    )


def memory(body: str, before: str = "", dma: str = "mem", row: int = 2) -> str:
    return device(
        f"%t = aie.tile(0, {row})\n%b = aie.buffer(%t) : memref<16xi32>\n%l = aie.lock(%t)\n"
        f"{before}\naie.{dma}(%t) {{\n{body}\n}}"
    )


MEMREF = "%m: memref<4x8xi32>, %x: index, %i: i32"

WRONG = {
    # numbers and types
    "constant type": (
        '%0 = "arith.constant"() {value = 1 : i64} : () -> i32',
        "arith.constant: attribute 'value' is 1, of type i64, the result is of type i32",
    ),
    "constant range": (
        "%0 = arith.constant 300 : i8",
        "attribute 'value' is 300, which does not fit i8",
    ),
    "float for int": (
        function('%0 = "arith.addi"(%f, %f) : (f32, f32) -> f32'),
        "result 'result' is of type f32, an integer, index or a vector of them is expected",
    ),
    "mixed types": (
        function('%0 = "arith.addi"(%i, %x) : (i32, index) -> i32'),
        "operand 'rhs' is of type index, i32 is expected",
    ),
    "comparison type": (
        function('%0 = "arith.cmpi"(%i, %i) {predicate = 0 : i64} : (i32, i32) -> i32'),
        "result 'result' is of type i32, i1 is expected",
    ),
    "predicate": (
        function('%0 = "arith.cmpi"(%i, %i) {predicate = 77 : i64} : (i32, i32) -> i1'),
        "attribute 'predicate' is 77, CmpIPredicate",
    ),
    "narrowing": (
        function("%0 = arith.extsi %i : i32 to i16"),
        "casts i32 to i16, a wider type is expected",
    ),
    "widening": (
        function("%0 = arith.trunci %i : i32 to i32"),
        "casts i32 to i32, a narrower type is expected",
    ),
    "index cast": (
        function("%0 = arith.index_cast %i : i32 to i64"),
        "casts i32 to i64: one of them must be index",
    ),
    "bitcast": (function("%0 = arith.bitcast %f : f32 to i16"), "which differs in width"),
    "operand count": (
        function('%0 = "arith.addi"(%i) : (i32) -> i32'),
        "arith.addi takes 2 operands, it has 1",
    ),
    "result count": (
        function('%0:2 = "arith.addi"(%i, %i) : (i32, i32) -> (i32, i32)'),
        "has 2 results, 1 are expected",
    ),
    # memory
    "indices": (function("%0 = memref.load %m[%x] : memref<4x8xi32>", MEMREF), "takes 2"),
    "stored type": (
        function(
            '"memref.store"(%x, %m, %x, %x) : (index, memref<4x8xi32>, index, index) -> ()', MEMREF
        ),
        "operand 'value' is of type index, i32 is expected",
    ),
    "subview rank": (
        function("%0 = memref.subview %m[0] [4] [1] : memref<4x8xi32> to memref<4x8xi32>", MEMREF),
        "1 offsets are given, memref<4x8xi32> has rank 2",
    ),
    "collapse": (
        function(
            "%0 = memref.collapse_shape %m [[0, 1]] : memref<4x8xi32> into memref<31xi32>", MEMREF
        ),
        "the number or type of elements differs",
    ),
    "open sizes": (
        function("%0 = memref.alloc() : memref<?xi32>"),
        "0 'dynamicSizes' are given, memref<?xi32> leaves 1 open",
    ),
    "global contents": (
        "memref.global @g : memref<2xi32> = dense<1> : tensor<3xi32>".replace(
            " : tensor<3xi32>", ""
        )
        + "\nfunc.func @f() { %0 = memref.get_global @g : memref<3xi32>\nfunc.return }",
        "result is of type memref<3xi32>, @g at f:1 is memref<2xi32>",
    ),
    # functions and control flow
    "unknown callee": (
        function("func.call @nobody() : () -> ()"),
        "func.call: attribute 'callee' refers to @nobody, which is not defined",
    ),
    "callee of another kind": (
        "memref.global @g : memref<2xi32>\n" + function("func.call @g() : () -> ()"),
        "which is memref.global at f:1, func.func is expected",
    ),
    "call types": (
        "func.func private @g(i32)\n" + function("func.call @g(%f) : (f32) -> ()"),
        "calls @g with (f32) -> (), func.func at f:1 is (i32) -> ()",
    ),
    "return types": (
        "func.func @g() -> i32 { func.return }",
        "returns (), @g at f:1 is () -> i32",
    ),
    "public declaration": ("func.func @g()", "@g has no body: a declaration must be private"),
    "two symbols": (
        "func.func private @g()\nfunc.func private @g()",
        "symbol @g is already defined at f:1",
    ),
    "yield": (
        function("%0 = scf.if %c -> i32 { scf.yield %f : f32 } else { scf.yield %i : i32 }"),
        "yields (f32), scf.if has results (i32)",
    ),
    "no else": (
        function('%0 = "scf.if"(%c) ({ scf.yield %i : i32 }, {}) : (i1) -> i32'),
        "has results (i32) but no else region",
    ),
    "carried": (
        function(
            "%0 = scf.for %k = %x to %x step %x iter_args(%a = %i) -> (i32) { scf.yield %f : f32 }"
        ),
        "yields (f32), scf.for has results (i32)",
    ),
    "branch values": (
        "func.func @g(%i: i32) { cf.br ^a(%i : i32)\n^a(%f: f32):\nfunc.return }",
        "gives (i32) to ^a, which takes (f32)",
    ),
    "no terminator": ("func.func @g() { %0 = arith.constant 1 : i32 }", "which does not end it"),
    "after the end": (
        "func.func @g() { func.return\nfunc.return }",
        "ends a block, but operations follow it",
    ),
    # visibility
    "later": (
        function("%a = arith.addi %b, %i : i32\n%b = arith.addi %i, %i : i32"),
        "operand 'lhs' is the result of arith.addi at f:3, which comes after this operation",
    ),
    "other way": (
        "func.func @g(%c: i1) -> i32 { cf.cond_br %c, ^a, ^b\n^a:\n%v = arith.constant 1 : i32\n"
        "cf.br ^b\n^b:\nfunc.return %v : i32 }",
        "operand 'operands'[0] is the result of arith.constant at f:3, which does not reach",
    ),
    # the array
    "column": (
        device("%t = aie.tile(4, 2)"),
        "aie.tile: attribute 'col' is 4, npu1 has columns 0 to 3",
    ),
    "row": (
        device("%t = aie.tile(0, 6)", "npu2"),
        "attribute 'row' is 6, npu2 has rows 0 to 5",
    ),
    "negative": (device("%t = aie.tile(-1, 2)"), "attribute 'col' is -1, at least 0 is expected"),
    "no tile": (
        device("%c = arith.constant 1 : index\n%l = aie.lock(%c)"),
        "operand 'tile' is arith.constant, a tile is expected",
    ),
    "core on shim": (
        device("%t = aie.tile(0, 0)\naie.core(%t) { aie.end }"),
        "stands on tile (0, 0), a shim tile, a compute tile is expected",
    ),
    "two cores": (
        device("%t = aie.tile(0, 2)\naie.core(%t) { aie.end }\naie.core(%t) { aie.end }"),
        "tile (0, 2), a compute tile, already has one at f:3",
    ),
    "lock number": (
        device("%t = aie.tile(0, 2)\n%l = aie.lock(%t, 16)"),
        "attribute 'lockID' is 16, tile (0, 2), a compute tile, has locks 0 to 15",
    ),
    "kind of logical tile": (
        device("%t = aie.logical_tile<CoreTile>(0, 1)"),
        "is a memory tile, a compute tile is asked for",
    ),
    "buffer on shim": (
        device("%t = aie.tile(0, 0)\n%b = aie.buffer(%t) : memref<4xi32>"),
        "stands on tile (0, 0), a shim tile,",
    ),
    "out of reach": (
        core(
            "%c = arith.constant 0 : index\n%0 = memref.load %b[%c] : memref<4xi32>",
            "%u = aie.tile(2, 2)\n%b = aie.buffer(%u) : memref<4xi32>",
        ),
        "operand 'memref' is aie.buffer at f:4 on tile (2, 2), a compute tile, which the core of "
        "tile (0, 2) does not reach",
    ),
    "lock outside": (
        device("%t = aie.tile(0, 2)\n%l = aie.lock(%t)\naie.use_lock(%l, Release, 1)"),
        "stands outside of a core, a function and a DMA",
    ),
    "cascade": (
        device("%a = aie.tile(0, 2)\n%b = aie.tile(0, 3)\naie.cascade_flow(%a, %b)"),
        "goes from tile (0, 2) to (0, 3): a cascade goes one tile to the east or to the south",
    ),
    "packet without end": (
        device("%t = aie.tile(0, 0)\naie.packet_flow(1) { aie.packet_source<%t, DMA : 0> }"),
        "has no aie.packet_dest",
    ),
    "place": (
        device("%t = aie.tile(0, 2)\n%a = aie.amsel<0> (0)"),
        "stands in aie.device, aie.switchbox is expected",
    ),
    # DMAs
    "channel": (
        memory("%0 = aie.dma_start(S2MM, 2, ^a, ^a)\n^a: aie.end"),
        "uses channel 2, tile (0, 2), a compute tile, has 2 S2MM channels",
    ),
    "two descriptors": (
        memory("aie.dma_bd(%b : memref<16xi32>)\naie.dma_bd(%b : memref<16xi32>)\naie.end"),
        "is the second of its block, one is expected",
    ),
    "two releases": (
        memory(
            "aie.use_lock(%l, Release, 1)\naie.dma_bd(%b : memref<16xi32>)\n"
            "aie.use_lock(%l, Release, 1)\naie.end"
        ),
        "releases a second lock around one buffer descriptor",
    ),
    "descriptor number": (
        memory("aie.dma_bd(%b : memref<16xi32>) {bd_id = 16 : i32}\naie.end"),
        "attribute 'bd_id' is 16, tile (0, 2), a compute tile, has 0 to 15",
    ),
    "dimensions": (
        memory(
            "aie.dma_bd(%b : memref<16xi32> sizes = [1, 1, 1, 4] strides = [1, 1, 1, 1])\naie.end"
        ),
        "has 4 dimensions, tile (0, 2), a compute tile, takes 3",
    ),
    "sizes and strides": (
        memory("aie.dma_bd(%b : memref<16xi32> sizes = [1, 4] strides = [1])\naie.end"),
        "has 2 sizes and 1 strides",
    ),
    "beyond the buffer": (
        memory("aie.dma_bd(%b : memref<16xi32> sizes = [4, 5] strides = [4, 1])\naie.end"),
        "reaches element 16 from its offset, memref<16xi32> has 16 elements",
    ),
    "beyond, early 2026": (
        memory("aie.dma_bd(%b : memref<16xi32>, 0, 16, [<size = 17, stride = 1>])\naie.end"),
        "reaches element 16 from its offset",
    ),
    "half words": (
        memory(
            "aie.dma_bd(%n : memref<6xi8> len = 6)\naie.end",
            "%n = aie.buffer(%t) : memref<6xi8>",
        ),
        "moves 6 bytes, a multiple of 4 is expected",
    ),
    "padding": (
        memory(
            "aie.dma_bd(%b : memref<16xi32> sizes = [4] strides = [1] "
            "pad [<const_pad_before = 1, const_pad_after = 0>])\naie.end"
        ),
        "pads on tile (0, 2), a compute tile, a memory tile is expected",
    ),
    "packet": (
        memory(
            "aie.dma_bd(%b : memref<16xi32>) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 32>}"
            "\naie.end"
        ),
        "attribute 'packet' has pkt_id 32, 0 to 31 is expected",
    ),
    "foreign buffer": (
        memory(
            "aie.dma_bd(%far : memref<16xi32>)\naie.end",
            "%u = aie.tile(0, 3)\n%far = aie.buffer(%u) : memref<16xi32>",
        ),
        "can only move buffers of its tile",
    ),
    "foreign lock": (
        memory(
            "aie.use_lock(%far, Acquire, 1)\naie.dma_bd(%b : memref<16xi32>)\naie.end",
            "%u = aie.tile(0, 3)\n%far = aie.lock(%u)",
        ),
        "can only use locks of its tile",
    ),
    "end of a dma block": (
        memory("cf.br ^a\n^a: aie.end"),
        "ends a block of aie.mem, aie.next_bd, aie.dma_start, aie.end is expected",
    ),
    # ObjectFifos
    "depths": (
        fifo("").replace("2 : i32", "[2 : i32]"),
        "has 1 depths, one for the producer and one for each of 1 consumers is expected",
    ),
    "layout at a shim": (
        fifo("").replace("%s, {", "%s dimensionsToStream [<size = 64, stride = 1>], {"),
        "attribute 'dimensionsToStream' cannot be used with a producer on tile (0, 0)",
    ),
    "contents": (
        fifo(
            "aie.objectfifo @c(%a, {%b}, 2 : i32) : !aie.objectfifo<memref<2xi32>> = [dense<1> : "
            "memref<2xi32>]"
        ),
        "has 1 entries, the producer has 2 objects",
    ),
    "unequal objects": (
        fifo("").replace("<64xi32>>", "<64xi32>> -> !aie.objectfifo<memref<7xi32>>"),
        "an object of 64 elements is no multiple of 7",
    ),
    "element type": (
        fifo("").replace("!aie.objectfifo<memref<64xi32>>", "i32"),
        "attribute 'elemType' is i32, !aie.objectfifo<memref<...>> is expected",
    ),
    "link without a tile": (
        fifo(
            "aie.objectfifo @out(%a, {%b}, 2 : i32) : !aie.objectfifo<memref<64xi32>>\n"
            "aie.objectfifo.link [@in] -> [@out] ([] [])"
        ),
        "@in and @out have no tile where the first end and the second begin",
    ),
    "offsets": (
        fifo(
            "aie.objectfifo @o(%m, {%a}, 2 : i32) : !aie.objectfifo<memref<32xi32>>\n"
            "aie.objectfifo @p(%m, {%b}, 2 : i32) : !aie.objectfifo<memref<32xi32>>\n"
            "aie.objectfifo.link [@in] -> [@o, @p] ([] [0])"
        ),
        "attribute 'dst_offsets' has 1 offsets, 2 are expected",
    ),
    "unknown fifo": (
        fifo("aie.objectfifo.link [@in] -> [@none] ([] [])"),
        "attribute 'fifoOuts' refers to @none, which is not defined",
    ),
    "wrong end": (
        fifo(
            "aie.core(%a) { %0 = aie.objectfifo.acquire @in(Consume, 1) : "
            "!aie.objectfifosubview<memref<64xi32>>\naie.end }"
        ),
        "the core of tile (0, 2), a compute tile consumes from @in, whose Consume end is "
        "tile (0, 1), a memory tile (f:6)",
    ),
    "too many": (
        fifo(
            "aie.core(%a) { %0 = aie.objectfifo.acquire @in(Consume, 4) : "
            "!aie.objectfifosubview<memref<64xi32>>\naie.end }",
            "%a",
        ).replace("2 : i32", "[2 : i32, 3 : i32]"),
        "attribute 'size' is 4, @in at f:6 has 3 objects there",
    ),
    "none": (
        fifo("aie.core(%a) { aie.objectfifo.release @in(Consume, 0)\naie.end }", "%a"),
        "attribute 'size' is 0, at least 1 is expected",
    ),
    "carried type": (
        fifo(
            "aie.core(%a) { %0 = aie.objectfifo.acquire @in(Consume, 1) : "
            "!aie.objectfifosubview<memref<8xi32>>\naie.end }",
            "%a",
        ),
        "@in at f:6 carries memref<64xi32>",
    ),
    "index of an object": (
        fifo(
            "aie.core(%a) { %0 = aie.objectfifo.acquire @in(Consume, 1) : "
            "!aie.objectfifosubview<memref<64xi32>>\n%1 = aie.objectfifo.subview.access %0[1] : "
            "!aie.objectfifosubview<memref<64xi32>> -> memref<64xi32>\naie.end }",
            "%a",
        ),
        "attribute 'index' is 1, 1 are acquired at f:7",
    ),
    # sequences
    "unknown allocation": (
        device("aie.runtime_sequence() { %0 = aiex.dma_configure_task_for @none { aie.end } }"),
        "attribute 'alloc' refers to @none, which is not defined",
    ),
    "no task": (
        device("%t = aie.tile(0, 0)\naie.runtime_sequence() { aiex.dma_start_task(%t) }"),
        "operand 'task' is aie.tile at f:2, a configured task is expected",
    ),
    "transfer of half a word": (
        fifo(
            "aie.runtime_sequence(%x: memref<8xi8>) { aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0]"
            "[1, 1, 1, 6][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<8xi8> }"
        ),
        "innermost size is 6 elements of i8, a multiple of 4 bytes is expected",
    ),
    "empty transfer": (
        fifo(
            "aie.runtime_sequence(%x: memref<8xi32>) { aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0]"
            "[1, 1, 0, 8][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<8xi32> }"
        ),
        "sizes are [1, 1, 0, 8], at least 1 is expected",
    ),
    "run": (
        device("aie.runtime_sequence @s(%a: i32) { }").replace(") {\n", ") @d {\n", 1)
        + "\n"
        + device(
            "aie.runtime_sequence(%a: i64) { aiex.configure @d { aiex.run @s (%a) : (i64) } }"
        ),
        "gives (i64) to @s at f:2, which takes (i32)",
    ),
    "other device": (
        device("", "npu2").replace(") {\n", ") @d {\n", 1)
        + "\n"
        + device("aie.runtime_sequence() { aiex.configure @d { } }"),
        "for npu2 from a device npu1",
    ),
    "missing words": (
        device("aie.runtime_sequence() { aiex.npu.write32 {address = 4 : ui32} }"),
        "value: a value or a number is expected",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_each_rule_speaks(name: str) -> None:
    text, message = WRONG[name]
    found = faults(text)
    assert any(message in fault for fault in found), found
    assert len(found) <= 2, found


def test_every_fault_is_listed_with_its_place() -> None:
    text = device("%a = aie.tile(9, 2)\n%b = aie.tile(0, 9)")
    with pytest.raises(VerifyError) as caught:
        ir.verify(ir.parse(text, "d.mlir"))
    assert str(caught.value).splitlines() == [
        "2 faults in the module",
        "  d.mlir:2: aie.tile: attribute 'col' is 9, npu1 has columns 0 to 3",
        "  d.mlir:3: aie.tile: attribute 'row' is 9, npu1 has rows 0 to 5",
    ]
    assert [fault.location.line for fault in caught.value.faults] == [2, 3]


def test_missing_and_mistaken_attributes() -> None:
    where = ir.Location("d.py", 4, 2)
    op = ir.Operation("aie.tile", [], [INDEX], {"col": ir.StringAttr("0")}, location=where)
    with pytest.raises(VerifyError) as caught:
        ir.verify(op)
    assert [str(f) for f in caught.value.faults] == [
        "d.py:4: aie.tile: attribute 'col' is \"0\", an integer of type i32 is expected",
        "d.py:4: aie.tile: attribute 'row' is missing: an integer of type i32 is expected",
    ]


def test_an_isolated_operation_sees_nothing_from_outside() -> None:
    module = ir.module()
    b = ir.Builder(module.body)
    one = b.create("arith.constant", [], [I32], {"value": IntegerAttr(1, I32)}).result
    number = IntegerAttr(4, I32)
    device_op = b.create("aie.device", [], [], {"device": number}, [Region([ir.Block()])])
    with b.at(device_op.body):
        b.create("arith.addi", [one, one], [I32])
    with pytest.raises(VerifyError, match="which does not reach this place"):
        ir.verify(module)


def test_unreachable_blocks_may_use_what_they_like() -> None:
    assert not faults(
        "func.func @g(%c: i1) -> i32 {\n%0 = arith.constant 1 : i32\ncf.br ^a\n^a:\n"
        "%1 = arith.constant 2 : i32\nfunc.return %1 : i32\n^dead:\n"
        "%2 = arith.addi %0, %1 : i32\ncf.br ^a\n}"
    )


def test_many_blocks_do_not_exhaust_the_stack() -> None:
    body = "".join(f"cf.br ^b{k}\n^b{k}:\n" for k in range(3000))
    assert not faults(f"func.func @g() {{ {body} func.return }}")


def test_what_is_not_registered_is_not_judged() -> None:
    assert not faults('%0 = "test.op"() ({ "test.inner"() : () -> () }) : () -> i32')


def test_what_builders_leave_out_is_no_fault() -> None:
    module = ir.parse(FIFO_DESIGN)
    for op in list(module.walk()):
        parent = op.parent
        if (
            parent is not None
            and parent.name in ("aie.device", "scf.for")
            and op.name
            in (
                "aie.end",
                "scf.yield",
            )
        ):
            op.detach()
    ir.verify(module)
    assert ir.equivalent(module, ir.parse(FIFO_DESIGN))
