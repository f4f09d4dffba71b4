"""The devices of a module one runtime sequence works on, and what the host hands to it.

Owns which device and sequence are meant, which number a device has in the network (0 is the one
that is loaded when the worker starts) and the arguments besides those the sequence declares:
scratchpad parameters and external buffers.
"""

from __future__ import annotations

from iron.ir.attributes import IntegerAttr, StringAttr, TypeAttr
from iron.ir.core import Operation
from iron.ir.types import Type

from . import reading as r
from .errors import HostError, refuse
from .explicit import lower_device
from .network import Argument, Network
from .state import Lowering

_AIE1 = ("xcvc1902",)
SEQUENCES = ("aie.runtime_sequence", "aiex.runtime_sequence")
ALIGNMENT = 32  # of buffers in a tile's memory, as mlir-aie's sequential allocation


def choose(parent: Operation, name: str, wanted: str | None, usual: str) -> Operation | None:
    """The operation of a name inside `parent`; None when there is none at all."""
    found = [op for op in parent.body.operations if op.name == name]
    if not found:
        return None
    names = [op.symbol or usual for op in found]
    if wanted is not None:
        if wanted not in names:
            raise refuse(found[0], f"there is none called @{wanted}; there is: {', '.join(names)}")
        return found[names.index(wanted)]
    if len(found) > 1:
        if usual not in names:
            raise refuse(found[0], f"there are several, say which: {', '.join(names)}")
        return found[names.index(usual)]
    return found[0]


def choose_device(module: Operation, wanted: str | None) -> Operation:
    """The device that is meant: the named one, the only one, @main, or the only one that has a
    runtime sequence."""
    devices = [op for op in module.body.operations if op.name == "aie.device"]
    if not devices:
        raise HostError("aie.device", module.location, "the module has no device")
    if wanted is None and len(devices) > 1 and "main" not in [d.symbol for d in devices]:
        running = [d for d in devices if any(o.name in SEQUENCES for o in d.body.operations)]
        if len(running) == 1:
            return running[0]
    found = choose(module, "aie.device", wanted, "main")
    assert found is not None
    return found


def choose_sequence(device: Operation, wanted: str | None) -> Operation:
    for name in SEQUENCES:
        found = choose(device, name, wanted, "sequence")
        if found is not None:
            return found
    raise refuse(device, "the device has no runtime sequence, so nothing would be moved")


def device_name(op: Operation) -> str:
    """``npu1_1col`` and the like."""
    from iron.ir.dialects.enums import AIEDevice

    a = op.attributes.get("device")
    if isinstance(a, IntegerAttr):
        return AIEDevice(a.value).name
    return a.value if isinstance(a, StringAttr) else ""


class Devices:
    """The devices lowered so far, in the order of their numbers."""

    def __init__(self, module: Operation, first: Operation, declared: int) -> None:
        """`declared`: how many arguments the sequence declares itself."""
        self.module = module
        self.lowered: list[Lowering] = []
        self.extra: list[Argument] = []
        self.extra_bytes: list[int] = []
        self._declared = declared
        self._names: set[str] = set()
        self.first = self.lower(first)

    def lower(self, op: Operation) -> Lowering:
        for s in self.lowered:
            if s.op is op:
                return s
        target = device_name(op)
        if target in _AIE1:
            raise refuse(op, f"{target} has binary locks; the host target runs AIE2 and later")
        s = Lowering(op, target, self._names)
        lower_device(s)
        self.lowered.append(s)
        for inner in s.each("aie.external_buffer"):
            b = s.buffers[id(inner.results[0])]
            b.external = self._external(inner)
        return s

    def named(self, op: Operation, symbol: str) -> Lowering:
        """The device an operation of the sequence refers to."""
        known = [d for d in self.module.body.operations if d.name == "aie.device"]
        for d in known:
            if (d.symbol or "main") == symbol:
                return self.lower(d)
        names = ", ".join(f"@{d.symbol or 'main'}" for d in known)
        raise refuse(op, f"there is no device @{symbol}; there is: {names}")

    def number(self, s: Lowering) -> int:
        return self.lowered.index(s)

    def networks(self) -> list[Network]:
        if len(self.lowered) > 1:
            for s in self.lowered:
                place_persistent(s)
        return [s.network for s in self.lowered]

    # ---- arguments besides those of the sequence
    def parameter(self, op: Operation, symbol: str) -> tuple[int, Type]:
        """The argument a scratchpad parameter is, and its type."""
        declared = next(
            (
                o
                for o in self.module.body.operations
                if o.name == "aiex.scratchpad_parameter" and o.symbol == symbol
            ),
            None,
        )
        if declared is None:
            raise refuse(op, f"there is no aiex.scratchpad_parameter @{symbol}")
        a = declared.attributes.get("type")
        if not isinstance(a, TypeAttr):
            raise refuse(declared, "has no type")
        return self._argument(Argument(symbol, str(a.type), (), scalar=True), 0), a.type

    def _external(self, op: Operation) -> int:
        type = r.memref(op, op.results[0].type)
        name = op.symbol or f"external{len(self.extra)}"
        return self._argument(
            Argument(name, str(type.element), type.shape), r.size_in_bytes(op, type)
        )

    def _argument(self, a: Argument, nbytes: int) -> int:
        for i, known in enumerate(self.extra):
            if known.name == a.name:
                return self._declared + i
        self.extra.append(a)
        self.extra_bytes.append(nbytes)
        return self._declared + len(self.extra) - 1


def place_persistent(s: Lowering) -> None:
    """Give the buffers of memory tiles addresses: what lies there outlives a reconfiguration."""
    top: dict[str, int] = {}
    addresses = {
        id(s.buffers[id(op.results[0])]): r.optional_integer(op, "address")
        for op in s.op.walk()
        if op.name == "aie.buffer"
    }
    for b in s.network.buffers:
        if b.tile.kind != "mem":
            continue
        at = addresses.get(id(b))
        b.at = at if at is not None else top.get(b.tile.key, 0)
        end = b.at + b.nbytes
        top[b.tile.key] = max(top.get(b.tile.key, 0), -(-end // ALIGNMENT) * ALIGNMENT)


__all__ = ["Devices", "choose_device", "choose_sequence", "device_name"]
