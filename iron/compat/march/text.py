"""Modules that print as mlir-aie of March 2026 wrote them. What is built is the module itself."""

from __future__ import annotations

from ...design.module import Module
from ...design.spelling import march_2026


class MarchModule(Module):
    """A module whose text is of March 2026 where that can say it, else of today."""

    def __str__(self) -> str:
        from ...ir import parse, print_module

        copy = Module(parse(print_module(self.operation)), self.objects)
        try:
            return print_module(march_2026(copy).operation)
        except ValueError:
            return super().__str__()
