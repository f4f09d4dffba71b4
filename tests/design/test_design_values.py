"""Arithmetic, memory and control flow of traced bodies."""

from __future__ import annotations

import operator

import ml_dtypes
import numpy as np
import pytest
from design_parts import T, copy_program, in_core, line, names, one, ops

from iron.design import ScopeError, constant, else_, if_, math, range_, yield_
from iron.design.dtypes import dtype_to_str, ir_type, numpy_dtype, str_to_dtype
from iron.ir import types as t


def tile_of(dtype, shape=(T,)):
    return np.ndarray[shape, np.dtype[dtype]]


INTEGER = {
    operator.add: "addi",
    operator.sub: "subi",
    operator.mul: "muli",
    operator.floordiv: "floordivsi",
    operator.truediv: "divsi",
    operator.mod: "remsi",
    operator.and_: "andi",
    operator.or_: "ori",
    operator.xor: "xori",
    operator.lshift: "shli",
    operator.rshift: "shrsi",
}
FLOAT = {
    operator.add: "addf",
    operator.sub: "subf",
    operator.mul: "mulf",
    operator.truediv: "divf",
    operator.mod: "remf",
}


@pytest.mark.parametrize(("op", "name"), INTEGER.items())
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_integer_operators(op, name, dtype):
    def body(x, y):
        y[0] = op(x[0], x[1])
        y[1] = op(x[0], 3)
        y[2] = op(3, x[0])

    core = in_core(body, tile=tile_of(dtype))
    assert names(core) == [f"arith.{name}"] * 3
    plain, right, left = ops(core, f"arith.{name}")
    assert all(str(o.result.type) == f"i{np.dtype(dtype).itemsize * 8}" for o in (plain, right))
    assert right.operands[1].owner.attributes["value"].value == 3
    assert left.operands[0].owner.attributes["value"].value == 3


@pytest.mark.parametrize(("op", "name"), FLOAT.items())
@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float32])
def test_float_operators(op, name, dtype):
    def body(x, y):
        y[0] = op(x[0], 1)
        y[1] = op(0.1, x[1])

    core = in_core(body, tile=tile_of(dtype))
    assert names(core) == [f"arith.{name}"] * 2
    second = ops(core, f"arith.{name}")[1]
    value = second.operands[0].owner.attributes["value"].value
    assert value == float(np.asarray(0.1).astype(dtype))


@pytest.mark.parametrize(
    ("op", "integer", "floating"),
    [
        (operator.eq, 0, 1),
        (operator.ne, 1, 13),
        (operator.lt, 2, 4),
        (operator.le, 3, 5),
        (operator.gt, 4, 2),
        (operator.ge, 5, 3),
    ],
)
def test_comparisons(op, integer, floating):
    for dtype, name, number in ((np.int32, "cmpi", integer), (np.float32, "cmpf", floating)):

        def body(x, y, op=op):
            with if_(op(x[0], 2)):
                y[0] = 1

        found = one(in_core(body, tile=tile_of(dtype)), f"arith.{name}")
        assert found.attributes["predicate"].value == number
        assert found.result.type == t.I1


def test_unary_operators():
    def body(x, y):
        y[0] = -x[0]
        y[1] = ~x[1]
        y[2] = +x[2]

    core = in_core(body)
    assert names(core) == ["arith.subi", "arith.xori"]
    assert names(in_core(lambda x, y: y.__setitem__(0, -x[0]), tile=tile_of(np.float32))) == [
        "arith.negf"
    ]


def test_an_index_meets_an_integer():
    def body(x, y):
        for i in range_(T):
            y[i] = x[i] + i
            y[i] = i
            y[x[i]] = i * 2 + 1

    core = in_core(body)
    assert names(core).count("arith.index_cast") == 4
    added = ops(core, "arith.addi")[0]
    assert added.result.type == t.I32


def test_mixed_types_need_astype():
    def bad(x, y):
        y[0] = x[0] + x[0].astype(np.int16)

    with pytest.raises(TypeError, match=r"\+ of int32 and int16.*astype"):
        in_core(bad)
    with pytest.raises(TypeError, match=r"an element of \(16,\) int32 takes int32.*int16"):
        in_core(lambda x, y: y.__setitem__(0, x[0].astype(np.int16)))


