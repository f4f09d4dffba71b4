"""xclbin files: a new one of a PDI and its descriptions, or an existing one with one kernel more.

By xclbinutil where there is one that can, else by our own writer; either way the same design gives
the same bytes. What stands in the descriptions is known by `packaging`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from iron.build import FunctionTool, In, Out, ProgramTool, Recipe, Ref
from iron.formats.errors import FormatError
from iron.formats.xclbin import MAGIC, Xclbin, read

from .mlir_aie import help_of
from .outline import PlanError
from .packaging import Columns, Kernel

FILE = "final.xclbin"
OLDEST_XCLBINUTIL = (2, 13)
"""The first with AIE_PARTITION as JSON."""
_HERE = ("iron.toolchain.xclbins", "iron.formats")


def _step(
    kind: str,
    function: Callable[[list[str]], None],
    argv: Sequence[Any],
    inputs: Sequence[Ref | str],
    outputs: tuple[str, ...],
    label: str,
) -> Recipe:
    tool = FunctionTool(kind, function, _HERE)
    return Recipe(kind, tool, tuple(argv), tuple(inputs), outputs, label=label)


# -- a new one --------------------------------------------------------------------------------


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
        argv = (Out(FILE), *(a for i, n in enumerate(names) for a in (n, In(i))))
        return _step("xclbin-written", write_new, argv, inputs, (FILE,), label)
    memory = ("--add-replace-section", f"MEM_TOPOLOGY:JSON:{names[0]}")
    made = _packed(xclbinutil, memory, names[1], names[2], inputs, names, label)
    return settled(made, label)


def _packed(
    xclbinutil: ProgramTool,
    first: tuple[str, str],
    kernels: str,
    partition: str,
    inputs: Sequence[Ref | str],
    names: Sequence[str],
    label: str,
) -> Recipe:
    return Recipe(
        "xclbin",
        xclbinutil,
        (
            *first, "--add-kernel", kernels, "--add-replace-section",
            f"AIE_PARTITION:JSON:{partition}", "--force", "--quiet", "--output", "raw.xclbin",
        ),
        tuple(inputs),
        ("raw.xclbin",),
        staged=tuple((n, i) for i, n in enumerate(names)),
        begins=(("raw.xclbin", MAGIC),),
        label=label,
    )  # fmt: skip


def settled(made: Recipe, label: str) -> Recipe:
    """The xclbin of a tool that puts times and random numbers into it, without them."""
    argv, given = (In(0), Out(FILE)), (Ref(made, "raw.xclbin"),)
    return _step("xclbin-settled", settle, argv, given, (FILE,), label)


# -- one kernel more --------------------------------------------------------------------------


@dataclass(frozen=True)
class Base:
    """An xclbin that is there and gets another kernel."""

    path: str
    file: Xclbin
    kernels: tuple[str, ...]
    identifiers: tuple[str, ...]
    columns: Columns
    images: int

    @staticmethod
    def at(path: str) -> Base:
        """PlanError when it is no xclbin with a partition."""
        from iron.formats.aie_partition import read as read_partition
        from iron.formats.xclbin_build import kernel_names

        try:
            with open(path, "rb") as f:
                file = read(f.read(), path)
            section = file.section("AIE_PARTITION")
            if section is None:
                raise FormatError(f"{path} has no AIE_PARTITION section")
            body = read_partition(section.data)[0]["aie_partition"]
            names = kernel_names(file, path)
        except (OSError, FormatError) as e:
            raise PlanError(f"no kernel can be added to {path}: {e}") from e
        groups = [g for pdi in body["PDIs"] for g in pdi["cdo_groups"]]
        identifiers = tuple(i for g in groups for i in g["dpu_kernel_ids"])
        columns = body["partition"]
        width = Columns(columns["column_width"], tuple(columns["start_columns"]))
        return Base(path, file, names, identifiers, width, len(body["PDIs"]))

    def check(self, kernel: Kernel, columns: Columns, label: str) -> None:
        """PlanError when the kernel does not go with what is there."""
        if kernel.name in self.kernels:
            raise PlanError(
                f"{label}: {self.path} has a kernel {kernel.name} already; give this one another "
                "name (kernel_name, --xclbin-kernel-name)"
            )
        if kernel.identifier in self.identifiers:
            raise PlanError(
                f"{label}: a kernel of {self.path} has the identifier {kernel.identifier} already "
                f"({', '.join(self.identifiers)} are taken); give this one another (kernel_id, "
                "--xclbin-kernel-id)"
            )
        if columns.width > self.columns.width:
            raise PlanError(
                f"{label}: it takes {columns.width} columns, and the partition of {self.path} has "
                f"{self.columns.width}; build the widest design first"
            )


def extended(
    xclbinutil: ProgramTool | None,
    base: Base,
    described: tuple[Recipe, Recipe, Recipe],
    image: Recipe,
    label: str,
) -> Recipe:
    """``final.xclbin``: `base` with the kernel and the PDI that were described."""
    _, kernels, partition = described
    merged = merged_partition(base, partition, label)
    names = ("base.xclbin", kernels.outputs[0], *merged.outputs, image.outputs[0])
    parts = [Ref(merged, name) for name in merged.outputs]
    inputs: list[Ref | str] = [base.path, Ref(kernels), *parts, Ref(image)]
    if xclbinutil is None:
        argv = (Out(FILE), *(a for i, n in enumerate(names) for a in (n, In(i))))
        return _step("xclbin-extended", write_extended, argv, inputs, (FILE,), label)
    first = ("--input", "base.xclbin")
    made = _packed(xclbinutil, first, names[1], names[2], inputs, names, label)
    return settled(made, label)


def merged_partition(base: Base, partition: Recipe, label: str) -> Recipe:
    """The partition of `base` with one PDI more, as JSON, and the PDIs it has already."""
    outputs = ("merged_partition.json", *(f"base_{i}.pdi" for i in range(base.images)))
    argv = (In(0), In(1), *map(Out, outputs))
    given = (base.path, Ref(partition))
    return _step("partition-merged", merge_partition, argv, given, outputs, label)


# -- which xclbinutil -------------------------------------------------------------------------


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


def _json(path: str) -> Any:
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def _bytes(path: str) -> bytes:
    with open(path, "rb") as f:
        return f.read()


def write_new(argv: list[str]) -> None:
    """``out`` and then (name, path) of memory, kernels, partition and PDI."""
    from iron.formats.xclbin import write
    from iron.formats.xclbin_build import build

    output, *pairs = argv
    names, paths = pairs[::2], pairs[1::2]
    memory, kernels, partition = map(_json, paths[:3])

    def image(name: str) -> bytes:
        return _bytes(paths[names.index(name)])

    made = build(memory, kernels, partition, image, (names[0], names[2]))
    with open(output, "wb") as f:
        f.write(write(made))


def write_extended(argv: list[str]) -> None:
    """``out`` and then (name, path) of base, kernels, partition and PDIs."""
    from iron.formats.xclbin import write
    from iron.formats.xclbin_build import extend

    output, *pairs = argv
    names, paths = pairs[::2], pairs[1::2]

    def image(name: str) -> bytes:
        return _bytes(paths[names.index(name)])

    base = read(_bytes(paths[0]), names[0])
    made = extend(base, _json(paths[1]), _json(paths[2]), image, names[2])
    with open(output, "wb") as f:
        f.write(write(made))


def merge_partition(argv: list[str]) -> None:
    """``base partition out pdi...``"""
    from iron.formats.aie_partition import read as read_partition

    base, partition, output, *images = argv
    section = read(_bytes(base), os.path.basename(base)).section("AIE_PARTITION")
    assert section is not None
    merged, files = read_partition(section.data)
    found = merged["aie_partition"]["PDIs"]
    for entry, path in zip(found, images, strict=True):
        with open(path, "wb") as f:
            f.write(files[entry["file_name"]])
        entry["file_name"] = os.path.basename(path)
    found += _json(partition)["aie_partition"]["PDIs"]
    with open(output, "w", encoding="utf-8") as f:
        json.dump(merged, f, indent=2)


def settle(argv: list[str]) -> None:
    """``in out``"""
    from iron.formats.xclbin import without_chance

    made = without_chance(_bytes(argv[0]), argv[0])
    with open(argv[1], "wb") as f:
        f.write(made)
