"""Designs written operation by operation, with every tile named: the words of mlir-aie's dialects::

    @device(NPU2Col1())
    def body():
        shim, compute = tile(0, 0), tile(0, 2)
        source = object_fifo("in", shim, compute, 2, line)
        @core(compute)
        def work(): ...
        @runtime_sequence(whole)
        def sequence(a): ...

Everything goes into the ambient module: that of ``mlir_mod_ctx()``, or of the generator that is
being run. Owns that module and the device; DMA programs are in `placed_dma`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..ir.attributes import (
    Attribute,
    BoolAttr,
    DenseArrayAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
)
from ..ir.core import Block, Operation, Region, Value
from ..ir.core import module as new_module
from ..ir.dialects.enums import AIEDevice, LockAction
from ..ir.types import I32, I64, INDEX, MemRefType
from .buffer import elements
from .by_hand import dma_await_task, dma_configure_task, dma_free_task, dma_start_task
from .by_hand import dma_configure_task_for as _task_for
from .by_hand import shim_dma_bd as shim_dma_bd
from .by_hand import shim_dma_single_bd_task as _single_bd_task
from .context import DesignContext, Scope, ScopeError, designing, emitting, here
from .declarations import Functions
from .devices import Device, from_mlir_name
from .dtypes import ir_type
from .endpoints import Endpoints
from .kernel import Kernel
from .lock import use
from .memory import MemRef, wrap
from .module import Module
from .values import constant, unwrap

__all__ = [
    "EndOp", "ambient", "buffer", "core", "device", "dma_await_task",
    "dma_configure_task", "dma_configure_task_for", "dma_free_task", "dma_start_task",
    "dma_wait", "end", "external_func", "lock", "mlir_mod_ctx",
    "npu_dma_memcpy_nd", "npu_rtp_write",
    "runtime_sequence", "set_lock_value", "shim_dma_bd", "shim_dma_single_bd_task",
    "tile", "use_lock",
]  # fmt: skip

_ambient: ContextVar[Module | None] = ContextVar("iron_ambient_module", default=None)


@contextlib.contextmanager
def ambient() -> Iterator[Module]:
    """A module that devices written inside the ``with`` go into."""
    module = Module(new_module(here()))
    token = _ambient.set(module)
    try:
        yield module
    finally:
        _ambient.reset(token)


class ModuleContext:
    """What ``mlir_mod_ctx()`` gives: `module` is what was written inside."""

    def __init__(self, module: Module) -> None:
        self.module = module


@contextlib.contextmanager
def mlir_mod_ctx() -> Iterator[ModuleContext]:
    """``with mlir_mod_ctx() as ctx:`` a module of its own, found as ``ctx.module``."""
    with ambient() as module:
        yield ModuleContext(module)


def device(
    of: Device | AIEDevice | str, sym_name: str = "main"
) -> Callable[[Callable[[], Any]], Module]:
    """Run the decorated function once; what it writes is the device. ScopeError outside of a
    generator and of ``mlir_mod_ctx()``."""
    chosen = of if isinstance(of, Device) else from_mlir_name(_device_name(of))

    def decorate(body: Callable[[], Any]) -> Module:
        module = _ambient.get()
        if module is None:
            raise ScopeError(
                "a placed device is written in a generator of iron.jit or inside "
                "`with mlir_mod_ctx() as ctx:`, but there is neither here"
            )
        where = here()
        context = DesignContext(chosen, Endpoints(), Functions())
        block = Block()
        with designing(context), context.entered(Scope("device", body, sym_name), block):
            body()
            for op in context.tiles.values():
                if op.block is None:
                    block.insert(0, op)
            objects = context.functions.link()
            _place_functions(block, context.functions.operations.values())
        attributes = {
            "device": IntegerAttr(int(chosen.enum), I32),
            "sym_name": StringAttr(sym_name),
        }
        module.operation.body.append(
            Operation("aie.device", (), (), attributes, [Region([block])], location=where)
        )
        module.objects.update(objects)
        return module

    return decorate


def _device_name(of: AIEDevice | str) -> str:
    return of if isinstance(of, str) else of.name


def _place_functions(block: Block, functions: Any) -> None:
    """Declarations stand before the cores that call them."""
    at = next((i for i, o in enumerate(block.operations) if o.name == "aie.core"), None)
    at = len(block.operations) if at is None else at
    for offset, op in enumerate(functions):
        block.insert(at + offset, op)


def written(what: str) -> DesignContext:
    return emitting(f"{what} was written", "write it inside a function decorated with @device(...)")


def symbol_of(of: Any) -> str:
    return of if isinstance(of, str) else str(of.name)


def end() -> None:
    """The end of a descriptor or a DMA program."""
    written("end()").create("aie.end")


EndOp = end


# -- tiles and what lies on them -----------------------------------------------------------


def tile(col: int, row: int, *, allocation_scheme: str | None = None) -> Value:
    """The tile at a column and row; ValueError when it is off the array."""
    context = written("a tile")
    if (col, row) not in context.tiles:
        op = context.device.tile_operation((col, row))
        op.location = here()
        if allocation_scheme is not None:
            op.attributes["allocation_scheme"] = StringAttr(allocation_scheme)
        assert context.builder.block is not None
        context.builder.block.append(op)
        context.tiles[col, row] = op
    return context.tiles[col, row].result


def buffer(
    tile: Value,
    datatype: Any,
    name: str | None = None,
    address: int | None = None,
    initial_value: np.ndarray[Any, Any] | None = None,
    use_write_rtp: bool = False,
) -> MemRef:
    """Memory of a tile, read and written by indexing in cores."""
    context = written("a buffer")
    type = ir_type(datatype)
    assert isinstance(type, MemRefType)
    where = here()
    symbol = context.fresh("buf", "a buffer", where) if name is None else name
    if name is not None:
        context.define(name, "a buffer", where)
    attributes: dict[str, Attribute] = {"sym_name": StringAttr(symbol)}
    if address is not None:
        attributes["address"] = IntegerAttr(address, I32)
    if initial_value is not None:
        attributes["initial_value"] = elements(np.asarray(initial_value), type, type)
    op = context.create("aie.buffer", [unwrap(tile)], [type], attributes)
    op.result.name = symbol
    return MemRef(op.result)


def lock(
    tile: Value, *, lock_id: int | None = None, init: int | None = None, sym_name: str | None = None
) -> Value:
    """A lock of a tile."""
    context = written("a lock")
    attributes: dict[str, Attribute] = {}
    if lock_id is not None:
        attributes["lockID"] = IntegerAttr(lock_id, I32)
    if init is not None:
        attributes["init"] = IntegerAttr(init, I32)
    if sym_name:
        attributes["sym_name"] = StringAttr(context.define(sym_name, "a lock", here()))
    return context.create("aie.lock", [unwrap(tile)], [INDEX], attributes).result


def use_lock(lock: Value, action: LockAction, *, value: int = 1) -> None:
    """Acquire or release, in a core or a DMA program."""
    use(written("use_lock()"), unwrap(lock), LockAction(int(action)), value)


def set_lock_value(lock: Value, value: int) -> None:
    """Set a lock from the runtime sequence."""
    context = written("set_lock_value()")
    context.create("aiex.set_lock", [unwrap(lock)], (), {"value": IntegerAttr(value, I32)})


def external_func(
    name: str, inputs: Sequence[Any] | None = None, link_with: str | None = None, **options: Any
) -> Kernel:
    """A function of an object file that exists; it is called in cores."""
    return Kernel(name, link_with or f"{name}.o", inputs)


def core(
    tile: Value, *, dynamic_objfifo_lowering: bool | None = None, stack_size: int | None = None
) -> Callable[[Callable[[], Any]], Value]:
    """The decorated function is the program of a tile's core."""

    def decorate(body: Callable[[], Any]) -> Value:
        context = written("a core")
        attributes: dict[str, Attribute] = {}
        if stack_size is not None:
            attributes["stack_size"] = IntegerAttr(stack_size, I32)
        if dynamic_objfifo_lowering is not None:
            attributes["dynamic_objfifo_lowering"] = BoolAttr(dynamic_objfifo_lowering)
        block = Block()
        op = context.create("aie.core", [unwrap(tile)], [INDEX], attributes, [Region([block])])
        with context.entered(Scope("placed core", body, body.__name__), block):
            body()
            if block.terminator is None or block.terminator.name != "aie.end":
                context.create("aie.end", location=op.location)
        return op.result

    return decorate


