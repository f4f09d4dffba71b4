"""Generation records: what a generator reads while it runs is found again, or makes it run anew."""

import contextlib
import importlib
import os
import sys
import textwrap
import threading

import pytest

import iron
from iron.build import default_session
from iron.build.explain import explain
from iron.jit import compilable, observing, reload

DESIGN = """
    import os
    import random
    from pathlib import Path

    import numpy as np

    import iron
    from iron import In, ObjectFifo, Out, Program, Runtime

    HERE = Path(__file__).parent
    RUNS = []
    WIDTH_8 = 8

    {module}

    @iron.jit
    def moved(a: In, b: Out, *, base: iron.CompileTime[int] = 16):
        n = base
        {body}
        whole = np.ndarray[(n,), np.dtype[np.int32]]
        source = ObjectFifo(whole, name="source")
        result = source.cons().forward(name="result")

        def sequence(a, b, source, result):
            source.fill(a)
            result.drain(b, wait=True)

        runtime = Runtime(sequence, [whole, whole, source.prod(), result.cons()])
        return Program(iron.get_current_device(), runtime).resolve_program()
"""
NAME = "iron_test_recorded"


class Generator:
    """A design in a module of its own; `size` asks it as a new process would."""

    def __init__(self, path, monkeypatch):
        self.path, self.runs = path, 0
        generate = compilable.generate

        def counting(*arguments):
            self.runs += 1
            return generate(*arguments)

        monkeypatch.setattr(compilable, "generate", counting)
        monkeypatch.setattr(reload, "_STARTED", 2**63)  # as if this process began after any edit
        monkeypatch.syspath_prepend(str(path))

    def write(self, body="", module=""):
        body = textwrap.indent(textwrap.dedent(body), " " * 8).strip()
        text = textwrap.dedent(DESIGN).replace("{module}", module).replace("    {body}", "BODY")
        self.file("design", text.replace("BODY", "    " + body.replace("\n        ", "\n    ")))

    def file(self, name, text):
        target = self.path / (f"{NAME}.py" if name == "design" else name)
        target.write_text(text)
        # Python believes a cached file of the same second and size.
        for cached in self.path.rglob("*.pyc"):
            cached.unlink()
        return target

    def load(self):
        self.forget()
        importlib.invalidate_caches()
        return importlib.import_module(NAME).moved

    def forget(self):
        for name in [NAME, "iron_test_beside"]:
            sys.modules.pop(name, None)

    def size(self, design=None, **values):
        """How many numbers the design moves, and whether its generator ran for that."""
        before = self.runs
        text = (design or self.load()).as_mlir(**values)
        return int(text.split("memref<")[1].split("x")[0]), self.runs > before


@pytest.fixture
def generator(tmp_path, monkeypatch):
    (tmp_path / "project" / "names").mkdir(parents=True)
    made = Generator(tmp_path / "project", monkeypatch)
    yield made
    made.forget()


READS_FILE = 'n += int((HERE / "size").read_text())'


