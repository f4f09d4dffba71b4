"""Where parts of designs lie."""

from __future__ import annotations

import numpy as np
import pytest
from design_parts import TILE, WHOLE, copy_program, ops, place_of_core, tiles

from iron.design import (
    AnyComputeTile,
    Buffer,
    CascadeFlow,
    ObjectFifo,
    PlacementError,
    Program,
    Runtime,
    Tile,
    Worker,
    from_mlir_name,
    from_name,
)
from iron.design import devices as d
from iron.ir import types as t
from iron.ir.dialects.enums import AIEDevice, AIETileType

BIG = np.ndarray[(64 * 1024,), np.dtype[np.int32]]


def idle(n, **options):
    return [Worker(None, **options) for _ in range(n)]


def cores(device, workers):
    module = Program(device, Runtime(lambda: None), workers).resolve_program()
    return [place_of_core(c) for c in ops(module, "aie.core")]


def shim_columns(module):
    """Column of the host's end of each fifo, by name."""
    found = {}
    for op in ops(module, "aie.objectfifo"):
        for tile in op.operands:
            if tile.owner.attributes["row"].value == 0:
                found[op.symbol] = tile.owner.attributes["col"].value
    return found


def streams(device, count, direction="in", names=None):
    """`count` fifos between the host and one idle core each."""
    fifos = [
        ObjectFifo(TILE, name=(names or [f"f{i}" for i in range(count)])[i]) for i in range(count)
    ]
    ends = [f.cons() if direction == "in" else f.prod() for f in fifos]
    workers = [Worker(lambda x: None, [e]) for e in ends]

    def sequence(a):
        for f in fifos:
            if direction == "in":
                f.prod().fill(a)
            else:
                f.cons().drain(a, wait=True)

    return Program(device, Runtime(sequence, [WHOLE]), workers).resolve_program()


def test_cores_fill_columns_from_the_lowest_row():
    assert cores(d.NPU1Col2(), idle(5)) == [(0, 2), (0, 3), (0, 4), (0, 5), (1, 2)]


def test_named_tiles_are_kept_and_the_others_go_around_them():
    workers = [*idle(1), Worker(None, tile=Tile(0, 2)), Worker(None, tile=Tile(col=1)), *idle(1)]
    assert cores(d.NPU1Col2(), workers) == [(0, 3), (0, 2), (1, 2), (0, 4)]


def test_a_part_with_wishes_chooses_before_one_without():
    assert cores(d.NPU2Col1(), [*idle(1), Worker(None, tile=Tile(row=2))]) == [(0, 3), (0, 2)]


def test_two_cores_on_one_tile():
    workers = [Worker(None, tile=Tile(0, 3)), Worker(None, tile=Tile(0, 3))]
    with pytest.raises(PlacementError, match=r"tile \(0, 3\) of npu2 already has a core") as fault:
        cores(d.NPU2(), workers)
    for w in workers:
        assert f"{__file__}:{w.where.line}" in str(fault.value)
    shared = Tile(0, 2)
    with pytest.raises(PlacementError, match="already has a core"):
        cores(d.NPU2(), [Worker(None, tile=shared), Worker(None, tile=shared)])


def test_more_workers_than_tiles():
    with pytest.raises(PlacementError, match=r"npu2_1col has 4 \(1 columns\).*5 Workers"):
        cores(d.NPU2Col1(), idle(5))


@pytest.mark.parametrize("tile", [Tile(0, 1), Tile(0, 0), Tile(1, 2), Tile(0, 6)])
def test_a_tile_that_is_no_place_for_a_core(tile):
    with pytest.raises(PlacementError, match=r"npu2_1col|MemTile|Shim"):
        cores(d.NPU2Col1(), [Worker(None, tile=tile)])


def test_shims_lie_with_their_cores_while_channels_last():
    module = streams(d.NPU2(), 5)
    assert shim_columns(module) == {"f0": 0, "f1": 0, "f2": 1, "f3": 1, "f4": 1 + 1}
    assert shim_columns(streams(d.NPU2(), 5, "out")) == shim_columns(module)


