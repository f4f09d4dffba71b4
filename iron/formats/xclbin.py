"""The container of an xclbin (axlf): a header, named sections, and a JSON mirror behind them.

Layout of ``struct axlf`` in XRT's public header xclbin.h. What stands in the sections is known by
`xclbin_sections` and `aie_partition`. Nothing here takes a time or a random number: the uuid of a
file that is written comes from its sections.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .errors import FormatError

MAGIC = b"xclbin2\0"
HEADER_SIZE, SECTION_SIZE = 0x1C8, 40
VERSION = (2, 18, 0)
"""Major, minor and patch of the xclbinutil whose layout is written."""

MIRROR_START, MIRROR_END = b"XCLBIN_MIRROR_DATA_START", b"XCLBIN_MIRROR_DATA_END"

KINDS = {
    2: "EMBEDDED_METADATA", 3: "FIRMWARE", 6: "MEM_TOPOLOGY", 7: "CONNECTIVITY", 8: "IP_LAYOUT",
    14: "BUILD_METADATA", 15: "KEYVALUE_METADATA", 16: "USER_METADATA", 18: "PDI",
    20: "PARTITION_METADATA", 22: "SYSTEM_METADATA", 23: "SOFT_KERNEL", 25: "AIE_METADATA",
    26: "ASK_GROUP_TOPOLOGY", 27: "ASK_GROUP_CONNECTIVITY", 29: "AIE_RESOURCES", 30: "OVERLAY",
    31: "VENDER_METADATA", 32: "AIE_PARTITION", 33: "IP_METADATA", 34: "AIE_RESOURCES_BIN",
    35: "AIE_TRACE_METADATA",
}  # fmt: skip
NUMBERS = {name: number for number, name in KINDS.items()}

_FIXED = struct.Struct("<8si28s256sQ")
_FILE = struct.Struct("<QQQHBBHH16s64s16s16sI4x")
_ENTRY = struct.Struct("<I16s4xQQ")


@dataclass(frozen=True)
class Section:
    """`name` has at most 15 characters and may be empty."""

    kind: int
    name: str
    data: bytes

    @property
    def title(self) -> str:
        return KINDS.get(self.kind, f"section kind {self.kind}")


@dataclass(frozen=True)
class Xclbin:
    """`stamp` is the time the file says it was made (seconds since 1970, 0 in ours)."""

    sections: tuple[Section, ...]
    uuid: bytes
    stamp: int = 0
    unique_id: int = 0
    version: tuple[int, int, int] = VERSION
    mirror: bytes = b""

    def section(self, title: str) -> Section | None:
        """The first section of a kind, None when there is none."""
        return next((s for s in self.sections if s.title == title), None)


def content_uuid(sections: Sequence[Section]) -> bytes:
    """16 bytes that two files share exactly if their sections are the same; marked as a name-made
    uuid of version 8 (RFC 9562)."""
    state = hashlib.sha256()
    for s in sections:
        state.update(struct.pack("<IQ", s.kind, len(s.data)) + s.name.encode() + b"\0" + s.data)
    raw = bytearray(state.digest()[:16])
    raw[6], raw[8] = raw[6] & 0x0F | 0x80, raw[8] & 0x3F | 0x80
    return bytes(raw)


def read(raw: bytes, what: str = "the file") -> Xclbin:
    """Header and sections; FormatError when they do not hold together."""
    if raw[:8] != MAGIC:
        raise FormatError(f"{what} is no xclbin: it starts with {raw[:8]!r}")
    if len(raw) < HEADER_SIZE:
        raise FormatError(f"{what} is cut short: {len(raw)} bytes, the header alone has 456")
    unique_id = _FIXED.unpack_from(raw)[4]
    head = _FILE.unpack_from(raw, _FIXED.size)
    length, stamp, _, patch, major, minor = head[:6]
    if length != len(raw):
        raise FormatError(f"{what} has {len(raw)} bytes, its header says {length}")
    sections, end = [], HEADER_SIZE
    for i in range(head[12]):
        at = HEADER_SIZE + i * SECTION_SIZE
        if at + SECTION_SIZE > len(raw):
            raise FormatError(f"{what} is cut short: {head[12]} sections announced")
        kind, name, offset, size = _ENTRY.unpack_from(raw, at)
        if offset + size > len(raw):
            raise FormatError(
                f"{what}: section {KINDS.get(kind, kind)} has bytes {offset} to {offset + size} "
                f"of {len(raw)}"
            )
        text = name.split(b"\0")[0].decode("utf-8", "replace")
        sections.append(Section(kind, text, raw[offset : offset + size]))
        end = max(end, offset + size)
    at = raw.find(MIRROR_START, end)
    mirror = raw[at + len(MIRROR_START) : -len(MIRROR_END)] if at >= 0 else b""
    return Xclbin(tuple(sections), head[10], stamp, unique_id, (major, minor, patch), mirror)


def write(file: Xclbin) -> bytes:
    """The bytes of a file: sections 8-aligned in order, then the mirror if there is one."""
    head_size = HEADER_SIZE + SECTION_SIZE * len(file.sections)
    body, entries = bytearray(), []
    for s in file.sections:
        body += b"\0" * (-(head_size + len(body)) % 8)
        name = s.name.encode()[:15]
        entries.append(_ENTRY.pack(s.kind, name, head_size + len(body), len(s.data)))
        body += s.data
    if file.mirror:
        body += MIRROR_START + file.mirror + MIRROR_END
    major, minor, patch = file.version
    length = head_size + len(body)
    return b"".join(
        (
            _FIXED.pack(MAGIC, -1, b"\xff" * 28, b"\xff" * 256, file.unique_id),
            _FILE.pack(
                *(length, file.stamp, 0, patch, major, minor, 0, 0, b"", b"", file.uuid, b""),
                len(file.sections),
            ),
            *entries,
            body,
        )
    )


def offsets(sections: Sequence[Section]) -> list[int]:
    """Where `write` puts the sections."""
    at, found = HEADER_SIZE + SECTION_SIZE * len(sections), []
    for s in sections:
        at += -at % 8
        found.append(at)
        at += len(s.data)
    return found


def without_chance(raw: bytes, what: str = "the file") -> bytes:
    """The file with what differs from run to run of xclbinutil replaced by what its content says:
    no time, uuids of the file and of its PDIs from their bytes."""
    from .aie_partition import with_content_uuids

    file = read(raw, what)
    out = bytearray(raw)
    sections = []
    for i, section in enumerate(file.sections):
        if section.title == "AIE_PARTITION":
            section = replace(section, data=with_content_uuids(section.data))
            offset = _ENTRY.unpack_from(raw, HEADER_SIZE + i * SECTION_SIZE)[2]
            out[offset : offset + len(section.data)] = section.data
        sections.append(section)
    uuid = content_uuid(sections)
    if file.mirror:
        at = raw.rindex(MIRROR_START)
        mirror = file.mirror
        for key, old, new in (
            ("UniqueID", file.unique_id.to_bytes(8, "little").hex(), "0" * 16),
            ("TimeStamp", str(file.stamp), "0"),
            ("XclBinUUID", file.uuid.hex(), uuid.hex()),
        ):
            mirror = mirror.replace(f'"{key}":"{old}"'.encode(), f'"{key}":"{new}"'.encode())
        out[at:] = MIRROR_START + mirror + MIRROR_END
    struct.pack_into("<QQQ", out, 0x128, 0, len(out), 0)
    out[0x1A0:0x1B0] = uuid
    return bytes(out)
