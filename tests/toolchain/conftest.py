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

        def spec(factor: int) -> ObjectSpec:
            member = CompileSpec(SourceFile(str(self.kernel)), (f"-DFACTOR={factor}",))
            return ObjectSpec((member,), functions=("twice",), where=("design.py:7",))

        return {"twice.o": spec(2), "thrice.o": spec(3)}

    def build(self, **options):
        from iron.toolchain.npu import NpuToolchain

        self.log.clear()
        toolchain = NpuToolchain.find(**{**self.options, **options})
        return toolchain.package(self.session, self.text, self.objects(), "demo")

    def ran(self, **options) -> dict[str, int]:
        """How many commands of each kind a build runs now."""
        self.build(**options)
        return self.log.kinds()


@pytest.fixture(scope="session")
def usual_store(tmp_path_factory):
    """A store with the usual design in it, made once for all workers of a test run."""
    from iron.build import Session
    from iron.toolchain.npu import NpuToolchain

    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "npu-store"
    folder = tmp_path_factory.mktemp("npu")
    made = install(folder / "tools")
    before = {n: os.environ.pop(n, None) for n in (*ELSEWHERE, "MLIR_AIE_INSTALL_DIR")}
    os.environ["MLIR_AIE_INSTALL_DIR"] = str(made.mlir_aie)

    class Quiet:
        def clear(self) -> None: ...

    try:
        project = Project(folder, made, root, Quiet())
        project.session = Session(root)
        NpuToolchain.find().package(project.session, project.text, project.objects(), "demo")
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
    return root


@pytest.fixture
def project(tmp_path, tools, build_log) -> Project:
    """A design nothing of which is built."""
    return Project(tmp_path, tools, tmp_path / "store", build_log)


@pytest.fixture
def built(tmp_path, tools, build_log, usual_store) -> Project:
    """A design all of which is in the store."""
    store = tmp_path / "store"
    shutil.copytree(usual_store, store, symlinks=True, copy_function=os.link)
    return Project(tmp_path, tools, store, build_log)
