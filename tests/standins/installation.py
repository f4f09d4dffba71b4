"""A directory with stand-ins of the whole npu tool chain, as its wheels lay it out."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PEANO = (
    "clang++", "clang", "opt", "llc", "llvm-link", "llvm-objcopy", "llvm-ar", "ld.lld", "llvm-nm",
)  # fmt: skip
MLIR = ("aie-opt", "aie-translate")


@dataclass(frozen=True)
class Installation:
    root: Path

    @property
    def mlir_aie(self) -> Path:
        return self.root / "mlir_aie"

    @property
    def peano(self) -> Path:
        return self.mlir_aie / "peano"

    def tool(self, name: str) -> Path:
        home = self.peano if name in PEANO else self.mlir_aie
        return home / "bin" / name

    def fail(self, **how: str) -> None:
        """Have tools fail from now on: "exit", "nothing", "empty" or "garbage" by name."""
        named = {k.replace("_", "-").replace("clangxx", "clang++"): v for k, v in how.items()}
        (self.root / "faults.json").write_text(json.dumps(named))

    def upgrade(self, name: str) -> None:
        """Another version of a tool: other bytes."""
        path = self.tool(name)
        path.write_text(path.read_text() + "# a later version\n")

    def configure(self, **changes: object) -> None:
        path = self.root / "settings.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def install(root: Path, generation: str = "2026-03", *, xclbinutil: bool = True) -> Installation:
    """Put stand-ins of every tool below `root`."""
    from iron.host import include_dir
    from iron.toolchain.compiler import find_compiler
    from iron.toolchain.pipelines import GENERATIONS

    compiler = find_compiler()
    made = Installation(root)
    root.mkdir(parents=True, exist_ok=True)
    values = {
        "generation": generation,
        "passes": list(GENERATIONS[generation].passes),
        "compiler": [compiler.program, *compiler.leading],
    }
    (root / "settings.json").write_text(json.dumps(values))
    for script, home, names in (
        ("llvm.py", made.peano, PEANO),
        ("mlir.py", made.mlir_aie, MLIR),
        (
            "package.py",
            made.mlir_aie,
            ("bootgen", "aiecc", "aiebu-asm", *(["xclbinutil"] * xclbinutil)),
        ),
    ):
        for name in names:
            _script(home / "bin" / name, root, script, name)
    _script(made.mlir_aie / "bin" / "xchesscc_wrapper", root, "llvm.py", "xchesscc_wrapper")
    for target in ("aie2", "aie2p"):
        library = made.peano / "lib" / f"{target}-none-unknown-elf"
        library.mkdir(parents=True)
        for name in ("crt0.o", "crt1.o", "libc.a", "libm.a"):
            (library / name).write_bytes(f"{target} {name}".encode())
    (made.mlir_aie / "include").symlink_to(include_dir())
    return made


def _script(path: Path, root: Path, script: str, name: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    up = "/".join([".."] * len(path.parent.relative_to(root).parts))
    start = shlex.join([sys.executable, "-I", "-S", str(HERE / "start.py")])
    # No path of the installation's own: a copy elsewhere is the same tool.
    where = f'"$(cd "$(dirname "$0")/{up}" && pwd)"'
    path.write_text(f'#!/bin/sh\n# {script}\nexec {start} {where} {name} "$@"\n')
    path.chmod(0o755)
