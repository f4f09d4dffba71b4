"""The shape of each device: columns, rows, kinds of tiles, and how many locks and buffer
descriptors a tile has (mlir-aie's AIETargetModel). Knows no more of a device than verification and
naming need; the full model is the emulator's.
"""

from __future__ import annotations

from ..frozen import frozen
from .attributes import IntegerAttr
from .core import Operation

_XCVC1902 = frozenset((2, 3, 6, 7, 10, 11, 18, 19, 26, 27, 34, 35, 42, 43, 46, 47))
_XCVE2302 = frozenset((2, 3, 6, 7, 10, 11))
_XCVE2802 = frozenset((2, 3, 6, 7, 14, 15, 22, 23, 30, 31, 34, 35))


@frozen
class Device:
    """`noc` are the columns whose shim tile reaches DDR, all of them when None. `generation` is 1
    for AIE, 2 for AIE-ML, 3 for the AIE-ML of npu2."""

    name: str
    columns: int
    rows: int
    memtile_rows: int
    generation: int
    noc: frozenset[int] | None = None

    def tile_kind(self, column: int, row: int) -> str:
        """``shim_noc``, ``shim_pl``, ``mem`` or ``core``."""
        if row == 0:
            return "shim_noc" if self.noc is None or column in self.noc else "shim_pl"
        return "mem" if row <= self.memtile_rows else "core"

    def locks(self, kind: str) -> int:
        return 64 if kind == "mem" else 16

    def descriptors(self, kind: str) -> int:
        return 48 if kind == "mem" else 16


DEVICES: dict[int, Device] = {
    1: Device("xcvc1902", 50, 9, 0, 1, _XCVC1902),
    2: Device("xcve2302", 17, 4, 1, 2, _XCVE2302),
    3: Device("xcve2802", 38, 11, 2, 2, _XCVE2802),
    4: Device("npu1", 4, 6, 1, 2),
    **{4 + n: Device(f"npu1_{n}col", n, 6, 1, 2) for n in (1, 2, 3)},
    8: Device("npu2", 8, 6, 1, 3),
    **{8 + n: Device(f"npu2_{n}col", n, 6, 1, 3) for n in range(1, 8)},
}
"""Devices by their number in `AIEDevice`."""


def device_of(op: Operation) -> Device | None:
    """The device around `op`, None when there is none or it is not known."""
    at: Operation | None = op
    while at is not None:
        if at.name == "aie.device":
            number = at.attributes.get("device")
            return DEVICES.get(number.value) if isinstance(number, IntegerAttr) else None
        at = at.parent
    return None


def tile_kind(device: Device | None, column: int, row: int) -> str:
    """The kind of a tile; outside a device as on an NPU."""
    return (device or DEVICES[4]).tile_kind(column, row)
