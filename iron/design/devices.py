"""The devices a design can be made for, and what each tile of them has.

Geometry, locks and descriptors are those of `iron.ir.devices`; DMA channels per direction, bytes of
memory and dimensions of a descriptor are those of mlir-aie's target models (AIETargetModel.h,
2026-08). Knows nothing of designs.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any

from ..frozen import frozen
from ..ir.attributes import IntegerAttr
from ..ir.core import Operation
from ..ir.devices import DEVICES
from ..ir.dialects.enums import AIEDevice, AIETileType
from ..ir.types import I32, INDEX
from .tiles import Tile


class AIEArch(IntEnum):
    """The generation of the array (AIEAttrs.td)."""

    AIE1 = 1
    AIE2 = 2
    AIE2p = 3


@frozen
class Resources:
    """What one tile has: DMA channels into it (S2MM) and out of it (MM2S), buffer descriptors,
    locks, bytes of data memory, and the dimensions one descriptor can address."""

    dma_in: int
    dma_out: int
    bds: int
    locks: int
    memory: int
    bd_dims: int


_AIE2: dict[AIETileType, tuple[int, int, int, int]] = {
    # DMA channels in and out, bytes of data memory, dimensions of a descriptor
    AIETileType.CoreTile: (2, 2, 64 * 1024, 3),
    AIETileType.MemTile: (6, 6, 512 * 1024, 4),
    AIETileType.ShimNOCTile: (2, 2, 0, 3),
    AIETileType.ShimPLTile: (0, 0, 0, 0),
}
_AIE1 = {
    **_AIE2,
    AIETileType.CoreTile: (2, 2, 32 * 1024, 3),
    AIETileType.MemTile: (0, 0, 0, 0),
}
_KINDS = {
    "core": AIETileType.CoreTile,
    "mem": AIETileType.MemTile,
    "shim_noc": AIETileType.ShimNOCTile,
    "shim_pl": AIETileType.ShimPLTile,
}
_TILE_NAMES = {
    AIETileType.CoreTile: "tile",
    AIETileType.MemTile: "mem_tile",
    AIETileType.ShimNOCTile: "shim_noc_tile",
    AIETileType.ShimPLTile: "shim_pl_tile",
}
_WORDS = {kind: word for word, kind in _KINDS.items()}


class Device:
    """One device. Equal devices are the same part of the same name; instances hold no state.

    Columns and rows are numbered from 0; row 0 is the shim row. What its tiles have are tables of
    MLIR-AIE's target model.
    """

    def __init__(self, device: AIEDevice) -> None:
        self._device = AIEDevice(device)
        self._shape = DEVICES[int(self._device)]

    @property
    def name(self) -> str:
        """The name in MLIR, e.g. ``npu2_1col``."""
        return self._device.name

    @property
    def enum(self) -> AIEDevice:
        """The device as MLIR numbers it; as `resolve()`."""
        return self._device

    def resolve(self) -> AIEDevice:
        """The device as MLIR numbers it."""
        return self._device

    @property
    def arch(self) -> AIEArch:
        """The generation of the array: AIE1, AIE2 or AIE2p."""
        return AIEArch(self._shape.generation)

    @property
    def cols(self) -> int:
        """Columns of tiles."""
        return self._shape.columns

    @property
    def rows(self) -> int:
        """Rows of tiles, the shim row (0) included."""
        return self._shape.rows

    def get_tile_type(self, col: int, row: int) -> AIETileType:
        """The kind of the tile at (`col`, `row`); ValueError when it is off the array."""
        if not (0 <= col < self.cols and 0 <= row < self.rows):
            raise ValueError(
                f"Coordinates ({col}, {row}) are out of range for device {self.name} "
                f"({self.cols} columns x {self.rows} rows)"
            )
        return _KINDS[self._shape.tile_kind(col, row)]

    def resources(self, tile_type: AIETileType) -> Resources:
        """What every tile of that kind has."""
        table = _AIE1 if self.arch == AIEArch.AIE1 else _AIE2
        dma_in, dma_out, memory, dims = table[tile_type]
        word = _WORDS[tile_type]
        descriptors, locks = self._shape.descriptors(word), self._shape.locks(word)
        return Resources(dma_in, dma_out, descriptors, locks, memory, dims)

    def tiles(self, tile_type: AIETileType) -> Iterator[tuple[int, int]]:
        """(col, row) of every tile of that kind, column by column."""
        for col in range(self.cols):
            for row in range(self.rows):
                if self.get_tile_type(col, row) == tile_type:
                    yield col, row

    def resolve_tile(self, tile: Tile) -> tuple[int, int]:
        """(col, row) of a wholly named tile, checked against the array; ValueError otherwise."""
        if tile.col is None or tile.row is None:
            raise ValueError(f"{tile} names no single place of {self.name}")
        found = self.get_tile_type(tile.col, tile.row)
        if tile.tile_type is not None and tile.tile_type != found:
            raise ValueError(f"{tile} of {self.name} is of kind {found.name}")
        return tile.col, tile.row

    def tile_operation(self, at: tuple[int, int]) -> Operation:
        """A new ``aie.tile``, called after its kind and place."""
        col, row = at
        attributes = {"col": IntegerAttr(col, I32), "row": IntegerAttr(row, I32)}
        op = Operation("aie.tile", (), [INDEX], attributes)
        op.result.name = f"{_TILE_NAMES[self.get_tile_type(col, row)]}_{col}_{row}"
        return op

    def __iron_key__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other._device == self._device

    def __hash__(self) -> int:
        return hash(self._device)

    def __repr__(self) -> str:
        return f"{class_name(self._device)}()"


def class_name(device: AIEDevice) -> str:
    """``NPU2Col1`` of ``npu2_1col``, ``XCVC1902`` of ``xcvc1902``."""
    base, _, part = device.name.partition("_")
    return base.upper() + (f"Col{part.removesuffix('col')}" if part else "")


def _named(device: AIEDevice) -> type[Device]:
    def __init__(self: Device) -> None:
        Device.__init__(self, device)

    doc = f"The device ``{device.name}``."
    return type(
        class_name(device),
        (Device,),
        {"__init__": __init__, "__doc__": doc, "__module__": __name__},
    )


_CLASSES = {class_name(d): _named(d) for d in AIEDevice}
globals().update(_CLASSES)

__all__ = ["AIEArch", "Device", "Resources", "class_name", "from_mlir_name", "from_name", *_CLASSES]

_FAMILIES = {
    "npu": ("NPU1", 4),
    "npu1": ("NPU1", 4),
    "npu2": ("NPU2", 8),
    "xcvc1902": ("XCVC1902", None),
    "xcve2302": ("XCVE2302", None),
    "xcve2802": ("XCVE2802", None),
}


def from_name(name: str, *, n_cols: int | None = 1) -> Device:
    """The device a command line names: ``npu``, ``npu1``, ``npu2`` or a Versal part, in any case.

    `n_cols` columns of an NPU; None, or all it has, is the whole device. ValueError for an
    unknown name or a count that does not exist.
    """
    if name.lower() not in _FAMILIES:
        raise ValueError(f"Unknown device name {name!r}; expected one of {sorted(_FAMILIES)}")
    family, most = _FAMILIES[name.lower()]
    if most is None or n_cols is None or n_cols == most:
        return _CLASSES[family]()  # type: ignore[call-arg]
    if not 1 <= n_cols < most:
        raise ValueError(
            f"n_cols must be in 1..{most} (or None for all) for {family}, got {n_cols}"
        )
    return _CLASSES[f"{family}Col{n_cols}"]()  # type: ignore[call-arg]


def from_mlir_name(name: str) -> Device:
    """The device of ``aie.device(name)``; ValueError for an unknown one."""
    if name not in AIEDevice.__members__:
        raise ValueError(f"Unknown device {name!r}; expected one of {list(AIEDevice.__members__)}")
    return _CLASSES[class_name(AIEDevice[name])]()  # type: ignore[call-arg]


def __getattr__(name: str) -> Any:  # tells type checkers that the classes exist
    raise AttributeError(f"module {__name__!r} has no device {name!r}")
