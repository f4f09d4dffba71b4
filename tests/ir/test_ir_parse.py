"""Reading text: forms, names, aliases, locations, and what is said when it cannot be read."""

from __future__ import annotations

import math

import pytest

from iron import ir
from iron.ir import DenseElementsAttr, IntegerAttr, Operation, ParseError, StructAttr


def only(text: str, name: str) -> Operation:
    found = [op for op in ir.parse(text).walk() if op.name == name]
    assert len(found) == 1
    return found[0]


def in_device(body: str, device: str = "npu2") -> str:
    return f"aie.device({device}) {{\n{body}\n}}"


def test_a_bare_list_of_operations_gets_a_module() -> None:
    module = ir.parse("%0 = arith.constant 1 : i32\n%1 = arith.addi %0, %0 : i32")
    assert module.name == "builtin.module"
    assert [op.name for op in module.body.operations] == ["arith.constant", "arith.addi"]
    named = ir.parse("module @top attributes {a = 1 : i32} {\n}")
    assert named.symbol == "top"
    assert named.attributes["a"] == IntegerAttr(1, ir.I32)


def test_named_operands() -> None:
    bd = only(
        in_device(
            "aie.bd_chain @c(%m: memref<8xi32>, %n: i32, %s: i64) {"
            "aie.dma_bd(%m : memref<8xi32> len = %n sizes = [4, %s] strides = [%s, 1])\naie.end }"
        ),
        "aie.dma_bd",
    )
    assert [v.name for v in bd.group("buffer")] == ["m"]
    assert bd.operand("offset") is None
    length = bd.operand("len")
    assert length is not None
    assert length.name == "n"
    assert [v.name for v in bd.group("sizes")] == ["s"]
    assert bd.segments == (1, 0, 1, 1, 1)
    with pytest.raises(KeyError, match="no operand 'chunk'"):
        bd.group("chunk")


@pytest.mark.parametrize(
    ("text", "operands", "attributes"),
    [
        ("aiex.npu.write32 {address = 4 : ui32, value = 5 : ui32}", [0, 0], {"address", "value"}),
        ("aiex.npu.write32(%n, %n) {row = 2 : i32} : i32, i32", [1, 1], {"row"}),
    ],
)
def test_both_spellings_of_a_register_write(
    text: str, operands: list[int], attributes: set[str]
) -> None:
    op = only(in_device(f"aie.runtime_sequence(%n: i32) {{ {text} }}"), "aiex.npu.write32")
    assert [len(op.group(name)) for name in ("address", "value")] == operands
    assert set(op.attributes) == attributes


def test_both_spellings_of_a_lock_value() -> None:
    head = "%t = aie.tile(0, 2)\n%l = aie.lock(%t)\n%c = arith.constant 2 : i32\n"
    for word, count in (("3", 0), ("%c", 1)):
        text = f"{head} aie.core(%t) {{ aie.use_lock(%l, Release, {word})\naie.end }}"
        op = only(in_device(text), "aie.use_lock")
        assert len(op.group("value")) == count
        assert ("value" in op.attributes) == (not count)
        assert op.attributes["action"] == IntegerAttr(1, ir.I32)


def test_keywords_are_numbers() -> None:
    op = only(
        in_device("%t = aie.tile(0, 0)\naie.flow(%t, DMA : 0, %t, TileControl : 3)"), "aie.flow"
    )
    assert op.attributes["source_bundle"] == IntegerAttr(1, ir.I32)
    assert op.attributes["dest_bundle"] == IntegerAttr(10, ir.I32)


def test_records_in_any_order_of_fields() -> None:
    op = only(
        in_device(
            "%t = aie.tile(0, 2) {controller_id = #aie.packet_info<pkt_id = 9, pkt_type = 1>}"
        ),
        "aie.tile",
    )
    record = op.attributes["controller_id"]
    assert record == StructAttr("aie.packet_info", (("pkt_type", 1), ("pkt_id", 9)))
    assert isinstance(record, StructAttr)
    assert record["pkt_id"] == 9


def test_arrays_of_records_in_mlirs_own_spelling() -> None:
    text = (
        '"aie.dma_bd"(%m) <{dimensions = #aie<bd_dim_layout_array[<size = 2, stride = 1>]>}>'
        " : (memref<8xi32>) -> ()"
    )
    op = only(in_device(f"aie.bd_chain @c(%m: memref<8xi32>) {{ {text}\naie.end }}"), "aie.dma_bd")
    assert str(op.attributes["dimensions"]) == "[#aie.bd_dim_layout<size = 2, stride = 1>]"
    assert "bd_dim_layout_array[<size = 2, stride = 1>]" in ir.print_module(op, generic=True)


