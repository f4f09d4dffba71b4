"""Builders and compilers killed with signal 9, at random moments and at every step of a build:
nothing wrong is ever found, nobody waits for the dead, nothing of theirs stays."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from fault_yard import HERE, UNKNOWN, numbered


def send(yard, **fields):
    """Give the crew an order; its counts."""
    sources = [path.name for path in sorted(yard.src.glob("*.cc"))]
    truth = {source: yard.truth(source, UNKNOWN).decode() for source in sources}
    order = json.dumps({"root": str(yard.root), "truth": truth, **fields})
    done = subprocess.run(
        [sys.executable, HERE / "crew.py"],
        input=order,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    findings = yard.root / "findings"
    assert not findings.exists(), findings.read_text()
    counts = json.loads(done.stdout)
    assert counts["stuck"] == 0
    return counts


def build_everything(yard, numbers):
    """In a new session; every byte compared."""
    session = yard.session()
    for number in numbers:
        sources = sorted(yard.src.glob("*.cc"))
        objects = [yard.object(path.name, f"-DN={number}") for path in sources]
        wanted = [numbered(yard.truth(path.name, UNKNOWN), number) for path in sources]
        wanted.append(yard.true_link(*wanted))
        results = session.build(*objects, yard.linked(*objects))
        for result, expected in zip(results, wanted, strict=True):
            with open(result.path(), "rb") as stream:
                assert stream.read() == expected


def nothing_left(yard):
    """No process, and, once hours have passed and somebody builds, no file."""
    assert yard.nobody_runs()
    yard.age()
    yard.session().build(yard.object(yard.write("last.cc", "last\n")))
    assert yard.left("tmp") == []


def test_random_kills(yard, seed, full, count):
    yard.sources(3)
    yard.delay(15)
    counts = send(
        yard, seed=seed, kills=600 if full else 25, processes=4, threads=2, rounds=30, numbers=40
    )  # fmt: skip
    yard.delay(0)
    build_everything(yard, range(40))
    nothing_left(yard)
    count(**counts, wrong=0, left=0)


def test_a_death_at_every_step_of_a_build(yard, rng, full, count):
    yard.sources(2)
    stride = 1 if full else 8
    counts = send(yard, seed=0, stride=stride, first=1 + rng.randrange(stride))
    assert counts["deaths"] > (60 if full else 7)
    nothing_left(yard)
    count(**counts, wrong=0, left=0)


def test_the_lock_files_of_the_dead_go(yard):
    """And those of the living stay, as old as they may be."""
    for side in ("lock", "leases"):
        (yard.store / side).mkdir(parents=True)
    (yard.store / "lock" / ("0" * 40)).touch()  # its builder was killed, its source edited since
    dead = yard.store / "leases" / "1.dead"
    dead.write_text("0" * 40 + "\n")
    with yard.session().store.lock("1" * 40):
        yard.age()
        yard.session().build(yard.object(yard.write("last.cc", "last\n")))
        assert yard.left("lock") == ["1" * 40]
    assert yard.left("lock") == []
    assert len(yard.left("leases")) == 1  # our own
    assert not dead.exists()


def test_old_files_and_links_in_the_scratch_directory_go(yard):
    """Not only directories: a result that made way may have been a file."""
    scratch = yard.store / "tmp"
    scratch.mkdir(parents=True)
    (scratch / "file").touch()
    (scratch / "link").symlink_to("nowhere")
    os.mkfifo(scratch / "pipe")
    (scratch / "directory").mkdir()
    nothing_left(yard)


DIE_AT_A_NAME = """
import os, signal, sys
sys.path.insert(0, {here!r})
from fault_yard import Yard
left = int(sys.argv[1])
def hook(event, arguments):
    global left
    if event == "os.rename" and f".{{os.getpid()}}." in str(arguments[0]):
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
yard = Yard({root!r})
yard.session().build(yard.linked(yard.object("s0.cc", f"-DN={{sys.argv[1]}}")))
"""


def test_half_made_names_of_the_dead_go(yard):
    """Memos and aliases are written under another name first: a death just before the rename."""
    yard.sources(1)
    script = DIE_AT_A_NAME.format(here=str(HERE), root=str(yard.root))
    died = 0
    for number in range(1, 20):
        command = [sys.executable, "-c", script, str(number)]
        done = subprocess.run(command, cwd=yard.root, check=False)
        if done.returncode == 0:
            break
        assert done.returncode == -9
        died += 1
    assert died >= 2
    nothing_left(yard)
    assert yard.strays() == []


def test_half_made_files_of_the_dead_next_to_the_users_go(yard, monkeypatch):
    """What a killed scons run was about to deliver, and a database for editors."""
    from iron.build import atomic, compdb, targets

    stored = yard.write("stored", "whole\n")
    target, database = str(yard.root / "tree" / "target"), yard.root / "other" / "commands.json"
    half = [atomic.name_beside(target), atomic.name_beside(str(database))]
    for name in half:
        os.makedirs(os.path.dirname(name))
        os.link(stored, name)
    targets.deliver(stored, target)
    compdb.write(database, [])
    assert [os.path.exists(name) for name in half] == [True, True], "they may be somebody's at work"
    monkeypatch.setattr(atomic, "STALE_SECONDS", -5.0)
    monkeypatch.setattr(targets, "_swept", set())
    targets.deliver(stored, target)
    compdb.write(database, [])
    assert os.listdir(yard.root / "tree") == ["target"]
    assert os.listdir(yard.root / "other") in ([], ["commands.json"])


@pytest.mark.parametrize("delay", [0, 10])
def test_processes_and_threads_on_overlapping_recipes(yard, seed, full, count, delay):
    """Each thing is made exactly once, and nothing lies about, not even for a while."""
    yard.sources(4)
    yard.delay(delay)
    counts = send(
        yard, seed=seed, processes=8 if full else 4, threads=4, rounds=60 if full else 6,
        numbers=20 if full else 5,
    )  # fmt: skip
    lines = [json.loads(line) for line in yard.log.read_text().splitlines()]
    made = [line["key"] for line in lines if line["event"] == "run"]
    assert sorted(set(made)) == sorted(made)
    assert (yard.left("tmp"), yard.left("lock"), yard.strays()) == ([], [], [])
    assert yard.nobody_runs()
    count(
        **counts, commands=len(made), hits=sum(line["event"] == "hit" for line in lines),
        twice=0, wrong=0, left=0,
    )  # fmt: skip


def test_edits_while_everybody_builds(yard, seed, full, count):
    """No result is older than its request, and none is of a version that never was."""
    edited = ["s0.cc", "s1.cc", "include/shared.h"]
    yard.write("include/shared.h", "version include/shared.h 000000\n")
    for name in edited[:2]:
        yard.write(name, f"#include <shared.h>\nversion {name} 000000\nbody\n")
    yard.delay(6)
    counts = send(
        yard, seed=seed, edited=edited, processes=6 if full else 3, rounds=300 if full else 12,
        back=80 if full else 15,
    )  # fmt: skip
    assert yard.nobody_runs()
    assert (yard.left("tmp"), yard.left("lock")) == ([], [])
    count(**counts, stale=0, left=0)


def test_making_room_while_everybody_builds(yard, seed, full, count):
    """Nothing that a living process was given goes, everything else does, and nobody notices."""
    yard.sources(3)
    counts = send(
        yard, seed=seed, collects=True, fresh=0.2, processes=6 if full else 3, threads=2,
        rounds=100 if full else 8, numbers=20 if full else 6,
    )  # fmt: skip
    assert counts.pop("collector") == 0
    assert (yard.left("tmp"), yard.left("lock")) == ([], [])
    count(**counts, wrong=0, lost=0, left=0)


def test_room_is_made_the_moment_a_result_appears(yard, monkeypatch):
    from iron.build import Store, upkeep

    rename, taken = os.rename, []

    def and_collect(source, target):
        rename(source, target)
        if not taken and os.path.basename(os.path.dirname(target)) != "tmp":
            taken.append(1)
            store = Store(yard.store)
            taken[0] = upkeep.collect(store, size=0, count=0, days=0.0, fresh=0.0).taken

    monkeypatch.setattr(os, "rename", and_collect)
    yard.sources(1)
    result = yard.session().build(yard.object("s0.cc"))[0]
    assert taken == [0]
    with open(result.path(), "rb") as stream:
        assert stream.read() == yard.truth("s0.cc")


def test_a_result_that_is_gone_the_moment_it_appears_is_made_again(yard, monkeypatch):
    """By somebody who knows no leases: `rm -rf`, say."""
    rename, taken = os.rename, []

    def and_remove(source, target):
        rename(source, target)
        if not taken and os.path.basename(os.path.dirname(target)) != "tmp":
            taken.append(target)
            shutil.rmtree(target)

    monkeypatch.setattr(os, "rename", and_remove)
    yard.sources(1)
    result = yard.session().build(yard.object("s0.cc"))[0]
    assert len(taken) == 1
    with open(result.path(), "rb") as stream:
        assert stream.read() == yard.truth("s0.cc")


def test_what_is_made_after_the_store_was_removed_is_in_use_again(yard, caplog):
    """A living process names what it uses in a file, and that went with the store."""
    from iron.build import upkeep

    yard.sources(2)
    session = yard.session()
    recipes = [yard.object("s0.cc"), yard.object("s1.cc")]
    session.build(*recipes)
    shutil.rmtree(yard.store)
    results = session.build(*recipes)
    done = upkeep.collect(session.store, size=0, count=0, days=0.0, fresh=0.0)
    assert (done.taken, done.in_use) == (0, 2)
    assert all(os.path.exists(result.path()) for result in results)
    assert caplog.text == ""
