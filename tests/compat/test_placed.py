"""Designs written operation by operation."""

import sys

import numpy as np
import pytest

import iron
from iron import CompileTime, Flow, In, Out, ir, range_
from iron.design import ScopeError
from iron.design import placed as p
from iron.design import placed_dma as d
from iron.design import placed_fifo as f
from iron.ir.dialects.enums import DMAChannelDir, LockAction, ObjectFifoPort

WHOLE, LINE = (np.ndarray[(n,), np.dtype[np.int32]] for n in (64, 16))


@iron.jit
def doubled(a: In, b: Out, *, by: CompileTime[int] = 2):
    @p.device(iron.NPU2Col1())
    def body():
        shim, compute = p.tile(0, 0), p.tile(0, 2)
        source = f.object_fifo("source", shim, compute, 2, LINE)
        result = f.object_fifo("result", compute, [shim], [2, 2], LINE)

        @p.core(compute)
        def work():
            for _ in range_(sys.maxsize):
                x = source.acquire(ObjectFifoPort.Consume, 1)
                y = result.acquire(ObjectFifoPort.Produce, 1)
                for i in range_(16):
                    y[i] = x[i] * by
                source.release(ObjectFifoPort.Consume, 1)
                result.release(ObjectFifoPort.Produce, 1)

        @p.runtime_sequence(WHOLE, WHOLE)
        def sequence(a, b):
            into = p.shim_dma_single_bd_task(source, a, sizes=[1, 1, 1, 64])
            out = p.shim_dma_single_bd_task(result, b, sizes=[1, 1, 1, 64], issue_token=True)
            p.dma_start_task(into, out)
            p.dma_await_task(out)
            p.dma_free_task(into)


def test_a_generator_that_writes_into_the_ambient_module_runs():
    a, b = iron.arange(64, dtype=np.int32), iron.zeros(64, dtype=np.int32)
    for by in (2, -3):
        doubled(a, b, by=by)
        np.testing.assert_array_equal(b.numpy(), by * a.numpy())


def test_memcpys_and_a_link_with_a_kernel(tmp_path):
    source = 'extern "C" void neg(int *x, int *y) { for (int i = 0; i < 16; ++i) y[i] = -x[i]; }'
    neg = iron.ExternalFunction("neg", source_string=source, arg_types=[LINE, LINE])

    @iron.jit
    def negated(a: In, b: Out):
        @p.device("npu1_1col")
        def body():
            shim, mem, compute = p.tile(0, 0), p.tile(0, 1), p.tile(0, 2)
            whole = f.object_fifo("whole", shim, mem, 2, WHOLE)
            line = f.object_fifo("line", mem, compute, 2, WHOLE)
            result = f.object_fifo("result", compute, shim, 2, WHOLE)
            f.object_fifo_link(whole, [line])
            scratch = p.buffer(compute, LINE, "scratch", initial_value=np.zeros(16, np.int32))

            @p.core(compute, stack_size=2048)
            def work():
                x, y = (
                    line.acquire(ObjectFifoPort.Consume, 1),
                    result.acquire(ObjectFifoPort.Produce, 1),
                )
                for part in range(4):
                    for i in range_(16):
                        scratch[i] = x[i + 16 * part]
                    neg(scratch, scratch)
                    for i in range_(16):
                        y[i + 16 * part] = scratch[i]
                line.release(ObjectFifoPort.Consume, 1)
                result.release(ObjectFifoPort.Produce, 1)

            @p.runtime_sequence(WHOLE, WHOLE, sym_name="go")
            def sequence(a, b):
                p.npu_dma_memcpy_nd(whole, 1, a, sizes=[1, 1, 1, 64])
                p.npu_dma_memcpy_nd(result, 0, b, sizes=[1, 1, 1, 64], issue_token=True)
                p.dma_wait(result)

    a, b = iron.arange(64, dtype=np.int32), iron.zeros(64, dtype=np.int32)
    negated(a, b)
    np.testing.assert_array_equal(b.numpy(), -a.numpy())


def test_a_dma_program_with_locks():
    """Host to a memtile's buffer and back, by descriptors and locks alone."""

    @iron.jit
    def turned(a: In, b: Out):
        @p.device("npu2_1col")
        def body():
            shim, mem = p.tile(0, 0), p.tile(0, 1)
            memory = p.buffer(mem, LINE, "memory")
            free, full = p.lock(mem, init=1), p.lock(mem, init=0, sym_name="full")
            f.flow(shim, dest=mem)
            f.flow(mem, dest=shim)

            @d.memtile_dma(mem)
            def program(block):
                d.dma_start(DMAChannelDir.S2MM, 0, dest=block[1], chain=block[2])
                with block[1]:
                    p.use_lock(free, LockAction.AcquireGreaterEqual)
                    d.dma_bd(memory)
                    p.use_lock(full, LockAction.Release)
                    d.next_bd(block[1])
                with block[2]:
                    d.dma_start(DMAChannelDir.MM2S, 0, dest=block[3], chain=block[4])
                with block[3]:
                    p.use_lock(full, LockAction.AcquireGreaterEqual)
                    d.dma_bd(memory, sizes=[4, 4], strides=[1, 4])
                    p.use_lock(free, LockAction.Release)
                    d.next_bd(block[3])
                with block[4]:
                    p.EndOp()

            @p.runtime_sequence(LINE, LINE)
            def sequence(a, b):
                tasks = []
                for direction, memory, token in (
                    (DMAChannelDir.MM2S, a, False), (DMAChannelDir.S2MM, b, True),
                ):  # fmt: skip
                    tasks.append(p.dma_configure_task(shim, direction, 0, issue_token=token))
                    with d.bds(tasks[-1]) as bd, bd[0]:
                        p.shim_dma_bd(memory, sizes=[1, 1, 1, 16], strides=[0, 0, 0, 1])
                        p.EndOp()
                p.dma_start_task(*tasks)
                p.dma_await_task(tasks[1])

    a, b = iron.arange(16, dtype=np.int32), iron.zeros(16, dtype=np.int32)
    turned(a, b)
    np.testing.assert_array_equal(b.numpy().reshape(4, 4), a.numpy().reshape(4, 4).T)


def test_a_module_of_its_own():
    with p.mlir_mod_ctx() as context:

        @p.device(iron.NPU1Col1())
        def body():
            first, again = p.tile(0, 2), p.tile(0, 2)
            assert first is again
            p.external_func("f", [LINE], link_with="f.o")

    assert str(context.module).count("aie.tile") == 1
    assert ir.equivalent(ir.parse(str(context.module)), context.module.operation)


def test_words_outside_of_a_device_say_where_they_belong():
    with pytest.raises(ScopeError, match=r"generator of iron\.jit or inside `with mlir_mod_ctx"):
        p.device(iron.NPU1())(lambda: None)
    with pytest.raises(ScopeError, match=r"a tile was written.*@device"):
        p.tile(0, 0)
    with pytest.raises(ScopeError):
        d.dma_start(0, 0)
    assert Flow.__name__  # the flows of the other spelling are not these
    with pytest.raises(TypeError, match="needs dest"):
        f.flow(None)


def test_a_generator_that_gives_nothing_at_all():
    @iron.jit
    def empty(a: In):
        pass

    with pytest.raises(iron.GenerationError, match="empty returned nothing"):
        empty(iron.zeros(1))
