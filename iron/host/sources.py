"""Where the emulator's own C++ lies and how it is compiled."""

from __future__ import annotations

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def runtime_sources() -> tuple[str, ...]:
    """Absolute paths of the worker's translation units, sorted."""
    directory = os.path.join(_HERE, "runtime_cc")
    names = sorted(n for n in os.listdir(directory) if n.endswith(".cc"))
    return tuple(os.path.join(directory, n) for n in names)


def include_dir() -> str:
    """The directory of `iron_host.h` and of the host's `aie_api`; for images and kernels, and for
    the worker (whose own headers lie beside its sources)."""
    return os.path.join(_HERE, "include")


def worker_flags() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Flags to compile and to link the worker with (include_dir() comes besides)."""
    link = ("-pthread",) if sys.platform == "darwin" else ("-pthread", "-ldl")
    return ("-std=c++20", "-O2", "-g1", "-pthread"), link


def image_flags() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Flags to compile bodies and kernels, and to link an image.

    ``-Bsymbolic`` binds an image's calls to its own symbols, so that a kernel named like a
    function of the C library is the one that is called.
    """
    compile_flags = ("-std=c++20", "-O2", "-fPIC", "-fwrapv", "-fvisibility=default")
    if sys.platform == "darwin":
        return compile_flags, ("-shared",)
    return compile_flags, ("-shared", "-Wl,-Bsymbolic")
