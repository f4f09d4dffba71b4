"""A session at work remembers how it found its keys: never longer than that is so."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from build_workshop import Workshop

from iron.build import BuildError, Session, keys
from iron.build import digests as digests_module


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file written by now is old enough to be believed by its stat."""
    then = time.time_ns() + 3600 * 10**9
    monkeypatch.setattr(digests_module.time, "time_ns", lambda: then)


@pytest.fixture
def clock() -> Callable[[Path], None]:
    """Gives files times of their own: two writes within one tick of the real clock differ."""
    ticks = iter(range(1_600_000_000, 1_700_000_000))
    return lambda path: os.utime(path, (next(ticks),) * 2)


def test_a_key_that_is_asked_for_again_costs_no_scan(
    w: Workshop, later: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    w.write("inc/a.h", "#define A 1\n")
    w.write("k.cc", '#include "a.h"\nint f() { return A; }\n')
    session = Session(w.store)
    wanted = [w.object("k.cc", include=["inc"]) for _ in range(2)]
    first = session.build(wanted[0])
    monkeypatch.setattr(keys, "scan_cover", lambda *_: pytest.fail("scanned again"))
    assert session.build(*wanted) == first * 2


def test_a_directory_that_has_just_changed_is_listed_again(
    w: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A header that comes within one tick of the clock leaves the directory's stamp as it was."""
    w.write("inc/a.h", "#define A 1\n")
    w.write("k.cc", "int f() { return 1; }\n")
    session, recipe = Session(w.store), w.object("k.cc", include=["inc"])
    session.keys().leaf(recipe)
    asked: list[Any] = []
    monkeypatch.setattr(keys, "scan_cover", lambda *a: asked.append(a) or (_ for _ in ()).throw(
        FileNotFoundError("scanned")))  # fmt: skip
    with pytest.raises(FileNotFoundError):
        session.keys().leaf(recipe)
    assert asked


def test_another_process_that_had_to_ask_the_compiler_is_heard(w: Workshop, later: None) -> None:
    w.write("k.cc", "int f() { return 1; }\n")
    session, recipe = Session(w.store), w.object("k.cc")
    request = session.keys()
    before = request.leaf(recipe)
    assert session.keys().leaf(recipe) == before
    Session(w.store).keys().memory.answers.mark(request.cover(recipe).bare)
    assert session.keys().leaf(recipe) == Session(w.store).keys().leaf(recipe) != before
    assert session.keys().cover(recipe).asked


class Tree:
    """Sources and headers, and every kind of edit of them."""

    def __init__(self, w: Workshop, rng: random.Random, tick: Callable[[Path], None]) -> None:
        self.w, self.rng, self.tick, self.count = w, rng, tick, 0
        for number in range(3):
            self.put(f"src/k{number}.cc", f'#include "h{number}.h"\n#include <x.h>\n')
        for number in range(3):
            self.put(f"b/h{number}.h", f'#include "h{(number + 1) % 3}.h"\n')
        self.put("b/x.h", "")
        for directory in ("a", "c"):
            (w.src / directory).mkdir()
        (w.src / "l").symlink_to("b")
        self.recipes = [
            w.object(f"src/k{n}.cc", include=include)
            for n in range(3)
            for include in (["a", "b"], ["l"], ["c", "l", "a"])
        ]

    def put(self, name: str, text: str = "") -> None:
        self.count += 1
        path = Path(self.w.write(name, f"{text}// {self.count % 7}\n"))
        self.tick(path)

    def some(self) -> str:
        return self.rng.choice(["a", "b", "c", "src"]) + f"/h{self.rng.randrange(3)}.h"

    def text(self) -> str:
        return f'#include "h{self.rng.randrange(4)}.h"\n#include <{self.rng.choice("xyz")}.h>\n'

    def edit(self) -> None:
        kind = self.rng.randrange(7)
        path = self.w.src / self.some()
        if kind == 0:
            self.put(self.some(), self.text())
        elif kind == 1:
            self.put(f"src/k{self.rng.randrange(3)}.cc", self.text())
        elif kind == 2:
            path.unlink(missing_ok=True)
        elif kind == 3 and path.exists():  # same length, same time, another file
            status, text = path.stat(), path.read_text()
            new = path.with_name("new")
            new.write_text(text.replace("h1", "hX").replace("h2", "h1").replace("hX", "h2"))
            os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
            new.replace(path)
        elif kind == 4:
            link = self.w.src / "l"
            link.unlink()
            link.symlink_to(self.rng.choice("abc"))
        elif kind == 5 and path.exists():
            path.rename(self.w.src / self.some())
        elif kind == 6:  # in front of the compiler's own
            own = self.w.src / self.rng.choice("abc") / self.rng.choice(["vector", "z.h"])
            own.unlink() if own.exists() else own.write_text("")


@pytest.mark.parametrize("seed", range(4))
def test_remembered_keys_are_those_that_a_new_session_finds(
    w: Workshop, later: None, clock: Callable[[Path], None], seed: int
) -> None:
    tree = Tree(w, random.Random(seed), clock)
    session = Session(w.store)

    def found(session: Session) -> list[str]:
        request = session.keys()
        return [request.leaf(recipe) for recipe in tree.recipes]

    for _ in range(60):
        assert found(session) == found(Session(w.store))
        for _ in range(tree.rng.randrange(3)):
            tree.edit()


def test_a_source_that_went_missing_is_said_by_a_session_that_knew_it(
    w: Workshop, later: None
) -> None:
    w.write("k.cc", "int f() { return 1; }\n")
    session, recipe = Session(w.store), w.object("k.cc")
    session.build(recipe)
    (w.src / "k.cc").unlink()
    with pytest.raises(BuildError, match=r"no such source file"):
        session.build(recipe)
