"""Fifos and flows of placed designs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
)
from ..ir.core import Value
from ..ir.dialects.enums import ObjectFifoPort, WireBundle
from ..ir.types import I32, I64, MemRefType, ObjectFifoSubviewType, ObjectFifoType
from .buffer import elements
from .context import here
from .dataflow.emit import dims, pads
from .dtypes import ir_type
from .memory import MemRef
from .placed import symbol_of, written
from .values import unwrap

__all__ = ["flow", "object_fifo", "object_fifo_link"]


class object_fifo:  # a word of the dialect, written as a function is
    """A fifo between tiles; ``acquire`` and ``release`` are used in cores."""

    def __init__(
        self,
        name: str,
        producerTile: Value,
        consumerTiles: Value | Sequence[Value],
        depth: int | Sequence[int],
        datatype: Any,
        dimensionsToStream: Any = None,
        dimensionsFromStreamPerConsumer: Any = None,
        initValues: Any = None,
        via_DMA: bool | None = None,
        plio: bool | None = None,
        padDimensions: Any = None,
        padValue: int | None = None,
        disable_synchronization: bool | None = None,
        iter_count: int | None = None,
        consumer_datatype: Any = None,
    ) -> None:
        context = written("an object_fifo")
        self.name = context.define(name, "an object_fifo", here())
        type = ir_type(datatype)
        assert isinstance(type, MemRefType)
        self.datatype = self.consumer_datatype = type
        consumers = list(consumerTiles) if isinstance(consumerTiles, (list, tuple)) else None
        ends = [unwrap(t) for t in ([consumerTiles] if consumers is None else consumers)]
        from_stream = dimensionsFromStreamPerConsumer or [None] * len(ends)
        attributes: dict[str, Attribute] = {
            "sym_name": StringAttr(name),
            "elemNumber": _depth(depth),
            "elemType": TypeAttr(ObjectFifoType(type)),
            "dimensionsToStream": dims(dimensionsToStream),
            "dimensionsFromStreamPerConsumer": ArrayAttr(tuple(dims(d) for d in from_stream)),
        }
        flags = {
            "via_DMA": via_DMA,
            "plio": plio,
            "disable_synchronization": disable_synchronization,
        }
        attributes.update({k: BoolAttr(True) for k, flag in flags.items() if flag})
        numbers = {"padValue": padValue, "iter_count": iter_count}
        attributes.update({k: IntegerAttr(n, I32) for k, n in numbers.items() if n is not None})
        if padDimensions is not None:
            attributes["padDimensions"] = pads(padDimensions)
        if consumer_datatype is not None:
            consumed = ir_type(consumer_datatype)
            assert isinstance(consumed, MemRefType)
            self.consumer_datatype = consumed
            attributes["consumerElemType"] = TypeAttr(ObjectFifoType(consumed))
        if initValues is not None:
            attributes["initValues"] = ArrayAttr(
                tuple(elements(np.asarray(v), type, type) for v in initValues)
            )
        operands = [unwrap(producerTile), *ends]
        self.operation = context.create(
            "aie.objectfifo", operands, (), attributes, segments=(1, len(ends))
        )

    def acquire(self, port: ObjectFifoPort, num_elem: int) -> Any:
        """The object for 1, else a list of them."""
        context = written("acquire()")
        type = self.datatype if int(port) == ObjectFifoPort.Produce else self.consumer_datatype
        attributes = self._port(port, num_elem)
        view = context.create(
            "aie.objectfifo.acquire", (), [ObjectFifoSubviewType(type)], attributes
        ).result
        objects = [
            MemRef(
                context.create(
                    "aie.objectfifo.subview.access", [view], [type], {"index": IntegerAttr(i, I32)}
                ).result
            )
            for i in range(num_elem)
        ]
        return objects[0] if num_elem == 1 else objects

    def release(self, port: ObjectFifoPort, num_elem: int) -> None:
        """Hand `num_elem` objects to the other end, oldest first."""
        context = written("release()")
        context.create("aie.objectfifo.release", (), (), self._port(port, num_elem))

    def _port(self, port: ObjectFifoPort, count: int) -> dict[str, Attribute]:
        return {
            "port": IntegerAttr(int(port), I32),
            "objFifo_name": SymbolRefAttr((self.name,)),
            "size": IntegerAttr(int(count), I32),
        }

    def set_repeat_count(self, num: int) -> None:
        """Send each object `num` times from a memtile."""
        self.operation.attributes["repeat_count"] = IntegerAttr(num, I32)

    def set_aie_stream(self, stream_end: int, stream_port: int) -> None:
        """Let the core use the stream itself at an end (0: the producer's, 1: the consumer's,
        2: both), on its port `stream_port`."""
        self.operation.attributes["aie_stream"] = IntegerAttr(stream_end, I32)
        self.operation.attributes["aie_stream_port"] = IntegerAttr(stream_port, I32)

    def allocate(self, tile: Value) -> None:
        """Let the objects lie at `tile`."""
        name = {"objFifo_name": SymbolRefAttr((self.name,))}
        written("allocate()").create("aie.objectfifo.allocate", [unwrap(tile)], (), name)


def _depth(depth: int | Sequence[int]) -> Attribute:
    if isinstance(depth, (list, tuple)):
        return ArrayAttr(tuple(IntegerAttr(int(d), I32) for d in depth))
    return IntegerAttr(int(depth), I32)  # type: ignore[arg-type]


def object_fifo_link(
    fifoIns: Any, fifoOuts: Any, srcOffsets: Sequence[int] = (), dstOffsets: Sequence[int] = ()
) -> None:
    """Tie fifos together on the tile they share: one to one, one to many, or many to one."""

    def names(fifos: Any) -> ArrayAttr:
        several = fifos if isinstance(fifos, (list, tuple)) else [fifos]
        return ArrayAttr(tuple(SymbolRefAttr((symbol_of(f),)) for f in several))

    def numbers(offsets: Sequence[int]) -> ArrayAttr:
        return ArrayAttr(tuple(IntegerAttr(int(o), I64) for o in offsets))

    attributes = {
        "fifoIns": names(fifoIns),
        "fifoOuts": names(fifoOuts),
        "src_offsets": numbers(srcOffsets),
        "dst_offsets": numbers(dstOffsets),
    }
    written("an object_fifo_link").create("aie.objectfifo.link", (), (), attributes)


def flow(
    source: Value,
    source_bundle: WireBundle = WireBundle.DMA,
    source_channel: int = 0,
    dest: Value | None = None,
    dest_bundle: WireBundle = WireBundle.DMA,
    dest_channel: int = 0,
) -> None:
    """A stream between ports of two tiles."""
    if dest is None:
        raise TypeError("flow() needs dest, the tile the stream goes to")
    attributes = {
        "source_bundle": IntegerAttr(int(source_bundle), I32),
        "source_channel": IntegerAttr(int(source_channel), I32),
        "dest_bundle": IntegerAttr(int(dest_bundle), I32),
        "dest_channel": IntegerAttr(int(dest_channel), I32),
    }
    ends = [unwrap(source), unwrap(dest)]
    written("a flow").create("aie.flow", ends, (), attributes)
