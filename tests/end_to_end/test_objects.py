"""Same source, same flags, same includes: one object. Otherwise two, and a clash is told."""

import numpy as np
import pytest

import iron
from iron import ExternalFunction, In, ObjectFifo, Out, Program, Runtime, Worker
from iron.toolchain.symbols import SymbolError

SRC = """
extern "C" void add_one(const T *in, T *out, int n) { for (int i = 0; i < n; ++i) out[i] = in[i] + 1; }
extern "C" void add_two(const T *in, T *out, int n) { for (int i = 0; i < n; ++i) out[i] = in[i] + 2; }
"""  # noqa: E501
TILE = 32
tile = np.ndarray[(TILE,), np.dtype[np.int32]]
whole = np.ndarray[(4 * TILE,), np.dtype[np.int32]]
SOURCE = np.arange(4 * TILE, dtype=np.int32)


def declare(name, source=SRC, flags=("-DT=int",), **more):
    return ExternalFunction(
        name,
        source_string=source,
        arg_types=[tile, tile, np.int32],
        compile_flags=list(flags),
        **more,
    )


def calling(make, order=(0, 1)):
    """A design whose one Worker calls the functions that `make` declares, in turn."""

    @iron.jit
    def design(a: In, b: Out):
        functions = make()
        arriving, leaving = ObjectFifo(tile, name="arriving"), ObjectFifo(tile, name="leaving")

        def core(arriving, leaving, *functions):
            for i in order:
                x, y = arriving.acquire(1), leaving.acquire(1)
                functions[i](x, y, TILE)
                arriving.release(1)
                leaving.release(1)

        worker = Worker(core, [arriving.cons(), leaving.prod(), *functions])

        def sequence(a, b, arriving, leaving):
            arriving.fill(a)
            leaving.drain(b, wait=True)

        runtime = Runtime(sequence, [whole, whole, arriving.prod(), leaving.cons()])
        return Program(iron.get_current_device(), runtime, workers=[worker]).resolve_program()

    return design


def result_of(design):
    result = iron.zeros(4 * TILE, dtype=np.int32)
    design(iron.tensor(SOURCE), result)
    return result.numpy()


def expected(*added):
    return (SOURCE.reshape(-1, len(added), TILE) + np.array(added)[:, None]).ravel()


@pytest.mark.parametrize("names", [("add_one", "add_two"), ("add_two", "add_one")])
def test_two_functions_of_one_source_are_one_object(names, build_log, own_store):
    added = [1 if n == "add_one" else 2 for n in names]
    first = calling(lambda: [declare(n) for n in names])
    np.testing.assert_array_equal(result_of(first), expected(*added))
    kinds = build_log.kinds()
    assert kinds["kernel-object"] == 1
    links = [
        line for line in build_log.lines() if line["event"] == "run" and line["kind"] == "link"
    ]
    kernels = [sum("kernel.o" in a for a in line["argv"]) for line in links]
    assert sorted(kernels) == [0, 1], "the object is linked once, with the cores"

    build_log.clear()
    second = calling(lambda: [declare(n) for n in reversed(names)], order=(1, 1, 0, 0))
    np.testing.assert_array_equal(result_of(second), expected(*(added[i] for i in (0, 0, 1, 1))))
    assert build_log.runs("kernel-object") == 0


def test_different_flags_on_one_core_are_a_clash_that_names_both(build_log):
    clash = calling(lambda: [declare("add_one"), declare("add_two", flags=("-DT=int", "-DX=1"))])
    with pytest.raises(SymbolError) as e:
        result_of(clash)
    message = str(e.value)
    for part in ("add_one", "add_two", "-DX=1", "-DT=int", "symbol_prefix", "test_objects.py:"):
        assert part in message, part
    assert build_log.runs("link") == 0


def test_a_symbol_prefix_is_the_way_out():
    resolved = calling(
        lambda: [
            declare("add_one"),
            declare("add_two", flags=("-DT=int", "-DX=1"), symbol_prefix="x"),
        ]
    )
    np.testing.assert_array_equal(result_of(resolved), expected(1, 2))


def test_flag_order_is_meaning():
    last_wins = """
    extern "C" void add_one(const int *in, int *out, int n)
    { for (int i = 0; i < n; ++i) out[i] = in[i] + X; }
    """
    for flags, by in (("-UX", "-DX=1", "-UX", "-DX=2"), 2), (("-DX=2", "-UX", "-DX=1"), 1):
        design = calling(lambda f=flags: [declare("add_one", last_wins, f)], order=(0,))
        np.testing.assert_array_equal(result_of(design), expected(by))


def test_a_function_the_object_lacks_is_told_with_what_it_has():
    plain = 'void add_one(const int *in, int *out, int n) {}\nextern "C" void other() {}\n'
    with pytest.raises(
        SymbolError, match=r'does not define add_one.*declare the function extern "C"'
    ):
        result_of(calling(lambda: [declare("add_one", plain)], order=(0,)))


def test_an_explicit_name_is_kept_and_one_name_for_two_contents_is_an_error():
    named = calling(lambda: [declare("add_one", object_file_name="mine.o"), declare("add_two")])
    np.testing.assert_array_equal(result_of(named), expected(1, 2))
    assert named.as_mlir().count('link_with = "mine.o"') == 2
    conflict = calling(
        lambda: [
            declare("add_one", object_file_name="mine.o"),
            declare("add_two", flags=("-DT=int", "-DX"), object_file_name="mine.o"),
        ]
    )
    with pytest.raises(ValueError, match=r"'mine\.o'.*add_two.*add_one"):
        conflict.as_mlir()


def test_each_core_has_its_own_copy_of_a_kernels_data():
    counting = """
    static int calls = 0;
    extern "C" void count(const int *in, int *out, int n)
    { ++calls; for (int i = 0; i < n; ++i) out[i] = calls; }
    """

    @iron.jit
    def design(a: In, b: Out, c: Out):
        half = np.ndarray[(2 * TILE,), np.dtype[np.int32]]
        workers, handles = [], []
        count = declare("count", counting)
        arriving = ObjectFifo(tile, name="arriving")
        for i in range(2):
            leaving = ObjectFifo(tile, name=f"leaving{i}")

            def core(arriving, leaving, count):
                x, y = arriving.acquire(1), leaving.acquire(1)
                count(x, y, TILE)
                arriving.release(1)
                leaving.release(1)

            workers.append(Worker(core, [arriving.cons(), leaving.prod(), count]))
            handles.append(leaving.cons())

        def sequence(a, b, c, arriving, first, second):
            arriving.fill(a)
            first.drain(b, wait=True)
            second.drain(c, wait=True)

        runtime = Runtime(sequence, [half, half, half, arriving.prod(), *handles])
        return Program(iron.get_current_device(), runtime, workers=workers).resolve_program()

    a, b, c = (iron.zeros(2 * TILE, dtype=np.int32) for _ in range(3))
    design(a, b, c)
    counts = np.repeat([1, 2], TILE)
    np.testing.assert_array_equal(b.numpy(), counts)
    np.testing.assert_array_equal(c.numpy(), counts)
