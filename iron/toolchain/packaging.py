"""From CDOs to a package: BIF, PDI (bootgen), the three JSON descriptions, xclbin (xclbinutil, or
our own writer where there is none).

The contents of the descriptions are those that mlir-aie's Python driver writes. uuids come from
content and no time is kept, so that the same design gives the same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iron.build import FunctionTool, In, Out, ProgramTool, Recipe, Ref
from iron.formats.pdi import BUS_WIDTH_WORDS
from iron.formats.xclbin import MAGIC

from .mlir_aie import CDO_PARTS, help_of

KERNEL, INSTANCE, KERNEL_ID = "MLIR_AIE", "MLIRAIE", "0x901"
LEAST_BUFFERS, MOST_BUFFERS = 5, 16
"""Host buffers a kernel declares: command chains of the firmware need five slots; mlir-aie has
verified sixteen."""
OLDEST_XCLBINUTIL = (2, 13)
"""The first with AIE_PARTITION as JSON."""

_PDI_MAGIC = b"".join(w.to_bytes(4, "little") for w in BUS_WIDTH_WORDS)
_HERE = ("iron.toolchain.packaging", "iron.formats")


@dataclass(frozen=True)
class Kernel:
    """How the package's kernel is called. Two in one xclbin need different identifiers."""

    name: str = KERNEL
    instance: str = INSTANCE
    identifier: str = KERNEL_ID


@dataclass(frozen=True)
class Columns:
    """The partition: columns a design takes, and at which columns it may start."""

    width: int
    starts: tuple[int, ...]


def columns_of(name: str, width: int, *, from_one: bool) -> Columns:
    """For an NPU device of mlir-aie by name: a whole device starts at column 0, a part of one at
    every column where it fits. mlir-aie of 2026-03 (`from_one`) counts them from 1 to 4."""
    if name in ("npu1", "npu2"):
        return Columns(width, (0,))
    physical = 4 if name.startswith("npu1") else 8
    narrow = tuple(range(1, 6 - width)) if from_one else ()
    return Columns(width, narrow or tuple(range(physical - width + 1)))


def _step(name: str, argv: Sequence[Any], inputs: Sequence[Ref], output: str, label: str) -> Recipe:
    function = _FUNCTIONS[name]
    return Recipe(
        name, FunctionTool(name, function, _HERE), tuple(argv), tuple(inputs), (output,),
        label=label,
    )  # fmt: skip


# -- configuration ----------------------------------------------------------------------------


def bif(device: str, label: str) -> Recipe:
    return _step("bif", (Out(f"{device}_design.bif"), device), (), f"{device}_design.bif", label)


def bif_text(device: str) -> str:
    """What bootgen is told: one image of the three CDOs, by names in its working directory."""
    files = " ".join(f"file={device}_aie_cdo_{part}.bin" for part in CDO_PARTS)
    return (
        "all:\n{\n  id_code = 0x14ca8093\n  extended_id_code = 0x01\n  image\n  {\n"
        "    name=aie_image, id=0x1c000000\n"
        f"    {{ type=cdo {files} }}\n  }}\n}}\n"
    )


def pdi(bootgen: ProgramTool, device: str, cdo: Recipe, label: str) -> Recipe:
    """bootgen, in a directory with just what the BIF names."""
    described = bif(device, label)
    staged = [(described.outputs[0], 0), *((name, 1 + i) for i, name in enumerate(cdo.outputs))]
    output = f"{device}.pdi"
    return Recipe(
        "pdi",
        bootgen,
        ("-arch", "versal", "-image", described.outputs[0], "-o", output, "-w"),
        (Ref(described), *(Ref(cdo, name) for name in cdo.outputs)),
        (output,),
        staged=tuple(staged),
        begins=((output, _PDI_MAGIC),),
        label=label,
    )


# -- descriptions -----------------------------------------------------------------------------


def memory_description() -> dict[str, Any]:
    def region(size: str, tag: str) -> dict[str, str]:
        return {
            "m_type": "MEM_DRAM",
            "m_used": "1",
            "m_sizeKB": size,
            "m_tag": tag,
            "m_base_address": "0x4000000",
        }

    regions = [region("0x10000", "HOST"), region("0xc000", "SRAM")]
    return {"mem_topology": {"m_count": "2", "m_mem_data": regions}}


def kernel_description(kernel: Kernel, buffers: int) -> dict[str, Any]:
    arguments = [
        {"name": "opcode", "address-qualifier": "SCALAR", "type": "uint64_t", "offset": "0x00"},
        {
            "name": "instr",
            "memory-connection": "SRAM",
            "address-qualifier": "GLOBAL",
            "type": "char *",
            "offset": "0x8",
        },
        {"name": "ninstr", "address-qualifier": "SCALAR", "type": "uint32_t", "offset": "0x10"},
    ]
    arguments += [
        {
            "name": f"bo{i}",
            "memory-connection": "HOST",
            "address-qualifier": "GLOBAL",
            "type": "void*",
            "offset": f"0x{0x14 + 8 * i:x}",
        }
        for i in range(buffers)
    ]
    return {
        "ps-kernels": {
            "kernels": [
                {
                    "name": kernel.name,
                    "type": "dpu",
                    "extended-data": {
                        "subtype": "DPU",
                        "functional": "0",
                        "dpu_kernel_id": kernel.identifier,
                    },
                    "arguments": arguments,
                    "instances": [{"name": kernel.instance}],
                }
            ]
        }
    }


