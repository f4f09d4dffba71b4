"""The vector dialect: the operations that kernels written in MLIR use."""

from __future__ import annotations

from ..definition import OpDefinition as Op

ROWS = (
    Op(
        "vector.load",
        "%base & [%indices] attrs : type(base), type(result)",
        operands="base:memref indices:index*",
        attributes="nontemporal:bool? alignment:i64?",
        results="result:vector",
    ),
    Op(
        "vector.store",
        "%valueToStore, %base & [%indices] attrs : type(base), type(valueToStore)",
        operands="valueToStore:vector base:memref indices:index*",
        attributes="nontemporal:bool? alignment:i64?",
    ),
    Op(
        "vector.transfer_read",
        "%base & [%indices], %padding [? , %mask ?] attrs : type(base), type(vector)",
        operands="base:any indices:index* padding:elem(base) mask:any?",
        attributes="permutation_map:map? in_bounds:array?",
        results="vector:vector",
    ),
    Op(
        "vector.transfer_write",
        "%valueToStore, %base & [%indices] [? , %mask ?] attrs : type(valueToStore), type(base)",
        operands="valueToStore:vector base:any indices:index* mask:any?",
        attributes="permutation_map:map? in_bounds:array?",
    ),
    Op(
        "vector.broadcast",
        "%source attrs : type(source) to type(vector)",
        operands="source:any",
        results="vector:vector",
    ),
    Op(
        "vector.splat",
        "%input attrs : type(aggregate)",
        operands="input:elem(aggregate)",
        results="aggregate:vector",
    ),
    *(
        Op(
            f"vector.{name}",
            "%source attrs : type(source) to type(result)",
            operands="source:vector",
            attributes="offsets:array? sizes:array? strides:array?",
            results="result:vector",
        )
        for name in ("shape_cast", "bitcast", "extract_strided_slice")
    ),
    Op(
        "vector.insert_strided_slice",
        "%valueToStore, %dest attrs : type(valueToStore) into type(dest)",
        operands="valueToStore:vector dest:vector",
        attributes="offsets:array strides:array",
        results="res:=dest",
    ),
    Op(
        "vector.extract",
        "%source & !common.Indices(dynamic_position, static_position) attrs "
        ": type(result) from type(source)",
        operands="source:vector dynamic_position:index*",
        attributes="static_position:dense:i64",
        results="result:any",
    ),
    Op(
        "vector.insert",
        "%valueToStore, %dest & !common.Indices(dynamic_position, static_position) attrs "
        ": type(valueToStore) into type(dest)",
        operands="valueToStore:any dest:vector dynamic_position:index*",
        attributes="static_position:dense:i64",
        results="result:=dest",
    ),
    Op(
        "vector.extractelement",
        "%vector & [[? %position : type(position) ?]] attrs : type(vector)",
        operands="vector:vector position:int?",
        results="result:elem(vector)",
    ),
    Op(
        "vector.insertelement",
        "%source, %dest & [[? %position : type(position) ?]] attrs : type(result)",
        operands="source:elem(dest) dest:=result position:int?",
        results="result:vector",
    ),
    Op(
        "vector.fma",
        "%lhs, %rhs, %acc attrs : type(lhs)",
        operands="lhs:vector rhs:=lhs acc:=lhs",
        results="result:=lhs",
    ),
    Op(
        "vector.shuffle",
        "%v1, %v2 $mask attrs : !vector.ShuffleTypes()",
        operands="v1:vector v2:vector",
        attributes="mask:dense:i64",
        results="vector:vector",
    ),
    Op(
        "vector.reduction",
        "!common.Angled(kind, kind), %vector [? , %acc ?] !common.Flags(fastmath, fastmath) attrs "
        ": type(vector) into type(dest)",
        operands="vector:vector acc:=dest?",
        attributes="kind:any fastmath:any?",
        results="dest:any",
    ),
    Op(
        "vector.transpose",
        "%vector, $permutation attrs : type(vector) to type(result)",
        operands="vector:vector",
        attributes="permutation:dense:i64",
        results="result:vector",
    ),
    Op(
        "vector.contract",
        "attrs %lhs, %rhs, %acc : type(lhs), type(rhs) into type(acc)",
        operands="lhs:vector rhs:vector acc:any",
        attributes="indexing_maps:array iterator_types:array kind:any?",
        results="result:=acc",
    ),
    Op(
        "vector.multi_reduction",
        "!common.Angled(kind, kind), %source, %acc $reduction_dims attrs "
        ": type(source) to type(dest)",
        operands="source:vector acc:=dest",
        attributes="kind:any reduction_dims:dense:i64",
        results="dest:any",
    ),
    Op(
        "vector.create_mask",
        "%sizes attrs : type(result)",
        operands="sizes:index*",
        results="result:vector",
    ),
    Op(
        "vector.constant_mask",
        "$mask_dim_sizes attrs : type(result)",
        attributes="mask_dim_sizes:dense:i64",
        results="result:vector",
    ),
    Op(
        "vector.maskedload",
        "%base & [%indices], %mask, %pass_thru attrs "
        ": type(base), type(mask), type(pass_thru) into type(result)",
        operands="base:memref indices:index* mask:vector pass_thru:=result",
        attributes="alignment:i64?",
        results="result:vector",
    ),
    Op(
        "vector.maskedstore",
        "%base & [%indices], %mask, %valueToStore attrs "
        ": type(base), type(mask), type(valueToStore)",
        operands="base:memref indices:index* mask:vector valueToStore:vector",
        attributes="alignment:i64?",
    ),
    Op("vector.print", "%source attrs : type(source)", operands="source:any"),
    Op("vector.step", "attrs : type(result)", results="result:vector"),
)
