"""A watch tells with stats alone whether a request would be answered as before."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from build_workshop import SETTLED, Workshop, settle

from iron.build import ProgramTool, Watch
from iron.build import digests as digests_module
from iron.build.digests import Digests


def watch_of(*paths: Path) -> Watch:
    look = Digests().look
    return Watch([(str(path), look(str(path))) for path in paths])


@pytest.mark.parametrize(
    "edit",
    [
        lambda p: p.write_text("other"),
        lambda p: (p.write_text("twist"), settle(p)),  # same length, same time
        lambda p: p.unlink(),
        lambda p: (p.with_name("new").write_text("first"), p.with_name("new").replace(p)),
        lambda p: os.utime(p, (SETTLED + 1, SETTLED + 1)),
    ],
)
def test_any_edit_of_a_file_ends_a_watch(tmp_path: Path, edit: Any) -> None:
    path = tmp_path / "file"
    path.write_text("first")
    settle(path)
    watch = watch_of(path)
    assert watch.unchanged()
    assert watch.unchanged()
    edit(path)
    assert not watch.unchanged()


def test_a_file_that_appears_where_none_was_ends_a_watch(tmp_path: Path) -> None:
    path = tmp_path / "header.h"
    watch = watch_of(path)
    assert watch.unchanged()
    path.write_text("")
    assert not watch.unchanged()


def test_what_the_systems_package_manager_writes_can_be_looked_at_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iron.build.watch._SYSTEM", (f"{tmp_path}/usr/",))
    monkeypatch.setattr("iron.build.watch._LOCAL", f"{tmp_path}/usr/local/")
    now = [1000.0]
    monkeypatch.setattr("iron.build.watch.time.monotonic", lambda: now[0])
    names = ("usr/lib.so", "usr/local/lib.so", "mine.h")
    paths = [tmp_path / name for name in names]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("first")
        settle(path)

    def watch_now() -> Watch:
        return Watch((), trusted=[(str(p), digests_module.stamp_of(os.stat(p))) for p in paths])

    watch = watch_now()
    assert (len(watch), set(watch.stamps() or ())) == (3, set(map(str, paths)))
    assert watch.unchanged(1.0)
    for path in paths[1:]:
        os.utime(path, (SETTLED + 1, SETTLED + 1))
        assert not watch.unchanged(1.0), "of everybody else's nothing is believed"
        watch = watch_now()
        assert watch.unchanged(1.0)
    os.utime(paths[0], (SETTLED + 1, SETTLED + 1))
    assert watch.unchanged(1.0)
    assert not watch.unchanged()
    now[0] += 1.01
    assert not watch.unchanged(1.0)
    assert not watch.unchanged(1.0), "what was found changed is not forgotten"


def test_a_stamp_too_young_to_prove_anything_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("first")
    watch = watch_of(path)
    reads: list[str] = []
    real = digests_module.hash_file
    monkeypatch.setattr("iron.build.watch.hash_file", lambda p: reads.append(p) or real(p))
    assert watch.unchanged()
    assert reads == [str(path)]
    later = time.time_ns() + 3600 * 10**9
    monkeypatch.setattr(digests_module.time, "time_ns", lambda: later)
    assert watch.unchanged()
    assert watch.unchanged()
    assert len(reads) == 2, "once it is old enough its stamp is believed"


def test_a_young_file_with_other_contents_and_the_same_stamp_ends_a_watch(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("first")
    seen = Digests().look(str(path))
    assert seen is not None
    watch = Watch([(str(path), seen._replace(digest="0" * 40))])
    assert not watch.unchanged()


def composite(w: Workshop, *, unwatched: bool = False, tool: Any = None) -> Any:
    (w.src / "other").mkdir(exist_ok=True)
    kernel = w.object("k.cc", include=["first", "second"], tool=tool)
    other = w.object("other/runtime.cc")
    skip = (other,) if unwatched else ()
    return w.session.composite("package", ["v1", kernel, other], lambda: kernel, unwatched=skip)


def sources(w: Workshop) -> None:
    w.write("k.cc", '#include "a.h"\nextern "C" int k() { return A; }\n')
    (w.src / "first").mkdir()
    w.write("second/a.h", "#define A 1\n")
    w.write("other/runtime.cc", "int r() { return 1; }\n")
    for path in [*w.src.rglob("*")]:
        settle(path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("k.cc", '#include "a.h"\nextern "C" int k() { return A + 1; }\n'),
        ("second/a.h", "#define A 2\n"),
        ("first/a.h", "#define A 3\n"),  # newly in front
        ("a.h", "#define A 4\n"),
    ],
)
def test_the_watch_of_a_composite_sees_every_edit_that_matters(
    w: Workshop, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    sources(w)
    later = time.time_ns() + 3600 * 10**9
    monkeypatch.setattr(digests_module.time, "time_ns", lambda: later)
    made = composite(w)
    assert made.watch.unchanged()
    w.write(name, text)
    assert not made.watch.unchanged()
    assert composite(w).key != made.key


def test_parts_left_out_are_not_watched(w: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    sources(w)
    later = time.time_ns() + 3600 * 10**9
    monkeypatch.setattr(digests_module.time, "time_ns", lambda: later)
    some, whole = composite(w, unwatched=True), composite(w)
    assert some == whole
    w.write("other/runtime.cc", "int r() { return 2; }\n")
    assert some.watch.unchanged()
    assert not whole.watch.unchanged()


def test_a_result_that_is_gone_or_a_new_tool_ends_a_watch(
    w: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources(w)
    script = w.root / "cc"
    script.write_text(f'#!/bin/sh\nexec {ProgramTool(w.cxx.program).path} "$@"\n')
    script.chmod(0o755)
    later = time.time_ns() + 3600 * 10**9
    monkeypatch.setattr(digests_module.time, "time_ns", lambda: later)
    made = composite(w, tool=ProgramTool(script))
    assert made.watch.unchanged()
    with script.open("a") as stream:
        stream.write("# newer\n")
    assert not made.watch.unchanged()
    again = composite(w, tool=ProgramTool(script))
    assert again.watch.unchanged()
    os.unlink(again.path())
    assert not again.watch.unchanged()
