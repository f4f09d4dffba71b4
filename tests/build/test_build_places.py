"""Results carry nothing of where and by whom they were built; the process is left as it was."""

import os
import shutil
import signal
import sys
import threading
from pathlib import Path

import pytest
from build_workshop import Workshop

from iron.build import Session, Text, compdb

SOURCE = """
#include "sub/h.h"
#include <i.h>
extern "C" const char *names[] = {h(), i()};
extern "C" const char *where() { return __FILE__ __DATE__ __TIME__; }
"""


QUIET = "-Wno-error=date-time"  # zig's c++ makes it one


def tree(root: Path) -> Workshop:
    root.mkdir(parents=True)
    w = Workshop(root)
    w.write("sub/h.h", '#include "sub2/../../x.h"\nstatic const char *h() { return __FILE__; }\n')
    w.write("sub/sub2/x", "")
    w.write("x.h", "")
    w.write("inc/i.h", "static const char *i() { return __FILE__; }\n")
    w.write("k.cc", SOURCE)
    return w


@pytest.mark.parametrize("flags", [("-O2",), ("-g", "-O0")], ids=["plain", "debug"])
def test_two_checkouts_have_one_key_and_equal_bytes(w, tmp_path, flags):
    trees = [tree(tmp_path / name) for name in ("one", "deep/er/ zwei ä b$c#d'e\"f")]
    results = [t.session.build(t.object("k.cc", *flags, QUIET, include=["inc"]))[0] for t in trees]
    assert results[0].key == results[1].key
    one, two = (Path(r.path()).read_bytes() for r in results)
    assert one == two
    assert str(tmp_path).encode() not in one
    assert b"source.cc" in one  # Clang drops the leading "./"
    assert b"sub/h.h" in one
    assert b"i.h" in one


def test_a_clone_hits_in_one_store(w, tmp_path):
    one = tree(tmp_path / "one")
    w.build(one.object("k.cc", include=["inc"]))
    shutil.copytree(one.src, tmp_path / "clone ö")
    clone = Workshop.reopen(str(tmp_path))
    clone.src = tmp_path / "clone ö"
    for path in clone.src.rglob("*"):
        os.utime(path)
    assert w.counted(clone.object("k.cc", include=["inc"]))[1] == 0


@pytest.mark.parametrize(
    "name",
    ["a b", "ä", "d$x", "h#", "q'", 'Q"', "p%s", "s;", "-dash", "st*r", "=eq", "b\\n", "(p)"],
)
def test_names_are_only_names(w, name):
    w.write(f"{name}/inc/h.h", "#define N 1\n")
    w.write(f"{name}/{name}.cc", "#include <h.h>\nint f() { return N; }\n")
    recipe = w.object(f"{name}/{name}.cc", include=[f"{name}/inc"])
    assert w.counted(recipe)[1] == 1
    w.write(f"{name}/inc/h.h", "#define N 2\n")
    assert w.counted(recipe)[1] == 1
    assert w.counted(recipe)[1] == 0


def test_a_name_that_cannot_be_mapped_is_in_the_key(w):
    w.write("one=1/k.cc", "const char *f = __FILE__;\n")
    w.write("two=2/k.cc", "const char *f = __FILE__;\n")
    one, two = w.build(w.object("one=1/k.cc"), w.object("two=2/k.cc"))
    assert b"two=2" in Path(two.path()).read_bytes()
    assert one.key != two.key


def test_a_store_with_an_odd_name_works(w):
    w.write("k.cc", "int f() { return 1; }\n")
    store = w.root / "st ore $x #1: ä"
    assert Session(store).build(w.shared(w.object("k.cc", "-fPIC")))
    assert Session(store).build(w.object(Text("int g;", "t.cc")))


def state():
    return (
        os.getcwd(),
        {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)},
        list(sys.path),
        (sys.stdout, sys.stderr),
        dict(os.environ),
        threading.stack_size(),
    )


def test_the_process_is_left_as_it_was(w, capfd):
    w.write("k.cc", "int f() { return 1; }\n")
    before = state()
    caught = []

    def work():
        try:
            w.build(w.shared(w.object("k.cc", "-fPIC"), w.object("k.cc", "-fPIC", "-Df=g")))
        except BaseException as problem:
            caught.append(problem)

    thread = threading.Thread(target=work)  # not the main thread, as a notebook's kernel
    thread.start()
    thread.join(60)
    w.build(w.object("k.cc"))
    assert not caught
    assert state() == before
    assert capfd.readouterr() == ("", "")
    assert [t for t in threading.enumerate() if t.name.startswith("Worker")] == []


def test_a_directory_that_is_gone_does_not_matter(w, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    w.write("k.cc", "int f() { return 1; }\n")
    w.build(w.object("k.cc"))


def test_a_process_where_everything_hits_imports_no_scons_and_starts_nothing(w):
    w.write("h.h", "#define N 1\n")
    w.write("k.cc", '#include "h.h"\nint f() { return N; }\n')
    script = """
    link = w.shared(w.object("k.cc", "-fPIC"), w.object("k.cc", "-fPIC", "-Df=g"))
    w.session.build(link)
    print(w.session.find(link)[0].path())
    print([m for m in sys.modules if m.split(".")[0] in ("SCons", "subprocess_started")])
    """
    assert "SCons" in w.run_python(script)
    spy = "import subprocess\nsubprocess.Popen = None\n" + script.replace("\n    ", "\n")
    out = w.run_python(spy).splitlines()
    assert out[1] == "[]"
    assert os.path.isfile(out[0])
    assert w.runs() == 3


def test_importing_the_layer_is_cheap(w):
    heavy = w.run_python(
        "print([m for m in sys.modules if m.split('.')[0] in ('SCons', 'numpy', 'logging')])"
    )
    assert heavy.strip() == "[]"


def test_compile_commands_point_at_the_users_files(w):
    import json
    import subprocess

    w.write("inc/h.h", "#define N 1\n")
    source = w.write("k.cc", "#include <h.h>\nint f() { return N; }\n")
    text = Text("int g() { return 2; }\n", "g.cc")
    link = w.shared(w.object("k.cc", "-fPIC", "-DM=1", include=["inc"]), w.object(text, "-fPIC"))
    database = w.root / "compile_commands.json"
    compdb.write(database, compdb.entries(Session(w.store), link))
    compdb.write(database, compdb.entries(Session(w.store), w.object("k.cc", include=["inc"])))
    found = json.loads(database.read_text())
    assert len(found) == 2
    files = [e["file"] for e in found]
    assert source in files
    for entry in found:
        assert os.path.isfile(entry["file"])
        again = list(entry["arguments"])
        again[again.index("-o") + 1] = str(w.root / "again.o")
        subprocess.check_call(again, cwd=entry["directory"])
    (mine,) = (e for e in found if e["file"] == source)
    assert "-DM=1" not in mine["arguments"]
    os.unlink(source)
    compdb.write(database, [])
    assert source not in [e["file"] for e in json.loads(database.read_text())]
