"""Edits of the Python that a design is made of, one for each way in which a value can come to a
generator: the next call in the same process says the new value (or that it cannot), and what it
stores does not mislead the next process."""

import contextlib
import importlib
import re
import sys

import pytest

DESIGN = """
import dataclasses, enum, functools, pathlib
import numpy as np
import iron
from iron import In, Kernel, ObjectFifo, Out, Program, Runtime, Worker

{before}

@iron.jit
def design(source: In, result: Out):
    {inside}
    tile = np.ndarray[(64,), np.dtype[np.int32]]
    a, b = ObjectFifo(tile, name="a"), ObjectFifo(tile, name="b")
    kernel = Kernel("f", "f.o", [tile, tile, np.int32])
    value = {value}

    def core(a, b, kernel):
        x, y = a.acquire(1), b.acquire(1)
        kernel(x, y, value)
        a.release(1)
        b.release(1)

    def sequence(s, r, a, b):
        a.fill(s)
        b.drain(r, wait=True)

    worker = Worker(core, [a.cons(), b.prod(), kernel])
    runtime = Runtime(sequence, [tile, tile, a.prod(), b.cons()])
    return Program(iron.get_current_device(), runtime, workers=[worker]).resolve_program()
"""

# name: (the design's module before the generator, the value in it, the helper module, what 33
# becomes 44 in: "design", "helper" or "data")
TAKEN_OVER = {
    "constant": ("K = 33", "K", "", "design"),
    "constants together": ("A, B = 33, 5", "A", "", "design"),
    "function": ("def f(): return 33", "f()", "", "design"),
    "default": ("def f(x=33): return x", "f()", "", "design"),
    "lambda": ("f = lambda: 33", "f()", "", "design"),
    "partial": ("def g(x): return x\nf = functools.partial(g, 33)", "f()", "", "design"),
    "decorated": (
        "def d(g):\n    @functools.wraps(g)\n    def w(): return g()\n    return w\n"
        "@d\ndef f(): return 33",
        "f()", "", "design",
    ),
    "method": ("class C:\n    def f(self): return 33", "C().f()", "", "design"),
    "method of an instance": (
        "class C:\n    def f(self): return 33\nc = C()", "c.f()", "", "design",
    ),
    "property": (
        "class C:\n    @property\n    def f(self): return 33\nc = C()", "c.f", "", "design",
    ),
    "comprehension": ("K = [i + 33 for i in range(2)]", "K[0]", "", "design"),
    "helper's constant": ("import HELPER as h", "h.K", "K = 33", "helper"),
    "helper's function": ("from HELPER import f", "f()", "def f(): return 33", "helper"),
    "helper's helper": (
        "from HELPER import f", "f()", "def g(): return 33\ndef f(): return g()", "helper",
    ),
    "function's constant": ("from HELPER import f", "f()", "K = 33\ndef f(): return K", "helper"),
    "inherited method": (
        "from HELPER import P\nclass C(P): pass", "C().f()",
        "class P:\n    def f(self): return 33", "helper",
    ),
}  # fmt: skip
INDIRECT = {
    "constant of a constant": ("A = 33\nK = A + 0", "K", "", "design"),
    "constant of a function": ("def f(): return 33\nK = f()", "K", "", "design"),
    "helper's constant of a constant": ("import HELPER", "HELPER.K", "A = 33\nK = A", "helper"),
    "imported constant of a constant": ("from HELPER import K", "K", "A = 33\nK = A", "helper"),
    "constant of a helper's function": (
        "from HELPER import f\nK = f()", "K", "def f(): return 33", "helper",
    ),
    "imported by star": ("from HELPER import *", "K", "K = 33", "helper"),
    "imported in try": (
        "try:\n    from HELPER import K\nexcept ImportError:\n    K = 1", "K", "K = 33", "helper",
    ),
    "under a condition": ("if True:\n    K = 33", "K", "", "design"),
    "filled in a loop": ("K = {}\nfor i in range(3): K[i] = i + 33", "K[0]", "", "design"),
    "appended": ("K = []\nK.append(33)", "K[0]", "", "design"),
    "assigned twice": ("K = 33\nK = K + 0", "K", "", "design"),
    "added to": ("K = 0\nK += 33", "K", "", "design"),
    "class attribute": ("class C:\n    k = 33", "C.k", "", "design"),
    "inherited attribute": ("class P:\n    k = 33\nclass C(P): pass", "C.k", "", "design"),
    "enumeration": ("class E(enum.IntEnum):\n    A = 33", "int(E.A)", "", "design"),
    "dataclass": ("@dataclasses.dataclass\nclass C:\n    k: int = 33", "C().k", "", "design"),
    "made by a factory": (
        "def make(n):\n    def g(): return n\n    return g\nf = make(33)", "f()", "", "design",
    ),
    "default of a constant": ("K = 33\ndef f(x=K): return x", "f()", "", "design"),
    "cached": ("@functools.lru_cache\ndef f(): return 33", "f()", "", "design"),
    "by name": ("import HELPER", 'getattr(HELPER, "".join("K"))', "K = 33", "helper"),
    "by globals": ("K = 33", 'globals()["K"]', "", "design"),
}  # fmt: skip
# An undeclared file or import that only the running generator sees.
UNSEEN = {
    "data file": ("", 'int(pathlib.Path(__file__).with_name("data").read_text())', "", "data"),
    "imported by name": (
        "import importlib", 'importlib.import_module("HELPER").K', "K = 33", "helper",
    ),
}  # fmt: skip


