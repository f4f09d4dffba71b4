"""The cores of a placed device: what they link, and each alone as the module it is compiled from,
so that cores that do the same are compiled once.

Knows the shape of placed modules; knows no tools and no recipes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from iron import ir
from iron.ir.attributes import ArrayAttr, Attribute, IntegerAttr, StringAttr, SymbolRefAttr
from iron.ir.core import Block, Operation, OpResult, Region, Value

from .outline import DEVICE_NAME, PlanError, device_called

HOME = (0, 2)
"""Where a core that is like others is compiled: the first core tile of every NPU."""


@dataclass(frozen=True)
class Core:
    """A core of a placed design, as it is compiled.

    `body` is the module it is lowered from and `script` the one its linker script comes from;
    both are alike for cores that do the same with memory of their own tile, of any device: the
    device is called @main in them.
    """

    column: int
    row: int
    compiled_at: tuple[int, int]
    body: str
    script: str
    links: tuple[str, ...]
    merges: tuple[str, ...]
    names: tuple[tuple[str, str], ...]
    """(name in the design, name in `body` and `script`) of each buffer that was renamed."""
    where: str

    @property
    def elf(self) -> str:
        return f"core_{self.column}_{self.row}.elf"


# -- links ------------------------------------------------------------------------------------


def _texts(value: Attribute | None) -> tuple[str, ...]:
    if isinstance(value, StringAttr):
        return (value.value,)
    if isinstance(value, ArrayAttr):
        return tuple(v.value for v in value.values if isinstance(v, StringAttr))
    return ()


def links_of(core: Operation, functions: Mapping[str, Operation]) -> tuple[list[str], list[str]]:
    """(objects, LLVM IR files) that a core links, in order of first call; as written on the core
    by mlir-aie's own pass, else on the core, else on the functions that it calls."""
    if "link_files" in core.attributes or "link_merge_files" in core.attributes:
        return (
            list(_texts(core.attributes.get("link_files") or core.attributes.get("link_with"))),
            list(_texts(core.attributes.get("link_merge_files"))),
        )
    objects = dict.fromkeys(_texts(core.attributes.get("link_with")))
    merged: dict[str, None] = {}
    for op in core.walk():
        callee = op.attributes.get("callee") if op.name == "func.call" else None
        function = functions.get(callee.path[-1]) if isinstance(callee, SymbolRefAttr) else None
        if function is None:
            continue
        mode = function.attributes.get("link_with_mode")
        kind = merged if mode == StringAttr("merge") else objects
        kind.update(dict.fromkeys(_texts(function.attributes.get("link_with"))))
    return list(objects), list(merged)


def functions_of(device: Operation) -> dict[str, Operation]:
    return {op.symbol: op for op in device.body.operations if op.name == "func.func" and op.symbol}


def core_place(core: Operation) -> tuple[int, int]:
    return _place(core.operands[0])


def _place(tile: Value) -> tuple[int, int]:
    op = ir.defining_op(tile)
    column = op.attributes.get("col") if op is not None else None
    row = op.attributes.get("row") if op is not None else None
    if not isinstance(column, IntegerAttr) or not isinstance(row, IntegerAttr):
        raise PlanError("a tile of the placed design has no coordinates")
    return column.value, row.value


def cores_of(device: Operation) -> list[Operation]:
    return [op for op in device.body.operations if op.name == "aie.core"]


def place_of_core(core: Operation) -> str:
    """For people: coordinates, or where in the text a core stands that has none yet."""
    try:
        return str(core_place(core))
    except PlanError:
        return f"at {core.location}"


def bind_links(devices: Iterable[Operation]) -> tuple[bool, dict[str, tuple[str, ...]]]:
    """Have each core name its one object itself, as mlir-aie of 2026-03 wants it; functions name
    none. Whether anything changed, and what the new names stand for: the objects of a core that
    links several, in order. The devices are changed in place."""
    merged: dict[tuple[str, ...], str] = {}
    changed = False
    for device in devices:
        functions = functions_of(device)
        for core in cores_of(device):
            changed = _bind(core, functions, merged) or changed
        for function in functions.values():
            for key in ("link_with", "link_with_mode"):
                changed = function.attributes.pop(key, None) is not None or changed
    return changed, {name: parts for parts, name in merged.items()}


