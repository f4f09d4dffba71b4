"""CDO: the register writes that configure an array, as commands, and the program bytes they load.

A CDO is five header words (`HEADER_WORDS`, "CDO\\0", version, length in words after the header,
checksum: the complement of the other four's sum) and commands of the PLM's general module:
``length << 16 | 1 << 8 | code`` and that many words; a length of 255 says that the next word is it.
Source: UG1304 (Versal ACAP System Software), "Configuration Data Object".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .errors import FormatError
from .registers import DATA_BYTES, PROGRAM_BYTES, PROGRAM_MEMORY, place

IDENTIFICATION = 0x004F4443
VERSION = 0x0200
HEADER_WORDS = 4
LONG = 255
GENERAL = 1

_CODES = {
    1: ("mask_poll", ("address", "mask", "value", "timeout")),
    2: ("mask_write", ("address", "mask", "value")),
    3: ("write", ("address", "value")),
    4: ("delay", ("cycles",)),
    5: ("dma_write", ("high", "low")),
    6: ("mask_poll64", ("high", "low", "mask", "value", "timeout")),
    7: ("mask_write64", ("high", "low", "mask", "value")),
    8: ("write64", ("high", "low", "value")),
    0x11: ("nop", ()),
}
_BY_NAME = {name: (code, fields) for code, (name, fields) in _CODES.items()}


@dataclass(frozen=True)
class Command:
    """One command: its numbers by name, then the words that are no named number."""

    name: str
    fields: Mapping[str, int]
    data: tuple[int, ...] = ()
    offset: int = field(default=0, compare=False)

    @property
    def address(self) -> int | None:
        """What it reads or writes, in the array's address space."""
        if "address" in self.fields:
            return self.fields["address"]
        if "low" in self.fields:
            return self.fields["high"] << 32 | self.fields["low"]
        return None

    def bytes(self) -> bytes:
        return struct.pack(f"<{len(self.data)}I", *self.data)


def read(raw: bytes, what: str = "the file") -> tuple[Command, ...]:
    """The commands of a CDO; FormatError when header, length or checksum are not right.
    What stands behind the length that the header says (padding of a PDI) is not looked at."""
    if len(raw) < 20:
        raise FormatError(f"{what} is no CDO: {len(raw)} bytes")
    head = struct.unpack_from("<5I", raw)
    if head[1] != IDENTIFICATION:
        raise FormatError(f'{what} is no CDO: its second word is 0x{head[1]:08x}, not "CDO"')
    if (sum(head[:4]) + head[4]) & 0xFFFFFFFF != 0xFFFFFFFF:
        raise FormatError(f"{what} has a CDO header whose checksum 0x{head[4]:08x} is wrong")
    length = head[3]
    if 20 + 4 * length > len(raw):
        raise FormatError(
            f"{what} is cut short: {length} words of commands announced, "
            f"{(len(raw) - 20) // 4} there"
        )
    words = struct.unpack_from(f"<{length}I", raw, 20)
    return tuple(_commands(words, what))


def _commands(words: Sequence[int], what: str) -> Iterator[Command]:
    at = 0
    while at < len(words):
        start, word = at, words[at]
        size = word >> 16 & 0xFF
        at += 1
        if size == LONG:
            if at >= len(words):
                raise FormatError(f"{what}, word {start}: a command without its length")
            size, at = words[at], at + 1
        if at + size > len(words):
            raise FormatError(f"{what}, word {start}: a command of {size} words ends outside")
        yield _command(word, words[at : at + size], 20 + 4 * start)
        at += size


def _command(word: int, payload: Sequence[int], offset: int) -> Command:
    module, code = word >> 8 & 0xFF, word & 0xFF
    name, fields = _CODES.get(code, (f"command 0x{code:02x}", ()))
    if module != GENERAL:
        name, fields = f"module {module} command 0x{code:02x}", ()
    named = dict(zip(fields, payload, strict=False))
    return Command(name, named, tuple(payload[len(fields) :]), offset)


def write(commands: Sequence[Command]) -> bytes:
    """The CDO of these commands (of those with names)."""
    body: list[int] = []
    for command in commands:
        code, fields = _BY_NAME[command.name]
        payload = [*(command.fields[f] for f in fields if f in command.fields), *command.data]
        long = len(payload) >= LONG
        body.append(min(len(payload), LONG) << 16 | GENERAL << 8 | code)
        body += [len(payload), *payload] if long else payload
    head = [HEADER_WORDS, IDENTIFICATION, VERSION, len(body)]
    check = 0xFFFFFFFF - sum(head) & 0xFFFFFFFF
    return struct.pack(f"<{5 + len(body)}I", *head, check, *body)


@dataclass(frozen=True)
class Loaded:
    """Bytes written at once into a tile's memory."""

    column: int
    row: int
    memory: str
    """``program`` or ``data``."""
    offset: int
    data: bytes


def loaded(commands: Sequence[Command], memtile_rows: int = 1) -> list[Loaded]:
    """What the commands load into the memories of core tiles: their ELFs' segments, in order.
    Blocks that go to registers (buffer descriptors) are none."""
    found = []
    for command in commands:
        address = command.address
        if command.name != "dma_write" or address is None:
            continue
        at = place(address)
        if at.row <= memtile_rows:
            continue
        if PROGRAM_MEMORY <= at.offset < PROGRAM_MEMORY + PROGRAM_BYTES:
            memory, offset = "program", at.offset - PROGRAM_MEMORY
        elif at.offset < DATA_BYTES:
            memory, offset = "data", at.offset
        else:
            continue
        found.append(Loaded(at.column, at.row, memory, offset, command.bytes()))
    return found
