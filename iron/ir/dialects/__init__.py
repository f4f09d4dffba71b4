"""The dialect tables: what each registered operation is made of and how it is written.

One module per dialect, imported when one of its operations is first asked for.
"""

from __future__ import annotations

import functools
import importlib

from ..definition import OpDefinition

TABLES = (
    "builtin",
    "func",
    "arith",
    "math",
    "scf",
    "cf",
    "memref",
    "affine",
    "vector",
    "index",
    "ub",
    "llvm",
    "aie",
    "aiex",
)
"""The dialects there are tables for."""


@functools.cache
def table(dialect: str) -> dict[str, OpDefinition]:
    """Every definition of a dialect by its full name; empty for a dialect without a table."""
    if dialect not in TABLES:
        return {}
    rows: tuple[OpDefinition, ...] = importlib.import_module(f"{__name__}.{dialect}").ROWS
    return {row.name: row for row in rows}


@functools.cache
def lookup(name: str) -> OpDefinition | None:
    """The definition of an operation, None when it is not registered."""
    return table(name.partition(".")[0]).get(name)
