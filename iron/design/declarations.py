"""The external functions of one design, and the names of the objects they come from.

A symbol is declared once. Objects are named when all are known: an explicit name wins, then the
source's stem, then the first function by name; so names depend on what a design uses, never on the
order of declaration, on a hash or on a directory.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..ir.attributes import StringAttr
from ..ir.core import Operation
from .context import DesignContext
from .kernel import BaseKernel
from .objects import CompileSpec, ObjectSpec, SourceFile, SourceText


@dataclass
class Functions:
    """Declarations by symbol, in the order they were met."""

    declared: dict[str, BaseKernel] = field(default_factory=dict)
    operations: dict[str, Operation] = field(default_factory=dict)

    def declare(self, context: DesignContext, kernel: BaseKernel) -> None:
        """Take a function into the design; ValueError when its symbol means another already."""
        known = self.declared.get(kernel.name)
        if known is None:
            context.define(kernel.name, f"the function {kernel.name!r}", kernel.where)
            self.declared[kernel.name] = kernel
            self.operations[kernel.name] = kernel.definition(context)
            return
        if known is kernel:
            return
        if known.types != kernel.types or not _same_object(known, kernel):
            raise ValueError(_two_meanings(known, kernel))

    def link(self) -> dict[str, ObjectSpec]:
        """Give every declaration its ``link_with``; what must be built, by that name."""
        groups: dict[ObjectSpec, list[BaseKernel]] = {}
        for kernel in self.declared.values():
            if kernel.object_spec is not None:
                groups.setdefault(kernel.object_spec, []).append(kernel)
        names = _object_names(groups, self.declared.values())
        for kernel in self.declared.values():
            spec = kernel.object_spec
            name = names[spec] if spec is not None else kernel.link_with
            if name is None:
                continue
            attributes = self.operations[kernel.name].attributes
            attributes["link_with"] = StringAttr(name)
            if kernel.merged:
                attributes["link_with_mode"] = StringAttr("merge")
        return {
            names[spec]: dataclasses.replace(
                spec,
                members=_named_members(spec, kernels),
                functions=tuple(sorted(k.name for k in kernels)),
                where=tuple(str(k.where) for k in sorted(kernels, key=lambda k: k.name)),
            )
            for spec, kernels in groups.items()
        }


def _same_object(a: BaseKernel, b: BaseKernel) -> bool:
    if a.kind == "func" or b.kind == "func":
        return a.identity() == b.identity()
    if a.object_spec is not None or b.object_spec is not None:
        return a.object_spec == b.object_spec
    return a.link_with == b.link_with and a.merged == b.merged


def _two_meanings(first: BaseKernel, second: BaseKernel) -> str:
    lines = [f"the function {second.name!r} is declared twice in one design:"]
    for kernel in sorted((first, second), key=lambda k: k.serial):
        source = kernel.object_spec or f"the object {kernel.link_with!r}"
        types = ", ".join(map(str, kernel.types))
        lines.append(f"  {kernel.where}: {kernel.name}({types}) from {source}")
    if first.types == second.types:
        lines.append(
            "a core can link only one of them under that name: give one a symbol_prefix=, or the "
            "same source, flags and include directories"
        )
    else:
        lines.append("declare it once, with one list of arg_types, or give one a symbol_prefix=")
    return "\n".join(lines)


def _object_names(
    groups: dict[ObjectSpec, list[BaseKernel]], kernels: Iterable[BaseKernel]
) -> dict[ObjectSpec, str]:
    names: dict[ObjectSpec, str] = {}
    explicit = _explicit_names(list(kernels))
    for name, given in explicit.items():
        if given is not None:
            names.setdefault(given, name)
    taken = set(explicit)
    rest = [s for s in groups if s not in names]
    wishes = {s: _stem(s, groups[s]) for s in rest}
    for spec in sorted(rest, key=lambda s: (wishes[s], sorted(k.name for k in groups[s]))):
        suffix = ".a" if spec.archive else ".ll" if spec.merge else ".o"
        stem, n = wishes[spec], 1
        name = f"{stem}{suffix}"
        while name in taken:
            n += 1
            name = f"{stem}_{n}{suffix}"
        names[spec] = name
        taken.add(name)
    return names


def _named_members(spec: ObjectSpec, kernels: list[BaseKernel]) -> tuple[CompileSpec, ...]:
    """The members; a lone source string is called after the first function by name."""
    unit = spec.members[0]
    if spec.archive or not isinstance(unit.source, SourceText):
        return spec.members
    prefix = f"{spec.symbol_prefix}_" if spec.symbol_prefix else ""
    name = f"{min(k.name for k in kernels).removeprefix(prefix)}.cc"
    return (dataclasses.replace(unit, source=SourceText(unit.source.text, name)),)


def _stem(spec: ObjectSpec, kernels: list[BaseKernel]) -> str:
    source = spec.members[0].source
    if isinstance(source, SourceFile):
        stem = os.path.splitext(os.path.basename(source.path))[0]
        return f"{spec.symbol_prefix}_{stem}" if spec.symbol_prefix else stem
    return min(k.name for k in kernels)


def _explicit_names(kernels: list[BaseKernel]) -> dict[str, ObjectSpec | None]:
    """The names users gave, and what each stands for (None: a file that exists). ValueError at
    the second declaration when one name stands for two things."""
    first: dict[str, BaseKernel] = {}
    for kernel in sorted(kernels, key=lambda k: k.serial):
        name = kernel.link_with
        if name is None:
            continue
        known = first.setdefault(name, kernel)
        if known.object_spec != kernel.object_spec:
            raise ValueError(
                f"{kernel.where}: the object file name {name!r} of {kernel.name!r} "
                f"({kernel.object_spec or 'an object that exists'}) already names that of "
                f"{known.name!r} at {known.where} "
                f"({known.object_spec or 'an object that exists'}); give one of them another "
                "object_file_name, or leave it out"
            )
    return {name: first[name].object_spec for name in sorted(first)}
