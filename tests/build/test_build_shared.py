"""A second store behind the first: what one machine built, another finds; and a store that can
only be read is one of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from build_workshop import Workshop

from iron.build import Recipe, Session, SharedDirectory, Store, default_session
from iron.build.memo import Memo


def project(w: Workshop) -> Recipe:
    w.write("k.cc", "int f() { return 1; }\n")
    return w.shared(w.object("k.cc", "-fPIC"))


def host(w: Workshop, name: str) -> Session:
    return Session(Store(w.root / name, [SharedDirectory(str(w.root / "shared"))]))


def test_a_second_host_compiles_nothing(w: Workshop) -> None:
    recipe = project(w)
    first = host(w, "one").build(recipe)[0]
    assert w.runs() == 2
    second = host(w, "two").build(recipe)[0]
    assert w.runs() == 2
    assert second.directory.startswith(str(w.root / "two"))
    assert Path(second.path()).read_bytes() == Path(first.path()).read_bytes()
    assert Session(w.root / "two").find(recipe) == [second], "it has its own copy now"


def test_early_cut_off_reaches_across_hosts(w: Workshop) -> None:
    host(w, "one").build(project(w))
    w.write("k.cc", "int f() { return 1; } // a remark\n")
    host(w, "two").build(w.shared(w.object("k.cc", "-fPIC")))
    assert w.runs("kernel-object") == 2
    assert w.runs("link") == 1


def test_composites_and_kept_results_are_shared(w: Workshop) -> None:
    recipe = project(w)
    made = host(w, "one").composite("package", ["a", recipe], lambda: recipe)
    again = host(w, "two").composite("package", ["a", recipe], lambda: pytest.fail("made again"))
    assert again.key == made.key
    host(w, "one").keep("note", ["k"], {"n": "text"})
    found = host(w, "two").recall("note", ["k"])
    assert found is not None
    assert Path(found.path("n")).read_text() == "text"


@pytest.mark.parametrize("damage", ["flip", "truncate", "record"])
def test_damage_in_a_shared_store_is_a_miss(
    w: Workshop, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    recipe = project(w)
    made = host(w, "one").build(recipe)[0]
    good = Path(made.path()).read_bytes()
    directory = w.root / "shared" / made.key[:2] / made.key
    path = directory / (".record" if damage == "record" else "lib.so")
    path.chmod(0o644)
    data = path.read_bytes()
    path.write_bytes(data[:40] if damage == "truncate" else data[:40] + b"\0?" + data[42:])
    found = host(w, "two").build(recipe)[0]
    assert Path(found.path()).read_bytes() == good
    assert len(caplog.records) == 1
    assert w.runs("link") == 2
    assert host(w, "three").build(recipe)
    assert w.runs("link") == 2, "the second host put a good one in its place"


def test_a_shared_store_that_cannot_be_used_is_done_without(
    w: Workshop, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        def has(self, key: str) -> bool:
            raise OSError("stale file handle")

        def get(self, key: str, directory: str) -> Any:
            raise OSError("stale file handle")

        def put(self, key: str, entry: Any) -> None:
            raise OSError("stale file handle")

        def __repr__(self) -> str:
            return "broken"

    assert Session(Store(w.store, [Broken()])).build(project(w))
    assert len(caplog.records) == 1
    assert "stale file handle" in caplog.text


def test_the_environment_names_the_shared_store(
    w: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = project(w)
    shared = w.root / "shared"
    shared.mkdir()
    monkeypatch.setenv("IRON_STORE_SHARED", str(shared))
    default_session().build(recipe)
    monkeypatch.setenv("IRON_STORE", str(w.root / "another"))
    default_session().build(recipe)
    assert w.runs() == 2


def read_only(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """For root everything can be written, so the question is answered for it."""
    real = os.access

    def access(asked: Any, mode: int, **more: Any) -> bool:
        if mode & os.W_OK and str(asked).startswith(str(path)):
            return False
        return real(asked, mode, **more)

    monkeypatch.setattr(os, "access", access)


def test_a_store_that_can_only_be_read_gives_hits_and_takes_nothing(
    w: Workshop, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    recipe = project(w)
    w.build(recipe)
    before = sorted(path for path in w.store.rglob("*"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(w.root / "cache"))
    read_only(monkeypatch, w.store)
    session = default_session()
    assert session.build(recipe)
    assert w.runs() == 2, "a hit"
    w.write("other.cc", "int g() { return 2; }\n")
    made = session.build(w.object("other.cc"))[0]
    assert made.directory.startswith(str(w.root / "cache"))
    assert sorted(path for path in w.store.rglob("*")) == before
    assert len(caplog.records) == 1
    assert "cannot be written" in caplog.text


def test_a_memory_is_bounded() -> None:
    memo: Memo[int, int] = Memo(10)
    for number in range(1000):
        memo[number] = number
        assert len(memo) <= 10
        assert memo[number] == number
