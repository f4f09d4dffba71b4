"""What of a design is known before any tool runs: its devices, their runtime sequences, and whose
configuration a sequence loads.

Knows the IR's operations by name; knows no tools, recipes or files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from iron import ir
from iron.ir.attributes import SymbolRefAttr
from iron.ir.core import Operation, Value
from iron.ir.devices import DEVICES, Device, device_of

DEVICE_NAME, SEQUENCE_NAME = "main", "sequence"
"""Of a device and a runtime sequence that are not named."""
SEQUENCES = ("aie.runtime_sequence", "aiex.runtime_sequence")
_LOADS = {"aiex.configure": "symbol", "aiex.npu.load_pdi": "device_ref"}


class PlanError(Exception):
    """A design that the npu target cannot build; the text says what and where."""


@dataclass(frozen=True)
class Argument:
    """A parameter of a runtime sequence, as `iron.host.Argument` has it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    scalar: bool


@dataclass(frozen=True)
class RuntimeSequence:
    name: str
    arguments: tuple[Argument, ...]
    called: bool = False
    """Another sequence runs it."""


@dataclass(frozen=True)
class DeviceOutline:
    """One device: its symbol, its shape, its sequences, and the devices whose configuration these
    load (by their symbols, in order)."""

    symbol: str
    shape: Device
    sequences: tuple[RuntimeSequence, ...]
    loads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outline:
    """A design's devices, in the order of the text; a device's number (from 1) is its place."""

    devices: tuple[DeviceOutline, ...]

    @property
    def target(self) -> str:
        """``aie2`` or ``aie2p``, as compilers name the core; all devices are of one."""
        return {2: "aie2", 3: "aie2p"}[self.devices[0].shape.generation]

    def device(self, symbol: str) -> DeviceOutline:
        """PlanError when there is none of that symbol."""
        for found in self.devices:
            if found.symbol == symbol:
                return found
        raise PlanError(f"the design has no device @{symbol}; it has {self._names()}")

    def number(self, symbol: str) -> int:
        """The number by which instructions load a device's PDI."""
        return 1 + self.devices.index(self.device(symbol))

    def reached(self, symbols: Sequence[str]) -> tuple[DeviceOutline, ...]:
        """These devices and all whose configuration their sequences load, in order."""
        wanted = set(symbols)
        todo = list(symbols)
        while todo:
            more = set(self.device(todo.pop()).loads) - wanted
            wanted |= more
            todo += sorted(more)
        return tuple(d for d in self.devices if d.symbol in wanted)

    def _names(self) -> str:
        return ", ".join(f"@{d.symbol}" for d in self.devices) or "none"

    def data(self) -> list[dict[str, Any]]:
        """As JSON."""
        return [{**asdict(d), "shape": d.shape.name} for d in self.devices]

    @staticmethod
    def of_data(data: Sequence[Mapping[str, Any]]) -> Outline:
        return Outline(tuple(map(_device_of_data, data)))


def _device_of_data(data: Mapping[str, Any]) -> DeviceOutline:
    sequences = tuple(
        RuntimeSequence(
            s["name"],
            tuple(Argument(**{**a, "shape": tuple(a["shape"])}) for a in s["arguments"]),
            s["called"],
        )
        for s in data["sequences"]
    )
    shape = next(d for d in DEVICES.values() if d.name == data["shape"])
    return DeviceOutline(data["symbol"], shape, sequences, tuple(data["loads"]))


def devices(module: Operation) -> list[Operation]:
    return [op for op in module.body.operations if op.name == "aie.device"]


def device_name(device: Operation) -> str:
    return device.symbol or DEVICE_NAME


def device_called(module: Operation, symbol: str) -> Operation:
    """PlanError when the module has no such device."""
    for device in devices(module):
        if device_name(device) == symbol:
            return device
    raise PlanError(f"the module has no device @{symbol}")


def sequences_of(device: Operation) -> list[Operation]:
    return [op for op in device.body.operations if op.name in SEQUENCES]


def sequence_name(sequence: Operation) -> str:
    return sequence.symbol or SEQUENCE_NAME


def loaded_by(op: Operation) -> list[str]:
    """Symbols of the devices that operations inside `op` configure or load, without repetition."""
    found: dict[str, None] = {}
    for inner in op.walk():
        symbol = inner.attributes.get(_LOADS.get(inner.name, ""))
        if isinstance(symbol, SymbolRefAttr):
            found[symbol.path[-1]] = None
    return list(found)


def calls_of(op: Operation) -> Iterator[tuple[str, str]]:
    """(device, sequence) of each runtime sequence that operations inside `op` run."""
    for configure in op.walk():
        device = configure.attributes.get("symbol") if configure.name == "aiex.configure" else None
        if not isinstance(device, SymbolRefAttr):
            continue
        for run in configure.walk():
            name = run.attributes.get("runtime_sequence_symbol") if run.name == "aiex.run" else None
            if isinstance(name, SymbolRefAttr):
                yield device.path[-1], name.path[-1]


def outline(module: Operation) -> Outline:
    """PlanError for a module without devices, with one that is no NPU, or with several kinds."""
    found = devices(module)
    if not found:
        raise PlanError("the design has no aie.device, so there is nothing to build")
    called = set(calls_of(module))
    made = Outline(tuple(_device(op, called) for op in found))
    kinds = {d.shape.generation: d for d in made.devices}
    if len(kinds) > 1:
        names = " and ".join(f"@{d.symbol} for {d.shape.name}" for d in kinds.values())
        raise PlanError(f"the design has devices {names}: one package is for one kind of NPU")
    return made


def _device(op: Operation, called: set[tuple[str, str]]) -> DeviceOutline:
    shape = device_of(op)
    if shape is None or shape.generation not in (2, 3) or not shape.name.startswith("npu"):
        name = shape.name if shape else "an unknown device"
        raise PlanError(f"the npu target builds for npu1 and npu2, not for {name}")
    symbol = device_name(op)
    sequences, loads = [], dict[str, None]()
    for sequence in sequences_of(op):
        name = sequence_name(sequence)
        arguments = tuple(_argument(i, a) for i, a in enumerate(sequence.body.arguments))
        sequences.append(RuntimeSequence(name, arguments, (symbol, name) in called))
        loads.update(dict.fromkeys(loaded_by(sequence)))
    return DeviceOutline(symbol, shape, tuple(sequences), tuple(loads))


def _argument(index: int, value: Value) -> Argument:
    name = value.name or f"arg{index}"
    if isinstance(value.type, ir.MemRefType):
        return Argument(name, str(value.type.element), tuple(value.type.shape), False)
    return Argument(name, str(value.type), (), True)
