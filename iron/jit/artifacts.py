"""What a built design is on disk: the paths `CompilableDesign.compile` gives and writes.

On the host target the place of an xclbin is taken by a bundle (`iron.runtime.bundle`), that of the
instructions by the package's network text. There are no PDIs and no ELFs. On the npu target they
are what their names say.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iron.build import Result

StrPath = str | os.PathLike[str]

XCLBIN, INSTS, ELF, FULL_ELF, PDI = (
    "xclbin_path", "inst_path", "elf_path", "full_elf_path", "pdi_path",
)  # fmt: skip


def given_paths(paths: Mapping[str, StrPath | None]) -> dict[str, str]:
    """The paths that are given; ValueError when they do not go together."""
    given = {name: os.fspath(path) for name, path in paths.items() if path is not None}
    if (XCLBIN in given) != (INSTS in given):
        raise ValueError(
            f"xclbin_path and inst_path are given together or not at all; got {', '.join(given)}"
        )
    for name in (ELF, PDI):
        if name in given and XCLBIN not in given:
            raise ValueError(f"{name} needs xclbin_path and inst_path")
    if FULL_ELF in given and XCLBIN in given:
        raise ValueError("full_elf_path takes the place of xclbin_path and inst_path; give one")
    return given


def artifacts(package: Result) -> tuple[Path, Path]:
    """The paths of a package in the store: it itself and its network; its xclbin and instructions
    (or its full ELF, twice) on the npu target."""
    from iron.toolchain.host import NETWORK

    if "final.xclbin" in package.outputs:
        return Path(package.path("final.xclbin")), Path(package.path("insts.bin"))
    if "design.elf" in package.outputs:
        return Path(package.path("design.elf")), Path(package.path("design.elf"))
    return Path(package.directory), Path(package.path(NETWORK))


def write_artifacts(package: Result, given: Mapping[str, str]) -> tuple[Path, Path | None]:
    """Write a package to the paths given, each at once; those that say where it now is."""
    from iron.runtime.bundle import write_bundle, write_file
    from iron.toolchain.compiler import ToolNotFound

    if not {"final.xclbin", "design.elf"}.isdisjoint(package.outputs):
        return _write_npu(package, given)
    for name in (ELF, PDI):
        if name in given:
            raise ToolNotFound(
                f"{name}={given[name]!r}: the host target makes none; use target 'npu'"
            )
    if FULL_ELF in given:
        write_bundle(package.directory, given[FULL_ELF])
        return Path(given[FULL_ELF]), None
    write_bundle(package.directory, given[XCLBIN])
    with open(artifacts(package)[1], "rb") as f:
        write_file(given[INSTS], f.read())
    return Path(given[XCLBIN]), Path(given[INSTS])


def _write_npu(package: Result, given: Mapping[str, str]) -> tuple[Path, Path | None]:
    from iron.runtime.bundle import write_file
    from iron.toolchain.compiler import ToolNotFound

    def read(output: str) -> bytes:
        with open(package.path(output), "rb") as f:
            return f.read()

    if ELF in given:
        raise ToolNotFound(f"{ELF}={given[ELF]!r}: instructions as ELF are not made; give {INSTS}")
    if FULL_ELF in given:
        if "design.elf" not in package.outputs:
            raise ToolNotFound(
                f"{FULL_ELF}={given[FULL_ELF]!r}: build the design with full_elf=True"
            )
        write_file(given[FULL_ELF], read("design.elf"))
        return Path(given[FULL_ELF]), None
    if "final.xclbin" not in package.outputs:
        raise ToolNotFound(f"{XCLBIN}={given[XCLBIN]!r}: the design is built with full_elf=True")
    if PDI in given:
        from iron.formats.aie_partition import read as read_partition
        from iron.formats.xclbin import read as read_xclbin

        section = read_xclbin(read("final.xclbin")).section("AIE_PARTITION")
        assert section is not None
        write_file(given[PDI], next(iter(read_partition(section.data)[1].values())))
    write_file(given[XCLBIN], read("final.xclbin"))
    write_file(given[INSTS], read("insts.bin"))
    return Path(given[XCLBIN]), Path(given[INSTS])
