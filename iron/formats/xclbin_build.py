"""An xclbin from the three descriptions mlir-aie hands to xclbinutil: memory, kernels, partition.

Does what ``xclbinutil --add-replace-section MEM_TOPOLOGY:JSON:... --add-kernel ...
--add-replace-section AIE_PARTITION:JSON:...`` does, in the same order, so that XRT and xclbinutil
read the file as one of theirs; but the same input gives the same bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from xml.sax.saxutils import quoteattr

from . import aie_partition
from .errors import FormatError
from .xclbin import NUMBERS, Section, Xclbin, content_uuid, offsets
from .xclbin_sections import (
    SUBTYPES,
    read_connections,
    read_kernels,
    read_memory,
    write_connections,
    write_kernels,
    write_memory,
)

_SIZES = {"uint64_t": 8, "int64_t": 8, "uint32_t": 4, "int32_t": 4, "float": 4, "double": 8}


def build(
    memory: Mapping[str, Any],
    kernels: Mapping[str, Any],
    partition: Mapping[str, Any],
    pdi: Callable[[str], bytes],
    names: tuple[str, str] = ("mem_topology", "aie_partition"),
) -> Xclbin:
    """The file for the three JSON texts, parsed. `pdi` gives a PDI's content by the file name in
    the partition; `names` are the sections' names (xclbinutil: the stems of the JSON files)."""
    listed = kernels["ps-kernels"]["kernels"]
    topology = write_memory(dict(memory))
    tags = [m["m_tag"] for m in memory["mem_topology"]["m_mem_data"]]
    connected = _connections(listed, tags)
    sections = (
        Section(NUMBERS["MEM_TOPOLOGY"], _stem(names[0]), topology),
        Section(NUMBERS["AIE_PARTITION"], _stem(names[1]), aie_partition.write(partition, pdi)),
        Section(NUMBERS["EMBEDDED_METADATA"], "", _metadata(listed).encode()),
        Section(NUMBERS["IP_LAYOUT"], "", write_kernels(list(_instances(listed)))),
        Section(NUMBERS["CONNECTIVITY"], "", write_connections(connected)),
        Section(NUMBERS["ASK_GROUP_CONNECTIVITY"], "", write_connections(connected * 2)),
        Section(NUMBERS["ASK_GROUP_TOPOLOGY"], "", topology),
    )
    file = Xclbin(sections, content_uuid(sections))
    return with_mirror(file)


def _stem(name: str) -> str:
    return os.path.splitext(os.path.basename(name))[0][:15]


def _instances(kernels: Sequence[Mapping[str, Any]]) -> list[tuple[str, int]]:
    return [
        (f"{k['name']}:{i['name']}", int(k["extended-data"]["dpu_kernel_id"], 0))
        for k in kernels
        for i in k["instances"]
    ]


def _connections(
    kernels: Sequence[Mapping[str, Any]], tags: Sequence[str]
) -> list[tuple[int, int, int]]:
    found, index = [], 0
    for kernel in kernels:
        for _ in kernel["instances"]:
            for position, argument in enumerate(kernel["arguments"]):
                tag = argument.get("memory-connection")
                if tag is None:
                    continue
                if tag not in tags:
                    raise FormatError(f"argument {argument['name']}: no memory {tag!r} in {tags}")
                found.append((position, index, tags.index(tag)))
            index += 1
    return found


def _metadata(kernels: Sequence[Mapping[str, Any]]) -> str:
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<project>", "  <platform>", "    <device>"]
    lines.append("      <core>")
    for kernel in kernels:
        lines.append(
            f'        <kernel name={quoteattr(kernel["name"])} language="c" '
            f"type={quoteattr(kernel['type'])}>"
        )
        extended = kernel["extended-data"]
        subtype = SUBTYPES.index(extended["subtype"])
        lines.append(
            f'          <extended-data subtype="{subtype}" functional="{extended["functional"]}" '
            f'dpu_kernel_id="{extended["dpu_kernel_id"]}"/>'
        )
        lines += [_argument(i, a) for i, a in enumerate(kernel["arguments"])]
        lines += [f"          <instance name={quoteattr(i['name'])}/>" for i in kernel["instances"]]
        lines.append("        </kernel>")
    lines += ["      </core>", "    </device>", "  </platform>", "</project>", ""]
    return "\n".join(lines)


def _argument(index: int, argument: Mapping[str, str]) -> str:
    pointer = argument["type"].rstrip().endswith("*")
    size = 8 if pointer else _SIZES.get(argument["type"])
    if size is None:
        raise FormatError(f"argument {argument['name']}: the size of {argument['type']} is unknown")
    qualifier = 1 if argument["address-qualifier"] == "GLOBAL" else 0
    return (
        f"          <arg name={quoteattr(argument['name'])} "
        f'addressQualifier="{qualifier}" id="{index}" size="0x{size:x}" '
        f'offset="{argument["offset"]}" hostOffset="0x0" hostSize="0x{size:x}" '
        f"type={quoteattr(argument['type'])}/>"
    )


def with_mirror(file: Xclbin) -> Xclbin:
    """With the JSON behind the sections that says again what header and sections say."""
    return replace(file, mirror=_mirror(file).encode())


def _mirror(file: Xclbin) -> str:
    major, minor, patch = file.version
    header = {
        "Magic": "xclbin2",
        "SignatureLength": "ffffffff",
        "KeyBlock": "ff" * 256,
        "UniqueID": file.unique_id.to_bytes(8, "little").hex(),
        "TimeStamp": str(file.stamp),
        "FeatureRomTimeStamp": "0",
        "Version": f"{major}.{minor}.{patch}",
        "Mode": "0",
        "InterfaceUUID": "0" * 32,
        "PlatformVBNV": "",
        "XclBinUUID": file.uuid.hex(),
        "DebugBin": "",
    }
    schema = {"major": "1", "minor": "0", "patch": "0"}
    parts = [f'"schema_version":{_json(schema)}', f'"header":{_json(header)}']
    for section, offset in zip(file.sections, offsets(file.sections), strict=True):
        entry: dict[str, Any] = {
            "Kind": str(section.kind),
            "Name": section.name,
            "Offset": f"0x{offset:x}",
            "Size": f"0x{len(section.data):x}",
        }
        payload = payload_of(section)
        if payload is not None:
            entry["payload"] = payload
        parts.append(f'"section_header":{_json(entry)}')  # one key for all: as xclbinutil does
    return "{" + ",".join(parts) + "}"


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def payload_of(section: Section) -> dict[str, Any] | None:
    """A small section as JSON, None for the others."""
    if section.title == "MEM_TOPOLOGY":
        return read_memory(section.data)
    if section.title == "ASK_GROUP_TOPOLOGY":
        return read_memory(section.data, "group_topology")
    if section.title == "IP_LAYOUT":
        return read_kernels(section.data)
    if section.title == "CONNECTIVITY":
        return read_connections(section.data)
    if section.title == "ASK_GROUP_CONNECTIVITY":
        return read_connections(section.data, "group_connectivity")
    return None
