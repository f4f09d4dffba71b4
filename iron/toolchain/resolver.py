"""Where the tools of the npu target are: one resolver for keys, builds and ``iron doctor``.

Order for each: what the environment names, the wheel, what mlir-aie brings along, PATH. Finding
costs stats only and starts no process. A place that the environment names and that has nothing is
not passed over: it is what the user asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from .compiler import ToolNotFound, which

PEANO_PROGRAMS = (
    "clang", "clang++", "opt", "llc", "ld.lld", "llvm-objcopy", "llvm-ar", "llvm-nm", "llvm-link",
)  # fmt: skip
PEANO_LIBRARIES = ("crt0.o", "crt1.o", "libc.a", "libm.a")
"""What clang links into every core, in ``lib/<target>``."""
TARGETS = ("aie2-none-unknown-elf", "aie2p-none-unknown-elf")
MLIR_AIE_PROGRAMS = ("aie-opt", "aie-translate")


@dataclass(frozen=True)
class Found:
    """A program or a directory, and which way it was found (for people)."""

    path: str
    source: str


@dataclass(frozen=True)
class Search:
    """The answer to one question: what was found, and every place that was looked at."""

    what: str
    found: Found | None
    looked: tuple[str, ...]
    advice: str = ""

    def need(self) -> Found:
        """What was found; ToolNotFound says where it was looked for and what to do."""
        if self.found is None:
            raise ToolNotFound(self.problem())
        return self.found

    def problem(self) -> str:
        """That nothing was found, where it was looked for, and what to do."""
        places = "".join(f"\n  - {p}" for p in self.looked)
        return f"{self.what} was not found; looked at:{places}\n{self.advice}"


class _Looking:
    """Candidates are tried in order; the first that passes is taken."""

    def __init__(self, what: str, advice: str) -> None:
        self.what, self.advice = what, advice
        self.looked: list[str] = []
        self.found: Found | None = None
        self._closed = False

    def program(self, path: str | None, source: str, *, decides: bool = False) -> None:
        self._try(path, source, path is not None and _executable(path), decides)

    def directory(
        self, path: str | None, source: str, needs: str, *, decides: bool = False
    ) -> None:
        good = path is not None and os.path.exists(os.path.join(path, needs))
        self._try(path, f"{source} ({needs} in it)" if path else source, good, decides)

    def _try(self, path: str | None, source: str, good: bool, decides: bool) -> None:
        if self.found is not None or self._closed:
            return
        shown = f"{source}: {path}" if path else source
        if good and path is not None:
            self.found = Found(os.path.abspath(path), source.split(" (")[0])
        else:
            self.looked.append(f"{shown}: {'nothing there' if path else 'not there'}")
            self._closed = decides

    def result(self) -> Search:
        return Search(self.what, self.found, tuple(self.looked), self.advice)


def _executable(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _named(variable: str) -> str | None:
    return os.environ.get(variable) or None


def package_directory(module: str) -> str | None:
    """Where an installed package's files are, without importing it."""
    import importlib.util

    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return places[0] if places else None


def distribution_directory(name: str, folder: str) -> str | None:
    """`folder` beside an installed distribution: for wheels whose files are no Python package."""
    import importlib.metadata

    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return None
    path = os.fspath(found.locate_file(folder))  # type: ignore[call-overload]
    return path if os.path.isdir(path) else None


def find_mlir_aie() -> Search:
    """The directory with ``bin/aie-opt``."""
    look = _Looking(
        "mlir-aie (aie-opt, aie-translate)",
        "Install its wheel (pip install mlir_aie) or set MLIR_AIE_INSTALL_DIR to an installation.",
    )
    needs = "bin/aie-opt"
    if named := _named("MLIR_AIE_INSTALL_DIR"):
        look.directory(named, "MLIR_AIE_INSTALL_DIR", needs, decides=True)
    look.directory(package_directory("mlir_aie"), "the mlir_aie wheel", needs)
    on_path = which("aie-opt")
    root = os.path.dirname(os.path.dirname(os.path.abspath(on_path))) if on_path else None
    look.directory(root, "aie-opt on PATH", needs)
    return look.result()


def find_peano(mlir_aie: Found | None) -> Search:
    """The directory with ``bin/clang++`` that compiles for the array's cores."""
    look = _Looking(
        "Peano (clang++ for AIE cores)",
        "Install its wheel (pip install llvm-aie) or set PEANO_INSTALL_DIR to an installation.",
    )
    needs = "bin/clang++"
    if named := _named("PEANO_INSTALL_DIR"):
        look.directory(named, "PEANO_INSTALL_DIR", needs, decides=True)
    wheel = distribution_directory("llvm-aie", "llvm-aie")
    look.directory(wheel, "the llvm-aie wheel", needs)
    bundled = os.path.join(mlir_aie.path, "peano") if mlir_aie else None
    look.directory(bundled, "beside mlir-aie", needs)
    return look.result()


def _tool(
    what: str, variable: str, names: tuple[str, ...], mlir_aie: Found | None, advice: str
) -> Search:
    look = _Looking(what, advice)
    if named := _named(variable):
        path = named if os.path.dirname(named) else which(named)
        look.program(path or named, variable, decides=True)
    for path in _bundled(mlir_aie, names):
        look.program(path, "mlir-aie's bundle")
    for root in filter(None, (_named("XILINX_XRT"), "/opt/xilinx/xrt")):
        for name in names:
            look.program(os.path.join(root, "bin", name), "XRT")
    for name in names:
        look.program(which(name), f"{name} on PATH")
    return look.result()


def _bundled(mlir_aie: Found | None, names: tuple[str, ...]) -> Iterator[str]:
    if mlir_aie is not None:
        for name in names:
            yield os.path.join(mlir_aie.path, "bin", name)


def find_bootgen(mlir_aie: Found | None) -> Search:
    return _tool(
        "bootgen", "AIE_BOOTGEN", ("bootgen",), mlir_aie,
        "It comes with mlir-aie and Vitis; Debian has it as package xilinx-bootgen. "
        "AIE_BOOTGEN names one.",
    )  # fmt: skip


def find_xclbinutil(mlir_aie: Found | None) -> Search:
    return _tool(
        "xclbinutil", "AIE_XCLBINUTIL", ("hrx-xclbinutil", "xclbinutil"), mlir_aie,
        "It comes with mlir-aie's wheel and with XRT; AIE_XCLBINUTIL names one. Without it "
        "xclbins are written by iron itself.",
    )  # fmt: skip


def find_aiebu(mlir_aie: Found | None) -> Search:
    return _tool(
        "aiebu-asm", "AIE_AIEBU_ASM", ("aiebu-asm",), mlir_aie,
        "It comes with XRT; only full_elf=True needs it.",
    )  # fmt: skip


def find_chess(mlir_aie: Found | None) -> Search:
    """xchesscc_wrapper of mlir-aie, which needs AIETOOLS at run time."""
    return _tool(
        "xchesscc_wrapper", "AIE_XCHESSCC", ("xchesscc_wrapper",), mlir_aie,
        "It comes with mlir-aie and needs AMD's Vitis tools (AIETOOLS); only use_chess=True "
        "needs it.",
    )  # fmt: skip


def version_of(distribution: str) -> str | None:
    """The version of an installed wheel, None when it is none."""
    import importlib.metadata

    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None
