"""The process network of a design: pure data, printable as the table the worker reads.

Buffers, counting locks, DMA channels with tasks of buffer descriptors, routes between streams,
sides of ObjectFifos and cores of one or several devices, and the runtime sequence. Both levels of
design, ObjectFifos and explicit locks, descriptors and flows, become this. Knows nothing of MLIR
and of C++.

The table (`design.net`): one entry a line, a word, a name where the entry has one, then
``key=value`` fields; ``a|b`` separates the parts of a list, ``:`` those of a part. White space and
``% | : =`` inside a name are written as ``%XX``. Entries refer to each other by name.
Entries after ``device`` belong to that device, until the next; the sequence comes last.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

FORMAT = 2


@dataclass(frozen=True)
class Tile:
    """A tile's place; `key` is unique also for one that has not been placed."""

    key: str
    column: int | None = None
    row: int | None = None
    kind: str = "core"  # core, mem, shim

    def __str__(self) -> str:
        return self.key


@dataclass
class Buffer:
    """Memory of a tile. `initial` is its content at the start, None for zeros. `at` is its place
    in the tile's memory where that outlives the loading of another device."""

    name: str
    tile: Tile
    nbytes: int
    initial: bytes | None = None
    where: str = ""
    at: int | None = None
    external: int | None = None  # the argument it is a copy of, during a run


@dataclass
class Lock:
    """A counting lock. `text` is what people read, when the name alone says little."""

    name: str
    tile: Tile
    value: int
    text: str = ""
    fifo: str = ""
    where: str = ""


@dataclass(frozen=True)
class LockUse:
    lock: Lock
    value: int
    exactly: bool = False


@dataclass(frozen=True)
class Dimension:
    """Of a buffer descriptor, in elements."""

    size: int
    stride: int
    before: int = 0
    after: int = 0


@dataclass
class Bd:
    """A buffer descriptor; offset, length, sizes and strides in elements of `element` bytes."""

    buffer: Buffer
    offset: int
    length: int
    element: int
    dims: tuple[Dimension, ...] = ()
    iteration: tuple[int, int, int] | None = None  # size, stride, current
    acquires: tuple[LockUse, ...] = ()
    releases: tuple[LockUse, ...] = ()
    next: int = -1
    packet: tuple[int, int] | None = None  # id, type


@dataclass
class Task:
    """A chain of descriptors, run `repeat` + 1 times."""

    bds: list[Bd]
    repeat: int = 0


@dataclass
class Channel:
    """A DMA channel of a tile; `direction` is MM2S (sends) or S2MM."""

    name: str
    tile: Tile
    direction: str
    index: int
    tasks: list[Task] = field(default_factory=list)
    pad: int = 0  # the 32-bit word padding consists of
    fifo: str = ""
    symbol: str = ""
    where: str = ""


@dataclass
class Port:
    """A stream port of a core; `direction` is out or in."""

    name: str
    tile: Tile
    direction: str
    index: int


@dataclass
class Route:
    """From a source to its sinks; `packet` None takes everything."""

    source: Channel | Port
    sinks: list[Channel | Port]
    packet: int | None = None
    keep_header: bool = False


@dataclass
class End:
    """The side of an ObjectFifo a core uses; `repeat` lock counts stand for one object."""

    name: str
    fifo: str
    port: str  # produce, consume
    buffers: list[Buffer]
    acquire: Lock | None
    release: Lock | None
    repeat: int = 1
    where: str = ""


@dataclass
class Resources:
    """What a body uses, under local numbers: positions in these lists."""

    ends: list[End] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    locks: list[Lock] = field(default_factory=list)
    channels: list[Channel] = field(default_factory=list)
    sites: list[str] = field(default_factory=list)


@dataclass
class Core:
    tile: Tile
    image: str
    body: str
    uses: Resources
    where: str = ""


