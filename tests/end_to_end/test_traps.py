"""What is known to go wrong silently elsewhere, one test for each: here it is right, or it says so.

The numbers are those of the list of forty-five that this project keeps. A few are held by tests of
the room they belong to: 6 and 34 (interrupted builds leave nothing) and 7 (an edit during a
compile) by tests/build/test_build_together.py and test_build_freshness.py, 14 and 15 (directories
of the caller) by tests/build/test_build_places.py, 28 (blanks in paths) by every test of this
directory, whose projects lie in one. 16, 35, 42 and 45 are in docs/decisions.md.
"""

import functools
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import iron
from iron import (
    CompileTime,
    ExternalFunction,
    In,
    Kernel,
    ObjectFifo,
    Out,
    Program,
    Runtime,
    Worker,
)
from iron.jit.generate import GenerationError

TILE, WHOLE = (np.ndarray[(n,), np.dtype[np.int32]] for n in (16, 64))
FACTOR = 2


def design(body, *arguments, n=64, name="x"):
    """A module: `body(x, y, *arguments)` for every tile."""
    source, result = ObjectFifo(TILE, name=f"{name}_in"), ObjectFifo(TILE, name=f"{name}_out")
    whole = np.ndarray[(n,), np.dtype[np.int32]]

    def core(source, result, *arguments):
        body(source.acquire(1), result.acquire(1), *arguments)
        source.release(1)
        result.release(1)

    def sequence(a, b, source, result):
        source.fill(a)
        result.drain(b, wait=True)

    worker = Worker(core, [source.cons(), result.prod(), *arguments])
    runtime = Runtime(sequence, [whole, whole, source.prod(), result.cons()])
    return Program(iron.NPU2Col1(), runtime, workers=[worker]).resolve_program()


def elementwise(of_one):
    def body(x, y):
        for i in iron.range_(16):
            y[i] = of_one(x[i])

    return design(body)


def tensors():
    return iron.arange(64, dtype=np.int32), iron.zeros(64, dtype=np.int32)


@iron.jit
def shifted(a: In, b: Out, *, by: CompileTime[object], N: CompileTime[int] = 64):
    return elementwise(lambda x: x + int(by))


@iron.jit
def applied(a: In, b: Out, *, func: CompileTime[object]):
    return elementwise(func)


@iron.jit
def called(a: In, b: Out, *, func: CompileTime[object]):
    return design(lambda x, y, f: f(x, y), func)


def kernel(name, text="y[i] = x[i] + BY;", **options):
    source = f'extern "C" void {name}(int *x, int *y) {{ for (int i = 0; i < 16; ++i) {text} }}'
    flags = options.pop("compile_flags", ["-DBY=1"])
    return ExternalFunction(
        name, source_string=source, arg_types=[TILE, TILE], compile_flags=flags, **options
    )


def result_of(f, *args, **values):
    a, b = tensors()
    f(a, b, *args, **values)
    return (b.numpy() - a.numpy())[0]


class Config:
    def __init__(self, by):
        self.by = by

    def __int__(self):
        return self.by


def test_01_values_with_one_hash_are_two_designs():
    assert hash(-1) == hash(-2)
    assert [result_of(shifted, by=v) for v in (-1, -2, -1)] == [-1, -2, -1]


def test_02_objects_are_told_by_what_they_hold():
    names = [called.as_mlir(func=Kernel(n, "k.o", [TILE, TILE])) for n in ("a", "b", "a")]
    assert "@a" in names[0]
    assert "@b" in names[1]
    assert names[0] == names[2]
    assert len({shifted.as_mlir(by=Config(n)) for n in range(3)}) == 3
    config = Config(1)
    assert "arith.constant 1 : i32" in shifted.as_mlir(by=config)
    config.by = 7
    assert "arith.constant 7 : i32" in shifted.as_mlir(by=config)


def helper(x):
    return x * FACTOR


def test_03_everything_a_generator_reads_is_in_its_key(monkeypatch):
    @iron.jit
    def helped(a: In, b: Out):
        return elementwise(helper)

    before = helped.as_mlir()
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 5)
    assert helped.as_mlir() != before
    monkeypatch.setattr(sys.modules[__name__], "helper", lambda x: x - 1)
    assert "arith.subi" in helped.as_mlir()
    key = shifted.compilable.values_key
    long = np.zeros(5000, np.int32)
    changed = long.copy()
    changed[2500] = 1
    values = [1, 1.0, True, "1", None, np.float32(1), np.int32(1), long, changed]
    assert len({key({"by": v}) for v in values}) == len(values)
    flags = [shifted.specialize(compile_flags=f) for f in (["-DA=1", "-DA=2"], ["-DA=2", "-DA=1"])]
    assert flags[0].compilable.values_key({}) != flags[1].compilable.values_key({})


