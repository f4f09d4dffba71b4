"""Placers of the spelling of March 2026: accepted, since iron places every design itself."""

from __future__ import annotations


class Placer:
    """Says nothing; placement is the design's own."""


class SequentialPlacer(Placer):
    """Says nothing; `cores_per_col` is accepted."""

    def __init__(self, cores_per_col: int | None = None) -> None:
        self.cores_per_col = cores_per_col
