"""Named targets that are looked at before SCons goes through its graph: none that is stale is
passed over, and SCons is asked for nothing about the others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from build_workshop import CXX, Workshop

# Stamps are believed however young they are, so that what has only just been written tells.
HEAD = f"""
import os, iron.build as ib, iron.build.digests as digests
digests.RACY_NS = -10**18

def compiled(target, source, env):
    return ib.Recipe("kernel-object", CXX, (ib.IncludeDirs(), "-c", ib.In(0), "-o",
                     ib.Out("kernel.o")), (source[0],), ("kernel.o",),
                     include_dirs=(Dir("front").abspath, Dir("inc").abspath), scan=True)

CXX = ib.ProgramTool({CXX!r})
env = Environment(tools=[ib.tool])
DefaultEnvironment(tools=[])
"""
SCONSTRUCT = (
    HEAD
    + """
env.Recipe("build/a.o", "src/a.cc", recipe=compiled)
env.Recipe("build/b.o", "src/b.cc", recipe=compiled)
"""
)


class Project:
    def __init__(self, w: Workshop) -> None:
        self.w = w
        w.write("SConstruct", SCONSTRUCT)
        (w.src / "front").mkdir()
        w.write("inc/n.h", "#define N 1\n")
        w.write("src/a.cc", '#include "n.h"\nint f() { return N; }\n')
        w.write("src/b.cc", "int g() { return 2; }\n")

    def scons(self, *arguments: str) -> tuple[int, set[str], str]:
        """Commands that ran, targets that SCons had to look at, and what was printed."""
        before = self.w.runs()
        trace = self.w.root / "walk"
        trace.unlink(missing_ok=True)
        done = subprocess.run(
            [sys.executable, "-m", "SCons", "-Q", f"--taskmastertrace={trace}", *arguments],
            cwd=self.w.src,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        looked = [line for line in trace.read_text().splitlines() if "Evaluating" in line]
        names = ("build/a.o", "build/b.o")
        walked = {name for name in names if any(f"'{name}'" in line for line in looked)}
        return self.w.runs() - before, walked, done.stdout


@pytest.fixture
def project(w: Workshop) -> Project:
    return Project(w)


def keeping_time(path: Path, change: Callable[[], Any]) -> None:
    status = path.stat()
    change()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_what_stands_is_passed_over_and_every_change_is_seen(project: Project) -> None:
    p, src = project, project.w.src
    target, header = src / "build/a.o", src / "inc/n.h"
    assert p.scons()[0] == 2
    assert p.scons()[:2] == (0, set())  # looks and writes down
    assert p.scons()[:2] == (0, set())  # believes what is written

    keeping_time(header, lambda: header.write_text("#define N 7\n"))
    assert p.scons()[:2] == (1, {"build/a.o"})
    p.w.write("front/n.h", "#define N 9\n")  # a header where none was
    assert p.scons()[:2] == (1, {"build/a.o"})
    (src / "front/n.h").unlink()
    assert p.scons()[:2] == (0, {"build/a.o"})  # from the store
    assert p.scons()[:2] == (0, set())

    good = target.read_bytes()
    os.chmod(target, 0o644)
    twin = target.with_name("twin")
    twin.write_bytes(good[:-1] + b"x")
    os.utime(twin, ns=(0, target.stat().st_mtime_ns))
    twin.replace(target)
    assert p.scons()[:2] == (0, {"build/a.o"})
    assert target.read_bytes() == good
    target.unlink()
    assert p.scons()[1] == {"build/a.o"}
    assert target.read_bytes() == good


def test_a_memo_that_is_damaged_or_foreign_costs_time_only(project: Project) -> None:
    p = project
    p.scons()
    p.scons()
    (memo,) = (p.w.store / "standing").iterdir()
    text = memo.read_text()
    for damaged in (text.replace('"used"', '"usee"'), "\n\n\n"):
        memo.write_text(damaged)
        assert p.scons()[:2] == (0, set())
    p.w.write("src/b.cc", "int g() { return 3; }\n")
    assert p.scons()[:2] == (1, {"build/b.o"})
    memo.write_text(text)  # of an older state of the tree
    assert p.scons()[:2] == (0, set())


def test_what_the_run_itself_remakes_is_not_taken_for_standing(project: Project) -> None:
    p = project
    p.w.write(
        "SConstruct",
        HEAD
        + """
a = env.Recipe("build/a.o", "src/a.cc", recipe=compiled)
env.Depends(a, env.Command("inc/n.h", "n.in", Copy("$TARGET", "$SOURCE")))
env.Command("src/m.h", "m.in", Copy("$TARGET", "$SOURCE"))  # found by SCons' own scanner
b = env.Recipe("build/b.o", "src/b.cc", recipe=compiled)
env.Command("copied.o", b, Copy("$TARGET", "$SOURCE"))
""",
    )
    (p.w.src / "inc/n.h").unlink()
    p.w.write("src/b.cc", '#include "m.h"\nint g() { return M; }\n')
    p.w.write("n.in", "#define N 1\n")
    p.w.write("m.in", "#define M 1\n")
    p.scons()
    assert p.scons()[:2] == (0, {"build/a.o", "build/b.o"})
    p.w.write("n.in", "#define N 2\n")
    assert p.scons()[0] == 1
    p.w.write("m.in", "#define M 2\n")
    assert p.scons()[0] == 1
    assert (p.w.src / "copied.o").read_bytes() == (p.w.src / "build/b.o").read_bytes()


def test_the_switches_of_scons_reach_targets_that_stand(project: Project) -> None:
    p = project
    p.scons()
    p.scons()
    assert "`build/a.o' is up to date" in p.scons("build/a.o")[2]
    assert "`.' is up to date" in p.scons("-n")[2]
    with (p.w.src / "SConstruct").open("a") as stream:
        stream.write("AlwaysBuild('build/b.o')\n")
    assert p.scons()[1] == {"build/b.o"}
    assert "Removed build/a.o" in p.scons("-c")[2]
    assert not (p.w.src / "build/a.o").exists()