def test_03_a_function_given_as_a_value_is_what_it_reads_too(monkeypatch):
    func = lambda x: x + FACTOR  # noqa: E731
    assert result_of(applied, func=func) == 2
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 9)
    assert result_of(applied, func=func) == 9


def test_04_without_the_cache_an_edited_kernel_is_built_all_the_same(project):
    project.edit("design.py", "@iron.jit\n", "@iron.jit(use_cache=False)\n")
    module = project.load()
    assert module.call()[1] == 30
    project.edit("scale.cc", "FACTOR;", "FACTOR + 1;")
    assert module.call()[1] == 31


def test_05_paths_that_are_written_again_hold_what_is_true_now(project, tmp_path):
    def built():
        paths = {"xclbin_path": tmp_path / "x", "inst_path": tmp_path / "i"}
        project.load().scaled.compile(**paths)
        return paths["xclbin_path"].read_bytes()

    first = built()
    assert built() == first
    project.edit("include/factor.h", "3", "4")
    assert built() != first


def test_08_a_loaded_design_sees_an_edited_kernel(project):
    module = project.load()
    module.call()
    project.edit("include/factor.h", "3", "5")
    assert module.call()[1] == 50


def test_09_one_object_name_for_two_contents_is_refused():
    one, two = (
        kernel(n, object_file_name="k.o", compile_flags=[f"-DBY={i}"])
        for i, n in enumerate(("one", "two"))
    )

    def body(x, y, one, two):
        one(x, y)
        two(x, y)

    with pytest.raises(ValueError, match=r"the object file name 'k\.o' .*already names"):
        design(body, one, two)
    assert kernel("f", compile_flags=["-DA=1", "-DA=2"]) != kernel(
        "f", compile_flags=["-DA=2", "-DA=1"]
    )


@pytest.mark.parametrize("name", ["/tmp/k.o", "../k.o", "a/b.o", ".."])
def test_10_an_object_name_is_a_plain_name(name):
    with pytest.raises(ValueError, match="object_file_name is a plain file name"):
        kernel("f", object_file_name=name)


def test_11_arrays_keep_their_own_dtype():
    for array in (np.array([1.5, -1], np.float32), np.array([-3, 4], np.int16)):
        made = iron.tensor(array)
        assert made.dtype == array.dtype
        np.testing.assert_array_equal(made.numpy(), array)


def test_12_a_tensor_of_another_dtype_or_shape_never_runs():
    a, b = tensors()
    with pytest.raises(TypeError, match=r"a is to be of .*int32.*, got dtype int16"):
        shifted(iron.zeros(64, dtype=np.int16), b, by=1)
    with pytest.raises(TypeError, match="64 elements, got 63"):
        shifted(a, iron.zeros(63, dtype=np.int32), by=1)


@pytest.mark.parametrize(
    ("count", "values", "says"),
    [
        (1, {"by": 1}, r"takes 2 tensor\(s\) by position \(a, b\), got 1"),
        (0, {"by": 1}, "got 0"),
        (3, {"by": 1}, "got 3"),
        (2, {"by": 1, "NN": 3}, "no compile-time parameter 'NN'; it has: by, N"),
    ],
)
def test_13_missing_and_surplus_arguments_are_refused(count, values, says):
    with pytest.raises(TypeError, match=says):
        shifted(*(iron.zeros(64, dtype=np.int32) for _ in range(count)), **values)


def test_14_a_stale_object_where_the_user_stands_is_not_linked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.o").write_bytes(b"an old object")
    assert result_of(called, func=kernel("mine", object_file_name="mine.o")) == 1


def test_15_relative_include_directories_are_those_next_to_the_design(project, tmp_path):
    assert project.run() == "30 True"  # it runs with another working directory
    (tmp_path / "include").mkdir(exist_ok=True)
    (tmp_path / "include" / "factor.h").write_text("#define FACTOR 1000\n")
    assert project.run().startswith("30 ")


def two_of_one_source(**options):
    both = """
    extern "C" void one(int *x, int *y) { for (int i = 0; i < 16; ++i) y[i] = x[i] + 1; }
    extern "C" void two(int *x, int *y) { for (int i = 0; i < 16; ++i) y[i] += 2; }
    """
    return [
        ExternalFunction(n, source_string=both, arg_types=[TILE, TILE], **options)
        for n in ("one", "two")
    ]


def run_both(one, two):
    @iron.jit
    def both(a: In, b: Out):
        def body(x, y, one, two):
            one(x, y)
            two(x, y)

        return design(body, one, two)

    return result_of(both)


def test_17_two_functions_of_one_source_are_one_object():
    assert run_both(*two_of_one_source()) == 3


