"""Reads types and attributes. Knows no operation."""

from __future__ import annotations

import struct
from collections.abc import Callable

from . import types as t
from .attributes import (
    UNIT,
    ArrayAttr,
    Attribute,
    BoolAttr,
    DenseArrayAttr,
    DenseElementsAttr,
    DictAttr,
    FloatAttr,
    IntegerAttr,
    OpaqueAttr,
    StringAttr,
    StructAttr,
    SymbolRefAttr,
    TypeAttr,
)
from .cursor import Cursor
from .kinds import named_type
from .lexer import Source
from .types import (
    FloatType,
    FunctionType,
    IntegerType,
    MemRefType,
    ObjectFifoSubviewType,
    ObjectFifoType,
    OpaqueType,
    ShapedType,
    TensorType,
    Type,
    VectorType,
)

Scalar = int | float | bool

_SHAPED: dict[str, Callable[[tuple[int, ...], Type], ShapedType]] = {
    "memref": MemRefType,
    "vector": VectorType,
    "tensor": TensorType,
}
_FIFO: dict[str, Callable[[Type], Type]] = {
    "!aie.objectfifo": ObjectFifoType,
    "!aie.objectfifosubview": ObjectFifoSubviewType,
}
_OPAQUE_TYPES = ("tuple", "complex")
_OPAQUE_ATTRIBUTES = ("affine_map", "affine_set", "strided", "sparse", "dense_resource", "distinct")
_LAYOUTS = ("affine_map", "strided")


