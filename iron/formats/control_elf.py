"""ELF files that XRT loads: the control code of runtime sequences, the PDIs they load, and where
addresses of arguments are patched in. Not the ELF of a core, which is `elf_image`'s.

As XRT reads them (src/runtime_src/core/common/api/xrt_elf.cpp and elf_patcher.h): ELF32, platform
in the OS/ABI byte. From ABI version 1.0 on, each sequence is a section group whose symbol is the
instance, and that symbol's section index is the symbol of its kernel, a mangled C++ signature.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from .elf import layout_of
from .errors import FormatError

PLATFORMS = {0x45: "aie2p", 0x40: "aie2ps", 0x46: "aie2ps", 0x4B: "aie4"}
_AIE2P, _OLD, _GROUPS = 0x45, 0x02, 0x10
CODE, IMAGE = ".ctrltext", ".pdi"
_PROGBITS, _SYMTAB, _STRTAB, _RELA, _NOTE, _GROUP = 1, 2, 3, 4, 7, 17
_UID = ".note.xrt.UID"
_SCHEMES = {
    1: "uc DMA remote pointer", 2: "shim DMA base address", 3: "32-bit scalar",
    4: "control packet 48", 5: "shim DMA 48",
}  # fmt: skip


@dataclass(frozen=True)
class Kernel:
    """What is run by the name ``name:instance``; arguments as C types."""

    name: str
    arguments: tuple[str, ...]
    instances: tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """A section with something in it; `owner` is the ``kernel:instance`` it belongs to, if one."""

    name: str
    owner: str
    data: bytes


@dataclass(frozen=True)
class Patch:
    """An address that is filled in when the code is loaded: of what, in which section and where."""

    symbol: str
    section: str
    offset: int
    scheme: str
    addend: int


@dataclass(frozen=True)
class ControlElf:
    platform: str
    version: tuple[int, int]
    kernels: tuple[Kernel, ...]
    parts: tuple[Part, ...]
    patches: tuple[Patch, ...]
    identifier: bytes
    """Of the contents; empty when the file says none."""


def looks_like(raw: bytes) -> bool:
    """Whether this is an ELF file of XRT's."""
    return raw[:4] == b"\x7fELF" and len(raw) > 8 and raw[4] == 1 and raw[7] in PLATFORMS


@dataclass(frozen=True)
class _Section:
    name: str
    kind: int
    link: int
    info: int
    data: bytes


def read(raw: bytes, what: str = "the file") -> ControlElf:
    """FormatError when it is no such file or its tables do not hold together."""
    if not looks_like(raw):
        raise FormatError(f"{what} is no ELF file of control code")
    try:
        sections = _sections(raw, what)
        version = (raw[8] >> 4, raw[8] & 15)
        groups = _groups(sections) if version[0] else {}
        patches = tuple(_patches(sections))
    except FormatError:
        raise
    except (struct.error, IndexError, ValueError) as e:
        raise FormatError(f"{what} is cut short, or its tables point outside of it") from e
    kernels: dict[str, Kernel] = {}
    for signature, instance, _ in groups.values():
        name, arguments = demangled(signature)
        known = kernels.get(name, Kernel(name, arguments, ()))
        kernels[name] = Kernel(name, arguments, (*known.instances, instance))
    owner = {
        member: f"{demangled(signature)[0]}:{instance}"
        for signature, instance, members in groups.values()
        for member in members
    }
    parts = tuple(
        Part(s.name, owner.get(i, ""), s.data)
        for i, s in enumerate(sections)
        if s.kind == _PROGBITS
    )
    identifier = next((_described(s.data) for s in sections if s.name == _UID), b"")
    return ControlElf(
        PLATFORMS[raw[7]], version, tuple(kernels.values()), parts, patches, identifier
    )


def _sections(raw: bytes, what: str) -> list[_Section]:
    layout = layout_of(raw, what)
    head = layout.header.unpack_from(raw)
    first, entry, count, names_at = head[6], head[11], head[12], head[13]
    table = [layout.section.unpack_from(raw, first + i * entry) for i in range(count)]
    for s in table:
        if s[1] and s[4] + s[5] > len(raw):
            raise FormatError(f"{what} is cut short: a section ends at byte {s[4] + s[5]}")
    names = raw[table[names_at][4] :] if table else b""
    return [
        _Section(_text(names, s[0]), s[1], s[6], s[7], raw[s[4] : s[4] + s[5]] if s[1] else b"")
        for s in table
    ]


def _text(strings: bytes, at: int) -> str:
    return strings[at : strings.index(b"\0", at)].decode("utf-8", "replace") if strings else ""


def _groups(sections: Sequence[_Section]) -> dict[int, tuple[str, str, tuple[int, ...]]]:
    """(kernel's signature, instance, sections) by the number of the group's section."""
    symtab = next((s for s in sections if s.kind == _SYMTAB), None)
    if symtab is None:
        return {}
    names = sections[symtab.link].data
    symbols = list(struct.iter_unpack("<IIIBBH", symtab.data))
    found = {}
    for index, section in enumerate(sections):
        if section.kind != _GROUP:
            continue
        instance = symbols[section.info]
        kernel = symbols[instance[5]]
        members = struct.unpack(f"<{len(section.data) // 4}I", section.data)[1:]
        found[index] = (_text(names, kernel[0]), _text(names, instance[0]), members)
    return found


