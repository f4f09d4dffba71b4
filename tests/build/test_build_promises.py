"""Promises to users that no other file of tests is about; docs/build.md lists all of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from build_workshop import Workshop, settle

from iron.build import BuildError, In, Out, ProgramTool, Recipe, Session


def script(w: Workshop, name: str, body: str) -> str:
    path = w.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}")
    path.chmod(0o755)
    settle(path)
    return str(path)


def test_an_edit_in_place_two_includes_deep_is_seen(w: Workshop) -> None:
    w.write("k.cc", '#include "mm.cc"\nint f() { return ZERO; }\n')
    w.write("mm.cc", '#include "parts/zero.cc"\n')
    deep = Path(w.write("parts/zero.cc", "#define ZERO 0\n"))
    for path in (*w.src.rglob("*"), w.src):
        settle(path)
    assert w.counted(w.object("k.cc"))[1] == 1
    before = deep.parent.stat().st_mtime_ns
    with deep.open("r+") as stream:
        stream.write("#define ZERO 1\n")
    assert deep.parent.stat().st_mtime_ns == before
    assert w.counted(w.object("k.cc"))[1] == 1
    assert w.counted(w.object("k.cc"))[1] == 0


def test_the_order_of_include_directories_is_meaning(w: Workshop) -> None:
    w.write("k.cc", "#include <n.h>\nint f() { return N; }\n")
    w.write("a/n.h", "#define N 1\n")
    w.write("b/n.h", "#define N 2\n")
    one, two = w.object("k.cc", include=["a", "b"]), w.object("k.cc", include=["b", "a"])
    first, second = w.build(one, two)
    assert Path(first.path()).read_bytes() != Path(second.path()).read_bytes()
    assert w.counted(one, two)[1] == 0


def test_the_tool_that_is_keyed_is_the_tool_that_runs(
    w: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(w, "old/packer", 'echo old > "$2"\n')
    script(w, "new/packer", 'echo new > "$2"\n')
    source = w.write("in", "x")

    def packed(place: str) -> tuple[str, int]:
        monkeypatch.setenv("PATH", f"{w.root / place}:{os.environ['PATH']}")
        recipe = Recipe("pack", ProgramTool("packer"), (In(0), Out("o")), (source,), ("o",))
        (made,), ran = w.counted(recipe)
        return Path(made.path()).read_text().strip(), ran

    assert packed("old") == ("old", 1)
    assert packed("new") == ("new", 1)
    assert packed("old") == ("old", 0)
    with pytest.raises(BuildError, match="no program 'absent-packer'"):
        w.build(Recipe("pack", ProgramTool("absent-packer"), (In(0),), (source,), ("o",)))


STEP = """
LIMIT = 1

def work(argv, *, extra=1):
    with open(argv[0], "w") as stream:
        stream.write(f"{LIMIT + extra}")
"""


@pytest.mark.parametrize(("old", "new"), [("LIMIT = 1", "LIMIT = 5"), ("extra=1", "extra=5")])
def test_a_step_in_python_counts_with_its_defaults_and_globals(
    w: Workshop, old: str, new: str
) -> None:
    run = f"""
        sys.path.insert(0, {str(w.root)!r})
        from iron.build import *
        import the_step
        tool = FunctionTool("step", the_step.work, ["the_step"])
        print(open(w.session.build(Recipe("step", tool, (Out("o"),), (), ("o",)))[0].path()).read())
    """
    path = w.root / "the_step.py"
    path.write_text(STEP)
    assert w.run_python(run) == "2\n"
    assert w.run_python(run) == "2\n"
    assert w.runs() == 1
    path.write_text(STEP.replace(old, new))
    assert w.run_python(run) == "6\n"
    path.write_text(f"# a remark that changes no code\n{STEP}")
    assert w.run_python(run) == "2\n"


def test_two_requests_that_differ_in_one_word_are_two_results(w: Workshop) -> None:
    tool = ProgramTool(script(w, "named", 'echo "$3" > "$2"\n'))
    source = w.write("in", "x")

    def named(kernel: str) -> Recipe:
        return Recipe("package", tool, (In(0), Out("o"), kernel), (source,), ("o",))

    first, second = w.build(named("A"), named("B"))
    assert [Path(r.path()).read_text() for r in (first, second)] == ["A\n", "B\n"]


def test_many_edits_in_one_process_are_each_seen_once(w: Workshop) -> None:
    session = Session(w.store)
    for number in range(5):
        w.write("k.cc", f"int f{number}() {{ return {number}; }}\n")
        session.build(w.object("k.cc"))
        assert w.runs() == number + 1
    session.build(w.object("k.cc"))
    assert w.runs() == 5


DESIGN = """
import iron.build as ib, sys
cxx = ib.ProgramTool({cxx!r})
def compiled(flags):
    return lambda target, source, env: ib.Recipe(
        "kernel-object", cxx, (*flags, "-c", ib.In(0), "-o", ib.Out("kernel.o")),
        (source[0],), ("kernel.o",), scan=True)
env = Environment(tools=[ib.tool])
one, two = compiled(["-O1"]), compiled([{flag!r}])
env.Recipe("k.o", "k.cc", recipe=one)
env.Recipe("k.o", "k.cc", recipe=two if two is not None and {flag!r} != "-O1" else one)
"""


@pytest.mark.parametrize(("flag", "status"), [("-O1", 0), ("-O2", 2)])
def test_a_target_declared_twice_is_one_or_an_error(w: Workshop, flag: str, status: int) -> None:
    w.write("SConstruct", DESIGN.format(cxx=w.cxx.program, flag=flag))
    w.write("k.cc", "int f() { return 1; }\n")
    command = [sys.executable, "-m", "SCons", "-Q"]
    done = subprocess.run(command, cwd=w.src, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    if status:
        assert "k.o" in done.stderr
        assert w.runs() == 0
    else:
        assert w.runs() == 1


def test_the_store_of_a_process_can_be_chosen_and_is_left_alone_afterwards(
    w: Workshop, tmp_path: Any
) -> None:
    w.write("k.cc", "int f() { return 1; }\n")
    Session(tmp_path / "mine").build(w.object("k.cc"))
    assert not (w.store / "lock").exists()
    assert (tmp_path / "mine" / "lock").exists()
