"""What we do ourselves to modules between mlir-aie's steps, on the IR: one device alone, the
overlay without its sequences, cores that stand for their ELF files, one sequence with all that it
runs, numbers of PDIs.

Knows the shape of placed and routed modules; knows no tools and no recipes. Modules are changed in
place and given back.
"""

from __future__ import annotations

from collections.abc import Mapping

from iron.ir.attributes import IntegerAttr, StringAttr, SymbolRefAttr
from iron.ir.core import Operation
from iron.ir.types import I32

from .cores import core_place, cores_of, empty
from .outline import (
    PlanError,
    calls_of,
    device_called,
    device_name,
    devices,
    loaded_by,
    sequence_name,
    sequences_of,
)

__all__ = ["PlanError"]


# -- devices ----------------------------------------------------------------------------------


def alone(module: Operation, symbol: str) -> Operation:
    """Without the other devices."""
    for device in devices(module):
        if device_name(device) != symbol:
            device.detach()
    return module


def with_shells(module: Operation, symbol: str) -> Operation:
    """With nothing of the other devices but their names and those of their sequences, which this
    one may refer to. Some of mlir-aie's passes are not to be trusted with two devices at once."""
    for device in devices(module):
        if device_name(device) == symbol:
            continue
        for op in list(device.body.operations):
            if op in sequences_of(device):
                for inner in list(op.body.operations):
                    inner.detach()
            elif op.name != "aie.end":
                op.detach()
    return module


def overlay(module: Operation, symbol: str) -> Operation:
    """One device without its runtime sequences."""
    for op in sequences_of(device_called(alone(module, symbol), symbol)):
        op.detach()
    return module


def with_elfs(module: Operation, files: Mapping[tuple[int, int], str]) -> Operation:
    """Each core at a place in `files` is empty and names that file."""
    for device in devices(module):
        for core in cores_of(device):
            file = files.get(core_place(core))
            if file is not None:
                empty(core)
                core.attributes["elf_file"] = StringAttr(file)
    return module


# -- sequences --------------------------------------------------------------------------------


def sequence_alone(module: Operation, symbol: str, name: str) -> Operation:
    """One runtime sequence of one device, with empty cores, which its lowering does not look at."""
    return _sparse(alone(module, symbol), {(symbol, name)})


def sequence_with_callees(modules: Mapping[str, Operation], symbol: str, name: str) -> Operation:
    """One module of the routed devices, each taken from its own: with this runtime sequence and
    all that it runs, and empty cores."""
    wanted, todo = {(symbol, name)}, [(symbol, name)]
    while todo:
        called, sequence = todo.pop()
        found = sequence_called(device_called(modules[called], called), sequence)
        more = set(calls_of(found)) - wanted
        wanted |= more
        todo += sorted(more)
    base = modules[symbol]
    block = base.body
    for device in devices(base):
        taken = modules.get(device_name(device))
        if taken is None:
            device.detach()
        elif taken is not base:
            at = block.operations.index(device)
            device.detach()
            block.insert(at, device_called(taken, device_name(device)).detach())
    return _sparse(base, wanted)


def _sparse(module: Operation, wanted: set[tuple[str, str]]) -> Operation:
    """With no runtime sequences but these, and empty cores."""
    for device in devices(module):
        for op in sequences_of(device):
            if (device_name(device), sequence_name(op)) not in wanted:
                op.detach()
        for core in cores_of(device):
            empty(core)
    return module


def with_numbers(module: Operation, numbers: Mapping[str, int]) -> Operation:
    """Each load of a device's configuration says the number of its PDI."""
    for op in module.walk():
        device = op.attributes.get("device_ref") if op.name == "aiex.npu.load_pdi" else None
        if isinstance(device, SymbolRefAttr):
            op.attributes["id"] = IntegerAttr(numbers[device.path[-1]], I32)
    return module


def load_themselves(module: Operation) -> bool:
    """Have each sequence that loads no configuration, and that no other one runs, load that of its
    own device first: in a full ELF there is no xclbin that did. Whether anything changed."""
    called = set(calls_of(module))
    changed = False
    for device in devices(module):
        symbol = device_name(device)
        for sequence in sequences_of(device):
            if (symbol, sequence_name(sequence)) in called or loaded_by(sequence):
                continue
            device.attributes["sym_name"] = StringAttr(symbol)
            load = Operation(
                "aiex.npu.load_pdi",
                attributes={"device_ref": SymbolRefAttr((symbol,))},
                location=sequence.location,
            )
            sequence.body.insert(0, load)
            changed = True
    return changed


def sequence_called(device: Operation, name: str) -> Operation:
    return next(s for s in sequences_of(device) if sequence_name(s) == name)
