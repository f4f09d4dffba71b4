"""The host target: an AIE design as a process network that runs on this machine.

`lower` turns an MLIR module into the text of a network and C++ images; the toolchain room
builds them into a package, `iron.runtime.host` runs it. Knows nothing of designs in Python, of
the JIT and of SCons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checks import LimitError, check_limits
    from .design import Argument, HostDesign, Image, lower
    from .errors import HostError
    from .sources import image_flags, include_dir, runtime_sources, worker_flags

_HOMES = {
    "Argument": "design",
    "HostDesign": "design",
    "HostError": "errors",
    "Image": "design",
    "LimitError": "checks",
    "check_limits": "checks",
    "image_flags": "sources",
    "include_dir": "sources",
    "lower": "design",
    "runtime_sources": "sources",
    "worker_flags": "sources",
}

__all__ = [
    "Argument",
    "HostDesign",
    "HostError",
    "Image",
    "LimitError",
    "check_limits",
    "image_flags",
    "include_dir",
    "lower",
    "runtime_sources",
    "worker_flags",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
