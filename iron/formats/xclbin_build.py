"""An xclbin from the three descriptions mlir-aie hands to xclbinutil: memory, kernels, partition;
and one more kernel in an xclbin that is there.

Does what ``xclbinutil --add-replace-section MEM_TOPOLOGY:JSON:... --add-kernel ...
--add-replace-section AIE_PARTITION:JSON:...`` does (with ``--input`` in place of MEM_TOPOLOGY for
one that is there), in the same order, so that XRT and xclbinutil read the file as one of theirs;
but the same input gives the same bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

from . import aie_partition
from .errors import FormatError
from .xclbin import NUMBERS, Section, Xclbin, content_uuid, offsets
from .xclbin_sections import (
    SUBTYPES,
    count_of,
    list_connections,
    read_connections,
    read_kernels,
    read_memory,
    with_kernels,
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


def extend(
    base: Xclbin,
    kernels: Mapping[str, Any],
    partition: Mapping[str, Any],
    pdi: Callable[[str], bytes],
    name: str = "aie_partition",
) -> Xclbin:
    """`base` with the kernels of the JSON text as well, and with this partition, which describes
    the PDIs of all of them. FormatError when a section is missing or a kernel is there already."""
    listed = kernels["ps-kernels"]["kernels"]
    taken = set(kernel_names(base))
    for kernel in listed:
        if kernel["name"] in taken:
            raise FormatError(f"kernel {kernel['name']} is in the xclbin already")
    topology = _section(base, "MEM_TOPOLOGY")
    tags = [m["m_tag"] for m in read_memory(topology)["mem_topology"]["m_mem_data"]]
    layout = _section(base, "IP_LAYOUT")
    connected = [
        *list_connections(_section(base, "CONNECTIVITY")),
        *_connections(listed, tags, count_of(layout)),
    ]
    changed = {
        "AIE_PARTITION": aie_partition.write(partition, pdi),
        "EMBEDDED_METADATA": _with_kernels(_section(base, "EMBEDDED_METADATA"), listed),
        "IP_LAYOUT": with_kernels(layout, list(_instances(listed))),
        "CONNECTIVITY": write_connections(connected),
        "ASK_GROUP_CONNECTIVITY": write_connections(connected * 2),
        "ASK_GROUP_TOPOLOGY": topology,
    }
    sections = []
    for section in base.sections:
        title = _stem(name) if section.title == "AIE_PARTITION" else section.name
        data = changed.get(section.title, section.data)
        sections.append(Section(section.kind, title, data))
    return with_mirror(Xclbin(tuple(sections), content_uuid(sections)))


def _section(file: Xclbin, title: str) -> bytes:
    found = file.section(title)
    if found is None:
        raise FormatError(f"the xclbin has no section {title}")
    return found.data


def kernel_names(file: Xclbin, what: str = "the xclbin") -> tuple[str, ...]:
    """The kernels that the metadata names; FormatError when it cannot be read."""
    from xml.etree import ElementTree

    try:
        tree = ElementTree.fromstring(_section(file, "EMBEDDED_METADATA").rstrip(b"\0"))
    except ElementTree.ParseError as e:
        raise FormatError(f"{what}: EMBEDDED_METADATA is no XML: {e}") from e
    return tuple(k.get("name", "") for k in tree.iter("kernel"))


def _with_kernels(metadata: bytes, kernels: Sequence[Mapping[str, Any]]) -> bytes:
    text = metadata.decode()
    at = text.rfind("</core>")
    if at < 0:
        raise FormatError("EMBEDDED_METADATA has no core element that a kernel could be put into")
    at = text.rfind("\n", 0, at) + 1
    lines = [line for kernel in kernels for line in _kernel(kernel)]
    return (text[:at] + "\n".join((*lines, "")) + text[at:]).encode()


def _stem(name: str) -> str:
    return os.path.splitext(os.path.basename(name))[0][:15]


def _instances(kernels: Sequence[Mapping[str, Any]]) -> list[tuple[str, int]]:
    return [
        (f"{k['name']}:{i['name']}", int(k["extended-data"]["dpu_kernel_id"], 0))
        for k in kernels
        for i in k["instances"]
    ]


def _connections(
    kernels: Sequence[Mapping[str, Any]], tags: Sequence[str], index: int = 0
) -> list[tuple[int, int, int]]:
    """(argument, kernel, memory); the first of these kernels has number `index`."""
    found = []
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
        lines += _kernel(kernel)
    lines += ["      </core>", "    </device>", "  </platform>", "</project>", ""]
    return "\n".join(lines)


def _kernel(kernel: Mapping[str, Any]) -> list[str]:
    extended = kernel["extended-data"]
    subtype = SUBTYPES.index(extended["subtype"])
    return [
        f'        <kernel name={_quoted(kernel["name"])} language="c" '
        f"type={_quoted(kernel['type'])}>",
        f'          <extended-data subtype="{subtype}" functional="{extended["functional"]}" '
        f'dpu_kernel_id="{extended["dpu_kernel_id"]}"/>',
        *(_argument(i, a) for i, a in enumerate(kernel["arguments"])),
        *(f"          <instance name={_quoted(i['name'])}/>" for i in kernel["instances"]),
        "        </kernel>",
    ]


def _argument(index: int, argument: Mapping[str, str]) -> str:
    pointer = argument["type"].rstrip().endswith("*")
    size = 8 if pointer else _SIZES.get(argument["type"])
    if size is None:
        raise FormatError(f"argument {argument['name']}: the size of {argument['type']} is unknown")
    qualifier = 1 if argument["address-qualifier"] == "GLOBAL" else 0
    return (
        f"          <arg name={_quoted(argument['name'])} "
        f'addressQualifier="{qualifier}" id="{index}" size="0x{size:x}" '
        f'offset="{argument["offset"]}" hostOffset="0x0" hostSize="0x{size:x}" '
        f"type={_quoted(argument['type'])}/>"
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


def _quoted(text: str) -> str:
    """As the value of an XML attribute; xml.sax would bring the whole of urllib along."""
    return f'"{escape(text)}"'
