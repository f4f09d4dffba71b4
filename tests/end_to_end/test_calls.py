"""What a call checks, before anything runs; and what a run that goes wrong says."""

import numpy as np
import pytest

import iron
from iron import In, ObjectFifo, Out, Program, Runtime, Worker, range_


@iron.jit
def plus(a: In, b: Out, *, by: iron.CompileTime[int], N: iron.CompileTime[int] = 64):
    tile = np.ndarray[(16,), np.dtype[np.int32]]
    whole = np.ndarray[(N,), np.dtype[np.int32]]
    arriving, leaving = ObjectFifo(tile, name="arriving"), ObjectFifo(tile, name="leaving")

    def core(arriving, leaving):
        x, y = arriving.acquire(1), leaving.acquire(1)
        for i in range_(16):
            y[i] = x[i] + by
        arriving.release(1)
        leaving.release(1)

    worker = Worker(core, [arriving.cons(), leaving.prod()])

    def sequence(a, b, arriving, leaving):
        arriving.fill(a)
        leaving.drain(b, wait=True)

    runtime = Runtime(sequence, [whole, whole, arriving.prod(), leaving.cons()])
    return Program(iron.get_current_device(), runtime, workers=[worker]).resolve_program()


def tensors(n=64, dtype=np.int32):
    return iron.arange(n, dtype=dtype), iron.zeros(n, dtype=dtype)


def test_values_by_keyword_give_designs_of_their_own():
    a, b = tensors()
    for by in (-1, -2, 3, -1):
        plus(a, b, by=by)
        np.testing.assert_array_equal(b.numpy(), a.numpy() + by)
    bound = iron.jit(by=9)(plus.__wrapped__)
    bound(a, b)
    np.testing.assert_array_equal(b.numpy(), a.numpy() + 9)
    bound(a, b, by=4)
    np.testing.assert_array_equal(b.numpy(), a.numpy() + 4)


def test_numpy_arrays_are_taken_and_given_back():
    a, b = np.arange(64, dtype=np.int32), np.zeros(64, dtype=np.int32)
    plus(a, b, by=5)
    np.testing.assert_array_equal(b, a + 5)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda a, b: plus(a, by=1), r"plus takes 2 tensor\(s\) by position \(a, b\), got 1"),
        (lambda a, b: plus(a, b), r"plus needs a value for compile-time parameter\(s\) by"),
        (lambda a, b: plus(a, b, by=1, NN=1), r"plus has no compile-time parameter 'NN'"),
        (lambda a, b: plus(a, b=b, by=1), r"plus takes tensor parameter\(s\) b by position"),
        (
            lambda a, b: plus(a, iron.zeros(64, dtype=np.int16), by=1),
            r"plus: b is to be of shape \(64,\) and dtype int32 or uint32, got dtype int16",
        ),
        (
            lambda a, b: plus(iron.zeros(65, dtype=np.int32), b, by=1),
            r"plus: a is to be of shape \(64,\) .* which is 64 elements, got 65",
        ),
        (lambda a, b: plus(a, [0] * 64, by=1), r"plus: b is to be a tensor .*, got list"),
        (lambda a, b: plus(a, b, by=object()), r"plus: by: a .*object.* __iron_key__"),
    ],
    ids=["count", "missing", "unknown", "keyword", "dtype", "size", "kind", "unkeyable"],
)
def test_a_wrong_call_is_a_type_error_before_anything_runs(call, says):
    a, b = tensors()
    b.fill_(-7)
    with pytest.raises(TypeError, match=says) as e:
        call(a, b)
    assert "test_calls.py" in str(e.value) or "__iron_key__" in str(e.value)
    assert (b.numpy() == -7).all()


def test_a_generator_must_return_its_module():
    @iron.jit
    def forgot(a: In):
        Program  # noqa: B018

    with pytest.raises(iron.GenerationError, match=r"forgot returned nothing.*resolve_program"):
        forgot(iron.zeros(4))


def test_a_tensor_has_no_elements_while_the_design_is_generated():
    @iron.jit
    def peeks(a: In):
        return a.shape

    with pytest.raises(RuntimeError, match=r"peeks: parameter a is a tensor"):
        peeks(iron.zeros(4))


def test_a_deadlock_names_core_fifo_and_the_users_line():
    @iron.jit
    def stuck(a: In, b: Out):
        tile = np.ndarray[(16,), np.dtype[np.int32]]
        arriving, leaving = ObjectFifo(tile, name="arriving"), ObjectFifo(tile, name="leaving")

        def core(arriving, leaving):
            arriving.acquire(2)
            leaving.acquire(1)
            arriving.release(2)
            leaving.release(1)

        worker = Worker(core, [arriving.cons(), leaving.prod()])

        def sequence(a, b, arriving, leaving):
            arriving.fill(a)
            leaving.drain(b, wait=True)

        runtime = Runtime(sequence, [tile, tile, arriving.prod(), leaving.cons()])
        return Program(iron.get_current_device(), runtime, workers=[worker]).resolve_program()

    with pytest.raises(iron.Deadlock) as e:
        stuck(iron.zeros(16, dtype=np.int32), iron.zeros(16, dtype=np.int32))
    message = str(e.value)
    assert "arriving" in message
    assert "core (0,2)" in message
    assert "test_calls.py:" in message


def test_current_device_takes_part_in_the_design():
    text = plus.as_mlir(by=1)
    assert "aie.device(npu2)" in text
    iron.set_current_device(iron.NPU1Col1())
    try:
        assert "aie.device(npu1_1col)" in plus.as_mlir(by=1)
        a, b = tensors()
        plus(a, b, by=1)
        np.testing.assert_array_equal(b.numpy(), a.numpy() + 1)
    finally:
        iron.set_current_device(None)


def test_a_design_too_large_for_the_device_is_told_at_the_users_lines():
    @iron.jit
    def large(a: In, b: Out):
        tile = np.ndarray[(16000,), np.dtype[np.int32]]
        arriving, leaving = ObjectFifo(tile, name="arriving"), ObjectFifo(tile, name="leaving")

        def core(arriving, leaving):
            x, y = arriving.acquire(1), leaving.acquire(1)
            y[0] = x[0]
            arriving.release(1)
            leaving.release(1)

        worker = Worker(core, [arriving.cons(), leaving.prod()])

        def sequence(a, b, arriving, leaving):
            arriving.fill(a)
            leaving.drain(b, wait=True)

        runtime = Runtime(sequence, [tile, tile, arriving.prod(), leaving.cons()])
        return Program(iron.get_current_device(), runtime, workers=[worker]).resolve_program()

    with pytest.raises(iron.LimitError) as e:
        large(*tensors(16000))
    message = str(e.value)
    assert "the tile has 65536" in message
    assert "test_calls.py:" in message
    assert "aie.mlir" not in message
