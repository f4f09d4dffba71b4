"""Forks at bad moments, and steps that ask for what they are making: nobody waits for ever."""

import os
import subprocess
import sys

import pytest
from fault_yard import HERE, Yard

from iron.build import BuildError, FunctionTool, In, Out, Recipe

SECONDS = 30  # in which something has happened, or never will


def run(yard: Yard, script: str) -> subprocess.CompletedProcess:
    """A script with a yard `y` and a session `s`; whatever waits for ever is ended."""
    head = f"""
import os, signal, sys, threading, time
signal.alarm({SECONDS})
sys.path.insert(0, {str(HERE)!r})
from fault_yard import Yard
from iron.build import BuildError, FunctionTool, In, Out, Recipe, Session
y = Yard({str(yard.root)!r})
s = y.session()
def step(name, function):
    tool = FunctionTool(name, function, ("iron.build.log",))
    return Recipe(name, tool, (In(0), Out("o")), (str(y.src / "s0.cc"),), ("o",))
"""
    return subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", head + script],
        cwd=yard.root,  # not where another copy of the package may lie
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("module", ["iron.build.probe", "SCons.Node", "wave"])
def test_a_fork_while_another_thread_is_importing_for_its_first_miss(yard, module):
    """Whether it is a module of ours or not, and whatever it is imported for."""
    yard.sources(2)
    done = run(
        yard,
        """
class Slow:
    def find_spec(name, path=None, target=None):
        if name == "MODULE":
            begun.set()
            time.sleep(0.05)
begun = threading.Event()
sys.meta_path.insert(0, Slow)
def miss():
    s.build(y.object("s0.cc"))
    import wave
sys.modules.pop("wave", None)
thread = threading.Thread(target=miss)
thread.start()
begun.wait()
pid = os.fork()
if pid == 0:
    signal.alarm(5)
    Session(y.store).build(y.object("s1.cc"))
    import wave
    os._exit(0)
status = os.waitpid(pid, 0)[1]
thread.join()
print(os.waitstatus_to_exitcode(status))
""".replace("MODULE", module),
    )
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_a_fork_does_not_wait_for_a_program_that_runs_within_an_import(yard):
    """Only once, and not for long."""
    (yard.root / "program.py").write_text("import time\nbegun.set()\ntime.sleep(60)\n")
    done = run(
        yard,
        """
import builtins, iron.build.forks as forks
forks.PATIENCE = 0.2
begun = builtins.begun = threading.Event()
sys.path.insert(0, ".")
threading.Thread(target=lambda: __import__("program"), daemon=True).start()
begun.wait()
class Clock:
    monotonic = time.monotonic
    def sleep(seconds):
        waits[-1] += 1
        time.sleep(seconds)
forks.time, waits = Clock, []
for _ in range(3):
    waits.append(0)
    pid = os.fork()
    if pid == 0:
        import json
        os._exit(0)
    os.waitpid(pid, 0)
print(waits[0] > 0, waits[1:])
sys.stdout.flush()
os._exit(0)
""",
    )
    assert done.stdout == "True [0, 0]\n", done.stderr


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_step_that_builds_itself_is_told_so(yard, jobs):
    yard.sources(1)
    done = run(
        yard,
        f"""
signal.alarm(5)
s = Session(y.store, jobs={jobs})
again = step("again", lambda argv: s.build(again))
try:
    s.build(again)
except BuildError as error:
    name = again.describe()
    print(str(error).endswith(f"asks for this very result: {{name}} -> {{name}}"))
""",
    )
    assert done.stdout == "True\n", done.stderr


def test_two_steps_that_build_each_other_are_told_so(yard):
    yard.sources(1)
    done = run(
        yard,
        """
signal.alarm(5)
one = step("one", lambda argv: s.build(two))
two = step("two", lambda argv: s.build(one))
try:
    s.build(one)
except BuildError as error:
    a, b = one.describe(), two.describe()
    print(str(error).endswith(f"asks for this very result: {a} -> {b} -> {a}"))
""",
    )
    assert done.stdout == "True\n", done.stderr


def leave_by_an_exit():
    raise SystemExit(3)


def leave_by_an_exception():
    raise RuntimeError("the child's own")


def leave_by_coming_back():
    return


@pytest.mark.parametrize(
    ("leave", "status"),
    [(leave_by_an_exit, 3), (leave_by_an_exception, 1), (leave_by_coming_back, 0)],
)
def test_a_child_that_leaves_a_step_takes_nothing_with_it(yard, leave, status):
    """As a library's worker does that ends some other way than by `os._exit`."""
    yard.sources(1)
    ended = []

    def forking(argv):
        pid = os.fork()
        if pid == 0:
            leave()
            return
        ended.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        with open(argv[1], "w", encoding="utf-8") as stream:
            stream.write("whole")

    tool = FunctionTool("forking", forking, ("iron.build.log",))
    recipe = Recipe("forking", tool, (In(0), Out("o")), (str(yard.src / "s0.cc"),), ("o",))
    try:
        path = yard.session().build(recipe)[0].path()
    except BuildError as error:
        raise AssertionError(str(error)) from None
    assert ended == [status]
    assert yard.left("tmp") == []
    with open(path, encoding="utf-8") as stream:
        assert stream.read() == "whole"
