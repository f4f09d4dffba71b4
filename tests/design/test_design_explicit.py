"""Routes, locks and DMA programs written by hand, and parameters of the scratchpad."""

from __future__ import annotations

import numpy as np
import pytest
from design_parts import TILE, WHOLE, in_core, one, ops

from iron.design import (
    Acquire,
    Bd,
    BdIteration,
    Buffer,
    CascadeFlow,
    DmaChannel,
    DMAChannelDir,
    Flow,
    Lock,
    ObjectFifo,
    PacketDest,
    PacketFlow,
    Program,
    Release,
    Runtime,
    ScopeError,
    ScratchpadParameter,
    TensorAccessPattern,
    Tile,
    TileDma,
    WireBundle,
    Worker,
    bds,
    by_hand,
    dma_await_task,
    dma_configure_task,
    dma_configure_task_for,
    dma_free_task,
    dma_start_task,
    next_bd,
    range_,
    shim_dma_bd,
    shim_dma_single_bd_task,
    sync_parameters,
)
from iron.design.devices import NPU1Col1, NPU2Col1
from iron.ir import equivalent, parse
from iron.ir.dialects.enums import AIETileType

S2MM, MM2S = DMAChannelDir.S2MM, DMAChannelDir.MM2S

EXPLICIT = """
module {
  aie.device(npu1_1col) @main {
    %core = aie.tile(0, 2)
    %shim = aie.tile(0, 0)
    aie.flow(%shim, DMA : 0, %core, DMA : 0)
    aie.shim_dma_allocation @to_core(%shim, MM2S, 0)
    aie.flow(%core, DMA : 1, %shim, DMA : 0)
    aie.shim_dma_allocation @from_core(%shim, S2MM, 0)
    %free = aie.lock(%core, 0) {init = 2 : i32, sym_name = "free"}
    %full = aie.lock(%core, 1) {init = 0 : i32, sym_name = "full"}
    %in_a = aie.buffer(%core) {sym_name = "in_a"} : memref<64xi32>
    %in_b = aie.buffer(%core) {sym_name = "in_b"} : memref<64xi32>
    %c = aie.core(%core) {
      %c0 = arith.constant 0 : index
      %forever = arith.constant 9223372036854775807 : index
      %c1 = arith.constant 1 : index
      scf.for %n = %c0 to %forever step %c1 {
        %one = arith.constant 1 : i32
        aie.use_lock(%full, AcquireGreaterEqual, %one)
        %zero = arith.constant 0 : index
        %v = memref.load %in_a[%zero] : memref<64xi32>
        %three = arith.constant 3 : index
        memref.store %v, %in_b[%three] : memref<64xi32>
        %again = arith.constant 1 : i32
        aie.use_lock(%free, Release, %again)
      }
      aie.end
    }
    %m = aie.mem(%core) {
      %s = aie.dma_start(S2MM, 0, ^ina, ^mm2s)
    ^ina:
      %a1 = arith.constant 1 : i32
      aie.use_lock(%free, AcquireGreaterEqual, %a1)
      aie.dma_bd(%in_a : memref<64xi32> offset = 0 len = 64)
      %a2 = arith.constant 1 : i32
      aie.use_lock(%full, Release, %a2)
      aie.next_bd ^inb
    ^inb:
      aie.dma_bd(%in_b : memref<64xi32> offset = 8 len = 56)
      aie.next_bd ^ina
    ^mm2s:
      %t = aie.dma_start(MM2S, 1, ^outa, ^done)
    ^outa:
      aie.dma_bd_packet(0, 5)
      aie.dma_bd(%in_b : memref<64xi32> offset = 0 len = 16 sizes = [4, 4] strides = [8, 1])
      aie.end
    ^done:
      aie.end
    }
    aie.runtime_sequence @sequence(%a: memref<64xi32>) {
    }
  }
}
"""


