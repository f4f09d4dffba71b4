"""The words a design's signature is written in.

    @iron.jit
    def scale(a: In, b: Out, *, N: CompileTime[int], factor: CompileTime[int] = 3): ...

``In``, ``Out`` and ``InOut`` mark tensors, given by position at the call. ``CompileTime[T]`` marks
a value the generator sees and the compiled design depends on, given by keyword.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

T = TypeVar("T")


class _CompileTimeTag:
    def __repr__(self) -> str:
        return "CompileTime"


COMPILE_TIME_TAG = _CompileTimeTag()

CompileTime = Annotated[T, COMPILE_TIME_TAG]
"""``CompileTime[int]``: a keyword parameter that takes part in the design's key."""


class In:
    """A tensor the design reads."""


class Out:
    """A tensor the design writes; what it held before the call is not read."""


class InOut:
    """A tensor the design reads and writes."""
