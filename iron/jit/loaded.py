"""One specialisation of a design, loaded: what takes a call's tensors to a run, and nothing else.

Knows nothing of how it came to be loaded and of whether it is still right.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from iron.runtime.errors import HostRuntimeError
from iron.runtime.tensor import Tensor

from .generate import in_users_terms

if TYPE_CHECKING:
    import numpy as np

    from iron.runtime.host import HostKernel, RunReport
    from iron.runtime.xrt import XrtKernel

    from .arguments import Arguments
    from .compilable import Built

_uses = itertools.count()


class CallResult(NamedTuple):
    """What a call gives back, as mlir-aie's ``(kernel handle, kernel result)``."""

    handle: HostKernel | XrtKernel
    result: RunReport


class Loaded:
    """One specialisation ready to run."""

    __slots__ = (
        *("__weakref__", "arguments", "built", "environment", "generation", "kernel"),
        *("last_use", "seen"),
    )

    def __init__(
        self,
        built: Built,
        arguments: Arguments,
        kernel: HostKernel | XrtKernel,
        generation: int,
        environment: tuple[Any, ...],
    ) -> None:
        self.built = built
        self.arguments = arguments
        self.kernel = kernel
        self.generation = generation
        """Which state of the generator it was generated from."""
        self.environment = environment
        """What decides where results and tools are, when it was built."""
        self.last_use = next(_uses)
        self.seen: tuple[tuple[int, set[np.dtype[Any]]], ...] = tuple(
            (expected.elements, set()) for expected in arguments.expected
        )
        """For each tensor, its number of elements and the dtypes it was found right with."""

    def buffers(self, args: Sequence[Any]) -> list[Any] | None:
        """What a run takes for these tensors; None when they need a closer look."""
        if len(args) != len(self.seen):
            return None
        given = []
        for value, (count, dtypes) in zip(args, self.seen):  # noqa: B905
            if not isinstance(value, Tensor):
                return None
            array = value._array
            if array.size != count or array.dtype not in dtypes:
                return None
            given.append(value.buffer)
        return given

    def saw(self, args: Sequence[Any]) -> None:
        """Remember the dtypes of tensors that were found right."""
        for value, (_, dtypes) in zip(args, self.seen, strict=True):
            if isinstance(value, Tensor):
                dtypes.add(value.dtype)

    def used(self) -> None:
        """Be the one used last."""
        self.last_use = next(_uses)

    def run(self, given: Sequence[Any], timeout: float | None) -> CallResult:
        """Run with what `buffers` gave; HostRuntimeError, in the user's lines, when that fails."""
        kernel = self.kernel
        try:
            return CallResult(kernel, kernel.run(given, timeout))
        except HostRuntimeError as e:
            raise in_users_terms(e, self.built.generated.lines) from None
