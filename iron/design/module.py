"""A resolved design: its MLIR, and what must be compiled to link it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..ir.core import Operation
from .objects import ObjectSpec


@dataclass
class Module:
    """`operation` is the ``builtin.module``; `objects` says, for every ``link_with`` name made from
    source, what to compile. ``str()`` is the MLIR text."""

    operation: Operation
    objects: dict[str, ObjectSpec] = field(default_factory=dict)

    def __str__(self) -> str:
        from ..ir import print_module

        return print_module(self.operation)

    def verify(self) -> None:
        """VerifyError listing every fault with the user's line."""
        from ..ir import verify

        verify(self.operation)
