"""MLIR types as immutable values: equal by structure, printed in MLIR's own spelling.

Owns the builtin types and the two types of the AIE dialect. Knows nothing of operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frozen import frozen

if TYPE_CHECKING:
    from .attributes import Attribute

DYNAMIC = -1
"""A dimension written ``?``."""


@frozen
class Type:
    """Any MLIR type; ``str()`` gives its text."""


@frozen
class IntegerType(Type):
    """``i32``, ``si8`` or ``ui8``; signedness is ``""``, ``"s"`` or ``"u"``."""

    width: int
    signedness: str = ""

    def __str__(self) -> str:
        return f"{self.signedness}i{self.width}"


@frozen
class IndexType(Type):
    def __str__(self) -> str:
        return "index"


@frozen
class FloatType(Type):
    """``f16``, ``bf16``, ``f32``, ``f64`` (or a narrower format by its MLIR name)."""

    name: str

    def __str__(self) -> str:
        return self.name


@frozen
class NoneType(Type):
    def __str__(self) -> str:
        return "none"


@frozen
class FunctionType(Type):
    inputs: tuple[Type, ...]
    results: tuple[Type, ...]

    def __str__(self) -> str:
        inputs = ", ".join(map(str, self.inputs))
        if len(self.results) == 1 and not isinstance(self.results[0], FunctionType):
            return f"({inputs}) -> {self.results[0]}"
        return f"({inputs}) -> ({', '.join(map(str, self.results))})"


@frozen
class ShapedType(Type):
    """A shape and an element type. Dimensions are counts of elements, or `DYNAMIC`."""

    shape: tuple[int, ...]
    element: Type

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements; ValueError when a dimension is dynamic."""
        n = 1
        for d in self.shape:
            if d == DYNAMIC:
                raise ValueError(f"{self} has a dynamic dimension and so no fixed size")
            n *= d
        return n

    def _dimensions(self) -> str:
        return "".join(f"{'?' if d == DYNAMIC else d}x" for d in self.shape)


@frozen
class MemRefType(ShapedType):
    """``memref<4x8xi32, layout, space>``."""

    layout: Attribute | None = None
    space: Attribute | None = None

    def __str__(self) -> str:
        tail = "".join(f", {a}" for a in (self.layout, self.space) if a is not None)
        return f"memref<{self._dimensions()}{self.element}{tail}>"


@frozen
class VectorType(ShapedType):
    def __str__(self) -> str:
        return f"vector<{self._dimensions()}{self.element}>"


@frozen
class TensorType(ShapedType):
    def __str__(self) -> str:
        return f"tensor<{self._dimensions()}{self.element}>"


@frozen
class ObjectFifoType(Type):
    """``!aie.objectfifo<memref<...>>``: the objects an ObjectFifo carries."""

    element: Type

    def __str__(self) -> str:
        return f"!aie.objectfifo<{self.element}>"


@frozen
class ObjectFifoSubviewType(Type):
    """``!aie.objectfifosubview<memref<...>>``: the objects an acquire holds."""

    element: Type

    def __str__(self) -> str:
        return f"!aie.objectfifosubview<{self.element}>"


@frozen
class OpaqueType(Type):
    """A dialect type this project gives no meaning to, kept as written: ``!llvm.ptr``."""

    text: str

    def __str__(self) -> str:
        return self.text


INDEX = IndexType()
NONE = NoneType()
I1 = IntegerType(1)
I8 = IntegerType(8)
I16 = IntegerType(16)
I32 = IntegerType(32)
I64 = IntegerType(64)
BF16 = FloatType("bf16")
F16 = FloatType("f16")
F32 = FloatType("f32")
F64 = FloatType("f64")


def bit_width(type: Type) -> int:
    """Bits of one element of an integer, index (64) or float type; ValueError for others."""
    if isinstance(type, IntegerType):
        return type.width
    if isinstance(type, IndexType):
        return 64
    widths = {"bf16": 16, "f16": 16, "f32": 32, "f64": 64}
    if isinstance(type, FloatType) and type.name in widths:
        return widths[type.name]
    raise ValueError(f"{type} is no scalar with a known width")
