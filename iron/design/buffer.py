"""Memory of a tile that lives as long as the design: state of a core, run-time parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.attributes import DenseElementsAttr, IntegerAttr, StringAttr, SymbolRefAttr
from ..ir.core import Operation
from ..ir.types import I32, FloatType, IntegerType, MemRefType, ShapedType, TensorType
from .context import DesignContext, UnresolvedError, current, here
from .dtypes import array_dtype, array_shape, memref_type
from .memory import MemRef
from .values import as_value, rounded

if TYPE_CHECKING:
    from .tiles import Tile


class Buffer:
    """A named array in the data memory of a tile, zero or `initial_value` at the start.

    A Worker that takes it reads and writes it as memory: ``b[i]``, ``b[i] = v``. With
    `use_write_rtp` the runtime sequence writes it too, element by element. `type` is an array
    type, by default that of `initial_value`. Without a `tile` it lies with the one Worker that
    takes it. `address` pins it, in bytes.

    ValueError when there is neither a type nor a value, or they do not fit together.
    """

    def __init__(
        self,
        type: Any = None,
        initial_value: np.ndarray[Any, Any] | None = None,
        name: str | None = None,
        tile: Tile | None = None,
        use_write_rtp: bool = False,
        address: int | None = None,
    ) -> None:
        if type is None and initial_value is None:
            raise ValueError("Buffer: provide a type, an initial value, or both")
        self._initial = None if initial_value is None else np.array(initial_value)
        if type is None:
            assert self._initial is not None
            type = np.ndarray[self._initial.shape, np.dtype[self._initial.dtype.type]]  # type: ignore[name-defined]
        self._type = memref_type(type)
        self._arr_type = type
        self._check_initial()
        self._name = name
        self._tile = tile
        self._use_write_rtp = use_write_rtp
        self._address = address
        self.where = here()

    def _check_initial(self) -> None:
        if self._initial is None:
            return
        if self._initial.shape != self.shape:
            raise ValueError(
                f"Buffer: the initial value has shape {self._initial.shape}, the type {self.shape}"
            )
        if not np.can_cast(self._initial.dtype, np.dtype(self.dtype), "same_kind"):
            raise ValueError(
                f"Buffer: the initial value is {self._initial.dtype}, the type "
                f"{np.dtype(self.dtype).name}"
            )

    @property
    def name(self) -> str | None:
        """The name given; None when the design numbers it."""
        return self._name

    @property
    def tile(self) -> Tile | None:
        """The tile given; None when it lies with its Worker."""
        return self._tile

    def tiles(self) -> list[Tile]:
        """The tile given, if any, as a list."""
        return [] if self._tile is None else [self._tile]

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents in elements, outermost first."""
        return array_shape(self._arr_type)

    @property
    def dtype(self) -> Any:
        """The NumPy scalar class of its elements."""
        return array_dtype(self._arr_type)

    @property
    def memref(self) -> MemRefType:
        return self._type

    def __getitem__(self, index: Any) -> Any:
        context = self._context("read")
        if context.scope is not None and context.scope.kind == "sequence":
            raise UnresolvedError(
                f"Buffer {self._label()} cannot be read in a runtime sequence; the sequence can "
                "only write it"
            )
        return self.traced(context)[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        context = self._context("written")
        if context.scope is not None and context.scope.kind == "sequence":
            self._write_parameter(context, index, value)
        else:
            self.traced(context)[index] = value

    def traced(self, context: DesignContext) -> MemRef:
        """The buffer as memory of the design being traced."""
        op = declare(context, self)
        if context.scope is not None and context.scope.kind == "core":
            context.users.setdefault(self, {})[context.scope.owner] = None
        return MemRef(op.result)

    def _context(self, done: str) -> DesignContext:
        context = current()
        if context is None or context.scope is None:
            raise UnresolvedError(
                f"Buffer {self._label()} was {done} outside of a core and of a runtime sequence; "
                "pass it in the fn_args of a Worker and index it in its core_fn"
            )
        return context

    def _write_parameter(self, context: DesignContext, index: Any, value: Any) -> None:
        if not self._use_write_rtp:
            raise ValueError(
                f"Buffer {self._label()} is written in the runtime sequence, which needs "
                "use_write_rtp=True where it is made"
            )
        parts = index if isinstance(index, tuple) else (index,)
        if len(parts) != len(self.shape) or not all(
            isinstance(i, (int, np.integer)) for i in parts
        ):
            raise TypeError(
                f"Buffer {self._label()} of shape {self.shape}: the runtime sequence writes single "
                f"elements at known indices, found {index!r}"
            )
        try:
            flat = int(np.ravel_multi_index([int(i) for i in parts], self.shape))
        except ValueError:
            raise IndexError(
                f"index {index!r} is outside of Buffer {self._label()} of shape {self.shape}"
            ) from None
        if self._type.element not in (I32, IntegerType(32, "u")):
            raise TypeError(
                f"Buffer {self._label()} is {np.dtype(self.dtype).name}; run-time parameters are "
                "words of 32 bits, make it np.int32"
            )
        stored = as_value(value, I32, "a run-time parameter")
        op = declare(context, self)
        context.create(
            "aiex.npu.rtp_write",
            [stored],
            (),
            {
                "buffer": SymbolRefAttr((op.symbol or "",)),
                "index": IntegerAttr(flat, IntegerType(32, "u")),
            },
        )

    def _label(self) -> str:
        return f"{self._name!r} ({self.where})" if self._name else f"of {self.where}"

    def __repr__(self) -> str:
        return f"Buffer({self._type}, name={self._name!r})"


def declare(context: DesignContext, buffer: Buffer) -> Operation:
    """The ``aie.buffer`` of a design, without its tile until it is placed."""
    op = context.buffers.get(buffer)
    if op is not None:
        return op
    what = "a Buffer"
    if buffer._name is not None:
        name = context.define(buffer._name, what, buffer.where)
    else:
        name = context.fresh("buf_", what, buffer.where)
    attributes: dict[str, Any] = {"sym_name": StringAttr(name)}
    if buffer._address is not None:
        attributes["address"] = IntegerAttr(buffer._address, I32)
    if buffer._initial is not None:
        attributes["initial_value"] = elements(buffer._initial, buffer._type)
    op = Operation("aie.buffer", (), [buffer._type], attributes, location=buffer.where)
    op.result.name = name
    context.buffers[buffer] = op
    return op


def elements(
    array: np.ndarray[Any, Any], type: MemRefType, written_as: ShapedType | None = None
) -> DenseElementsAttr:
    """The values of an array as a dense attribute with the memref's shape and element type: a
    tensor's, unless another type is to be `written_as`."""
    flat = np.asarray(array).reshape(-1)
    values: tuple[Any, ...]
    if isinstance(type.element, FloatType):
        values = tuple(rounded(float(v), type.element) for v in flat)
    else:
        values = tuple(int(v) for v in flat)
    if len(set(values)) == 1:
        values = values[:1]
    return DenseElementsAttr(values, written_as or TensorType(type.shape, type.element))