def test_shims_look_left_when_the_right_is_full():
    fifos = [ObjectFifo(TILE, name=f"f{i}") for i in range(4)]
    workers = [Worker(lambda x: None, [f.cons()], tile=Tile(1, 2 + i)) for i, f in enumerate(fifos)]

    def sequence(a):
        for f in fifos:
            f.prod().fill(a)

    module = Program(d.NPU1Col2(), Runtime(sequence, [WHOLE]), workers).resolve_program()
    assert shim_columns(module) == {"f0": 1, "f1": 1, "f2": 0, "f3": 0}


def test_a_device_without_enough_channels_to_the_host():
    with pytest.raises(PlacementError, match="1 outgoing") as fault:
        streams(d.NPU2Col1(), 3)
    text = str(fault.value)
    assert "'f2'" in text
    assert "npu2_1col has 1, with 2 and 2 each" in text
    assert "(0, 0): 2 and 0 left" in text
    assert "used by the host's end of ObjectFifo 'f0'" in text
    assert __file__ in text


def test_a_core_with_too_many_streams():
    fifos = [ObjectFifo(TILE, name=f"f{i}") for i in range(3)]
    w = Worker(lambda *x: None, [f.cons() for f in fifos])

    def sequence(a):
        for f in fifos:
            f.prod().fill(a)

    with pytest.raises(PlacementError, match=r"needs 3 incoming .*has 2: 'f0'.*'f1'.*'f2'"):
        Program(d.NPU2(), Runtime(sequence, [WHOLE]), [w]).resolve_program()


def test_links_lie_with_the_cores_they_serve():
    fifo = ObjectFifo(TILE, name="f")
    on = fifo.cons().forward(name="g")
    w = Worker(lambda x: None, [on.cons()], tile=Tile(2, 3))
    rt = Runtime(lambda a: fifo.prod().fill(a), [WHOLE])
    module = Program(d.NPU1(), rt, [w]).resolve_program()
    assert tiles(module) == [(2, 3), (2, 0), (2, 1)]


def test_links_spread_when_a_memtile_is_full():
    """Memory and channels: two forwards of 256 KiB objects, twice deep, take a memtile each."""
    fifos = [ObjectFifo(BIG, name=f"f{i}", depth=2) for i in range(2)]
    outs = [f.cons().forward() for f in fifos]

    def sequence(a):
        for f, o in zip(fifos, outs, strict=True):
            f.prod().fill(a)
            o.cons().drain(a, wait=True)

    module = Program(d.NPU2(), Runtime(sequence, [BIG]), []).resolve_program()
    assert {c for c, r in tiles(module) if r == 1} == {0, 1}


def test_a_forward_through_a_core_tile():
    fifo = ObjectFifo(TILE, name="f")
    on = fifo.cons().forward(tile=AnyComputeTile)

    def sequence(a):
        fifo.prod().fill(a)
        on.cons().drain(a, wait=True)

    module = Program(d.NPU2(), Runtime(sequence, [WHOLE])).resolve_program()
    assert tiles(module) == [(0, 0), (0, 2)]


def test_shims_are_pinned_by_the_handle():
    fifo = ObjectFifo(TILE, name="f")
    w = Worker(lambda x: None, [fifo.cons()])
    rt = Runtime(lambda a, h: h.fill(a), [WHOLE, fifo.prod(tile=Tile(3, 0))])
    module = Program(d.NPU2(), rt, [w]).resolve_program()
    assert shim_columns(module) == {"f": 3}


def test_a_buffer_and_a_worker_share_a_tile_object():
    place = Tile(tile_type=AIETileType.CoreTile)
    b = Buffer(np.ndarray[(4,), np.dtype[np.int32]], name="b", tile=place)
    workers = [*idle(1), Worker(lambda x: None, [b], tile=place)]
    module = Program(d.NPU2(), Runtime(lambda: None), workers).resolve_program()
    owner = ops(module, "aie.buffer")[0].operands[0].owner
    assert (owner.attributes["col"].value, owner.attributes["row"].value) == (0, 3)