@pytest.mark.parametrize(
    ("source", "to", "name"),
    [
        (np.int16, np.int32, "extsi"),
        (np.int32, np.int8, "trunci"),
        (np.int32, np.float32, "sitofp"),
        (np.float32, np.int32, "fptosi"),
        (ml_dtypes.bfloat16, np.float32, "extf"),
        (np.float32, ml_dtypes.bfloat16, "truncf"),
    ],
)
def test_conversions(source, to, name):
    core = in_core(lambda x, y: x[0].astype(to), tile=tile_of(source))
    assert names(core) == [f"arith.{name}"]
    assert one(core, f"arith.{name}").result.type == ir_type(to)


@pytest.mark.parametrize(
    ("number", "dtype", "error"),
    [(300, np.int8, OverflowError), (-129, np.int8, OverflowError), (0.5, np.int32, TypeError)],
)
def test_numbers_that_do_not_fit(number, dtype, error):
    with pytest.raises(error):
        in_core(lambda x, y: y.__setitem__(0, number), tile=tile_of(dtype))


def test_numbers_of_the_upper_half_are_taken_by_their_bits():
    core = in_core(lambda x, y: y.__setitem__(0, 255), tile=tile_of(np.int8))
    assert one(core, "memref.store").operands[0].owner.attributes["value"].value == -1


@pytest.mark.parametrize(
    ("number", "type"),
    [(True, "i1"), (1, "i32"), (1 << 31, "i64"), (0.5, "f32"), (np.int8(3), "i8")],
)
def test_constants_have_a_type_of_their_own(number, type):
    got = []
    in_core(lambda x, y: got.append(constant(number)))
    assert str(got[0].type) == type


def test_unsigned_memory_is_copied_but_not_computed_with():
    def copy(x, y):
        y[0] = x[0]

    assert str(one(in_core(copy, tile=tile_of(np.uint8)), "memref.load").result.type) == "ui8"
    with pytest.raises(TypeError, match="unsigned"):
        in_core(lambda x, y: x[0] + x[1], tile=tile_of(np.uint8))


def test_indices_of_memory():
    square = tile_of(np.int32, (4, 8))

    def body(x, y):
        y[-1, 7] = x[3, -8]

    core = in_core(body, tile=square)
    store = one(core, "memref.store")
    assert [v.owner.attributes["value"].value for v in store.operands[2:]] == [3, 7]
    for index in ((4, 0), (0, 8), (-5, 0)):
        with pytest.raises(IndexError, match="outside of axis"):
            in_core(lambda x, y, i: x[i], index, tile=square)
    with pytest.raises(IndexError, match="takes 2 indices, found 1"):
        in_core(lambda x, y: x[0], tile=square)
    with pytest.raises(TypeError, match="slices"):
        in_core(lambda x, y: x[0:2, 0], tile=square)
    with pytest.raises(TypeError, match="range_"):
        in_core(lambda x, y: list(x), tile=square)


def test_memory_tells_its_shape():
    def body(x, y):
        assert x.shape == (4, 8)
        assert x.dtype == np.dtype(np.int16)
        assert len(x) == 4
        assert x[:] is x
        assert x[0, 0].dtype == np.dtype(np.int16)

    in_core(body, tile=tile_of(np.int16, (4, 8)))


def test_loops_take_traced_bounds_and_steps():
    def body(x, y):
        for i in range_(1, x[0], 3):
            y[i] = 0

    loop = ops(in_core(body), "scf.for")[1]
    start, stop, step = (v.owner for v in loop.operands)
    assert start.attributes["value"].value == 1
    assert stop.name == "arith.index_cast"
    assert step.attributes["value"].value == 3


@pytest.mark.parametrize("step", [0, -1])
def test_loops_count_up(step):
    with pytest.raises(ValueError, match=f"at least 1, found {step}"):
        in_core(lambda x, y: list(range_(4, 0, step)))


def test_loops_carry_values():
    def body(x, y):
        zero = constant(0, np.int32)
        for i, total, result in range_(T, iter_args=[zero]):  # noqa: B007
            yield_([total + x[i]])
        y[0] = result
        for i, (a, b), (p, q) in range_(T, iter_args=[zero, zero]):  # noqa: B007
            yield_([b, a + x[i]])
        y[1] = p + q

    core = in_core(body)
    one_value, two_values = ops(core, "scf.for")[1:]
    assert ops(core, "memref.store")[0].operands[0] is one_value.results[0]
    assert len(two_values.results) == len(two_values.body.operations[-1].operands) == 2
    assert len(two_values.body.arguments) == 3


