"""A place to break things in: a small project, its store, a stand-in compiler, and the truth.

What a result must hold is found by running the compiler by hand, never by the build layer.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from iron.build import In, IncludeDirs, Out, ProgramTool, Recipe, Ref, Session

HERE = Path(__file__).parent
LONG_AGO = 1_500_000_000
MEMOS = ("tools", "asked", "headers")  # sides of a store; see iron/build/store.py
UNKNOWN = "-DN=unknown"  # stands in a truth for the number of a round


class Yard:
    """Sources below `src`, the compiler in `bin`, results in `store`, events in `log`."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        self.src, self.bin, self.store = self.root / "src", self.root / "bin", self.root / "store"
        self.log = self.root / "log.jsonl"
        self.compiler = str(self.bin / "stand-in")
        self.tool = ProgramTool(self.compiler)

    @staticmethod
    def make(root: Path, compiler: Path, delay: int = 0) -> Yard:
        """With a compiler of its own, so that its processes can be told from others'."""
        yard = Yard(root)
        yard.src.mkdir(parents=True)
        yard.bin.mkdir()
        shutil.copy2(compiler, yard.compiler)
        yard.delay(delay)
        return yard

    def delay(self, milliseconds: int) -> None:
        """How long every command takes from now on."""
        (self.bin / "delay").write_text(f"{milliseconds}\n")

    def write(self, name: str, text: str) -> str:
        path = self.src / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def sources(self, count: int) -> list[str]:
        """Sources that share a header and have one each."""
        self.write("include/shared.h", "shared\n")
        for i in range(count):
            self.write(f"own{i}.h", f"own header {i}\n")
            self.write(f"s{i}.cc", f'#include "own{i}.h"\n#include <shared.h>\nbody {i}\n')
        return [str(self.src / f"s{i}.cc") for i in range(count)]

    # ---------------------------------------------------------------- what is built

    def object(self, source: str, *flags: str, include: Sequence[str] = ("include",)) -> Recipe:
        return Recipe(
            "kernel-object",
            self.tool,
            (*flags, IncludeDirs(), "-c", In(0), "-o", Out("kernel.o")),
            (source if os.path.isabs(source) else str(self.src / source),),
            ("kernel.o",),
            include_dirs=tuple(str(self.src / directory) for directory in include),
            scan=True,
        )

    def linked(self, *objects: Recipe) -> Recipe:
        return Recipe(
            "link",
            self.tool,
            (*(In(i) for i in range(len(objects))), "-o", Out("lib.so")),
            tuple(Ref(o) for o in objects),
            ("lib.so",),
        )

    def session(self) -> Session:
        """A new one, that remembers nothing."""
        return Session(self.store)

    # ---------------------------------------------------------------- what is true

    def truth(
        self, source: str, *flags: str, include: Sequence[str] = ("include",)
    ) -> bytes | None:
        """The object, compiled by hand; None if it does not compile."""
        with tempfile.TemporaryDirectory(dir=self.root) as work:
            directories = [f"-I{self.src / directory}" for directory in include]
            done = subprocess.run(
                [self.compiler, *flags, *directories, "-c", self.src / source, "-o", f"{work}/o"],
                stderr=subprocess.DEVNULL,
                check=False,
            )
            return None if done.returncode else Path(work, "o").read_bytes()

    @staticmethod
    def true_link(*objects: bytes) -> bytes:
        return b"".join(b"== linked\n" + o for o in objects)

    # ---------------------------------------------------------------- what is left

    def age(self) -> None:
        """Hours pass for everything in the store that is nobody's result."""
        for side in ("tmp", "lock"):
            for path in (self.store / side).glob("*"):
                os.utime(path, (LONG_AGO, LONG_AGO), follow_symlinks=False)

    def left(self, side: str) -> list[str]:
        return sorted(os.listdir(self.store / side)) if (self.store / side).exists() else []

    def strays(self) -> list[str]:
        """What lies among the results and memos and is neither: half-made names."""
        out = []
        for path in self.store.rglob("*"):
            name = path.relative_to(self.store)
            shelf = len(name.parts[0]) == 2
            unknown = len(name.parts) == 2 and len(path.name) != 40 if shelf else False
            unfinished = ".record." in path.name if shelf else name.parts[0] in MEMOS
            if unknown or (unfinished and "." in path.name):
                out.append(str(name))
        return out

    def running(self) -> list[int]:
        """The compiler's processes that are alive."""
        return running(self.compiler)

    def nobody_runs(self, seconds: float = 10.0) -> bool:
        """Whether the last command ends in time."""
        until = time.monotonic() + seconds
        while self.running():
            if time.monotonic() > until:
                for pid in self.running():
                    os.kill(pid, signal.SIGKILL)
                return False
            time.sleep(0.02)
        return True


def running(program: str) -> list[int]:
    """Processes of a program, by the file they run."""
    out = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.readlink(f"/proc/{name}/exe") == program:
                    out.append(int(name))
            except OSError:
                continue
    return out


def numbered(truth: bytes, number: int) -> bytes:
    """A truth found with `UNKNOWN`, for a number."""
    return truth.replace(UNKNOWN.encode(), f"-DN={number}".encode())
