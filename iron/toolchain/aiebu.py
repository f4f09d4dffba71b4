"""aiebu-asm: instructions as an ELF that is loaded beside an xclbin, and the full ELF, which holds
the PDIs of all devices and the instructions of all sequences and needs no xclbin.

Command lines and the configuration are those of mlir-aie's own driver (tools/aiecc/aiecc.cpp and
SidecarFiles.h, 2026-08; python/compiler/aiecc/main.py, 2026-03).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iron.build import ProgramTool, Recipe, Ref, Text

from .outline import RuntimeSequence
from .peano import ELF

LEAST_ARGUMENTS = 3
"""That a kernel of a full ELF declares."""


@dataclass(frozen=True)
class Control:
    """The sequences of one device in a full ELF: what its kernel is called, and for each of its
    instances the sequence and its instructions."""

    device: str
    sequences: tuple[tuple[RuntimeSequence, Recipe], ...]


def instruction_elf(aiebu: ProgramTool, instructions: Recipe | str, label: str) -> Recipe:
    """``insts.elf`` of an insts.bin."""
    given = Ref(instructions) if isinstance(instructions, Recipe) else instructions
    return Recipe(
        "instruction-elf",
        aiebu,
        ("-t", "aie2txn", "-c", "insts.bin", "-o", "insts.elf"),
        (given,),
        ("insts.elf",),
        staged=(("insts.bin", 0),),
        begins=(("insts.elf", ELF),),
        label=label,
    )


def full_elf(
    aiebu: ProgramTool,
    images: Sequence[tuple[int, Recipe]],
    controls: Sequence[Control],
    label: str,
) -> Recipe:
    """``design.elf`` of the PDIs (by their number) and the instructions of each device."""
    staged: dict[str, Recipe] = {f"pdi_{number}.pdi": image for number, image in images}
    kernels = []
    for index, control in enumerate(controls):
        names = {}
        for position, (sequence, instructions) in enumerate(control.sequences):
            names[sequence.name] = f"insts_{index}_{position}.bin"
            staged[names[sequence.name]] = instructions
        sequences = [s for s, _ in control.sequences]
        kernels.append(_kernel(control.device, sequences, names, [n for n, _ in images]))
    text = json.dumps({"xrt-kernels": kernels}, indent=2)
    files = ("config.json", *staged)
    return Recipe(
        "full-elf",
        aiebu,
        ("-t", "aie2_config", "-j", "config.json", "-o", "design.elf"),
        (Text(text, "config.json"), *(Ref(r) for r in staged.values())),
        ("design.elf",),
        staged=tuple((name, i) for i, name in enumerate(files)),
        begins=(("design.elf", ELF),),
        label=label,
    )


def _kernel(
    device: str, sequences: Sequence[RuntimeSequence], files: Mapping[str, str], pdis: Sequence[int]
) -> dict[str, Any]:
    count = max(LEAST_ARGUMENTS, *(len(s.arguments) for s in sequences))
    arguments = [
        {"name": f"arg_{i}", "type": "char *", "offset": f"0x{8 * i:x}"} for i in range(count)
    ]
    return {
        "name": device,
        "arguments": arguments,
        "PDIs": [{"id": number, "PDI_file": f"pdi_{number}.pdi"} for number in pdis],
        "instance": [{"id": s.name, "TXN_ctrl_code_file": files[s.name]} for s in sequences],
    }
