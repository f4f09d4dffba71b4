"""Stand-ins of bootgen, xclbinutil and aiecc."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from dataclasses import replace

from common import digest, expect, read, refuse, settings, write

from iron.formats import cdo, insts, pdi, xclbin, xclbin_build


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
    memory, kernels, partition, output = expect(
        arguments, "--add-replace-section", ("MEM_TOPOLOGY:JSON:",), "--add-kernel", str,
        "--add-replace-section", ("AIE_PARTITION:JSON:",), "--force", "--quiet", "--output", str,
    )  # fmt: skip
    parts = [json.loads(read(p)) for p in (memory, kernels, partition)]
    made = xclbin_build.build(*parts, read, (memory, partition))
    now = time.time_ns() // 10**9
    random = xclbin_build.with_mirror(replace(made, stamp=now, unique_id=now, uuid=os.urandom(16)))
    write("xclbinutil", output, xclbin.write(random))
    return 0


def aiecc(arguments: list[str]) -> int:
    if arguments == ["--help"]:
        print("OPTIONS:\n  --get-npu-insts\n  --get-xclbin\n  --get-full-elf")
        return 0
    chess = ["--unified", "--xchesscc", "--xbridge"]
    if arguments[1:4] == chess:
        if not os.environ.get("AIETOOLS"):
            refuse("--xchesscc/--xbridge require aietools")
        peano = os.path.join(sys.argv[1], "mlir_aie", "peano")
        arguments = [arguments[0], f"--peano={peano}", *arguments[4:]]
    wanted = arguments[2:-3]
    source, peano, temporary = expect(
        [*arguments[:2], *arguments[-3:]], str, ("--peano=",), ("--tmpdir=",), "--output-dir=.",
        "--get-input-with-addresses",
    )  # fmt: skip
    if not os.path.exists(f"{peano}/bin/clang") or os.path.isabs(temporary):
        refuse(f"unexpected {arguments}")
    text = read(source)
    names = sorted(set(re.findall(r'link_with = "([^"]+)"', text.decode())))
    state = digest(text, *(read(n) for n in names))
    if wanted == ["--get-full-elf", "--full-elf-name=design.elf"]:
        write("aiecc", "design.elf", b"\x7fELF" + state)
        return 0
    expect(
        wanted, "--get-npu-insts", "--npu-insts-name=insts.bin", "--get-xclbin",
        "--xclbin-name=raw.xclbin",
    )  # fmt: skip
    section = xclbin.Section(xclbin.NUMBERS["BUILD_METADATA"], "", state)
    made = xclbin.Xclbin((section,), os.urandom(16), time.time_ns() // 10**9)
    write("aiecc", "raw.xclbin", xclbin.write(made))
    op = insts.Instruction("write32", {"address": 0, "value": state[0]})
    write("aiecc", "insts.bin", insts.write(insts.Header(0, 1, 3, 6, 1, 1), [op]))
    return 0
