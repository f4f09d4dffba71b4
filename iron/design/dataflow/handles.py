"""One end of an ObjectFifo: acquire and release in cores, fill and drain in sequences, and the
links that forward, split and join make between fifos."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.attributes import IntegerAttr, SymbolRefAttr
from ...ir.core import Location
from ...ir.types import I32, MemRefType, ObjectFifoSubviewType
from ..context import DesignContext, here, in_core
from ..memory import MemRef
from ..tiles import AnyMemTile, Tile
from .links import ObjectFifoLink, PerOffset
from .objectfifo import ObjectFifo, PadDims, StreamDims

if TYPE_CHECKING:
    from ..endpoints import Endpoint
    from ..runtime import RuntimeData
    from ..taps import TensorAccessPattern
    from ..tasks import Task

PRODUCE, CONSUME = 0, 1  # ObjectFifoPort


class ObjectFifoHandle:
    """The producer or a consumer of a fifo, made by ``prod()`` and ``cons()``."""

    def __init__(
        self,
        of: ObjectFifo,
        is_prod: bool,
        depth: int | None = None,
        dims_from_stream: StreamDims | None = None,
        channel: int | None = None,
        tile: Tile | None = None,
    ) -> None:
        if depth is None:
            depth = of.depth
        if depth is None:
            raise ValueError(
                f"ObjectFifo {of.name} has no depth of its own, so each handle needs one: "
                "pass depth="
            )
        if depth < 1:
            raise ValueError(f"ObjectFifo {of.name}: depth must be at least 1, found {depth}")
        if is_prod and dims_from_stream:
            raise ValueError(
                f"ObjectFifo {of.name}: dims_from_stream is of consumers; a producer's order is "
                "dims_to_stream of the ObjectFifo"
            )
        if not is_prod and not dims_from_stream:
            dims_from_stream = of.dims_from_stream_per_cons
        self.fifo = of
        self.is_producer = is_prod
        self._depth = depth
        self._dims_from_stream = dims_from_stream
        self._channel = channel
        self.shim_tile = tile
        self.link: ObjectFifoLink | None = None
        self.endpoint: Any = None
        """Where it lies when neither a Worker nor the Runtime nor a link uses it: something with
        a ``tile``. A fifo with initial values needs no more of its producer."""
        self.where: Location = here()

    @property
    def name(self) -> str:
        """The name of the fifo."""
        return self.fifo.name

    @property
    def depth(self) -> int:
        """How many objects this end may hold at once."""
        return self._depth

    @property
    def channel(self) -> int | None:
        """The DMA channel asked for; None: the tools choose."""
        return self._channel

    @property
    def obj_type(self) -> Any:
        """The array type of an object."""
        return self.fifo.obj_type

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of an object in elements, outermost first."""
        return self.fifo.shape

    @property
    def dtype(self) -> Any:
        """The NumPy scalar class of the elements of an object."""
        return self.fifo.dtype

    @property
    def handle_type(self) -> str:
        """``"prod"`` or ``"cons"``."""
        return "prod" if self.is_producer else "cons"

    @property
    def dims_from_stream(self) -> StreamDims | None:
        """The order in which a consumer's DMA writes an object; ValueError for the producer."""
        if self.is_producer:
            raise ValueError("prod ObjectFifoHandles cannot have dims_from_stream")
        return self._dims_from_stream

    def same_wishes(self, other: ObjectFifoHandle) -> bool:
        """Whether the other end asks for the same depth, order and channel."""
        return (self._depth, _plain(self._dims_from_stream), self._channel) == (
            other._depth,
            _plain(other._dims_from_stream),
            other._channel,
        )

    # In a core ------------------------------------------------------------------------------

    def acquire(self, num_elem: int) -> Any:
        """Wait until this end holds `num_elem` objects in all; the object for 1, else a list.

        ValueError for less than 1 or more than the depth; ScopeError outside of a core.
        """
        self._check_count("acquire", num_elem)
        context = in_core(f"acquire() of ObjectFifo {self.name}")
        name = self._bind_to_core(context)
        type = self._object_type()
        subview = context.create(
            "aie.objectfifo.acquire",
            (),
            [ObjectFifoSubviewType(type)],
            self._port_attributes(name, num_elem),
        ).result
        objects = [
            MemRef(
                context.create(
                    "aie.objectfifo.subview.access",
                    [subview],
                    [type],
                    {"index": IntegerAttr(i, I32)},
                ).result
            )
            for i in range(num_elem)
        ]
        return objects[0] if num_elem == 1 else objects

    def release(self, num_elem: int) -> None:
        """Hand `num_elem` objects to the other end, oldest first; errors as for `acquire`."""
        self._check_count("release", num_elem)
        context = in_core(f"release() of ObjectFifo {self.name}")
        name = self._bind_to_core(context)
        context.create("aie.objectfifo.release", (), (), self._port_attributes(name, num_elem))

    def _check_count(self, verb: str, count: int) -> None:
        if not isinstance(count, (int, np.integer)) or isinstance(count, bool):
            raise TypeError(f"{verb}() of ObjectFifo {self.name} takes an int, found {count!r}")
        if count < 1:
            raise ValueError(f"{verb}() of ObjectFifo {self.name}: at least 1, found {count}")
        if count > self._depth:
            raise ValueError(
                f"{verb}({count}) of ObjectFifo {self.name}: its depth is {self._depth} "
                f"({self.where})"
            )

    def _bind_to_core(self, context: DesignContext) -> str:
        from ..endpoints import CORE, Endpoint

        assert context.scope is not None
        context.endpoints.meet(context, [self])
        if context.scope.kind == CORE:
            worker = context.scope.owner
            context.endpoints.bind(self, Endpoint(CORE, worker.tile, worker, context.scope.name))
        return context.endpoints.fifos[self.fifo]

    def _port_attributes(self, name: str, size: int) -> dict[str, Any]:
        return {
            "port": IntegerAttr(PRODUCE if self.is_producer else CONSUME, I32),
            "objFifo_name": SymbolRefAttr((name,)),
            "size": IntegerAttr(int(size), I32),
        }

    def _object_type(self) -> MemRefType:
        return self.fifo.memref if self.is_producer else self.fifo.consumer_memref

    # In a runtime sequence ------------------------------------------------------------------

    def fill(
        self,
        source: RuntimeData,
        tap: TensorAccessPattern | None = None,
        wait: bool = False,
        packet: tuple[int, int] | None = None,
        offset_parameter: Any = None,
        group: Any = None,
        sizes: Sequence[Any] | None = None,
        strides: Sequence[Any] | None = None,
        offset: Any = None,
        transfer_len: Any = None,
        managed: bool = True,
    ) -> Task:
        """Send `source` into the fifo, in the order of `tap` or of explicit sizes and strides
        (outermost first, in elements, known or traced); all of it in order when there are none.

        `wait` makes the close of `group` wait for the end. `managed` False leaves that and the
        descriptor to the caller (`Task.await_`, `Task.free`). ValueError for a consumer's handle,
        another sequence's data, two access patterns at once, more than 4 dimensions.
        """
        from .transfers import Pattern, transfer

        pattern = Pattern(tap, sizes, strides, offset, transfer_len)
        return transfer(
            self, "fill", source, pattern, wait, packet, offset_parameter, group, managed
        )

    def drain(
        self,
        dest: RuntimeData,
        tap: TensorAccessPattern | None = None,
        wait: bool = False,
        packet: tuple[int, int] | None = None,
        offset_parameter: Any = None,
        group: Any = None,
        sizes: Sequence[Any] | None = None,
        strides: Sequence[Any] | None = None,
        offset: Any = None,
        transfer_len: Any = None,
        managed: bool = True,
    ) -> Task:
        """Receive the fifo's objects into `dest`; arguments and errors as for `fill`."""
        from .transfers import Pattern, transfer

        pattern = Pattern(tap, sizes, strides, offset, transfer_len)
        return transfer(
            self, "drain", dest, pattern, wait, packet, offset_parameter, group, managed
        )

    # Links ----------------------------------------------------------------------------------

    def all_of_endpoints(self) -> list[Endpoint]:
        """Both ends of its fifo, the producer first, each with a ``tile``; in the design being
        resolved. ValueError when an end is missing, and outside of a design."""
        return self.fifo.ends()

    def join(
        self,
        offsets: Sequence[int],
        tile: Tile | None = AnyMemTile,
        depths: Sequence[int] | None = None,
        obj_types: Sequence[Any] | None = None,
        names: Sequence[str] | None = None,
        dims_to_stream: Sequence[StreamDims] | None = None,
        dims_from_stream: Sequence[StreamDims] | None = None,
        plio: bool = False,
        repeat_counts: Sequence[int | None] | None = None,
    ) -> list[ObjectFifo]:
        """New fifos whose objects are put together, at `offsets` (in elements), into the objects
        of this one. ValueError for a consumer's handle or lists of other lengths than `offsets`.
        """
        if not self.is_producer:
            raise ValueError(f"Cannot join() a {self.handle_type} ObjectFifoHandle")
        n = len(offsets)
        lists = PerOffset(self.name, n)
        depth_of = lists.of("depths", depths, self._depth)
        type_of = lists.of("obj_types", obj_types, self.obj_type)
        name_of = lists.of("names", names, None)
        to_stream = lists.of("dims_to_stream", dims_to_stream, None)
        from_stream = lists.of("dims_from_stream", dims_from_stream, None)
        repeats = lists.of("repeat_counts", repeat_counts, None)
        parts = [
            self._part(
                f"_join{i}",
                name_of[i],
                type_of[i],
                depth=depth_of[i],
                dims_to_stream=to_stream[i],
                plio=plio,
                repeat_count=repeats[i],
            )
            for i in range(n)
        ]
        sources = [
            p.cons(depth=depth_of[i], dims_from_stream=from_stream[i]) for i, p in enumerate(parts)
        ]
        ObjectFifoLink(sources, [self], tile, list(offsets), [])
        return parts

    def split(
        self,
        offsets: Sequence[int],
        tile: Tile | None = AnyMemTile,
        depths: Sequence[int] | None = None,
        obj_types: Sequence[Any] | None = None,
        names: Sequence[str] | None = None,
        dims_to_stream: Sequence[StreamDims] | None = None,
        dims_from_stream: Sequence[StreamDims] | None = None,
        plio: bool = False,
        repeat_counts: Sequence[int | None] | None = None,
        pad_dimensions: Sequence[PadDims | None] | None = None,
        pad_value: Sequence[int] | None = None,
    ) -> list[ObjectFifo]:
        """New fifos that each carry the part of this one's objects that starts at its offset (in
        elements). ValueError for the producer's handle or lists of other lengths than `offsets`.
        """
        if self.is_producer:
            raise ValueError(f"Cannot split() a {self.handle_type} ObjectFifoHandle")
        names_given = [None] * len(offsets) if names is None else names
        suffixes = [f"_split{i}" for i in range(len(offsets))]
        return self._split(
            offsets, tile, depths, obj_types, names_given, suffixes, dims_to_stream,
            dims_from_stream, plio, repeat_counts, pad_dimensions, pad_value,
        )  # fmt: skip

    def forward(
        self,
        tile: Tile | None = AnyMemTile,
        obj_type: Any = None,
        depth: int | None = None,
        name: str | None = None,
        dims_to_stream: StreamDims | None = None,
        dims_from_stream: StreamDims | None = None,
        plio: bool = False,
        repeat_count: int | None = None,
        pad_dimensions: PadDims | None = None,
        pad_value: int = 0,
    ) -> ObjectFifo:
        """A new fifo that carries this one's objects on from `tile`. ValueError for the
        producer's handle."""
        if self.is_producer:
            raise ValueError(f"Cannot forward a {self.handle_type} ObjectFifoHandle")

        def one(value: Any) -> list[Any] | None:
            return None if value is None else [value]

        return self._split(
            [0], tile, one(depth), one(obj_type), [name], ["_fwd"], one(dims_to_stream),
            one(dims_from_stream), plio, one(repeat_count), one(pad_dimensions), [pad_value],
        )[0]  # fmt: skip

    def _split(
        self,
        offsets: Sequence[int],
        tile: Tile | None,
        depths: Any,
        obj_types: Any,
        names: Any,
        suffixes: list[str],
        dims_to_stream: Any,
        dims_from_stream: Any,
        plio: bool,
        repeat_counts: Any,
        pad_dimensions: Any,
        pad_value: Any,
    ) -> list[ObjectFifo]:
        n = len(offsets)
        lists = PerOffset(self.name, n)
        depth_of = lists.of("depths", depths, self._depth)
        type_of = lists.of("obj_types", obj_types, self.obj_type)
        name_of = lists.of("names", names, None)
        to_stream = lists.of("dims_to_stream", dims_to_stream, None)
        from_stream = lists.of("dims_from_stream", dims_from_stream, None)
        repeats = lists.of("repeat_counts", repeat_counts, None)
        pads = lists.of("pad_dimensions", pad_dimensions, None)
        values = lists.of("pad_value", pad_value, 0)
        parts = [
            self._part(
                suffixes[i],
                name_of[i],
                type_of[i],
                depth=depth_of[i],
                dims_to_stream=to_stream[i],
                dims_from_stream_per_cons=from_stream[i],
                plio=plio,
                repeat_count=repeats[i],
                pad_dimensions=pads[i],
                pad_value=values[i],
            )
            for i in range(n)
        ]
        ObjectFifoLink([self], [p.prod() for p in parts], tile, [], list(offsets))
        return parts

    def _part(self, suffix: str, name: str | None, obj_type: Any, **options: Any) -> ObjectFifo:
        if name is None and self.fifo.given_name is not None:
            name = f"{self.fifo.given_name}{suffix}"
        part = type(self.fifo)(obj_type, name=name, **options)
        if name is None:
            part.parent, part.suffix = self.fifo, suffix
        return part

    def __repr__(self) -> str:
        return f"ObjectFifoHandle({self.handle_type}, depth={self._depth}, {self.fifo})"

    __str__ = __repr__


def _plain(dims: StreamDims | None) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(n) for n in d) for d in dims or ())