def partition_description(
    kernel: Kernel, columns: Columns, file: str, identifier: str
) -> dict[str, Any]:
    return {
        "aie_partition": {
            "name": "QoS",
            "operations_per_cycle": "2048",
            "inference_fingerprint": "23423",
            "pre_post_fingerprint": "12345",
            "partition": {"column_width": columns.width, "start_columns": list(columns.starts)},
            "PDIs": [
                {
                    "uuid": identifier,
                    "file_name": file,
                    "cdo_groups": [
                        {
                            "name": "DPU",
                            "type": "PRIMARY",
                            "pdi_id": "0x01",
                            "dpu_kernel_ids": [kernel.identifier],
                            "pre_cdo_groups": ["0xC1"],
                        }
                    ],
                }
            ],
        }
    }


def descriptions(
    device: str, kernel: Kernel, columns: Columns, buffers: int, image: Recipe, label: str
) -> tuple[Recipe, Recipe, Recipe]:
    """Memory, kernels and partition as JSON files."""
    memory, kernels, partition = (
        f"{device}_{part}.json" for part in ("mem_topology", "kernels", "aie_partition")
    )
    who = (kernel.name, kernel.instance, kernel.identifier)
    where = (str(columns.width), ",".join(map(str, columns.starts)))
    return (
        _step("mem-topology", (Out(memory),), (), memory, label),
        _step("kernels-json", (Out(kernels), *who, str(buffers)), (), kernels, label),
        _step(
            "partition-json",
            (Out(partition), *who, *where, In(0), image.outputs[0]),
            (Ref(image),),
            partition,
            label,
        ),
    )


# -- xclbin -----------------------------------------------------------------------------------


def xclbin(
    xclbinutil: ProgramTool | None,
    described: tuple[Recipe, Recipe, Recipe],
    image: Recipe,
    label: str,
) -> Recipe:
    """``final.xclbin`` from the descriptions and the PDI."""
    inputs = (*(Ref(d) for d in described), Ref(image))
    names = tuple(r.outputs[0] for r in (*described, image))
    if xclbinutil is None:
        argv = (Out("final.xclbin"), *(a for i, n in enumerate(names) for a in (n, In(i))))
        return _step("xclbin-written", argv, inputs, "final.xclbin", label)
    made = Recipe(
        "xclbin",
        xclbinutil,
        (
            "--add-replace-section", f"MEM_TOPOLOGY:JSON:{names[0]}", "--add-kernel", names[1],
            "--add-replace-section", f"AIE_PARTITION:JSON:{names[2]}", "--force", "--quiet",
            "--output", "raw.xclbin",
        ),
        inputs,
        ("raw.xclbin",),
        staged=tuple((n, i) for i, n in enumerate(names)),
        begins=(("raw.xclbin", MAGIC),),
        label=label,
    )  # fmt: skip
    return settled(made, "raw.xclbin", label)


def settled(made: Recipe, output: str, label: str) -> Recipe:
    """An xclbin of a tool that puts times and random numbers into it, without them."""
    argv = (In(0), Out("final.xclbin"))
    return _step("xclbin-settled", argv, (Ref(made, output),), "final.xclbin", label)


def usable_xclbinutil(program: str) -> tuple[bool, str]:
    """Whether an xclbinutil runs and knows AIE_PARTITION, and why not."""
    text = help_of(program, "--version")
    if not text.strip():
        return False, f"{program} does not run"
    found = re.search(r"(?<![\d.])(\d+)\.(\d+)(?:\.\d+)?(?![\d.])", text)
    if found and (int(found.group(1)), int(found.group(2))) < OLDEST_XCLBINUTIL:
        oldest = ".".join(map(str, OLDEST_XCLBINUTIL))
        return False, (
            f"{program} is version {found.group(0)}; AIE_PARTITION needs {oldest} or later"
        )
    return True, found.group(0) if found else "of unknown version"


# -- the steps in this process ----------------------------------------------------------------


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def _write_json(path: str, value: Any) -> None:
    _write(path, json.dumps(value, indent=2))


def _make_bif(argv: list[str]) -> None:
    _write(argv[0], bif_text(argv[1]))


def _make_memory(argv: list[str]) -> None:
    _write_json(argv[0], memory_description())


def _make_kernels(argv: list[str]) -> None:
    output, name, instance, identifier, buffers = argv
    _write_json(output, kernel_description(Kernel(name, instance, identifier), int(buffers)))


def _make_partition(argv: list[str]) -> None:
    from iron.formats.aie_partition import content_uuid

    output, name, instance, identifier, width, starts, image, file = argv
    with open(image, "rb") as f:
        uuid = content_uuid(f.read(), [identifier])
    columns = Columns(int(width), tuple(map(int, starts.split(","))))
    kernel = Kernel(name, instance, identifier)
    _write_json(output, partition_description(kernel, columns, file, uuid))


def _make_xclbin(argv: list[str]) -> None:
    """``out`` and then (name, path) of memory, kernels, partition and PDI."""
    from iron.formats.xclbin import write
    from iron.formats.xclbin_build import build

    output, *pairs = argv
    names, paths = pairs[::2], pairs[1::2]

    def load(path: str) -> Any:
        with open(path, encoding="utf-8") as f:
            return json.load(f)

    def image(name: str) -> bytes:
        with open(paths[names.index(name)], "rb") as f:
            return f.read()

    memory, kernels, partition = (load(p) for p in paths[:3])
    made = build(memory, kernels, partition, image, (names[0], names[2]))
    with open(output, "wb") as f:
        f.write(write(made))


def _settle_xclbin(argv: list[str]) -> None:
    from iron.formats.xclbin import without_chance

    with open(argv[0], "rb") as f:
        raw = f.read()
    with open(argv[1], "wb") as f:
        f.write(without_chance(raw, argv[0]))


_FUNCTIONS = {
    "bif": _make_bif,
    "mem-topology": _make_memory,
    "kernels-json": _make_kernels,
    "partition-json": _make_partition,
    "xclbin-written": _make_xclbin,
    "xclbin-settled": _settle_xclbin,
}
