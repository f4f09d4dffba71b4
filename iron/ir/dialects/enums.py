"""The keyword enums: their numbers as in AIEAttrs.td, AIETraceAttrs.td, AIEXAttrs.td and MLIR.

In attributes they are `IntegerAttr`s of type i32 (of i64 for the comparison predicates); the words
are for the custom form.
"""

from __future__ import annotations

import functools
from enum import IntEnum

from ..types import I32, I64, IntegerType


class WireBundle(IntEnum):
    """A group of ports of a tile; numbers are those of MLIR-AIE."""

    Core = 0
    DMA = 1
    FIFO = 2
    South = 3
    West = 4
    North = 5
    East = 6
    PLIO = 7
    NOC = 8
    Trace = 9
    TileControl = 10


class CascadeDir(IntEnum):
    South = 3
    West = 4
    North = 5
    East = 6


class LockAction(IntEnum):
    Acquire = 0
    Release = 1
    AcquireGreaterEqual = 2


class LockBlocking(IntEnum):
    NonBlocking = 0
    Blocking = 1


class AIETileType(IntEnum):
    CoreTile = 0
    MemTile = 1
    ShimNOCTile = 2
    ShimPLTile = 3


class AIEDevice(IntEnum):
    xcvc1902 = 1
    xcve2302 = 2
    xcve2802 = 3
    npu1 = 4
    npu1_1col = 5
    npu1_2col = 6
    npu1_3col = 7
    npu2 = 8
    npu2_1col = 9
    npu2_2col = 10
    npu2_3col = 11
    npu2_4col = 12
    npu2_5col = 13
    npu2_6col = 14
    npu2_7col = 15


class ObjectFifoPort(IntEnum):
    Produce = 0
    Consume = 1


class DMAChannelDir(IntEnum):
    """Which way a DMA channel moves data: S2MM from a stream to memory, MM2S from memory to a
    stream."""

    S2MM = 0
    MM2S = 1


class TraceMode(IntEnum):
    EventTime = 0
    EventPC = 1
    Execution = 2


class TracePacketType(IntEnum):
    Core = 0
    Mem = 1
    ShimTile = 2
    MemTile = 3


class ComboLogic(IntEnum):
    AND = 0
    AND_NOT = 1
    OR = 2
    OR_NOT = 3


class EdgeTrigger(IntEnum):
    RISING = 1
    FALLING = 2
    BOTH = 3


class TraceShimRouting(IntEnum):
    Single = 0


class StateTableFunc(IntEnum):
    Mul = 0
    Incr = 1
    Decr = 2


class ScratchpadParameterKind(IntEnum):
    Core = 0
    Addr = 1


class ExpandMode(IntEnum):
    none = 0
    write32 = 1
    ctrlpkt = 2


class CmpIPredicate(IntEnum):
    """The predicates of ``arith.cmpi``; an i64 there."""

    eq = 0
    ne = 1
    slt = 2
    sle = 3
    sgt = 4
    sge = 5
    ult = 6
    ule = 7
    ugt = 8
    uge = 9


class CmpFPredicate(IntEnum):
    """The predicates of ``arith.cmpf``; an i64 there. In the text `false` and `true` are
    ``AlwaysFalse`` and ``AlwaysTrue`` here."""

    AlwaysFalse = 0
    oeq = 1
    ogt = 2
    oge = 3
    olt = 4
    ole = 5
    one = 6
    ord = 7
    ueq = 8
    ugt = 9
    uge = 10
    ult = 11
    ule = 12
    une = 13
    uno = 14
    AlwaysTrue = 15


_SPELLED: dict[str, dict[int, str]] = {
    "TraceMode": {0: "Event-Time", 1: "Event-PC"},
    "TracePacketType": {0: "core", 1: "mem", 2: "shimtile", 3: "memtile"},
    "TraceShimRouting": {0: "single"},
    "StateTableFunc": {0: "mul", 1: "incr", 2: "decr"},
    "ScratchpadParameterKind": {0: "core", 1: "addr"},
    "CmpFPredicate": {0: "false", 15: "true"},
}
"""Words that differ from the names above."""


@functools.cache
def members(kind: str) -> dict[int, str]:
    """The words of an enum by number."""
    enum: type[IntEnum] = globals()[kind]
    spelled = _SPELLED.get(kind, {})
    return {m.value: spelled.get(m.value, m.name) for m in enum}


def number_type(kind: str) -> IntegerType:
    """The integer type of an enum's attribute."""
    return I64 if kind in ("CmpIPredicate", "CmpFPredicate") else I32


@functools.cache
def _numbers(kind: str) -> dict[str, int]:
    return {word: number for number, word in members(kind).items()}


def number(kind: str, word: str) -> int | None:
    """The number of an enum's word (or of its Python name), None when there is no such."""
    found = _numbers(kind).get(word)
    if found is None:
        enum: type[IntEnum] = globals()[kind]
        found = enum[word].value if word in enum.__members__ else None
    return found
