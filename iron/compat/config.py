"""``aie.utils.config``: where tools and headers are. Those of the NPU are found when installed."""

from __future__ import annotations

import os


def root_path() -> str:
    """The directory of this package."""
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def cxx_header_path() -> str:
    """The include directory with ``aie_api``."""
    from ..host import include_dir

    return str(include_dir())


def peano_install_dir() -> str:
    """``PEANO_INSTALL_DIR``; RuntimeError when it names no directory."""
    path = os.environ.get("PEANO_INSTALL_DIR", "")
    if not os.path.isdir(path):
        raise RuntimeError(
            "Peano (llvm-aie) was asked for, but PEANO_INSTALL_DIR names no directory; the host "
            "target needs none"
        )
    return path


def peano_cxx_path() -> str:
    return os.path.join(peano_install_dir(), "bin", "clang++")


def peano_linker_path() -> str:
    return os.path.join(peano_install_dir(), "bin", "ld.lld")
