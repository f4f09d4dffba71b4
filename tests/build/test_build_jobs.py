"""One job budget per machine, a progress line on terminals, and requests that are given up."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from build_workshop import Workshop

from iron.build import In, Out, ProgramTool, Recipe, Session, budget, locks
from iron.build.environ import WITHIN

# Says how many of its kind are alive, itself included, and is for a while.
COUNTING = """#!/bin/sh
echo x > {root}/alive/$$
sleep 0.15
ls {root}/alive | wc -l >> {root}/counts
rm {root}/alive/$$
cp "$1" "$2"
"""


def counting_tool(w: Workshop) -> str:
    (w.root / "alive").mkdir(exist_ok=True)
    path = w.root / "counting"
    path.write_text(COUNTING.format(root=w.root))
    path.chmod(0o755)
    return str(path)


MANY = """
    from iron.build import *
    tool, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    recipes = []
    for number in range(first, first + count):
        w.write(f"in{number}", str(number))
        path = str(w.src / f"in{number}")
        recipes.append(Recipe("step", ProgramTool(tool), (In(0), Out("o")), (path,), ("o",)))
    w.session.build(*recipes)
"""


def most_at_once(w: Workshop) -> int:
    return max(int(line) for line in (w.root / "counts").read_text().split())


def test_processes_share_one_budget(w: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRON_JOBS", "2")
    tool = counting_tool(w)
    processes = [w.python(MANY, tool, 10 * n, 3) for n in range(3)]
    for process in processes:
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
    assert w.runs("step") == 9
    assert most_at_once(w) <= 2


def test_make_hands_out_its_tokens(w: Workshop) -> None:
    script = w.root / "many.py"
    head = f"import os, sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    head += f"from build_workshop import Workshop\nw = Workshop.reopen({str(w.root)!r})\n"
    script.write_text(head + "\n".join(line.strip() if "  " * 4 not in line else line[4:]
                                       for line in MANY.splitlines()))  # fmt: skip
    tool = counting_tool(w)
    rules = "".join(f"t{n}:\n\t+{sys.executable} {script} {tool} {10 * n} 3\n" for n in range(2))
    (w.root / "Makefile").write_text(f"all: t0 t1\n{rules}")
    environment = {**os.environ, "IRON_JOBS": "8"}
    done = subprocess.run(
        ["make", "-C", str(w.root), "-j2"], env=environment, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert w.runs("step") == 6
    assert most_at_once(w) <= 2
    assert "tokens" not in done.stderr, "make got all of them back"


def test_a_build_inside_a_command_of_ours_does_not_wait_for_its_own_slot(
    w: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IRON_JOBS", "1")
    with budget.slot(lambda: False) as taken:
        assert taken
        process = w.python(MANY, counting_tool(w), 0, 1, env={**os.environ, WITHIN: "1"})
        _, err = process.communicate(timeout=30)
        assert process.returncode == 0, err


def test_a_slot_is_free_again_when_its_holder_dies(
    w: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IRON_JOBS", "1")
    holder = w.python(
        """
        from iron.build import budget
        with budget.slot(lambda: False):
            print("held", flush=True)
            sys.stdin.read()
        """,
        stdin=subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    asked: list[int] = []

    def tired() -> bool:
        asked.append(1)
        return len(asked) > 3

    with budget.slot(tired) as taken:
        assert not taken
    holder.kill()
    holder.communicate()
    with budget.slot(lambda: False) as taken:
        assert taken


def test_without_a_directory_for_slots_a_process_counts_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(budget, "_directory", lambda: "/proc/none")
    monkeypatch.setenv("IRON_JOBS", "1")
    with budget.slot(lambda: False) as first:
        assert first
        left = iter([False, True])
        with budget.slot(lambda: next(left)) as second:
            assert not second
    with budget.slot(lambda: False) as again:
        assert again


INTERRUPTED = """
    import signal, time
    from iron.build import *
    signal.signal(signal.SIGINT, signal.default_int_handler)
    path = w.write("in", "1")
    recipe = Recipe("step", ProgramTool(sys.argv[1]), (In(0), Out("o")), (path,), ("o",))
    keys = w.session.keys()
    import iron.build.nodes
    print(keys.leaf(recipe), flush=True)
    while not (w.root / "go").exists():
        time.sleep(0.005)
    try:
        w.session.build(recipe)
    except KeyboardInterrupt:
        print(time.time())
