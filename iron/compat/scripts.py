"""Runs a script as Python does, with the names of mlir-aie answered by iron."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence

from .hook import install


def run_script(path: str, arguments: Sequence[str] = ()) -> None:
    """Run `path` as ``__main__`` with `arguments`; modules next to it can be imported.

    What the script raises is not caught. FileNotFoundError when there is no such file.
    """
    if not os.path.isfile(path):
        raise FileNotFoundError(f"no such script: {path}")
    install()
    argv, first = list(sys.argv), os.path.dirname(os.path.abspath(path))
    sys.argv[:] = [path, *arguments]
    sys.path.insert(0, first)
    try:
        runpy.run_path(path, run_name="__main__")
    finally:
        sys.argv[:] = argv
        if first in sys.path:
            sys.path.remove(first)