def test_18_equal_contents_under_two_names_are_both_there():
    text = "y[i] = x[i] + 4;"
    first, second = (
        kernel("same", text, object_file_name="a.o"),
        kernel("same", text, object_file_name="b.o"),
    )
    assert result_of(called, func=first) == result_of(called, func=second) == 4


def test_19_a_function_can_be_used_again_in_other_designs():
    again = kernel("again")
    assert result_of(called, func=again) == 1

    @iron.jit
    def other(a: In, b: Out):
        return design(lambda x, y, f: f(x, y), again, name="other")

    assert result_of(other) == 1
    assert result_of(called, func=again) == 1


def test_20_two_sizes_of_a_kernel_have_symbols_of_their_own():
    small, large = (iron.kernels.mm(n, n, n, np.int16, np.int32, vectorized=False) for n in (4, 8))
    assert small.zero.name != large.zero.name
    assert small.object_spec == small.zero.object_spec != large.object_spec


def test_21_build_options_of_a_design_act(project):
    project.edit("scale.cc", '#include "factor.h"', "#include <elsewhere.h>")
    project.edit("design.py", ', include_dirs=["include"]', "")
    (project.path / "more").mkdir()
    project.write("more/elsewhere.h", "#define FACTOR (BASE + 1)\n")
    options = 'compile_flags=["-DBASE=5"], include_paths=["more"]'
    project.edit("design.py", "@iron.jit\n", f"@iron.jit({options})\n")
    assert project.load().call()[1] == 60


def test_22_numpy_arrays_are_arguments():
    a, b = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    shifted(a, b, by=3)
    np.testing.assert_array_equal(b, a + 3)


class Maker:
    def __init__(self, by):
        self.by = by

    def method(self, a: In, b: Out):
        return elementwise(lambda x: x + self.by)

    def __call__(self, a: In, b: Out):
        return self.method(a, b)


def test_23_anything_that_can_be_called_is_a_generator():
    partial = functools.partial(shifted.__wrapped__, by=4)
    generators = [partial, Maker(5).method, Maker(6)]
    assert [result_of(iron.jit(g)) for g in generators] == [4, 5, 6]


def test_24_one_source_that_exists_is_asked_for(tmp_path):
    (tmp_path / "k.cc").write_text("")
    with pytest.raises(ValueError, match="only one of them; found both"):
        ExternalFunction("f", source_string="", source_file=tmp_path / "k.cc")
    with pytest.raises(ValueError, match="found neither"):
        ExternalFunction("f")
    with pytest.raises(FileNotFoundError, match=r"source file not found: 'gone\.cc'; searched"):
        ExternalFunction("f", source_file="gone.cc")


def test_25_lists_of_types_stay_as_they_were_given():
    types = [TILE, TILE]
    f = ExternalFunction("f", source_string="", arg_types=types)
    design(lambda x, y, f: f(x, y), f)
    assert types == [TILE, TILE] == f.arg_types()
    types.append(np.int32)
    assert len(f.arg_types()) == 2


def test_26_a_failed_build_says_all_and_keeps_its_work(capfd):
    broken = kernel("broken", "y[i] = nothing_of_this_name;")
    with pytest.raises(iron.BuildError) as caught:
        result_of(called, func=broken)
    text = str(caught.value)
    assert "nothing_of_this_name" in text
    assert "broken.cc" in text
    kept = [w for w in text.split() if w.startswith("/") and os.path.isdir(w.strip(".,:;()'\""))]
    assert kept, text


def test_27_a_kernel_that_a_python_function_calls_is_linked():
    inner = kernel("inner", "y[i] = x[i] + 6;")

    @iron.func
    def outer(x: TILE, y: TILE):
        inner(x, y)

    @iron.jit
    def nested(a: In, b: Out):
        return design(lambda x, y, f: f(x, y), outer)

    assert result_of(nested) == 6


def test_29_annotations_that_cannot_be_read_are_an_error_at_once():
    def unreadable(a: "Nowhere", b: Out): ...  # noqa: F821

    with pytest.raises(TypeError, match=r"annotations cannot be evaluated.*Nowhere"):
        iron.jit(unreadable)


def test_30_parts_of_a_design_can_be_resolved_again():
    def body(x, y, f):
        f(x, y)

    fifos = [ObjectFifo(TILE, name=n) for n in ("arriving", "leaving")]
    worker = Worker(
        lambda x, y, f: body(x.acquire(1), y.acquire(1), f),
        [fifos[0].cons(), fifos[1].prod(), kernel("f")],
    )

    def sequence(a, b, source, result):
        source.fill(a)
        result.drain(b, wait=True)

    runtime = Runtime(sequence, [WHOLE, WHOLE, fifos[0].prod(), fifos[1].cons()])
    programs = [Program(iron.NPU2(), runtime, workers=[worker]) for _ in range(2)]
    texts = {str(p.resolve_program()) for p in (*programs, programs[0])}
    assert len(texts) == 1


