"""What the build layer adds to a real compiler's time, and what a second job takes away."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

from .builds import recipes
from .measure import (
    Cost,
    Row,
    best,
    in_process,
    in_turns,
    milliseconds,
    process,
    user_environment,
)
from .projects import FLAGS, Project

# As much to read as a usual kernel: a fraction of a second a compile.
BODY = """#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>
extern "C" float kernel{0}(float *data, int size) {{
  std::vector<float> own(data, data + size);
  std::sort(own.begin(), own.end());
  return std::sqrt(std::accumulate(own.begin(), own.end(), {0}.0f));
}}
"""
WAITING = 12  # commands that only wait, each this long:
MILLISECONDS = 150


# What is done once a machine, and not by the sessions that are compared: what the compiler
# consists of and the headers of its own, all read. Said by a process that has done nothing yet.
FIRST_LOOK = """
import sys, time
from iron.build import In, IncludeDirs, Out, ProgramTool, Recipe, Session, nodes
store, compiler, source, include = sys.argv[1:]
argv = "-O2", IncludeDirs(), "-c", In(0), "-o", Out("kernel.o")
tool = ProgramTool(compiler)
recipe = Recipe("kernel-object", tool, argv, [source], ["kernel.o"], [include], True)
wall, cpu = time.perf_counter(), time.process_time()
Session(store).keys().leaf(recipe)
print(time.perf_counter() - wall, time.process_time() - cpu)
"""


class Compiles:
    """Some sources, compiled by hand, by make and by sessions that find nothing in the store."""

    def __init__(self, directory: Path, compiler: str | Path, count: int) -> None:
        self.directory = directory
        self.project = Project(directory / "project", count, compiler)
        self.own = float("inf")
        self._stores = 0

    def bare(self) -> Cost:
        compiler, include = self.project.compiler, self.project.include

        def run() -> None:
            for source in self.project.sources:
                command = [compiler, *FLAGS, f"-I{include}", "-c", source, "-o", "x.o"]
                subprocess.run(command, cwd=self.project.directory, check=True)

        return in_process(run)

    def make(self, jobs: int) -> Cost:
        self.project.clean()
        command = [shutil.which("make") or "make", "-s", f"-j{jobs}"]
        return process(command, self.project.directory, self.project.environment())

    def first_look(self) -> Cost:
        """In a process that knows nothing, with a store that holds nothing."""
        store, source = self.directory / "first", self.project.sources[0]
        words = [store, self.project.compiler, source, self.project.include]
        command = [sys.executable, "-c", FIRST_LOOK, *words]
        environment = user_environment(self.directory)
        text = subprocess.check_output(command, env=environment, text=True)
        shutil.rmtree(store)
        return Cost(*map(float, text.split()))

    def session(self, jobs: int) -> Cost:
        from iron.build import Session

        self._stores += 1
        session = Session(self.directory / f"store{self._stores}", jobs=jobs)
        wanted = recipes(self.project)
        before = time.process_time()
        cost = in_process(lambda: session.build(*wanted))
        self.own = min(self.own, time.process_time() - before)
        shutil.rmtree(session.store.root)
        return cost


def rows(directory: Path, free: Path, compiler: str, count: int, rounds: int) -> list[Row]:
    return [
        *_real(directory / "real", compiler, count, rounds),
        *_waiting(directory / "waiting", free, max(1, rounds // 2)),
    ]


def _real(directory: Path, compiler: str, count: int, rounds: int) -> list[Row]:
    compiles = Compiles(directory, compiler, count)
    for number, source in enumerate(compiles.project.sources):
        source.write_text(BODY.format(number))
    look = best([compiles.first_look() for _ in range(3)])
    compiles.session(2)
    found = in_turns(
        {
            "the compiler alone": compiles.bare,
            "iron session, 1 job": lambda: compiles.session(1),
            "iron session, 2 jobs": lambda: compiles.session(2),
            "make -j1": lambda: compiles.make(1),
            "make -j2": lambda: compiles.make(2),
        },
        rounds,
    )
    base, one = found["the compiler alone"], found["iron session, 1 job"]
    notes = {
        "iron session, 1 job": f"at most 3 % over the compiler: {one.wall / base.wall - 1:+.1%} "
        f"(CPU {one.cpu / base.cpu - 1:+.1%}, our own {compiles.own / base.cpu:.1%})",
    }
    return [
        _row(
            "once a machine: the compiler and its headers looked at",
            look,
            base,
            "not in the rows below",
        ),
        *(_row(f"{count} real compiles: {n}", c, base, notes.get(n, "")) for n, c in found.items()),
    ]


def _waiting(directory: Path, free: Path, rounds: int) -> list[Row]:
    """Commands that need no processor tell what jobs do even on a busy machine."""
    (directory / "bin").mkdir(parents=True)
    compiler = shutil.copy2(free, directory / "bin")
    (directory / "bin" / "delay").write_text(f"{MILLISECONDS}\n")
    compiles = Compiles(directory, compiler, WAITING)
    compiles.session(2)
    found = in_turns(
        {"1 job": lambda: compiles.session(1), "2 jobs": lambda: compiles.session(2)}, rounds
    )
    one, two = found["1 job"], found["2 jobs"]
    note = f"at least 1.9 times faster: {one.wall / two.wall:.2f} times"
    what = f"{WAITING} commands of {MILLISECONDS} ms, iron session: "
    return [_row(what + "1 job", one, one, ""), _row(what + "2 jobs", two, one, note)]


def _row(what: str, cost: Cost, base: Cost, note: str) -> Row:
    return Row(
        what,
        f"{milliseconds(cost.wall)} (CPU {milliseconds(cost.cpu)})",
        f"{cost.wall / base.wall:.3f} x (CPU {cost.cpu / base.cpu:.3f} x)",
        note,
    )
