"""The npu target with stand-ins of its tools."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import npu_designs
import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "standins"), str(HERE.parent / "xrt")]

from installation import Installation, install  # noqa: E402

ELSEWHERE = ("PEANO_INSTALL_DIR", "AIE_XCLBINUTIL", "AIE_BOOTGEN", "XILINX_XRT", "AIETOOLS")


@pytest.fixture
def tools(tmp_path, monkeypatch) -> Installation:
    """Stand-ins of every tool, named by the environment."""
    made = install(tmp_path / "tools")
    monkeypatch.setenv("MLIR_AIE_INSTALL_DIR", str(made.mlir_aie))
    for name in ELSEWHERE:
        monkeypatch.delenv(name, raising=False)
    return made


class Project:
    """One design on disk, its tools, and a session."""

    def __init__(self, folder: Path, tools: Installation, store: Path, log) -> None:
        from iron.build import Session

        self.folder, self.tools, self.log = folder, tools, log
        self.session = Session(store)
        self.kernel = folder / "kernel.cc"
        self.kernel.write_text(npu_designs.KERNEL)
        self.text = npu_designs.usual()
        self.options: dict = {}

    def objects(self) -> dict:
        from iron.toolchain.objects import CompileSpec, ObjectSpec, SourceFile

        def spec(name: str, factor: int) -> ObjectSpec:
            flags = (f"-DFACTOR={factor}", f"-DNAME={name}")
            member = CompileSpec(SourceFile(str(self.kernel)), flags)
            return ObjectSpec((member,), functions=(name,), where=("design.py:7",))

        return {"twice.o": spec("twice", 2), "thrice.o": spec("thrice", 3)}

    def build(self, **options):
        from iron.toolchain.npu import NpuToolchain

        self.log.clear()
        toolchain = NpuToolchain.find(**{**self.options, **options})
        return toolchain.package(self.session, self.text, self.objects(), "demo")

    def ran(self, **options) -> dict[str, int]:
        """How many commands of each kind a build runs now."""
        self.build(**options)
        return self.log.kinds()


def made_once(tmp_path_factory, name: str, change=lambda project: None, **options) -> Path:
    """A store with a design in it, made once for all workers of a test run."""
    from iron.build import Session

    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    folder = tmp_path_factory.mktemp(name)
    made = install(folder / "tools")
    before = {n: os.environ.pop(n, None) for n in (*ELSEWHERE, "MLIR_AIE_INSTALL_DIR")}
    os.environ["MLIR_AIE_INSTALL_DIR"] = str(made.mlir_aie)

    class Quiet:
        def clear(self) -> None: ...

    try:
        project = Project(folder, made, root, Quiet())
        project.session = Session(root)
        change(project)
        project.build(**options)
    finally:
        for variable, value in before.items():
            os.environ.pop(variable, None)
            if value is not None:
                os.environ[variable] = value
    return root


def taken(store: Path, place: Path) -> Path:
    """A copy of a store that was made once."""
    shutil.copytree(store, place, symlinks=True, copy_function=os.link)
    return place


@pytest.fixture(scope="session")
def make_store(tmp_path_factory):
    """make_store(name, change): a store with one more design in it."""
    return lambda name, change: made_once(tmp_path_factory, name, change)


@pytest.fixture
def take_store(tmp_path):
    """take_store(store): a copy of it."""
    return lambda store: taken(store, tmp_path / "taken")


@pytest.fixture(scope="session")
def usual_store(tmp_path_factory):
    """A store with the usual design in it."""
    return made_once(tmp_path_factory, "npu-store")


@pytest.fixture
def project(tmp_path, tools, build_log) -> Project:
    """A design nothing of which is built."""
    return Project(tmp_path, tools, tmp_path / "store", build_log)


@pytest.fixture
def built(tmp_path, tools, build_log, usual_store) -> Project:
    """A design all of which is in the store."""
    return Project(tmp_path, tools, taken(usual_store, tmp_path / "store"), build_log)
