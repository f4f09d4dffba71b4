"""The small sections of an xclbin, to and from the JSON that xclbinutil takes and dumps: memory,
kernels (IP layout), and which argument is connected to which memory.

Structures of XRT's xclbin.h: ``mem_topology``, ``ip_layout``, ``connectivity``.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from .errors import FormatError

MEMORY_TYPES = (
    "MEM_DDR3", "MEM_DDR4", "MEM_DRAM", "MEM_STREAMING", "MEM_PREALLOCATED_GLOB", "MEM_ARE",
    "MEM_HBM", "MEM_BRAM", "MEM_URAM", "MEM_STREAMING_CONNECTION", "MEM_HOST", "MEM_PS_KERNEL",
)  # fmt: skip
PS_KERNEL = 7
SUBTYPES = ("PS", "DPU")
FUNCTIONS = ("DPU", "PrePost")
_NO_ADDRESS = 0xFFFFFFFFFFFFFFFF

_COUNT = struct.Struct("<i4x")
_MEMORY = struct.Struct("<BB6xQQ16s")
_KERNEL = struct.Struct("<IBBHQ64s")
_CONNECTION = struct.Struct("<iii")


def _text(raw: bytes) -> str:
    return raw.split(b"\0")[0].decode("utf-8", "replace")


def _counted(raw: bytes, head: struct.Struct, item: struct.Struct, what: str) -> list[Any]:
    if len(raw) < head.size:
        raise FormatError(f"{what} has {len(raw)} bytes")
    (count,) = head.unpack_from(raw)
    if count < 0 or head.size + count * item.size > len(raw):
        raise FormatError(f"{what} announces {count} entries, which are not all there")
    return [item.unpack_from(raw, head.size + i * item.size) for i in range(count)]


def read_memory(raw: bytes, key: str = "mem_topology") -> dict[str, Any]:
    """`raw` as in the JSON of MEM_TOPOLOGY (or, with its `key`, of ASK_GROUP_TOPOLOGY)."""
    entries = [
        {
            "m_type": MEMORY_TYPES[kind] if kind < len(MEMORY_TYPES) else str(kind),
            "m_used": str(used),
            "m_sizeKB": f"0x{size:x}",
            "m_tag": _text(tag),
            "m_base_address": f"0x{base:x}",
        }
        for kind, used, size, base, tag in _counted(raw, _COUNT, _MEMORY, "MEM_TOPOLOGY")
    ]
    return {key: {"m_count": str(len(entries)), "m_mem_data": entries}}


def write_memory(topology: dict[str, Any]) -> bytes:
    (body,) = topology.values()
    entries = body["m_mem_data"]
    if int(body["m_count"]) != len(entries):
        raise FormatError(f"m_count is {body['m_count']}, there are {len(entries)} memories")
    out = _COUNT.pack(len(entries))
    for e in entries:
        numbers = (int(e["m_used"], 0), int(e["m_sizeKB"], 0), int(e["m_base_address"], 0))
        kind = MEMORY_TYPES.index(e["m_type"])
        out += _MEMORY.pack(kind, *numbers, e["m_tag"].encode()[:15])
    return out


def read_kernels(raw: bytes) -> dict[str, Any]:
    """`raw` as in the JSON of IP_LAYOUT."""
    entries = []
    for kind, sub, functional, number, base, name in _counted(raw, _COUNT, _KERNEL, "IP_LAYOUT"):
        entry = {"m_type": "IP_PS_KERNEL" if kind == PS_KERNEL else f"IP {kind}"}
        if kind == PS_KERNEL:
            entry["m_subtype"] = SUBTYPES[sub] if sub < 2 else str(sub)
            entry["m_functional"] = FUNCTIONS[functional] if functional < 2 else str(functional)
            entry["m_kernel_id"] = f"0x{number:x}"
        entry["m_base_address"] = "not_used" if base == _NO_ADDRESS else f"0x{base:x}"
        entry["m_name"] = _text(name)
        entries.append(entry)
    return {"ip_layout": {"m_count": str(len(entries)), "m_ip_data": entries}}


def write_kernels(kernels: Sequence[tuple[str, int]]) -> bytes:
    """The IP_LAYOUT of DPU kernels given as (``kernel:instance``, identifier)."""
    out = _COUNT.pack(len(kernels))
    for name, number in kernels:
        if len(name.encode()) > 63:
            raise FormatError(f"the kernel's name {name!r} has more than 63 bytes")
        dpu = SUBTYPES.index("DPU")
        out += _KERNEL.pack(PS_KERNEL, dpu, 0, number, _NO_ADDRESS, name.encode())
    return out


def with_kernels(raw: bytes, kernels: Sequence[tuple[str, int]]) -> bytes:
    """The IP_LAYOUT `raw` with further DPU kernels behind those it has."""
    end = _COUNT.size + count_of(raw) * _KERNEL.size
    added = write_kernels(kernels)[_COUNT.size :]
    return _COUNT.pack(count_of(raw) + len(kernels)) + raw[_COUNT.size : end] + added


def count_of(raw: bytes) -> int:
    """How many kernels an IP_LAYOUT has."""
    return len(_counted(raw, _COUNT, _KERNEL, "IP_LAYOUT"))


def list_connections(raw: bytes) -> list[tuple[int, int, int]]:
    """(argument, kernel's index, memory's index) of each entry of a CONNECTIVITY."""
    return _counted(raw, struct.Struct("<i"), _CONNECTION, "CONNECTIVITY")


def read_connections(raw: bytes, key: str = "connectivity") -> dict[str, Any]:
    """`raw` as in the JSON of CONNECTIVITY (or, with its `key`, of ASK_GROUP_CONNECTIVITY)."""
    entries = [
        {"arg_index": str(a), "m_ip_layout_index": str(k), "mem_data_index": str(m)}
        for a, k, m in list_connections(raw)
    ]
    return {key: {"m_count": str(len(entries)), "m_connection": entries}}


def write_connections(connections: Sequence[tuple[int, int, int]]) -> bytes:
    """Of (argument, kernel's index, memory's index)."""
    return struct.pack("<i", len(connections)) + b"".join(_CONNECTION.pack(*c) for c in connections)