"""


@pytest.mark.parametrize("what", ["lock", "slot"])
def test_who_waits_for_others_can_be_interrupted(
    w: Workshop, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setenv("IRON_JOBS", "1")
    process = w.python(INTERRUPTED, counting_tool(w))
    assert process.stdout is not None
    if what == "slot":
        with budget.slot(lambda: False):
            process.stdout.readline()
            interrupt(w, process)
    else:
        # Whoever holds all locks of the store's directory holds the one it wants.
        key = process.stdout.readline().strip()
        with locks.exclusive(str(w.store / "lock"), key):
            interrupt(w, process)
    assert w.runs() == 0
    assert w.scratch() == []
    assert len(Session(w.store).build(*[])) == 0


def interrupt(w: Workshop, process: subprocess.Popen[str]) -> None:
    (w.root / "go").touch()
    time.sleep(0.5)
    assert process.poll() is None
    sent = time.time()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert float(out) - sent < 5, err  # half a second on a quiet machine


def test_people_are_told_whom_a_build_waits_for(w: Workshop) -> None:
    told: list[str] = []
    got = threading.Event()

    def take() -> None:
        with locks.exclusive(str(w.root), "x", waiting=told.append):
            got.set()

    with locks.exclusive(str(w.root), "x"):
        thread = threading.Thread(target=take)
        thread.start()
        deadline = time.monotonic() + 20
        while not told and time.monotonic() < deadline:
            time.sleep(0.01)
    thread.join(20)
    assert got.is_set()
    assert told == [f"process {os.getpid()} on {os.uname().nodename[:50]}"]


def on_terminal(argv: list[str], env: dict[str, str]) -> str:
    """All that a program writes to a terminal."""
    main, side = pty.openpty()
    process = subprocess.Popen(argv, env=env, stdin=side, stdout=side, stderr=side)
    os.close(side)
    out = b""
    while select.select([main], [], [], 60)[0]:
        try:
            block = os.read(main, 65536)
        except OSError:  # the other side is closed
            break
        if not block:
            break
        out += block
    process.wait()
    os.close(main)
    return out.decode()


def slow_recipe(w: Workshop) -> Any:
    path = w.root / "slow"
    path.write_text('#!/bin/sh\nsleep 1\ncp "$1" "$2"\n')
    path.chmod(0o755)
    source = w.write("in", "1")
    tool = ProgramTool(path)
    return Recipe("step", tool, (In(0), Out("o")), (source,), ("o",), label="the slow one")


def test_a_terminal_shows_what_is_running_and_nothing_else_does(w: Workshop) -> None:
    recipe = slow_recipe(w)
    script = f"""
import sys
from iron.build import *
tool = ProgramTool({recipe.tool.program!r})
Session(sys.argv[1]).build(
    Recipe("step", tool, (In(0), Out("o")), ({recipe.inputs[0]!r},), ("o",), label="the slow one"))
"""
    environment = {**os.environ, "TERM": "xterm"}
    shown = on_terminal([sys.executable, "-c", script, str(w.root / "s1")], environment)
    assert "iron [0/1] the slow one" in shown
    assert shown.endswith("\r\x1b[K"), "the line is gone in the end"
    argv = [sys.executable, "-c", script, str(w.root / "s2")]
    quiet = subprocess.run(argv, capture_output=True, text=True, env=environment, check=True)
    assert quiet.stdout + quiet.stderr == ""
