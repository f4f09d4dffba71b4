"""Resolving a `Program` to MLIR.

Bodies are traced first (cores, then the sequence), into operations that lack their tiles; when all
users of fifos are known the design is placed and assembled. The user's objects are only read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..ir.attributes import IntegerAttr, StringAttr, TypeAttr
from ..ir.core import Block, Location, Operation, Region, Value
from ..ir.core import module as new_module
from ..ir.types import I32
from . import barrier, buffer, lock, sequence, worker
from .context import DesignContext, designing
from .dataflow.emit import fifo_operations
from .declarations import Functions
from .devices import Device
from .dtypes import scalar_type
from .endpoints import CORE, Endpoint, Endpoints
from .kernel import BaseKernel
from .module import Module
from .parameter import ScratchpadParameter
from .parts import resolve_parts
from .placement import Place, place
from .runtime import Runtime
from .tiles import Tile
from .worker import Worker


def resolve(
    device: Device, rt: Runtime, workers: list[Worker], device_name: str, where: Location
) -> Module:
    """The module of a design, verified; errors as of `Program.resolve_program`."""
    context = DesignContext(device, Endpoints(), Functions())
    with designing(context):
        assembly = _Assembly(context, device, rt, workers)
        operation = assembly.device(device_name)
        objects = context.functions.link()
    whole = new_module(where)
    for name in context.parameters:
        whole.body.append(_parameter(context.parameters[name]))
    whole.body.append(operation)
    module = Module(whole, objects)
    module.verify()
    return module


def _parameter(parameter: Any) -> Operation:
    attributes = {
        "sym_name": StringAttr(parameter.name),
        "type": TypeAttr(scalar_type(parameter.dtype)),
    }
    return Operation("aiex.scratchpad_parameter", (), (), attributes, location=parameter.where)


class _Assembly:
    """One resolve, in three steps: trace, place, put together."""

    def __init__(
        self, context: DesignContext, device: Device, rt: Runtime, workers: list[Worker]
    ) -> None:
        self._context = context
        self._device = device
        self._rt = rt
        self._workers = list(dict.fromkeys(workers))
        self._meet()
        args = [a for w in self._workers for a in w.flat_fn_args]
        self._parts, self._part_tiles = resolve_parts(context, args)
        self._cores = [worker.trace(context, w) for w in self._workers]
        self._sequence = sequence.trace(context, rt)
        self._check_loops()
        self._owners = self._buffer_tiles()
        places = place(device, context.endpoints, self._workers, self._pinned())
        self._tiles, self._values = self._tile_operations(places)

    def _meet(self) -> None:
        """Everything fn_args name, in order; what bodies reach otherwise is met as they run."""
        context = self._context
        handles = [h for w in self._workers for h in w.fifos] + self._rt.fifos
        context.endpoints.meet(context, handles)
        for w in self._workers:
            for handle in w.fifos:
                context.endpoints.bind(handle, Endpoint(CORE, w.tile, w, w.label))
        for handle in self._rt.fifos:
            if handle not in context.endpoints.bound:
                context.endpoints.bind_host(handle, self._rt)
        for w in self._workers:
            for arg in w.flat_fn_args:
                self._declare(arg, w)
        for made in self._rt.locks:
            lock.declare(context, made)
        for dma in self._rt.tile_dmas:
            dma.declare(context)

    def _declare(self, arg: Any, w: Worker) -> None:
        context = self._context
        if isinstance(arg, buffer.Buffer):
            buffer.declare(context, arg)
            context.users.setdefault(arg, {})[w] = None
        elif isinstance(arg, ScratchpadParameter):
            context.parameters.setdefault(arg.name, arg)
        elif isinstance(arg, BaseKernel):
            context.functions.declare(context, arg)
        elif isinstance(arg, barrier.WorkerRuntimeBarrier):
            barrier.declare(context, arg, w)
        elif isinstance(arg, lock.Lock):
            lock.declare(context, arg)

    def _check_loops(self) -> None:
        broken = self._context.broken_loops
        if broken:
            raise RuntimeError(
                "a range_ loop was left by break or return, which the design cannot express: "
                f"{', '.join(map(str, broken))}; use if_ in its body instead"
            )

    def _buffer_tiles(self) -> dict[buffer.Buffer, Tile]:
        """Where each Buffer lies: its own tile, or its Worker's. ValueError for a Buffer without
        a tile that two Workers take, or none."""
        for b, users in self._context.users.items():
            if len(users) > 1 and b.tile is None:
                labels = " and ".join(w.label for w in users)
                raise ValueError(
                    f"Buffer {b.name or ''} ({b.where}) has no explicit tile and is shared "
                    f"across Workers: {labels}; give it tile=, for example the Tile of the "
                    "Worker that owns it"
                )
        return {b: self._buffer_tile(b) for b in self._context.buffers}

    def _buffer_tile(self, b: buffer.Buffer) -> Tile:
        if b.tile is not None:
            return b.tile
        for dma in self._rt.tile_dmas:
            if b in dma.buffers():
                return dma.tile
        for w in self._context.users.get(b, ()):
            tile: Tile = w.tile
            return tile
        raise ValueError(
            f"Buffer {b.name or ''} ({b.where}) lies nowhere: pass it in the fn_args of a Worker, "
            "or give it tile="
        )

    def _pinned(self) -> list[Tile]:
        """Tiles named by other parts than Workers and fifos."""
        tiles = list(self._owners.values())
        tiles += [f.delegate_tile for f in self._fifos() if f.delegate_tile is not None]
        for part in (*self._rt.flows, *self._rt.tile_dmas):
            tiles += part.all_tiles()
        tiles += [*self._part_tiles, *self._context.wished]
        return tiles + [made.tile for made in self._context.locks]

    def _fifos(self) -> list[Any]:
        names = self._context.endpoints.fifos
        return sorted(names, key=lambda f: names[f])

    def _tile_operations(
        self, places: dict[Tile, Place]
    ) -> tuple[list[Operation], dict[Tile, Value]]:
        """One operation per place, in the order parts name them."""
        operations: dict[Place, Operation] = {}
        values: dict[Tile, Value] = {}
        for tile, where in self._tiles_in_order():
            at = places.get(tile)
            if at is None:
                raise ValueError(f"{tile} ({where}) has no place: give its column and row")
            if at not in operations:
                operations[at] = self._tile_operation(tile, at)
                operations[at].location = where
            elif tile in self._context.wished:
                _stands_for(self._context.wished[tile].result, operations[at], self._parts)
            if tile.allocation_scheme is not None:
                scheme = StringAttr(tile.allocation_scheme)
                operations[at].attributes["allocation_scheme"] = scheme
            values[tile] = operations[at].result
        for at, op in self._context.tiles.items():
            operations.setdefault(at, op)
        return list(operations.values()), values

    def _tile_operation(self, tile: Tile, at: Place) -> Operation:
        """The operation of a place: the one that bodies or parts know already, or a new one."""
        known, placed = self._context.tiles.get(at), self._device.tile_operation(at)
        wished = self._context.wished.get(tile)
        if wished is None:
            return known or placed
        if known is not None:
            _stands_for(wished.result, known, self._parts)
            return known
        wished.attributes.update(placed.attributes)
        wished.result.name = placed.result.name
        return wished

    def _tiles_in_order(self) -> Iterator[tuple[Tile, Location]]:
        for w in self._workers:
            yield w.tile, w.where
            yield from ((self._owners[b], b.where) for b in w.buffers)
        for fifo in self._fifos():
            yield from ((e.tile, fifo.where) for e in self._context.endpoints.ends(fifo))
        yield from ((tile, self._rt.where) for tile in self._pinned())

    def device(self, name: str) -> Operation:
        """The ``aie.device`` with everything in it."""
        body = Block()
        for operation in self._operations():
            body.append(operation)
        return Operation(
            "aie.device",
            (),
            (),
            {"device": IntegerAttr(int(self._device.enum), I32), "sym_name": StringAttr(name)},
            [Region([body])],
            location=self._rt.where,
        )

    def _operations(self) -> Iterable[Operation]:
        context, values = self._context, self._values
        yield from self._tiles
        yield from fifo_operations(context.endpoints, values)
        for flow in self._rt.flows:
            yield from flow.operations(values)
        yield from [op.detach() for op in list(self._parts.operations)]
        for made, op in context.locks.items():
            op.operands = [values[made.tile]]
            yield op
        for b, op in context.buffers.items():
            op.operands = [values[self._owners[b]]]
            yield op
        yield from context.functions.operations.values()
        for w, core in zip(self._workers, self._cores, strict=True):
            yield from self._worker(w, core)
        for w in self._workers:
            for cascade in w._outgoing_cascades:
                if cascade.dst.tile in values:
                    yield cascade.operation(values)
        for dma in self._rt.tile_dmas:
            yield dma.operation(context, values)
        yield self._sequence

    def _worker(self, w: Worker, core: Operation) -> Iterator[Operation]:
        value = self._values[w.tile]
        name = (value.name or "tile").removeprefix("tile_")
        for locks in self._context.barriers.values():
            if w in locks:
                locks[w].operands = [value]
                locks[w].result.name = f"lock_{name}"
                yield locks[w]
        core.operands = [value]
        core.result.name = f"core_{name}"
        yield core


def _stands_for(before: Value, operation: Operation, block: Block) -> None:
    """Another operation's result is used in place of a value."""
    for op in (o for top in block.operations for o in top.walk()):
        op.operands = [operation.result if v is before else v for v in op.operands]
