"""What designs emit: the text, the values' users, the lines."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from design_parts import TILE, WHOLE, T, copy_program, line, one, ops

from iron.design import (
    Buffer,
    Kernel,
    ObjectFifo,
    Program,
    Runtime,
    TaskGroup,
    TensorAccessPattern,
    Worker,
    WorkerRuntimeBarrier,
    range_,
)
from iron.design.devices import NPU1, NPU1Col1, NPU2Col1
from iron.ir import IntegerAttr, StringAttr, equivalent, parse

COPY = """\
module {
  aie.device(npu2_1col) @main {
    %tile_0_2 = aie.tile(0, 2)
    %shim_noc_tile_0_0 = aie.tile(0, 0)
    aie.objectfifo @in(%shim_noc_tile_0_0, {%tile_0_2}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @out(%tile_0_2, {%shim_noc_tile_0_0}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    %core_0_2 = aie.core(%tile_0_2) {
      %c0 = arith.constant 0 : index
      %c9223372036854775807 = arith.constant 9223372036854775807 : index
      %c1 = arith.constant 1 : index
      scf.for %arg0 = %c0 to %c9223372036854775807 step %c1 {
        %0 = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
        %1 = aie.objectfifo.subview.access %0[0] : \
!aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        %2 = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
        %3 = aie.objectfifo.subview.access %2[0] : \
!aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        %c0_0 = arith.constant 0 : index
        %c16 = arith.constant 16 : index
        %c1_1 = arith.constant 1 : index
        scf.for %arg1 = %c0_0 to %c16 step %c1_1 {
          %4 = memref.load %1[%arg1] : memref<16xi32>
          memref.store %4, %3[%arg1] : memref<16xi32>
        }
        aie.objectfifo.release @in(Consume, 1)
        aie.objectfifo.release @out(Produce, 1)
      }
      aie.end
    }
    aie.runtime_sequence @sequence(%a: memref<64xi32>, %c: memref<64xi32>) {
      %0 = aiex.dma_configure_task_for @in {
        aie.dma_bd(%a : memref<64xi32> offset = 0 len = 64 \
sizes = [1, 1, 1, 64] strides = [0, 0, 0, 1]) {burst_length = 0 : i32}
        aie.end
      }
      aiex.dma_start_task(%0)
      %1 = aiex.dma_configure_task_for @out {
        aie.dma_bd(%c : memref<64xi32> offset = 0 len = 64 \
sizes = [1, 1, 1, 64] strides = [0, 0, 0, 1]) {burst_length = 0 : i32}
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%1)
      aiex.dma_await_task(%1)
      aiex.dma_free_task(%0)
      aiex.dma_free_task(%1)
    }
  }
}
"""


def test_the_text_of_a_small_design():
    assert equivalent(copy_program().resolve_program().operation, parse(COPY))


def test_the_text_reads_back_to_the_same_design():
    module = copy_program().resolve_program()
    assert equivalent(parse(str(module)), module.operation)


def test_resolving_again_gives_the_same_text():
    program = copy_program()
    first = str(program.resolve_program())
    assert str(program.resolve_program()) == first
    assert str(copy_program().resolve_program()) == first


def test_the_same_parts_in_two_programs():
    """Fifos and Workers carry nothing over from one resolve to the next, whatever the device."""
    fi = ObjectFifo(TILE)
    fo = fi.cons().forward()
    seen = []

    def sequence(a, c):
        seen.append(1)
        fi.prod().fill(a)
        fo.cons().drain(c, wait=True)

    rt = Runtime(sequence, [WHOLE, WHOLE])
    texts = [str(Program(d, rt).resolve_program()) for d in (NPU1(), NPU2Col1(), NPU1())]
    assert texts[0] == texts[2]
    assert texts[0].replace("npu1", "npu2_1col") == texts[1]
    assert len(seen) == 3
    assert fo.consumer_handles == []


def test_one_program_resolved_by_many_threads():
    fi = ObjectFifo(TILE)
    fo = fi.cons().forward()

    def sequence(a, c):
        fi.prod().fill(a)
        fo.cons().drain(c, wait=True)

    program = Program(NPU1(), Runtime(sequence, [WHOLE, WHOLE]))
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda _: str(program.resolve_program()), range(32)))
    assert len(set(texts)) == 1
    assert fi.handles == fi.consumer_handles


def test_unnamed_fifos_are_numbered_per_design():
    def build():
        a, b = ObjectFifo(TILE), ObjectFifo(TILE)
        ObjectFifo(TILE)  # used by nobody: takes no number
        c = ObjectFifo(TILE)

        def body(x, y, z):
            for h in (x, y, z):
                h.acquire(1)
                h.release(1)

        # In the order they were made, not the order they are passed in.
        w = Worker(body, [c.prod(), b.cons(), a.cons()])

        def sequence(s, t, u):
            a.prod().fill(s)
            b.prod().fill(t)
            c.cons().drain(u, wait=True)

        return Program(NPU2Col1(), Runtime(sequence, [WHOLE] * 3), [w]).resolve_program()

    texts = [str(build()) for _ in range(2)]
    assert texts[0] == texts[1]
    assert [op.symbol for op in ops(build(), "aie.objectfifo")] == ["of0", "of1", "of2"]
    assert "acquire @of2(Produce" in texts[0]


def test_numbers_keep_clear_of_given_names():
    a, b = ObjectFifo(TILE), ObjectFifo(TILE, name="of0")

    def sequence(s, t):
        a.prod().fill(s)
        b.prod().fill(t)

    w = Worker(lambda x, y: None, [a.cons(), b.cons()])
    module = Program(NPU2Col1(), Runtime(sequence, [WHOLE] * 2), [w]).resolve_program()
    assert sorted(op.symbol for op in ops(module, "aie.objectfifo")) == ["of0", "of1"]


def test_derived_names_follow_their_parent():
    fifo = ObjectFifo(TILE)
    assert [p.name for p in fifo.cons().split([0, 8])] == [f"{fifo.name}_split{i}" for i in (0, 1)]
    assert fifo.cons().forward().name == fifo.name + "_fwd"
    named = ObjectFifo(TILE, name="x")
    assert [p.name for p in named.prod().join([0, 8])] == ["x_join0", "x_join1"]


def test_every_operation_knows_the_users_line():
    def body(i, o):
        x, y = i.acquire(1), o.acquire(1)
        y[0] = x[1] + 2  # noted below
        marks["body"] = line() - 1
        i.release(1)
        o.release(1)

    marks: dict[str, int] = {}
    module = copy_program(body).resolve_program()
    add, store = one(module, "arith.addi"), one(module, "memref.store")
    assert add.location.file == store.location.file == __file__
    assert add.location.line == store.location.line == marks["body"]
    for op in module.operation.walk():
        assert op.location, op
    fills = ops(module, "aiex.dma_configure_task_for")
    assert all(op.location.file.endswith("design_parts.py") for op in fills)


def test_a_worker_that_runs_once_and_its_stack():
    module = copy_program(while_true=False, stack_size=2048).resolve_program()
    core = one(module, "aie.core")
    assert core.attributes["stack_size"].value == 2048
    bounds = [op.attributes["value"].value for op in core.body.operations[:3]]
    assert bounds == [0, 1, 1]


def test_an_idle_worker_still_has_a_core():
    w = Worker(None)
    module = Program(NPU2Col1(), Runtime(lambda: None), [w]).resolve_program()
    assert len(ops(module, "aie.core")) == 1
    assert [op.name for op in one(module, "scf.for").body.operations] == ["scf.yield"]


def test_arguments_keep_their_lists():
    got = []

    def body(pair, rest):
        got.append((pair, rest))
        for h in pair:
            h.acquire(1)
            h.release(1)

    fi, fo = ObjectFifo(TILE, name="i"), ObjectFifo(TILE, name="o")
    c, p = fi.cons(), fo.prod()
    w = Worker(body, [[c, p], (1, "two")])

    def sequence(a, hs):
        hs[0].fill(a)
        hs[1][0].drain(a, wait=True)

    rt = Runtime(sequence, [WHOLE, [fi.prod(), (fo.cons(),)]])
    module = Program(NPU2Col1(), rt, [w]).resolve_program()
    assert got == [([c, p], (1, "two"))]
    assert len(ops(module, "aiex.dma_configure_task_for")) == 2


def test_workers_may_come_in_a_grid():
    made = []

    def factory(r, c):
        fifo = ObjectFifo(TILE, name=f"o{r}{c}")
        made.append(fifo)
        return Worker(lambda o: (o.acquire(1), o.release(1)), [fifo.prod()])

    grid = Worker.grid(2, 1, factory)
    assert [len(row) for row in grid] == [1, 1]

    def sequence(a):
        for fifo in made:
            fifo.cons().drain(a, wait=True)

    module = Program(NPU2Col1(), Runtime(sequence, [WHOLE]), grid).resolve_program()
    assert len(ops(module, "aie.core")) == 2


def test_acquire_of_several_objects_and_its_depth():
    def body(i, o):
        x = i.acquire(2)
        assert len(x) == 2
        y = o.acquire(1)
        y[0] = x[1][3]
        i.release(2)
        o.release(1)

    module = copy_program(body).resolve_program()
    acquire = ops(module, "aie.objectfifo.acquire")[0]
    assert acquire.attributes["size"].value == 2
    indices = [op.attributes["index"].value for op in ops(module, "aie.objectfifo.subview.access")]
    assert indices == [0, 1, 0]


def test_depths_of_ends_that_differ():
    fifo = ObjectFifo(TILE, depth=3, name="f")
    w = Worker(lambda x: None, [fifo.cons(depth=1)])

    def sequence(a):
        fifo.prod().fill(a)

    module = Program(NPU2Col1(), Runtime(sequence, [WHOLE]), [w]).resolve_program()
    depths = one(module, "aie.objectfifo").attributes["elemNumber"]
    assert [d.value for d in depths.values] == [3, 1]


def test_options_of_a_fifo_reach_the_operation():
    fifo = ObjectFifo(TILE, name="f", via_DMA=True, disable_synchronization=True)
    fifo.set_iter_count(5)
    on = fifo.cons(channel=1).forward(name="g", repeat_count=3, dims_to_stream=[(4, 1), (4, 4)])
    w = Worker(lambda x: None, [on.cons(dims_from_stream=[(16, 1)], channel=1)])

    def sequence(a, h):
        h.fill(a)

    rt = Runtime(sequence, [WHOLE, fifo.prod(channel=0)])
    module = Program(NPU2Col1(), rt, [w]).resolve_program()
    f, g = (op.attributes for op in ops(module, "aie.objectfifo"))
    assert f["via_DMA"].value is True
    assert f["disable_synchronization"].value is True
    assert (g["repeat_count"].value, f["iter_count"].value) == (3, 5)
    assert [(d["size"], d["stride"]) for d in g["dimensionsToStream"].values] == [(4, 1), (4, 4)]
    consumer = g["dimensionsFromStreamPerConsumer"].values[0].values
    assert [(d["size"], d["stride"]) for d in consumer] == [(16, 1)]
    assert f["prod_dma_channel"].value == 0
    assert f["cons_dma_channels"].values == g["cons_dma_channels"].values == (1,)
    assert "via_DMA" not in g


@pytest.mark.parametrize(("value", "dtype", "word"), [(3, np.int8, 0x03030303), (-1, np.int16, -1)])
def test_a_pad_value_fills_the_register(value, dtype, word):
    part = np.ndarray[(16,), np.dtype[dtype]]
    fifo = ObjectFifo(part, name="f")
    out = fifo.cons().forward(pad_dimensions=[(1, 2)], pad_value=value)

    def sequence(a):
        fifo.prod().fill(a)
        out.cons().drain(a, wait=True)

    module = Program(NPU2Col1(), Runtime(sequence, [part])).resolve_program()
    op = next(o for o in ops(module, "aie.objectfifo") if o.symbol == "f_fwd")
    assert op.attributes["padValue"].value == word
    pad = op.attributes["padDimensions"].values[0]
    assert (pad["const_pad_before"], pad["const_pad_after"]) == (1, 2)


def test_split_and_join_share_a_link():
    part = np.ndarray[(T // 2,), np.dtype[np.int32]]
    fifo, back = ObjectFifo(TILE, name="all"), ObjectFifo(TILE, name="back")
    ins = fifo.cons().split([0, 8], obj_types=[part] * 2)
    outs = back.prod().join([0, 8], obj_types=[part] * 2, names=["l", "r"])

    def body(x, y):
        a, b = x.acquire(1), y.acquire(1)
        b[0] = a[0]
        x.release(1)
        y.release(1)

    workers = [Worker(body, [i.cons(), o.prod()]) for i, o in zip(ins, outs, strict=True)]

    def sequence(a, c):
        fifo.prod().fill(a)
        back.cons().drain(c, wait=True)

    module = Program(NPU2Col1(), Runtime(sequence, [WHOLE] * 2), workers).resolve_program()
    links = ops(module, "aie.objectfifo.link")
    text = str(module)
    assert len(links) == 2
    assert "[@all] -> [@all_split0, @all_split1]([] [0, 8])" in text
    assert "[@l, @r] -> [@back]([0, 8] [])" in text


def test_a_run_time_parameter_and_a_barrier():
    gain = Buffer(np.ndarray[(2, 2), np.dtype[np.int32]], name="gain", use_write_rtp=True)
    go = WorkerRuntimeBarrier()

    def body(i, o, g, b):
        b.wait_for_value(1)
        y = o.acquire(1)
        y[0] = g[1, 0]
        o.release(1)
        b.release_with_value(1)

    fi, fo = ObjectFifo(TILE, name="in"), ObjectFifo(TILE, name="out")
    ws = [Worker(body, [fi.cons(), fo.prod(), gain, go]), Worker(lambda b: None, [go])]

    def sequence(a, g, b):
        g[1, 0] = 7
        b.set(1)
        fi.prod().fill(a)
        fo.cons().drain(a, wait=True)

    module = Program(NPU2Col1(), Runtime(sequence, [WHOLE, gain, go]), ws).resolve_program()
    write = one(module, "aiex.npu.rtp_write")
    assert write.attributes["index"].value == 2
    assert write.operands[0].owner.attributes["value"].value == 7
    locks = ops(module, "aie.lock")
    assert len(locks) == 2
    assert [op.operands[0] for op in ops(module, "aiex.set_lock")] == [k.result for k in locks]
    # each core waits on its own lock
    waits = ops(ops(module, "aie.core")[0], "aie.use_lock")
    assert [w.operands[0] for w in waits] == [locks[0].result] * 2
    assert [w.attributes["action"].value for w in waits] == [0, 1]


def test_a_buffer_with_values():
    table = Buffer(initial_value=np.arange(4, dtype=np.int32), name="table")

    def body(i, o, t):
        y = o.acquire(1)
        y[0] = t[2]
        t[3] = 1
        o.release(1)

    module = copy_program(body, [table]).resolve_program()
    buffer = one(module, "aie.buffer")
    assert buffer.attributes["initial_value"].values == (0, 1, 2, 3)
    assert buffer.symbol == "table"
    assert "= dense<[0, 1, 2, 3]>" in str(module)


def test_groups_wait_first_then_free_everything():
    fi, fo = ObjectFifo(TILE, name="in"), ObjectFifo(TILE, name="out")
    w = Worker(lambda x, y: None, [fi.cons(), fo.prod()])

    def sequence(a, i, o):
        for _ in range(2):
            group = TaskGroup()
            o.drain(a, wait=True, group=group)
            i.fill(a, group=group)
            group.finish()

    rt = Runtime(sequence, [WHOLE, fi.prod(), fo.cons()])
    module = Program(NPU2Col1(), rt, [w]).resolve_program()
    body = one(module, "aie.runtime_sequence").body
    tasks = {op.result: n for n, op in enumerate(ops(module, "aiex.dma_configure_task_for"))}
    verbs = [
        (op.name.removeprefix("aiex.dma_"), tasks[op.operands[0]])
        for op in body.operations
        if op.name.startswith("aiex.dma_") and op.operands
    ]
    first = [("start_task", 0), ("start_task", 1), ("await_task", 0), ("free_task", 0)]
    again = [(verb, n + 2) for verb, n in (*first, ("free_task", 1))]
    assert verbs == [*first, ("free_task", 1), *again]


def test_an_access_pattern_and_its_repeat():
    fifo = ObjectFifo(TILE, name="in")
    w = Worker(lambda x: None, [fifo.cons()])

    def sequence(a, h):
        h.fill(a, tap=TensorAccessPattern((8, 8), 8, [3, 2, 4], [0, 8, 1]))
        h.fill(a, tap=TensorAccessPattern((8, 8), 1, [2, 1, 2, 4], [16, 0, 8, 1]), packet=(0, 3))

    rt = Runtime(sequence, [WHOLE, fifo.prod()])
    module = Program(NPU2Col1(), rt, [w]).resolve_program()
    plain, repeated = ops(module, "aie.dma_bd")
    a, b = plain.attributes, repeated.attributes
    assert a["static_sizes"].values == (1, 3, 2, 4)
    assert a["static_strides"].values == (0, 0, 8, 1)
    assert (a["static_offset"].value, a["static_len"].value) == (8, 24)
    assert b["static_sizes"].values == (2, 1, 2, 4)
    assert b["static_len"].value == 8
    assert b["packet"]["pkt_id"] == 3
    tasks = ops(module, "aiex.dma_configure_task_for")
    assert "repeat_count" not in tasks[0].attributes
    assert tasks[1].attributes["repeat_count"] == IntegerAttr(
        1, plain.attributes["static_len"].type
    )


def test_tensors_of_three_dimensions_move_as_a_line():
    block = np.ndarray[(2, 4, 8), np.dtype[np.int32]]
    module = copy_program(whole=block).resolve_program()
    a = ops(module, "aie.dma_bd")[0].attributes
    assert a["static_sizes"].values == (1, 1, 1, 64)


def test_numbers_known_at_run_time_in_a_sequence():
    fifo = ObjectFifo(TILE, name="in")
    w = Worker(lambda x: None, [fifo.cons()])

    def sequence(a, n, k, h):
        for i in range_(n):
            group = TaskGroup()
            h.fill(a, sizes=[1, 1, 1, k], strides=[0, 0, 0, 1], offset=i * 16, group=group)
            group.finish()

    rt = Runtime(sequence, [WHOLE, np.int32, 16, fifo.prod()])
    module = Program(NPU2Col1(), rt, [w]).resolve_program()
    body = one(module, "aie.runtime_sequence").body
    assert [str(a.type) for a in body.arguments] == ["memref<64xi32>", "i32"]
    bd = one(module, "aie.dma_bd")
    assert bd.segments == (1, 1, 1, 1, 0)
    assert bd.attributes["static_sizes"].values == (1, 1, 1, -(2**63))


def test_a_task_carried_by_a_loop():
    from iron.design import yield_

    fifo = ObjectFifo(TILE, name="in")
    w = Worker(lambda x: None, [fifo.cons()])

    def sequence(a, h):
        first = h.fill(a, managed=False, wait=True)
        for _, before, last in range_(3, iter_args=[first], insert_yield=False):  # noqa: B007
            following = h.fill(a, managed=False, wait=True)
            before.await_()
            before.free()
            yield_([following])
        last.await_()
        last.free()

    rt = Runtime(sequence, [WHOLE, fifo.prod()])
    module = Program(NPU2Col1(), rt, [w]).resolve_program()
    loop = (
        one(module, "scf.for") if len(ops(module, "scf.for")) == 1 else ops(module, "scf.for")[-1]
    )
    assert len(loop.results) == 1
    awaits = ops(module, "aiex.dma_await_task")
    assert awaits[0].operands[0] is loop.body.arguments[1]
    assert awaits[1].operands[0] is loop.results[0]


def test_handles_and_buffers_reached_by_closure():
    fi, fo = ObjectFifo(TILE, name="in"), ObjectFifo(TILE, name="out")
    i, o = fi.cons(), fo.prod()
    kernel = Kernel("k", "k.o", [TILE, TILE])
    state = Buffer(TILE, name="state")

    def body():
        x, y = i.acquire(1), o.acquire(1)
        kernel(x, y)
        state[0] = y[0]
        i.release(1)
        o.release(1)

    def sequence(a):
        fi.prod().fill(a)
        fo.cons().drain(a, wait=True)

    module = Program(NPU1Col1(), Runtime(sequence, [WHOLE]), [Worker(body)]).resolve_program()
    assert one(module, "func.func").attributes["link_with"] == StringAttr("k.o")
    assert {op.symbol for op in ops(module, "aie.objectfifo")} == {"in", "out"}
    assert one(module, "aie.buffer").operands[0] is one(module, "aie.core").operands[0]
