"""The smaller modules: arithmetic by name, layouts, types, places of tools."""

import os

import ml_dtypes
import numpy as np
import pytest

import iron
from iron import In, Out, algorithms
from iron.compat import arith, compiling, config, memory, types
from iron.compat.ml import DataShaper
from iron.compat.mlir_types import T
from iron.compat.trace import TraceConfig
from iron.ir.dialects.enums import CmpIPredicate


def test_arithmetic_by_name_is_that_of_the_operators():
    def func(x):
        three = arith.constant(T.i32(), 3)
        y = arith.addi(arith.muli(x, three), arith.constant(5, T.i32()))
        with iron.if_(arith.cmpi(CmpIPredicate.sgt, x, 10)):
            pass
        wide = arith.extsi(T.i64(), y)
        assert str(wide.type) == "i64"
        return arith.subi(arith.trunci(wide, T.i32()), arith.divsi(x, three))

    @iron.jit
    def computed(a: In, b: Out):
        return algorithms.transform(func, np.ndarray[(64,), np.dtype[np.int32]])

    a, b = iron.arange(-32, 32, dtype=np.int32), iron.zeros(64, dtype=np.int32)
    computed(a, b)
    x = a.numpy()
    np.testing.assert_array_equal(b.numpy(), 3 * x + 5 - np.trunc(x / 3).astype(np.int32))


def test_an_index_becomes_an_element_and_memory_is_read_by_name():
    of = np.ndarray[(16,), np.dtype[np.int16]]

    @iron.jit
    def counted(a: Out):
        fifo = iron.ObjectFifo(of, name="fifo")

        def core(fifo):
            element = fifo.acquire(1)
            for i in iron.range_(16):
                memory.store(arith.index_cast(i, to=np.int16), element, [i])
                memory.store(arith.addi(memory.load(element, [i]), 1), element, [i])
            fifo.release(1)

        def sequence(a, fifo):
            fifo.drain(a, wait=True)

        worker = iron.Worker(core, [fifo.prod()])
        runtime = iron.Runtime(sequence, [of, fifo.cons()])
        return iron.Program(iron.NPU2(), runtime, workers=[worker]).resolve_program()

    a = iron.zeros(16, dtype=np.int16)
    counted(a)
    assert a.numpy().tolist() == list(range(1, 17))
    with pytest.raises(NotImplementedError, match="ult"):
        arith.cmpi("ult", 1, 2)


def test_axes_in_blocks():
    image = np.arange(2 * 16 * 3).reshape(2, 16, 3)  # Y, C, X
    shaped = DataShaper().reorder_mat(image, "YCXC8", "YCX")
    wanted = image.reshape(2, 2, 8, 3).transpose(0, 1, 3, 2)
    np.testing.assert_array_equal(shaped, wanted.ravel())
    np.testing.assert_array_equal(DataShaper().reorder_mat(image, "XYC", "YCX"),
                                  image.transpose(2, 0, 1).ravel())  # fmt: skip


def test_types_by_their_helpers():
    of = np.ndarray[(4, 8), np.dtype[ml_dtypes.bfloat16]]
    assert types.np_ndarray_type_get_shape(of) == (4, 8)
    assert types.np_ndarray_type_get_dtype(of) is ml_dtypes.bfloat16
    assert types.np_ndarray_type_to_memref_type(of) == T.memref(4, 8, T.bf16)
    assert types.np_dtype_to_mlir_type(np.int8) == T.i8()


def test_places_of_headers_and_tools(monkeypatch, tmp_path):
    assert os.path.isfile(os.path.join(config.cxx_header_path(), "aie_api", "aie.hpp"))
    assert os.path.isfile(os.path.join(config.root_path(), "__init__.py"))
    with pytest.raises(RuntimeError, match="PEANO_INSTALL_DIR names no directory"):
        config.peano_cxx_path()
    monkeypatch.setenv("PEANO_INSTALL_DIR", str(tmp_path))
    assert config.peano_cxx_path() == str(tmp_path / "bin" / "clang++")
    assert compiling.resolve_target_arch() == "aie2p"
    assert compiling.resolve_target_arch(iron.NPU1()) == "aie2"
    assert os.environ["IRON_STORE"] == compiling.NPU_CACHE_HOME


def test_tracing_is_accepted_and_says_that_nothing_was_recorded():
    trace = TraceConfig(1024)
    assert trace.physical_mlir_path is None
    with pytest.raises(NotImplementedError, match="host target has none"):
        trace.trace_to_json("x")
    with pytest.raises(ValueError, match="positive"):
        TraceConfig(0)
