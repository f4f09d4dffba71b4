"""``iron inspect FILE``: what is in a binary file of a build, in words or as JSON.

Knows how to speak of the files; their layouts are known by `iron.formats`.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from typing import Any

from iron.formats.errors import FormatError


def add_to(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "inspect",
        help="show an xclbin, insts.bin, PDI, CDO or ELF file (of a core, or of control code)",
    )
    parser.add_argument("file")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    try:
        with open(arguments.file, "rb") as f:
            raw = f.read()
        found = describe(raw, arguments.file)
    except (OSError, FormatError) as e:
        raise SystemExit(f"iron: {e}") from e
    if arguments.json:
        print(json.dumps(found, indent=2))
    else:
        print("\n".join(_words(found)))


def describe(raw: bytes, name: str) -> dict[str, Any]:
    """A file's content as data; FormatError when it is of none of the kinds."""
    from iron.formats import control_elf, insts, pdi, xclbin

    what = os.path.basename(name)
    if raw[:8] == xclbin.MAGIC:
        return {"file": what, "kind": "xclbin", **_xclbin(raw, what)}
    if pdi.looks_like(raw):
        return {"file": what, "kind": "PDI", **_pdi(raw, what)}
    if control_elf.looks_like(raw):
        return {"file": what, "kind": "control code ELF", **_control(raw, what)}
    if raw[:4] == b"\x7fELF":
        return {"file": what, "kind": "ELF", **_elf(raw, what)}
    if raw[4:8] == b"CDO\0":
        return {"file": what, "kind": "CDO", **_cdo(raw, what)}
    if insts.looks_like(raw):
        return {"file": what, "kind": "NPU instructions", **_instructions(raw, what)}
    raise FormatError(
        f"{what} is no xclbin, PDI, CDO, ELF file or insts.bin: it has {len(raw)} bytes and starts "
        f"with {raw[:16].hex(' ')}"
    )


def _xclbin(raw: bytes, what: str) -> dict[str, Any]:
    from iron.formats import aie_partition, xclbin
    from iron.formats.xclbin_build import payload_of

    file = xclbin.read(raw, what)
    sections = []
    pdis: dict[str, Any] = {}
    for section in file.sections:
        entry: dict[str, Any] = {
            "kind": section.title,
            "name": section.name,
            "bytes": len(section.data),
        }
        payload = payload_of(section)
        if section.title == "AIE_PARTITION":
            payload, files = aie_partition.read(section.data)
            pdis = {n: _pdi(data, n) for n, data in files.items()}
        elif section.title == "EMBEDDED_METADATA":
            payload = {"xml": section.data.decode("utf-8", "replace")}
        if payload is not None:
            entry["content"] = payload
        sections.append(entry)
    return {
        "uuid": file.uuid.hex(),
        "version": ".".join(map(str, file.version)),
        "made": file.stamp,
        "bytes": len(raw),
        "sections": sections,
        "pdis": pdis,
    }


def _pdi(raw: bytes, what: str) -> dict[str, Any]:
    from iron.formats import pdi

    file = pdi.read(raw, what)
    images = []
    for image in file.images:
        parts = []
        for part in image.partitions:
            entry: dict[str, Any] = {"offset": part.offset, "bytes": part.size}
            if part.is_cdo:
                entry.update(_commands(part.commands()))
            parts.append(entry)
        images.append({"name": image.name, "id": f"0x{image.identifier:08x}", "partitions": parts})
    return {
        "identification_code": f"0x{file.identification_code:08x}",
        "bytes": len(raw),
        "images": images,
    }


def _cdo(raw: bytes, what: str) -> dict[str, Any]:
    from iron.formats import cdo

    commands = cdo.read(raw, what)
    return {"bytes": len(raw), **_commands(commands), "list": list(map(_command, commands))}


def _commands(commands: Any) -> dict[str, Any]:
    from iron.formats.cdo import loaded

    counts: dict[str, int] = {}
    for command in commands:
        counts[command.name] = counts.get(command.name, 0) + 1
    loads = [
        {
            "tile": [x.column, x.row],
            "memory": x.memory,
            "offset": x.offset,
            "bytes": len(x.data),
            "begins": x.data[:16].hex(" "),
        }
        for x in loaded(commands)
    ]
    return {"commands": counts, "loads": loads}


def _command(command: Any) -> dict[str, Any]:
    from iron.formats.registers import place

    found: dict[str, Any] = {"name": command.name}
    if command.address is not None:
        found["where"] = str(place(command.address))
    found.update({k: v for k, v in command.fields.items() if k not in ("address", "high", "low")})
    if command.data:
        found["words"] = len(command.data)
    return found


def _elf(raw: bytes, what: str) -> dict[str, Any]:
    from iron.formats.elf_image import read

    image = read(raw, what)
    sections = [
        {
            "name": s.name,
            "type": s.type,
            "address": f"0x{s.address:x}",
            "bytes": s.size,
            "loaded": s.loaded,
        }
        for s in image.sections
        if s.name or s.size
    ]
    segments = [
        {"address": f"0x{s.address:x}", "bytes": len(s.data), "memory": s.memory_size}
        for s in image.segments
    ]
    needs = [{"function": f"0x{a:x}", "bytes": n} for a, n in image.stack_sizes]
    start = None if image.stack_start is None else f"0x{image.stack_start:x}"
    return {
        "bytes": len(raw),
        "machine": image.machine,
        "entry": f"0x{image.entry:x}",
        "sections": sections,
        "segments": segments,
        "stack": {"start": start, "functions": needs},
    }


