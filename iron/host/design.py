"""From a module to what is built and run: the network's text and the images' C++.

Owns how cores are grouped into images and the frame of an image's source.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from iron.ir.attributes import ArrayAttr, DenseElementsAttr, IntegerAttr, StringAttr, TypeAttr
from iron.ir.core import Operation
from iron.ir.types import DYNAMIC, FunctionType, MemRefType

from . import reading as r
from .cpp import declared
from .cpp_body import Body
from .cpp_control import ControlBody
from .cpp_ops import ctype, literal
from .devices import Devices, choose_device, choose_sequence
from .errors import refuse
from .network import Argument, Core, Resources, Sequence, Tile, table
from .state import Lowering


@dataclass(frozen=True)
class Image:
    """One shared object, ``<name>.so``: bodies of some cores and the objects linked with them."""

    name: str
    source: str
    objects: tuple[str, ...]
    cores: tuple[str, ...]


@dataclass(frozen=True)
class HostDesign:
    network: str
    images: tuple[Image, ...]
    arguments: tuple[Argument, ...]


def lower(
    module: Operation, *, device: str | None = None, sequence: str | None = None
) -> HostDesign:
    """What the host target builds for one device and one runtime sequence of a module.

    The only device or sequence is meant when none is named; of several, the device called "main"
    or the only one with a sequence, and the sequence called "sequence". Other devices are taken
    in when the sequence loads them. HostError says which operation cannot run, where it comes
    from and why.
    """
    op = choose_device(module, device)
    found = choose_sequence(op, sequence)
    devices = Devices(module, op, len(found.body.arguments))
    last, table_end = sequence_image(devices, module, found)
    cores = _Cores(module)
    for s in devices.lowered:
        cores.add(s)
    networks = devices.networks()
    return HostDesign(table(networks, table_end), (*cores.images(), last), table_end.arguments)


# ---- functions of the module
def symbols(*scopes: Operation) -> dict[str, Operation]:
    """Functions and globals by name; those of an inner scope win."""
    found: dict[str, Operation] = {}
    for scope in scopes:
        for op in scope.body.operations:
            if op.name in ("func.func", "memref.global") and op.symbol:
                found[op.symbol] = op
    return found


def has_body(function: Operation) -> bool:
    return bool(function.regions) and any(b.operations for b in function.regions[0].blocks)


class CoreBody(Body):
    """A body whose calls know which functions are defined in the module."""

    def __init__(self, s: Lowering, tile: Tile | None, functions: dict[str, Operation]) -> None:
        super().__init__(s, tile)
        self.functions = functions

    def callee(self, op: Operation, name: str) -> str:
        function = self.functions.get(name)
        return f"f_{name}" if function is not None and has_body(function) else f"k_{name}"


class CoreSequence(ControlBody):
    def __init__(self, devices: Devices, functions: dict[str, Operation]) -> None:
        super().__init__(devices)
        self.functions = functions

    callee = CoreBody.callee


@dataclass
class _Source:
    """One image being written."""

    objects: tuple[str, ...]
    bodies: dict[str, str]  # text -> name
    functions: dict[str, str]  # name -> declaration or definition
    cores: list[str]

    def add(self, text: str) -> str:
        """The name of a body's function; equal bodies are one function."""
        return self.bodies.setdefault(text, f"body_{len(self.bodies)}")

    def text(self) -> str:
        parts = ['#include "iron_host.h"', "", "IRON_IMAGE", ""]
        for name in sorted(self.functions):
            parts += [self.functions[name], ""]
        for text, name in self.bodies.items():
            parts += [f'extern "C" void {name}(iron::Context &c) {{', "  (void)c;"]
            parts += [*text.splitlines(), "}", ""]
        return "\n".join(parts)


class _Cores:
    """The cores of all devices, sorted into images by the objects they are linked with."""

    def __init__(self, module: Operation) -> None:
        self.module = module
        self.sources: dict[tuple[int, tuple[str, ...]], _Source] = {}

    def images(self) -> list[Image]:
        return [
            Image(f"cores{number}", source.text(), source.objects, tuple(source.cores))
            for number, source in enumerate(self.sources.values())
        ]

    def add(self, s: Lowering) -> None:
        functions = symbols(self.module, s.op)
        for op in s.each("aie.core"):
            tile = s.tile(op, r.single(op, "tile"))
            if all(o.name == "aie.end" for b in op.region.blocks for o in b.operations):
                if "elf_file" in op.attributes:
                    raise refuse(
                        op, "its code is only in an ELF file, which runs on the device alone"
                    )
                continue
            s.network.cores.append(self.core(s, functions, op, tile))

    def core(self, s: Lowering, functions: dict[str, Operation], op: Operation, tile: Tile) -> Core:
        body = CoreBody(s, tile, functions)
        lines = body.core(op)
        declarations, linked = declare(s, functions, body)
        linked |= linked_by(op)
        objects = tuple(sorted(linked))
        key = (id(s), objects)
        source = self.sources.setdefault(key, _Source(objects, {}, {}, []))
        source.functions |= declarations
        source.cores.append(str(tile))
        image = f"cores{list(self.sources).index(key)}"
        return Core(tile, image, source.add("\n".join(lines)), body.uses, r.where(op))