@pytest.mark.parametrize(
    ("body", "change", "gives"),
    [
        (READS_FILE, lambda p: (p / "size").write_text("9"), 25),
        (
            'with open(HERE / "size") as f: n += len(f.read())',
            lambda p: (p / "size").write_text("1234"),
            20,
        ),
        ('n += int(np.loadtxt(HERE / "size"))', lambda p: (p / "size").write_text("3"), 19),
        ('n += int(os.environ.get("IRON_TEST_N", 1))', lambda p: _set("4"), 20),
        ('n += int(os.getenv("IRON_TEST_N") or 1)', lambda p: _set("4"), 20),
        ('n += 1 + ("IRON_TEST_N" in os.environ)', lambda p: _set(""), 18),
        ('n += 1 + len(os.listdir(HERE / "names"))', lambda p: (p / "names" / "x").touch(), 18),
        ('n += 1 + len(list((HERE / "names").glob("*")))', lambda p: (p / "names/x").touch(), 18),
        ('n += 1 + os.path.exists(HERE / "names" / "x")', lambda p: (p / "names/x").touch(), 18),
        ('n += 1 + (HERE / "names" / "x").is_file()', lambda p: (p / "names/x").touch(), 18),
        (
            'try:\n  with open(HERE / "late") as f: n += len(f.read())\nexcept OSError: n += 1',
            lambda p: (p / "late").write_text("12"),
            18,
        ),
        (
            "import iron_test_beside\nn += iron_test_beside.N",
            lambda p: (p / "iron_test_beside.py").write_text("N = 1 + 1\n"),
            18,
        ),
        ('n += os.path.getsize(HERE / "size")', lambda p: (p / "size").write_text("1234"), 20),
    ],
    ids=[
        *("text", "open", "numpy", "environ", "getenv", "contains", "listdir", "glob", "exists"),
        *("is-file", "absent", "import", "size"),
    ],
)
def test_what_was_read_is_looked_at_again(generator, monkeypatch, body, change, gives):
    monkeypatch.delenv("IRON_TEST_N", raising=False)
    generator.file("size", "1")
    generator.file("iron_test_beside.py", "N = 1\n")
    generator.write(body)
    assert generator.size() == (17, True)
    assert generator.size() == (17, False), explain(default_session().store, "moved")
    loaded = generator.load()
    assert generator.size(loaded) == (17, False)
    with monkeypatch.context() as m:
        m.setitem(os.environ, "IRON_TEST_N", "")  # so that it is put back
        del os.environ["IRON_TEST_N"]
        change(generator.path)
        for cached in generator.path.rglob("*.pyc"):
            cached.unlink()
        assert generator.size() == (gives, True)
        assert generator.size() == (gives, False)
        if "import" not in body:
            assert generator.size(loaded)[0] == gives


def _set(value):
    os.environ["IRON_TEST_N"] = value


def test_states_that_come_back_are_remembered(generator):
    generator.write(READS_FILE)
    for text, anew in (("1", True), ("2", True), ("1", False), ("2", False)):
        generator.file("size", text)
        assert generator.size() == (16 + int(text), anew)


def test_a_name_made_while_running_reaches_the_module_it_names(generator):
    generator.file("iron_test_beside.py", "A_8 = 8\nB = 1\n")
    generator.write('n += getattr(iron_test_beside, f"A_{8}")', "import iron_test_beside")
    assert generator.size() == (24, True)
    assert generator.size() == (24, False), explain(default_session().store, "moved")
    generator.load()
    sys.modules["iron_test_beside"].A_8 = 4
    assert generator.size(sys.modules[NAME].moved) == (20, True)
    sys.modules["iron_test_beside"].A_8 = 8
    assert generator.size(sys.modules[NAME].moved) == (24, False)


@pytest.mark.parametrize(
    ("body", "module", "says"),
    [
        ("n += int(time.time() > 0)", "import time", "it uses the module time"),
        ("n += int(clock() > 0)", "from time import time as clock", "the module time"),
        ("n += random.randrange(1, 2)", "", "the random numbers of random"),
        ("n += len(os.urandom(1))", "", "random bytes"),
        ("n += 1 + 0 * np.random.randint(9)", "", "the random numbers of numpy.random"),
        ("n += os.getpid() // os.getpid()", "", "it uses os.getpid"),
        ("n += eval('1')", "", "evaluates text as code"),
        ('n += bool(importlib.import_module("os"))', "import importlib", "import_module loads"),
        ('n += (HERE / "made").write_text("x")', "", "made for writing"),
        ("n += int(exists(HERE))", "from os.path import exists", "genericpath.exists"),
        ("n += bool(id(n))", "", "addresses of objects"),
        ('n += os.system("exit 1") // 256', "", "os.system"),
        ("RUNS.append(1); n += len(RUNS) // len(RUNS)", "", "it changed something it reads"),
        (
            "class Other(threading.Thread): pass\nOther().start(); n += 1",
            "import threading",
            "threading",
        ),
        ('with open("/dev/zero", "rb") as f: n += len(f.read(1))', "", "which is no plain file"),
        ('os.environ["IRON_TEST_N"] = "1"; n += 1', "", "os.putenv"),
    ],
    ids=[
        *("time", "time-by-name", "random", "urandom", "numpy-random", "pid", "eval", "import"),
        *("writes", "unseen-question", "id", "system", "changes-itself", "thread", "device"),
        "sets-variable",
    ],
)
def test_what_nobody_can_look_up_again_is_not_recorded_and_says_why(
    generator, monkeypatch, body, module, says
):
    monkeypatch.setitem(os.environ, "IRON_TEST_N", "0")
    generator.write(body, module)
    assert generator.size() == (17, True)
    assert generator.size() == (17, True)
    assert says in explain(default_session().store, "moved")