def test_values_may_be_used_before_they_are_defined() -> None:
    module = ir.parse(
        """
        func.func @f(%x: i32) -> i32 {
          cf.br ^last
        ^middle:
          func.return %late : i32
        ^last:
          %late = arith.addi %x, %x : i32
          cf.br ^middle
        }
        """
    )
    use = next(op for op in module.walk() if op.name == "func.return")
    definition = next(op for op in module.walk() if op.name == "arith.addi")
    assert use.operands[0] is definition.result
    ir.verify(module)


def test_names_end_with_their_region_and_isolated_ones_see_nothing() -> None:
    text = "func.func @f() {{ {} func.return }}\nfunc.func @g() {{ {} func.return }}"
    one = "%a = arith.constant 1 : i32\n"
    ir.parse(text.format(one, one))
    with pytest.raises(ParseError, match="%a is used but not defined"):
        ir.parse(text.format(one, "%b = arith.addi %a, %a : i32\n"))
    with pytest.raises(ParseError, match="%a is already defined"):
        ir.parse(one + one)


def test_several_results() -> None:
    module = ir.parse(
        '%a:2, %b = "test.three"() : () -> (i32, i64, f32)\n"test.use"(%a#1, %b) : (i64, f32) -> ()'
    )
    three, use = module.body.operations
    assert use.operands == [three.results[1], three.results[2]]


def test_an_unknown_operation_is_kept() -> None:
    text = (
        'module {\n  %0:2 = "test.op"() <{a = 1 : i32}> ({\n  ^bb0(%arg0: i8):\n'
        '    "test.end"(%arg0)[^bb1(%arg0 : i8)] : (i8) -> ()\n  ^bb1(%1: i8):\n'
        '    "test.end"() : () -> ()\n  }) {b = #test.x<y>} : () -> (i1, !test.t<4>)\n}\n'
    )
    module = ir.parse(text)
    printed = ir.print_module(module)
    assert ir.equivalent(ir.parse(printed), module)
    for piece in ("#test.x<y>", "!test.t<4>", '"test.op"()', "[^bb1(%arg0 : i8)]"):
        assert piece in printed


def test_aliases() -> None:
    module = ir.parse(
        "#map = affine_map<(d0) -> (d0 + 1)>\n!box = memref<4xi32, #map>\n"
        "func.func private @f(!box) attributes {m = #map}\n"
    )
    function = module.body.operations[0]
    assert str(function.attributes["m"]) == "affine_map<(d0) -> (d0 + 1)>"
    assert "memref<4xi32, affine_map<(d0) -> (d0 + 1)>>" in ir.print_module(module)


def test_nested_symbols() -> None:
    op = only('"test.ref"() {to = @a::@"b c"::@d} : () -> ()', "test.ref")
    assert op.attributes["to"] == ir.SymbolRefAttr(("a", "b c", "d"))
    assert str(op.attributes["to"]) == '@a::@"b c"::@d'


def test_strings_keep_every_byte() -> None:
    op = only(r'"test.s"() {a = "q\22 b\\ n\0A t\t u\C3\A9"} : () -> ()', "test.s")
    assert op.attributes["a"] == ir.StringAttr('q" b\\ n\n t\t ué')


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.5 : f32", 1.5),
        ("-2.0e-3 : f64", -0.002),
        ("0x7F800000 : f32", math.inf),
        ("0xFF80 : bf16", -math.inf),
        ("0x3C00 : f16", 1.0),
        ("3.0", 3.0),
    ],
)
def test_floats(text: str, value: float) -> None:
    attribute = only(f'"test.f"() {{v = {text}}} : () -> ()', "test.f").attributes["v"]
    assert isinstance(attribute, ir.FloatAttr)
    assert attribute.value == value


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("dense<[[1, 2], [3, -4]]> : tensor<2x2xi32>", (1, 2, 3, -4)),
        ("dense<7> : vector<4xi8>", (7,)),
        ("dense<> : tensor<0xi32>", ()),
        ("dense<[true, false]> : vector<2xi1>", (True, False)),
        ("dense<[1.0, 0x7FC0]> : vector<2xbf16>", None),
        ('dense<"0x0100FFFF"> : tensor<2xi16>', (1, -1)),
        ('dense<"0x0000803F"> : tensor<1xf32>', (1.0,)),
    ],
)
def test_dense_elements(text: str, values: tuple[object, ...] | None) -> None:
    attribute = only(f'"test.d"() {{v = {text}}} : () -> ()', "test.d").attributes["v"]
    assert isinstance(attribute, DenseElementsAttr)
    if values is not None:
        assert attribute.values == values
    again = only(f'"test.d"() {{v = {attribute}}} : () -> ()', "test.d").attributes["v"]
    assert str(again) == str(attribute)


