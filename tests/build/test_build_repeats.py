"""A request that is made again and again costs stats, and sees every change all the same."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from build_workshop import Workshop, settle

from iron.build import ProgramTool, Recipe, Session, headers
from iron.build import digests as digests_module
from iron.build.identity import find_program


@pytest.fixture(autouse=True)
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file written by now is old enough to be believed by its stat."""
    then = time.time_ns() + 3600 * 10**9
    monkeypatch.setattr(digests_module.time, "time_ns", lambda: then)


class Standing:
    """A request that a session has answered often, of an object and a library of it."""

    def __init__(self, w: Workshop) -> None:
        self.w, self.session = w, Session(w.store)
        self.system = w.root / "sys"
        self.system.mkdir()
        (self.system / "own.h").write_text("#define OWN 1\n")
        script = w.root / "c++"
        script.write_text(f'#!/bin/sh\nexec {find_program("g++")} -isystem "{self.system}" "$@"\n')
        script.chmod(0o755)
        w.write("one/.keep", "")
        w.write("two/k.h", "#define K 1\n")
        w.write("k.cc", "#include <k.h>\n#include <own.h>\nint k() { return K + OWN; }\n")
        self.object = w.object("k.cc", "-fPIC", tool=ProgramTool(script), include=("one", "two"))
        self.library = w.shared(self.object)
        for _ in range(3):
            self.first = self.session.build(*self.request)

    @property
    def request(self) -> tuple[Recipe, Recipe]:
        return self.object, self.library

    def again(self) -> tuple[list[Any], int]:
        before = self.w.runs()
        return self.session.build(*self.request), self.w.runs() - before


@pytest.fixture
def standing(w: Workshop) -> Standing:
    return Standing(w)


def test_nothing_is_worked_out_again(standing: Standing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Session, "_build", lambda *_: pytest.fail("the request was gone through again")
    )
    before = len(standing.w.events("hit"))
    assert standing.again() == (standing.first, 0)
    assert len(standing.w.events("hit")) == before + 2


def edit(path: Path, old: str = "1", new: str = "2") -> None:
    """In place, of the same length, its time restored."""
    status = path.stat()
    path.write_bytes(path.read_bytes().replace(old.encode(), new.encode()))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def damage(path: Path) -> None:
    path.chmod(0o644)
    edit(path, "E", "F")


@pytest.mark.parametrize(
    ("change", "commands"),
    [
        (lambda s: edit(s.w.src / "k.cc", "K +", "K -"), 2),
        (lambda s: edit(s.w.src / "two" / "k.h"), 2),
        (lambda s: s.w.write("one/k.h", "#define K 3\n"), 2),
        (lambda s: s.w.write("k.h", "#define K 3\n"), 0),  # not quoted: stays unseen
        (lambda s: (s.system / "new").write_text("#define OWN 2\n")
         and os.replace(s.system / "new", s.system / "own.h"), 2),
        (lambda s: shutil.rmtree(s.w.store), 2),
        (lambda s: os.unlink(s.first[1].path()), 1),
        (lambda s: damage(Path(s.first[0].path())), 1),
    ],
    ids=[
        "source", "header", "header in front", "header elsewhere", "system header",
        "store gone", "result gone", "result damaged",
    ],
)  # fmt: skip
def test_each_change_is_seen(
    standing: Standing, change: Callable[[Standing], Any], commands: int
) -> None:
    change(standing)
    found, ran = standing.again()
    assert ran == commands
    assert all(os.path.isfile(result.path()) for result in found)
    assert found == Session(standing.w.store).build(*standing.request)


def test_a_system_header_edited_in_place_is_seen_once_files_are_looked_at(
    standing: Standing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(headers, "PATIENCE", -1.0)
    edit(standing.system / "own.h")
    assert standing.again()[1] == 2


def test_another_tool_behind_the_name_is_seen(standing: Standing) -> None:
    tool = standing.w.root / "c++"
    tool.write_text(tool.read_text() + "# other\n")
    settle(tool)
    assert standing.again()[1] >= 1


def test_young_files_are_not_believed_by_their_stamps(
    w: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # no file is old
    monkeypatch.setenv("IRON_BUILD_LOG", str(w.log_file))
    w.write("k.cc", "int k() { return 1; }\n")
    recipe = w.object("k.cc")
    session = Session(w.store)
    for _ in range(3):
        session.build(recipe)
    asked = []
    through = Session._build
    monkeypatch.setattr(Session, "_build", lambda *a: asked.append(a) or through(*a))
    session.build(recipe)
    assert asked


def test_the_record_counts_hits_that_were_told_of_before(standing: Standing) -> None:
    decisions = standing.session._memory.decisions
    decisions.flush()
    standing.again()
    assert decisions._again == 2
