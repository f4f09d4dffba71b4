"""Designs of 2025 and March 2026: their text is that of the time, and they run."""

import numpy as np
import pytest

import iron
from iron import ir

# What mlir-aie of March 2026 writes for the first design below, in our own words.
OLD = """module {
  aie.device(npu1_1col) {
    %tile_0_2 = aie.tile(0, 2)
    %shim_noc_tile_0_0 = aie.tile(0, 0)
    aie.objectfifo @dst(%tile_0_2, {%shim_noc_tile_0_0}, 3 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @src(%shim_noc_tile_0_0, {%tile_0_2}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    func.func private @triple(memref<16xi32>, memref<16xi32>)
    %core_0_2 = aie.core(%tile_0_2) {
      %c0 = arith.constant 0 : index
      %c9223372036854775807 = arith.constant 9223372036854775807 : index
      %c1 = arith.constant 1 : index
      scf.for %arg0 = %c0 to %c9223372036854775807 step %c1 {
        %0 = aie.objectfifo.acquire @src(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
        %1 = aie.objectfifo.subview.access %0[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        %2 = aie.objectfifo.acquire @dst(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
        %3 = aie.objectfifo.subview.access %2[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        func.call @triple(%1, %3) : (memref<16xi32>, memref<16xi32>) -> ()
        aie.objectfifo.release @src(Consume, 1)
        aie.objectfifo.release @dst(Produce, 1)
      }
      aie.end
    } {link_with = "triple.o"}
    aie.runtime_sequence(%arg0: memref<64xi32>, %arg1: memref<64xi32>) {
      %0 = aiex.dma_configure_task_for @src {
        aie.dma_bd(%arg0 : memref<64xi32>, 0, 64, [<size = 1, stride = 0>, <size = 1, stride = 0>, <size = 1, stride = 0>, <size = 64, stride = 1>]) {burst_length = 0 : i32}
        aie.end
      }
      aiex.dma_start_task(%0)
      %1 = aiex.dma_configure_task_for @dst {
        aie.dma_bd(%arg1 : memref<64xi32>, 0, 64, [<size = 1, stride = 0>, <size = 1, stride = 0>, <size = 1, stride = 0>, <size = 64, stride = 1>]) {burst_length = 0 : i32}
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%1)
      aiex.dma_await_task(%1)
      aiex.dma_free_task(%0)
    }
  }
}
"""  # noqa: E501

TILE, WHOLE = (np.ndarray[(n,), np.dtype[np.int32]] for n in (16, 64))
TRIPLE = 'extern "C" void triple(int *x, int *y) { for (int i = 0; i < 16; ++i) y[i] = 3 * x[i]; }'


def tripling(device, kernel, placer=True, **placement):
    from aie.iron import ObjectFifo, Program, Runtime, Worker
    from aie.iron.placers import SequentialPlacer

    source, result = ObjectFifo(TILE, 2, "src"), ObjectFifo(TILE, 3, "dst")

    def core(source, result, triple):
        x, y = source.acquire(1), result.acquire(1)
        triple(x, y)
        source.release(1)
        result.release(1)

    worker = Worker(core, [source.cons(), result.prod(), kernel], **placement)
    rt = Runtime()
    with rt.sequence(WHOLE, WHOLE) as (a, b):
        assert (a.shape, b.dtype) == ((64,), np.int32)
        rt.start(worker)
        rt.fill(source.prod(), a)
        rt.drain(result.cons(), b, wait=True)
    return Program(device, rt).resolve_program(*([SequentialPlacer()] if placer else []))


def test_the_text_is_that_of_march_2026(aie):
    from aie.iron import Kernel
    from aie.iron.device import NPU1Col1

    module = tripling(NPU1Col1(), Kernel("triple", "triple.o", [TILE, TILE]))
    assert ir.equivalent(ir.parse(str(module)), ir.parse(OLD))


def test_it_runs_and_placement_is_obeyed(aie):
    from aie.iron import ExternalFunction, In, Out, get_current_device, jit
    from aie.iron.device import Tile

    @jit
    def tripled(a: In, b: Out):
        kernel = ExternalFunction("triple", source_string=TRIPLE, arg_types=[TILE, TILE])
        return tripling(get_current_device(), kernel, placer=False, placement=Tile(0, 4))

    a, b = iron.arange(64, dtype=np.int32), iron.zeros(64, dtype=np.int32)
    tripled(a, b)
    np.testing.assert_array_equal(b.numpy(), 3 * a.numpy())
    assert "aie.tile(0, 4)" in tripled.as_mlir()


