"""ObjectFifo: a bounded queue of equal objects between parts of a design.

Owns what the user declares. Who stands at its ends in a given design is kept by `endpoints`, how it
becomes IR by `emit`; resolving it leaves no mark on it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..context import current, here
from ..dtypes import array_dtype, array_shape, memref_type

if TYPE_CHECKING:
    from ..endpoints import Endpoint
    from ..tiles import Tile
    from .handles import ObjectFifoHandle

StreamDims: TypeAlias = Sequence[Sequence[int]]
"""(size, stride) pairs, outermost first; strides in elements."""

PadDims: TypeAlias = Sequence[Sequence[int]]
"""(before, after) pairs, outermost first, in elements."""

# Tells the order in which fifos were made; numbers in names are counted per design.
_serials = itertools.count()


class ObjectFifo:
    """A queue of `depth` objects of type `obj_type`, from one producer to one or more consumers;
    every consumer sees every object.

    `dims_to_stream` and `dims_from_stream_per_cons` say in which order the DMAs read an object at
    the producer and write it at each consumer. `pad_dimensions` adds `pad_value` around it (memtile
    producers only). `repeat_count` sends each object so many times from a memtile. `delegate_tile`
    is where the objects lie when both ends share memory. `via_DMA` forbids such sharing.
    `init_values` are objects present at the start. `consumer_obj_type` is what consumers see, when
    they cut the producer's objects into smaller ones. `aie_stream` is ``(end, port)`` of a stream
    used by the core itself. Unnamed fifos are numbered per design, in the order they were made.

    ValueError for a depth below 1.
    """

    def __init__(
        self,
        obj_type: Any,
        *,
        depth: int | None = 2,
        name: str | None = None,
        dims_to_stream: StreamDims | None = None,
        dims_from_stream_per_cons: StreamDims | None = None,
        plio: bool = False,
        pad_dimensions: PadDims | None = None,
        pad_value: int = 0,
        disable_synchronization: bool = False,
        repeat_count: int | None = None,
        delegate_tile: Tile | None = None,
        via_DMA: bool = False,
        init_values: Sequence[np.ndarray[Any, Any]] | None = None,
        consumer_obj_type: Any = None,
        aie_stream: tuple[int, int] | None = None,
    ) -> None:
        if depth is not None and depth < 1:
            raise ValueError(f"ObjectFifo {name or ''}: depth must be at least 1, found {depth}")
        self.memref = memref_type(obj_type)
        self.consumer_memref = (
            self.memref if consumer_obj_type is None else memref_type(consumer_obj_type)
        )
        self._obj_type = obj_type
        self._depth = depth
        self.given_name = name
        self._dims_to_stream = dims_to_stream
        self._dims_from_stream_per_cons = dims_from_stream_per_cons
        self.plio = plio
        self.pad_dimensions = pad_dimensions
        self.pad_value = pad_value
        self.disable_synchronization = disable_synchronization
        self.repeat_count = repeat_count
        self.delegate_tile = delegate_tile
        self.via_DMA = via_DMA
        self.init_values = None if init_values is None else [np.array(v) for v in init_values]
        self.has_consumer_type = consumer_obj_type is not None
        self.aie_stream = aie_stream
        self.iter_count: int | None = None
        self.serial = next(_serials)
        self.parent: ObjectFifo | None = None
        self.suffix = ""
        self.where = here()
        self.producer_handle: ObjectFifoHandle | None = None
        self.consumer_handles: list[ObjectFifoHandle] = []

    @property
    def name(self) -> str:
        """The name given, or the one the design being resolved numbers it with, else ``of``."""
        if self.given_name is not None:
            return self.given_name
        context = current()
        if context is not None and self in context.endpoints.fifos:
            return context.endpoints.fifos[self]
        return f"{self.parent.name}{self.suffix}" if self.parent is not None else "of"

    @property
    def depth(self) -> int | None:
        """The depth of ends that ask for no other."""
        return self._depth

    @property
    def dims_to_stream(self) -> StreamDims | None:
        """As given."""
        return self._dims_to_stream

    @property
    def dims_from_stream_per_cons(self) -> StreamDims | None:
        """As given."""
        return self._dims_from_stream_per_cons

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of an object in elements, outermost first."""
        return array_shape(self._obj_type)

    @property
    def dtype(self) -> Any:
        """The NumPy scalar class of the elements of an object."""
        return array_dtype(self._obj_type)

    @property
    def obj_type(self) -> Any:
        """The array type of an object, as given."""
        return self._obj_type

    @property
    def handles(self) -> list[ObjectFifoHandle]:
        """The producer's handle if any, then the consumers'."""
        head = [] if self.producer_handle is None else [self.producer_handle]
        return [*head, *self.consumer_handles]

    def set_iter_count(self, iter_count: int) -> None:
        """Run the memtile's chain of buffer descriptors `iter_count` times, 1 to 256; ValueError
        otherwise."""
        if not isinstance(iter_count, (int, np.integer)) or not 1 <= iter_count <= 256:
            raise ValueError(f"Iter count must be in [1, 256] range, found {iter_count!r}")
        self.iter_count = int(iter_count)

    def prod(
        self, depth: int | None = None, channel: int | None = None, tile: Tile | None = None
    ) -> ObjectFifoHandle:
        """The producer's handle, one for all calls.

        `channel` pins the DMA channel; `tile` is the shim tile when the Runtime fills the fifo.
        ValueError when a later call asks for another channel or tile.
        """
        context = current()
        handle = self.producer_handle
        if handle is None and context is not None:
            handle = context.endpoints.producers.get(self)
        if handle is None:
            handle = self._end(True, depth, channel=channel, tile=tile)
            if context is None:
                self.producer_handle = handle
            else:  # made in a traced body: it belongs to that design only
                context.endpoints.producers[self] = handle
            return handle
        if depth is not None and depth < 1:
            raise ValueError(f"ObjectFifo {self.name}: depth must be at least 1, found {depth}")
        if channel is not None and channel != handle.channel:
            raise ValueError(
                f"the producer of ObjectFifo {self.name} is already pinned to channel "
                f"{handle.channel} ({handle.where}), not {channel}"
            )
        if tile is not None and not _same_place(tile, handle.shim_tile):
            raise ValueError(
                f"the producer of ObjectFifo {self.name} is already pinned to shim tile "
                f"{handle.shim_tile} ({handle.where}), not {tile}"
            )
        return handle

    def _end(self, *arguments: Any, **options: Any) -> ObjectFifoHandle:
        """A new handle of this fifo."""
        from .handles import ObjectFifoHandle

        return ObjectFifoHandle(self, *arguments, **options)

    def cons(
        self,
        depth: int | None = None,
        dims_from_stream: StreamDims | None = None,
        channel: int | None = None,
        tile: Tile | None = None,
    ) -> ObjectFifoHandle:
        """A new consumer of the fifo. ValueError when neither it nor the fifo has a depth."""
        handle = self._end(False, depth, dims_from_stream, channel=channel, tile=tile)
        context = current()
        if context is None:
            self.consumer_handles.append(handle)
        else:  # made in a traced body: it belongs to that design only
            context.endpoints.traced.setdefault(self, []).append(handle)
        return handle

    def tiles(self, cons_only: bool = False) -> list[Tile]:
        """The tiles of the ends, as wished, in the design being resolved. ValueError when an end
        is missing."""
        ends = self.ends()
        return [e.tile for e in (ends[1:] if cons_only else ends)]

    def ends(self) -> list[Endpoint]:
        """Its producer, then its consumers, in the design being resolved; ValueError as `tiles`."""
        context = current()
        if context is None:
            raise ValueError(f"ObjectFifo {self.name}: its ends are known while it is resolved")
        return context.endpoints.ends(self)

    def __repr__(self) -> str:
        return f"ObjectFifo({self.memref}, depth={self._depth}, name={self.name!r})"

    __str__ = __repr__


def _same_place(a: Tile, b: Tile | None) -> bool:
    return a is b or (b is not None and (a.col, a.row) == (b.col, b.row))
