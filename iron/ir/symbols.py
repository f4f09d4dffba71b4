"""Symbols: what a name refers to, seen from an operation.

Scopes are the operations whose definition is a symbol table (module, device). A path is looked up
in the nearest scope outwards that knows its first name; its further names are inside what that
names.
"""

from __future__ import annotations

from .attributes import StringAttr, SymbolRefAttr
from .core import Operation


class SymbolTables:
    """The symbols of one module, each scope read once."""

    def __init__(self) -> None:
        self._tables: dict[Operation, dict[str, Operation]] = {}

    def names(self, scope: Operation) -> dict[str, Operation]:
        """What stands directly in `scope` under a name; buffers and locks, which are no symbols
        in MLIR, count where nothing else has their name."""
        found = self._tables.get(scope)
        if found is None:
            found = self._tables[scope] = {}
            others: dict[str, Operation] = {}
            for region in scope.regions:
                for block in region.blocks:
                    for op in block.operations:
                        name = symbol_name(op)
                        if name is not None:
                            into = found if is_symbol(op) else others
                            into.setdefault(name, op)
            for name, op in others.items():
                found.setdefault(name, op)
        return found

    def resolve(self, op: Operation, path: tuple[str, ...]) -> Operation | None:
        """What `path` names seen from `op`, None when nothing."""
        scope: Operation | None = op
        while scope is not None:
            if is_scope(scope):
                found: Operation | None = self.names(scope).get(path[0])
                if found is not None:
                    for name in path[1:]:
                        found = self.names(found).get(name) if found is not None else None
                    return found
            scope = scope.parent
        return None


_DEFAULTS = {
    "aie.device": "main",
    "aie.runtime_sequence": "sequence",
    "aiex.runtime_sequence": "sequence",
}
"""What is meant when no name is written (AIEOps.td)."""


def symbol_name(op: Operation) -> str | None:
    """The name `op` is known by, written or meant; None when it has none."""
    name = op.attributes.get("sym_name")
    return name.value if isinstance(name, StringAttr) else _DEFAULTS.get(op.name)


def is_symbol(op: Operation) -> bool:
    definition = op.definition
    return definition is not None and "symbol" in definition.traits


def is_scope(op: Operation) -> bool:
    definition = op.definition
    return definition is not None and definition.is_table


def find_symbol(op: Operation, reference: SymbolRefAttr | str) -> Operation | None:
    """What `reference` names seen from `op`, None when nothing. Reads the scopes anew each time;
    for many questions keep a `SymbolTables`."""
    path = (reference,) if isinstance(reference, str) else reference.path
    return SymbolTables().resolve(op, path)