# -- the runtime sequence ------------------------------------------------------------------


def runtime_sequence(
    *inputs: Any, sym_name: str | None = None
) -> Callable[[Callable[..., Any]], None]:
    """The decorated function is the host's sequence; it gets the tensors of those types."""

    def decorate(body: Callable[..., Any]) -> None:
        context = written("a runtime_sequence")
        block = Block([ir_type(t) for t in inputs])
        name = {"sym_name": StringAttr(sym_name or body.__name__)}
        context.create("aie.runtime_sequence", (), (), name, [Region([block])])
        with context.entered(Scope("sequence", body, body.__name__), block):
            body(*(wrap(a) for a in block.arguments))

    return decorate


def dma_configure_task_for(alloc: Any, **options: Any) -> Operation:
    """A task of the shim end of a fifo, or of an allocation by name."""
    return _task_for(symbol_of(alloc), **options)


def shim_dma_single_bd_task(alloc: Any, mem: Any, *args: Any, **options: Any) -> Operation:
    """A task of one descriptor of the shim end of a fifo, or of an allocation by name."""
    return _single_bd_task(symbol_of(alloc), mem, *args, **options)


def npu_rtp_write(name: str, index: int, value: int) -> None:
    """Write one word of a buffer from the runtime sequence."""
    attributes: dict[str, Attribute] = {
        "buffer": SymbolRefAttr((name,)),
        "index": IntegerAttr(index, I32),
    }
    context = written("npu_rtp_write()")
    context.create("aiex.npu.rtp_write", [constant(value, I32).value], (), attributes)