def _control(raw: bytes, what: str) -> dict[str, Any]:
    """An ELF that XRT loads: kernels, their code as operations, the PDIs it has."""
    from iron.formats import control_elf, pdi

    file = control_elf.read(raw, what)
    parts = []
    for part in file.parts:
        entry: dict[str, Any] = {"section": part.name, "bytes": len(part.data)}
        if part.owner:
            entry["of"] = part.owner
        if part.name.startswith(control_elf.CODE):
            entry["code"] = _instructions(part.data, part.name)
        elif pdi.looks_like(part.data):
            entry["pdi"] = _pdi(part.data, part.name)
        parts.append(entry)
    return {
        "bytes": len(raw),
        "platform": file.platform,
        "version": ".".join(map(str, file.version)),
        "identifier": file.identifier.hex(),
        "kernels": [
            {"name": k.name, "arguments": list(k.arguments), "instances": list(k.instances)}
            for k in file.kernels
        ],
        "parts": parts,
        "patches": [vars(p) for p in file.patches],
    }


def _instructions(raw: bytes, what: str) -> dict[str, Any]:
    from iron.formats.insts import GENERATIONS, read
    from iron.formats.registers import is_shim_descriptor, place, shim_descriptor, shim_register

    program = read(raw, what)
    head = program.header
    listed = []
    for op in program.instructions:
        entry: dict[str, Any] = {"at": op.offset, "name": op.name, **op.fields}
        if "address" in op.fields:
            at = place(op.fields["address"])
            entry["where"] = str(at)
            register = shim_register(at)
            if register:
                entry["register"] = register
            if op.data and is_shim_descriptor(at, len(op.data)):
                entry["descriptor"] = shim_descriptor(op.data)
        if op.data:
            entry["words"] = list(op.data)
        listed.append(entry)
    return {
        "bytes": len(raw),
        "version": f"{head.major}.{head.minor}",
        "device": GENERATIONS.get(head.generation, str(head.generation)),
        "rows": head.rows,
        "columns": head.columns,
        "memtile_rows": head.memtile_rows,
        "operations": listed,
    }


# -- in words ---------------------------------------------------------------------------------


def _words(found: dict[str, Any]) -> Iterator[str]:
    yield f"{found['file']}: {found['kind']}, {found['bytes']} bytes"
    if found["kind"] == "NPU instructions":
        yield from _instruction_words(found)
        return
    if found["kind"] == "control code ELF":
        yield from _control_words(found)
        return
    yield from _tree({k: v for k, v in found.items() if k not in ("file", "kind", "bytes")}, "  ")


def _control_words(found: dict[str, Any]) -> Iterator[str]:
    head = ("platform", "version", "identifier", "kernels")
    yield from _tree({k: found[k] for k in head}, "  ")
    for part in found["parts"]:
        owner = f" of {part['of']}" if "of" in part else ""
        yield f"  {part['section']}{owner}: {part['bytes']} bytes"
        if "code" in part:
            yield from ("  " + line for line in _instruction_words(part["code"]))
        elif "pdi" in part:
            yield from _tree(part["pdi"], "    ")
    yield from _tree({"patches": found["patches"]} if found["patches"] else {}, "  ")


def _instruction_words(found: dict[str, Any]) -> Iterator[str]:
    yield (
        f"  {found['device']}, {found['columns']} column(s) of {found['rows']} rows, "
        f"version {found['version']}, {len(found['operations'])} operation(s)"
    )
    for op in found["operations"]:
        where = op.get("where", "")
        if "register" in op:
            where += f" ({op['register']})"
        shown = {
            k: v
            for k, v in op.items()
            if k not in ("at", "name", "address", "where", "register", "words", "descriptor")
        }
        numbers = " ".join(f"{k}={_number(v)}" for k, v in shown.items())
        yield f"  {op['at']:6d}  {op['name']:<14} {where}  {numbers}".rstrip()
        if "descriptor" in op:
            fields = op["descriptor"].items()
            used = " ".join(f"{k}={v}" for k, v in fields if v or k == "length")
            yield f"          descriptor: {used}"
        elif "words" in op:
            yield "          " + " ".join(f"{w:08x}" for w in op["words"])


def _number(value: int) -> str:
    return f"0x{value:x}" if value > 4095 else str(value)


def _tree(value: Any, indent: str) -> Iterator[str]:
    """Nested data as indented lines."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if isinstance(item, str) and "\n" in item:
            yield f"{indent}{key}:"
            yield from (f"{indent}  {line}" for line in item.rstrip("\n").split("\n"))
        elif isinstance(item, (dict, list)) and item and _nested(item):
            yield f"{indent}{key}:"
            yield from _tree(item, indent + "  ")
        else:
            yield f"{indent}{key}: {_flat(item)}"


def _nested(item: Any) -> bool:
    values = item.values() if isinstance(item, dict) else item
    return any(isinstance(v, (dict, list)) and v for v in values) or (
        isinstance(item, dict) and len(item) > 6
    )


def _flat(item: Any) -> str:
    if isinstance(item, dict):
        return ", ".join(f"{k} {_flat(v)}" for k, v in item.items()) or "none"
    if isinstance(item, list):
        return ", ".join(_flat(v) for v in item) or "none"
    return "not said" if item is None else str(item)