def _patches(sections: Sequence[_Section]) -> list[Patch]:
    by_name = {s.name: s for s in sections}
    table, symbols, names = (by_name.get(n) for n in (".rela.dyn", ".dynsym", ".dynstr"))
    if table is None or symbols is None or names is None:
        return []
    found = []
    for offset, info, addend in struct.iter_unpack("<IIi", table.data):
        name, _, _, _, _, section = struct.unpack_from("<IIIBBH", symbols.data, 16 * (info >> 8))
        scheme = _SCHEMES.get(info & 0xFF, f"scheme {info & 0xFF}")
        found.append(Patch(_text(names.data, name), sections[section].name, offset, scheme, addend))
    return found


def _described(note: bytes) -> bytes:
    """What the first note of a section says."""
    if len(note) < 12:
        return b""
    name, size, _ = struct.unpack_from("<III", note)
    at = 12 + name + -name % 4
    return note[at : at + size]


_MANGLED = re.compile(r"_Z(\d+)(.*)", re.DOTALL)
_TYPES = {"v": "void", "c": "char", "i": "int"}


def demangled(symbol: str) -> tuple[str, tuple[str, ...]]:
    """Name and argument types of a kernel's symbol (``_Z4mainPcPc``); FormatError when it is none.
    XRT knows pointers to void, char and int."""
    found = _MANGLED.fullmatch(symbol)
    if found is None:
        raise FormatError(f"{symbol!r} is not the symbol of a kernel")
    length, rest = int(found.group(1)), found.group(2)
    name, types = rest[:length], rest[length:]
    arguments = re.findall(r"(P*)([vci])", types)
    if len(name) < length or sum(len(p) + 1 for p, _ in arguments) != len(types):
        raise FormatError(f"{symbol!r} is not the symbol of a kernel")
    return name, tuple(_TYPES[t] + "*" * len(p) for p, t in arguments)


# -- writing ----------------------------------------------------------------------------------


def write(
    sections: Sequence[tuple[str, bytes]],
    kernels: Sequence[tuple[str, int, str, bytes]] = (),
) -> bytes:
    """A file of these sections and, for each (kernel, number of its arguments, instance, code), a
    group of its own. No addresses are patched: aiebu-asm makes those files, this is for tests of
    whatever reads them."""
    made = [_Section("", 0, 0, 0, b"")]
    made += [_Section(name, _PROGBITS, 0, 0, data) for name, data in sections]
    strings, symbols = bytearray(b"\0"), [struct.pack("<IIIBBH", 0, 0, 0, 0, 0, 0)]
    known: dict[str, int] = {}
    symtab = len(made) + 2 * len(kernels)

    def symbol(text: str, kind: int, section: int) -> int:
        symbols.append(struct.pack("<IIIBBH", len(strings), 0, 0, 16 | kind, 0, section))
        strings.extend(text.encode() + b"\0")
        return len(symbols) - 1

    for number, (kernel, count, instance, code) in enumerate(kernels):
        signature = f"_Z{len(kernel)}{kernel}{'Pc' * count}"
        if signature not in known:
            known[signature] = symbol(signature, 2, 0)
        entry = symbol(instance, 1, known[signature])
        made.append(_Section(f"{CODE}.{number}", _PROGBITS, 0, 0, code))
        members = struct.pack("<II", 0, len(made) - 1)
        made.append(_Section(f".group.{number}", _GROUP, symtab, entry, members))
    if kernels:
        made.append(_Section(".symtab", _SYMTAB, len(made) + 1, 1, b"".join(symbols)))
        made.append(_Section(".strtab", _STRTAB, 0, 0, bytes(strings)))
    return _assembled(made, _GROUPS if kernels else _OLD)


def _assembled(sections: list[_Section], version: int) -> bytes:
    strings, names = bytearray(b"\0"), []
    for s in (*sections, _Section(".shstrtab", _STRTAB, 0, 0, b"")):
        names.append(len(strings) if s.name else 0)
        strings += s.name.encode() + b"\0" if s.name else b""
    every = [*sections, _Section(".shstrtab", _STRTAB, 0, 0, bytes(strings))]
    body, headers = bytearray(52), b""
    for name, s in zip(names, every, strict=True):
        body += b"\0" * (-len(body) % 16)
        at = len(body) if s.kind else 0
        headers += struct.pack(
            "<10I", name, s.kind, 0, 0, at, len(s.data), s.link, s.info, 16 * bool(s.kind), 0
        )
        body += s.data
    body += b"\0" * (-len(body) % 4)
    identity = b"\x7fELF\1\1\1" + bytes((_AIE2P, version)) + bytes(7)
    struct.pack_into(
        "<16sHHIIIIIHHHHHH", body, 0, identity, 2, 1, 1, 0, 0, len(body), 0, 52, 0, 0, 40,
        len(every), len(every) - 1,
    )  # fmt: skip
    return bytes(body) + headers