class ValueParser(Cursor):
    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.type_aliases: dict[str, Type] = {}
        self.attribute_aliases: dict[str, Attribute] = {}

    # types

    def type(self) -> Type:
        kind, word = self.kinds[self.i], self.texts[self.i]
        if kind == "id":
            found = named_type(word)
            if found is not None:
                self.i += 1
                return found
            if word in _SHAPED:
                return self._shaped(word)
            if word in _OPAQUE_TYPES:
                self.i += 1
                return OpaqueType(word + self.balanced())
        elif kind == "bang":
            return self._dialect_type(word)
        elif kind == "(":
            return self.function_type()
        raise self.error(f"a type is expected, found {self.found()}")

    def _shaped(self, word: str) -> Type:
        start = self.i
        self.i += 1
        self.expect("<")
        if self.kind in ("*", "["):
            self.i -= 1
            return OpaqueType(word + self.balanced())
        shape: tuple[int, ...] = ()
        if self.kind == "dims":
            shape = tuple(t.DYNAMIC if d == "?" else int(d) for d in self.text.split("x")[:-1])
            self.i += 1
        elif self.kind == "int":
            return self._spaced(start)
        element = self.type()
        if self.accept(">"):
            return _SHAPED[word](shape, element)
        if word != "memref":
            self.i = start + 1
            return OpaqueType(word + self.balanced())
        layout: Attribute | None = None
        space: Attribute | None = None
        while self.accept(","):
            value = self.attribute()
            if isinstance(value, OpaqueAttr) and value.text.startswith(_LAYOUTS):
                layout = value
            else:
                space = value
        self.expect(">")
        return MemRefType(shape, element, layout, space)

    def _spaced(self, start: int) -> Type:
        """A shape written with blanks, ``memref<4 x i32>``, read again without them."""
        self.i = start + 1
        text = "".join(self.balanced().split())
        inner = ValueParser(Source(self.texts[start] + text, self.source.file))
        inner.type_aliases = self.type_aliases
        inner.attribute_aliases = self.attribute_aliases
        return inner.type()

    def _dialect_type(self, word: str) -> Type:
        self.i += 1
        if "." not in word and self.kind != "<":
            try:
                return self.type_aliases[word]
            except KeyError:
                self.i -= 1
                raise self.error(f"{word} is no type alias of this text") from None
        make = _FIFO.get(word)
        if make is not None:
            self.expect("<")
            element = self.type()
            self.expect(">")
            return make(element)
        return OpaqueType(word + self.balanced()) if self.kind == "<" else OpaqueType(word)

    def function_type(self) -> FunctionType:
        inputs = tuple(self.items("(", ")", self.type))
        self.expect("->")
        return FunctionType(inputs, self.result_types())

    def result_types(self) -> tuple[Type, ...]:
        """One type, or several in parentheses."""
        return tuple(self.items("(", ")", self.type)) if self.kind == "(" else (self.type(),)

    # attributes

    def attribute(self) -> Attribute:
        kind = self.kinds[self.i]
        reader = _READERS.get(kind)
        if reader is None:
            raise self.error(f"an attribute is expected, found {self.found()}")
        return reader(self)

    def _string(self) -> Attribute:
        return StringAttr(self.string())

    def symbol_reference(self) -> SymbolRefAttr:
        path = [self.symbol_name()]
        while self.kind == "::":
            self.i += 1
            path.append(self.symbol_name())
        return SymbolRefAttr(tuple(path))

    def _array(self) -> Attribute:
        return ArrayAttr(tuple(self.items("[", "]", self.attribute)))

    def _dict(self) -> Attribute:
        return DictAttr(tuple(self.dictionary().items()))

    def dictionary(self) -> dict[str, Attribute]:
        """``{name = value, flag}``."""
        out: dict[str, Attribute] = {}

        def entry() -> None:
            key = self.string() if self.kind == "str" else self.keyword()
            if key in out:
                raise self.error(f"attribute {key!r} is given twice", self.i - 1)
            out[key] = self.attribute() if self.accept("=") else UNIT

        self.items("{", "}", entry)
        return out

    def _number(self) -> Attribute:
        kind, word = self.kinds[self.i], self.texts[self.i]
        self.i += 1
        type: Type | None = None
        if self.texts[self.i] == ":":
            self.i += 1
            type = self.type()
        if kind == "float":
            return FloatAttr(float(word), type or t.F64)
        number = int(word, 0)
        if isinstance(type, FloatType):
            return FloatAttr(_from_bits(number, type) if kind == "hex" else float(word), type)
        return IntegerAttr(number, type or t.I64)

    def _word(self) -> Attribute:
        word = self.texts[self.i]
        if word in ("true", "false"):
            self.i += 1
            if self.accept(":"):
                self.type()
            return BoolAttr(word == "true")
        if word == "unit":
            self.i += 1
            return UNIT
        if word == "dense":
            return self.dense()
        if word == "array":
            return self._dense_array()
        if word in _OPAQUE_ATTRIBUTES:
            self.i += 1
            return OpaqueAttr(word + self.balanced())
        return TypeAttr(self.type())

    def _type(self) -> Attribute:
        return TypeAttr(self.type())

    def _hash(self) -> Attribute:
        from .dialects.records import RECORDS

        word = self.texts[self.i]
        self.i += 1
        if word in self.attribute_aliases:
            return self.attribute_aliases[word]
        if self.kind != "<":
            if "." in word:
                return OpaqueAttr(word)
            raise self.error(f"{word} is no attribute alias of this text", self.i - 1)
        name = word[1:]
        if name in RECORDS:
            return self.record(name)
        start = self.i
        self.i += 1
        inner = f"{name}.{self.text.removesuffix('_array').removesuffix('_array')}"
        if inner in RECORDS and self.kind == "id":
            self.i += 1
            value = self._records(inner)
            self.expect(">")
            return value
        self.i = start
        return OpaqueAttr(word + self.balanced())

    def _records(self, name: str) -> Attribute:
        if self.kind == "[":
            return ArrayAttr(tuple(self.items("[", "]", lambda: self._records(name))))
        return self.record(name)

    def record(self, name: str) -> StructAttr:
        """``<size = 4, stride = 1>``, fields in any order, as a `StructAttr` in the usual one."""
        from .dialects.records import RECORDS

        fields = RECORDS[name]
        if fields == ("",):
            self.expect("<")
            value = self.event()
            self.expect(">")
            return StructAttr(name, (("", value),))
        start = self.i
        got: dict[str, int | bool | Attribute] = {}

        def entry() -> None:
            key = self.keyword()
            if key not in fields:
                raise self.error(f"#{name} has no field {key!r}", self.i - 1)
            self.expect("=")
            got[key] = self.integer()

        self.items("<", ">", entry)
        missing = [f for f in fields if f not in got]
        if missing:
            raise self.error(f"#{name} lacks {', '.join(missing)}", start)
        return StructAttr(name, tuple((f, got[f]) for f in fields))

    def event(self) -> Attribute:
        """A trace event: a string, ``Enum::NAME`` (which is a string too) or a number."""
        if self.kind == "str":
            return StringAttr(self.string())
        if self.kind in ("int", "hex"):
            return IntegerAttr(self.integer(), t.I32)
        word = self.keyword()
        self.expect("::")
        return StringAttr(f"{word}::{self.keyword()}")

    def _dense_array(self) -> Attribute:
        self.i += 1
        self.expect("<")
        element = self.type()
        values: list[Scalar] = []
        if self.accept(":"):
            while self.kind != ">":
                values.append(self._scalar(element))
                if not self.accept(","):
                    break
        self.expect(">")
        return DenseArrayAttr(element, tuple(values))

    def dense(self, type: ShapedType | None = None) -> DenseElementsAttr:
        """``dense<...> : type``, the type left out when it is given."""
        start = self.i
        self.expect("dense")
        first = self.i
        self.balanced()
        if type is None:
            self.expect(":")
            found = self.type()
            if not isinstance(found, ShapedType):
                raise self.error(f"dense elements need a shaped type, not {found}", start)
            type = found
        last, self.i = self.i, first
        self.expect("<")
        values = self._elements(type)
        self.expect(">")
        self.i = max(last, self.i)
        if len(values) not in (1, type.size):
            raise self.error(f"{type} has {type.size} elements, {len(values)} are given", start)
        return DenseElementsAttr(tuple(values), type)

    def _elements(self, type: ShapedType) -> list[Scalar]:
        if self.kind == "str":
            return _from_bytes(self.string(), type.element)
        out: list[Scalar] = []

        def nested() -> None:
            if self.kind == "[":
                self.items("[", "]", nested)
            else:
                out.append(self._scalar(type.element))

        if self.kind != ">":
            nested()
        return out

    def _scalar(self, element: Type) -> Scalar:
        kind, word = self.kinds[self.i], self.texts[self.i]
        if word in ("true", "false"):
            self.i += 1
            return word == "true"
        if kind not in ("int", "hex", "float"):
            raise self.error(f"a number is expected, found {self.found()}")
        self.i += 1
        if not isinstance(element, FloatType):
            number = int(word, 0)
            return bool(number) if element == t.I1 else number
        return _from_bits(int(word, 0), element) if kind == "hex" else float(word)


