"""A workshop for tests of the build layer: a source tree, a store, a build log, a compiler."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iron.build import In, IncludeDirs, Out, ProgramTool, Recipe, Ref, Session, Text

CXX = os.environ.get("CXX", "g++")
SETTLED = 1_600_000_000  # a time long past, so that stats are believed


class Workshop:
    """Sources below `src`, results below `store`, events in `log`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.src = root / "src"
        self.src.mkdir()
        self.store = root / "store"
        self.log_file = root / "log.jsonl"
        self.cxx = ProgramTool(CXX)
        self.session = Session(self.store)

    def write(self, name: str, text: str) -> str:
        path = self.src / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def object(
        self, source: str | Text, *flags: str, tool: Any = None, include: Sequence[Any] = (),
        **more: Any,
    ) -> Recipe:  # fmt: skip
        if isinstance(source, str) and not os.path.isabs(source):
            source = str(self.src / source)
        return Recipe(
            "kernel-object",
            tool or self.cxx,
            (*flags, IncludeDirs(), "-c", In(0), "-o", Out("kernel.o")),
            (source,),
            ("kernel.o",),
            include_dirs=tuple(str(self.src / d) for d in include),
            scan=True,
            **more,
        )

    def shared(self, *objects: Recipe, **more: Any) -> Recipe:
        inputs = [In(i) for i in range(len(objects))]
        return Recipe(
            "link",
            self.cxx,
            ("-shared", *inputs, "-o", Out("lib.so")),
            tuple(Ref(o) for o in objects),
            ("lib.so",),
            **more,
        )

    def build(self, *recipes: Recipe) -> list[Any]:
        return Session(self.store).build(*recipes)

    def events(self, event: str | None = None, kind: str | None = None) -> list[dict[str, Any]]:
        if not self.log_file.exists():
            return []
        lines = [json.loads(line) for line in self.log_file.read_text().splitlines()]
        return [
            e for e in lines
            if event in (None, e["event"]) and kind in (None, e["kind"])
        ]  # fmt: skip

    def runs(self, kind: str | None = None) -> int:
        return len(self.events("run", kind))

    def counted(self, *recipes: Recipe) -> tuple[list[Any], int]:
        """Results, and how many commands it took."""
        before = self.runs()
        return self.build(*recipes), self.runs() - before

    def scratch(self) -> list[str]:
        out = []
        for side in ("tmp", "lock"):
            if (self.store / side).exists():
                out += sorted(os.listdir(self.store / side))
        return out

    def python(self, text: str, *arguments: Any, **more: Any) -> subprocess.Popen[str]:
        """Start a script that has `w`, a Workshop on the same directories."""
        head = f"""
            import os, sys
            sys.path.insert(0, {str(Path(__file__).parent)!r})
            from build_workshop import Workshop
            w = Workshop.reopen({str(self.root)!r})
        """
        script = textwrap.dedent(head) + textwrap.dedent(text)
        return subprocess.Popen(
            [sys.executable, "-c", script, *map(str, arguments)],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **more,
        )

    def run_python(self, text: str, *arguments: Any) -> str:
        process = self.python(text, *arguments)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        return out

    @staticmethod
    def reopen(root: str) -> Workshop:
        made = Workshop.__new__(Workshop)
        made.root = Path(root)
        made.src, made.store = made.root / "src", made.root / "store"
        made.log_file = made.root / "log.jsonl"
        made.cxx, made.session = ProgramTool(CXX), Session(made.store)
        return made


def settle(path: str | Path) -> None:
    """Give a file a time long past."""
    os.utime(path, (SETTLED, SETTLED))
