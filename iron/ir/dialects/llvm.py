"""The llvm dialect, as far as lowered cores use it. Its types stay text."""

from __future__ import annotations

from ..definition import OpDefinition as Op

_INTEGER = (
    *("sdiv", "udiv", "srem", "urem", "and", "or", "xor", "lshr", "ashr"),
    *("fadd", "fsub", "fmul", "fdiv", "frem"),
)
_CASTS = (
    *("trunc", "zext", "sext", "fptrunc", "fpext", "fptosi", "fptoui", "sitofp", "uitofp"),
    *("bitcast", "inttoptr", "ptrtoint", "addrspacecast"),
)
_FAST = "!common.Flags(fastmathFlags, fastmath)"

ROWS = (
    Op(
        "llvm.func",
        "!llvm.Signature()",
        attributes="""
            sym_name:name function_type:type linkage:str? sym_visibility:str? arg_attrs:array?
            res_attrs:array? passthrough:any?
        """,
        regions="body:any?",
        traits="symbol isolated",
    ),
    Op(
        "llvm.mlir.global",
        "!llvm.Global()",
        attributes="""
            sym_name:name global_type:type linkage:str? constant:unit? value:any? addr_space:i32?
            alignment:i64?
        """,
        regions="initializer:any?",
        traits="symbol",
    ),
    Op(
        "llvm.mlir.addressof",
        "$global_name attrs : type(res)",
        attributes="global_name:sym",
        results="res:any",
    ),
    Op(
        "llvm.mlir.constant",
        "(!llvm.Constant()) attrs : type(res)",
        attributes="value:any",
        results="res:any",
    ),
    *(
        Op(f"llvm.mlir.{name}", "attrs : type(res)", results="res:any")
        for name in ("undef", "poison", "zero")
    ),
    Op(
        "llvm.call",
        "!llvm.Callee() (%callee_operands) attrs : fn(callee_operands; result)",
        operands="callee_operands:any*",
        attributes="callee:sym? fastmathFlags:any?",
        results="result:any*",
    ),
    Op(
        "llvm.call_intrinsic",
        "$intrin (%args) attrs : fn(args; results)",
        operands="args:any*",
        attributes="intrin:str",
        results="results:any*",
    ),
    Op("llvm.br", "!common.Target(dest) attrs", successors="dest", traits="terminator forward"),
    Op(
        "llvm.cond_br",
        "%condition [? weights ( $branch_weights ) ?], !common.Target(trueDest), "
        "!common.Target(falseDest) attrs",
        operands="condition:i1",
        attributes="branch_weights:dense:i32?",
        successors="trueDest falseDest",
        traits="terminator forward",
    ),
    Op(
        "llvm.return",
        "attrs [? %arg : type(arg) ?]",
        operands="arg:any?",
        traits="terminator",
        parents="llvm.func",
    ),
    Op("llvm.unreachable", "attrs", traits="terminator"),
    Op(
        "llvm.icmp",
        "!llvm.Predicate() %lhs, %rhs attrs : type(lhs)",
        operands="lhs:any rhs:=lhs",
        attributes="predicate:i64",
        results="res:i1(lhs)",
    ),
    Op(
        "llvm.fcmp",
        f"!llvm.Predicate() %lhs, %rhs {_FAST} attrs : type(lhs)",
        operands="lhs:any rhs:=lhs",
        attributes="predicate:i64 fastmathFlags:any?",
        results="res:i1(lhs)",
    ),
    *(
        Op(
            f"llvm.{name}",
            "%lhs, %rhs !common.Flags(overflowFlags, overflow) attrs : type(res)",
            operands="lhs:=res rhs:=res",
            attributes="overflowFlags:any?",
            results="res:any",
        )
        for name in ("add", "sub", "mul", "shl")
    ),
    *(
        Op(
            f"llvm.{name}",
            f"%lhs, %rhs {_FAST} attrs : type(res)",
            operands="lhs:=res rhs:=res",
            attributes="fastmathFlags:any?",
            results="res:any",
        )
        for name in _INTEGER
    ),
    *(
        Op(
            f"llvm.{name}",
            "%arg attrs : type(arg) to type(res)",
            operands="arg:any",
            results="res:any",
        )
        for name in _CASTS
    ),
    Op(
        "llvm.select",
        "%condition, %trueValue, %falseValue attrs : type(condition), type(res)",
        operands="condition:any trueValue:=res falseValue:=res",
        results="res:any",
    ),
    Op(
        "llvm.getelementptr",
        "!llvm.GepFlags() %base & !llvm.GepIndices() attrs "
        ": fn(operands; res), !llvm.ElementType()",
        operands="base:any dynamicIndices:any*",
        attributes="rawConstantIndices:dense:i32 elem_type:type noWrapFlags:any?",
        results="res:any",
    ),
    Op(
        "llvm.load",
        "%addr attrs : type(addr) -> type(res)",
        operands="addr:any",
        attributes="alignment:i64?",
        results="res:any",
    ),
    Op(
        "llvm.store",
        "%value, %addr attrs : type(value), type(addr)",
        operands="value:any addr:any",
        attributes="alignment:i64?",
    ),
    Op(
        "llvm.alloca",
        "%arraySize x !llvm.ElementType() attrs : fn(operands; res)",
        operands="arraySize:any",
        attributes="elem_type:type alignment:i64?",
        results="res:any",
    ),
    Op(
        "llvm.extractvalue",
        "%container $position attrs : type(container) & !llvm.Member()",
        operands="container:any",
        attributes="position:dense:i64",
        results="res:any",
    ),
)