def test_a_loop_that_carries_values_must_yield():
    def body(x, y):
        at.append(line() + 1)
        for _i, _a, _r in range_(T, iter_args=[constant(0, np.int32)]):
            pass

    at: list[int] = []
    with pytest.raises(TypeError, match="must end with yield_") as fault:
        in_core(body)
    assert f"{__file__}:{at[0]}" in str(fault.value)


@pytest.mark.parametrize("how", ["break", "return"])
def test_leaving_a_loop_is_an_error_of_the_design(how):
    def body(i, o):
        at.append(line() + 1)
        for _ in range_(T):
            if how == "break":
                break
            return

    at: list[int] = []
    with pytest.raises(RuntimeError, match="left by break or return") as fault:
        copy_program(body).resolve_program()
    assert f"{__file__}:{at[0]}" in str(fault.value)


def test_an_error_in_a_body_is_the_users_own():
    def body(i, o):
        for _ in range_(T):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        copy_program(body).resolve_program()


def test_branches():
    def body(x, y):
        with if_(x[0] > 3) as branch:
            y[0] = 1
        with else_(branch):
            y[0] = 2
        with if_(x[1] == x[0]):
            y[1] = 3
        with else_():
            pass
        with if_((x[0] > 1) & (x[1] < 2)):
            y[2] = 1

    core = in_core(body)
    first, second, third = ops(core, "scf.if")
    assert [len(r.blocks) for r in first.regions] == [1, 1]
    assert [op.name for op in second.regions[1].entry.operations] == ["scf.yield"]
    assert third.regions[1].blocks == []
    assert third.operands[0].owner.name == "arith.andi"
    assert first.regions[1].entry.operations[-2].name == "memref.store"


def test_python_cannot_branch_on_a_traced_value():
    with pytest.raises(TypeError, match="if_"):
        in_core(lambda x, y: 1 if x[0] > 0 else 2)
    with pytest.raises(TypeError, match="range_"):
        in_core(lambda x, y: range(x[0]))
    with pytest.raises(TypeError, match="a condition is a comparison"):
        in_core(lambda x, y: if_(x[0]).__enter__())


def test_functions_of_numbers():
    def body(x, y):
        y[0] = math.maximum(x[0], 0)
        y[1] = math.sqrt(x[1])
        y[2] = math.select(x[0] < x[1], x[0], 1)
        y[3] = math.exp(x[0]) + math.tanh(x[1])

    core = in_core(body, tile=tile_of(np.float32))
    assert names(core) == ["arith.maximumf", "arith.cmpf", "arith.select", "arith.addf"]
    assert names(core, prefix="math.") == ["math.sqrt", "math.exp", "math.tanh"]
    with pytest.raises(TypeError, match="floating-point"):
        in_core(lambda x, y: math.exp(x[0]))
    assert names(in_core(lambda x, y: math.minimum(x[0], 1))) == ["arith.minsi"]


def test_values_outside_of_a_design_say_so():
    kept = []
    in_core(lambda x, y: kept.append(x[0]))
    with pytest.raises(ScopeError, match="no body of a design"):
        kept[0] + 1
    with pytest.raises(ScopeError, match="range_ was used"):
        next(iter(range_(3)))


@pytest.mark.parametrize(
    "dtype",
    [
        *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
        *(np.float16, np.float32, np.float64, ml_dtypes.bfloat16),
    ],
)
def test_dtypes_there_and_back(dtype):
    assert numpy_dtype(ir_type(dtype)) == np.dtype(dtype)
    assert ir_type(np.dtype(dtype)) == ir_type(dtype)
    assert str(ir_type(np.ndarray[(2, 3), np.dtype[dtype]])) == f"memref<2x3x{ir_type(dtype)}>"


@pytest.mark.parametrize("name", ["bf16", "i8", "i16", "i32", "f32"])
def test_short_names_of_dtypes(name):
    assert dtype_to_str(str_to_dtype(name)) == name
    for bad in (lambda: str_to_dtype("u8"), lambda: dtype_to_str(np.uint8)):
        with pytest.raises(ValueError, match="Unrecognized dtype"):
            bad()


def test_a_dtype_without_a_type():
    with pytest.raises(TypeError, match="complex64"):
        ir_type(np.complex64)
