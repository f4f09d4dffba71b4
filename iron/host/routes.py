"""Streams of a routed design: follows switchbox connections and packet rules to where they end.

Used when a module comes after routing, where flows have become connections.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from iron.ir.core import Operation

from . import reading as r
from .network import Channel, Port
from .state import BUNDLE_CORE, BUNDLE_DMA, Lowering

SOUTH, WEST, NORTH, EAST = 3, 4, 5, 6  # WireBundle in mlir-aie
_STEP = {SOUTH: (0, -1, NORTH), WEST: (-1, 0, EAST), NORTH: (0, 1, SOUTH), EAST: (1, 0, WEST)}

PortKey = tuple[int, int]  # bundle, index
Place = tuple[int, int]  # column, row


@dataclass
class Switch:
    """One switchbox: circuits, and rules that send packets to arbiters."""

    circuits: dict[PortKey, list[PortKey]] = field(default_factory=dict)
    rules: dict[PortKey, list[tuple[int, int, int]]] = field(default_factory=dict)
    masters: dict[int, list[tuple[PortKey, bool]]] = field(default_factory=dict)

    def outputs(self, port: PortKey, packet: int | None) -> list[tuple[PortKey, bool]]:
        """Where a port leads: (port, does the header stay on)."""
        if packet is None:
            return [(p, True) for p in self.circuits.get(port, ())]
        out = [(p, True) for p in self.circuits.get(port, ())]
        for mask, value, amsel in self.rules.get(port, ()):
            if packet & mask == value:
                out += self.masters.get(amsel, [])
                break
        return out


def routed_streams(s: Lowering) -> None:
    switches: dict[Place, Switch] = {}
    muxes: dict[Place, Switch] = {}
    for op in s.each("aie.switchbox", "aie.shim_mux"):
        tile = s.tile(op, r.single(op, "tile"))
        if tile.column is None or tile.row is None:
            continue
        table = switches if op.name == "aie.switchbox" else muxes
        table[tile.column, tile.row] = read_switch(op)
    if not switches:
        return
    _Tracer(s, switches, muxes).run()


def read_switch(op: Operation) -> Switch:
    sw = Switch()
    for inner in op.body.operations:
        if inner.name == "aie.connect":
            source = (r.integer(inner, "source_bundle"), r.integer(inner, "source_channel"))
            dest = (r.integer(inner, "dest_bundle"), r.integer(inner, "dest_channel"))
            sw.circuits.setdefault(source, []).append(dest)
        elif inner.name == "aie.masterset":
            dest = (r.integer(inner, "dest_bundle"), r.integer(inner, "dest_channel"))
            keep = r.flag(inner, "keep_pkt_header")
            for amsel in r.group(inner, "amsels"):
                sw.masters.setdefault(id(amsel), []).append((dest, keep))
        elif inner.name == "aie.packet_rules":
            source = (r.integer(inner, "source_bundle"), r.integer(inner, "source_channel"))
            for rule in inner.body.operations:
                if rule.name == "aie.rule":
                    sw.rules.setdefault(source, []).append(
                        (
                            r.integer(rule, "mask") & 31,
                            r.integer(rule, "value") & 31,
                            id(r.single(rule, "amsel")),
                        )
                    )
    return sw


class _Tracer:
    def __init__(
        self, s: Lowering, switches: dict[Place, Switch], muxes: dict[Place, Switch]
    ) -> None:
        self.s, self.switches, self.muxes = s, switches, muxes
        self.tiles = {(t.column, t.row): t for t in s.tiles.values()}

    def run(self) -> None:
        for place, sw in self.switches.items():
            for port in sorted({*sw.circuits, *sw.rules}):
                source = self.source(place, port)
                if source is None:
                    continue
                packets: list[int | None] = [None]
                if not sw.circuits.get(port):
                    packets = list(range(32))
                elif self.meets_rules(place, port):
                    packets += range(32)
                for packet in packets:
                    found: dict[bool, list[Channel | Port]] = {}
                    self.follow(place, port, packet, True, found, set())
                    for keep, sinks in found.items():
                        kept = keep and packet is not None
                        self.s.add_route(source, sinks, packet, keep_header=kept)

    def source(self, place: Place, port: PortKey) -> Channel | Port | None:
        """What feeds a port of a switchbox from its own tile; None when a neighbour does."""
        tile = self.tiles.get(place)
        if tile is None:
            return None
        if port[0] in (BUNDLE_DMA, BUNDLE_CORE):
            return self.s.stream(tile, *port, sends=True)
        mux = self.muxes.get(place)
        if port[0] == SOUTH and mux is not None:
            for source, dests in mux.circuits.items():
                if (NORTH, port[1]) in dests and source[0] == BUNDLE_DMA:
                    return self.s.stream(tile, *source, sends=True)
        return None

    def meets_rules(self, place: Place, port: PortKey) -> bool:
        """Does a circuit lead into a switchbox that looks at packets?"""
        sw = self.switches.get(place)
        if sw is None:
            return False
        if port in sw.rules:
            return True
        return any(
            self.meets_rules(*after)
            for p, _ in sw.outputs(port, None)
            if (after := self.crossing(place, p)) is not None
        )

    def crossing(self, place: Place, port: PortKey) -> tuple[Place, PortKey] | None:
        if port[0] not in _STEP:
            return None
        dc, dr, enters = _STEP[port[0]]
        return (place[0] + dc, place[1] + dr), (enters, port[1])

    def follow(
        self,
        place: Place,
        port: PortKey,
        packet: int | None,
        keep: bool,
        found: dict[bool, list[Channel | Port]],
        seen: set[tuple[Place, PortKey]],
    ) -> None:
        sw = self.switches.get(place)
        if sw is None or (place, port) in seen:
            return
        seen.add((place, port))
        tile = self.tiles.get(place)
        for out, keeps in sw.outputs(port, packet):
            keep_here = keep and keeps
            if out[0] in (BUNDLE_DMA, BUNDLE_CORE) and tile is not None:
                sink = self.s.stream(tile, *out, sends=False)
                if sink is not None:
                    found.setdefault(keep_here, []).append(sink)
                continue
            mux = self.muxes.get(place)
            if out[0] == SOUTH and mux is not None and tile is not None:
                for dest in mux.circuits.get((NORTH, out[1]), ()):
                    sink = self.s.stream(tile, *dest, sends=False)
                    if sink is not None:
                        found.setdefault(keep_here, []).append(sink)
                continue
            after = self.crossing(place, out)
            if after is not None:
                # A header taken off on the way would leave nothing to route by.
                self.follow(after[0], after[1], packet, True, found, seen)
