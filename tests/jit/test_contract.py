"""Designs as objects: specialised, written down, optioned for one call, made of an MLIR file."""

import ml_dtypes
import numpy as np
import pytest

import iron
from iron import CompilableDesign, CompileTime, In, ObjectFifo, Out, Program, Runtime
from iron.jit.options import current_options


def moved(a: In, n: CompileTime[int], b: Out, *, dtype: CompileTime[object] = np.int32):
    whole = np.ndarray[(n,), np.dtype[dtype]]
    source = ObjectFifo(whole, name="source")
    result = source.cons().forward(name="result")

    def sequence(a, b, source, result):
        source.fill(a)
        result.drain(b, wait=True)

    runtime = Runtime(sequence, [whole, whole, source.prod(), result.cons()])
    return Program(iron.get_current_device(), runtime).resolve_program()


@pytest.fixture
def design(own_store):
    return iron.jit(n=32)(moved)


def run(f, **values):
    a, b = iron.arange(32, dtype=np.int32), iron.zeros(32, dtype=np.int32)
    f(a, b, **values)
    return a.numpy().tolist() == b.numpy().tolist()


def test_values_are_bound_replaced_and_seen(design):
    again = design.specialize(n=16, compile_flags=["-DX"])
    assert dict(again.compilable.compile_kwargs) == {"n": 16}
    assert again.compilable.compile_flags == ("-DX",)
    assert dict(design.compilable.compile_kwargs) == {"n": 32}
    with pytest.raises(TypeError):
        design.compilable.compile_kwargs["n"] = 3
    assert design.compilable.tensor_params == ["a", "b"]
    assert design.compilable.mlir_generator is moved
    assert "memref<16xi32>" in str(again.compilable.generate_mlir())
    with pytest.raises(TypeError, match=r"compile_kwargs do not match.*value for .*n"):
        CompilableDesign(moved).compile()


@pytest.mark.parametrize(
    "value",
    [1, True, 1.5, "1", None, (1, [2, None]), {"a": 1, 2: (3,)}, np.int16(7), np.float32(0.1),
     ml_dtypes.bfloat16(1.5)],
)  # fmt: skip
def test_what_is_written_down_comes_back_with_its_type(value):
    made = CompilableDesign(moved, compile_kwargs={"n": value}, compile_flags=["-O1"])
    back = CompilableDesign.from_json(made.to_json(), moved)
    found = back.compile_kwargs["n"]
    assert (type(found), found) == (type(value), value)
    assert back.options == made.options


def test_dtypes_come_back_and_what_cannot_says_its_name():
    for dtype in (np.int32, ml_dtypes.bfloat16, np.dtype(np.int8)):
        made = CompilableDesign(moved, compile_kwargs={"dtype": dtype})
        assert CompilableDesign.from_json(made.to_json(), moved).compile_kwargs["dtype"] == dtype
    with pytest.raises(TypeError, match="dtype: a function has no form in JSON"):
        CompilableDesign(moved, compile_kwargs={"dtype": lambda: 0}).to_json()
    with pytest.raises(ValueError, match="needs the generator"):
        CompilableDesign.from_json(made.to_json())


def test_options_for_one_call_and_only_for_it(design):
    seen = []

    class Watching:
        def __call__(self, *args, **kwargs):
            seen.append((current_options().timeout, iron.get_current_device()))

    chosen = iron.options(timeout=30, reload="never", device="npu1_1col")
    assert run(design[chosen])
    assert run(design[chosen])  # they can be used again
    with chosen, chosen:
        Watching()()
    Watching()()
    assert seen == [(30, iron.NPU1Col1()), (None, iron.NPU2())]
    with pytest.raises(TypeError, match=r"takes iron.options\(...\), got 3"):
        design[3]
    with pytest.raises(ValueError, match="reload='sometimes'"):
        iron.options(reload="sometimes")
    assert "timeout=30" in repr(chosen)


def test_a_design_without_the_cache_runs_its_generator_again(own_store):
    runs = []

    def counted(a: In, b: Out):
        count()
        return moved(a, 32, b)

    def count():
        runs.append(1)

    for _ in range(2):
        with iron.options(use_cache=False):
            assert run(iron.jit(counted))
    assert len(runs) == 2


def test_a_design_is_a_value_of_another_one(design):
    @iron.jit
    def around(a: In, b: Out, *, inner: CompileTime[object]):
        n = inner.compilable.compile_kwargs["n"]
        return inner.__wrapped__(a, n, b)

    assert run(around, inner=design)
    key = around.compilable.values_key
    same, other = design.specialize(n=32), design.specialize(n=16)
    assert key({"inner": design}) == key({"inner": same}) != key({"inner": other})


def test_devices_by_name_for_a_block():
    with iron.device("npu1") as one, iron.device(iron.NPU2Col4()):
        assert one == iron.NPU1()
        assert iron.get_current_device() == iron.NPU2Col4()
    assert iron.get_current_device() == iron.NPU2()


def test_an_mlir_file_is_a_design(design, tmp_path):
    file = tmp_path / "moved.mlir"
    file.write_text(design.as_mlir())
    read = iron.CallableDesign(file)
    assert run(read)
    assert read.__name__ == "moved"
    assert read.compilable.tensor_params == ["a", "b"]
    file.write_text(design.as_mlir(n=16))
    with pytest.raises(TypeError, match="16 elements, got 32"):
        run(read)
    with pytest.raises(FileNotFoundError, match="no MLIR file at"):
        CompilableDesign(tmp_path / "gone.mlir")


def test_values_of_the_context_are_given_by_it():
    with iron.compile_context(a=1, b=2) as outer, iron.compile_context(b=3) as inner:
        assert (outer, inner) == ({"a": 1, "b": 2}, {"a": 1, "b": 3})
        inner["a"] = 9
        assert iron.get_compile_arg("a") == 1
