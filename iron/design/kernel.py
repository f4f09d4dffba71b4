"""Functions written in C++ that cores call: `Kernel` from an object that exists,
`ExternalFunction` from source.

Owns the declaration and the check of calls. Constructing one reads no source, hashes nothing and
registers nowhere; the design that uses it collects what must be compiled.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..ir.attributes import ArrayAttr, IntegerAttr, StringAttr, SymbolRefAttr, TypeAttr
from ..ir.core import Location, Operation, Region, Value
from ..ir.types import FunctionType, IndexType, IntegerType, MemRefType, Type
from .buffer import Buffer
from .context import DesignContext, here, in_core, told_place
from .dtypes import array_dtype, array_shape, describe, ir_type, is_array_type, numpy_dtype
from .memory import MemRef
from .objects import CompileSpec, ObjectSpec, SourceFile, SourceText
from .sources import find_directories, find_file, string_list
from .values import Number, Scalar, as_value, constant

_serials = itertools.count()


class BaseKernel:
    """A function by its symbol and the types of its arguments.

    `arg_types` are array types, NumPy scalar types or MLIR types; the list is copied. ValueError
    for an empty name, TypeError for what is no type.
    """

    kind = "Kernel"

    def __init__(self, name: str, arg_types: Sequence[Any] | None = None) -> None:
        if not name:
            raise ValueError("Kernel name cannot be empty.")
        self.where = here()
        self.serial = next(_serials)
        self._name = name
        self._arg_types = list(arg_types or ())
        self.types = tuple(self._argument_type(i, t) for i, t in enumerate(self._arg_types))

    def _argument_type(self, index: int, annotation: Any) -> Type:
        try:
            type = ir_type(annotation)
        except TypeError as fault:
            raise TypeError(f"{self.kind} {self._name!r}, argument {index}: {fault}") from None
        if isinstance(type, IntegerType) and type.signedness:
            if type.width < 32:
                raise TypeError(
                    f"{self.kind} {self._name!r}, argument {index}: unsigned scalars of "
                    f"{type.width} bits cannot be passed; use np.int32 or np.uint32"
                )
            return IntegerType(type.width)  # scalars have no sign in MLIR; the bits are the same
        return type

    @property
    def name(self) -> str:
        """The symbol cores call."""
        return self._name

    @property
    def link_with(self) -> str | None:
        """The object file by the name the user gave it."""
        return None

    @property
    def object_spec(self) -> ObjectSpec | None:
        """What must be compiled for it; None when the object exists."""
        return None

    @property
    def merged(self) -> bool:
        """Whether it is linked as LLVM IR, before code generation."""
        return False

    def arg_types(self) -> list[Any]:
        """A copy of the argument types, as given."""
        return list(self._arg_types)

    def arg_shape(self, arg_index: int = 0) -> tuple[int, ...]:
        """The shape of an array argument; ValueError when it is none."""
        annotation = self._argument(arg_index)
        if is_array_type(annotation):
            return array_shape(annotation)
        if isinstance(annotation, MemRefType):
            return annotation.shape
        raise ValueError(f"Argument {arg_index} does not have a shape or is not an array type.")

    def arg_dtype(self, arg_index: int = 0) -> np.dtype[Any]:
        """The dtype of an array argument; ValueError when it is none."""
        annotation = self._argument(arg_index)
        if is_array_type(annotation):
            dtype: np.dtype[Any] = np.dtype(array_dtype(annotation))
            return dtype
        if isinstance(annotation, MemRefType):
            return numpy_dtype(annotation.element)
        raise ValueError(f"Argument {arg_index} does not have a dtype or is not an array type.")

    def tile_size(self, arg_index: int = 0) -> int:
        """The first extent of an array argument, in elements; ValueError when it is none."""
        shape = self.arg_shape(arg_index)
        if not shape:
            raise ValueError(f"Argument {arg_index} does not have a shape or is not an array type.")
        return shape[0]

    def _argument(self, index: int) -> Any:
        if not self._arg_types:
            raise ValueError("No argument types defined.")
        if not 0 <= index < len(self._arg_types):
            raise ValueError(
                f"Argument index {index} out of range (max: {len(self._arg_types) - 1})"
            )
        return self._arg_types[index]

    def __call__(self, *args: Any, loc: Location | None = None, ip: None = None) -> None:
        """Call it from the core being traced. `loc` and `ip` are as of `range_`.

        Arrays are objects of fifos or Buffers of the argument's shape and dtype, or of the same
        number of elements when the argument has one dimension. ValueError naming the argument
        otherwise, ScopeError outside of a core.
        """
        where = told_place(f"{self.kind} {self._name!r}", loc, ip)
        context, operands = self.operands(args)
        context.functions.declare(context, self)
        callee = {"callee": SymbolRefAttr((self._name,))}
        context.create("func.call", operands, (), callee, location=where)

    def definition(self, context: DesignContext) -> Operation:
        """The ``func.func`` of a design; it has no body."""
        attributes = {
            "sym_name": StringAttr(self._name),
            "function_type": TypeAttr(FunctionType(self.types, ())),
            "sym_visibility": StringAttr("private"),
        }
        return Operation("func.func", (), (), attributes, [Region()], location=self.where)

    def operands(self, args: Sequence[Any]) -> tuple[DesignContext, list[Value]]:
        """The design and the arguments of a call in it, checked and converted."""
        if len(args) != len(self.types):
            raise ValueError(
                f"{self.kind} '{self._name}' expects {len(self.types)} argument(s), but "
                f"{len(args)} were provided: ({', '.join(map(describe, self.types))}) is declared "
                f"at {self.where}"
            )
        pairs = list(zip(args, self.types, strict=True))
        for i, (arg, expected) in enumerate(pairs):
            if not _passes(arg, expected):
                what = "" if isinstance(expected, MemRefType) else "scalar, "
                raise self._mismatch(i, f"{what}{describe(expected)}", _found(arg))
        context = in_core(f"the call of {self.kind} {self._name!r}")
        return context, [self._operand(context, i, a, t) for i, (a, t) in enumerate(pairs)]

    def _operand(self, context: DesignContext, index: int, arg: Any, expected: Type) -> Value:
        if isinstance(arg, Number):
            try:
                return constant(arg, expected).value
            except (TypeError, OverflowError) as fault:
                raise self._mismatch(index, f"scalar {describe(expected)}", str(fault)) from None
        memory = arg.traced(context) if isinstance(arg, Buffer) else arg
        if isinstance(memory, Scalar):
            return as_value(memory, expected, "")
        if not isinstance(memory, MemRef):  # a tensor of the host, of the right shape and dtype
            raise self._mismatch(index, f"memory of the core, {describe(expected)}", _found(arg))
        if memory.type == expected:
            return memory.value
        axes = ArrayAttr(tuple(IntegerAttr(i) for i in range(len(memory.shape))))
        collapse = {"reassociation": ArrayAttr((axes,))}
        return context.create("memref.collapse_shape", [memory.value], [expected], collapse).result

    def _mismatch(self, index: int, expected: str, found: str) -> ValueError:
        return ValueError(
            f"{self.kind} '{self._name}': Argument {index}: expected {expected}, got {found} "
            f"(declared at {self.where})"
        )

    def identity(self) -> tuple[Any, ...]:
        """Everything that tells it from others, as hashable values; files by path."""
        return (type(self).__name__, self._name, self.types, self.link_with, self.object_spec)

    def __iron_key__(self) -> tuple[Any, ...]:
        """What it is in the key of a design that has it as a value."""
        return self.identity()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BaseKernel) and other.identity() == self.identity()

    def __hash__(self) -> int:
        return hash(self.identity())

    def __repr__(self) -> str:
        return f"{self.kind}({self._name!r}, {', '.join(map(str, self.types))})"


def _passes(arg: Any, expected: Type) -> bool:
    """Whether an argument is of a kind, shape and dtype that can be passed as `expected`."""
    if not isinstance(expected, MemRefType):
        if isinstance(arg, Scalar):
            index = isinstance(arg.type, IndexType) and isinstance(expected, IntegerType)
            return index or arg.type == expected
        return isinstance(arg, Number)
    type = _memory_type(arg)
    if type is None or type == expected:
        return type is not None
    flat = expected.rank == 1 and type.rank > 1 and type.layout is None
    return flat and type.element == expected.element and type.size == expected.size


def _memory_type(arg: Any) -> MemRefType | None:
    if isinstance(arg, Buffer):
        return arg.memref
    if isinstance(arg, MemRef):
        assert isinstance(arg.type, MemRefType)
        return arg.type
    shape, dtype = getattr(arg, "shape", None), getattr(arg, "dtype", None)
    if isinstance(shape, tuple) and isinstance(dtype, (np.dtype, type)):
        return MemRefType(tuple(map(int, shape)), ir_type(dtype))
    return None


def _found(arg: Any) -> str:
    memory = _memory_type(arg)
    if isinstance(arg, Scalar) or memory is not None:
        return describe(memory if memory is not None else arg.type)
    return f"{type(arg).__name__} {arg!r}" if isinstance(arg, (str, bytes)) else type(arg).__name__


class Kernel(BaseKernel):
    """A function of an object file, archive or LLVM IR file that is there already.

    The file is the one of that name among the design's ``object_files`` (a build option of the
    JIT), or an object of that ``object_file_name``; SymbolError when there is neither.
    `link_with_mode` None links it as an object, ``"merge"`` as LLVM IR before code generation;
    ValueError for another.
    """

    def __init__(
        self,
        name: str,
        object_file_name: str,
        arg_types: Sequence[Any] | None = None,
        *,
        link_with_mode: str | None = None,
    ) -> None:
        super().__init__(name, arg_types)
        if link_with_mode not in (None, "merge"):
            raise ValueError(
                f"Kernel {name!r}: link_with_mode is None or 'merge', found {link_with_mode!r}"
            )
        self._object_file_name = object_file_name
        self._link_with_mode = link_with_mode

    @property
    def object_file_name(self) -> str:
        """The name of the object file, as given."""
        return self._object_file_name

    @property
    def link_with_mode(self) -> str | None:
        """None, or ``"merge"``, as given."""
        return self._link_with_mode

    @property
    def link_with(self) -> str | None:
        """The object file by the name the user gave it."""
        return self._object_file_name

    @property
    def merged(self) -> bool:
        return self._link_with_mode == "merge"


class ExternalFunction(Kernel):
    """A function compiled from C++.

    `source_file` and `include_dirs` are found next to the Python file that says so, else in the
    current directory; they must exist. Just one of `source_file` and `source_string` is given.
    `compile_flags` keep their order. Functions of one source with the same flags, directories and
    prefix share one object. `symbol_prefix` renames the function to ``prefix_name``, so that two
    objects that define one symbol can meet in a core. `object_file_name` names the object.
    `inline` links it as LLVM IR, `use_chess` compiles it with xchesscc.

    ValueError or FileNotFoundError naming the declaration.
    """

    kind = "ExternalFunction"
    _instances: ClassVar[set[Any]] = set()  # nothing is registered; mlir-aie's tests clear it

    def __init__(
        self,
        name: str,
        object_file_name: str | None = None,
        source_file: str | os.PathLike[str] | None = None,
        source_string: str | None = None,
        arg_types: Sequence[Any] | None = None,
        include_dirs: Sequence[Any] | None = None,
        compile_flags: Sequence[Any] | None = None,
        *,
        symbol_prefix: str | None = None,
        use_chess: bool = False,
        inline: bool = False,
    ) -> None:
        what = f"ExternalFunction {name!r}"
        where = here()
        _check_choices(what, where, object_file_name, symbol_prefix, use_chess, inline)
        source = one_source(what, where, name, source_file, source_string)
        spec = ObjectSpec(
            (
                CompileSpec(
                    source,
                    string_list(compile_flags, what, "compile_flags"),
                    find_directories(include_dirs, what, where),
                ),
            ),
            symbol_prefix=symbol_prefix or None,
            merge=inline,
            use_chess=use_chess,
        )
        symbol = f"{symbol_prefix}_{name}" if symbol_prefix else name
        default = f"{symbol}.{'ll' if inline else 'o'}"
        super().__init__(
            symbol,
            object_file_name or default,
            arg_types,
            link_with_mode="merge" if inline else None,
        )
        self._explicit_name = object_file_name or None
        self._spec = spec

    @property
    def link_with(self) -> str | None:
        """The ``object_file_name`` given; None when the build names the object."""
        return self._explicit_name

    @property
    def object_spec(self) -> ObjectSpec | None:
        return self._spec


def one_source(
    what: str,
    where: Any,
    name: str,
    source_file: str | os.PathLike[str] | None,
    source_string: str | None,
) -> SourceFile | SourceText:
    """The one source given; ValueError for both or neither."""
    if (source_file is None) == (source_string is None):
        found = "neither" if source_file is None else "both"
        raise ValueError(
            f"{what} ({where}): source_file or source_string must be provided, and only one of "
            f"them; found {found}"
        )
    if source_file is not None:
        return SourceFile(find_file(source_file, what, where))
    assert source_string is not None
    return SourceText(source_string, f"{name}.cc")


def _check_choices(
    what: str,
    where: Any,
    object_file_name: str | None,
    symbol_prefix: str | None,
    use_chess: bool,
    inline: bool,
) -> None:
    if inline and use_chess:
        raise ValueError(f"{what} ({where}): inline needs Peano, so it excludes use_chess")
    if inline and symbol_prefix:
        raise NotImplementedError(
            f"{what} ({where}): symbols of LLVM IR are not renamed; use inline without a "
            "symbol_prefix"
        )
    check_object_name(what, where, object_file_name)
    if inline and object_file_name and not object_file_name.lower().endswith((".ll", ".bc")):
        raise ValueError(
            f"{what} ({where}): inline makes LLVM IR, so object_file_name ends in '.ll' or "
            f"'.bc', found {object_file_name!r}"
        )


def check_object_name(what: str, where: Any, name: str | None) -> None:
    """ValueError when the name of an object is no plain file name."""
    if name and (name in (".", "..") or any(c in name for c in "/\\\0\n")):
        raise ValueError(
            f"{what} ({where}): object_file_name is a plain file name, found {name!r}; the build "
            "chooses the directory"
        )
