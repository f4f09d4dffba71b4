"""Stand-ins of bootgen, xclbinutil and aiecc."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from dataclasses import replace

from common import digest, expect, read, refuse, settings, write

from iron.formats import cdo, control_elf, insts, pdi, xclbin, xclbin_build


def bootgen(arguments: list[str]) -> int:
    bif, output = expect(arguments, "-arch", "versal", "-image", str, "-o", str, "-w")
    text = read(bif).decode()
    code = re.search(r"id_code = (0x[0-9a-f]+)", text)
    name = re.search(r"name=(\w+), id=(0x[0-9a-f]+)", text)
    files = re.findall(r"file=(\S+)", text)
    if not (code and name and files) or "type=cdo" not in text:
        refuse("syntax error in the BIF")
    commands = [c for f in files for c in cdo.read(read(f), f)]
    image = (name.group(1), int(name.group(2), 16), [cdo.write(commands)])
    write("bootgen", output, pdi.write([image], int(code.group(1), 16)))
    return 0


def xclbinutil(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        print(f"XRT Build Version: {settings().get('xclbinutil', '2.18.0')}")
        return 0
    if arguments[:1] == ["--input"]:
        made = _extended(arguments)
    else:
        memory, kernels, partition, _ = expect(
            arguments, "--add-replace-section", ("MEM_TOPOLOGY:JSON:",), "--add-kernel", str,
            "--add-replace-section", ("AIE_PARTITION:JSON:",), "--force", "--quiet", "--output",
            str,
        )  # fmt: skip
        parts = [json.loads(read(p)) for p in (memory, kernels, partition)]
        made = xclbin_build.build(*parts, read, (memory, partition))
    now = time.time_ns() // 10**9
    random = xclbin_build.with_mirror(replace(made, stamp=now, unique_id=now, uuid=os.urandom(16)))
    write("xclbinutil", arguments[-1], xclbin.write(random))
    return 0


def _extended(arguments: list[str]) -> xclbin.Xclbin:
    base, kernels, partition, _ = expect(
        arguments, "--input", str, "--add-kernel", str, "--add-replace-section",
        ("AIE_PARTITION:JSON:",), "--force", "--quiet", "--output", str,
    )  # fmt: skip
    file = xclbin.read(read(base), base)
    parts = [json.loads(read(p)) for p in (kernels, partition)]
    try:
        return xclbin_build.extend(file, *parts, read, partition)
    except xclbin_build.FormatError as error:
        refuse(str(error))
        raise AssertionError from None


def aiebu(arguments: list[str]) -> int:
    """aiebu-asm: instructions as ELF, or everything that a configuration names."""
    if arguments[:2] == ["-t", "aie2txn"]:
        source, output = expect(arguments, "-t", "aie2txn", "-c", str, "-o", str)
        program = read(source)
        insts.read(program, source)
        write("aiebu-asm", output, control_elf.write([(".ctrltext", program)]))
        return 0
    config, output = expect(arguments, "-t", "aie2_config", "-j", str, "-o", str)
    sections, kernels = [], []
    for kernel in json.loads(read(config))["xrt-kernels"]:
        if any(a["type"] != "char *" for a in kernel["arguments"]):
            refuse("unknown type of argument")
        for entry in kernel["PDIs"]:
            image = (f".pdi.{entry['id']}", read(entry["PDI_file"]))
            pdi.read(image[1])
            sections += [image] if image not in sections else []
        known = {e["id"] for e in kernel["PDIs"]}
        for instance in kernel["instance"]:
            program = read(instance["TXN_ctrl_code_file"])
            for op in insts.read(program).instructions:
                if op.name == "load_pdi" and op.fields["id"] not in known:
                    refuse(f"no PDI {op.fields['id']}")
            kernels.append((kernel["name"], len(kernel["arguments"]), instance["id"], program))
    write("aiebu-asm", output, control_elf.write(sections, kernels))
    return 0


def aiecc(arguments: list[str]) -> int:
    modern = settings()["generation"] != "2026-03" or sys.argv[2] == "aiecc"
    if arguments == ["--help"]:
        print("OPTIONS:\n  --get-npu-insts\n  --get-xclbin\n  --get-full-elf" if modern else "?")
        return 0
    chess = ["--unified", "--xchesscc", "--xbridge"]
    rest = [a for a in arguments if a not in chess]
    peano = [a for a in rest if a.startswith("--peano=")]
    if len(rest) < len(arguments):
        if len(arguments) - len(rest) != 3 or peano or not os.environ.get("AIETOOLS"):
            refuse("--xchesscc/--xbridge require aietools")
    elif len(peano) != 1 or not os.path.exists(f"{peano[0][8:]}/bin/clang"):
        refuse(f"no Peano: {arguments}")
    ways = {a.partition("=")[0]: a.partition("=")[2] for a in rest if a.startswith("--")}
    fixed = _MODERN if modern else _CLASSIC
    for name, value in fixed.items():
        if ways.pop(name, None) != value:
            refuse(f"{name}={value} is not in {arguments}")
    full = ways.pop("--get-full-elf" if modern else "--generate-full-elf", None) is not None
    text = read("aie.mlir")
    names = sorted(set(re.findall(r'link_with = "([^"]+)"', text.decode())))
    state = digest(text, *(read(n) for n in names))
    if full:
        if ways.pop("--full-elf-name", None) != "design.elf":
            refuse("no --full-elf-name")
        write("aiecc", "design.elf", b"\x7fELF" + state)
    else:
        _parts(text.decode(), state, ways, modern)
    known = {"--peano", "--device-name", "--alloc-scheme", "--xclbin-kernel-name", "--of-its-own"}
    if set(ways) - known:
        refuse(f"unknown arguments {sorted(set(ways) - known)}")
    return 0


_MODERN = {"--tmpdir": "prj", "--output-dir": ".", "--get-input-with-addresses": ""}
_CLASSIC = {"--tmpdir": "prj", "--no-aiesim": "", "--no-compile-host": ""}


def _parts(text: str, state: bytes, ways: dict[str, str], modern: bool) -> None:
    """An xclbin, and instructions of every sequence under the name that a template makes."""
    from iron import ir
    from iron.toolchain import outline

    wanted = (
        {"--get-npu-insts": "", "--get-xclbin": ""}
        if modern
        else {
            "--aie-generate-npu-insts": "", "--aie-generate-xclbin": "", "--no-xchesscc": "",
            "--no-xbridge": "",
        }
    )  # fmt: skip
    for name, value in wanted.items():
        if ways.pop(name, None) != value:
            refuse(f"{name} is missing")
    template = ways.pop("--npu-insts-name")
    chosen = ways.get("--device-name")
    section = xclbin.Section(xclbin.NUMBERS["BUILD_METADATA"], "", state)
    made = xclbin.Xclbin((section,), os.urandom(16), time.time_ns() // 10**9)
    write("aiecc", ways.pop("--xclbin-name"), xclbin.write(made))
    for device in outline.outline(ir.parse(text)).devices:
        for sequence in device.sequences:
            if chosen not in (None, device.symbol):
                continue
            key = f"{device.symbol}_{sequence.name}"
            name = template.format(key) if modern else template.format(device.symbol, sequence.name)
            op = insts.Instruction("write32", {"address": 0, "value": digest(key.encode())[0]})
            write("aiecc", name, insts.write(insts.Header(0, 1, 3, 6, 1, 1), [op]))
