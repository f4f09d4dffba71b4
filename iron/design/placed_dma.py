"""DMA programs of placed designs: descriptors as blocks that follow each other::

    @mem(compute)
    def program(block):
        dma_start(DMAChannelDir.S2MM, 0, dest=block[1], chain=block[2])
        with block[1]:
            use_lock(free, LockAction.AcquireGreaterEqual)
            dma_bd(memory)
            use_lock(full, LockAction.Release)
            next_bd(block[1])
        with block[2]:
            EndOp()

The module and its devices are `placed`'s.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..ir.attributes import Attribute, DenseArrayAttr, IntegerAttr, StructAttr
from ..ir.core import Block, Operation, Region, Value
from ..ir.types import I1, I32, I64, INDEX, MemRefType
from .by_hand import Descriptor, Descriptors
from .context import DesignContext, Scope, emitting
from .dataflow.emit import pads
from .values import unwrap

__all__ = ["bds", "dma_bd", "dma_start", "mem", "memtile_dma", "next_bd", "shim_mem"]

Program = Callable[[Callable[..., Any]], Operation]


def mem(tile: Value) -> Program:
    """The decorated function is the DMA program of a compute tile."""
    return _program("aie.mem", tile)


def memtile_dma(tile: Value) -> Program:
    """The decorated function is the DMA program of a memtile."""
    return _program("aie.memtile_dma", tile)


def shim_mem(tile: Value) -> Program:
    """The decorated function is the DMA program of a shim tile."""
    return _program("aie.shim_dma", tile)


def _context(what: str) -> DesignContext:
    return emitting(f"{what} was written", "write it inside a DMA program or a task's bds()")


def _program(name: str, tile: Value) -> Program:
    def decorate(body: Callable[..., Any]) -> Operation:
        context = _context(f"{name}")
        region = Region([Block()])
        op = context.create(name, [unwrap(tile)], [INDEX], None, [region])
        with context.entered(Scope("function", body, body.__name__), region.entry):
            takes_blocks = bool(inspect.signature(body).parameters)
            body(*([Descriptors(context, region)] if takes_blocks else []))
        return op

    return decorate


@contextlib.contextmanager
def bds(parent: Operation) -> Iterator[Descriptors]:
    """The blocks of a task or a DMA program, by number."""
    yield Descriptors(_context("bds()"), parent.region)


def _block(context: DesignContext, given: Descriptor | Block | None) -> Block:
    block = given.block if isinstance(given, Descriptor) else given
    block = context.builder.block if block is None else block
    assert block is not None
    return block


def dma_start(
    channel_dir: int,
    channel_index: int,
    *,
    dest: Descriptor | Block | None = None,
    chain: Descriptor | Block | None = None,
    repeat_count: int = 0,
    pad_value: int = 0,
) -> tuple[Block, Block]:
    """Start a channel with the descriptor `dest`, then go on at `chain`; both blocks."""
    context = _context("dma_start()")
    blocks = _block(context, dest), _block(context, chain)
    attributes: dict[str, Attribute] = {
        "channel_dir": IntegerAttr(int(channel_dir), I32),
        "channel_index": IntegerAttr(int(channel_index), I32),
    }
    if repeat_count:
        attributes["repeat_count"] = IntegerAttr(repeat_count, I32)
    if pad_value:
        attributes["pad_value"] = IntegerAttr(pad_value, I32)
    op = context.create("aie.dma_start", (), [I1], attributes)
    op.successors = [(b, []) for b in blocks]
    return blocks


def next_bd(descriptor: Descriptor | Block | None = None) -> None:
    """Go on with another descriptor, by default this one again."""
    context = _context("next_bd()")
    target = _block(context, descriptor)
    context.create("aie.next_bd").successors = [(target, [])]


def dma_bd(
    buffer: Any,
    sizes: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    offset: int = 0,
    transfer_len: int | None = None,
    *,
    len: int | None = None,
    dimensions: Sequence[Sequence[int]] | None = None,
    pad_dimensions: Any = None,
    packet: tuple[int, int] | None = None,
) -> None:
    """One descriptor: `transfer_len` elements of `buffer` from `offset` on, in the order of sizes
    and strides (outermost first); all of it by default."""
    context = _context("dma_bd()")
    memory = unwrap(buffer)
    if not isinstance(memory.type, MemRefType):
        raise TypeError(f"dma_bd() takes memory, found {buffer!r}")
    if dimensions is not None:
        sizes, strides = [d[0] for d in dimensions], [d[1] for d in dimensions]
    length = len if transfer_len is None else transfer_len
    attributes: dict[str, Attribute] = {
        "static_offset": IntegerAttr(int(offset), I32),
        "static_len": IntegerAttr(memory.type.size - offset if length is None else length, I32),
    }
    if sizes:
        attributes["static_sizes"] = DenseArrayAttr(I64, tuple(int(n) for n in sizes))
        attributes["static_strides"] = DenseArrayAttr(I64, tuple(int(n) for n in strides or ()))
    if pad_dimensions is not None:
        attributes["pad_dimensions"] = pads(pad_dimensions)
    if packet is not None:
        attributes["packet"] = StructAttr(
            "aie.packet_info", (("pkt_type", int(packet[0])), ("pkt_id", int(packet[1])))
        )
    context.create("aie.dma_bd", [memory], (), attributes, segments=(1, 0, 0, 0, 0))
