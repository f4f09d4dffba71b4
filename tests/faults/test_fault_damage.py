"""Every kind of file in a store damaged in every way: never a wrong result, and good again after
one build."""

import logging
import os
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from iron.build import BuildError, In, IncludeDirs, Out, Recipe, Session, Text


class Contents:
    """Something of every kind that a store holds, and the bytes each of it must have."""

    def __init__(self, yard) -> None:
        self.yard = yard
        yard.sources(2)
        yard.write("include/hidden.h", "hidden\n")
        yard.write("macro.cc", "#include HIDDEN\nmacro\n")
        text = Text("from memory\n", "memory.cc")
        self.objects = [yard.object("s0.cc", "-O2"), yard.object("s1.cc", "-O2")]
        self.same = yard.object("same.cc", "-O2")  # the content of s0.cc: an alias, nothing made
        shutil.copy(yard.src / "s0.cc", yard.src / "same.cc")
        macro = yard.object("macro.cc", "-DHIDDEN=<hidden.h>")
        memory = Recipe(
            "kernel-object", yard.tool, (IncludeDirs(), "-c", In(0), "-o", Out("kernel.o")),
            (text,), ("kernel.o",), scan=True,
        )  # fmt: skip
        link = yard.linked(*self.objects)
        again = yard.linked(yard.object("s1.cc", "-O2"), self.same)
        self.recipes = [*self.objects, self.same, macro, memory, link, again]
        truths = [yard.truth(name, "-O2") for name in ("s0.cc", "s1.cc", "same.cc")]
        self.expected = [
            *truths,
            yard.truth("macro.cc", "-DHIDDEN=<hidden.h>"),
            b"from memory\n",
            yard.true_link(*truths[:2]),
            yard.true_link(truths[1], truths[2]),
        ]

    def check(self, session: Session) -> None:
        """Ask for everything, and compare."""
        found = [Path(result.path()).read_bytes() for result in session.build(*self.recipes)]
        assert found == self.expected
        made = session.composite("package", ["x", self.objects[0]], lambda: self.recipes[-1])
        assert Path(made.path()).read_bytes() == self.expected[-1]
        kept = session.recall("note", ["x"]) or session.keep("note", ["x"], {"a.txt": "note\n"})
        assert Path(kept.path()).read_bytes() == b"note\n"


def kind_of(path: Path, store: Path) -> str:
    parts = path.relative_to(store).parts
    if parts[0] in ("tools", "asked", "failed", "private", "tmp", "lock"):
        return parts[0]
    if path.is_symlink():
        return "alias"
    if path.is_dir():
        return "result" if len(parts) == 2 else "shelf"
    return "record" if path.name == ".record" else f"output {path.name}"


# ---------------------------------------------------------------- ways to damage a file


def _rewrite(path: Path, data: bytes) -> None:
    """In place: the same inode, as a failing disk would leave it."""
    path.chmod(0o644)
    with open(path, "r+b") as stream:
        stream.write(data)
        stream.truncate()


def flip(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    _rewrite(path, bytes(data))


def flip_behind_its_back(path: Path, rng: random.Random) -> None:
    """Size, inode and modification time as before."""
    before = path.stat()
    flip(path, rng)
    path.chmod(before.st_mode)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def truncate(path: Path, rng: random.Random) -> None:
    data = path.read_bytes()
    _rewrite(path, data[: rng.randrange(len(data))] if data else b"")


def empty(path: Path, rng: random.Random) -> None:
    _rewrite(path, b"")


def zeroes(path: Path, rng: random.Random) -> None:
    """What a crashed machine leaves of a file whose length it had written."""
    _rewrite(path, bytes(path.stat().st_size))


def append(path: Path, rng: random.Random) -> None:
    _rewrite(path, path.read_bytes() + rng.randbytes(rng.randint(1, 40)))


def delete(path: Path, rng: random.Random) -> None:
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def become_a_directory(path: Path, rng: random.Random) -> None:
    delete(path, rng)
    path.mkdir()
    (path / "something").write_text("foreign\n")


def become_a_file(path: Path, rng: random.Random) -> None:
    delete(path, rng)
    path.write_bytes(rng.randbytes(30))


def dangle(path: Path, rng: random.Random) -> None:
    delete(path, rng)
    path.symlink_to("../00/nowhere")


def loop(path: Path, rng: random.Random) -> None:
    delete(path, rng)
    path.symlink_to(path.name)


FILES = (flip, flip_behind_its_back, truncate, empty, zeroes, append, delete, become_a_directory)
NAMES = (delete, become_a_file, dangle, loop)  # of results' directories and links to them


def ways_to_damage(path: Path, store: Path):
    if kind_of(path, store) in ("alias", "result"):
        return NAMES
    if path.is_dir() or not path.exists():
        return (delete,)  # a foreign file in its place is an error that names it
    return (*FILES, dangle, loop)


@pytest.fixture
def quiet():
    """One warning for each damaged result is right; a thousand are not to read."""
    logger = logging.getLogger("iron.build")
    before, logger.level = logger.level, logging.CRITICAL
    yield
    logger.level = before


def targets(store: Path) -> list[Path]:
    return [path for path in sorted(store.rglob("*")) if path != store / "private"]


def test_damage_of_every_kind_to_every_kind_of_file(yard, rng, full, quiet, count):
    contents = Contents(yard)
    alive = yard.session()
    contents.check(alive)
    done = Counter()
    for _ in range(4 if full else 1):
        for name in targets(yard.store):
            if not os.path.lexists(name):
                continue
            ways = ways_to_damage(name, yard.store)
            for way in ways if full else rng.sample(ways, min(2, len(ways))):
                if not os.path.lexists(name):
                    continue  # with a directory above it
                kind = kind_of(name, yard.store)
                way(name, rng)
                case = f"{way.__name__} of {kind} {name.relative_to(yard.store)}"
                try:
                    contents.check(alive if rng.random() < 0.5 else yard.session())
                    contents.check(yard.session())
                except (AssertionError, BuildError, OSError) as problem:
                    raise AssertionError(case) from problem
                done[kind] += 1
    assert {"alias", "record", "tools", "asked", "output kernel.o", "result"} <= set(done)
    before = yard.log.read_text().count('"run"')
    contents.check(yard.session())
    assert yard.log.read_text().count('"run"') == before
    yard.age()
    yard.session().build(yard.object(yard.write("last.cc", "last\n")))
    assert yard.left("tmp") == []
    count(damaged=done.total(), kinds=len(done), wrong=0, stuck=0, left=0)


@pytest.mark.parametrize("several", [3, 30])
def test_much_damage_at_once(yard, rng, full, quiet, count, several):
    contents = Contents(yard)
    contents.check(yard.session())
    rounds = 60 if full else 5
    for _ in range(rounds):
        for _ in range(several):
            left = targets(yard.store)
            if not left:
                break
            name = rng.choice(left)
            rng.choice(ways_to_damage(name, yard.store))(name, rng)
        contents.check(yard.session())
    contents.check(yard.session())
    count(rounds=rounds, damaged=rounds * several, wrong=0, stuck=0)
