"""What compiled Python code names: globals, attributes, modules it imports. Nothing runs.

Knows code objects only, not the values that the names stand for.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Iterator
from opcode import EXTENDED_ARG, opmap
from typing import Any

_GLOBAL = opmap["LOAD_GLOBAL"]
_NAMES = frozenset(opmap[o] for o in ("LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS") if o in opmap)
_CONST, _IMPORT = opmap["LOAD_CONST"], opmap["IMPORT_NAME"]
# Since Python 3.11 the lowest bit of LOAD_GLOBAL's argument says whether a call follows.
_GLOBAL_SHIFT = 1 if sys.version_info >= (3, 11) else 0


def all_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """`code` and the code of the functions inside it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from all_codes(const)


def _instructions(code: types.CodeType) -> Iterator[tuple[int, int]]:
    """(operation, argument) of one code object."""
    raw, extended = code.co_code, 0
    for i in range(0, len(raw), 2):
        operation, argument = raw[i], raw[i + 1] | extended
        extended = argument << 8 if operation == EXTENDED_ARG else 0
        yield operation, argument


@functools.lru_cache(maxsize=4096)
def global_names(code: types.CodeType) -> frozenset[str]:
    """Global names, and those of builtins, read by `code` and the functions inside it."""
    found = set()
    for c in all_codes(code):
        for operation, argument in _instructions(c):
            if operation == _GLOBAL:
                found.add(c.co_names[argument >> _GLOBAL_SHIFT])
            elif operation in _NAMES:
                found.add(c.co_names[argument])
    return frozenset(found)


@functools.lru_cache(maxsize=4096)
def all_names(code: types.CodeType) -> frozenset[str]:
    """Every attribute, global and imported name in `code` and the functions inside it."""
    return frozenset(name for c in all_codes(code) for name in c.co_names)


def imported_modules(code: types.CodeType, package: Any) -> set[str]:
    """Modules that ``import`` statements inside the functions name."""
    found: set[str] = set()
    for c in all_codes(code):
        level = 0
        for operation, argument in _instructions(c):
            if operation == _CONST and type(c.co_consts[argument]) is int:
                level = c.co_consts[argument]
            elif operation == _IMPORT:
                found.add(absolute_module(c.co_names[argument], level, package))
                level = 0
    return found


def absolute_module(module: str, level: int, package: Any) -> str:
    """The full name of a module imported relatively from `package`."""
    if not level or not isinstance(package, str) or not package:
        return module
    parent = package.rsplit(".", level - 1)[0] if level > 1 else package
    return f"{parent}.{module}" if module else parent
