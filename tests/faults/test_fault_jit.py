"""Designs that are called while everything they are made of is edited, and callers that are killed:
each call shows the files as they are, in every thread, child and new process."""

import importlib.util
import itertools
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

DESIGN = """
import sys
import threading
import numpy as np
import iron
from iron import ExternalFunction, In, ObjectFifo, Out, Program, Runtime, Worker
from {helper} import offset

BY = 2


@iron.jit
def changed(source: In, result: Out, *, extra: iron.CompileTime[int] = 0):
    tile = np.ndarray[(16,), np.dtype[np.int32]]
    change = ExternalFunction(
        "change", source_file="change.cc", arg_types=[tile, tile, np.int32, np.int32],
        include_dirs=["first", "second"],
    )
    arriving, leaving = ObjectFifo(tile, name="arriving"), ObjectFifo(tile, name="leaving")

    def core(arriving, leaving, change):
        x, y = arriving.acquire(1), leaving.acquire(1)
        change(x, y, BY, offset() + extra)
        arriving.release(1)
        leaving.release(1)

    def sequence(a, b, arriving, leaving):
        arriving.fill(a)
        leaving.drain(b, wait=True)

    worker = Worker(core, [arriving.cons(), leaving.prod(), change])
    runtime = Runtime(sequence, [tile, tile, arriving.prod(), leaving.cons()])
    return Program(iron.get_current_device(), runtime, workers=[worker]).resolve_program()


def call(extra=0):
    a, b = iron.arange(16, dtype=np.int32), iron.zeros(16, dtype=np.int32)
    changed(a, b, extra=extra)
    return int(b.numpy()[1]), int(b.numpy()[15])


if __name__ == "__main__":
    print(*call(int(sys.argv[1])))
"""
KERNEL = """#include "factor.h"
extern "C" void change(const int *in, int *out, int by, int offset) {
  for (int i = 0; i < 16; ++i)
    out[i] = in[i] * by * FACTOR + offset + %d;
}
"""
_numbers = itertools.count()


class Project:
    """The files, and what a call must give."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.helper = f"helper_of_faults_{next(_numbers)}"
        (path / "first").mkdir(parents=True)
        (path / "second").mkdir()
        self.by, self.offset, self.add = 2, 5, 0
        self.factors = {"first": None, "second": 3}
        (path / "design.py").write_text(DESIGN.format(helper=self.helper))
        self.set_offset(5)
        self.set_add(0)
        self.set_factor("second", 3)

    def set_by(self, by: int) -> None:
        text = (self.path / "design.py").read_text()
        (self.path / "design.py").write_text(text.replace(f"\nBY = {self.by}\n", f"\nBY = {by}\n"))
        self.by = by

    def set_offset(self, offset: int) -> None:
        self.offset = offset
        (self.path / f"{self.helper}.py").write_text(f"def offset():\n    return {offset}\n")

    def set_add(self, add: int) -> None:
        self.add = add
        (self.path / "change.cc").write_text(KERNEL % add)

    def set_factor(self, place: str, factor: int | None) -> None:
        """None: no header in that directory; `first` is in front of `second`."""
        self.factors[place] = factor
        header = self.path / place / "factor.h"
        header.unlink(missing_ok=True)
        if factor is not None:
            header.write_text(f"#define FACTOR {factor}\n")

    def edit(self, rng) -> None:
        value = rng.randrange(1, 6)
        what = rng.choice(("by", "offset", "add", "first", "second", "unshadow"))
        if what == "unshadow":
            self.set_factor("first", None)
        elif what in self.factors:
            self.set_factor(what, value)
        else:
            getattr(self, f"set_{what}")(value)

    def expected(self, extra: int = 0) -> tuple[int, int]:
        factor = self.factors["first"] or self.factors["second"]
        return tuple(i * self.by * factor + self.offset + extra + self.add for i in (1, 15))

    def load(self, monkeypatch):
        """The design's module; its helper is found as a script's would be."""
        monkeypatch.syspath_prepend(str(self.path))
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        name = f"{self.helper}_design"
        spec = importlib.util.spec_from_file_location(name, self.path / "design.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    def start(self, extra: int = 0) -> subprocess.Popen:
        return subprocess.Popen(
            # Byte code is matched to its source by size and whole seconds: edits are faster.
            [sys.executable, "-B", self.path / "design.py", str(extra)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, extra: int = 0) -> tuple[int, ...]:
        process = self.start(extra)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        return tuple(map(int, out.split()))


@pytest.fixture
def project(tmp_path, own_store) -> Project:
    return Project(tmp_path / "project")


def in_a_child(call) -> tuple[int, ...]:
    """What a call gives in a forked child."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(theirs, " ".join(map(str, call())).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with open(ours, encoding="utf-8") as stream:
        found = tuple(map(int, stream.read().split()))
    os.waitpid(pid, 0)
    return found


def in_threads(call, count: int) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    threads = [threading.Thread(target=lambda: found.append(call())) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # forking with threads
def test_random_edits_between_calls(project, rng, full, count, monkeypatch):
    design = project.load(monkeypatch)
    assert design.call() == project.expected()
    calls = 1
    for _ in range(80 if full else 4):
        for _ in range(rng.randint(1, 2)):
            project.edit(rng)
        extra = rng.choice((0, 0, 100))
        way = rng.random()
        if way < 0.25:
            found = in_threads(lambda: design.call(extra), 3)  # noqa: B023
        elif way < 0.5:
            found = [in_a_child(lambda: design.call(extra))]  # noqa: B023
        elif way < 0.6:
            found = [project.run(extra)]
        else:
            found = []
        found.append(design.call(extra))
        assert found == [project.expected(extra)] * len(found)
        calls += len(found)
    count(calls=calls, wrong=0)


def test_callers_killed_at_random(project, rng, full, own_store, count):
    """The next caller is right, without delay and without anything left of the dead one's."""
    killed = 0
    for number in range(60 if full else 2):
        project.set_add(number)
        process = project.start()
        time.sleep(rng.uniform(0.1, 1.5))
        killed += process.poll() is None
        process.kill()
        process.communicate()
        assert project.run() == project.expected()
    until = time.monotonic() + 10
    while workers(own_store) and time.monotonic() < until:
        time.sleep(0.05)
    assert workers(own_store) == []
    for path in Path(own_store, "tmp").iterdir():
        os.utime(path, (10**9, 10**9))
    project.set_add(999)
    assert project.run() == project.expected()
    assert os.listdir(Path(own_store, "tmp")) == []
    count(callers=number + 1, killed=killed, wrong=0, left=0)


def workers(store: str) -> list[int]:
    """Processes of programs that lie in a store."""
    out = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.readlink(f"/proc/{name}/exe").startswith(store):
                    out.append(int(name))
            except OSError:
                continue
    return out


def test_a_helper_edited_between_its_import_and_the_first_call(project, monkeypatch):
    design = project.load(monkeypatch)
    project.set_offset(9)
    assert design.call() == project.expected()
