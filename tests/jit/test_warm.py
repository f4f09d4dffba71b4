"""Calls of what is loaded already: they reach what a first call would reach, and cost nothing else.

A kernel that records stands in for the one that runs, so that a test sees which text was reached.
"""

import os
import random
import shutil
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pytest

import iron
from iron import CallableDesign, CompileTime, In, ObjectFifo, Out, Program, Runtime
from iron.jit import callable as calls
from iron.jit.options import current_options
from iron.runtime.host import RunReport

options_module = sys.modules["iron.jit.options"]  # iron.jit has a class of that name

SIZE = 16
SCALE = {"by": 1}


class Recorder:
    """A kernel that only remembers."""

    def __init__(self, built):
        self.text = built.generated.text
        self.given = None
        self.closed = False

    def run(self, args, timeout=None):
        self.given = (list(args), timeout)
        return RunReport(1, 0.0)

    def close(self):
        self.closed = True


class Recorded(CallableDesign):
    def _kernel(self, built):
        return Recorder(built)

    def reached(self, *args, **kwargs):
        """The text of the design that a call comes to."""
        return self(*args, **kwargs).handle.text


def moved(a: In, b: Out, *, tag: CompileTime[object] = 0, n: CompileTime[int] = 32):
    whole = np.ndarray[(n,), np.dtype[np.int32]]
    # What the design depends on stands in the name of a fifo.
    said = (type(tag).__name__, tag, SIZE, SCALE["by"], iron.get_compile_arg("extra"))
    name = "".join(c if c.isalnum() else "_" for c in repr(said))
    source = ObjectFifo(whole, name=f"source{name}")
    result = source.cons().forward(name="result")

    def sequence(a, b, source, result):
        source.fill(a)
        result.drain(b, wait=True)

    runtime = Runtime(sequence, [whole, whole, source.prod(), result.cons()])
    return Program(iron.get_current_device(), runtime).resolve_program()


@pytest.fixture
def design(own_store):
    return Recorded(moved)


@pytest.fixture
def never():
    with iron.options(reload="never"):
        yield


def tensors(n=32, dtype=np.int32):
    return iron.arange(n, dtype=dtype), iron.zeros(n, dtype=dtype)


def anew(**values):
    """The text that a design nobody has called yet has for `values`."""
    return CallableDesign(moved).as_mlir(**values)


class Forbidden:
    def __getattr__(self, name):
        raise AssertionError(f"a warm call uses {name}")

    def __enter__(self):
        raise AssertionError("a warm call takes a lock")

    def __exit__(self, *fault):
        pass


def test_a_warm_call_looks_at_no_file_takes_no_lock_and_writes_no_key(design, never, monkeypatch):
    a, b = tensors()
    design(a, b, tag="x")
    design._lock = Forbidden()
    with monkeypatch.context() as m:
        for name in ("stat", "access", "getpid", "fspath"):
            m.setattr(os, name, lambda *_: pytest.fail("a warm call asks the system"))
        m.setattr(calls, "key_text", lambda *_: pytest.fail("a warm call writes a key"))
        m.setattr(design.compilable, "signature", Forbidden())
        m.setattr(options_module, "RunOptions", Forbidden())
        handle, report = design(a, b, tag="x")
    assert handle.given == ([a.buffer, b.buffer], None)
    assert report.is_success()


@pytest.mark.parametrize(
    "values",
    [
        (1, True, 1.0, "1", None, b"1"), (0, False, 0.0, -0.0, ""), ((1,), (True,), (1.0,)),
        (-1, -2, 2**61 - 1, 0), (np.int32, np.dtype(np.int32), np.dtype(">i4")),
        (np.float32(1), np.int64(1), 1), ([1], [2], (1,)),
    ],
)  # fmt: skip
def test_values_that_are_equal_and_mean_something_else(design, never, values):
    a, b = tensors()
    for _ in range(2):
        assert [design.reached(a, b, tag=v) for v in values] == [anew(tag=v) for v in values]


@pytest.mark.parametrize("reload", ["auto", "never"])
def test_what_is_around_a_call(design, reload, monkeypatch):
    a, b = tensors()
    with iron.options(reload=reload):
        first = design.reached(a, b)
        assert "aie.device(npu2)" in first
        with iron.device("npu1_1col"):
            assert "aie.device(npu1_1col)" in design.reached(a, b)
        with iron.device(iron.NPU2Col1()):
            assert "aie.device(npu2_1col)" in design.reached(a, b)
        iron.set_current_device(iron.NPU1())
        try:
            assert "aie.device(npu1)" in design.reached(a, b)
        finally:
            iron.set_current_device(None)
        with monkeypatch.context() as m:
            m.setenv("IRON_DEVICE", "npu2_4col")
            assert "aie.device(npu2_4col)" in design.reached(a, b)
            os.environ["IRON_DEVICE"] = "npu2_3col"
            assert "aie.device(npu2_3col)" in design.reached(a, b)
        with iron.compile_context(extra=5):
            assert "_5_" in design.reached(a, b)
        with iron.options(target="npu"), pytest.raises(iron.ToolNotFound):
            design(a, b)
        monkeypatch.setenv("IRON_TARGET", "npu")
        with pytest.raises(iron.ToolNotFound):
            design(a, b)
        monkeypatch.delenv("IRON_TARGET")
        assert design.reached(a, b) == first


