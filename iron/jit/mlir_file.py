"""A design that is an MLIR file: what `CompilableDesign` makes of a path."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .signature import Signature, TensorParameter

if TYPE_CHECKING:
    from iron.design import Module


class MlirFile:
    """A generator whose module is read from a file each time. FileNotFoundError when it is not
    there."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.abspath(path)
        if not os.path.isfile(self.path):
            raise FileNotFoundError(f"no MLIR file at {self.path}")
        self.__name__ = os.path.splitext(os.path.basename(self.path))[0]

    def __call__(self, *tensors: object) -> Module:
        from iron import ir
        from iron.design import Module

        with open(self.path, encoding="utf-8") as f:
            return Module(ir.parse(f.read(), self.path))

    def __iron_signature__(self) -> Signature:
        """The tensors of the runtime sequence, each read and written."""
        sequence = next(
            (o for o in self().operation.walk() if o.name.endswith("runtime_sequence")), None
        )
        arguments = sequence.body.arguments if sequence is not None else []
        tensors = tuple(
            TensorParameter(a.name or f"arg{i}", "InOut", by_name=False)
            for i, a in enumerate(arguments)
        )
        return Signature(self.__name__, self.path, tensors, ())

    def __iron_key__(self) -> tuple[str, str]:
        """What it says now."""
        from iron.build import file_digest

        return self.path, str(file_digest(self.path))
