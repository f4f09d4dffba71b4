"""The names of mlir-aie's Python package over iron: ``aie.iron``, ``aie.utils`` and the others.

Nothing happens at import. `install` lets ``import aie...`` be answered here, when no mlir-aie is
installed; ``iron run script.py``, ``python -m iron.compat script.py`` and ``import
iron.compat.aie`` call it.
"""

from __future__ import annotations

from .hook import install, installed, uninstall
from .scripts import run_script

__all__ = ["install", "installed", "run_script", "uninstall"]
