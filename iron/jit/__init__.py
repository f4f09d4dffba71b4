"""From a Python function to a design that runs when it is called.

The room and the decorator share a name: ``iron.jit`` is this module, and calling it is `jit`.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any, overload

from .callable import CallableDesign, CallResult
from .compilable import CompilableDesign
from .context import compile_context, get_compile_arg
from .generate import GenerationError
from .keys import Unkeyable
from .markers import CompileTime, In, InOut, Out
from .options import BuildOptions, configure, options
from .reload import ReloadError

__all__ = [
    "CallResult",
    "CallableDesign",
    "CompilableDesign",
    "CompileTime",
    "GenerationError",
    "In",
    "InOut",
    "Out",
    "ReloadError",
    "Unkeyable",
    "compile_context",
    "compileconfig",
    "configure",
    "get_compile_arg",
    "jit",
    "options",
]


@overload
def jit(mlir_generator: Callable[..., Any], **kwargs: Any) -> CallableDesign: ...


@overload
def jit(
    mlir_generator: None = None, **kwargs: Any
) -> Callable[[Callable[..., Any]], CallableDesign]: ...


def jit(
    mlir_generator: Callable[..., Any] | None = None, **kwargs: Any
) -> CallableDesign | Callable[[Callable[..., Any]], CallableDesign]:
    """Make a design of a generator: ``@iron.jit``, or ``@iron.jit(N=64, compile_flags=[...])``.

    A keyword that names a build option (see `BuildOptions`) is one; every other one binds a
    compile-time value beforehand. TypeError when the generator has no such parameter.
    """
    if mlir_generator is None:
        return lambda generator: jit(generator, **kwargs)
    chosen = {k: v for k, v in kwargs.items() if k in BuildOptions.names()}
    values = {k: v for k, v in kwargs.items() if k not in chosen}
    design = CallableDesign(mlir_generator, compile_kwargs=values, **chosen)
    design.compilable.signature.require_keywords()
    return design


def compileconfig(mlir_generator: Callable[..., Any] | None = None, **kwargs: Any) -> Any:
    """As `jit`, but the `CompilableDesign`, which builds and does not run."""
    if mlir_generator is None:
        return lambda generator: compileconfig(generator, **kwargs)
    chosen = {k: v for k, v in kwargs.items() if k in BuildOptions.names()}
    values = {k: v for k, v in kwargs.items() if k not in chosen}
    return CompilableDesign(mlir_generator, compile_kwargs=values, **chosen)


class _CallableRoom(types.ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return jit(*args, **kwargs)


sys.modules[__name__].__class__ = _CallableRoom
