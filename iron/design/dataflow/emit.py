"""ObjectFifos and links of a placed design as operations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DenseArrayAttr,
    IntegerAttr,
    StringAttr,
    StructAttr,
    SymbolRefAttr,
    TypeAttr,
)
from ...ir.core import Operation, Value
from ...ir.types import I32, I64, ObjectFifoType, bit_width
from ..buffer import elements
from ..endpoints import Endpoints
from ..tiles import Tile
from .handles import ObjectFifoHandle
from .links import ObjectFifoLink
from .objectfifo import ObjectFifo, StreamDims


def fifo_operations(endpoints: Endpoints, tile: dict[Tile, Value]) -> Iterator[Operation]:
    """Every fifo of the design by name, each link right after the fifos it ties."""
    done: set[object] = set()
    for fifo in sorted(endpoints.fifos, key=lambda f: endpoints.fifos[f]):
        if _touches_program(endpoints, fifo):
            yield from _with_links(endpoints, tile, fifo, done)
    for fifo in sorted(endpoints.fifos, key=lambda f: endpoints.fifos[f]):
        yield from _with_links(endpoints, tile, fifo, done)


def _touches_program(endpoints: Endpoints, fifo: ObjectFifo) -> bool:
    """Whether a core or the host has an end; fifos between links follow those."""
    return any(end.kind != "link" for end in endpoints.ends(fifo))


def _with_links(
    endpoints: Endpoints, tile: dict[Tile, Value], fifo: ObjectFifo, done: set[object]
) -> Iterator[Operation]:
    if fifo in done:
        return
    done.add(fifo)
    yield from _fifo(endpoints, tile, fifo)
    for handle in fifo.handles:
        link = handle.link
        if link is None or link in done:
            continue
        done.add(link)
        for other in (*link.sources, *link.targets):
            yield from _with_links(endpoints, tile, other.fifo, done)
        yield _link(endpoints, link)


def _fifo(endpoints: Endpoints, tile: dict[Tile, Value], fifo: ObjectFifo) -> Iterator[Operation]:
    producer = endpoints.producer(fifo)
    consumers = endpoints.consumers(fifo)
    name = endpoints.fifos[fifo]
    handles = [endpoints.producer_handle(fifo), *(h for h, _ in consumers)]
    attributes: dict[str, Attribute] = {
        "sym_name": StringAttr(name),
        "elemNumber": _depths(handles),
        "elemType": TypeAttr(ObjectFifoType(fifo.memref)),
        "dimensionsToStream": dims(fifo.dims_to_stream),
        "dimensionsFromStreamPerConsumer": ArrayAttr(
            tuple(dims(h.dims_from_stream) for h, _ in consumers)
        ),
        **_options(fifo, handles),
    }
    operands = [tile[producer.tile], *(tile[e.tile] for _, e in consumers)]
    yield Operation(
        "aie.objectfifo",
        operands,
        (),
        attributes,
        segments=(1, len(consumers)),
        location=fifo.where,
    )
    if fifo.delegate_tile is not None:
        yield Operation(
            "aie.objectfifo.allocate",
            [tile[fifo.delegate_tile]],
            (),
            {"objFifo_name": SymbolRefAttr((name,))},
            location=fifo.where,
        )


def _depths(handles: list[ObjectFifoHandle]) -> Attribute:
    depths = [h.depth for h in handles]
    if len(set(depths)) == 1:
        return IntegerAttr(depths[0], I32)
    return ArrayAttr(tuple(IntegerAttr(d, I32) for d in depths))


def dims(pairs: StreamDims | None) -> ArrayAttr:
    """(size, stride) pairs as the DMA's dimensions, outermost first."""
    return ArrayAttr(
        tuple(
            StructAttr("aie.bd_dim_layout", (("size", int(size)), ("stride", int(stride))))
            for size, stride in pairs or ()
        )
    )


def pads(pairs: Any) -> ArrayAttr:
    """(before, after) pairs as the DMA's padding, outermost first."""
    return ArrayAttr(
        tuple(
            StructAttr(
                "aie.bd_pad_layout",
                (("const_pad_before", int(before)), ("const_pad_after", int(after))),
            )
            for before, after in pairs
        )
    )


def pad_word(value: int, bytes: int) -> int:
    """A pad value repeated to fill the 32 bits of the channel's register; ValueError for elements
    wider than that."""
    if bytes > 4:
        raise ValueError(f"pad_value fills 32 bits; elements of {bytes} bytes are too wide")
    bits = 8 * bytes
    element = value & ((1 << bits) - 1)
    word = sum(element << shift for shift in range(0, 32, bits))
    return word - (1 << 32) if word >= 1 << 31 else word


def _options(fifo: ObjectFifo, handles: list[ObjectFifoHandle]) -> dict[str, Attribute]:
    """What is said only when it is not the default."""
    out: dict[str, Attribute] = {}
    for key, flag in (
        ("plio", fifo.plio),
        ("via_DMA", fifo.via_DMA),
        ("disable_synchronization", fifo.disable_synchronization),
    ):
        if flag:
            out[key] = BoolAttr(True)
    numbers: dict[str, int | None] = {
        "iter_count": fifo.iter_count,
        "repeat_count": fifo.repeat_count,
        "prod_dma_channel": handles[0].channel,
    }
    if fifo.aie_stream is not None:
        numbers["aie_stream"], numbers["aie_stream_port"] = fifo.aie_stream
    if fifo.pad_value:
        numbers["padValue"] = pad_word(int(fifo.pad_value), bit_width(fifo.memref.element) // 8)
    out.update({k: IntegerAttr(int(n), I32) for k, n in numbers.items() if n is not None})
    if fifo.pad_dimensions is not None:
        out["padDimensions"] = pads(fifo.pad_dimensions)
    channels = [h.channel for h in handles[1:]]
    if any(c is not None for c in channels):
        out["cons_dma_channels"] = DenseArrayAttr(
            I32, tuple(-1 if c is None else c for c in channels)
        )
    if fifo.has_consumer_type:
        out["consumerElemType"] = TypeAttr(ObjectFifoType(fifo.consumer_memref))
    if fifo.init_values is not None:
        out["initValues"] = ArrayAttr(tuple(_initial(fifo, v) for v in fifo.init_values))
    return out


def _initial(fifo: ObjectFifo, value: np.ndarray[Any, Any]) -> Attribute:
    if value.size != fifo.memref.size:
        raise ValueError(
            f"ObjectFifo {fifo.name} ({fifo.where}): an initial value has shape {value.shape}, "
            f"objects have {fifo.shape}"
        )
    return elements(value, fifo.memref, fifo.memref)


def _link(endpoints: Endpoints, link: ObjectFifoLink) -> Operation:
    def names(handles: tuple[ObjectFifoHandle, ...]) -> ArrayAttr:
        return ArrayAttr(tuple(SymbolRefAttr((endpoints.fifos[h.fifo],)) for h in handles))

    def numbers(offsets: tuple[int, ...]) -> ArrayAttr:
        return ArrayAttr(tuple(IntegerAttr(o, I64) for o in offsets))

    attributes = {
        "fifoIns": names(link.sources),
        "fifoOuts": names(link.targets),
        "src_offsets": numbers(link.source_offsets),
        "dst_offsets": numbers(link.target_offsets),
    }
    return Operation("aie.objectfifo.link", (), (), attributes, location=link.where)
