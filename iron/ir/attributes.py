"""MLIR attributes as immutable values, printed in MLIR's own spelling (generic form).

Keyword enums of the AIE dialects are `IntegerAttr` here, as in MLIR's generic form; the words
belong to the assembly formats (`iron.ir.dialects`).
"""

from __future__ import annotations

import re

from ..frozen import frozen
from .types import F64, I64, ShapedType, Type


@frozen
class Attribute:
    """Any MLIR attribute; ``str()`` gives its text."""


@frozen
class UnitAttr(Attribute):
    def __str__(self) -> str:
        return "unit"


@frozen
class BoolAttr(Attribute):
    value: bool

    def __str__(self) -> str:
        return "true" if self.value else "false"


@frozen
class IntegerAttr(Attribute):
    """``5 : i32``. The type is left out in print when it is i64, as MLIR does."""

    value: int
    type: Type = I64

    def __str__(self) -> str:
        return str(self.value) if self.type == I64 else f"{self.value} : {self.type}"


@frozen
class FloatAttr(Attribute):
    value: float
    type: Type = F64

    def __str__(self) -> str:
        return f"{float_text(self.value, self.type)} : {self.type}"


@frozen
class StringAttr(Attribute):
    value: str

    def __str__(self) -> str:
        return quoted(self.value)


@frozen
class ArrayAttr(Attribute):
    values: tuple[Attribute, ...]

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self.values))}]"


@frozen
class DictAttr(Attribute):
    entries: tuple[tuple[str, Attribute], ...]

    def __str__(self) -> str:
        return "{" + ", ".join(entry_text(k, v) for k, v in self.entries) + "}"


@frozen
class SymbolRefAttr(Attribute):
    """``@device::@sequence``: the path of a symbol."""

    path: tuple[str, ...]

    def __str__(self) -> str:
        return "::".join(symbol_text(p) for p in self.path)


@frozen
class TypeAttr(Attribute):
    type: Type

    def __str__(self) -> str:
        return str(self.type)


@frozen
class DenseArrayAttr(Attribute):
    """``array<i64: 1, 2>``."""

    element: Type
    values: tuple[int | float | bool, ...]

    def __str__(self) -> str:
        if not self.values:
            return f"array<{self.element}>"
        words = (
            ("true" if v else "false")
            if isinstance(v, bool)
            else str(v)
            if isinstance(v, int)
            else float_text(v, self.element)
            for v in self.values
        )
        return f"array<{self.element}: {', '.join(words)}>"


@frozen
class DenseElementsAttr(Attribute):
    """``dense<...> : type``. `values` holds every element in row-major order;
    one value is a splat."""

    values: tuple[int | float | bool, ...]
    type: ShapedType

    @property
    def is_splat(self) -> bool:
        return len(self.values) == 1

    def __str__(self) -> str:
        return f"{self.body()} : {self.type}"

    def body(self) -> str:
        """``dense<[[1, 2], [3, 4]]>`` without the type."""

        def word(v: int | float | bool) -> str:
            if isinstance(v, bool):
                return "true" if v else "false"
            return str(v) if isinstance(v, int) else float_text(v, self.type.element)

        words = [word(v) for v in self.values]
        if not self.values:
            return "dense<>"
        if self.is_splat:
            return f"dense<{words[0]}>"
        for extent in reversed(self.type.shape):
            words = [f"[{', '.join(words[i : i + extent])}]" for i in range(0, len(words), extent)]
        return f"dense<{words[0]}>"


@frozen
class StructAttr(Attribute):
    """``#aie.bd_dim_layout<size = 4, stride = 1>``: a dialect's record, fields in order.

    `name` is dialect-qualified without the hash. A field without a name prints its value only.
    """

    name: str
    fields: tuple[tuple[str, int | bool | Attribute], ...]

    def __getitem__(self, field: str) -> int | bool | Attribute:
        return dict(self.fields)[field]

    def __str__(self) -> str:
        return f"#{self.name}{self.body()}"

    def body(self) -> str:
        """``<size = 4, stride = 1>`` without the name."""
        words = (
            f"{k} = {('true' if v else 'false') if isinstance(v, bool) else v}"
            if k
            else event_text(v)
            for k, v in self.fields
        )
        return f"<{', '.join(words)}>"


@frozen
class OpaqueAttr(Attribute):
    """An attribute this project gives no meaning to, kept as written: ``affine_map<...>``."""

    text: str

    def __str__(self) -> str:
        return self.text


UNIT = UnitAttr()

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*\Z")
_SYMBOL = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_$.-]*|[0-9]+)\Z")


def quoted(text: str) -> str:
    """A string literal: printable ASCII as is, every other byte as two hex digits."""
    out = []
    for b in text.encode("utf-8", "surrogateescape"):
        c = chr(b)
        out.append(c if 32 <= b < 127 and c not in '"\\' else f"\\{b:02X}")
    return '"' + "".join(out) + '"'


def event_text(value: int | bool | Attribute) -> str:
    """A trace event: ``Enum::NAME`` bare, any other string quoted."""
    bare = isinstance(value, StringAttr) and "::" in value.value
    return value.value if bare and isinstance(value, StringAttr) else str(value)


def symbol_text(name: str) -> str:
    return f"@{name}" if _SYMBOL.match(name) else f"@{quoted(name)}"


def key_text(name: str) -> str:
    return name if _BARE.match(name) else quoted(name)


def entry_text(name: str, value: Attribute) -> str:
    """``name = value``, or the bare name of a unit attribute; an i64 with its type, as MLIR."""
    if isinstance(value, UnitAttr):
        return key_text(name)
    if isinstance(value, IntegerAttr) and value.type == I64:
        return f"{key_text(name)} = {value.value} : i64"
    return f"{key_text(name)} = {value}"


def float_text(value: float, type: Type) -> str:
    """A float literal that reads back to the same value; inf and nan as hex bits."""
    import math
    import struct

    if math.isinf(value) or math.isnan(value):
        name = str(type)
        if name == "f64":
            return "0x" + struct.pack(">d", value).hex().upper()
        if name == "f16":
            return "0x" + struct.pack(">e", value).hex().upper()
        bits = struct.pack(">f", value).hex().upper()
        return "0x" + (bits[:4] if name == "bf16" else bits)
    text = repr(float(value))
    mantissa, e, exponent = text.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return mantissa + (f"e{exponent}" if e else "")