def npu_dma_memcpy_nd(
    metadata: Any,
    bd_id: int,
    mem: Any,
    tap: Any = None,
    offsets: Sequence[int] | None = None,
    sizes: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    issue_token: bool | None = None,
    burst_length: int = 0,
) -> None:
    """One transfer between host memory and a fifo; wait for it with ``dma_wait``."""
    context = written("npu_dma_memcpy_nd()")
    if tap is not None:
        if offsets or sizes or strides:
            raise ValueError("npu_dma_memcpy_nd(): give a tap or offsets, sizes, strides, not both")
        offsets, sizes, strides = [0, 0, 0, int(tap.offset)], tap.sizes, tap.strides
    numbers = {
        "static_offsets": offsets or [0, 0, 0, 0],
        "static_sizes": sizes or [1, 1, 1, 1],
        "static_strides": strides or [0, 0, 0, 1],
    }
    attributes: dict[str, Attribute] = {
        key: DenseArrayAttr(I64, tuple(int(n) for n in values)) for key, values in numbers.items()
    }
    attributes["metadata"] = SymbolRefAttr((symbol_of(metadata),))
    attributes["id"] = IntegerAttr(bd_id, I64)
    if issue_token:
        attributes["issue_token"] = BoolAttr(True)
    if burst_length:
        attributes["burst_length"] = IntegerAttr(burst_length, I64)
    context.create("aiex.npu.dma_memcpy_nd", [unwrap(mem)], (), attributes, segments=(1, 0, 0, 0))


def dma_wait(*fifos: Any) -> None:
    """Wait for transfers of fifos that give a token when they end."""
    if not fifos:
        raise ValueError("dma_wait() takes at least one fifo")
    context = written("dma_wait()")
    for fifo in fifos:
        context.create("aiex.npu.dma_wait", (), (), {"symbol": SymbolRefAttr((symbol_of(fifo),))})
