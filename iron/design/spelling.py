"""The spelling of March 2026 (mlir-aie 5ff2ab97): a last pass over a resolved design.

It differs in five places: cores name their one object themselves, buffer descriptors, locks and
run-time parameters take plain numbers, and an awaited transfer is not freed as well. Symbols that
have their default name are not written.
"""

from __future__ import annotations

from ..ir.attributes import (
    ArrayAttr,
    DenseArrayAttr,
    IntegerAttr,
    StringAttr,
    StructAttr,
    SymbolRefAttr,
)
from ..ir.core import Operation, Value, defining_op
from ..ir.types import I32
from .module import Module

_DEFAULT_NAMES = {"aie.device": "main", "aie.runtime_sequence": "sequence"}


def march_2026(module: Module) -> Module:
    """`module`, changed in place to the older spelling. ValueError for what it cannot say: a core
    that links two objects, or numbers known only at run time."""
    operations = list(module.operation.walk())
    awaited = {id(op.operands[0]) for op in operations if op.name == "aiex.dma_await_task"}
    for op in operations:
        if op.name == "aiex.dma_free_task" and id(op.operands[0]) in awaited:
            op.detach()
        elif op.name == "aie.core":
            _link_core(module, op)
        elif op.name == "aie.dma_bd":
            _descriptor(op)
        elif op.name in ("aie.use_lock", "aiex.npu.rtp_write"):
            _number(module, op)
        elif op.attributes.get("sym_name") == StringAttr(_DEFAULT_NAMES.get(op.name, "")):
            op.attributes.pop("sym_name")
    for op in operations:
        if op.name == "func.func":
            op.attributes.pop("link_with", None)
    return module


def march_2026_operation(module: Operation) -> None:
    """The same for a module alone, which was read from a design's text."""
    march_2026(Module(module, {}))


def _link_core(module: Module, core: Operation) -> None:
    called = [op.attributes["callee"] for op in core.walk() if op.name == "func.call"]
    names = {c.path[-1] for c in called if isinstance(c, SymbolRefAttr)}
    links = {
        op.attributes["link_with"]
        for op in module.operation.walk()
        if op.name == "func.func" and op.symbol in names and "link_with" in op.attributes
    }
    if len(links) > 1:
        raise ValueError(
            f"{core.location}: the core calls functions of {len(links)} objects; in the spelling "
            "of 2026-03 it links one"
        )
    if links:
        core.attributes["link_with"] = links.pop()


def _descriptor(op: Operation) -> None:
    if len(op.operands) > 1:
        raise ValueError(f"{op.location}: a transfer known only at run time has no such spelling")
    op.segments = None
    for new, old in (("static_offset", "offset"), ("static_len", "len")):
        if new in op.attributes:
            op.attributes[old] = op.attributes.pop(new)
    sizes = op.attributes.pop("static_sizes", None)
    strides = op.attributes.pop("static_strides", None)
    if isinstance(sizes, DenseArrayAttr) and isinstance(strides, DenseArrayAttr):
        op.attributes["dimensions"] = ArrayAttr(
            tuple(
                StructAttr("aie.bd_dim_layout", (("size", int(n)), ("stride", int(s))))
                for n, s in zip(sizes.values, strides.values, strict=True)
            )
        )


def _number(module: Module, op: Operation) -> None:
    if "value" in op.attributes:  # it is spelled so already
        return
    value = op.operands.pop()
    constant = defining_op(value)
    number = constant.attributes.get("value") if constant is not None else None
    if constant is None or not isinstance(number, IntegerAttr):
        raise ValueError(f"{op.location}: a number known only at run time has no such spelling")
    op.attributes["value"] = IntegerAttr(number.value, I32)
    if not _used(module, value):
        constant.detach()


def _used(module: Module, value: Value) -> bool:
    return any(any(v is value for v in op.operands) for op in module.operation.walk())