def _bind(
    core: Operation, functions: Mapping[str, Operation], merged: dict[tuple[str, ...], str]
) -> bool:
    objects, irs = links_of(core, functions)
    if irs:
        core.attributes["link_merge_files"] = ArrayAttr(tuple(StringAttr(n) for n in irs))
    if not objects:
        return False
    name = objects[0]
    if len(objects) > 1:
        name = merged.setdefault(tuple(objects), f"merged_{len(merged)}.o")
    known = core.attributes.get("link_with") == StringAttr(name)
    core.attributes["link_with"] = StringAttr(name)
    return not known


# -- one core alone ---------------------------------------------------------------------------

_MEMORY = ("aie.buffer", "aie.lock", "aie.external_buffer")


def split_cores(text: str, symbol: str, safe: Mapping[str, str]) -> list[Core]:
    """The cores of one device of a placed and addressed module. `safe` gives the name in the link
    directory for each ``link_with`` name."""
    module = ir.parse(text, "input_with_addresses.mlir")
    device = device_called(module, symbol)
    module.body.operations = [op for op in module.body.operations if not _other(op, device)]
    for value in _values(module):
        value.name = None  # so that cores that differ only in names are alike
    functions = functions_of(device)
    return [
        _core(module, device, core, functions, safe)
        for core in cores_of(device)
        if "elf_file" not in core.attributes
    ]


def _other(op: Operation, device: Operation) -> bool:
    return op.name == "aie.device" and op is not device


def _values(op: Operation) -> Iterator[Value]:
    for inner in op.walk():
        yield from inner.results
        for region in inner.regions:
            for block in region.blocks:
                yield from block.arguments


def _core(
    module: Operation,
    device: Operation,
    core: Operation,
    functions: Mapping[str, Operation],
    safe: Mapping[str, str],
) -> Core:
    place = core_place(core)
    objects, merged = links_of(core, functions)
    kept = _needed(device, core)
    tiles = {_place(o.result) for o in kept if o.name == "aie.tile"}
    alone = tiles == {place}
    home = HOME if alone else place
    changes = _canonical(kept, place, home, alone)
    for op in kept:  # names of files are no part of what is compiled
        if op.name in ("func.func", "aie.core"):
            bare = {k: v for k, v in op.attributes.items() if not k.startswith("link_")}
            changes[id(op)] = (op, bare)
    changes[id(device)] = (device, {**device.attributes, "sym_name": StringAttr(DEVICE_NAME)})
    with _changed(device, kept, changes):
        body = ir.print_module(module)
    absent = [name for name in (*objects, *merged) if name not in safe]
    if absent:
        raise PlanError(
            f"{core.location}: nothing makes {', '.join(absent)}, which the core at {place} links; "
            "declare an ExternalFunction for it, or give the file in object_files"
        )
    named = [safe[name] for name in objects]
    link: dict[str, Attribute] = {}
    if len(named) == 1:
        link["link_with"] = StringAttr(named[0])
    elif named:
        link["link_files"] = ArrayAttr(tuple(StringAttr(n) for n in named))
    changes[id(core)] = (core, {**changes[id(core)][1], **link})
    without = [op for op in kept if op.name not in ("func.func", "memref.global", "aie.lock")]
    with _changed(device, without, changes), _emptied([core]):
        script = ir.print_module(module)
    names = tuple(
        (op.symbol, changed.value)
        for op, attributes in changes.values()
        if op.name == "aie.buffer"
        and op.symbol
        and isinstance(changed := attributes["sym_name"], StringAttr)
        and changed.value != op.symbol
    )
    where = str(core.location) if core.location else ""
    return Core(*place, home, body, script, tuple(objects), tuple(merged), names, where)