def test_a_dma_program_by_hand():
    core, shim = Tile(0, 2), Tile(0, 0)
    array = np.ndarray[(64,), np.dtype[np.int32]]
    in_a, in_b = Buffer(array, name="in_a", tile=core), Buffer(array, name="in_b", tile=core)
    free, full = Lock(core, 0, init=2, name="free"), Lock(core, 1, name="full")

    def body(a, b, free, full):
        full.acquire()
        b[3] = a[0]
        free.release()

    w = Worker(body, [in_a, in_b, free, full], tile=core)
    rt = Runtime(lambda a: None, [array])
    rt.add_flow(Flow(shim, core, shim_symbol="to_core"))
    rt.add_flow(Flow(core, shim, src_channel=1, shim_symbol="from_core"))
    rt.add_lock(free)
    rt.add_lock(full)
    first = Bd(in_a, acquires=[Acquire(free)], releases=[Release(full)], next=1)
    last = Bd(in_b, length=16, sizes=[4, 4], strides=[8, 1], packet=(0, 5), next=None)
    channels = [
        DmaChannel(S2MM, 0, [first, Bd(in_b, offset=8, next=0)]),
        DmaChannel(MM2S, 1, [last]),
    ]
    rt.add_tile_dma(TileDma(core, channels))
    program = Program(NPU1Col1(), rt, [w])
    module = program.resolve_program()
    assert equivalent(module.operation, parse(EXPLICIT))
    assert str(program.resolve_program()) == str(module)


def test_what_a_descriptor_may_say():
    mem = Tile(0, 1, tile_type=AIETileType.MemTile)
    b = Buffer(np.ndarray[(4, 4), np.dtype[np.int8]], name="b", tile=mem)
    bd = Bd(
        b,
        sizes=[2, 4],
        strides=[4, 1],
        pad_dimensions=[(0, 0), (1, 3)],
        iteration=BdIteration(2, 8),
    )
    rt = Runtime(lambda: None)
    rt.add_tile_dma(TileDma(mem, [DmaChannel(MM2S, 0, [bd], pad_value=1)]))
    module = Program(NPU2Col1(), rt).resolve_program()
    assert len(ops(module, "aie.memtile_dma")) == 1
    a = one(module, "aie.dma_bd").attributes
    assert str(a["iteration"]) == "#aie.bd_iteration<size = 2, stride = 8, current = 0>"
    assert [p["const_pad_after"] for p in a["pad_dimensions"].values] == [0, 3]
    assert one(module, "aie.dma_start").attributes["pad_value"].value == 0x01010101


@pytest.mark.parametrize(
    ("channel", "message"),
    [
        (lambda b: DmaChannel(S2MM, 0, []), "at least one Bd"),
        (lambda b: DmaChannel(S2MM, 0, [Bd(b, next=1)]), "next index 1 out of range"),
        (lambda b: DmaChannel(S2MM, 0, [Bd(b, sizes=[1])]), "1 sizes but 0 strides"),
        (lambda b: DmaChannel(MM2S, 0, [Bd(b)], pad_value=1), "needs Bds with pad_dimensions"),
    ],
)
def test_descriptors_that_cannot_be(channel, message):
    with pytest.raises(ValueError, match=message) as fault:
        TileDma(Tile(0, 2), [channel(Buffer(TILE, name="b"))])
    assert __file__ in str(fault.value)


def test_packets_go_to_several_places():
    shim = Tile(0, 0, tile_type=AIETileType.ShimNOCTile)
    flow = PacketFlow(
        3,
        shim,
        Tile(0, 2),
        src_channel=1,
        extra_dsts=[PacketDest(Tile(0, 3), WireBundle.DMA, 1)],
        keep_pkt_header=True,
        shim_symbol="s",
    )
    rt = Runtime(lambda: None)
    rt.add_flow(flow)
    module = Program(NPU2Col1(), rt).resolve_program()
    op = one(module, "aie.packet_flow")
    assert (op.attributes["ID"].value, op.attributes["keep_pkt_header"].value) == (3, True)
    assert [o.name for o in op.body.operations] == [
        "aie.packet_source",
        "aie.packet_dest",
        "aie.packet_dest",
        "aie.end",
    ]
    allocation = one(module, "aie.shim_dma_allocation").attributes
    assert (allocation["channel_dir"].value, allocation["channel_index"].value) == (int(MM2S), 1)


def test_a_shim_symbol_needs_a_shim():
    with pytest.raises(ValueError, match="requires a shim endpoint"):
        Flow(Tile(0, 2), Tile(0, 3), shim_symbol="s")


def test_cascades_of_the_workers_of_a_program():
    a, b, c = (Worker(None) for _ in range(3))
    CascadeFlow(a, b)
    CascadeFlow(b, c)
    whole = Program(NPU2Col1(), Runtime(lambda: None), [a, b, c]).resolve_program()
    assert len(ops(whole, "aie.cascade_flow")) == 2
    part = Program(NPU2Col1(), Runtime(lambda: None), [a, b]).resolve_program()
    assert len(ops(part, "aie.cascade_flow")) == 1


