"""What the runtime sequence does to whole devices: it loads, resets and parameterises them.

A device is loaded by `aiex.configure`, always afresh, and by `aiex.npu.load_pdi`, which does
nothing when that device is loaded already (AIEX.td of mlir-aie, NpuLoadPdiOp).
"""

from __future__ import annotations

from iron.ir.core import Operation

from . import reading as r
from .cpp_ops import ctype
from .cpp_sequence import SequenceBody
from .devices import Devices, choose_sequence
from .errors import refuse
from .state import DIRECTIONS, Lowering

_SYNC = "aiex.sync_scratchpad_parameters_from_host"


class ControlBody(SequenceBody):
    """The whole runtime sequence; `s` is the device whose names its operations use now."""

    def __init__(self, devices: Devices) -> None:
        super().__init__(devices.first)
        self.devices = devices
        self.inlined: list[Operation] = []

    # ---- devices
    def load(self, op: Operation, s: Lowering, *, afresh: bool) -> None:
        number = self.devices.number(s)
        word = "true" if afresh else "false"
        self.write(f"iron::load_device(c, {number}, {word}, {self.site(op)});")

    def do_aiex_configure(self, op: Operation) -> None:
        outer = self.s
        self.s = self.devices.named(op, r.symbol(op, "symbol"))
        self.load(op, self.s, afresh=True)
        self.scope(op)
        self.s = outer

    def do_aiex_npu_load_pdi(self, op: Operation) -> None:
        if "device_ref" in op.attributes:
            self.load(op, self.devices.named(op, r.symbol(op, "device_ref")), afresh=False)

    def scope(self, op: Operation) -> None:
        self.write("{")
        self.depth += 1
        self.block(op.region.entry)
        self.depth -= 1
        self.write("}")

    def do_aiex_run(self, op: Operation) -> None:
        """The other sequence, in place."""
        called = choose_sequence(self.s.op, r.symbol(op, "runtime_sequence_symbol"))
        if called in self.inlined:
            raise refuse(op, "the sequence runs itself")
        if len(called.region.blocks) != 1:
            raise refuse(called, "a sequence that is run by another must be one block")
        parameters = called.body.arguments
        if len(parameters) != len(op.operands):
            raise refuse(
                op, f"passes {len(op.operands)} arguments, the sequence takes {len(parameters)}"
            )
        for inner in called.walk():  # it may have been written before, in another scope
            for made in inner.results:
                self.names.pop(id(made), None)
        for a, v in zip(parameters, op.operands, strict=True):
            self.names[id(a)] = self.value(op, v)
        self.inlined.append(called)
        self.sync_at_start(called)
        self.scope(called)
        self.inlined.pop()

    # ---- resets
    def do_aiex_core_reset(self, op: Operation) -> None:
        tile = self.s.tile(op, r.single(op, "tile"))
        self.write(f'iron::reset_core(c, "{tile}", {self.site(op)});')

    def do_aiex_dma_channel_reset(self, op: Operation) -> None:
        tile = self.s.tile(op, r.single(op, "tile"))
        direction, index = DIRECTIONS[r.integer(op, "direction")], r.integer(op, "channel")
        channel = self.channel(self.s.channel(tile, direction, index))
        self.write(f"iron::reset_channel(c, {channel}, false);")

    def do_aiex_dma_channel_reset_for(self, op: Operation) -> None:
        """Drain the channels of a fifo, set its locks to their first values, start them again."""
        fifo = r.symbol(op, "objfifo")
        network = self.s.network
        channels = [c for c in network.channels if c.fifo == fifo and c.tile.kind != "shim"]
        if not channels:
            raise refuse(op, f"objectfifo @{fifo} has no DMA channel on a core or memory tile")
        for c in channels:
            self.write(f"iron::reset_channel(c, {self.channel(c)}, false);")
        for c in channels:
            used = {
                id(u.lock): u.lock
                for t in c.tasks
                for bd in t.bds
                for u in (*bd.acquires, *bd.releases)
            }
            for lock in used.values():
                self.write(f"iron::set_lock(c, {self.lock(lock)}, {lock.value});")
        for c in channels:
            self.write(f"iron::reset_channel(c, {self.channel(c)}, true);")

    # ---- scratchpad parameters
    def parameter(self, op: Operation, symbol: str) -> str:
        """The value the host has given, as a variable."""
        index, type = self.devices.parameter(op, symbol)
        name, c = f"parameter{index}", ctype(op, type)
        word = "real" if c in ("float", "double", "iron::bf16", "iron::f16") else "integer"
        self.prelude[name] = f"{c} {name} = iron::{word}<{c}>(c, {index});"
        return name

    def sync_at_start(self, sequence: Operation) -> None:
        """Parameters come at the start of a sequence that does not say where."""
        wanted = r.flag(
            sequence,
            "emit_parameter_sync_preamble",
            not any(o.name == _SYNC for o in sequence.walk()),
        )
        if wanted and self.s.parameters:
            self.do_aiex_sync_scratchpad_parameters_from_host(sequence)

    def do_aiex_sync_scratchpad_parameters_from_host(self, op: Operation) -> None:
        for (symbol, _), cell in self.s.parameters.items():
            name = self.parameter(op, symbol)
            c = self.prelude[name].split(" ", 1)[0]
            pointer = self.buffer(op, cell, f"{c} *")
            self.write(f"{pointer}[0] = {name};")
        for lock in self.s.parameter_locks.values():
            self.write(f"iron::set_lock(c, {self.lock(lock)}, 1);")

    def offset_parameter(self, op: Operation) -> str | None:
        """What a scratchpad parameter adds to a descriptor's offset, in elements."""
        if "offset_parameter" not in op.attributes:
            return None
        return f"(int64_t){self.parameter(op, r.symbol(op, 'offset_parameter'))}"
