"""``insts.bin``: the words a runtime sequence becomes, as instructions and back.

Layout (little-endian 32-bit words) as written by mlir-aie's TxnEncoding.h: a header of four words,
then instructions that begin with their opcode. Knows the words, not what the registers do.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .errors import FormatError

GENERATIONS = {3: "npu1", 4: "npu2"}
"""Device generation in the header: 3 is Phoenix and Hawk Point, 4 is Strix and Krackan."""


@dataclass(frozen=True)
class Header:
    """`count` instructions in `size` bytes, the header included."""

    major: int
    minor: int
    generation: int
    rows: int
    columns: int
    memtile_rows: int
    count: int = 0
    size: int = 0


@dataclass(frozen=True)
class Instruction:
    """One operation: its name, its numbers by name, and the words of a block write."""

    name: str
    fields: Mapping[str, int]
    data: tuple[int, ...] = ()
    offset: int = field(default=0, compare=False)
    """In bytes from the start of the file."""


class Program(NamedTuple):
    header: Header
    instructions: tuple[Instruction, ...]


class _Shape(NamedTuple):
    """How many words an instruction has (from its first words), and what they say."""

    size: Callable[[Sequence[int]], int]
    read: Callable[[Sequence[int]], tuple[dict[str, int], tuple[int, ...]]]
    write: Callable[[Instruction], list[int]]


def _stated(position: int) -> Callable[[Sequence[int]], int]:
    """The word at `position` is the size in bytes."""

    def size(words: Sequence[int]) -> int:
        if len(words) <= position:
            raise FormatError("the file ends inside an instruction")
        if words[position] % 4 or words[position] <= 4 * position:
            raise FormatError(f"an instruction says that it has {words[position]} bytes")
        return words[position] // 4

    return size


def _fixed(count: int, position: int) -> Callable[[Sequence[int]], int]:
    """As many words as all of its kind have; its word at `position` must say so, in bytes."""

    def size(words: Sequence[int]) -> int:
        found = _stated(position)(words)
        if found != count:
            raise FormatError(f"an instruction of {4 * count} bytes says that it has {4 * found}")
        return found

    return size


def _plain(name: str, size: int, **at: int) -> _Shape:
    """Numbers that are whole words, and the size in bytes as the last word."""

    def read(words: Sequence[int]) -> tuple[dict[str, int], tuple[int, ...]]:
        return {f: words[position] for f, position in at.items()}, ()

    def write(op: Instruction) -> list[int]:
        words = [0] * size
        for f, position in at.items():
            words[position] = op.fields[f]
        return [_CODES[name], *words[1:-1], 4 * size]

    return _Shape(_fixed(size, size - 1), read, write)


def _read_block(words: Sequence[int]) -> tuple[dict[str, int], tuple[int, ...]]:
    where = {"column": words[1] & 0xFF, "row": words[1] >> 8 & 0xFF}
    return {"address": words[2], **(where if words[1] else {})}, tuple(words[4:])


def _write_block(op: Instruction) -> list[int]:
    where = op.fields.get("column", 0) | op.fields.get("row", 0) << 8
    return [1, where, op.fields["address"], 4 * (4 + len(op.data)), *op.data]


def _read_sync(words: Sequence[int]) -> tuple[dict[str, int], tuple[int, ...]]:
    a, b = words[2], words[3]
    return {
        "column": a >> 16 & 0xFF,
        "row": a >> 8 & 0xFF,
        "direction": a & 0xFF,
        "channel": b >> 24 & 0xFF,
        "column_num": b >> 16 & 0xFF,
        "row_num": b >> 8 & 0xFF,
    }, ()


def _write_sync(op: Instruction) -> list[int]:
    f = op.fields
    first = f["direction"] | f["row"] << 8 | f["column"] << 16
    return [128, 16, first, f["row_num"] << 8 | f["column_num"] << 16 | f["channel"] << 24]


def _read_patch(words: Sequence[int]) -> tuple[dict[str, int], tuple[int, ...]]:
    return {"address": words[6], "argument": words[8], "offset": words[10]}, ()


def _write_patch(op: Instruction) -> list[int]:
    f = op.fields
    return [129, 48, 0, 0, 0, 0, f["address"], 0, f["argument"], 0, f["offset"], 0]


def _read_load(words: Sequence[int]) -> tuple[dict[str, int], tuple[int, ...]]:
    return {"id": words[0] >> 16, "size": words[1], "address": words[2] | words[3] << 32}, ()


def _write_load(op: Instruction) -> list[int]:
    f = op.fields
    return [8 | f["id"] << 16, f["size"], f["address"] & 0xFFFFFFFF, f["address"] >> 32]


def _read_scratchpad(words: Sequence[int]) -> tuple[dict[str, int], tuple[int, ...]]:
    return {"usage": words[0] >> 8 & 0xFF, "size": words[1]}, ()


def _read_update(words: Sequence[int]) -> tuple[dict[str, int], tuple[int, ...]]:
    head = {"table": words[0] >> 8 & 0xFF, "function": words[0] >> 16 & 0xFF}
    return {**head, "value": words[1], "address": words[2]}, ()


def _write_update(op: Instruction) -> list[int]:
    f = op.fields
    return [12 | f["table"] << 8 | f["function"] << 16, f["value"], f["address"]]


_SHAPES: dict[int, tuple[str, _Shape]] = {
    0: ("write32", _plain("write32", 6, address=2, value=4)),
    1: ("blockwrite", _Shape(_stated(3), _read_block, _write_block)),
    3: ("maskwrite32", _plain("maskwrite32", 7, address=2, value=4, mask=5)),
    4: ("maskpoll", _plain("maskpoll", 7, address=2, value=4, mask=5)),
    5: ("noop", _Shape(lambda _: 1, lambda _: ({}, ()), lambda _: [5])),
    6: (
        "preempt",
        _Shape(
            lambda _: 1,
            lambda words: ({"level": words[0] >> 8 & 0xFF}, ()),
            lambda op: [6 | op.fields["level"] << 8],
        ),
    ),
    8: ("load_pdi", _Shape(lambda _: 4, _read_load, _write_load)),
    10: (
        "create_scratchpad",
        _Shape(
            lambda _: 4,
            _read_scratchpad,
            lambda op: [10 | op.fields["usage"] << 8, op.fields["size"], 0, 0],
        ),
    ),
    12: ("update_register", _Shape(lambda _: 3, _read_update, _write_update)),
    128: ("sync", _Shape(_fixed(4, 1), _read_sync, _write_sync)),
    129: ("address_patch", _Shape(_fixed(12, 1), _read_patch, _write_patch)),
}
_CODES = {name: code for code, (name, _) in _SHAPES.items()}
_CUSTOM = 128
"""Opcodes from here on say their size in their second word, whatever they are."""


def read(raw: bytes, what: str = "the file") -> Program:
    """The instructions of an ``insts.bin``; FormatError when header and contents disagree."""
    words = _words(raw, what)
    header = _header(words, what)
    if header.major != 0:
        raise FormatError(
            f"{what} is a transaction of version {header.major}.{header.minor}; "
            "version 0 is what mlir-aie writes and what is read here"
        )
    if header.size != len(raw):
        raise FormatError(f"{what} has {len(raw)} bytes, its header says {header.size}")
    found, at = [], 4
    while at < len(words):
        try:
            op, count = _instruction(words, at)
        except FormatError as e:
            raise FormatError(f"{what}, byte {4 * at}: {e}") from None
        found.append(op)
        at += count
    if len(found) != header.count:
        raise FormatError(f"{what} has {len(found)} operations, its header says {header.count}")
    return Program(header, tuple(found))


def looks_like(raw: bytes) -> bool:
    """Whether these may be instructions: the header fits the size."""
    return len(raw) >= 16 and len(raw) % 4 == 0 and struct.unpack_from("<I", raw, 12)[0] == len(raw)


def _words(raw: bytes, what: str) -> tuple[int, ...]:
    if len(raw) < 16 or len(raw) % 4:
        raise FormatError(f"{what} has {len(raw)} bytes: no header of 16, or no whole words")
    return struct.unpack(f"<{len(raw) // 4}I", raw)


def _header(words: Sequence[int], what: str) -> Header:
    a, b, count, size = words[:4]
    header = Header(
        a & 0xFF, a >> 8 & 0xFF, a >> 16 & 0xFF, a >> 24, b & 0xFF, b >> 8 & 0xFF, count, size
    )
    if not (header.rows and header.columns):
        raise FormatError(f"{what} is no insts.bin: its header names an array without tiles")
    return header


_HEAD = 12
"""Words from which the size of any instruction can be told."""


def _instruction(words: Sequence[int], at: int) -> tuple[Instruction, int]:
    """The instruction at word `at`, and how many words it has."""
    head = words[at : at + _HEAD]
    code = head[0] & 0xFF
    name, shape = _SHAPES.get(code, (f"opcode {code}", None))
    if shape is None and code < _CUSTOM:
        raise FormatError(f"opcode {code} is not known, so nothing after it can be read")
    count = _stated(1)(head) if shape is None else shape.size(head)
    if at + count > len(words):
        raise FormatError(f"{name} ends outside the file")
    own = words[at : at + count]
    fields, data = shape.read(own) if shape is not None else ({}, tuple(own[2:]))
    return Instruction(name, fields, data, 4 * at), count


def write(header: Header, instructions: Sequence[Instruction]) -> bytes:
    """The file of these instructions; count and size of the header are worked out."""
    body: list[int] = []
    for op in instructions:
        if op.name not in _CODES:
            raise FormatError(f"no instruction {op.name!r}; there is {', '.join(sorted(_CODES))}")
        body += _SHAPES[_CODES[op.name]][1].write(op)
    first = header.rows << 24 | header.generation << 16 | header.minor << 8 | header.major
    second = header.memtile_rows << 8 | header.columns
    words = [first, second, len(instructions), 16 + 4 * len(body), *body]
    return struct.pack(f"<{len(words)}I", *words)
