"""Stand-ins of aie-opt and aie-translate: the shape of their results on small explicit designs,
and their real results where `settings.json` names a folder of recorded ones."""

from __future__ import annotations

import re
import sys

from common import digest, expect, fault, read, refuse, segments, settings, write

from iron import ir
from iron.formats import cdo, insts
from iron.ir.attributes import IntegerAttr, SymbolRefAttr
from iron.ir.types import I32
from iron.toolchain.cores import core_place, cores_of, empty
from iron.toolchain.outline import device_called, device_name, devices, sequence_name
from iron.toolchain.pipelines import GENERATIONS
from iron.toolchain.rewrites import sequence_alone


def generation():
    return GENERATIONS[settings()["generation"]]


def the_device(module: ir.Operation) -> ir.Operation:
    """The one that is whole: the others are there for their names only."""
    found = [d for d in devices(module) if any(o.name == "aie.tile" for o in d.body.operations)]
    return (found or devices(module))[0]


# -- aie-opt ----------------------------------------------------------------------------------


def opt(arguments: list[str]) -> int:
    if arguments == ["--help"]:
        print("OVERVIEW: stand-in\n\nOPTIONS:")
        for name in (*settings()["passes"], "canonicalize"):
            print(f"      --{name}   -   a pass")
        return 0
    pipeline, source, output = expect(arguments, ("--pass-pipeline=",), str, "-o", str)
    text = read(source).decode()
    for kind, pattern in _pipelines().items():
        found = pattern.fullmatch(pipeline)
        if found:
            write("aie-opt", output, _STEPS[kind](text, found.groupdict()))
            return 0
    refuse(f"no such pipeline: {pipeline}")
    return 1


def _pipelines() -> dict[str, re.Pattern[str]]:
    found = {}
    words = generation().truth
    for kind in ("place", "route", "lower_core", "lower_sequence", "transaction"):
        shape = getattr(generation(), kind)
        pattern = re.escape(shape).replace(r"\{\{", r"\{").replace(r"\}\}", r"\}")
        pattern = re.sub(r"\\\{(device|column|row|target|elfs)\\\}", r"(?P<\1>[\\w.]+)", pattern)
        pattern = re.sub(r"\\\{(dynamic|packet)\\\}", "(?:{})".format("|".join(words)), pattern)
        pattern = pattern.replace(r"\{alloc\}", r"(?:\{alloc-scheme=[\w-]+\})?")
        found[kind] = re.compile(pattern)
    return found


def _replay(text: str, before: str, after: str) -> str | None:
    """What the real tool made of the same input, if somebody recorded it."""
    folder = settings().get("replay")
    if not folder:
        return None
    module = _bare(ir.parse(text))
    names = [o.symbol or "sequence" for o in module.walk() if o.name == "aie.runtime_sequence"]
    for path in _recorded(folder, before):
        known = _bare(sequence_alone(ir.parse(path.read_text()), "main", names[0]))
        if ir.equivalent(module, known):
            return (path.parent / after).read_text()
    return None


def _recorded(folder: str, name: str) -> list:
    from pathlib import Path  # only where there is something to replay

    return sorted(Path(folder).glob(f"*/{name}"))


def _bare(module: ir.Operation) -> ir.Operation:
    """Without what our steps take out before the real tool sees it: what cores do."""
    for core in cores_of(the_device(module)):
        empty(core)
        core.attributes.pop("elf_file", None)
    return module


def _same(text: str, before: str, after: str) -> str | None:
    folder = settings().get("replay")
    if not folder:
        return None
    module = ir.parse(text)
    for path in _recorded(folder, before):
        if ir.equivalent(module, ir.parse(path.read_text())):
            return (path.parent / after).read_text()
    return None


def _place(text: str, _: dict[str, str]) -> str:
    known = _same(text, "aie.mlir", "input_with_addresses.mlir")
    if known is not None:
        return known
    module = ir.parse(text)
    ir.verify(module)
    next_free: dict[object, int] = {}
    for op in the_device(module).body.operations:
        if op.name == "aie.buffer" and "address" not in op.attributes:
            at = next_free.get(op.operands[0], 1024)
            op.attributes["address"] = IntegerAttr(at, I32)
            next_free[op.operands[0]] = at + 1024
    return ir.print_module(module)