def test_a_device_of_a_class_of_ones_own_is_told_by_its_key(design, never):
    class Mine(iron.Device):
        def __iron_key__(self):
            return (self.name, self.mode)

    a, b = tensors()
    device = Mine(iron.NPU2().enum)
    runs = []
    for device.mode in (1, 2, 1):
        with iron.device(device):
            runs.append(design(a, b).handle)
    assert runs[0] is runs[2] is not runs[1]


def test_objects_changed_in_place_are_other_values(own_store, never):
    a, b = tensors()
    bound, given = [1], [1]
    design = Recorded(moved, compile_kwargs={"tag": bound})
    for step in (1, 2, 3):
        bound[0] = given[0] = step
        assert f"__{step}_" in design.reached(a, b)
        assert f"__{step}_" in design.reached(a, b, tag=given)


def test_globals_and_closures_bound_anew_are_seen(design, monkeypatch):
    a, b = tensors()
    for SIZE_now in (16, 17, 16):
        monkeypatch.setattr(f"{__name__}.SIZE", SIZE_now)
        monkeypatch.setitem(SCALE, "by", SIZE_now + 1)
        assert f"_0__{SIZE_now}__{SIZE_now + 1}_" in design.reached(a, b)
        with iron.options(reload="never"):
            assert f"_0__{SIZE_now}_" in design.reached(a, b)
    shared = 3

    def closing(a: In, b: Out):
        return moved(a, b, tag=shared)

    design = Recorded(closing)
    assert "_3__16_" in design.reached(a, b)
    shared = 4
    assert "_4__16_" in design.reached(a, b)


def test_a_store_elsewhere_or_gone_is_built_again(design, own_store, tmp_path, monkeypatch):
    a, b = tensors()
    for name in ("other", "third"):  # with the emulator's runtime
        shutil.copytree(own_store, tmp_path / name, symlinks=True, copy_function=os.link)
    first = design(a, b).handle
    assert design(a, b).handle is first
    monkeypatch.setenv("IRON_STORE", str(tmp_path / "other"))
    assert not built_in(tmp_path / "other")
    design(a, b)
    assert built_in(tmp_path / "other")
    os.rename(tmp_path / "other", tmp_path / "away")
    os.rename(tmp_path / "third", tmp_path / "other")
    design(a, b)
    assert built_in(tmp_path / "other")


def built_in(store):
    return list(store.glob("*/*/design.net"))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: iron.zeros(32, dtype=np.int16), "got dtype int16"),
        (lambda: iron.zeros(32, dtype=np.float32), "got dtype float32"),
        (lambda: iron.zeros(33, dtype=np.int32), "32 elements, got 33"),
        (lambda: iron.zeros(64, dtype=np.int32).subview(0, 16), "32 elements, got 16"),
        (lambda: iron.tensor(np.zeros(32, ">i4")), "got dtype >i4"),
        (lambda: np.zeros(32, ">i4"), "got dtype >i4"),
        (lambda: [0] * 32, "got list"),
        (lambda: None, "got NoneType"),
    ],
)  # fmt: skip
def test_tensors_are_checked_at_every_call(design, never, make, says):
    a, b = tensors()
    for _ in range(2):
        design(a, b)
        for wrong in ((make(), b), (a, make())):
            with pytest.raises(TypeError, match=says):
                design(*wrong)
    for wrong in ((a,), (a, b, b), ()):
        with pytest.raises(TypeError, match=r"takes 2 tensor"):
            design(*wrong)
    with pytest.raises(TypeError, match="no compile-time parameter 'tga'"):
        design(a, b, tga=1)


def test_a_tensor_turned_into_something_else_in_place_is_checked_as_it_is(design, never):
    a, b = tensors()
    design(a, b)
    a.numpy().dtype = np.int16
    with pytest.raises(TypeError, match="got dtype int16"):
        design(a, b)


def test_either_sign_any_shape_views_and_arrays_come_to_the_same(design, never):
    a, b = tensors()
    handle = design(a, b).handle
    whole = iron.zeros(128, dtype=np.int32)
    view = whole.subview(64, (4, 8))
    for given in (iron.zeros(32, dtype=np.uint32), iron.zeros((4, 8), dtype=np.int32), view):
        for _ in range(2):
            assert design(given, b).handle is handle
            assert handle.given[0] == [given.buffer, b.buffer]
    assert (view.buffer.offset, view.buffer.nbytes) == (64, 128)
    array = np.arange(32, dtype=np.int32)
    for _ in range(2):
        design(array, b)
        assert handle.given[0][0].array.tobytes() == array.tobytes()


