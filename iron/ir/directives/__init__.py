"""Directives: pieces of assembly formats written in Python, for what a format string cannot say.

``!scf.For()`` in a format is the class `For` of the module `scf` here, made with the definition and
the names between the parentheses. Modules are imported when first needed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..definition import OpDefinition
    from ..spelling import Element


def directive(name: str, definition: OpDefinition, arguments: list[str]) -> Element:
    """The directive called ``module.Class``; AttributeError when there is none such."""
    module, _, word = name.partition(".")
    make = getattr(importlib.import_module(f"{__name__}.{module}"), word)
    element: Element = make(definition, *arguments)
    return element
