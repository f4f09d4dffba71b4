"""Checks of symbols before a link, so that a clash or a gap is told in the user's own terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iron.build import Recipe, Session
from iron.formats.elf import FormatError, Symbol, symbols
from iron.ir.attributes import StringAttr

if TYPE_CHECKING:
    from iron.host import HostDesign
    from iron.ir import Operation

    from .objects import ObjectSpec


ARCHIVE, ELF = b"!<arch>\n", b"\x7fELF"


class SymbolError(Exception):
    """Objects that cannot be linked together on one core, or lack a function."""


@dataclass(frozen=True)
class _Object:
    """One thing a core links: how to speak of it, and its symbols."""

    name: str
    description: str
    table: list[Symbol]

    @property
    def strong(self) -> set[str]:
        return {s.name for s in self.table if s.strong}

    @property
    def defined(self) -> set[str]:
        return {s.name for s in self.table if s.defined}


def check_symbols(
    session: Session,
    module: Operation,
    design: HostDesign,
    objects: Mapping[str, ObjectSpec | str],
    made: Mapping[str, Recipe | str],
) -> None:
    """Of a design for the host: as `check_linked`; SymbolError as well when the text wants an
    object that nothing makes."""
    wanted = functions_by_object(module)
    used = sorted({name for image in design.images for name in image.objects})
    absent = [name for name in used if name not in objects]
    if absent:
        raise SymbolError(
            f"nothing makes {', '.join(absent)}, which function(s) "
            f"{', '.join(sorted(wanted.get(absent[0], set())))} are to be linked with; "
            "declare an ExternalFunction for it, or give the file in object_files"
        )
    linked = [(image.objects, ", ".join(image.cores)) for image in design.images]
    check_linked(session, wanted, linked, objects, made)


def check_linked(
    session: Session,
    wanted: Mapping[str, set[str]],
    linked: Iterable[tuple[Sequence[str], str]],
    objects: Mapping[str, ObjectSpec | str],
    made: Mapping[str, Recipe | str],
) -> None:
    """Build the objects and look into them.

    `wanted` are the functions that each object is to define; `linked` says which objects are
    linked together, and on which cores (for people). SymbolError when an object lacks a function,
    or when two of one link define one symbol. What is no ELF file (bitcode) is not looked into.
    """
    together = [(tuple(names), where) for names, where in linked]
    used = sorted({name for names, _ in together for name in names if name in made})
    recipes = [r for n in used if isinstance(r := made[n], Recipe)]
    built = dict(zip(map(id, recipes), session.build(*recipes), strict=True))
    read = {}
    for name in used:
        given, recipe = objects[name], made[name]
        path = recipe if isinstance(recipe, str) else built[id(recipe)].path()
        description = f"{name} ({given})" if isinstance(given, str) else given.describe()
        table = _symbols_of(path)
        if table is not None:
            read[name] = _Object(name, description, table)
            _check_defined(read[name], wanted.get(name, set()))
    for names, where in together:
        _check_once([read[n] for n in names if n in read], where)


def functions_by_object(module: Operation) -> dict[str, set[str]]:
    """The functions declared to be in each object, by its ``link_with`` name."""
    found: dict[str, set[str]] = {}
    for op in module.walk():
        link = op.attributes.get("link_with")
        if op.name == "func.func" and isinstance(link, StringAttr) and op.symbol:
            found.setdefault(link.value, set()).add(op.symbol)
    return found


def _symbols_of(path: str) -> list[Symbol] | None:
    """None for what is no object or archive, or a damaged one: the linker says what is wrong."""
    with open(path, "rb") as f:
        raw = f.read()
    try:
        return _table_of(raw, path)
    except FormatError:
        return None


def _table_of(raw: bytes, path: str) -> list[Symbol]:
    if not raw.startswith(ARCHIVE):
        return symbols(raw, path)
    found = []
    for name, member in archive_members(raw):
        found += [
            # An archive's member is only linked where it is needed: it clashes with nothing.
            Symbol(s.name, 2 if s.strong else s.binding, s.section, s.size)
            for s in symbols(member, f"{path}({name})")
        ]
    return found


def archive_members(raw: bytes) -> Iterable[tuple[str, bytes]]:
    """Names and contents of the object files in a ``!<arch>`` archive (System V and GNU form)."""
    at = 8
    while at + 60 <= len(raw):
        name = raw[at : at + 16].decode("ascii", "replace").rstrip()
        if raw[at + 58 : at + 60] != b"`\n":
            raise FormatError("the archive is damaged: a member header does not end as it must")
        size = int(raw[at + 48 : at + 58])
        content = raw[at + 60 : at + 60 + size]
        if content.startswith(ELF):
            yield name.rstrip("/"), content
        at += 60 + size + size % 2


def _check_defined(obj: _Object, functions: set[str]) -> None:
    missing = sorted(functions - obj.defined)
    if not missing:
        return
    mangled = sorted(s for s in obj.defined if s[:2] == "_Z" and any(m in s for m in missing))
    have = sorted(s for s in obj.defined if not s.startswith("_Z"))
    hint = (
        f'; it defines {", ".join(mangled)}: declare the function extern "C"'
        if mangled
        else f"; it defines {', '.join(have[:20]) or 'no C function'}"
    )
    raise SymbolError(f"{obj.description} does not define {', '.join(missing)}{hint}")


def _check_once(linked: list[_Object], where: str) -> None:
    owner: dict[str, _Object] = {}
    for obj in linked:
        for symbol in sorted(obj.strong):
            first = owner.setdefault(symbol, obj)
            if first is not obj:
                raise SymbolError(
                    f"{symbol} is defined twice on core(s) {where}: by "
                    f"{first.description} and by {obj.description}. Two objects with one symbol "
                    "cannot be linked on one core: use the same flags and include directories for "
                    "both functions, so that they share one object, or give one of them a "
                    "symbol_prefix, which renames its symbols to prefix_name"
                )
