"""Streams of placed designs, hop by hop: what each switch connects, and the names of shim channels.

`placed_fifo.flow` asks for a stream and leaves the hops to the tools; the module and its devices
are `placed`'s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir.attributes import Attribute, BoolAttr, IntegerAttr, StringAttr
from ..ir.core import Block, Operation, Region
from ..ir.types import I32, I64, INDEX
from .context import Scope, here
from .placed import written
from .values import unwrap

__all__ = ["connect", "shim_dma_allocation", "shim_mux", "switchbox"]

Connections = Callable[[Callable[[], Any]], Operation]


def switchbox(tile: Any) -> Connections:
    """The decorated function makes the connections of a tile's stream switch, with `connect`."""
    return _connections("switchbox", tile)


def shim_mux(tile: Any) -> Connections:
    """The decorated function connects the channels of a shim tile with its stream switch."""
    return _connections("shim_mux", tile)


def _connections(name: str, tile: Any) -> Connections:
    def decorate(body: Callable[[], Any]) -> Operation:
        context = written(f"a {name}")
        block = Block()
        op = context.create(f"aie.{name}", [unwrap(tile)], [INDEX], None, [Region([block])])
        with context.entered(Scope("function", body, body.__name__), block):
            body()
            if block.terminator is None or block.terminator.name != "aie.end":
                context.create("aie.end", location=op.location)
        return op

    return decorate


def connect(
    source_bundle: int, source_channel: int, dest_bundle: int, dest_channel: int
) -> Operation:
    """One circuit between two ports of a switch."""
    numbers = {
        "source_bundle": source_bundle,
        "source_channel": source_channel,
        "dest_bundle": dest_bundle,
        "dest_channel": dest_channel,
    }
    attributes = {name: IntegerAttr(int(n), I32) for name, n in numbers.items()}
    return written("a connection").create("aie.connect", (), (), attributes)


def shim_dma_allocation(
    sym_name: str, tile: Any, channel_dir: int, channel_index: int, *, plio: bool = False
) -> Operation:
    """Call a channel of a shim tile by a name, which transfers of the runtime sequence use."""
    context = written("a shim_dma_allocation")
    attributes: dict[str, Attribute] = {
        "sym_name": StringAttr(context.define(sym_name, "a shim_dma_allocation", here())),
        "channel_dir": IntegerAttr(int(channel_dir), I32),
        "channel_index": IntegerAttr(int(channel_index), I64),
    }
    if plio:
        attributes["plio"] = BoolAttr(True)
    return context.create("aie.shim_dma_allocation", [unwrap(tile)], (), attributes)