def _needed(device: Operation, core: Operation) -> list[Operation]:
    """Everything at the top of the device that a core refers to, and all memory of the tiles it
    uses, in the device's order."""
    symbols = {op.symbol: op for op in device.body.operations if op.symbol}
    inside = {id(op) for op in core.walk()}
    wanted = {id(core): core}
    todo = [core]
    while todo:
        for op in todo.pop().walk():
            for found in _referred(op, symbols):
                top = _top(found, device)
                if top is not None and id(top) not in wanted and id(top) not in inside:
                    wanted[id(top)] = top
                    todo.append(top)
    tiles = {id(op) for op in wanted.values() if op.name == "aie.tile"}
    return [
        op
        for op in device.body.operations
        if id(op) in wanted
        or op.name == "aie.end"
        or (op.name == "aie.buffer" and id(ir.defining_op(op.operands[0])) in tiles)
    ]


def _referred(op: Operation, symbols: Mapping[str, Operation]) -> Iterator[Operation]:
    for value in op.operands:
        if isinstance(value, OpResult):
            yield value.owner
    for attribute in op.attributes.values():
        if isinstance(attribute, SymbolRefAttr) and attribute.path[0] in symbols:
            yield symbols[attribute.path[0]]


def _top(op: Operation, device: Operation) -> Operation | None:
    at: Operation | None = op
    while at is not None and at.parent is not device:
        at = at.parent
    return at


_Changes = dict[int, tuple[Operation, dict[str, Attribute]]]


def _canonical(
    kept: Sequence[Operation], place: tuple[int, int], home: tuple[int, int], alone: bool
) -> _Changes:
    """New attributes by which cores that do the same become the same text."""
    changes: _Changes = {}
    number = 0
    renamed: dict[str, str] = {}
    for op in kept:
        attributes = dict(op.attributes)
        if op.name == "aie.tile":
            attributes = {"col": attributes["col"], "row": attributes["row"]}
            if alone:
                column, row = attributes["col"], attributes["row"]
                assert isinstance(column, IntegerAttr)
                assert isinstance(row, IntegerAttr)
                attributes["col"] = IntegerAttr(home[0], column.type)
                attributes["row"] = IntegerAttr(home[1], row.type)
        elif alone and op.name in _MEMORY and op.symbol:
            renamed[op.symbol] = f"iron_{op.name.removeprefix('aie.')}_{number}"
            attributes["sym_name"] = StringAttr(renamed[op.symbol])
            number += 1
        changes[id(op)] = (op, attributes)
    core = next(op for op in kept if op.name == "aie.core")
    for op in core.walk():
        for key, value in op.attributes.items():
            if isinstance(value, SymbolRefAttr) and value.path[0] in renamed:
                path = (renamed[value.path[0]], *value.path[1:])
                changes[id(op)] = (op, {**op.attributes, key: SymbolRefAttr(path)})
    return changes


@contextmanager
def _changed(device: Operation, kept: Sequence[Operation], changes: _Changes) -> Iterator[None]:
    """The device with only the operations in `kept`, and changed attributes, for a while."""
    block = device.body
    all_operations = block.operations
    before = [(op, op.attributes) for op, _ in changes.values()]
    block.operations = list(kept)
    for op, attributes in changes.values():
        op.attributes = attributes
    try:
        yield
    finally:
        for op, attributes in before:
            op.attributes = attributes
        block.operations = all_operations


@contextmanager
def _emptied(cores: Sequence[Operation]) -> Iterator[None]:
    before = [(core, core.regions) for core in cores]
    for core in cores:
        empty(core)
    try:
        yield
    finally:
        for core, regions in before:
            core.regions = regions


def empty(core: Operation) -> None:
    """Leave nothing in a core but its end."""
    block = Block()
    block.append(Operation("aie.end", location=core.location))
    core.regions = []
    core.add_region(Region([block]))
