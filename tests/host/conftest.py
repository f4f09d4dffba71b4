"""Builds host packages for the tests of this directory, with whatever C++ compiler there is."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import iron.ir as ir
from iron import host
from iron.build import Session
from iron.runtime.host import HostKernel, RunReport
from iron.runtime.memory import SharedBuffer
from iron.toolchain.host import HostToolchain

HERE = Path(__file__).parent


def compiler() -> list[str]:
    for name in (os.environ.get("CXX"), "g++", "clang++"):
        if name and shutil.which(name.split()[0]):
            return name.split()
    try:
        import ziglang  # type: ignore[import-not-found]  # noqa: F401
    except ImportError:
        pytest.skip("no C++ compiler")
    import sys

    return [sys.executable, "-m", "ziglang", "c++"]


def run(argv: Sequence[str], cwd: Path) -> None:
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(argv)}\n{done.stderr}"


def digest(*parts: str) -> str:
    h = hashlib.sha256()
    for p in parts:
        h.update(p.encode() + b"\0")
    return h.hexdigest()[:32]


@dataclass
class Workshop:
    """Compiles into a directory that all tests and test processes share; every result is named
    by what it was made from and put in place by one rename."""

    directory: Path
    runtime_store: Path
    cxx: list[str] = field(default_factory=compiler)
    plain: tuple[tuple[str, ...], tuple[str, ...]] = field(default_factory=host.worker_flags)

    def __post_init__(self) -> None:
        headers = sorted(Path(host.include_dir()).rglob("*.h*"))
        self.headers = digest(*(p.read_text() for p in headers))

    def made(self, name: str, make: Callable[[Path], None]) -> Path:
        final = self.directory / name
        if not final.exists():
            scratch = Path(tempfile.mkdtemp(dir=self.directory))
            make(scratch)
            try:
                scratch.rename(final)
            except OSError:  # another test process was faster
                shutil.rmtree(scratch)
        return final

    def worker(self) -> Path:
        """The emulator's runtime, instrumented as the environment says."""
        plain = host.worker_flags() == self.plain
        store = self.runtime_store if plain else self.directory / "store"
        return Path(Session(store).build(HostToolchain.find().worker)[0].path())

    def object(self, source: str, flags: Sequence[str]) -> Path:
        def make(scratch: Path) -> None:
            (scratch / "source.cc").write_text(source)
            compile_flags, _ = host.image_flags()
            include = ["-I", host.include_dir()]
            run([*self.cxx, *compile_flags, "-O1", *flags, *include, "-c", "source.cc"], scratch)

        key = digest("object", *self.cxx, *host.image_flags()[0], self.headers, source, *flags)
        return self.made(key, make) / "source.o"

    def image(self, image: host.Image, objects: dict[str, Path]) -> Path:
        parts = [self.object(image.source, ()), *(objects[n] for n in image.objects)]

        def make(scratch: Path) -> None:
            _, link_flags = host.image_flags()
            run([*self.cxx, *map(str, parts), *link_flags, "-o", "image.so"], scratch)

        return (
            self.made(digest("image", *self.cxx, *host.image_flags()[1], *map(str, parts)), make)
            / "image.so"
        )

    def library(self, sources: Sequence[str]) -> Path:
        """Kernels alone, to call without a design."""
        parts = [str(self.object(s, ("-O2",))) for s in sources]
        link = host.image_flags()[1]

        def make(scratch: Path) -> None:
            run([*self.cxx, *parts, *link, "-o", "library.so"], scratch)

        return self.made(digest("library", *self.cxx, *link, *parts), make) / "library.so"

    def package(self, design: host.HostDesign, kernels: dict[str, str], where: Path) -> Path:
        """A package directory; `kernels` maps an object's name to its C++."""
        where.mkdir(parents=True)
        with ThreadPoolExecutor(2) as pool:
            objects = dict(
                zip(kernels, pool.map(lambda s: self.object(s, ()), kernels.values()), strict=True)
            )
            images = list(pool.map(lambda i: self.image(i, objects), design.images))
        for image, path in zip(design.images, images, strict=True):
            shutil.copy(path, where / f"{image.name}.so")
        shutil.copy(self.worker(), where / "worker")
        (where / "design.net").write_text(design.network)
        (where / "arguments.json").write_text(json.dumps([a.dtype for a in design.arguments]))
        return where


@dataclass
class Built:
    """A package and a call of it with arrays."""

    design: host.HostDesign
    directory: Path
    kernel: HostKernel
    report: RunReport | None = None

    def __call__(
        self, *args: npt.NDArray[np.generic] | int | float, timeout: float | None = 60
    ) -> list[npt.NDArray[np.generic]]:
        """Run with copies of the arrays; what they hold afterwards."""
        shared = []
        for a in args:
            if isinstance(a, np.ndarray):
                buffer = SharedBuffer(a.nbytes)
                buffer.array[:] = np.ascontiguousarray(a).view(np.uint8).reshape(-1)
                shared.append(buffer)
            else:
                shared.append(a)
        self.report = self.kernel.run(shared, timeout)
        return [
            b.array.view(a.dtype).reshape(a.shape).copy()
            for a, b in zip(args, shared, strict=True)
            if isinstance(a, np.ndarray)
        ]


@pytest.fixture(scope="session")
def workshop(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    runtime_store: Path,
) -> Workshop:
    cache = getattr(request.config, "cache", None)
    if cache is not None:
        return Workshop(Path(cache.mkdir("iron-host-tests")), runtime_store)
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "workshop"
    shared.mkdir(exist_ok=True)
    return Workshop(shared, runtime_store)


@pytest.fixture
def build(workshop: Workshop, tmp_path: Path) -> Iterator[Callable[..., Built]]:
    """build(mlir text, {"k.o": C++}, sequence=...) -> Built"""
    made: list[Built] = []

    def make(
        text: str,
        kernels: dict[str, str] | None = None,
        *,
        sequence: str | None = None,
        device: str | None = None,
        file: str = "design.py",
    ) -> Built:
        design = host.lower(ir.parse(text, file), device=device, sequence=sequence)
        directory = workshop.package(design, kernels or {}, tmp_path / f"package{len(made)}")
        made.append(Built(design, directory, HostKernel(directory, name="design")))
        return made[-1]

    yield make
    for b in made:
        b.kernel.close()