_READERS: dict[str, Callable[[ValueParser], Attribute]] = {
    "str": ValueParser._string,
    "sym": ValueParser.symbol_reference,
    "[": ValueParser._array,
    "{": ValueParser._dict,
    "int": ValueParser._number,
    "hex": ValueParser._number,
    "float": ValueParser._number,
    "hash": ValueParser._hash,
    "id": ValueParser._word,
    "bang": ValueParser._type,
    "(": ValueParser._type,
}


def _from_bits(bits: int, type: FloatType) -> float:
    """The float whose bit pattern is `bits`."""
    if type.name == "bf16":
        return float(struct.unpack(">f", struct.pack(">I", bits << 16))[0])
    code, size = {"f16": (">e", 2), "f32": (">f", 4), "f64": (">d", 8)}[type.name]
    return float(struct.unpack(code, bits.to_bytes(size, "big"))[0])


def _from_bytes(text: str, element: Type) -> list[Scalar]:
    """The elements in a string of hex digits, little-endian as MLIR writes them."""
    raw = bytes.fromhex(text.removeprefix("0x"))
    if isinstance(element, IntegerType):
        size = max(element.width // 8, 1)
        signed = element.signedness != "u"
        return [
            int.from_bytes(raw[i : i + size], "little", signed=signed)
            for i in range(0, len(raw), size)
        ]
    if isinstance(element, FloatType):
        size = t.bit_width(element) // 8
        return [
            _from_bits(int.from_bytes(raw[i : i + size], "little"), element)
            for i in range(0, len(raw), size)
        ]
    raise ValueError(f"elements of {element} cannot be read from hex digits")
