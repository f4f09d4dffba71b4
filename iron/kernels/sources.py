"""Where the C++ of the factories is, and the declaration of a function in it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from ..design.kernel import ExternalFunction

_HERE = os.path.dirname(os.path.abspath(__file__))
PLACES = (
    os.path.join(_HERE, "cpp"),
    os.path.join(os.path.dirname(os.path.dirname(_HERE)), "kernels"),
)


Kind = TypeVar("Kind", bound=ExternalFunction)


def source(name: str) -> str:
    """The path of a kernel's C++ file; FileNotFoundError naming the places searched."""
    for place in PLACES:
        path = os.path.join(place, name)
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(f"no kernel source {name!r} in {' or '.join(PLACES)}")


def declare(
    name: str,
    file: str,
    arg_types: Sequence[Any],
    macros: Mapping[str, Any] | None = None,
    *,
    prefix: str | None = None,
    use_chess: bool = False,
    kind: type[Kind] = ExternalFunction,  # type: ignore[assignment]
) -> Kind:
    """The function `name` of a source compiled with `macros` (None: defined without a value)."""
    flags = [f"-D{k}" if v is None else f"-D{k}={v}" for k, v in (macros or {}).items()]
    return kind(
        name,
        source_file=source(file),
        arg_types=arg_types,
        compile_flags=flags,
        symbol_prefix=prefix,
        use_chess=use_chess,
    )


def tile(dtype: Any, *shape: int) -> Any:
    """The array type of a tile."""
    return np.ndarray[shape, np.dtype[dtype]]  # type: ignore[valid-type]


def scalar_class(dtype: Any, allowed: Sequence[Any], what: str) -> Any:
    """`dtype` as one of the `allowed` scalar classes; ValueError naming them otherwise."""
    try:
        wanted = np.dtype(dtype)
    except TypeError:
        wanted = None
    for known in allowed:
        if wanted == np.dtype(known):
            return known
    names = ", ".join(np.dtype(a).name for a in allowed)
    raise ValueError(f"{what}() dtype must be one of {names}, got {dtype}")


def aligned_elements(dtype: Any) -> int:
    """The fewest elements that a shim DMA moves: it counts in words of 4 bytes."""
    return max(1, 4 // int(np.dtype(dtype).itemsize))
