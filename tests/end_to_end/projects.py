"""A user's project on disk: a design, its kernel, its header; edited, called, run as a script."""

from __future__ import annotations

import importlib.util
import itertools
import os
import subprocess
import sys
from pathlib import Path

DESIGN = """
import numpy as np

import iron
from iron import ExternalFunction, In, ObjectFifo, Out, Program, Runtime, Worker

TILE = 64


@iron.jit
def scaled(source: In, result: Out, *, N: iron.CompileTime[int] = 256):
    tile = np.ndarray[(TILE,), np.dtype[np.int32]]
    whole = np.ndarray[(N,), np.dtype[np.int32]]
    scale = ExternalFunction(
        "scale", source_file="scale.cc", arg_types=[tile, tile, np.int32], include_dirs=["include"]
    )
    arriving, leaving = ObjectFifo(tile, name="arriving"), ObjectFifo(tile, name="leaving")

    def core(arriving, leaving, scale):
        x, y = arriving.acquire(1), leaving.acquire(1)
        scale(x, y, 10)
        arriving.release(1)
        leaving.release(1)

    worker = Worker(core, [arriving.cons(), leaving.prod(), scale])

    def sequence(a, b, arriving, leaving):
        arriving.fill(a)
        leaving.drain(b, wait=True)

    runtime = Runtime(sequence, [whole, whole, arriving.prod(), leaving.cons()])
    return Program(iron.get_current_device(), runtime, workers=[worker]).resolve_program()


def call():
    source, result = iron.arange(256, dtype=np.int32), iron.zeros(256, dtype=np.int32)
    scaled(source, result)
    return result.numpy().copy()


if __name__ == "__main__":
    import sys

    print(call()[1], "SCons" in sys.modules)
"""
KERNEL = """#include "factor.h"

extern "C" void scale(const int *in, int *out, int by) {
  for (int i = 0; i < 64; ++i)
    out[i] = in[i] * by * FACTOR;
}
"""
HEADER = "#define FACTOR 3\n"

_modules = itertools.count()


class Project:
    """The files of one user, and what he does with them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "include").mkdir(parents=True)
        self.write("design.py", DESIGN)
        self.write("scale.cc", KERNEL)
        self.write("include/factor.h", HEADER)

    def write(self, name: str, text: str) -> None:
        (self.path / name).write_text(text)

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.path / name).read_text()
        assert old in text, f"{name} has no {old!r}"
        (self.path / name).write_text(text.replace(old, new))

    def load(self):
        """The design's module, imported afresh under a name of its own."""
        name = f"iron_test_project_{next(_modules)}"
        spec = importlib.util.spec_from_file_location(name, self.path / "design.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, str(self.path / "design.py"), *arguments],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.path.parent,
        )

    def run(self, **environment: str) -> str:
        """What the design prints as a script in a new process."""
        process = self.start(**environment)
        out, err = process.communicate()
        assert process.returncode == 0, err
        return out.strip()


def scratch_left(store: str) -> list[str]:
    """What lies in a store's scratch directory."""
    scratch = Path(store) / "tmp"
    return sorted(p.name for p in scratch.iterdir()) if scratch.exists() else []
