"""Parts that a design's author writes: objects with ``tiles()`` and ``resolve()`` among the
arguments of a Worker, which write placed operations into the device."""

import numpy as np
import pytest

import iron
from iron import AnyComputeTile, AnyMemTile, ObjectFifo
from iron.design import placed, placed_dma, placed_fifo, placed_routes, placed_writes
from iron.ir.dialects.enums import DMAChannelDir, LockAction, WireBundle

LINE = np.ndarray[(4,), np.dtype[np.int32]]
TABLE = np.arange(12, dtype=np.int32) * 10
GE, RELEASE = LockAction.AcquireGreaterEqual, LockAction.Release


class Rows:
    """Some rows of a table in a memtile, one after the other, to a core that acquires them."""

    def __init__(self, rows, memory, core):
        self.rows, self.memory, self.core = rows, memory, core

    def tiles(self):
        return [self.memory, self.core]

    def resolve(self, loc=None, ip=None):
        memory, core = self.memory.op, self.core.op
        self.go, done = placed.lock(memory, init=0), placed.lock(memory, init=0)
        table = placed.buffer(memory, np.ndarray[(12,), np.dtype[np.int32]], initial_value=TABLE)
        self.free, self.full = placed.lock(core, init=1), placed.lock(core, init=0)
        self.here = placed.buffer(core, LINE)
        placed_fifo.flow(memory, WireBundle.DMA, 0, core, WireBundle.DMA, 0)

        @placed_dma.memtile_dma(memory)
        def _(block):
            n = len(self.rows)
            placed_dma.dma_start(DMAChannelDir.MM2S, 0, dest=block[1], chain=block[n + 1])
            for i, row in enumerate(self.rows):
                with block[i + 1]:
                    placed.use_lock(self.go, GE)
                    placed_dma.dma_bd(table, offset=4 * row, transfer_len=4)
                    placed.use_lock(done, RELEASE)
                    placed_dma.next_bd(block[(i + 1) % n + 1])
            with block[n + 1]:
                placed.EndOp()

        @placed_dma.mem(core)
        def _(block):
            placed_dma.dma_start(DMAChannelDir.S2MM, 0, dest=block[1], chain=block[2])
            with block[1]:
                placed.use_lock(self.free, GE)
                placed_dma.dma_bd(self.here)
                placed.use_lock(self.full, RELEASE)
                placed_dma.next_bd(block[1])
            with block[2]:
                placed.EndOp()

    def acquire(self):
        placed.use_lock(self.full, GE)
        return self.here

    def release(self):
        placed.use_lock(self.free, RELEASE)


def test_a_part_with_a_dma_of_its_own(own_store):
    """Its tiles are known by their kind only, one of them the Worker's own."""

    @iron.jit
    def chosen(out: iron.Out):
        memory, core = AnyMemTile.copy(), AnyComputeTile.copy()
        rows = Rows([2, 0], memory, core)
        results = ObjectFifo(LINE, name="results")

        def work(rows, results):
            line, result = rows.acquire(), results.acquire(1)
            for i in iron.range_(4):
                result[i] = line[i] + 1
            rows.release()
            results.release(1)

        def sequence(out, results):
            group = iron.TaskGroup()
            results.drain(out, wait=True, group=group)
            placed.set_lock_value(rows.go, 4)
            group.finish()

        worker = iron.Worker(work, [rows, results.prod()], tile=core)
        whole = np.ndarray[(16,), np.dtype[np.int32]]
        rt = iron.Runtime(sequence, [whole, results.cons()])
        return iron.Program(iron.get_current_device(), rt, [worker]).resolve_program()

    out = iron.zeros(16, dtype=np.int32)
    chosen(out)
    np.testing.assert_array_equal(out.numpy(), TABLE.reshape(3, 4)[[2, 0, 2, 0]].reshape(-1) + 1)