def test_seeded_numbers_are_the_same_every_time(generator):
    generator.write(
        "a = np.random.default_rng(0).integers(4)\nb = random.Random(1).randrange(3)\n"
        "n += int(1 + 0 * a * b)"
    )
    assert [generator.size() for _ in range(2)] == [(17, True), (17, False)]


def test_explain_names_the_data_file_that_differs(generator):
    generator.write(READS_FILE)
    for text in ("1", "2"):
        generator.file("size", text)
        generator.size()
    told = explain(default_session().store, "moved")
    assert f"data file {generator.path}/size" in told


def test_a_file_that_changes_while_it_is_read_blesses_nothing(generator, monkeypatch):
    generator.write(READS_FILE + "; changing()", "changing = lambda: None")
    generator.file("size", "1")
    moved = generator.load()

    def change():
        generator.file("size", "2")

    made = moved.compilable.generator
    monkeypatch.setitem(made.__globals__, "changing", change)
    # By its stamp and not by its digest alone: the old content is back when it is looked at.
    monkeypatch.setitem(
        made.__globals__, "changing", lambda: [change(), generator.file("size", "1")]
    )
    moved.as_mlir()
    assert "changed while it was read" in explain(default_session().store, "moved")


def test_what_other_threads_do_meanwhile_is_not_the_generators(generator, monkeypatch):
    generator.write(READS_FILE)
    generator.file("size", "1")
    go, done = threading.Event(), threading.Event()

    def read():
        go.wait(10)
        with contextlib.suppress(OSError):
            (generator.path / "others").read_text()
        os.environ.get("IRON_TEST_OTHER")
        (generator.path / "written").write_text("x")
        done.set()

    thread = threading.Thread(target=read)
    thread.start()
    generate = compilable.generate
    monkeypatch.setattr(
        compilable, "generate", lambda *a: [go.set(), done.wait(10), generate(*a)][2]
    )
    moved = generator.load()
    session, device = default_session(), iron.get_current_device()
    made = moved.compilable.generated(session, {"base": 16}, device)
    thread.join()
    assert made.untracked == ()
    assert [(o.kind, os.path.basename(o.name)) for o in made.observed] == [("file", "size")]


def test_nothing_is_left_behind_when_the_generator_has_run(generator):
    before = (type(os.environ), os.path.exists, os.getcwd, os.urandom, threading.Thread.start)
    inside = []
    generator.write("SEEN.append((type(os.environ), os.path.exists))", "SEEN = []")
    design = generator.load()
    sys.modules[NAME].SEEN = inside
    design.as_mlir()
    assert inside[0][0] is not before[0]
    assert inside[0][1] is not before[1]
    after = (type(os.environ), os.path.exists, os.getcwd, os.urandom, threading.Thread.start)
    assert after == before
    assert not observing.is_observed()


def test_a_design_asked_inside_of_another_one_counts_as_its_own(generator):
    inner = """
        n += len(inner.as_mlir()) // 10**9 + 1
    """
    generator.write(inner, "from iron_test_beside import inner")
    generator.file(
        "iron_test_beside.py",
        textwrap.dedent(
            """
            import os
            import iron
            from iron.ir import parse
            from iron.design import Module

            @iron.jit
            def inner():
                os.environ.get("IRON_TEST_N")
                return Module(parse("module { aie.device(npu2) { } }", "inner.mlir"))
            """
        ),
    )
    assert generator.size() == (17, True)
    assert generator.size() == (17, False), explain(default_session().store, "moved")
    _set("5")
    try:
        assert generator.size() == (17, True)
    finally:
        del os.environ["IRON_TEST_N"]