def test_scratchpad_parameters():
    gain, at = ScratchpadParameter("gain", np.int32), ScratchpadParameter("at", np.int32)
    fifo = ObjectFifo(TILE, name="in")

    def body(i, p):
        x = i.acquire(1)
        for n in range_(16):
            x[n] = x[n] * p.read()
        i.release(1)

    def sequence(a, h):
        sync_parameters()
        h.fill(a, offset_parameter=at)

    w = Worker(body, [fifo.cons(), gain])
    rt = Runtime(sequence, [WHOLE, fifo.prod()])
    module = Program(NPU2Col1(), rt, [w]).resolve_program()
    assert [op.symbol for op in ops(module, "aiex.scratchpad_parameter")] == ["gain", "at"]
    assert one(module, "aie.dma_bd").attributes["offset_parameter"].path == ("at",)
    assert len(ops(module, "aiex.sync_scratchpad_parameters_from_host")) == 1
    assert str(one(module, "aiex.read_scratchpad_parameter").result.type) == "i32"


def test_exact_and_counting_locks():
    lock = Lock(Tile(0, 2), name="k")

    def body(x, y, k):
        k.acquire(2)
        k.acquire_exact(1)
        k.release(3)

    core = in_core(body, lock)
    uses = ops(core, "aie.use_lock")
    assert [u.attributes["action"].value for u in uses] == [2, 0, 1]
    assert [u.operands[1].owner.attributes["value"].value for u in uses] == [2, 1, 3]


def test_transfers_step_by_step():
    shim = Tile(0, 0, tile_type=AIETileType.ShimNOCTile)
    mem = Tile(0, 1, tile_type=AIETileType.MemTile)
    tensor = np.ndarray[(64,), np.dtype[np.int32]]

    def sequence(a):
        task = dma_configure_task(shim.op, MM2S, 1, issue_token=True, repeat_count=2)
        with bds(task) as bd:
            with bd[0]:
                shim_dma_bd(a.op, offset=4, sizes=[1, 1, 2, 8], strides=[0, 0, 16, 1])
                next_bd(bd[1])
            with bd[1]:
                shim_dma_bd(a.op, tap=TensorAccessPattern((64,), 0, [16], [1]))
                by_hand.end()
        named = shim_dma_single_bd_task("in", a.op, sizes=[3, 1, 1, 8], strides=[8, 0, 0, 1])
        dma_start_task(task, named)
        dma_await_task(task)
        dma_free_task(named)

    rt = Runtime(sequence, [tensor])
    rt.add_flow(Flow(shim, mem, src_channel=1, shim_symbol="in"))
    module = Program(NPU2Col1(), rt).resolve_program()
    task = one(module, "aiex.dma_configure_task")
    assert task.operands == [ops(module, "aie.tile")[0].result]
    assert task.attributes["repeat_count"].value == 2
    assert task.attributes["issue_token"].value is True
    first, second, third = (op.attributes for op in ops(module, "aie.dma_bd"))
    assert (first["static_offset"].value, first["static_len"].value) == (4, 16)
    assert (second["static_offset"].value, second["static_len"].value) == (0, 16)
    assert third["static_sizes"].values == (3, 1, 1, 8)
    named = one(module, "aiex.dma_configure_task_for")
    assert (named.attributes["repeat_count"].value, str(named.attributes["alloc"])) == (2, "@in")
    assert len(ops(module, "aiex.dma_start_task")) == 2
    assert one(module, "aie.next_bd").successors[0][0] is task.region.blocks[1]


@pytest.mark.parametrize(
    ("verb", "message"),
    [
        (lambda a: shim_dma_bd(a.op, sizes=[65], strides=[1]), "element 64"),
        (lambda a: dma_start_task(), "at least one task"),
        (lambda a: Tile(0, 9).op, "out of range"),
        (lambda a: Tile(col=0).op, "names no single place"),
    ],
)
def test_steps_that_cannot_be(verb, message):
    with pytest.raises(ValueError, match=message):
        Program(NPU2Col1(), Runtime(verb, [WHOLE])).resolve_program()


def test_steps_belong_into_a_sequence():
    for verb in (lambda: dma_start_task(None), lambda: dma_configure_task_for("x")):
        with pytest.raises(ScopeError, match="No active runtime sequence"):
            verb()
    with pytest.raises(ScopeError, match="no body of a design"):
        Tile(0, 0).op  # noqa: B018
