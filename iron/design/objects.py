"""What a design asks to have compiled: the data of `iron.toolchain.objects`."""

from __future__ import annotations

from ..toolchain.objects import CompileSpec, ObjectSpec, SourceFile, SourceText

__all__ = ["CompileSpec", "ObjectSpec", "SourceFile", "SourceText"]