def test_a_reader_lies_next_to_a_pinned_buffer():
    b = Buffer(np.ndarray[(4,), np.dtype[np.int32]], name="b", tile=Tile(1, 3))
    workers = [Worker(lambda x: None, [b], tile=Tile(1, 3)), Worker(lambda x: None, [b])]
    assert cores(d.NPU2(), workers) == [(1, 3), (1, 2)]


def test_cascades_go_south_or_east():
    a, b, c, e = idle(4)
    CascadeFlow(a, b)
    CascadeFlow(b, c)
    assert cores(d.NPU2Col1(), [a, b, c, e]) == [(0, 4), (0, 3), (0, 2), (0, 5)]
    with pytest.raises(PlacementError, match="next to"):
        cores(d.NPU2Col1(), [Worker(None, tile=Tile(0, 5)), *ring(3)])


def ring(n):
    workers = idle(n)
    for i, w in enumerate(workers):
        CascadeFlow(w, workers[(i + 1) % n])
    return workers


def test_placement_does_not_depend_on_what_was_resolved_before():
    texts = {str(streams(d.NPU2(), 4)) for _ in range(3)}
    copy_program().resolve_program()
    texts.add(str(streams(d.NPU2(), 4)))
    assert len(texts) == 1


def test_tiles_are_told_apart_by_identity():
    a = Tile(0, 2)
    assert a == a
    assert a != Tile(0, 2)
    assert len({a, a.copy(), AnyComputeTile}) == 3
    copied = a.with_type(AIETileType.CoreTile)
    assert (copied.col, copied.row, copied.tile_type) == (0, 2, AIETileType.CoreTile)
    assert a.tile_type is None
    with pytest.raises(ValueError, match="CoreTile"):
        copied.with_type(AIETileType.MemTile)


@pytest.mark.parametrize("device", list(AIEDevice))
def test_every_device_has_a_class(device):
    made = getattr(d, d.class_name(device))()
    assert made.name == device.name
    assert made == from_mlir_name(device.name)
    kinds = [made.get_tile_type(c, r) for c in range(made.cols) for r in range(made.rows)]
    assert kinds.count(AIETileType.CoreTile) == len(list(made.tiles(AIETileType.CoreTile)))
    for c, r in ((made.cols, 0), (0, made.rows), (-1, 0)):
        with pytest.raises(ValueError, match="out of range"):
            made.get_tile_type(c, r)


def test_what_devices_have():
    npu = d.NPU2()
    assert (npu.cols, npu.rows, npu.arch) == (8, 6, d.AIEArch.AIE2p)
    assert (d.NPU1().cols, d.NPU1Col3().cols, d.NPU1().arch) == (4, 3, d.AIEArch.AIE2)
    core, mem = npu.resources(AIETileType.CoreTile), npu.resources(AIETileType.MemTile)
    assert (core.dma_in, core.dma_out, core.bds, core.locks, core.memory) == (2, 2, 16, 16, 65536)
    assert (mem.dma_in, mem.dma_out, mem.bds, mem.locks, mem.memory) == (6, 6, 48, 64, 524288)
    assert npu != d.NPU2Col1()
    assert hash(npu) == hash(d.NPU2())


@pytest.mark.parametrize(
    ("name", "n_cols", "expected"),
    [
        ("npu", 1, "npu1_1col"),
        ("NPU1", 3, "npu1_3col"),
        ("npu1", 4, "npu1"),
        ("npu2", None, "npu2"),
        ("npu2", 7, "npu2_7col"),
        ("xcvc1902", 1, "xcvc1902"),
    ],
)
def test_devices_by_name(name, n_cols, expected):
    assert from_name(name, n_cols=n_cols).name == expected


def test_devices_that_do_not_exist():
    with pytest.raises(ValueError, match="Unknown device name 'npu3'"):
        from_name("npu3")
    for n in (0, 5):
        with pytest.raises(ValueError, match=r"1\.\.4"):
            from_name("npu1", n_cols=n)
    assert t.IntegerType(32) == t.I32