def test_routes_hop_by_hop(own_store):
    """Up through the switches into a core's memory and back, by the names of shim channels."""
    whole = np.ndarray[(8,), np.dtype[np.int32]]
    up, down, dma = WireBundle.North, WireBundle.South, WireBundle.DMA

    @iron.jit
    def looped(a: iron.In, b: iron.Out):
        @placed.device(iron.get_current_device())
        def _():
            shim, memory, core = (placed.tile(0, row) for row in range(3))
            hops = {
                shim: [(down, 3, up, 1), (up, 0, down, 2)],
                memory: [(down, 1, up, 1), (up, 0, down, 0)],
                core: [(down, 1, dma, 0), (dma, 0, down, 0)],
            }
            for tile, ports in hops.items():

                @placed_routes.switchbox(tile)
                def _(ports=ports):
                    for port in ports:
                        placed_routes.connect(*port)

            @placed_routes.shim_mux(shim)
            def _():
                placed_routes.connect(dma, 0, up, 3)
                placed_routes.connect(up, 2, dma, 0)

            placed_routes.shim_dma_allocation("to", shim, DMAChannelDir.MM2S, 0)
            placed_routes.shim_dma_allocation("back", shim, DMAChannelDir.S2MM, 0)
            kept = placed.buffer(core, whole)
            free, full = placed.lock(core, init=1), placed.lock(core, init=0)

            @placed_dma.mem(core)
            def _(block):
                ends = (DMAChannelDir.S2MM, free, full), (DMAChannelDir.MM2S, full, free)
                for i, (direction, wait, give) in enumerate(ends):
                    with block[2 * i]:
                        placed_dma.dma_start(
                            direction, 0, dest=block[2 * i + 1], chain=block[2 * i + 2]
                        )
                    with block[2 * i + 1]:
                        placed.use_lock(wait, GE)
                        placed_dma.dma_bd(kept)
                        placed.use_lock(give, RELEASE)
                        placed_dma.next_bd(block[2 * i + 1])
                with block[4]:
                    placed.EndOp()

            @placed.runtime_sequence(whole, whole)
            def _(a, b):
                tasks = [
                    placed.shim_dma_single_bd_task(name, x, sizes=[1, 1, 1, 8], issue_token=True)
                    for name, x in (("to", a), ("back", b))
                ]
                placed.dma_start_task(*tasks)
                placed.dma_await_task(*tasks)

    a, b = iron.arange(8, dtype=np.int32), iron.zeros(8, dtype=np.int32)
    looped(a, b)
    np.testing.assert_array_equal(b.numpy(), np.arange(8))


def test_words_of_registers():
    """Known words are attributes, with a traced one all are operands."""
    writes = placed_writes
    with pytest.raises(RuntimeError, match=r"npu_write32\(\) belongs into a runtime sequence"):
        writes.npu_write32(0, 1, column=0, row=1)
    with placed.mlir_mod_ctx() as made:

        @placed.device(iron.NPU2Col1())
        def _():
            @placed.runtime_sequence(np.int32)
            def _(n):
                writes.npu_write32(0xC0000, n, column=0, row=1)
                writes.npu_maskwrite32(4, -1, 0xFF, "kept")
                writes.npu_address_patch(0x1D004, 0, n)
                writes.npu_push_queue(0, 0, 1, 0, True, n, 3)
                writes.npu_sync(0, 0, 1, 0)

    lines = [line.strip() for line in str(made.module).splitlines() if "aiex.npu" in line]
    sync = ", ".join(
        f"{word} = {n} : i32"
        for word, n in (
            ("channel", 0), ("column", 0), ("column_num", 1), ("direction", 1), ("row", 0),
            ("row_num", 1),
        )
    )  # fmt: skip
    assert lines == [
        "aiex.npu.write32(%c786432_i32, %arg0) {column = 0 : i32, row = 1 : i32} : i32, i32",
        "aiex.npu.maskwrite32 {address = 4 : ui32, buffer = @kept, mask = 255 : ui32, "
        "value = 4294967295 : ui32}",
        "aiex.npu.address_patch(%arg0 : i32) {addr = 118788 : ui32, arg_idx = 0 : i32}",
        "aiex.npu.push_queue(0, 0, MM2S : 0) bd_id %c3_i32 repeat %arg0 {issue_token = true} "
        ": i32, i32",
        f"aiex.npu.sync {{{sync}}}",
    ]
