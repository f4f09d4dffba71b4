"""Inputs as they come in real life: clocks that jump, coarse times, very many files."""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from build_workshop import SETTLED, Workshop, settle

from iron.build import FunctionTool, In, Out, ProgramTool, Recipe, Ref, Session
from iron.build import digests as digests_module


def copy(w: Workshop, name: str) -> Recipe:
    script = w.root / "copy"
    if not script.exists():
        script.write_text('#!/bin/sh\ncat "$1" > "$2"\n')
        script.chmod(0o755)
        settle(script)
    return Recipe("copy", ProgramTool(script), (In(0), Out("o")), (str(w.src / name),), ("o",))


def text(session: Session, recipe: Recipe) -> str:
    return Path(session.build(recipe)[0].path()).read_text()


@pytest.mark.parametrize("hours", [-5, 5])
def test_a_clock_that_was_set_hides_no_edit(
    w: Workshop, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    session = Session(w.store)
    path = w.write("in", "one")
    assert text(session, copy(w, "in")) == "one"
    real = time.time_ns
    shift = hours * 3600 * 10**9
    monkeypatch.setattr(digests_module.time, "time_ns", lambda: real() + shift)
    for content in ("two", "three", "fours"):
        Path(path).write_text(content)
        os.utime(path, ns=(real() + shift, real() + shift))
        assert text(session, copy(w, "in")) == content
        assert text(session, copy(w, "in")) == content


@pytest.mark.parametrize("grain", [10**9, 2 * 10**9])
def test_times_in_whole_seconds_hide_no_edit(
    w: Workshop, monkeypatch: pytest.MonkeyPatch, grain: int
) -> None:
    def coarse(status: os.stat_result) -> digests_module.Stamp:
        # An editor that writes in place, on a file system with coarse times.
        return (
            status.st_dev, status.st_ino, status.st_size,
            status.st_mtime_ns // grain * grain, status.st_ctime_ns // grain * grain,
        )  # fmt: skip

    monkeypatch.setattr(digests_module, "stamp_of", coarse)
    session = Session(w.store)
    for number in range(10):
        w.write("in", f"{number:04}")
        assert text(session, copy(w, "in")) == f"{number:04}"


def test_a_file_replaced_with_its_times_kept_is_another_file(w: Workshop) -> None:
    session = Session(w.store)
    path = w.write("in", "one")
    settle(path)
    assert text(session, copy(w, "in")) == "one"
    new = w.write("new", "two")
    os.utime(new, (SETTLED, SETTLED))
    os.replace(new, path)
    assert text(session, copy(w, "in")) == "two"


def symlink_file(w: Workshop) -> None:
    (w.src / "link.cc").unlink()
    (w.src / "link.cc").symlink_to("two.cc")


def symlink_directory(w: Workshop) -> None:
    (w.src / "inc").unlink()
    (w.src / "inc").symlink_to("inc2")


@pytest.mark.parametrize("repoint", [symlink_file, symlink_directory])
def test_a_link_that_points_elsewhere_is_seen(
    w: Workshop, repoint: Callable[[Workshop], None]
) -> None:
    w.write("one.cc", "#include <n.h>\nint one() { return N; }\n")
    w.write("two.cc", "#include <n.h>\nint two() { return N; }\n")
    w.write("inc1/n.h", "#define N 1\n")
    w.write("inc2/n.h", "#define N 2\n")
    for path in [*w.src.rglob("*")]:
        settle(path)
    (w.src / "link.cc").symlink_to("one.cc")
    (w.src / "inc").symlink_to("inc1")
    session = Session(w.store)
    recipe = w.object("link.cc", include=["inc"])
    first = session.build(recipe)[0]
    repoint(w)
    assert session.build(recipe)[0].key != first.key


def test_an_archive_of_thousands_of_members(w: Workshop) -> None:
    count, members = 5000, []
    for number in range(count):
        path = w.src / f"member_{number:04}_with_a_name_that_is_long_enough.o"
        path.write_bytes(b"%d" % number)
        members.append(str(path))
    ar = ProgramTool("ar")
    recipe = Recipe(
        "archive", ar, ("qcSD", Out("all.a"), *(In(n) for n in range(count))),
        tuple(members), ("all.a",),
    )  # fmt: skip
    result = w.build(recipe)[0]
    listed = subprocess.run(["ar", "t", result.path()], capture_output=True, text=True, check=True)
    assert len(listed.stdout.splitlines()) == count
    assert w.counted(recipe)[1] == 0
    Path(members[1234]).write_bytes(b"edited")
    assert w.session.find(recipe) is None  # `ar` itself takes seconds, so it is not run again


def test_dates_in_a_source_are_pinned(w: Workshop) -> None:
    w.write("k.cc", "const char *when() { return __DATE__ __TIME__; }\n")
    result = w.build(w.object("k.cc"))[0]
    assert b"Jan  1 1980" in Path(result.path()).read_bytes()


@pytest.mark.parametrize("seed", range(3))
def test_a_second_build_of_any_graph_is_a_no_op(w: Workshop, seed: int) -> None:
    """And after an edit, one build is enough."""
    rng = random.Random(seed)
    ran: list[str] = []

    def join(argv: list[str]) -> None:
        ran.append(argv[-1])
        content = "".join(Path(path).read_text() for path in argv[:-1])
        Path(argv[-1]).write_text(f"({content})")

    tool = FunctionTool("join", join, ("iron.build.log",))
    leaves = [w.write(f"in{n}", str(n)) for n in range(4)]
    nodes: list[Recipe] = []
    for number in range(8):
        chosen = rng.sample([*leaves, *map(Ref, nodes)], min(len(leaves) + len(nodes), 3))
        arguments = (*map(In, range(len(chosen))), Out("o"))
        nodes.append(Recipe("join", tool, arguments, tuple(chosen), ("o",), label=f"{number}"))

    def truth(item: Any) -> str:
        if isinstance(item, str):
            return Path(item).read_text()
        return f"({''.join(map(truth, item.recipe.inputs))})"

    for number in range(3):
        expected = [Path(result.path()).read_text() for result in w.build(*nodes)]
        assert expected == [truth(Ref(node)) for node in nodes]
        ran.clear()
        assert [Path(r.path()).read_text() for r in w.build(*nodes)] == expected
        assert [Path(r.path()).read_text() for r in w.build(*reversed(nodes))] == expected[::-1]
        assert ran == []
        Path(rng.choice(leaves)).write_text(str(100 + number))


def test_a_second_build_is_always_a_no_op(w: Workshop) -> None:
    """Also with sources that are generated and include generated headers."""
    generator = w.root / "generate"
    generator.write_text(
        '#!/bin/sh\nprintf \'#include "%s"\\nint g() { return N; }\\n\' "$1" > "$2"\n'
    )
    generator.chmod(0o755)
    header = w.write("n.h", "#define N 1\n")
    made = Recipe("generate", ProgramTool(generator), (In(0), Out("g.cc")), (header,), ("g.cc",))
    recipe = Recipe(
        "kernel-object", w.cxx, ("-c", In(0), "-o", Out("g.o")), (Ref(made),), ("g.o",), scan=True
    )
    assert w.counted(recipe)[1] == 2
    assert w.counted(recipe)[1] == 0
    w.write("n.h", "#define N 2\n")
    assert w.counted(recipe)[1] == 2
    assert w.counted(recipe)[1] == 0
