"""Damage is a miss with one warning, and heals; nothing partial is ever a result."""

import errno
import logging
import os
import shutil
from pathlib import Path

import pytest

from iron.build import BuildError, Session, Store, store_root
from iron.build.entry import RECORD


def _force(path):
    os.chmod(path, 0o644)


def flip(path):
    _force(path)
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) // 2)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 1]))


def flip_keeping_times(path):
    before = os.stat(path)
    flip(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def truncate(path):
    _force(path)
    os.truncate(path, os.path.getsize(path) // 2)


def empty(path):
    _force(path)
    os.truncate(path, 0)


def swap_for_directory(path):
    os.unlink(path)
    os.mkdir(path)


DAMAGE = [flip, flip_keeping_times, truncate, empty, os.unlink, swap_for_directory]


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda d: d.__name__)
@pytest.mark.parametrize("what", ["kernel.o", RECORD])
def test_damage_to_a_result_is_a_miss_that_heals(w, caplog, what, damage):
    w.write("k.cc", "int f() { return 1; }\n")
    session = Session(w.store)
    first = session.build(w.object("k.cc"))[0]
    good = Path(first.path()).read_bytes()
    damage(os.path.join(first.directory, what))
    with caplog.at_level(logging.WARNING, "iron.build"):
        for s in (session, Session(w.store)):
            again = s.build(w.object("k.cc"))[0]
            assert Path(again.path()).read_bytes() == good
    assert w.runs() == 2
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    assert first.directory in caplog.text
    assert w.scratch() == []


def test_damage_below_an_alias_heals_where_it_is(w, caplog):
    w.write("k.cc", "int f() { return 1; }\n")
    link = w.shared(w.object("k.cc", "-fPIC"))
    first = w.build(link)[0]
    flip(first.path())
    assert w.counted(link)[1] == 1
    assert w.counted(link)[1] == 0


def test_an_input_damaged_between_is_made_again_before_it_is_used(w, caplog):
    w.write("k.cc", "int f() { return 1; }\n")
    o = w.object("k.cc", "-fPIC")
    flip(w.build(o)[0].path())
    w.build(w.shared(o))
    assert (w.runs("kernel-object"), w.runs("link")) == (2, 1)


def test_a_result_that_appears_while_it_is_looked_for_is_no_damage(w, caplog, monkeypatch):
    result = w.build(w.object(w.write("k.cc", "int f;\n")))[0]
    stat, missed = os.stat, []

    def not_yet(path, *arguments, **more):
        if not missed and str(path).endswith(".record"):
            missed.append(path)
            raise FileNotFoundError(path)
        return stat(path, *arguments, **more)

    monkeypatch.setattr(os, "stat", not_yet)
    entry = Store(w.store).get(result.key)
    assert missed
    assert entry is not None
    assert entry.key == result.key
    assert caplog.text == ""


def test_a_result_under_a_foreign_name_is_no_result(w, caplog):
    w.write("k.cc", "int f() { return 1; }\n")
    w.write("l.cc", "int f() { return 2; }\n")
    one, two = w.build(w.object("k.cc"), w.object("l.cc"))
    shutil.rmtree(two.directory)
    shutil.copytree(one.directory, two.directory)
    assert w.counted(w.object("l.cc"))[1] == 1


def test_a_copied_store_is_read_by_digest_once_and_by_stat_afterwards(w, tmp_path, monkeypatch):
    w.write("k.cc", "int f() { return 1; }\n")
    w.build(w.object("k.cc"))
    copy = tmp_path / "copy"
    shutil.copytree(w.store, copy, symlinks=True)
    assert Session(copy).find(w.object("k.cc"))


def test_results_are_read_only(w):
    w.write("k.cc", "int f() { return 1; }\n")
    result = w.build(w.object("k.cc"))[0]
    assert os.stat(result.path()).st_mode & 0o222 == 0


def test_keep_and_recall(w):
    session = Session(w.store)
    assert session.recall("mlir", ["a"]) is None
    kept = session.keep("mlir", ["a"], {"x.mlir": "text ä", "sub/y": b"\0"})
    assert session.recall("mlir", ["a"]) == kept
    assert Path(kept.path("x.mlir")).read_text(encoding="utf-8") == "text ä"
    assert kept.outputs == ("x.mlir", "sub/y")
    assert session.recall("mlir", ["a", ""]) is None
    assert session.recall("other", ["a"]) is None
    again = session.keep("mlir", ["a"], {"x.mlir": "new"})
    assert Session(w.store).recall("mlir", ["a"]) == again
    assert Path(again.path()).read_text(encoding="utf-8") == "new"


def test_leftovers_are_swept_only_without_an_owner_and_by_age(w):
    store = Store(w.store)
    with store.scratch("k" * 40) as mine:
        dead = w.store / "tmp" / "dead"
        fresh = w.store / "tmp" / "fresh"
        for d in (dead, fresh):
            d.mkdir()
        for d in (dead, mine):
            os.utime(d, (1, 1))
        with Store(w.store).scratch("l" * 40):
            assert sorted(os.listdir(w.store / "tmp"))[:1] != ["dead"]
            assert os.path.isdir(mine)
            assert fresh.is_dir()
            assert not dead.exists()


def test_the_root_follows_the_environment_at_every_call(tmp_path, monkeypatch):
    for name in ("IRON_STORE", "NPU_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert store_root() == tmp_path / "x/iron"
    monkeypatch.setenv("NPU_CACHE_HOME", str(tmp_path / "n"))
    assert store_root() == tmp_path / "n/iron"
    monkeypatch.setenv("IRON_STORE", str(tmp_path / "s"))
    assert store_root() == tmp_path / "s"


def test_a_root_that_cannot_be_made_is_passed_over_with_one_warning(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("IRON_STORE", str(tmp_path / "file/store"))
    monkeypatch.setenv("NPU_CACHE_HOME", str(tmp_path / "n"))
    for _ in range(3):
        assert store_root() == tmp_path / "n/iron"
    assert len(caplog.records) == 1
    assert str(tmp_path / "file/store") in caplog.text


def test_a_store_that_becomes_unwritable_says_so(w):
    w.write("k.cc", "int f;\n")
    session = Session(w.store)
    shutil.rmtree(w.store)
    w.store.write_text("")
    with pytest.raises(BuildError, match="store") as caught:
        session.build(w.object("k.cc", where="d.py:1"))
    assert caught.value.failures[0].where == "d.py:1"


def test_hits_need_no_writing(w, monkeypatch):
    w.write("k.cc", "int f() { return 1; }\n")
    link = w.shared(w.object("k.cc", "-fPIC"))
    w.build(link)
    w.write("k.cc", "int f() { return 1; } // a remark\n")
    w.build(w.object("k.cc", "-fPIC"))

    def refuse(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    for name in ("symlink", "mkdir", "rename", "replace", "unlink"):
        monkeypatch.setattr(os, name, refuse)
    assert Session(w.store).build(link)  # found by content, although no alias can be written


def test_a_store_deleted_between_two_requests_is_filled_again(w):
    w.write("k.cc", "int f() { return 1; }\n")
    session = Session(w.store)
    link = w.shared(w.object("k.cc", "-fPIC"))
    first = session.build(link)[0]
    shutil.rmtree(w.store)
    assert session.find(link) is None
    assert session.build(link)[0] == first
    assert Path(first.path()).exists()


def test_a_full_disk_publishes_nothing_and_is_told(w, monkeypatch):
    w.write("k.cc", "int f() { return 1; }\n")
    real = os.write

    def full(fd, data):
        return real(fd, data[: len(data) // 2]) if data.startswith(b"iron result") else len(data)

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(BuildError, match=r"cannot be stored.*No space"):
            w.build(w.object("k.cc"))
    assert w.scratch() == []
    assert w.build(w.object("k.cc"))
