"""Counting, verifying and making room: never a result that is in use, oldest first."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from build_workshop import Workshop

from iron.build import In, Out, ProgramTool, Recipe, Session, Store, leases, upkeep
from iron.build.decisions import Decisions


def copies(w: Workshop, count: int, size: int = 1000) -> list[Any]:
    """So many results of so many bytes, the first one used longest ago."""
    script = w.root / "copy"
    script.write_text('#!/bin/sh\ncp "$1" "$2"\n')
    script.chmod(0o755)
    results = []
    for number in range(count):
        path = w.write(f"in{number}", f"{number:08}" * (size // 8))
        recipe = Recipe("copy", ProgramTool(script), (In(0), Out("o")), (path,), ("o",))
        results += w.build(recipe)
        then = time.time() - (count - number) * 86400
        os.utime(results[-1].directory, (then, then))
    return results


def release(w: Workshop) -> Store:
    """As another process sees the store: this one's leases are of the dead."""
    for path in (w.store / "leases").glob("*"):
        path.unlink()
    return Store(w.store)


def there(results: list[Any]) -> list[bool]:
    return [os.path.exists(result.path()) for result in results]


def test_the_least_recently_used_go_first(w: Workshop) -> None:
    results = copies(w, 4)
    done = upkeep.collect(release(w), count=2)
    assert there(results) == [False, False, True, True]
    assert (done.taken, done.kept) == (2, 2)


def test_the_size_is_a_bound(w: Workshop) -> None:
    results = copies(w, 4, size=40_000)
    done = upkeep.collect(release(w), size=100_000)
    assert there(results) == [False, False, True, True]
    assert done.size <= 100_000


def test_the_age_is_a_bound(w: Workshop) -> None:
    results = copies(w, 4)
    upkeep.collect(release(w), days=2.5)
    assert there(results) == [False, False, True, True]


def test_a_use_makes_a_result_young(w: Workshop) -> None:
    results = copies(w, 3)
    assert Store(w.store).get(results[0].key)
    upkeep.collect(release(w), count=1)
    assert there(results) == [True, False, False]


