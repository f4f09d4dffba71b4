"""``iron graph design.mlir -o design.svg``: a design as a drawing.

A box for each tile, in the array's own arrangement (shim at the bottom), with its core, its memory
and the ends of streams and fifos; lines for the flows between them, which run in the space between
the boxes and cross none of them. Drawn from the process network of the host target.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from iron.host.network import Channel, Network, Port, Tile

LINE = 16  # pixels from line to line of text
WIDTH = 210
PAD = 8
LANE = 8  # between parallel lines of flows
MARGIN = 26
FILL = {"core": "#eaf2fb", "mem": "#eef7ea", "shim": "#fbf3e6"}
EDGE = {"core": "#4a78a8", "mem": "#5b8a48", "shim": "#b0813a"}
COLOURS = (
    "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17a2b8",
    "#8c564b", "#e377c2", "#7f7f7f", "#6b8e23",
)  # fmt: skip


@dataclass
class Box:
    """A tile: what it says, line by line, and where lines of flows meet it."""

    tile: Tile
    column: int
    row: int
    title: str
    lines: list[tuple[str, str]] = field(default_factory=list)  # (text, style)
    ports: dict[str, int] = field(default_factory=dict)  # name -> line
    x: float = 0
    y: float = 0

    @property
    def height(self) -> float:
        return PAD * 2 + LINE * (1 + len(self.lines)) + 4

    def port(self, key: str, text: str) -> None:
        self.ports[key] = len(self.lines)
        self.lines.append((text, "port"))

    def port_at(self, key: str) -> tuple[float, float]:
        return self.x + WIDTH, self.y + PAD + LINE * (self.ports[key] + 1.65) + 4


@dataclass
class Edge:
    source: Box
    source_port: str
    target: Box
    target_port: str
    name: str
    dashed: bool = False
    lanes: tuple[int, int, int] = (0, 0, 0)  # beside the source, under its row, beside the target


class Drawing:
    def __init__(self, network: Network, objects: dict[str, str]) -> None:
        """`objects`: what is linked with the core of a tile."""
        self.boxes: dict[str, Box] = {}
        self.edges: list[Edge] = []
        self.network = network
        self._place()
        self._say(objects)
        self._connect()
        self._lay_out()

    # ---- what there is
    def _place(self) -> None:
        n = self.network
        tiles: dict[str, Tile] = {}
        used = [t.tile for t in n.buffers] + [t.tile for t in n.channels]
        used += [t.tile for t in n.ports] + [t.tile for t in n.cores] + [t.tile for t in n.locks]
        for t in used:
            if t.key != "outside":
                tiles.setdefault(t.key, t)
        taken = {(t.column, t.row) for t in tiles.values() if t.column is not None}
        floating = {"shim": 0, "mem": 1, "core": 2}
        for t in tiles.values():
            if t.column is not None and t.row is not None:
                place = (t.column, t.row)
            else:  # not placed: the next free place of its kind
                column, row = 0, floating[t.kind]
                while (column, row) in taken:
                    if t.kind == "core" and row < 5:
                        row += 1
                    else:
                        column, row = column + 1, floating[t.kind]
                place = (column, row)
                taken.add(place)
            self.boxes[t.key] = Box(t, *place, f"{t.kind} {t.key}")

    def _say(self, objects: dict[str, str]) -> None:
        n = self.network
        for c in n.cores:
            made = objects.get(c.tile.key)
            self.boxes[c.tile.key].lines.append((f"runs {made}" if made else "runs a core", "core"))
        groups: dict[tuple[str, str], list[int]] = {}
        for b in n.buffers:
            stem, _, number = b.name.rpartition("_buff_")
            groups.setdefault((b.tile.key, stem if number.isdigit() else b.name), []).append(
                b.nbytes
            )
        for (key, name), sizes in groups.items():
            if key not in self.boxes:
                continue
            many = f"{len(sizes)} \u00d7 " if len(sizes) > 1 else ""
            self.boxes[key].lines.append((f"{name}: {many}{sizes[0]} B", "memory"))
        for ch in n.channels:
            of = ch.fifo or ch.symbol
            text = f"{ch.direction} {ch.index}" + (f"  {of}" if of else "")
            self.boxes[ch.tile.key].port(ch.name, text)
        for p in n.ports:
            self.boxes[p.tile.key].port(p.name, f"core {p.direction} {p.index}")

    def _connect(self) -> None:
        for route in self.network.routes:
            for sink in route.sinks:
                name = _label(route.source) or _label(sink)
                if route.packet is not None:
                    name = f"packet {route.packet}"
                self.edges.append(
                    Edge(
                        self.boxes[route.source.tile.key],
                        route.source.name,
                        self.boxes[sink.tile.key],
                        sink.name,
                        name,
                        dashed=route.packet is not None,
                    )
                )
        for e in self.network.ends:  # fifos in memory both cores reach
            if e.port != "produce":
                continue
            for other in self.network.ends:
                if other.fifo == e.fifo and other.port == "consume" and other.buffers is e.buffers:
                    self._shared(e.fifo, e.name, other.name, len(e.buffers))
        for a, b in self.network.cascades:
            key = f"cascade {a}{b}"
            self.boxes[a.key].port(f"{key} out", "cascade out")
            self.boxes[b.key].port(f"{key} in", "cascade in")
            self.edges.append(
                Edge(self.boxes[a.key], f"{key} out", self.boxes[b.key], f"{key} in", "cascade")
            )

    def _shared(self, fifo: str, out: str, into: str, depth: int) -> None:
        """The tile of an end stands in its name: fifo.produce(c,r)."""
        a = self.boxes.get(_tile_of(out, "produce"))
        b = self.boxes.get(_tile_of(into, "consume"))
        if a is None or b is None:
            return
        a.port(out, f"puts  {fifo}")
        b.port(into, f"takes  {fifo}")
        self.edges.append(Edge(a, out, b, into, f"{fifo}, {depth} in shared memory"))

    # ---- where it goes
    def _lay_out(self) -> None:
        beside: dict[int, int] = {}
        under: dict[int, int] = {}

        def lane(table: dict[int, int], at: int) -> int:
            table[at] = table.get(at, 0) + 1
            return table[at] - 1

        for e in self.edges:
            first = lane(beside, e.source.column)
            if e.source.column == e.target.column:
                e.lanes = (first, 0, 0)
            else:
                e.lanes = (first, lane(under, e.source.row), lane(beside, e.target.column))
        columns = sorted({b.column for b in self.boxes.values()} | {0})
        rows = sorted({b.row for b in self.boxes.values()}, reverse=True)
        self.column_x: dict[int, float] = {}
        x = float(MARGIN)
        for c in columns:
            self.column_x[c] = x
            x += WIDTH + MARGIN + LANE * (beside.get(c, 0) + 1)
        self.width = x
        self.row_end: dict[int, float] = {}
        y = float(MARGIN + 18)
        for r in rows:
            here = [b for b in self.boxes.values() if b.row == r]
            tall = max((b.height for b in here), default=0)
            for b in here:
                b.x, b.y = self.column_x[b.column], y
            self.row_end[r] = y + tall
            y += tall + MARGIN + LANE * (under.get(r, 0) + 1)
        self.height = y

    def path(self, e: Edge) -> str:
        x0, y0 = e.source.port_at(e.source_port)
        x1, y1 = e.target.port_at(e.target_port)
        a = x0 + 14 + LANE * e.lanes[0]
        if e.source.column == e.target.column:
            return f"M{x0:.0f} {y0:.0f}H{a:.0f}V{y1:.0f}H{x1 + 5:.0f}"
        y = self.row_end[e.source.row] + 12 + LANE * e.lanes[1]
        b = x1 + 14 + LANE * e.lanes[2]
        return f"M{x0:.0f} {y0:.0f}H{a:.0f}V{y:.0f}H{b:.0f}V{y1:.0f}H{x1 + 5:.0f}"

    # ---- the text
    def svg(self, title: str) -> str:
        names = list(dict.fromkeys(e.name for e in self.edges))
        colour = {n: COLOURS[i % len(COLOURS)] for i, n in enumerate(names)}
        out = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width:.0f}" '
            f'height="{self.height:.0f}" font-family="sans-serif" font-size="12">',
            "<defs>",
            *(
                f'<marker id="m{i}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
                f'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="{c}"/></marker>'
                for i, c in enumerate(COLOURS)
            ),
            "</defs>",
            '<rect width="100%" height="100%" fill="white"/>',
            f'<text x="{MARGIN}" y="24" font-size="15" font-weight="bold">{escape(title)}</text>',
        ]
        for e in self.edges:
            c = colour[e.name]
            dash = ' stroke-dasharray="5 3"' if e.dashed else ""
            out.append(
                f'<path d="{self.path(e)}" fill="none" stroke="{c}" stroke-width="1.6"{dash} '
                f'marker-end="url(#m{COLOURS.index(c)})"><title>{escape(e.name)}</title></path>'
            )
        for b in self.boxes.values():
            out += self._box(b, colour)
        return "\n".join([*out, "</svg>", ""])

    def _box(self, b: Box, colour: dict[str, str]) -> list[str]:
        kind = b.tile.kind
        at = {
            port: colour[e.name]
            for e in self.edges
            for box, port in ((e.source, e.source_port), (e.target, e.target_port))
            if box is b
        }
        by_line = {line: at.get(port, "#777777") for port, line in b.ports.items()}
        out = [
            f'<rect x="{b.x:.0f}" y="{b.y:.0f}" width="{WIDTH}" height="{b.height:.0f}" rx="5" '
            f'fill="{FILL[kind]}" stroke="{EDGE[kind]}" stroke-width="1.4"/>',
            f'<text x="{b.x + PAD:.0f}" y="{b.y + PAD + 12:.0f}" font-weight="bold">'
            f"{escape(b.title)}</text>",
        ]
        for i, (text, style) in enumerate(b.lines):
            y = b.y + PAD + LINE * (i + 2) + 2
            if style == "port":
                out.append(
                    f'<circle cx="{b.x + WIDTH:.0f}" cy="{y - 4:.0f}" r="3.5" fill="{by_line[i]}"/>'
                )
                place = f'x="{b.x + WIDTH - PAD:.0f}" text-anchor="end" fill="{by_line[i]}"'
            else:
                place = f'x="{b.x + PAD:.0f}" fill="{"#222222" if style == "core" else "#555555"}"'
            shown = text if len(text) <= 34 else text[:33] + "\u2026"
            out.append(
                f'<text {place} y="{y:.0f}">{escape(shown)}<title>{escape(text)}</title></text>'
            )
        return out


def _tile_of(end: str, port: str) -> str:
    return end[end.rindex(port) + len(port) :].split(".")[0]


def _label(end: Channel | Port) -> str:
    return getattr(end, "fifo", "") or getattr(end, "symbol", "") or ""


def draw(text: str, *, name: str = "design", device: str | None = None) -> str:
    """The SVG of a module's device. Raises the errors of `iron.ir.parse` and HostError."""
    from iron import ir
    from iron.host import reading
    from iron.host.design import linked_by, symbols
    from iron.host.devices import choose_device, device_name
    from iron.host.explicit import lower_device
    from iron.host.network import Core, Resources
    from iron.host.state import Lowering

    module = ir.parse(text, name)
    op = choose_device(module, device)
    s = Lowering(op, device_name(op))
    lower_device(s)
    functions = symbols(module, op)
    objects = {}
    for core in s.each("aie.core"):
        tile = s.tile(core, reading.single(core, "tile"))
        s.network.cores.append(Core(tile, "", "", Resources()))
        found = linked_by(core)
        for call in core.walk():
            if call.name == "func.call":
                callee = reading.symbol(call, "callee")
                found |= linked_by(functions[callee]) if callee in functions else set()
        if found:
            objects[tile.key] = ", ".join(sorted(found))
    title = f"{name}: {op.symbol or 'main'} ({device_name(op)})"
    return Drawing(s.network, objects).svg(title)


def add_to(commands: Any) -> None:
    """The subcommand ``graph``."""
    p = commands.add_parser("graph", help="draw a design.mlir as SVG")
    p.add_argument("design", help="a file of MLIR")
    p.add_argument("-o", "--output", help="the SVG; otherwise beside the design")
    p.add_argument("--device", help="which device, when there are several")
    p.set_defaults(run=_graph)


def _graph(options: argparse.Namespace) -> None:
    from iron.host import HostError
    from iron.ir import ParseError

    from .run_mlir import RunError

    try:
        with open(options.design, encoding="utf-8") as f:
            drawn = draw(f.read(), name=os.path.basename(options.design), device=options.device)
    except OSError as e:
        raise RunError(f"{options.design}: {e.strerror}") from e
    except (HostError, ParseError) as e:
        raise RunError(str(e)) from e
    target = options.output or os.path.splitext(options.design)[0] + ".svg"
    with open(target, "w", encoding="utf-8") as f:
        f.write(drawn)
    print(target)
