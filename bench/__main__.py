"""`python -m bench [-n 1,10,100] [--rounds 7] [--rows builds,processes,calls,compilers]`.

Everything is built below a temporary directory; nothing is kept. All sides are measured in this
one run, taking turns. `--full` is N up to 1000 and more rounds.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from iron.toolchain.compiler import find_compiler

from . import builds, calls, compilers, processes
from .measure import Row, table
from .projects import free_compiler

KINDS = ("builds", "processes", "calls", "compilers")
HEAD = Row("what", "best", "ratio", "asked for")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("-n", "--sizes", default="", help="numbers of objects (1,10,100)")
    parser.add_argument("--rounds", type=int, default=0, help="rounds of each comparison (7)")
    parser.add_argument("--rows", default=",".join(KINDS), help="which of " + ", ".join(KINDS))
    parser.add_argument("--compiler", default="", help="the real one")
    parser.add_argument("--compiles", type=int, default=6, help="how many real compiles (6)")
    parser.add_argument("--store", default="", help="of the designs; a new one by default")
    parser.add_argument("--full", action="store_true", help="N up to 1000, more rounds")
    given = parser.parse_args()
    given.compiler = given.compiler or find_compiler().program
    given.sizes = given.sizes or ("1,10,100,1000" if given.full else "1,10,100")
    given.rounds = given.rounds or (15 if given.full else 7)
    return given


def main() -> None:
    given = arguments()
    wanted = given.rows.split(",")
    with tempfile.TemporaryDirectory(prefix="iron-bench-") as name:
        directory = Path(name)
        # Job slots of our own: other builds on this machine are not to be waited for.
        os.environ["XDG_RUNTIME_DIR"] = name
        compiler = free_compiler(directory)
        store = given.store or str(directory / "jit-store")
        if "builds" in wanted:
            for count in map(int, given.sizes.split(",")):
                found = builds.compare(directory / f"n{count}", count, compiler, given.rounds)
                title = f"{count} objects, a free compiler; ratio to stock scons"
                show(title, builds.rows(count, found))
        if "processes" in wanted:
            rows = processes.rows(directory, compiler, store, given.rounds)
            show("a new process; ratio to importing NumPy", rows)
        if "calls" in wanted:
            show("calls of a loaded design", calls.rows(store, 20 * given.rounds))
        if "compilers" in wanted:
            rounds = max(1, given.rounds // 3)
            real = compilers.rows(directory, compiler, given.compiler, given.compiles, rounds)
            show("compilers; ratio to the compiler alone, or to one job", real)


def show(title: str, rows: list[Row]) -> None:
    load = f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(table(f"{title} ({load})", rows, HEAD), flush=True)
    print()


if __name__ == "__main__":
    main()
