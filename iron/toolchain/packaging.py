"""From CDOs to what a package says of itself: BIF, PDI (bootgen), and the three JSON descriptions.

The contents of the descriptions are those that mlir-aie's Python driver writes. uuids come from
content and no time is kept, so that the same design gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iron.build import FunctionTool, In, Out, ProgramTool, Recipe, Ref
from iron.formats.pdi import BUS_WIDTH_WORDS

from .mlir_aie import CDO_PARTS
from .outline import PlanError

KERNEL, INSTANCE, KERNEL_ID = "MLIR_AIE", "MLIRAIE", "0x901"
LEAST_BUFFERS, MOST_BUFFERS = 5, 16
"""Host buffers a kernel declares: command chains of the firmware need five slots; mlir-aie has
verified sixteen."""
_PDI_MAGIC = b"".join(w.to_bytes(4, "little") for w in BUS_WIDTH_WORDS)
_HERE = ("iron.toolchain.packaging", "iron.formats")


@dataclass(frozen=True)
class Kernel:
    """How the package's kernel is called. Two in one xclbin need different identifiers."""

    name: str = KERNEL
    instance: str = INSTANCE
    identifier: str = KERNEL_ID

    def __post_init__(self) -> None:
        try:
            number = int(self.identifier, 0)
        except ValueError:
            raise PlanError(
                f"kernel identifier {self.identifier!r}: it is a number, as 0x901"
            ) from None
        # xclbinutil compares identifiers as texts: they must be in its own form.
        object.__setattr__(self, "identifier", f"0x{number:x}")


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


def buffers_of(arguments: int, label: str) -> int:
    """How many host buffers the kernel of a design declares whose longest sequence has that many
    arguments. PlanError when it has too many."""
    if arguments > MOST_BUFFERS:
        raise PlanError(
            f"{label}: a runtime sequence has {arguments} arguments; the NPU takes {MOST_BUFFERS} "
            "at most"
        )
    return max(LEAST_BUFFERS, arguments)


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


_FUNCTIONS = {
    "bif": _make_bif,
    "mem-topology": _make_memory,
    "kernels-json": _make_kernels,
    "partition-json": _make_partition,
}