class Files:
    """A design, its helper and its data on disk."""

    def __init__(self, path, monkeypatch, before, value, helper) -> None:
        path.mkdir()
        stem = re.sub(r"\W", "_", path.name)
        self.names = [f"design_{stem}", f"helper_{stem}"]
        self.files = {
            "design": path / f"{self.names[0]}.py",
            "helper": path / f"{self.names[1]}.py",
            "data": path / "data",
        }
        texts = (DESIGN.format(before=before, value=value, inside="pass"), helper + "\n", "33")
        for file, text in zip(self.files.values(), texts, strict=True):
            file.write_text(text.replace("HELPER", self.names[1]))
        monkeypatch.syspath_prepend(str(path))
        monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def load(self):
        """As a new process would."""
        for name in self.names:
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module(self.names[0])

    def edit(self, what) -> None:
        text = self.files[what].read_text()
        assert "33" in text
        self.files[what].write_text(text.replace("33", "44"))


def value_of(module) -> str:
    """The number that the design hands to its kernel, with what is on disk now."""
    module.design._look_at_inputs()
    return re.findall(r"arith.constant (\d+) : i32", module.design.as_mlir())[-1]


@pytest.fixture
def files(request, tmp_path, monkeypatch):
    name, (before, value, helper, what) = request.param
    made = Files(tmp_path / name.replace("'", ""), monkeypatch, before, value, helper)
    yield made, what
    for name in made.names:
        sys.modules.pop(name, None)


def cases(table):
    return [pytest.param(item, id=item[0]) for item in table.items()]


@pytest.mark.parametrize(
    "files",
    cases(TAKEN_OVER) + cases(INDIRECT),
    indirect=True,
)
def test_an_edit_is_taken_over_or_refused(files):
    from iron.jit import ReloadError

    made, what = files
    module = made.load()
    assert value_of(module) == "33"
    made.edit(what)
    try:
        assert value_of(module) == "44"
    except ReloadError:
        return


@pytest.mark.parametrize("files", cases({**TAKEN_OVER, **INDIRECT}), indirect=True)
def test_what_one_process_stores_does_not_mislead_the_next(files):
    from iron.jit import ReloadError

    made, what = files
    module = made.load()
    value_of(module)
    made.edit(what)
    with contextlib.suppress(ReloadError):
        value_of(module)
    assert value_of(made.load()) == "44"


@pytest.mark.parametrize(
    "files",
    cases(UNSEEN),
    indirect=True,
)
def test_a_new_process_sees_what_only_the_running_generator_reads(files):
    made, what = files
    assert value_of(made.load()) == "33"
    made.edit(what)
    assert value_of(made.load()) == "44"
