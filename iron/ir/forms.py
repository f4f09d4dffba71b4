"""How an attribute is spelled where its kind is known, so that less need be written.

``DMA`` for ``1 : i32``, ``4`` for ``4 : i32``, ``<size = 4, stride = 1>`` for
``#aie.bd_dim_layout<size = 4, stride = 1>``. Reading and printing side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DenseArrayAttr,
    IntegerAttr,
    StringAttr,
    StructAttr,
    TypeAttr,
    entry_text,
    key_text,
    quoted,
    symbol_text,
)
from .kinds import NAMED, is_enum, is_record

if TYPE_CHECKING:
    from .values import ValueParser


def read(parser: ValueParser, kind: str) -> Attribute:
    """The attribute of this kind at the cursor."""
    if is_enum(kind):
        return _read_enum(parser, kind)
    fixed = NAMED.get(kind)
    if fixed is not None:
        return IntegerAttr(parser.integer(), fixed)
    if kind == "bool":
        return BoolAttr(parser.boolean())
    if kind in ("sym", "symref"):
        return parser.symbol_reference()
    if kind == "name":
        return StringAttr(parser.symbol_name())
    if kind == "type":
        return TypeAttr(parser.type())
    if is_record(kind):
        return parser.attribute() if parser.kind == "hash" else parser.record(kind)
    if kind.endswith("[]") and parser.kind != "hash":
        return ArrayAttr(tuple(parser.items("[", "]", lambda: read(parser, kind[:-2]))))
    if kind.startswith("dense:") and parser.kind == "[":
        return DenseArrayAttr(NAMED[kind[6:]], tuple(parser.items("[", "]", parser.integer)))
    return parser.attribute()


def _read_enum(parser: ValueParser, kind: str) -> IntegerAttr:
    from .dialects.enums import number, number_type

    if parser.kind in ("int", "hex"):
        return IntegerAttr(parser.integer(), number_type(kind))
    word = parser.string() if parser.kind == "str" else parser.keyword()
    found = number(kind, word)
    if found is None:
        from .dialects.enums import members

        parser.step_back()
        raise parser.error(f"{word!r} is no {kind}: one of {', '.join(members(kind).values())}")
    return IntegerAttr(found, number_type(kind))


def text(value: Attribute, kind: str) -> str:
    """The short spelling of `value`; the full one when it is not of this kind."""
    if isinstance(value, IntegerAttr):
        if is_enum(kind):
            from .dialects.enums import members

            word = members(kind).get(value.value)
            if word is not None:
                return word if word.isidentifier() else quoted(word)
        return str(value.value) if kind in NAMED else str(value)
    if isinstance(value, StructAttr) and value.name == kind:
        return value.body()
    if isinstance(value, StringAttr) and kind == "name":
        return symbol_text(value.value)
    if isinstance(value, ArrayAttr) and kind.endswith("[]"):
        return f"[{', '.join(text(v, kind[:-2]) for v in value.values)}]"
    if isinstance(value, DenseArrayAttr) and kind.startswith("dense:"):
        return f"[{', '.join(map(str, value.values))}]"
    return str(value)


def entry(name: str, value: Attribute, kind: str | None) -> str:
    """``name = value`` in a dictionary, where MLIR has a spelling of its own for arrays of
    records."""
    base = kind.rstrip("[]") if kind is not None else ""
    if kind is None or not isinstance(value, ArrayAttr) or not is_record(base):
        return entry_text(name, value)
    dialect, _, word = base.partition(".")
    suffix = "_array" * kind.count("[]")
    return f"{key_text(name)} = #{dialect}<{word}{suffix}{text(value, kind)}>"
