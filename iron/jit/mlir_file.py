"""A design that is an MLIR file: what `CompilableDesign` makes of a path."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .signature import ScalarParameter, Signature, TensorParameter

if TYPE_CHECKING:
    from iron.design import Module
    from iron.ir.core import Value


class MlirFile:
    """A generator whose module is read from a file each time. FileNotFoundError when it is not
    there."""

    spelled_by_hand = True
    """Its operations are written as its writer chose."""

    def __init__(self, path: str | os.PathLike[str], sequence: str | None = None) -> None:
        self.path = os.path.abspath(path)
        self.sequence = sequence
        if not os.path.isfile(self.path):
            raise FileNotFoundError(f"no MLIR file at {self.path}")
        self.__name__ = os.path.splitext(os.path.basename(self.path))[0]

    def __call__(self, *tensors: object) -> Module:
        from iron import ir
        from iron.design import Module

        with open(self.path, encoding="utf-8") as f:
            return Module(ir.parse(f.read(), self.path))

    def __iron_signature__(self) -> Signature:
        """The arguments of the runtime sequence, the first one unless another was chosen; each
        tensor is read and written."""
        found = [o for o in self().operation.walk() if o.name.endswith("runtime_sequence")]
        named = [o for o in found if self.sequence in (None, o.symbol)]
        sequence = named[0] if named else None
        arguments = sequence.body.arguments if sequence is not None else []
        tensors = tuple(_parameter(a, a.name or f"arg{i}") for i, a in enumerate(arguments))
        return Signature(self.__name__, self.path, tensors, ())

    def for_sequence(self, name: str) -> MlirFile:
        """The same file, called with the arguments of that runtime sequence."""
        return MlirFile(self.path, name)

    def __iron_key__(self) -> tuple[str, str]:
        """What it says now."""
        from iron.build import file_digest

        return self.path, str(file_digest(self.path))


def _parameter(argument: Value, name: str) -> TensorParameter | ScalarParameter:
    from iron.ir.types import MemRefType

    if isinstance(argument.type, MemRefType):
        return TensorParameter(name, "InOut", by_name=False)
    return ScalarParameter(name, by_name=False)