def test_the_options_of_one_call(design, never):
    a, b = tensors()
    assert design(a, b).handle.given[1] is None
    assert design[iron.options(timeout=3)](a, b).handle.given[1] == 3
    assert design(a, b).handle.given[1] is None
    assert current_options().reload == "never"


def test_what_mlir_aies_tests_clear_is_loaded_again(design, never):
    a, b = tensors()
    first = design(a, b).handle
    design._kernel_cache.clear()
    assert design(a, b).handle is not first
    assert len(design._kernel_cache) == 1


def test_the_one_not_used_for_longest_is_closed(design, never, monkeypatch):
    monkeypatch.setattr(calls, "LOADED_LIMIT", 2)
    monkeypatch.setattr(calls, "SHORT_KEYS_LIMIT", 2)
    a, b = tensors()
    one, two = (design(a, b, tag=tag).handle for tag in (1, 2))
    assert design(a, b, tag=1).handle is one
    design(a, b, tag=3)
    assert (one.closed, two.closed) == (False, True)
    for tag in (1, 2, 3, 1, 2, 3):
        assert design.reached(a, b, tag=tag) == anew(tag=tag)
    assert len(design._short) <= 2


def test_any_order_of_calls_reaches_what_a_new_design_would(design, monkeypatch):
    rng = random.Random(7)
    monkeypatch.setattr(calls, "LOADED_LIMIT", 4)
    a, b = tensors()
    known = {}
    for _ in range(60):
        tag = rng.choice([0, False, 1, True, 1.0, "1", (1, 2), [1]])
        device = rng.choice(["npu1", "npu2", "npu2_1col", None])
        reload, extra = rng.choice(["auto", "never", "never"]), rng.choice([None, None, 7])
        monkeypatch.setattr(f"{__name__}.SIZE", size := rng.choice([16, 16, 17]))
        with ExitStack() as around:
            around.enter_context(iron.options(reload=reload))
            if device:
                around.enter_context(iron.device(device))
            if extra:
                around.enter_context(iron.compile_context(extra=extra))
            key = repr((tag, device, extra, size))
            if key not in known:
                known[key] = anew(tag=tag)
            if reload == "never":
                with iron.options(reload="auto"):
                    design(a, b, tag=tag)  # what is loaded is right now, and then trusted
            assert design.reached(a, b, tag=tag) == known[key]


def test_threads_with_values_of_their_own(design, never, monkeypatch):
    monkeypatch.setattr(calls, "LOADED_LIMIT", 3)
    texts = {tag: anew(tag=tag) for tag in range(4)}
    start = threading.Barrier(4)

    def work(tag):
        a, b = tensors()
        start.wait()
        with iron.options(reload="auto" if tag == 0 else "never"):
            return all(design.reached(a, b, tag=tag) == texts[tag] for _ in range(40))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


def test_a_device_and_a_target_chosen_by_others_meanwhile(own_store, monkeypatch):
    monkeypatch.setattr(options_module, "_configured", [{}])

    class Overtaken(Recorded):
        def _load(self, *args):
            iron.set_current_device(iron.NPU1())  # as another thread might, right now
            iron.configure(target="npu")
            return super()._load(*args)

    a, b = tensors()
    design = Overtaken(moved)
    for _ in range(2):
        try:
            assert "aie.device(npu2)" in design.reached(a, b)
        finally:
            iron.set_current_device(None)
            iron.configure(target="host")


def test_a_forked_child_calls_on_while_a_thread_of_the_parent_holds_the_lock(design, never):
    a, b = tensors()
    first = design.reached(a, b)
    held, done = threading.Event(), threading.Event()

    def hold():
        with design._lock:
            held.set()
            done.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(30)
    child = os.fork()
    if child == 0:
        try:
            ok = design.reached(a, b) == first
            with iron.options(reload="auto"):
                ok = ok and design.reached(a, b) == first
            os._exit(0 if ok else 1)
        except BaseException:
            os._exit(2)
    done.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_one_object_of_options_in_several_threads(never):
    shared = iron.options(timeout=3, device="npu1")
    inside = threading.Barrier(2)

    def work(turn):
        with iron.options(target="npu" if turn else "host"), shared:
            inside.wait()
            found = current_options()
            inside.wait()
        after = current_options()
        return found.timeout, found.target, after.timeout, iron.get_current_device()

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(work, range(2))
    assert first == (3, "host", None, iron.NPU2())
    assert second == (3, "npu", None, iron.NPU2())


def test_what_is_configured_is_seen_inside_of_scopes(monkeypatch):
    with iron.options(timeout=3):
        assert current_options().reload == "auto"
        monkeypatch.setenv("IRON_RELOAD", "never")
        assert current_options().reload == "never"
        monkeypatch.delenv("IRON_RELOAD")
        assert current_options().reload == "auto"
        monkeypatch.setattr(options_module, "_configured", [{}])
        iron.configure(reload="never")
        assert (current_options().reload, current_options().timeout) == ("never", 3)
    scope = iron.options(timeout=4)
    with pytest.raises(RuntimeError, match="left in a thread or task that did not enter it"):
        scope.__exit__(None, None, None)