@pytest.fixture
def whole_call(aie):
    """A generator that receives what the call gives."""
    import aie.iron as old
    from aie.iron import Buffer, ObjectFifo, Program, Runtime, Worker, WorkerRuntimeBarrier

    @old.jit(is_placed=False)
    def combined(x, y, z, k=2, *, extra=0):
        count = x.numel()
        whole = np.ndarray[x.shape, np.dtype[x.dtype]]
        tile = np.ndarray[(16,), np.dtype[x.dtype]]
        fifos = [ObjectFifo(tile, 2) for _ in range(3)]
        gain = Buffer(np.ndarray[(1,), np.dtype[np.int32]], name="gain", use_write_rtp=True)
        go = WorkerRuntimeBarrier()

        def core(a, b, c, gain, go):
            go.wait_for_value(1)
            for _ in old.range_(count // 16):
                p, q, r = a.acquire(1), b.acquire(1), c.acquire(1)
                for i in old.range_(16):
                    r[i] = p[i] * k + q[i] * gain[0] + extra
                a.release(1), b.release(1), c.release(1)

        ends = [fifos[0].cons(), fifos[1].cons(), fifos[2].prod()]
        rt = Runtime(strict_task_groups=False)
        with rt.sequence(whole, whole, whole) as (a, b, c):

            def set_gain(gain):
                gain[0] = 10

            rt.inline_ops(set_gain, [gain])
            rt.set_barrier(go, 1)
            rt.start(Worker(core, [*ends, gain, go], while_true=True))
            group = rt.task_group()
            rt.fill(fifos[0].prod(), a, task_group=group)
            rt.fill(fifos[1].prod(), b, task_group=group)
            rt.drain(fifos[2].cons(), c, wait=True, task_group=group)
            rt.finish_task_group(group)
        return Program(old.get_current_device(), rt).resolve_program()

    return combined


def test_links_and_buffers_are_placed_where_they_say(aie):
    from aie.iron import Buffer, ObjectFifo, Program, Runtime
    from aie.iron.device import NPU2, Tile

    source = ObjectFifo(WHOLE, 2, "source")
    parts = source.cons().split([0, 16], obj_types=[TILE] * 2, placement=Tile(3, 1))
    joined = ObjectFifo(np.ndarray[(32,), np.dtype[np.int32]], name="joined")
    again = joined.prod().join([0, 16], obj_types=[TILE] * 2, placement=Tile(2, 1))
    assert all(isinstance(f, ObjectFifo) for f in (*parts, *again))
    through = [p.cons().forward(placement=Tile(1, 1)) for p in parts]
    rt = Runtime()
    with rt.sequence(WHOLE, WHOLE, TILE) as (a, b, c):
        rt.fill(source.prod(), a, placement=Tile(5, 0))
        rt.drain(through[0].cons(), b, wait=True)
        rt.drain(through[1].cons(), c, wait=True)
    text = str(Program(NPU2(), rt).resolve_program())
    assert all(f"aie.tile({t})" in text for t in ("3, 1", "1, 1", "5, 0"))
    assert Buffer(TILE, placement=Tile(0, 2)).tile.row == 2


def test_a_generator_that_receives_the_tensors(whole_call):
    for n, dtype in ((64, np.int32), (32, np.int32)):
        x, y = iron.arange(n, dtype=dtype), iron.ones(n, dtype=dtype)
        z = np.zeros(n, dtype)
        whole_call(x, y, z)
        np.testing.assert_array_equal(z, 2 * x.numpy() + 10)
    whole_call(x, y, z, 5, extra=-1)
    np.testing.assert_array_equal(z, 5 * x.numpy() + 9)
    whole_call(x, y, z, k=True)
    np.testing.assert_array_equal(z, x.numpy() + 10)
    assert whole_call.__name__ == "combined"
    assert "memref<32xi32>" in whole_call.as_mlir(x, y, z)


def test_the_elements_of_a_tensor_are_not_known_while_it_is_generated(aie):
    import aie.iron as old

    @old.jit
    def reading(x):
        return x[0]

    with pytest.raises(RuntimeError, match="elements of a tensor are not known"):
        reading(iron.zeros(4))


def test_algorithms_that_take_tensors_run(aie):
    from aie.iron.algorithms import for_each, transform, transform_binary

    x, y = iron.arange(64, dtype=np.int32), iron.zeros(64, dtype=np.int32)
    transform(lambda a: a * 5, x, y)
    np.testing.assert_array_equal(y.numpy(), 5 * x.numpy())
    for_each(lambda a: a - 1, y, tile_size=32)
    np.testing.assert_array_equal(y.numpy(), 5 * x.numpy() - 1)
    with pytest.raises(ValueError, match=r"Tensor 1 shape \(32,\) doesn't match expected"):
        transform(lambda a: a, x, iron.zeros(32, dtype=np.int32))
    with pytest.raises(ValueError, match="Tensor 2 dtype float32 doesn't match"):
        transform_binary(lambda a, b: a, x, x, iron.zeros(64))


def test_the_newer_spelling_is_told_by_its_calls(aie):
    from aie.iron import Runtime

    newer = Runtime(lambda: None, [])
    older = Runtime(strict_task_groups=False)
    assert isinstance(newer, iron.Runtime)
    assert not isinstance(older, iron.Runtime)
    assert isinstance(newer, Runtime)
    assert isinstance(older, Runtime)
    with older.sequence(TILE) as one:
        assert one.shape == (16,)
    with pytest.raises(ValueError, match="one sequence"), older.sequence(TILE):
        pass
