"""A store on storage that fails: every result is right, and whatever is not right is told."""

from __future__ import annotations

import builtins
import contextlib
import errno
import fcntl
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from build_workshop import Workshop, settle

from iron.build import BuildError, In, Out, ProgramTool, Recipe, Ref, Session, Store, locks


@pytest.fixture
def recipe(w: Workshop) -> Recipe:
    """Two steps that cost nothing."""
    script = w.root / "copy"
    script.write_text('#!/bin/sh\ncat "$1" > "$2"\necho more >> "$2"\n')
    script.chmod(0o755)
    settle(script)
    tool = ProgramTool(script)
    tool.facts(str(w.store / "tools"))
    first = Recipe("step", tool, (In(0), Out("a")), (w.write("in", "begin\n"),), ("a",))
    return Recipe("step", tool, (In(0), Out("b")), (Ref(first),), ("b",))


RIGHT = "begin\nmore\nmore\n"

# What touches the storage, by where it is looked up.
OPERATIONS = (
    (os, "stat"), (os, "rename"), (os, "replace"), (os, "symlink"), (os, "mkdir"),
    (os, "readlink"), (os, "unlink"), (os, "open"), (os, "chmod"), (builtins, "open"),
)  # fmt: skip


@contextlib.contextmanager
def failing(root: Path, nth: int, number: int) -> Iterator[list[str]]:
    """The nth operation below a directory fails, once; what it was is in the list."""
    done: list[str] = []
    calls = iter(range(1_000_000))
    lock = threading.Lock()

    def wrap(name: str, real: Any) -> Any:
        def call(path: Any, *arguments: Any, **more: Any) -> Any:
            below = isinstance(path, str) and path.startswith(str(root))
            with lock:
                hit = below and not done and next(calls) == nth
                if hit:
                    done.append(f"{name} {path}")
            if hit:
                raise OSError(number, os.strerror(number), path)
            return real(path, *arguments, **more)

        return call

    with pytest.MonkeyPatch.context() as patched:
        for home, name in OPERATIONS:
            patched.setattr(home, name, wrap(name, getattr(home, name)))
        yield done


@pytest.mark.parametrize("number", [errno.ESTALE, errno.EBUSY, errno.ENOSPC, errno.EIO])
def test_any_single_failure_of_the_storage_gives_a_right_result_or_says_so(
    w: Workshop, recipe: Recipe, number: int
) -> None:
    failed: list[str] = []
    nth = 0
    while True:
        store = w.root / f"store {nth}"
        with failing(store, nth, number) as done:
            try:
                made = Session(Store(store)).build(recipe)[0]
            except BuildError as error:
                failed.append(done[0])
                told = str(error)
            else:
                told = str(store)
                assert Path(made.path()).read_text() == RIGHT, done
        assert str(store) in told, "an error says where"
        if not done:
            break
        again = Session(Store(store)).build(recipe)[0]
        assert Path(again.path()).read_text() == RIGHT, done
        left = os.listdir(store / "tmp")
        assert left == [] or "unlink" in done[0] or "stat" in done[0] or "open" in done[0], done
        nth += 1
    assert nth > 20
    if number in (errno.ESTALE, errno.EBUSY):
        assert len(failed) <= nth // 3, failed  # passing faults are mostly got over


def test_without_locks_results_are_right_and_one_warning_says_so(
    w: Workshop, recipe: Recipe, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_locks(fd: int, operation: int) -> None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    monkeypatch.setattr(locks, "_warned", False)
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda: results.extend(Session(w.store).build(recipe)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(results) == 4
    assert {Path(result.path()).read_text() for result in results} == {RIGHT}
    assert len(caplog.records) == 1
    assert "no flock" in caplog.text
    assert os.listdir(w.store / "tmp") == []


def test_results_that_cannot_be_linked_are_found_by_content(
    w: Workshop, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "symlink", refuse)
    assert Path(Session(w.store).build(recipe)[0].path()).read_text() == RIGHT
    assert Session(w.store).build(recipe)
    assert w.runs() == 2


def test_contents_are_kept_on_a_storage_that_fails_now_and_then(w: Workshop) -> None:
    failed: list[str] = []
    nth = 0
    while True:
        store = w.root / f"store {nth}"
        with failing(store, nth, errno.ESTALE) as done:
            session = Session(Store(store))
            try:
                kept = session.keep("text", ["k"], {"a/f": "content", "g": b"more"})
            except OSError as problem:
                failed.append(f"{done[0]}: {problem.errno}")
            else:
                assert Path(kept.path("a/f")).read_text() == "content", done
        if not done:
            break
        found = Session(Store(store)).recall("text", ["k"])
        assert found is None or Path(found.path("g")).read_bytes() == b"more"
        nth += 1
    assert nth > 15
    assert failed == []


def test_a_storage_that_keeps_failing_is_told(w: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(OSError, match="could not be read back"):
        Session(w.store).keep("text", ["k"], {"f": "content"})
