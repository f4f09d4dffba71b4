"""The memref dialect."""

from __future__ import annotations

from ..definition import OpDefinition as Op

_SHAPE = "offsets:index* sizes:index* strides:index*"
_STATIC = "static_offsets:dense:i64 static_sizes:dense:i64 static_strides:dense:i64"

ROWS = (
    *(
        Op(
            f"memref.{name}",
            "(%dynamicSizes) [? & [%symbolOperands] ?] attrs : type(memref)",
            operands="dynamicSizes:index* symbolOperands:index*",
            attributes="alignment:i64?",
            results="memref:memref",
        )
        for name in ("alloc", "alloca")
    ),
    Op("memref.dealloc", "%memref attrs : type(memref)", operands="memref:memref"),
    Op(
        "memref.load",
        "%memref & [%indices] attrs : type(memref)",
        operands="memref:memref indices:index*",
        attributes="nontemporal:bool? alignment:i64?",
        results="result:elem(memref)",
    ),
    Op(
        "memref.store",
        "%value, %memref & [%indices] attrs : type(memref)",
        operands="value:elem(memref) memref:memref indices:index*",
        attributes="nontemporal:bool? alignment:i64?",
    ),
    Op(
        "memref.dim",
        "attrs %source, %index : type(source)",
        operands="source:memref index:index",
        results="result:index",
    ),
    Op(
        "memref.cast",
        "%source attrs : type(source) to type(dest)",
        operands="source:memref",
        results="dest:memref",
    ),
    Op(
        "memref.memory_space_cast",
        "%source attrs : type(source) to type(dest)",
        operands="source:memref",
        results="dest:memref",
    ),
    Op(
        "memref.copy",
        "%source, %target attrs : type(source) to type(target)",
        operands="source:memref target:memref",
    ),
    Op(
        "memref.subview",
        "%source & !common.Indices(offsets, static_offsets) !common.Indices(sizes, static_sizes) "
        "!common.Indices(strides, static_strides) attrs : type(source) to type(result)",
        operands=f"source:memref {_SHAPE}",
        attributes=_STATIC,
        results="result:memref",
    ),
    Op(
        "memref.reinterpret_cast",
        "%source to offset & : !common.Indices(offsets, static_offsets), "
        "sizes & : !common.Indices(sizes, static_sizes), "
        "strides & : !common.Indices(strides, static_strides) "
        "attrs : type(source) to type(result)",
        operands=f"source:memref {_SHAPE}",
        attributes=_STATIC,
        results="result:memref",
    ),
    Op(
        "memref.collapse_shape",
        "%src $reassociation attrs : type(src) into type(result)",
        operands="src:memref",
        attributes="reassociation:i64[][]",
        results="result:memref",
    ),
    Op(
        "memref.expand_shape",
        "%src $reassociation output_shape !common.Indices(output_shape, static_output_shape) "
        "attrs : type(src) into type(result)",
        operands="src:memref output_shape:index*",
        attributes="reassociation:i64[][] static_output_shape:dense:i64",
        results="result:memref",
    ),
    Op(
        "memref.reshape",
        "%source (%shape) attrs : fn(operands; result)",
        operands="source:memref shape:memref",
        results="result:memref",
    ),
    Op(
        "memref.view",
        "%source & [%byte_shift] & [%sizes] attrs : type(source) to type(result)",
        operands="source:memref byte_shift:index sizes:index*",
        results="result:memref",
    ),
    Op(
        "memref.assume_alignment",
        "%memref, $alignment attrs : type(memref)",
        operands="memref:memref",
        attributes="alignment:i32",
        results="result:=memref",
    ),
    Op(
        "memref.get_global",
        "$name : type(result) attrs",
        attributes="name:sym",
        results="result:memref",
    ),
    Op(
        "memref.global",
        "!memref.Visibility() !common.Flag(constant) @sym_name : !memref.Global() attrs",
        attributes="""
            sym_name:name sym_visibility:str? type:type initial_value:any? constant:unit?
            alignment:i64?
        """,
        traits="symbol",
    ),
    Op(
        "memref.extract_aligned_pointer_as_index",
        "%source : type(source) -> type(aligned_pointer) attrs",
        operands="source:memref",
        results="aligned_pointer:index",
    ),
)
