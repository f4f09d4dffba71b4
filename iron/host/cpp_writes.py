"""Writes of the runtime sequence into the memory and the locks of tiles, as C++.

With ``buffer`` an operation's address is a number of 32-bit words from the start of that
``aie.buffer``, whatever its elements are; with ``column`` and ``row`` it is a byte of the tile's
address space (mlir-aie's ``getAbsoluteAddress``), of which the host target has the data memory,
where the tile's buffers lie as mlir-aie places them, and the values of the locks. All else are
registers, which it does not have.
"""

from __future__ import annotations

from iron.ir.core import Operation

from . import reading as r
from .checks_memory import buffers_of, placed
from .cpp_body import Body
from .errors import HostError, refuse
from .explicit import RAW_REGISTERS
from .network import Buffer, Lock, Tile

WORD = 4
WRITES = {"aiex.npu.write32", "aiex.npu.maskwrite32", "aiex.npu.blockwrite"}
LOCK_VALUES = {"core": 0x1F000, "mem": 0xC0000, "shim": 0x14000}
"""Of lock 0, the next is 16 bytes on (AIE2TargetModel::getLocalLockAddress)."""


def is_register(op: Operation) -> bool:
    """Does the operation write what cannot be memory or a lock?"""
    if op.name not in RAW_REGISTERS:
        return False
    named = "buffer" in op.attributes or {"column", "row"} <= op.attributes.keys()
    return op.name not in WRITES or not named


def refuse_register(op: Operation) -> HostError:
    return refuse(
        op,
        "writes registers of the device, which the host target does not have; "
        "use DMA tasks, npu.dma_memcpy_nd, npu.rtp_write or set_lock",
    )


class BufferWrites(Body):
    def named_buffer(self, op: Operation) -> Buffer:
        name = r.symbol(op, "buffer")
        buffer = self.s.buffer_symbols.get(name)
        if buffer is None:
            raise refuse(op, f"there is no aie.buffer @{name}")
        return buffer

    def tile_of(self, op: Operation) -> Tile:
        place = r.integer(op, "column"), r.integer(op, "row")
        for tile in self.s.tiles.values():
            if (tile.column, tile.row) == place:
                return tile
        raise refuse(op, f"the design has no tile ({place[0]},{place[1]})")

    def lock_at(self, op: Operation, address: int) -> Lock | None:
        """The lock whose value has this address in the tile, by its number."""
        tile = self.tile_of(op)
        number, rest = divmod(address - LOCK_VALUES[tile.kind], 16)
        for made in self.s.each("aie.lock"):
            lock = self.s.locks[id(made.results[0])]
            same = r.optional_integer(made, "lockID") == number
            if lock.tile == tile and same and rest == 0:
                return lock
        return None

    def words(self, op: Operation, address: int, count: int = 1) -> str:
        """The place of `count` words that the operation writes."""
        if "buffer" in op.attributes:
            buffer, index = self.named_buffer(op), address
        else:
            buffer, index = self.buffer_at(op, address)
        if index < 0 or (index + count) * WORD > buffer.nbytes:
            what = f"word {index} lies" if count == 1 else f"words {index} to {index + count} lie"
            raise refuse(op, f"{what} outside @{buffer.name} of {buffer.nbytes} bytes")
        place = f"{self.buffer(op, buffer, 'int32_t *')}[{index}]"
        self.touch(op, place, count, writes=True)
        return place

    def buffer_at(self, op: Operation, address: int) -> tuple[Buffer, int]:
        """The buffer that lies at an address of a tile, and the word of it."""
        tile = self.tile_of(op)
        mine = buffers_of(self.s, tile)
        own = {id(b) for b in self.s.buffers.values()}
        if all(id(b) in own for b in mine):  # those of ObjectFifos are not placed as mlir-aie does
            for buffer, start in zip(mine, placed(self.s, tile).addresses, strict=True):
                if start is not None and start <= address < start + buffer.nbytes:
                    index, rest = divmod(address - start, WORD)
                    if rest == 0:
                        return buffer, index
        raise refuse_register(op)

    def constant(self, op: Operation, name: str) -> int:
        n = r.number_or_value(op, name, name)
        if not isinstance(n, int):
            raise refuse(op, f"its {name} must be a constant on the host target")
        return n

    def text_of(self, op: Operation, name: str) -> str:
        n = r.number_or_value(op, name, name)
        if n is None:
            raise refuse(op, f"has no {name}")
        return str(n) if isinstance(n, int) else self.value(op, n)

    def do_aiex_npu_rtp_write(self, op: Operation) -> None:
        place = self.words(op, r.integer(op, "index"))
        self.write(f"{place} = {self.text_of(op, 'value')};")

    def do_aiex_npu_write32(self, op: Operation) -> None:
        address = self.constant(op, "address")
        lock = None if "buffer" in op.attributes else self.lock_at(op, address)
        if lock is not None:
            self.write(f"iron::set_lock(c, {self.lock(lock)}, {self.text_of(op, 'value')});")
            return
        place = self.words(op, address)
        self.write(f"{place} = {self.text_of(op, 'value')};")

    def do_aiex_npu_maskwrite32(self, op: Operation) -> None:
        """The bits of the mask come from the value, the others stay."""
        place = self.words(op, self.constant(op, "address"))
        value, mask = self.text_of(op, "value"), self.text_of(op, "mask")
        self.write(f"{place} = ({place} & ~({mask})) | ({value} & ({mask}));")

    def do_aiex_npu_blockwrite(self, op: Operation) -> None:
        data = r.required(op, "data")
        nbytes = r.size_in_bytes(op, r.memref(op, data.type))
        if nbytes % WORD:
            raise refuse(op, f"writes words of {WORD} bytes, its data has {nbytes} bytes")
        place = self.words(op, r.integer(op, "address"), nbytes // WORD)
        self.write(f"std::memcpy(&{place}, {self.value(op, data)}, {nbytes});")
