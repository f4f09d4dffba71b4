"""``jit`` of every spelling. A generator without any marker (In, Out, InOut, CompileTime) is of the
older one: it receives what the call gives, and what of it is a tensor is an argument of the run.

Its tensors are not there yet while it is generated, so it gets their shapes and dtypes.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...jit import CallableDesign, CallResult, CompileTime, InOut
from ...jit import jit as _jit
from ...jit.options import BuildOptions
from ...jit.signature import is_compile_time
from ...runtime.tensor import Tensor

__all__ = ["TensorShape", "WholeCallDesign", "jit"]

_TYPES = "tensor_types"
_MARKERS = ("In", "Out", "InOut", "CompileTime")


def jit(mlir_generator: Callable[..., Any] | None = None, **kwargs: Any) -> Any:
    """iron's ``jit``, for generators of every spelling; ``is_placed`` says that it is an older
    one. A keyword that binds a value beforehand is of the newer one only."""
    if mlir_generator is None:
        return lambda generator: jit(generator, **kwargs)
    older = "is_placed" in kwargs
    kwargs.pop("is_placed", None)
    if older or _has_no_markers(mlir_generator):
        build = {k: v for k, v in kwargs.items() if k in BuildOptions.names()}
        return WholeCallDesign(mlir_generator, **build)
    return _jit(mlir_generator, **kwargs)


def _has_no_markers(generator: Any) -> bool:
    """Whether a generator takes something, and says of nothing what it is."""
    try:
        parameters = inspect.signature(generator).parameters.values()
    except (TypeError, ValueError):
        return False
    return bool(parameters) and not any(_is_marker(p.annotation) for p in parameters)


def _is_marker(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return any(name in annotation for name in _MARKERS)
    named = getattr(annotation, "__name__", None) in _MARKERS[:3]
    return named or is_compile_time(annotation)


@dataclass(frozen=True)
class TensorShape:
    """A tensor while a design is generated: what is known of it."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def element_size(self) -> int:
        return self.dtype.itemsize

    def numel(self) -> int:
        return self.size

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        raise RuntimeError(
            "the elements of a tensor are not known while the design is generated, only its "
            "shape and dtype; read them in the core, through an ObjectFifo"
        )


class WholeCallDesign:
    """A design whose generator is called with everything the call gives.

    For each way of calling it (which arguments are tensors) there is one design; tensors' shapes
    and dtypes and all other arguments are its compile-time values.
    """

    def __init__(self, generator: Callable[..., Any], **build_options: Any) -> None:
        self.generator = generator
        self.build_options = build_options
        self._designs: dict[tuple[Any, ...], CallableDesign] = {}
        functools.update_wrapper(self, generator)

    def __call__(self, *args: Any, **kwargs: Any) -> CallResult:
        call = _split(args, kwargs)
        return self._design(call)(*call.tensors, **{_TYPES: call.types}, **call.values)

    def as_mlir(self, *args: Any, **kwargs: Any) -> str:
        """The text of the design that such a call runs."""
        call = _split(args, kwargs)
        return self._design(call).as_mlir(**{_TYPES: call.types}, **call.values)

    def _design(self, call: _Call) -> CallableDesign:
        key = (call.positions, tuple(call.values))
        design = self._designs.get(key)
        if design is None:
            adapted = _adapted(self.generator, call)
            design = self._designs[key] = CallableDesign(adapted, **self.build_options)
        return design


@dataclass(frozen=True)
class _Call:
    """One call: its tensors in order, where they stood, and the other arguments by name."""

    tensors: tuple[Any, ...]
    positions: tuple[int | str, ...]
    values: dict[str, Any]

    @property
    def types(self) -> tuple[tuple[tuple[int, ...], np.dtype[Any]], ...]:
        return tuple((tuple(t.shape), np.dtype(t.dtype)) for t in self.tensors)


def _split(args: Sequence[Any], kwargs: dict[str, Any]) -> _Call:
    tensors, positions, values = [], [], {}
    places: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    for place, value in places:
        if isinstance(value, (Tensor, np.ndarray)):
            tensors.append(value)
            positions.append(place)
        else:
            values[f"arg{place}" if isinstance(place, int) else place] = value
    return _Call(tuple(tensors), tuple(positions), values)


def _adapted(generator: Callable[..., Any], call: _Call) -> Callable[..., Any]:
    """`generator` as one of iron's, for calls like this one."""
    positions, names = call.positions, tuple(call.values)

    @functools.wraps(generator)
    def adapted(*stand_ins: Any, **values: Any) -> Any:
        types = values.pop(_TYPES)
        by_place: dict[int | str, Any] = {
            place: TensorShape(*type) for place, type in zip(positions, types, strict=True)
        }
        for name, value in values.items():
            number = name.removeprefix("arg")
            by_place[int(number) if number.isdigit() and name not in positions else name] = value
        ordered = [by_place[i] for i in sorted(p for p in by_place if isinstance(p, int))]
        named = {p: v for p, v in by_place.items() if isinstance(p, str)}
        return generator(*ordered, **named)

    tensor_names = [f"tensor{i}" for i in range(len(positions))]
    value_names = (_TYPES, *names)
    parameters = [
        *(inspect.Parameter(n, inspect.Parameter.POSITIONAL_ONLY) for n in tensor_names),
        *(inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in value_names),
    ]
    adapted.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    adapted.__annotations__ = {
        **dict.fromkeys(tensor_names, InOut),
        **dict.fromkeys(value_names, CompileTime[object]),
    }
    return adapted