@pytest.mark.parametrize(
    "text",
    [
        "memref<4x?x8xi32, strided<[?, 8, 1], offset: 3>, 2 : i32>",
        "memref<16xui8, 1>",
        "memref<*xf32>",
        "vector<[4]x2xf32>",
        "tensor<?xindex>",
        'vector<4x!aiex.bfp<"v8bfp16ebs8">>',
        "memref<8x!aie.objectfifo<memref<4xi32>>>",
        "!aie.objectfifosubview<memref<4x4xbf16>>",
        "!llvm.array<4 x struct<(i32, ptr)>>",
        "(i32, (f32) -> ()) -> (i1, i2)",
        "() -> ((i32) -> i32)",
        "tuple<i32, memref<4xi8>>",
        "f8E4M3FN",
        "si7",
        "none",
    ],
)
def test_types_print_as_they_are_read(text: str) -> None:
    attribute = only(f'"test.t"() {{t = {text}}} : () -> ()', "test.t").attributes["t"]
    assert str(attribute) == text
    assert isinstance(attribute, ir.TypeAttr)


def test_shapes_written_with_blanks() -> None:
    attribute = only('"test.t"() {t = memref< 4 x 8x i32 >} : () -> ()', "test.t").attributes["t"]
    assert attribute == ir.TypeAttr(ir.MemRefType((4, 8), ir.I32))


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('loc("a.py":3:7)', ("a.py", 3, 7)),
        ("loc(#there)", ("b.py", 9, 1)),
        ("loc(unknown)", ("", 0, 0)),
        ('loc("name"("a.py":3:7))', ("a.py", 3, 7)),
        ('loc(callsite("f" at "a.py":3:7))', ("", 0, 0)),
        ('loc(callsite("c.py":1:2 at "a.py":3:7))', ("c.py", 1, 2)),
        ('loc(fused<"x">["a.py":3:7, "b.py":1:1])', ("a.py", 3, 7)),
        ("", ("given.mlir", 2, 1)),
    ],
)
def test_locations(text: str, where: tuple[str, int, int]) -> None:
    module = ir.parse(f'#there = loc("b.py":9:1)\n"test.l"() : () -> () {text}', "given.mlir")
    found = module.body.operations[0].location
    assert (found.file, found.line, found.column) == where


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("aie.nonsense", "f:1:1: aie.nonsense is no known operation"),
        ("%0 = arith.constant", "f:1:20: an attribute is expected, found the end of the text"),
        ("%0 = arith.constant 1 : i3x", "f:1:25: a type is expected, found 'i3x'"),
        (
            "%0 = arith.constant 1 : i32\n%1 = arith.addi %0, %0 : i64",
            "f:2:17: %0 is of type i32, here i64 is expected",
        ),
        ("aie.device(npu9) {}", "f:1:12: 'npu9' is no AIEDevice: one of xcvc1902"),
        ("aie.device(npu1) {\n", "f:2:1: an operation is expected, found the end"),
        ("func.func @f() {\n  cf.br ^nowhere\n}", "f:2:9: block ^nowhere is not defined"),
        ('"a.b"() {x = 1, x = 2} : () -> ()', "f:1:17: attribute 'x' is given twice"),
        ('"a.b"() {x = #aie.packet_info<pkt_id = 1>} : () -> ()', "lacks pkt_type"),
        ('"a.b"() {x = #aie.packet_info<id = 1>} : () -> ()', "has no field 'id'"),
        ('"a.b"() {x = dense<[1, 2]> : tensor<3xi32>} : () -> ()', "has 3 elements, 2 are given"),
        ('"a.b"() {x = #none} : () -> ()', "#none is no attribute alias"),
        ('"a.b"() : () -> (!none)', "!none is no type alias"),
        ('%0, %1 = "a.b"() : () -> i32', "f:1:1: a.b has 1 results, 2 are named"),
        ('"a.b"(%x) : (i32) -> ()', "f:1:7: %x is used but not defined"),
        ('"a.b"() {x = [1, 2} : () -> ()', "f:1:19: ']' is expected, found '}'"),
        ('"a.b"() {x = "open} : () -> ()', "f:1:14: an attribute is expected"),
        ('"a.b"() ~', "f:1:9: ':' is expected, found '~'"),
    ],
)
def test_faults_name_place_and_expectation(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        ir.parse(text, "f")
    assert message in str(caught.value)


def test_a_fault_shows_the_line_and_a_caret() -> None:
    with pytest.raises(ParseError) as caught:
        ir.parse("module {\n  aie.device(npu1) {\n    %t = aie.tile(0 2)\n  }\n}", "d.mlir")
    assert str(caught.value).splitlines() == [
        "d.mlir:3:21: ',' is expected, found '2'",
        "      %t = aie.tile(0 2)",
        "                      ^",
    ]
    assert caught.value.location == ir.Location("d.mlir", 3, 21)
