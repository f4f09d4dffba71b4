"""Calls of kernels from cores: what is passed, converted, refused."""

from __future__ import annotations

import numpy as np
import pytest
from design_parts import TILE, T, in_core, line, names, one, ops

from iron.design import Buffer, ExternalFunction, Kernel, ScopeError, func, range_

SQUARE = np.ndarray[(4, 4), np.dtype[np.int32]]
FLAT = np.ndarray[(16,), np.dtype[np.int32]]


def test_numbers_and_indices_become_what_is_asked():
    kernel = Kernel("k", "k.o", [TILE, np.int32, np.float32, np.int16])

    def body(x, y):
        for i in range_(4):
            kernel(x, i, 2, x[0].astype(np.int16))

    core = in_core(body)
    call = one(core, "func.call")
    assert [str(v.type) for v in call.operands] == ["memref<16xi32>", "i32", "f32", "i16"]
    assert call.operands[1].owner.name == "arith.index_cast"
    assert call.operands[2].owner.attributes["value"].value == 2.0
    assert call.operands[3].owner.name == "arith.trunci"


def test_memory_of_more_dimensions_is_flattened():
    kernel = Kernel("k", "k.o", [FLAT, SQUARE])
    core = in_core(lambda x, y: kernel(x, y), tile=SQUARE)
    collapse = one(core, "memref.collapse_shape")
    assert str(collapse.result.type) == "memref<16xi32>"
    assert str(collapse.attributes["reassociation"]) == "[[0, 1]]"
    assert one(core, "func.call").operands[0] is collapse.result


@pytest.mark.parametrize(("length", "dtype"), [(15, np.int32), (16, np.int16)])
def test_only_the_same_elements_are_flattened(length, dtype):
    kernel = Kernel("k", "k.o", [np.ndarray[(length,), np.dtype[dtype]]])
    with pytest.raises(ValueError, match=r"got \(4, 4\) int32"):
        in_core(lambda x, y: kernel(x), tile=SQUARE)


def test_a_buffer_is_passed_as_memory():
    kernel = Kernel("k", "k.o", [FLAT])
    table = Buffer(SQUARE, name="table")
    core = in_core(lambda x, y, t: kernel(t), table)
    assert ops(core, "memref.collapse_shape")[0].operands[0].owner.name == "aie.buffer"


@pytest.mark.parametrize(
    ("types", "args", "message"),
    [
        ([TILE], lambda x, y: (), r"'k' expects 1 argument\(s\), but 0 were provided"),
        ([TILE], lambda x, y: (x, y), r"expects 1 argument\(s\), but 2 were provided"),
        ([np.int32], lambda x, y: ("7",), r"Argument 0: expected scalar, int32, got str"),
        ([TILE, np.int32], lambda x, y: (x, 1.5), r"Argument 1: expected scalar int32"),
        ([TILE, np.int8], lambda x, y: (x, 300), r"Argument 1: .*does not fit"),
        ([np.int16], lambda x, y: (x[0],), r"Argument 0: expected scalar, int16, got int32"),
        ([TILE], lambda x, y: (3,), r"Argument 0: expected \(16,\) int32, got int"),
        (
            [np.ndarray[(8,), np.dtype[np.int32]]],
            lambda x, y: (x,),
            r"Argument 0: expected \(8,\) int32, got \(16,\) int32",
        ),
        (
            [np.ndarray[(16,), np.dtype[np.int16]]],
            lambda x, y: (x,),
            r"Argument 0: expected \(16,\) int16, got \(16,\) int32",
        ),
        ([SQUARE], lambda x, y: (x,), r"expected \(4, 4\) int32, got \(16,\) int32"),
        ([np.int32], lambda x, y: (x,), r"Argument 0: expected scalar, int32, got \(16,\) int32"),
    ],
)
@pytest.mark.parametrize("kind", ["Kernel", "ExternalFunction"])
def test_wrong_arguments_are_named(kind, types, args, message):
    if kind == "Kernel":
        kernel = Kernel("k", "k.o", types)
    else:
        kernel = ExternalFunction("k", source_string="", arg_types=types)
    with pytest.raises(ValueError, match=message) as fault:
        in_core(lambda x, y: kernel(*args(x, y)))
    assert kind in str(fault.value)
    assert "'k'" in str(fault.value)
    assert f"{__file__}:{kernel.where.line}" in str(fault.value)


def test_a_call_outside_of_a_core_says_where_it_belongs():
    with pytest.raises(ScopeError, match=r"call of Kernel 'k' belongs into a core.*fn_args"):
        Kernel("k", "k.o", [TILE, np.int32])(np.zeros(16, np.int32), 1)


def test_a_wrong_call_is_named_outside_of_a_core_as_well():
    kernel = Kernel("k", "k.o", [TILE, np.int32])
    with pytest.raises(ValueError, match="expects 2 argument"):
        kernel(1)
    with pytest.raises(ValueError, match="Argument 1: expected scalar, int32, got str"):
        kernel(np.zeros(16, np.int32), "7")
    with pytest.raises(ValueError, match=r"Argument 0: expected \(16,\) int32, got \(4,\) int32"):
        kernel(np.zeros(4, np.int32), 7)


def test_memory_of_the_host_is_not_passed_to_a_kernel():
    kernel = Kernel("k", "k.o", [TILE])
    with pytest.raises(ValueError, match="expected memory of the core"):
        in_core(lambda x, y: kernel(np.zeros(16, np.int32)))


@pytest.mark.parametrize("bad", ["int32", 7, [np.int32]])
def test_what_is_no_type_is_refused(bad):
    with pytest.raises(TypeError, match="Kernel 'k', argument 1"):
        Kernel("k", "k.o", [TILE, bad])


def test_an_empty_name_is_refused():
    with pytest.raises(ValueError, match="cannot be empty"):
        Kernel("", "k.o")


def test_a_python_kernel_is_a_function_of_the_design():
    at = line() + 2

    @func
    def scale(x: TILE, y: TILE, factor: np.int32):
        for i in range_(T):
            y[i] = x[i] * factor

    core = in_core(lambda x, y, k: (k(x, y, 3), k(x, y, 4)), scale)
    module = core.parent
    definition = one(module, "func.func")
    assert definition.symbol == "scale"
    assert definition.location.line in (at, at + 1)
    assert names(definition) == ["arith.muli"]
    assert definition.body.operations[-1].name == "func.return"
    assert len(ops(core, "func.call")) == 2


def test_a_python_kernel_may_give_values():
    @func
    def twice(n: np.int32):
        return n * 2

    core = in_core(lambda x, y, k: y.__setitem__(0, k(x[0])), twice)
    call = one(core, "func.call")
    assert str(call.result.type) == "i32"
    assert one(core, "memref.store").operands[0] is call.result


def test_a_python_kernel_needs_types():
    with pytest.raises(TypeError, match=r"parameters y have no type"):

        @func
        def bad(x: TILE, y):
            pass
