"""What a built design is on disk: the paths `CompilableDesign.compile` gives and writes.

On the host target the place of an xclbin is taken by a bundle (`iron.runtime.bundle`), that of the
instructions by the package's network text. There are no PDIs and no ELFs. On the npu target they
are what their names say.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from iron.build import Result, Session

    from .compilable import Built, CompilableDesign

StrPath = str | os.PathLike[str]
BUNDLE_SUFFIX = ".bundle"

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


def about_package(design: CompilableDesign, built: Built) -> dict[str, Any]:
    """What a package is, for whoever has nothing else: the design's name and parameters, the
    target, and the digests of the files."""
    package = built.package
    npu = not {"final.xclbin", "design.elf"}.isdisjoint(package.outputs)
    return {
        "design": design.name,
        "target": "npu" if npu else "host",
        "parameters": [{"name": t.name, "role": t.role} for t in design.signature.tensors],
        "package": {name: file_sha256(package.path(name)) for name in package.outputs},
    }


def file_sha256(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def write_package(design: CompilableDesign, built: Built, out: StrPath) -> None:
    """A package as a bundle when `out` ends in ``.bundle``, else as a directory of that name; files
    of a package that was there before and are not in this one go."""
    from iron.runtime.bundle import write_bundle, write_directory

    about = about_package(design, built)
    write = write_bundle if os.fspath(out).endswith(BUNDLE_SUFFIX) else write_directory
    write(built.package.directory, out, about)


def artifacts(package: Result) -> tuple[Path, Path]:
    """The paths of a package in the store: it itself and its network; its xclbin and instructions
    (or its full ELF, twice) on the npu target."""
    from iron.toolchain.host import NETWORK

    if "final.xclbin" in package.outputs:
        return Path(package.path("final.xclbin")), Path(package.path("insts.bin"))
    if "design.elf" in package.outputs:
        return Path(package.path("design.elf")), Path(package.path("design.elf"))
    return Path(package.directory), Path(package.path(NETWORK))


def images(session: Session, package: Result) -> dict[str, Path]:
    """The PDIs in a package of the npu target as files of the store, by device, sorted."""
    from iron.toolchain.images import device_images

    if {"final.xclbin", "design.elf"}.isdisjoint(package.outputs):
        return {}
    return {name: Path(path) for name, path in device_images(session, package).items()}


def write_artifacts(
    session: Session, package: Result, given: Mapping[str, str], instruction_elf: Callable[[], str]
) -> tuple[Path, Path | None]:
    """Write a package to the paths given, each at once; those that say where it now is.
    `instruction_elf` makes an ELF of the npu target's instructions and says where it is."""
    from iron.runtime.bundle import write_bundle, write_file
    from iron.toolchain.compiler import ToolNotFound

    if not {"final.xclbin", "design.elf"}.isdisjoint(package.outputs):
        return _write_npu(session, package, given, instruction_elf)
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


def _write_npu(
    session: Session, package: Result, given: Mapping[str, str], instruction_elf: Callable[[], str]
) -> tuple[Path, Path | None]:
    from iron.runtime.bundle import write_file
    from iron.toolchain.compiler import ToolNotFound

    def read(output: str) -> bytes:
        with open(package.path(output), "rb") as f:
            return f.read()

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
        (image,) = images(session, package).values()
        write_file(given[PDI], image.read_bytes())
    if ELF in given:
        write_file(given[ELF], Path(instruction_elf()).read_bytes())
    write_file(given[XCLBIN], read("final.xclbin"))
    write_file(given[INSTS], read("insts.bin"))
    return Path(given[XCLBIN]), Path(given[INSTS])