def linked_by(op: Operation) -> set[str]:
    """Objects an operation says are linked with its code."""
    found = set()
    for name in ("link_with", "link_files", "link_merge_files"):
        a = op.attributes.get(name)
        for v in a.values if isinstance(a, ArrayAttr) else (a,):
            if isinstance(v, StringAttr):
                found.add(v.value)
    return found


def declare(
    s: Lowering, functions: dict[str, Operation], body: Body
) -> tuple[dict[str, str], set[str]]:
    """Declarations of what a body calls, definitions of what the module defines, and the objects
    the called functions are in."""
    text: dict[str, str] = {}
    linked: set[str] = set()
    pending = dict(body.called)
    while pending:
        name, call = pending.popitem()
        if name in text:
            continue
        if name.startswith("global "):
            text[name] = global_text(functions, name.removeprefix("global "), call)
            continue
        function = functions.get(name)
        if function is None:
            text[name] = external(
                call,
                name,
                FunctionType(
                    tuple(v.type for v in call.operands), tuple(v.type for v in call.results)
                ),
            )
            continue
        linked |= linked_by(function)
        type = function.attributes.get("function_type")
        if not isinstance(type, TypeAttr) or not isinstance(type.type, FunctionType):
            raise refuse(function, "has no function type")
        if not has_body(function):
            text[name] = external(function, name, type.type)
            continue
        inner = CoreBody(s, body.tile, functions)
        inner.uses = body.uses
        parameters = ["iron::Context &c"]
        for i, a in enumerate(function.region.entry.arguments):
            inner.names[id(a)] = f"p{i}"
            parameters.append(declared(ctype(function, a.type), f"p{i}"))
        lines = inner.text(function.region)
        text[name] = "\n".join(
            [
                f"static {result_type(function, type.type)} f_{name}({', '.join(parameters)}) {{",
                "  (void)c;",
                *lines,
                "}",
            ]
        )
        pending |= {c: op for c, op in inner.called.items() if c not in text}
    return text, linked


def result_type(op: Operation, type: FunctionType) -> str:
    if len(type.results) > 1:
        raise refuse(op, "a function with several results cannot be called")
    return ctype(op, type.results[0]) if type.results else "void"


def external(op: Operation, name: str, type: FunctionType) -> str:
    parameters = ", ".join(ctype(op, t).rstrip() for t in type.inputs)
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise refuse(op, f"{name!r} is no name of a C function")
    return f'extern "C" {result_type(op, type)} k_{name}({parameters}) IRON_SYMBOL("{name}");'


def global_text(functions: dict[str, Operation], name: str, op: Operation) -> str:
    found = functions.get(name)
    if found is None or found.name != "memref.global":
        raise refuse(op, f"there is no memref.global @{name}")
    a = found.attributes.get("type")
    if not isinstance(a, TypeAttr) or not isinstance(a.type, MemRefType):
        raise refuse(found, "has no memref type")
    type = a.type
    element = ctype(found, type.element)
    value = found.attributes.get("initial_value")
    words: list[str] = []
    if isinstance(value, DenseElementsAttr):
        from iron.ir.attributes import FloatAttr
        from iron.ir.types import FloatType

        values = value.values * type.size if value.is_splat else value.values
        is_float = isinstance(type.element, FloatType)
        words = [
            literal(
                found,
                FloatAttr(float(v)) if is_float else IntegerAttr(int(v)),
                type.element,
            )
            for v in values
        ]
    return f"static {element} g_{name}[{max(1, type.size)}] = {{{', '.join(words)}}};"


# ---- the runtime sequence
def sequence_image(devices: Devices, module: Operation, op: Operation) -> tuple[Image, Sequence]:
    s = devices.first
    functions = symbols(module, s.op)
    body = CoreSequence(devices, functions)
    body.bind_arguments(op)
    body.sync_at_start(op)
    lines = body.text(op.region)
    declarations, linked = declare(s, functions, body)
    source = _Source(tuple(sorted(linked)), {}, declarations, [])
    name = source.add("\n".join(lines))
    arguments, sizes = [], []
    for i, a in enumerate(op.body.arguments):
        if isinstance(a.type, MemRefType):
            known = all(d != DYNAMIC for d in a.type.shape)
            arguments.append(Argument(f"arg{i}", str(a.type.element), a.type.shape))
            sizes.append(r.size_in_bytes(op, a.type) if known else -1)
        else:
            arguments.append(Argument(f"arg{i}", str(a.type), (), scalar=True))
            sizes.append(0)
    arguments += devices.extra
    sizes += devices.extra_bytes
    end = Sequence("sequence", name, body.uses, tuple(arguments), tuple(sizes), r.where(op))
    return Image("sequence", source.text(), source.objects, ()), end


__all__ = ["Argument", "HostDesign", "Image", "Resources", "lower"]
