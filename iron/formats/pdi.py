"""PDI: the boot image that bootgen makes of CDOs, as far as its images and their CDOs.

Offsets and lengths in the tables are in 32-bit words. Source: UG1283 (Bootgen User Guide), "Versal
Boot and Configuration: image header table, image header, partition header".
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from . import cdo
from .errors import FormatError

BUS_WIDTH_WORDS = (0x000000DD, 0x11223344, 0x55667788, 0x99AABBCC)
TABLE = 0x10
MARKER = b"IDPP"
_IMAGE_BYTES, _PARTITION_BYTES = 0x40, 0x80
_ATTRIBUTES = 0x00201020


@dataclass(frozen=True)
class Partition:
    """Part of an image: where its data stands in the file, in bytes."""

    offset: int
    size: int
    data: bytes

    @property
    def is_cdo(self) -> bool:
        return self.data[4:8] == b"CDO\0"

    def commands(self) -> tuple[cdo.Command, ...]:
        return cdo.read(self.data, f"the partition at byte {self.offset}")


@dataclass(frozen=True)
class Image:
    name: str
    identifier: int
    partitions: tuple[Partition, ...]


@dataclass(frozen=True)
class Pdi:
    identification_code: int
    images: tuple[Image, ...]


def _word(raw: bytes, at: int, what: str) -> int:
    if at < 0 or at + 4 > len(raw):
        raise FormatError(f"{what} is cut short: nothing at byte {at} of {len(raw)}")
    return int(struct.unpack_from("<I", raw, at)[0])


def _check(raw: bytes, at: int, size: int, what: str) -> None:
    """The last word of a header is the complement of the sum of all before it."""
    words = [_word(raw, at + 4 * i, what) for i in range(size // 4)]
    if (sum(words[:-1]) + words[-1]) & 0xFFFFFFFF != 0xFFFFFFFF:
        raise FormatError(f"{what}: the header at byte {at} has a wrong checksum")


def looks_like(raw: bytes) -> bool:
    return len(raw) >= 0x90 and raw[:16] == struct.pack("<4I", *BUS_WIDTH_WORDS)


def read(raw: bytes, what: str = "the file") -> Pdi:
    """Images, partitions and their data; FormatError when the tables do not hold together."""
    if not looks_like(raw):
        raise FormatError(f"{what} is no PDI: it starts with {raw[:16].hex(' ')}")
    if raw[TABLE + 0x28 : TABLE + 0x2C] != MARKER:
        raise FormatError(f"{what} is no PDI with an image header table: no IDPP mark in it")
    _check(raw, TABLE, 0x80, what)
    count = _word(raw, TABLE + 4, what)
    first_image = 4 * _word(raw, TABLE + 8, what)
    images = [_image(raw, first_image + i * _IMAGE_BYTES, what) for i in range(count)]
    return Pdi(_word(raw, TABLE + 0x18, what), tuple(images))


def _image(raw: bytes, at: int, what: str) -> Image:
    _check(raw, at, _IMAGE_BYTES, what)
    first, count = 4 * _word(raw, at, what), _word(raw, at + 4, what)
    name = raw[at + 16 : at + 32].split(b"\0")[0].decode("ascii", "replace")
    partitions = [_partition(raw, first + i * _PARTITION_BYTES, what) for i in range(count)]
    return Image(name, _word(raw, at + 32, what), tuple(partitions))


def _partition(raw: bytes, at: int, what: str) -> Partition:
    _check(raw, at, _PARTITION_BYTES, what)
    size, offset = 4 * _word(raw, at + 4, what), 4 * _word(raw, at + 0x20, what)
    if offset + size > len(raw):
        raise FormatError(
            f"{what} is cut short: a partition has bytes {offset} to {offset + size} of {len(raw)}"
        )
    return Partition(offset, size, raw[offset : offset + size])


def write(images: list[tuple[str, int, list[bytes]]], identification_code: int) -> bytes:
    """A PDI of (name, identifier, contents of partitions), as bootgen lays it out."""
    count = sum(len(parts) for _, _, parts in images)
    first_image = TABLE + 0x80
    first_partition = first_image + _IMAGE_BYTES * len(images)
    start = first_partition + _PARTITION_BYTES * count
    table = [0x00040000, len(images), first_image // 4, count, first_partition // 4, 0]
    table += [identification_code, *[0] * 3, int.from_bytes(MARKER, "little"), _ATTRIBUTES, 0x30]
    table += [0] * 4 + [1]  # word 17: the header's own mark of plain, unauthenticated boot
    out = [struct.pack("<4I", *BUS_WIDTH_WORDS), _sealed(table, 0x80)]
    headers, bodies, index = [], [], 0
    for name, identifier, parts in images:
        words = [(first_partition + index * _PARTITION_BYTES) // 4, len(parts), 0, 0]
        words += struct.unpack("<4I", name.encode("ascii")[:16].ljust(16, b"\0"))
        out.append(_sealed([*words, identifier], _IMAGE_BYTES))
        for part in parts:
            padded = part + b"\0" * (-len(part) % 16)
            size = len(padded) // 4
            head = [size, len(part) // 4, size, 0, 0, 0, 0xFFFFFFFF, 0xFFFFFFFF]
            headers.append(_sealed([*head, start // 4, 0x02000006, 1], _PARTITION_BYTES))
            bodies.append(padded)
            start += len(padded)
            index += 1
    return b"".join((*out, *headers, *bodies))


def _sealed(words: list[int], size: int) -> bytes:
    words = [*words, *[0] * (size // 4 - 1 - len(words))]
    return struct.pack(f"<{size // 4}I", *words, 0xFFFFFFFF - sum(words) & 0xFFFFFFFF)