@dataclass(frozen=True)
class Argument:
    """Of the runtime sequence. dtype is MLIR's name of the element; a scalar has shape ()."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    scalar: bool = False


@dataclass
class Sequence:
    image: str
    body: str
    uses: Resources
    arguments: tuple[Argument, ...]
    nbytes: tuple[int, ...]
    where: str = ""


@dataclass
class Network:
    device: str = ""
    name: str = ""
    buffers: list[Buffer] = field(default_factory=list)
    locks: list[Lock] = field(default_factory=list)
    channels: list[Channel] = field(default_factory=list)
    ports: list[Port] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    ends: list[End] = field(default_factory=list)
    cores: list[Core] = field(default_factory=list)
    cascades: list[tuple[Tile, Tile]] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The entries of this device."""
        lines = [f"device {self.device or '-'}" + _field("name", self.name)]
        for b in self.buffers:
            lines.append(
                f"buffer {_name(b.name)} tile={b.tile} bytes={b.nbytes}"
                + (f" at={b.at}" if b.at is not None else "")
                + (f" argument={b.external}" if b.external is not None else "")
                + _where(b.where)
            )
            lines += _data(b)
        for lock in self.locks:
            lines.append(
                f"lock {_name(lock.name)} tile={lock.tile} value={lock.value}"
                + _field("text", lock.text)
                + _field("fifo", lock.fifo)
                + _where(lock.where)
            )
        for c in self.channels:
            lines.append(
                f"channel {_name(c.name)} tile={c.tile} dir={c.direction} index={c.index}"
                + (" shim=1" if c.tile.kind == "shim" else "")
                + _field("fifo", c.fifo)
                + _field("symbol", c.symbol)
                + (f" pad={c.pad & 0xFFFFFFFF}" if c.pad else "")
                + _where(c.where)
            )
        for p in self.ports:
            lines.append(f"port {_name(p.name)} tile={p.tile} dir={p.direction} index={p.index}")
        for c in self.channels:
            for t in c.tasks:
                lines.append(f"task channel={_name(c.name)} repeat={t.repeat}")
                lines += [_bd(b) for b in t.bds]
        for r in self.routes:
            lines.append(
                f"route from={_name(r.source.name)}"
                + (f" packet={r.packet}" if r.packet is not None else "")
                + (" keep=1" if r.keep_header else "")
                + f" to={'|'.join(_name(s.name) for s in r.sinks)}"
            )
        lines += [_end(e) for e in self.ends]
        for core in self.cores:
            lines.append(
                f"core {_name(str(core.tile))} tile={core.tile} image={core.image}"
                f" body={core.body}" + _resources(core.uses) + _where(core.where)
            )
            lines += _sites(core.uses)
        lines += [f"cascade from={a} to={b}" for a, b in self.cascades]
        return lines


def table(networks: Iterable[Network], s: Sequence) -> str:
    """The whole table. Equal networks give equal text."""
    lines = [f"iron-network {FORMAT}"]
    for n in networks:
        lines += n.lines()
    lines.append(f"sequence image={s.image} body={s.body}" + _resources(s.uses) + _where(s.where))
    lines += _sites(s.uses)
    for a, nbytes in zip(s.arguments, s.nbytes, strict=True):
        size = " scalar=1" if a.scalar else f" bytes={nbytes}"
        lines.append(f"argument name={_name(a.name)} dtype={a.dtype}{size}")
    return "\n".join(lines) + "\n"


@functools.lru_cache(4096)
def _name(text: str) -> str:
    return re.sub(r"[^\w.,()+\-]", lambda m: "".join(f"%{b:02X}" for b in m[0].encode()), text)


@functools.lru_cache(4096)
def _value(text: str) -> str:
    return re.sub(r"[\s%=]", lambda m: "".join(f"%{b:02X}" for b in m[0].encode()), text)


def _field(key: str, text: str) -> str:
    return f" {key}={_value(text)}" if text else ""


def _where(text: str) -> str:
    return _field("where", text)


def _data(b: Buffer) -> list[str]:
    """Initial content in lines of at most 256 bytes; a repeated byte pattern in one."""
    if b.initial is None or not any(b.initial):
        return []
    for unit in (1, 2, 4, 8):
        count, rest = divmod(len(b.initial), unit)
        if count > 1 and not rest and b.initial == b.initial[:unit] * count:
            return [f"data {_name(b.name)} {b.initial[:unit].hex()} at=0 repeat={count}"]
    return [
        f"data {_name(b.name)} {b.initial[at : at + 256].hex()} at={at}"
        for at in range(0, len(b.initial), 256)
    ]


def _uses(key: str, uses: tuple[LockUse, ...]) -> str:
    if not uses:
        return ""
    words = (f"{_name(u.lock.name)}:{u.value}{':eq' if u.exactly else ''}" for u in uses)
    return f" {key}={'|'.join(words)}"


def _bd(b: Bd) -> str:
    words = [f"bd buffer={_name(b.buffer.name)} offset={b.offset} length={b.length}"]
    words.append(f" element={b.element}")
    if b.dims:
        padded = any(d.before or d.after for d in b.dims)
        parts = (
            f"{d.size}:{d.stride}" + (f":{d.before}:{d.after}" if padded else "") for d in b.dims
        )
        words.append(f" dims={'|'.join(parts)}")
    if b.iteration is not None:
        words.append(" iteration={}:{}:{}".format(*b.iteration))
    words.append(_uses("acquire", b.acquires) + _uses("release", b.releases))
    if b.packet is not None:
        words.append(" packet={}:{}".format(*b.packet))
    words.append(f" next={b.next}")
    return "".join(words)


def _end(e: End) -> str:
    return (
        f"end {_name(e.name)} fifo={_value(e.fifo)} port={e.port}"
        f" buffers={'|'.join(_name(b.name) for b in e.buffers)}"
        + (f" acquire={_name(e.acquire.name)}" if e.acquire else "")
        + (f" release={_name(e.release.name)}" if e.release else "")
        + (f" repeat={e.repeat}" if e.repeat != 1 else "")
        + _where(e.where)
    )


def _resources(u: Resources) -> str:
    out = ""
    for key, things in (
        ("ends", u.ends),
        ("buffers", u.buffers),
        ("locks", u.locks),
        ("channels", u.channels),
    ):
        if things:
            out += f" {key}={'|'.join(_name(t.name) for t in things)}"
    return out


def _sites(u: Resources) -> list[str]:
    return [f"sites {' '.join(_value(s) or '-' for s in u.sites)}"] if any(u.sites) else []
