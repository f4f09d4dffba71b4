"""Answers ``import aie...``: a finder at the very end of ``sys.meta_path``.

A real mlir-aie always comes first: it is found by the finders before, and when one is there,
nothing is installed at all. The modules given out are views: each looks its names up in modules
of ours when they are asked for.
"""

from __future__ import annotations

import difflib
import dis
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types
from collections.abc import Sequence
from typing import Any

from .modules import MODULES, TOP


class Installed(Exception):
    """A real mlir-aie is there, so its names are not answered here."""


class View(types.ModuleType):
    """A module of mlir-aie's by name; what is in it comes from `sources`, the first that has it.

    A source is a module (``"iron.design"``) or one name elsewhere (``"range_=iron.range_"``).
    """

    def __init__(self, name: str, sources: Sequence[str]) -> None:
        super().__init__(name, f"The names of {name}, answered by iron.")
        self._sources = tuple(s for s in sources if "=" not in s)
        self._names = dict(s.split("=", 1) for s in sources if "=" in s)

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return self.__dir__()
        if name.startswith("__"):
            raise AttributeError(name)
        if f"{self.__name__}.{name}" in MODULES:
            return importlib.import_module(f"{self.__name__}.{name}")
        home = self._names.get(name)
        if home is not None:
            module, _, attribute = home.rpartition(".")
            return getattr(importlib.import_module(module), attribute)
        for source in self._sources:
            try:
                return getattr(importlib.import_module(source), name)
            except AttributeError:
                continue
        near = difflib.get_close_matches(name, self.__dir__(), 3)
        message = f"module {self.__name__!r}, answered by iron, has no {name!r}" + (
            f"; near it are: {', '.join(near)}" if near else ""
        )
        # A from-import would put a message of its own in place of an AttributeError's.
        if _imports_a_name(sys._getframe(1)):
            raise ImportError(message, name=self.__name__)
        raise AttributeError(message)

    def __dir__(self) -> list[str]:
        found = set(self._names)
        for source in self._sources:
            module = importlib.import_module(source)
            found.update(n for n in getattr(module, "__all__", dir(module)) if n[0] != "_")
        return sorted(found)


def _imports_a_name(frame: types.FrameType) -> bool:
    """Whether a frame is at the ``y`` of a ``from x import y``."""
    return frame.f_code.co_code[frame.f_lasti] == dis.opmap["IMPORT_FROM"]


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and makes the views. ``aie`` itself, and every module below it that is known."""

    def find_spec(
        self, name: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] != TOP or name not in MODULES or _is_real(sys.modules.get(TOP)):
            return None
        package = any(m.startswith(f"{name}.") for m in MODULES)
        return importlib.machinery.ModuleSpec(name, self, is_package=package)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> View:
        return View(spec.name, MODULES[spec.name])

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to run."""


def _is_real(module: types.ModuleType | None) -> bool:
    """Whether a loaded ``aie`` is somebody else's; a directory without code is nobody's."""
    return module is not None and getattr(module, "__file__", None) is not None


def real_package() -> str | None:
    """Where an mlir-aie package is: its file, or a directory that has its parts; None without."""
    module = sys.modules.get(TOP)
    if isinstance(module, View):
        return None
    try:
        spec = importlib.util.find_spec(TOP)
    except (ImportError, ValueError):
        return None
    if spec is None or isinstance(spec.loader, _Finder):
        return None
    if spec.origin is not None:
        return spec.origin
    for directory in spec.submodule_search_locations or ():
        if os.path.isdir(os.path.join(directory, "iron")):
            return directory
    return None


def install() -> bool:
    """Let ``import aie...`` be answered here; whether it is now. A real mlir-aie is never
    shadowed: with one installed, this does nothing."""
    if installed():
        return True
    if real_package() is not None:
        return False
    sys.meta_path.append(_Finder())
    return True


def uninstall() -> None:
    """Take everything back that `install` did, loaded views as well."""
    sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, _Finder)]
    for name in [n for n, m in sys.modules.items() if isinstance(m, View)]:
        del sys.modules[name]


def installed() -> bool:
    """Whether `install` is in force."""
    return any(isinstance(f, _Finder) for f in sys.meta_path)
