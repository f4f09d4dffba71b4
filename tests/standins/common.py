"""What all stand-ins of the npu tools share: strict arguments, ways to fail, small ELF files.

Starting is most of what one costs, hundreds of times: no module that brings many others along.

A stand-in refuses any argument that the real tool is not called with, reads what that reads and
writes what that writes. `faults.json` beside its directory says how it is to fail.
"""

from __future__ import annotations

import hashlib
import json
import struct
import sys

ROOT = sys.argv[1] if len(sys.argv) > 1 else "."


class Refused(SystemExit):
    def __init__(self, why: str) -> None:
        super().__init__(f"{sys.argv[2] if len(sys.argv) > 2 else ''}: error: {why}")


def refuse(why: str) -> None:
    raise Refused(why)


def fault(tool: str) -> str | None:
    """How this run has to fail: "exit", "nothing", "empty" or "garbage"."""
    try:
        return json.loads(read_file(f"{ROOT}/faults.json")).get(tool)
    except FileNotFoundError:
        return None


def settings() -> dict:
    return json.loads(read_file(f"{ROOT}/settings.json"))


def read_file(path: str) -> bytes:
    with open(path, "rb") as f:
        return f.read()


def expect(arguments: list[str], *shape: object) -> list[str]:
    """The arguments that stand where `shape` has a type, when all others are as it says."""
    if len(arguments) != len(shape):
        refuse(f"{len(arguments)} arguments, not {len(shape)}: {arguments}")
    found = []
    for argument, wanted in zip(arguments, shape, strict=True):
        if wanted is str:
            found.append(argument)
        elif isinstance(wanted, tuple):
            (prefix,) = wanted
            if not argument.startswith(prefix):
                refuse(f"{argument!r} is not {prefix}...")
            found.append(argument[len(prefix) :])
        elif argument != wanted:
            refuse(f"{argument!r} where {wanted!r} belongs in {arguments}")
    return found


def read(path: str) -> bytes:
    try:
        return read_file(path)
    except OSError as error:
        refuse(str(error))
        raise AssertionError from None


def write(tool: str, path: str, data: bytes | str) -> None:
    """Write an output, or do what the fault for this tool says."""
    raw = data.encode() if isinstance(data, str) else data
    how = fault(tool)
    if how == "exit":
        refuse("something is wrong in the input\nand this is its second line")
    if how == "nothing":
        return
    with open(path, "wb") as f:
        f.write({"empty": b"", "garbage": b"garbage"}.get(how or "", raw))


def digest(*parts: bytes) -> bytes:
    state = hashlib.sha256()
    for part in parts:
        state.update(struct.pack("<Q", len(part)) + part)
    return state.digest()


def small_elf(*parts: bytes) -> bytes:
    """A loadable ELF32: 32 bytes for program memory, 16 for data memory, made from `parts`."""
    state = digest(*parts)
    header = struct.pack(
        "<16sHHIIIIIHHHHHH",
        b"\x7fELF\1\1\1" + b"\0" * 9, 2, 264, 1, 0, 52, 0, 0, 52, 32, 2, 40, 0, 0,
    )  # fmt: skip
    text = struct.pack("<8I", 1, 116, 0, 0, 32, 32, 5, 16)
    data = struct.pack("<8I", 1, 148, 0x70000, 0x70000, 16, 16, 6, 16)
    return header + text + data + state + state[:16]


def segments(elf: bytes) -> list[tuple[int, bytes]]:
    if elf[:4] != b"\x7fELF":
        refuse("not an ELF file")
    table, count = struct.unpack_from("<I", elf, 28)[0], struct.unpack_from("<H", elf, 44)[0]
    found = []
    for i in range(count):
        _, offset, address, _, size, *_ = struct.unpack_from("<8I", elf, table + 32 * i)
        found.append((address, elf[offset : offset + size]))
    return found
