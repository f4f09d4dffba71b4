"""NumPy's names of types and MLIR's, both ways.

Array types are written ``np.ndarray[(4, 8), np.dtype[np.int32]]``, scalars ``np.int32``. Unsigned
dtypes keep their sign in MLIR (``ui8``), as mlir-aie has it.
"""

from __future__ import annotations

from typing import Any, get_args, get_origin

import numpy as np

from ..ir.types import (
    FloatType,
    IndexType,
    IntegerType,
    MemRefType,
    ShapedType,
    Type,
)

_BY_NAME: dict[str, Type] = {
    **{f"int{w}": IntegerType(w) for w in (8, 16, 32, 64)},
    **{f"uint{w}": IntegerType(w, "u") for w in (8, 16, 32, 64)},
    "float16": FloatType("f16"),
    "float32": FloatType("f32"),
    "float64": FloatType("f64"),
    "bfloat16": FloatType("bf16"),
}

_SHORT = {"bf16": "bfloat16", "i8": "int8", "i16": "int16", "i32": "int32", "f32": "float32"}


def is_array_type(annotation: Any) -> bool:
    """Whether `annotation` is ``np.ndarray[shape, dtype]``."""
    return get_origin(annotation) is np.ndarray


def is_scalar_type(annotation: Any) -> bool:
    """Whether `annotation` names a scalar: ``np.int32``, ``np.dtype("int32")``, bfloat16."""
    if isinstance(annotation, np.dtype):
        return True
    if not isinstance(annotation, type):
        return False
    return issubclass(annotation, np.generic) or annotation.__name__ == "bfloat16"


def array_shape(annotation: Any) -> tuple[int, ...]:
    """The shape of ``np.ndarray[shape, dtype]``; TypeError for anything else."""
    if not is_array_type(annotation):
        raise TypeError(
            f"expected an array type such as np.ndarray[(16,), np.dtype[np.int32]], "
            f"found {annotation!r}"
        )
    shape = get_args(annotation)[0]
    if isinstance(shape, (int, np.integer)):
        shape = (shape,)
    if not isinstance(shape, tuple) or not all(isinstance(n, (int, np.integer)) for n in shape):
        raise TypeError(f"the shape of {annotation!r} must be a tuple of integers")
    return tuple(int(n) for n in shape)


def array_dtype(annotation: Any) -> Any:
    """The scalar class of ``np.ndarray[shape, dtype]``, e.g. ``np.int32``."""
    array_shape(annotation)
    dtype = get_args(annotation)[1]
    inner = get_args(dtype)
    return inner[0] if inner else np.dtype(dtype).type


def scalar_type(dtype: Any) -> Type:
    """The MLIR type of a NumPy dtype; TypeError naming it when MLIR has none."""
    name = np.dtype(dtype).name
    if name not in _BY_NAME:
        raise TypeError(
            f"dtype {name} has no type in a design; it takes one of {', '.join(sorted(_BY_NAME))}"
        )
    return _BY_NAME[name]


def memref_type(annotation: Any) -> MemRefType:
    """The memref of an array type."""
    return MemRefType(array_shape(annotation), scalar_type(array_dtype(annotation)))


def ir_type(annotation: Any) -> Type:
    """The MLIR type of an array type, a scalar type or an MLIR type; TypeError for others."""
    if isinstance(annotation, Type):
        return annotation
    if is_array_type(annotation):
        return memref_type(annotation)
    if is_scalar_type(annotation):
        return scalar_type(annotation)
    raise TypeError(
        f"{annotation!r} is no type of a design; write np.ndarray[shape, np.dtype[...]] for an "
        "array or a NumPy scalar type such as np.int32"
    )


def numpy_dtype(type: Type) -> np.dtype[Any]:
    """The NumPy dtype of a scalar MLIR type; ``index`` is int64. TypeError when there is none."""
    if isinstance(type, IndexType):
        return np.dtype(np.int64)
    if isinstance(type, FloatType) and type.name == "bf16":
        import ml_dtypes

        bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return bfloat16
    for name, known in _BY_NAME.items():
        if known == type:
            return np.dtype(name)
    raise TypeError(f"{type} has no NumPy dtype")


def describe(annotation: Any) -> str:
    """A type as a person writes it: ``(16, 4) int32`` or ``int32``."""
    type = annotation if isinstance(annotation, Type) else ir_type(annotation)
    if isinstance(type, ShapedType):
        return f"{type.shape} {_scalar_name(type.element)}"
    return _scalar_name(type)


def _scalar_name(type: Type) -> str:
    try:
        return "index" if isinstance(type, IndexType) else numpy_dtype(type).name
    except TypeError:
        return str(type)


def str_to_dtype(dtype_str: str) -> Any:
    """``"bf16"``, ``"i8"``, ``"i16"``, ``"i32"`` or ``"f32"`` as a NumPy scalar class; ValueError
    for another name."""
    if dtype_str not in _SHORT:
        raise ValueError(f"Unrecognized dtype: {dtype_str}; known: {', '.join(sorted(_SHORT))}")
    if dtype_str == "bf16":
        import ml_dtypes

        return ml_dtypes.bfloat16
    return np.dtype(_SHORT[dtype_str]).type


def dtype_to_str(dtype: Any) -> str:
    """The short name of a NumPy dtype, the inverse of `str_to_dtype`; ValueError for one that has
    none."""
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = ""
    for short, long in _SHORT.items():
        if long == name:
            return short
    raise ValueError(f"Unrecognized dtype: {dtype}; known: {', '.join(sorted(_SHORT))}")


def default_array(annotation: Any) -> np.ndarray[Any, Any]:
    return np.zeros(array_shape(annotation), array_dtype(annotation))