def _route(text: str, _: dict[str, str]) -> str:
    known = _same(text, "input_with_addresses.mlir", "input_physical.mlir")
    return ir.print_module(ir.parse(text)) if known is None else known


def _lower_core(text: str, at: dict[str, str]) -> str:
    module = ir.parse(text)
    ir.verify(module)
    places = [core_place(c) for c in cores_of(the_device(module))]
    if (int(at["column"]), int(at["row"])) not in places:
        refuse(f"no core at {at}")
    name = f"core_{at['column']}_{at['row']}"
    return f"module {{\n  llvm.func @{name}()\n}}\n// {digest(text.encode()).hex()}\n"


def _lower_sequence(text: str, _: dict[str, str]) -> str:
    known = _replay(text, "input_physical.mlir", "npu_insts.mlir")
    if known is not None:
        return known
    module = ir.parse(text)
    ir.verify(module)
    state = int.from_bytes(digest(ir.print_module(module).encode())[:2], "little")
    for sequence in [op for op in module.walk() if op.name == "aie.runtime_sequence"]:
        loads = [_load(op) for op in sequence.walk() if op.name in _LOADS]
        sequence.body.operations = []
        values = {"address": 119300, "value": state}
        word = ir.IntegerType(32, "u")
        attributes = {k: IntegerAttr(v, word) for k, v in values.items()}
        for op in (*loads, ir.Operation("aiex.npu.write32", attributes=attributes)):
            sequence.body.append(op)
    return ir.print_module(module)


_LOADS = {"aiex.configure": "symbol", "aiex.npu.load_pdi": "device_ref"}


def _load(op: ir.Operation) -> ir.Operation:
    """As the real pass leaves a configuration that is loaded: by the device's name."""
    return ir.Operation(
        "aiex.npu.load_pdi", attributes={"device_ref": op.attributes[_LOADS[op.name]]}
    )


def _transaction(text: str, at: dict[str, str]) -> str:
    for core in cores_of(the_device(ir.parse(text))):
        segments(read(f"{at['elfs']}/{core.attributes['elf_file'].value}"))
    return text


_STEPS = {
    "place": _place, "route": _route, "lower_core": _lower_core,
    "lower_sequence": _lower_sequence, "transaction": _transaction,
}  # fmt: skip


# -- aie-translate ----------------------------------------------------------------------------


def translate(arguments: list[str]) -> int:
    if "--mlir-to-llvmir" in arguments:
        source, output = expect(arguments, "--mlir-to-llvmir", str, "-o", str)
        ll = f"; {digest(read(source)).hex()}\n  %1 = getelementptr inbounds nuw i32, ptr %0, i64 1"
        write("aie-translate", output, f"{ll}\n  %2 = load i32, ptr %1, align 4\n")
    elif "--aie-generate-ldscript" in arguments:
        _script(arguments)
    elif "--aie-generate-cdo" in arguments:
        _cdo(arguments)
    elif "--aie-npu-to-binary" in arguments:
        _instructions(arguments)
    else:
        refuse(f"unknown translation: {arguments}")
    return 0


def _script(arguments: list[str]) -> None:
    source, device, column, row, output = expect(
        arguments, str, "--aie-generate-ldscript", "--aie-device-name", str, ("--tilecol=",),
        ("--tilerow=",), "-o", str,
    )  # fmt: skip
    module = ir.parse(read(source).decode())
    ir.verify(module)
    node = _named(module, device)
    (core,) = [c for c in cores_of(node) if core_place(c) == (int(column), int(row))]
    lines = ["SECTIONS", "{"]
    for op in node.body.operations:
        if op.name == "aie.buffer":
            at = 0x70000 + op.attributes["address"].value
            lines += [f". = 0x{at:x};", f"{op.symbol} = .;"]
    lines.append("}")
    links = core.attributes.get("link_files")
    names = [a.value for a in links.values] if links else []
    single = core.attributes.get("link_with")
    names += [single.value] if single else []
    lines += [f"INPUT({name})" for name in names]
    lines.append(f"PROVIDE(main = core_{column}_{row});")
    write("aie-translate", output, "\n".join(lines) + "\n")


