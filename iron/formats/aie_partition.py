"""The AIE_PARTITION section: the columns a design takes, and the PDIs that configure them.

Structures ``aie_partition``, ``aie_partition_info``, ``aie_pdi`` and ``cdo_group`` of XRT's
xclbin.h: fixed structures that point at arrays and texts by offset into the section.
"""

from __future__ import annotations

import hashlib
import struct
import uuid as uuids
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .errors import FormatError

_GROUP_TYPES = ("UNKNOWN", "PRIMARY", "LITE", "PRE_POST")
_HEAD = struct.Struct("<B3xII4xQQH6xII72xIII52x")
_PDI = struct.Struct("<16sIIII64x")
_GROUP = struct.Struct("<IB3xQIIII64x")


def read(raw: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The section as the JSON that xclbinutil dumps, and its PDIs by the file names in it."""
    if len(raw) < _HEAD.size:
        raise FormatError(f"AIE_PARTITION has {len(raw)} bytes, at least {_HEAD.size} are needed")
    head = _HEAD.unpack_from(raw)
    _, name, operations, inference, prepost, width, n_starts, starts, n_pdis, pdis, _ = head
    files: dict[str, bytes] = {}
    entries = []
    for i in range(n_pdis):
        at = pdis + i * _PDI.size
        identifier, size, offset, n_groups, groups = _take(raw, _PDI, at)
        text = str(uuids.UUID(bytes=identifier))
        file = f"{text}.pdi"
        files[file] = _slice(raw, offset, size)
        found = [_group(raw, groups + j * _GROUP.size) for j in range(n_groups)]
        entries.append({"uuid": text, "file_name": file, "cdo_groups": found})
    columns = [_take(raw, struct.Struct("<H"), starts + 2 * i)[0] for i in range(n_starts)]
    return {
        "aie_partition": {
            "name": _text(raw, name),
            "operations_per_cycle": str(operations),
            "inference_fingerprint": str(inference),
            "pre_post_fingerprint": str(prepost),
            "partition": {"column_width": width, "start_columns": columns},
            "PDIs": entries,
        }
    }, files


def _take(raw: bytes, shape: struct.Struct, at: int) -> tuple[Any, ...]:
    if at + shape.size > len(raw):
        raise FormatError(f"AIE_PARTITION is cut short: it points at byte {at} of {len(raw)}")
    return shape.unpack_from(raw, at)


def _slice(raw: bytes, at: int, size: int) -> bytes:
    if at + size > len(raw):
        raise FormatError(f"AIE_PARTITION is cut short: it points at byte {at + size}")
    return raw[at : at + size]


def _text(raw: bytes, at: int) -> str:
    return raw[at : raw.find(b"\0", at)].decode("utf-8", "replace")


def _group(raw: bytes, at: int) -> dict[str, Any]:
    name, kind, pdi, n_kernels, kernels, n_before, before = _take(raw, _GROUP, at)
    word = struct.Struct("<Q")
    return {
        "name": _text(raw, name),
        "type": _GROUP_TYPES[kind] if kind < len(_GROUP_TYPES) else str(kind),
        "pdi_id": f"0x{pdi:02x}",
        "dpu_kernel_ids": [f"0x{_take(raw, word, kernels + 8 * i)[0]:x}" for i in range(n_kernels)],
        "pre_cdo_groups": [f"0x{_take(raw, word, before + 8 * i)[0]:X}" for i in range(n_before)],
    }


def write(description: Mapping[str, Any], pdi: Callable[[str], bytes]) -> bytes:
    """The section for the JSON that xclbinutil takes; `pdi` gives a PDI's content by file name."""
    body = description["aie_partition"]
    heap = bytearray(_HEAD.size)

    def put(data: bytes) -> int:
        """Append, 8-aligned; where it went."""
        at = len(heap)
        heap.extend(data + b"\0" * (-len(data) % 8))
        return at

    name = put(b"\0")  # xclbinutil leaves the partition's name out as well
    commit = put(b"\0")
    starts = body["partition"]["start_columns"]
    columns = put(struct.pack(f"<{len(starts)}H", *starts))
    records = b""
    for entry in body["PDIs"]:
        image = pdi(entry["file_name"])
        at = put(image)
        groups = b"".join(_pack_group(g, put) for g in entry["cdo_groups"])
        first = put(groups)
        identifier = uuids.UUID(entry["uuid"]).bytes
        records += _PDI.pack(identifier, len(image), at, len(entry["cdo_groups"]), first)
    pdis = put(records)
    _HEAD.pack_into(
        heap, 0, 0, name, int(body["operations_per_cycle"]), int(body["inference_fingerprint"]),
        int(body["pre_post_fingerprint"]), int(body["partition"]["column_width"]), len(starts),
        columns, len(body["PDIs"]), pdis, commit,
    )  # fmt: skip
    return bytes(heap)


def _pack_group(group: Mapping[str, Any], put: Callable[[bytes], int]) -> bytes:
    def words(values: list[str]) -> tuple[int, int]:
        return len(values), put(b"".join(struct.pack("<Q", int(v, 0)) for v in values))

    name = put(group["name"].encode() + b"\0")
    kernels = words(group["dpu_kernel_ids"])
    before = words(group["pre_cdo_groups"])
    kind = _GROUP_TYPES.index(group["type"])
    return _GROUP.pack(name, kind, int(group["pdi_id"], 0), *kernels, *before)


def content_uuid(image: bytes, kernels: Sequence[str]) -> str:
    """The uuid of a PDI that configures for these DPU kernels: from what it is, not from chance.
    XRT takes two PDIs with one uuid for the same."""
    state = hashlib.sha256("\0".join(kernels).encode() + b"\0\0" + image).digest()
    raw = bytearray(state[:16])
    raw[6], raw[8] = raw[6] & 0x0F | 0x80, raw[8] & 0x3F | 0x80  # RFC 9562, version 8
    return str(uuids.UUID(bytes=bytes(raw)))


def with_content_uuids(raw: bytes) -> bytes:
    """The section with the uuid of each PDI made from its content."""
    description, files = read(raw)
    out = bytearray(raw)
    _, _, _, _, _, _, _, _, count, first, _ = _HEAD.unpack_from(raw)
    entries = description["aie_partition"]["PDIs"]
    for i in range(count):
        entry = entries[i]
        kernels = [k for g in entry["cdo_groups"] for k in g["dpu_kernel_ids"]]
        made = content_uuid(files[entry["file_name"]], kernels)
        at = first + i * _PDI.size
        out[at : at + 16] = uuids.UUID(made).bytes
    return bytes(out)
