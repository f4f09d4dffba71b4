"""``aie.helpers.util`` and the few names of ``aie.ir`` that scripts use."""

from __future__ import annotations

from typing import Any

from ..design.dtypes import array_dtype, array_shape, ir_type, scalar_type
from ..design.placement import PlacementError
from ..ir.attributes import IntegerAttr
from ..ir.types import IndexType
from ..ir.verifier import VerifyError

__all__ = [
    "IndexType",
    "IntegerAttr",
    "MLIRError",
    "np_dtype_to_mlir_type",
    "np_ndarray_type_get_dtype",
    "np_ndarray_type_get_shape",
    "np_ndarray_type_to_memref_type",
]

MLIRError = (VerifyError, PlacementError)
"""What ``except MLIRError`` is to catch: what MLIR's verifier would refuse is refused by either."""


def np_ndarray_type_get_shape(ndarray_type: Any) -> tuple[int, ...]:
    """The shape in ``np.ndarray[shape, np.dtype[...]]``."""
    return array_shape(ndarray_type)


def np_ndarray_type_get_dtype(ndarray_type: Any) -> Any:
    """The scalar class in ``np.ndarray[shape, np.dtype[...]]``."""
    return array_dtype(ndarray_type)


def np_dtype_to_mlir_type(dtype: Any) -> Any:
    return scalar_type(dtype)


def np_ndarray_type_to_memref_type(ndarray_type: Any) -> Any:
    return ir_type(ndarray_type)
