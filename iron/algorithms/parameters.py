"""Descriptions of tensors by their array types, and the further arguments of a kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..design.dtypes import array_dtype, array_shape, is_array_type, is_scalar_type
from ..design.kernel import BaseKernel


@dataclass(frozen=True)
class ParamDescriptor:
    """A tensor that does not exist yet: its shape, and the scalar class of its elements."""

    shape: tuple[int, ...]
    dtype: Any

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    @property
    def type(self) -> Any:
        """The array type, ``np.ndarray[shape, np.dtype[dtype]]``."""
        return np.ndarray[self.shape, np.dtype[self.dtype]]  # type: ignore[name-defined]


def make_param_descriptor(tensor_ty: Any) -> ParamDescriptor:
    """The description of ``np.ndarray[shape, np.dtype[...]]``; TypeError for anything else."""
    return described(tensor_ty, "make_param_descriptor")


def described(tensor_ty: Any, what: str) -> ParamDescriptor:
    """The description of an array type that `what` was given."""
    if not is_array_type(tensor_ty):
        raise TypeError(
            f"{what} expects a numpy ndarray type such as np.ndarray[(64,), np.dtype[np.int32]], "
            f"got {tensor_ty!r}"
        )
    return ParamDescriptor(array_shape(tensor_ty), array_dtype(tensor_ty))


@dataclass(frozen=True)
class Extras:
    """The arguments of a kernel between its tiles and its size, in order: each a number, or the
    description of a tensor that the host gives."""

    values: tuple[Any, ...] = ()

    @staticmethod
    def of(func: Any, tiles: int, params: Sequence[Any], what: str) -> Extras:
        """`params` as `func` takes them after `tiles` tiles.

        A parameter is a number where the kernel's argument is a scalar; elsewhere an array type, a
        description, or anything with a shape and a dtype. TypeError otherwise, ValueError for
        parameters of a function that is no kernel.
        """
        if not params:
            return Extras()
        if not isinstance(func, BaseKernel):
            raise ValueError(
                f"{what}: further parameters are arguments of a kernel; let the function "
                f"{getattr(func, '__name__', func)!r} close over them instead"
            )
        types = func.arg_types()[tiles:]
        if len(types) < len(params):
            raise ValueError(
                f"{what}: {func!r} takes {len(types)} argument(s) after its tiles, but "
                f"{len(params)} parameter(s) were given"
            )
        return Extras(tuple(_extra(p, t, what) for p, t in zip(params, types, strict=False)))

    @property
    def tensors(self) -> list[tuple[int, ParamDescriptor]]:
        return [(i, v) for i, v in enumerate(self.values) if isinstance(v, ParamDescriptor)]

    def with_tensors(self, elements: Sequence[Any]) -> list[Any]:
        """The arguments, tensors replaced by what a core has of them."""
        given = dict(zip((i for i, _ in self.tensors), elements, strict=True))
        return [given.get(i, v) for i, v in enumerate(self.values)]


def _extra(param: Any, type: Any, what: str) -> Any:
    if is_scalar_type(type):
        if isinstance(param, (bool, int, float, np.generic)):
            return param
        raise TypeError(f"{what}: a parameter of type {type.__name__} is a number, got {param!r}")
    if isinstance(param, ParamDescriptor):
        return param
    if is_array_type(param):
        return make_param_descriptor(param)
    shape, dtype = getattr(param, "shape", None), getattr(param, "dtype", None)
    if shape is None or dtype is None:
        raise TypeError(f"{what}: a tensor parameter is an array type or a tensor, got {param!r}")
    return ParamDescriptor(tuple(int(n) for n in shape), np.dtype(dtype).type)
