"""The language assembly formats are written in, and its compiler.

One format string is both how an operation is read and how it is printed. Its words:

=================  ==============================================================
``%x``             the operands `x`
``$x``             the attribute `x`, spelled after its kind (keyword, number ...)
``@x``             the attribute `x`, a symbol's name
``{x}``            the region `x`
``^x``             the successor `x`
``type(x)``        the types of the operands or results `x`
``fn(x; y)``       ``(types of x) -> types of y``; `x` may be ``operands``
``operands``       every operand, then with ``type(operands)``
``attrs``          all other attributes in braces, when there are any
``attributes``     the same after the keyword ``attributes``
``[? ... ?]``      present when its first operand, attribute or region is;
                   after a ``|`` what stands there otherwise
``!room.Name(x)``  a directive of `iron.ir.directives` for what the above cannot say
``_`` and ``&``    print a blank here, print none here
=================  ==============================================================

Everything else stands for itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from . import elements as e

if TYPE_CHECKING:
    from .core import Operation
    from .definition import OpDefinition
    from .parser import Draft, Parser
    from .printer import Printer


class Element(Protocol):
    """One piece of a format, able to read and to print itself."""

    def parse(self, parser: Parser, draft: Draft) -> None: ...

    def print(self, printer: Printer, op: Operation) -> None: ...

    def present(self, op: Operation) -> bool:
        """Whether an optional group that starts with this element is printed."""
        ...

    def ahead(self, parser: Parser) -> bool:
        """Whether the next token starts this element."""
        ...

    def names(self) -> tuple[str, ...]:
        """The attributes this element spells, which ``attrs`` then leaves out."""
        ...


_WORD = re.compile(
    r"\s*(?:(?P<open>\[\?)|(?P<close>\?\])|(?P<other>\|)"
    r"|(?P<mark>[%$@^])(?P<name>\w+)|\{(?P<region>\w+)\}"
    r"|!(?P<directive>\w+\.\w+)\((?P<arguments>[^)]*)\)"
    r"|type\((?P<type>\w+)\)|fn\((?P<from>\w+); *(?P<to>\w+)\)"
    r"|(?P<word>[A-Za-z][\w.]*|_|&|->|::|[^\s\w]))"
)


def compile_format(definition: OpDefinition) -> tuple[Element, ...]:
    """The elements of a definition's format; ValueError when the format is malformed."""
    text = definition.format or ""
    matches = list(_WORD.finditer(text))
    if "".join(m.group() for m in matches) != text.rstrip():
        raise ValueError(f"{definition.name}: {text!r} is no assembly format")
    spelled: list[str] = []
    elements, rest = _sequence(definition, matches, 0, spelled)
    if rest != len(matches):
        raise ValueError(f"{definition.name}: a group is closed that was not opened")
    hidden = frozenset(spelled)
    every = _flat(elements)
    leaving = tuple(x for x in every if isinstance(x, e.Leaving))
    for element in every:
        if isinstance(element, e.AttrDict):
            element.hidden = hidden
            element.leaving = leaving
    return tuple(elements)


def _flat(elements: list[Element]) -> list[Element]:
    out: list[Element] = []
    for element in elements:
        out.append(element)
        if isinstance(element, e.Group):
            out += _flat([*element.then, *element.otherwise])
    return out


def _sequence(
    definition: OpDefinition, matches: list[re.Match[str]], i: int, spelled: list[str]
) -> tuple[list[Element], int]:
    out: list[Element] = []
    while i < len(matches):
        m = matches[i]
        if m["close"] or m["other"]:
            break
        i += 1
        if m["open"]:
            then, i = _sequence(definition, matches, i, spelled)
            otherwise: list[Element] = []
            if i < len(matches) and matches[i]["other"]:
                otherwise, i = _sequence(definition, matches, i + 1, spelled)
            if i >= len(matches) or not matches[i]["close"]:
                raise ValueError(f"{definition.name}: a group is not closed")
            i += 1
            out.append(e.Group(tuple(then), tuple(otherwise)))
            continue
        element = _one(definition, m)
        spelled += element.names()
        out.append(element)
    return out, i


def _one(definition: OpDefinition, m: re.Match[str]) -> Element:
    if m["mark"]:
        return _named(definition, m["mark"], m["name"])
    if m["region"]:
        index = [p.name for p in definition.regions].index(m["region"])
        return e.RegionElement(index, definition)
    if m["directive"]:
        from .directives import directive

        arguments = [a.strip() for a in m["arguments"].split(",") if a.strip()]
        return directive(m["directive"], definition, arguments)
    if m["type"]:
        return e.Types(
            m["type"], _is_many(definition, m["type"]), _is_operand(definition, m["type"])
        )
    if m["from"]:
        return e.Functional(m["from"], m["to"])
    word: str = m["word"]
    if word in ("attrs", "attributes"):
        return e.AttrDict(definition, word == "attributes")
    if word == "operands":
        return e.AllOperands()
    return e.Blank(word == "_") if word in ("_", "&") else e.Literal(word)


def _named(definition: OpDefinition, mark: str, name: str) -> Element:
    if mark == "%":
        part = next(p for p in definition.operands if p.name == name)
        return e.Operands(name, part.arity)
    if mark == "^":
        return e.Successor([p.name for p in definition.successors].index(name))
    part = definition.attributes[name]
    return e.SymbolName(name) if mark == "@" else e.AttributeElement(name, part.kind)


def _is_operand(definition: OpDefinition, name: str) -> bool:
    return name == "operands" or any(p.name == name for p in definition.operands)


def _is_many(definition: OpDefinition, name: str) -> bool:
    parts = (*definition.operands, *definition.results)
    return name == "operands" or any(p.name == name and p.arity == "*" for p in parts)
