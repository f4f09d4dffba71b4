"""The device images (PDIs) inside a package of the npu target, by the device they configure.

A package carries them in its xclbin or its full ELF only; here they are files of the store.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .npu_design import ABOUT, ELF, TEXT, XCLBIN

if TYPE_CHECKING:
    from iron.build import Result, Session

_SECTION = ".pdi."


def device_images(session: Session, package: Result) -> dict[str, str]:
    """Paths of the images of a package, by the symbol of their ``aie.device``, sorted."""
    parts = (package.key,)
    found = session.recall("pdis", parts)
    if found is None:
        images = _of_elf(package) if ELF in package.outputs else _of_xclbin(package)
        files = {f"{name}.pdi": image for name, image in images.items()}
        found = session.keep("pdis", parts, files)
    return {name.removesuffix(".pdi"): found.path(name) for name in sorted(found.outputs)}


def _of_xclbin(package: Result) -> dict[str, bytes]:
    from iron.formats.aie_partition import read as read_partition
    from iron.formats.xclbin import read as read_xclbin

    section = read_xclbin(_read(package, XCLBIN)).section("AIE_PARTITION")
    assert section is not None
    *_, own = read_partition(section.data)[1].values()  # others were in the xclbin it extends
    return {json.loads(_read(package, ABOUT))["symbol"]: own}


def _of_elf(package: Result) -> dict[str, bytes]:
    from iron import ir
    from iron.formats.control_elf import read

    from .outline import outline

    devices = outline(ir.parse(_read(package, TEXT).decode())).devices
    symbols = {str(number): device.symbol for number, device in enumerate(devices, 1)}
    images = {}
    for part in read(_read(package, ELF)).parts:
        if part.name.startswith(_SECTION):
            number = part.name.removeprefix(_SECTION)
            images[symbols.get(number, f"pdi{number}")] = part.data
    return images


def _read(package: Result, output: str) -> bytes:
    with open(package.path(output), "rb") as f:
        return f.read()
