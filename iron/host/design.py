"""From a module to what is built and run: the network's text and the images' C++.

Owns which device and sequence of a module are meant, how cores are grouped into images, and
the frame of an image's source.
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
from .cpp_ops import ctype, literal
from .cpp_sequence import SequenceBody
from .errors import HostError, refuse
from .explicit import lower_device
from .network import Argument, Core, Resources, Sequence, Tile
from .state import Lowering

_AIE1 = ("xcvc1902",)


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

    The only device or sequence is meant when none is named; of several sequences, the one called
    "sequence". HostError says which operation cannot run, where it comes from and why.
    """
    op = choose(module, "aie.device", device, "main")
    if op is None:
        raise HostError("aie.device", module.location, "the module has no device")
    target = device_name(op)
    if target in _AIE1:
        raise refuse(op, f"{target} has binary locks; the host target runs AIE2 and later")
    s = Lowering(op, target)
    lower_device(s)
    found = choose(op, "aie.runtime_sequence", sequence, "sequence")
    found = found or choose(op, "aiex.runtime_sequence", sequence, "sequence")
    if found is None:
        raise refuse(op, "the device has no runtime sequence, so nothing would be moved")
    images = [*_Cores(s, module).images(), sequence_image(s, module, found)]
    assert s.network.sequence is not None
    return HostDesign(s.network.text(), tuple(images), s.network.sequence.arguments)


def choose(parent: Operation, name: str, wanted: str | None, usual: str) -> Operation | None:
    """The operation of a name inside `parent`; None when there is none at all."""
    found = [op for op in parent.body.operations if op.name == name]
    if not found:
        return None
    names = [op.symbol or usual for op in found]
    if wanted is not None:
        if wanted not in names:
            raise refuse(found[0], f"there is none called @{wanted}; there is: {', '.join(names)}")
        return found[names.index(wanted)]
    if len(found) > 1:
        if usual not in names:
            raise refuse(found[0], f"there are several, say which: {', '.join(names)}")
        return found[names.index(usual)]
    return found[0]


def device_name(op: Operation) -> str:
    """``npu1_1col`` and the like."""
    from iron.ir.dialects.enums import AIEDevice

    a = op.attributes.get("device")
    if isinstance(a, IntegerAttr):
        return AIEDevice(a.value).name
    return a.value if isinstance(a, StringAttr) else ""


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


class CoreSequence(SequenceBody):
    def __init__(self, s: Lowering, functions: dict[str, Operation]) -> None:
        super().__init__(s)
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
    def __init__(self, s: Lowering, module: Operation) -> None:
        self.s = s
        self.functions = symbols(module, s.op)
        self.sources: dict[tuple[str, ...], _Source] = {}

    def images(self) -> list[Image]:
        placed = []
        for op in self.s.each("aie.core"):
            tile = self.s.tile(op, r.single(op, "tile"))
            if all(o.name == "aie.end" for b in op.region.blocks for o in b.operations):
                if "elf_file" in op.attributes:
                    raise refuse(
                        op, "its code is only in an ELF file, which runs on the device alone"
                    )
                continue
            placed.append(self.core(op, tile))
        names = {}
        for number, (objects, _) in enumerate(self.sources.items()):
            names[objects] = f"cores{number}"
        for core, objects in placed:
            core.image = names[objects]
            self.s.network.cores.append(core)
        return [
            Image(names[objects], source.text(), objects, tuple(source.cores))
            for objects, source in self.sources.items()
        ]

    def core(self, op: Operation, tile: Tile) -> tuple[Core, tuple[str, ...]]:
        body = CoreBody(self.s, tile, self.functions)
        lines = body.text(op.region)
        declarations, linked = declare(self.s, self.functions, body)
        linked |= linked_by(op)
        objects = tuple(sorted(linked))
        source = self.sources.setdefault(objects, _Source(objects, {}, {}, []))
        source.functions |= declarations
        source.cores.append(str(tile))
        name = source.add("\n".join(lines))
        return Core(tile, "", name, body.uses, r.where(op)), objects


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
def sequence_image(s: Lowering, module: Operation, op: Operation) -> Image:
    functions = symbols(module, s.op)
    body = CoreSequence(s, functions)
    body.bind_arguments(op)
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
    s.network.sequence = Sequence(
        "sequence", name, body.uses, tuple(arguments), tuple(sizes), r.where(op)
    )
    return Image("sequence", source.text(), source.objects, ())


__all__ = ["Argument", "HostDesign", "Image", "Resources", "lower"]