def _named(module: ir.Operation, device: str) -> ir.Operation:
    if device not in map(device_name, devices(module)):
        refuse(f"no device {device}")
    return device_called(module, device)


def _cdo(arguments: list[str]) -> None:
    device, folder, source = expect(
        arguments, "--aie-generate-cdo", ("--aie-device-name=",), ("--work-dir-path=",), str
    )
    module = ir.parse(read(source).decode())
    ir.verify(module)
    node = _named(module, device)
    if any(op.name == "aie.runtime_sequence" for op in node.body.operations):
        print("a runtime sequence in the overlay", file=sys.stderr)
    loads = []
    for core in cores_of(node):
        column, row = core_place(core)
        for address, data in segments(read(f"{folder}/{core.attributes['elf_file'].value}")):
            base = column << 25 | row << 20 | (0x20000 if address < 0x70000 else 0)
            words = [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]
            fields = {"high": 0, "low": base + address % 0x10000}
            loads.append(cdo.Command("dma_write", fields, tuple(words)))
    rest = [op for op in node.body.operations if op.name != "aie.core"]
    state = int.from_bytes(digest("".join(o.name for o in rest).encode())[:4], "little")
    init = [cdo.Command("write", {"address": 0x1D000, "value": state})]
    enable = [cdo.Command("mask_write", {"address": 0x32000, "mask": 1, "value": 1})]
    how = fault("cdo")
    for part, commands in (("elfs", loads), ("init", init), ("enable", enable)):
        if how != f"no {part}":
            write("aie-translate", f"{folder}/{device}_aie_cdo_{part}.bin", cdo.write(commands))


def _instructions(arguments: list[str]) -> None:
    full = "--aie-npu-fold-ddr-addr-offset=false" in arguments
    if full and generation().name != "2026-08":
        refuse("Unknown command line argument '--aie-npu-fold-ddr-addr-offset=false'")
    device, sequence, source, output = expect(
        [a for a in arguments if not a.startswith("--aie-npu-fold")],
        "--aie-npu-to-binary", "--aie-output-binary", ("--aie-device-name=",),
        ("--aie-sequence-name=",), str, "-o", str,
    )  # fmt: skip
    text = read(source).decode()
    module = ir.parse(text)
    node = _named(module, device)
    chosen = [
        op
        for op in node.body.operations
        if op.name == "aie.runtime_sequence" and sequence_name(op) == sequence
    ]
    if len(chosen) != 1:
        refuse(f"no sequence {sequence}")
    write("aie-translate", output, insts.write(_header(node), _operations(chosen[0], module)))


def _header(node: ir.Operation) -> insts.Header:
    from iron.ir.devices import device_of

    shape = device_of(node)
    return insts.Header(0, 1, 3 if shape.generation == 2 else 4, 6, shape.columns, 1)


def _operations(sequence: ir.Operation, module: ir.Operation) -> list[insts.Instruction]:
    """As the real tool encodes what is left in a lowered sequence."""
    constants = {op.symbol: op for op in module.walk() if op.name == "memref.global"}
    found = []
    for op in sequence.body.operations:
        kind = op.name.removeprefix("aiex.npu.")
        numbers = {
            k: v.value % 2**32 for k, v in op.attributes.items() if isinstance(v, IntegerAttr)
        }
        if kind in ("write32", "maskwrite32", "blockwrite") and "column" in numbers:
            numbers["address"] += numbers.pop("column") << 25 | numbers.pop("row") << 20
        if kind == "address_patch":
            numbers = {
                "address": numbers["addr"],
                "argument": numbers["arg_idx"],
                "offset": numbers["arg_plus"],
            }
        if kind == "blockwrite":
            name = ir.defining_op(op.operands[0]).attributes["name"]
            assert isinstance(name, SymbolRefAttr)
            values = constants[name.path[-1]].attributes["initial_value"].values
            words = tuple(int(v) % 2**32 for v in values)
            found.append(insts.Instruction(kind, numbers, words))
        elif kind == "load_pdi":
            words = {k: numbers.get(k, 0) for k in ("id", "size", "address")}
            found.append(insts.Instruction(kind, words))
        elif op.name.startswith("aiex.npu."):
            found.append(insts.Instruction(kind, numbers))
    return found