def test_what_a_living_process_uses_stays_and_goes_after_its_death(w: Workshop) -> None:
    results = copies(w, 3)
    holder = w.python(
        """
        from iron.build import Store
        Store(w.store).get(sys.argv[1])
        print("held", flush=True)
        sys.stdin.read()
        """,
        results[0].key,
        stdin=subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    for path in (w.store / "leases").glob(f"{os.getpid()}.*"):
        path.unlink()
    for result in results:
        os.utime(result.directory, (1e9, 1e9))
    done = upkeep.collect(Store(w.store), size=0)
    assert there(results) == [True, False, False]
    assert done.in_use == 1
    holder.kill()
    holder.communicate()
    os.utime(results[0].directory, (1e9, 1e9))
    upkeep.collect(Store(w.store), size=0)
    assert there(results) == [False] * 3
    assert list((w.store / "leases").iterdir()) == [], "files of the dead are removed"


@pytest.mark.parametrize("moment", ["before it is moved", "before and after", "after"])
def test_who_asks_while_room_is_made_has_it_or_makes_it_again(
    w: Workshop, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """At each moment between the last look at who uses a result and its end."""
    result = copies(w, 1)[0]
    store = release(w)
    monkeypatch.setattr(leases, "_known", {})  # what follows stands for another process
    other, got, moved = Store(w.store), [], threading.Event()
    set_aside, name = Store.set_aside, leases.Lease.name

    def ask() -> None:
        got.append(other.get(result.key))

    def name_late(self: leases.Lease, key: str) -> None:
        read.set()
        moved.wait(20)
        name(self, key)

    def meet(self: Store, path: str) -> str:
        thread = threading.Thread(target=ask)
        if moment == "before and after":  # it has read what there is before, and looks after it
            monkeypatch.setattr(leases.Lease, "name", name_late)
        if moment != "after":
            thread.start()
            read.wait(20) if moment == "before and after" else thread.join()
        aside = set_aside(self, path)
        moved.set()
        if moment == "after":
            thread.start()
        thread.join()
        return aside

    read = threading.Event()
    monkeypatch.setattr(Store, "set_aside", meet)
    done = upkeep.collect(store, size=0)
    assert (got[0] is not None) == (moment == "before it is moved")
    assert done.taken == (moment == "after")
    assert there([result]) == [moment != "after"]


def test_a_lease_taken_for_a_dead_ones_while_it_is_made_is_made_again(
    w: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever makes room looks at it when it is there and not yet held."""
    result = copies(w, 1)[0]
    hold, looked = leases._hold, []

    def look_first(fd: int) -> bool:
        if not looked:
            looked.append(leases.living(str(w.store / "leases")))
        return hold(fd)

    release(w)
    monkeypatch.setattr(leases, "_hold", look_first)
    monkeypatch.setattr(leases, "_known", {})
    using = Store(w.store)
    assert using.get(result.key)
    assert looked == [[]]
    assert result.key in leases.in_use(str(w.store / "leases"))
    assert upkeep.collect(Store(w.store), size=0).taken == 0


def test_what_was_used_a_moment_ago_stays(w: Workshop) -> None:
    results = copies(w, 2)
    os.utime(results[1].directory)
    upkeep.collect(release(w), size=0)
    assert there(results) == [False, True]


def test_names_of_results_that_are_gone_go_too(w: Workshop) -> None:
    w.write("k.cc", "int f() { return 1; }\n")
    link = w.shared(w.object("k.cc", "-fPIC"))
    w.build(link)
    for item in upkeep.kept(Store(w.store)):
        if not item.alias:
            os.utime(item.path, (1e9, 1e9))
    upkeep.collect(release(w), size=0)
    assert list(upkeep.kept(Store(w.store))) == []
    assert Session(w.store).build(link)


def test_a_result_taken_from_under_a_session_is_made_again(w: Workshop) -> None:
    w.write("k.cc", "int f() { return 1; }\n")
    session = Session(w.store)
    recipe = w.object("k.cc")
    first = session.build(recipe)[0]
    os.utime(first.directory, (1e9, 1e9))
    assert upkeep.collect(release(w), size=0).taken == 1
    assert session.build(recipe) == [first]
    assert w.runs() == 2


@pytest.mark.parametrize("damage", ["flip", "truncate", "delete", "record"])
def test_verify_finds_damage_and_the_next_build_heals_it(w: Workshop, damage: str) -> None:
    w.write("k.cc", "int f() { return 1; }\n")
    recipe = w.object("k.cc")
    result = w.build(recipe)[0]
    assert upkeep.verify(Store(w.store)) == []
    good = Path(result.path()).read_bytes()
    path = Path(result.directory) / (".record" if damage == "record" else "kernel.o")
    stamp = path.stat()
    path.chmod(0o644)
    if damage == "delete":
        path.unlink()
    else:
        data = path.read_bytes()
        path.write_bytes(data[:50] if damage == "truncate" else data[:50] + b"\0?" + data[52:])
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    found = upkeep.verify(Store(w.store))
    assert len(found) == 1
    assert result.key in found[0]
    assert upkeep.verify(Store(w.store)) == []
    assert Path(w.build(recipe)[0].path()).read_bytes() == good


def test_counters_say_hits_misses_and_why(w: Workshop) -> None:
    w.write("k.cc", "int f() { return 1; }\n")
    link = w.shared(w.object("k.cc", "-fPIC"))
    session = Session(w.store)
    session.build(link)
    session.build(link)
    w.write("k.cc", "int f() { return 1; } // a remark\n")
    session.build(w.shared(w.object("k.cc", "-fPIC")))
    session._memory.decisions.flush()
    found = upkeep.statistics(session.store)
    assert found.events["run", "not in the store"] == 3
    assert found.events["hit", "in the store"] >= 1
    assert found.events["hit", "same content"] == 1
    assert found.saved > 0
    assert found.spent > 0
    assert found.results >= 3


def test_the_journal_is_bounded(w: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iron.build.decisions.JOURNAL_BYTES", 2000)
    journal = Decisions(str(w.root / "d"))
    from iron.build.decisions import Subject

    for number in range(200):
        journal.add("run", Subject("k", "l", ""), str(number), "why", 0.1, "", list)
    size = sum(path.stat().st_size for path in (w.root / "d").glob("journal*"))
    assert size < 6000


def test_a_store_keeps_itself_within_its_limit(
    w: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = copies(w, 3, size=40_000)
    monkeypatch.setenv("IRON_STORE_LIMIT", "100K")
    os.utime(w.store / "collected", (1e9, 1e9))
    upkeep.collect_now_and_then(release(w))
    assert there(results) == [False, True, True]
    os.utime(results[1].directory, (1e9, 1e9))
    monkeypatch.setenv("IRON_STORE_LIMIT", "10K")
    upkeep.collect_now_and_then(release(w))
    assert there(results) == [False, True, True], "once a day"


@pytest.mark.parametrize(("text", "size"), [("", 7), ("12", 12), ("2K", 2048), ("1.5G", 3 * 2**29)])
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    assert upkeep.size_of(text, 7) == size