def test_31_a_failed_check_is_an_assertion():
    from iron.verify import assert_pass

    with pytest.raises(AssertionError, match="FAIL!"):
        assert_pass([1], [2])


def test_32_designs_of_four_threads_do_not_meet():
    results, faults = {}, []

    def work(by):
        @iron.jit
        def own(a: In, b: Out):
            return design(lambda x, y, f: f(x, y), kernel("add", compile_flags=[f"-DBY={by}"]))

        try:
            results[by] = result_of(own)
        except Exception as e:
            faults.append(e)

    threads = [threading.Thread(target=work, args=(by,)) for by in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not faults
    assert results == {n: n for n in range(1, 5)}
    assert not ExternalFunction._instances


def test_33_asking_for_the_device_chooses_none():
    from iron.runtime.device import chosen_device

    seen = []
    with iron.device("npu1"):
        thread = threading.Thread(target=lambda: seen.append(iron.get_current_device()))
        thread.start()
        thread.join()
        assert iron.get_current_device() == iron.NPU1()
    assert seen == [iron.get_current_device()] == [iron.NPU2()]
    iron.ensure_current_device()
    assert chosen_device() is None


def python(script, **environment):
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done


def test_36_importing_costs_little_and_says_nothing():
    script = """
import sys
import iron
print(*[m for m in ("ml_dtypes", "pyxrt", "SCons", "iron.kernels", "iron.design.kernel")
        if m in sys.modules])
"""
    done = python(script)
    assert (done.stdout.strip(), done.stderr) == ("", "")


def test_37_the_generator_runs_once_for_each_design():
    runs = []

    def generator(a: In, b: Out, *, by: CompileTime[int]):
        Counter.count(by)
        return elementwise(lambda x: x + by)

    class Counter:
        @staticmethod
        def count(by):
            runs.append(by)

    counted = iron.jit(generator)
    iron.configure(reload="never")
    try:
        a, b = tensors()
        for by in (1, 2, 1, 2, 1):
            counted(a, b, by=by)
    finally:
        iron.configure(reload="auto")
    assert runs == [1, 2]


def test_38_two_designs_share_the_object_of_a_kernel(build_log):
    shared = kernel("shared", "y[i] = x[i] * 3;")
    called.build(func=shared)

    @iron.jit
    def another(a: In, b: Out):
        return design(lambda x, y, f: f(x, y), shared, name="another")

    build_log.clear()
    another.build()
    assert build_log.kinds().get("object", 0) == 0
    assert build_log.runs() > 0


def test_39_the_time_of_a_file_is_not_its_content(project, build_log):
    module = project.load()
    module.call()
    build_log.clear()
    os.utime(project.path / "scale.cc", (1_000_000_000, 1_000_000_000))
    assert module.call()[1] == 30
    assert build_log.runs() == 0


def test_40_a_docstring_is_no_part_of_a_design(project, build_log):
    project.load().call()
    build_log.clear()
    project.edit("design.py", "    tile = np", '    """Scale."""\n    # by ten\n    tile = np')
    project.load().call()
    assert build_log.runs() == 0


def test_41_the_store_is_where_the_environment_says_now(monkeypatch, tmp_path):
    from iron.build import store_root

    monkeypatch.setenv("IRON_STORE", str(tmp_path / "elsewhere"))
    assert str(store_root()) == str(tmp_path / "elsewhere")
    monkeypatch.delenv("IRON_STORE")
    monkeypatch.setenv("NPU_CACHE_HOME", str(tmp_path / "older"))
    assert str(store_root()).startswith(str(tmp_path / "older"))


def test_43_the_directory_of_a_project_is_no_part_of_its_objects(project, tmp_path, build_log):
    from projects import Project

    project.load().scaled.build()
    build_log.clear()
    Project(tmp_path / "elsewhere").load().scaled.build()
    assert build_log.runs() == 0


def test_44_names_do_not_depend_on_what_was_made_before():
    def text():
        fifo = ObjectFifo(TILE)
        result = fifo.cons().forward()

        def sequence(a, b, source, result):
            source.fill(a)
            result.drain(b, wait=True)

        runtime = Runtime(sequence, [TILE, TILE, fifo.prod(), result.cons()])
        return str(Program(iron.NPU2(), runtime).resolve_program())

    first = text()
    ObjectFifo(TILE)
    assert text() == first
    assert "@of0_fwd" in first


def test_a_generator_that_returns_something_else_is_told_what_to_return():
    @iron.jit
    def odd(a: In):
        return 3

    with pytest.raises(GenerationError, match=r"odd returned 'int'.*resolve_program"):
        odd.as_mlir()
