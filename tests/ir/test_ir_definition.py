"""The tables: rows, enums, defaults, and the named parts of an operation."""

from __future__ import annotations

import pytest

from iron import ir
from iron.ir.definition import OpDefinition, operand_slice, read_parts, result_slice, segment_sizes
from iron.ir.dialects import enums, lookup
from iron.ir.spelling import compile_format


def values(count: int) -> list[ir.Value]:
    return [ir.Value(ir.I32, f"v{k}") for k in range(count)]


def test_lookup() -> None:
    definition = lookup("aie.dma_start")
    assert definition is not None
    assert definition.is_terminator
    assert [p.name for p in definition.successors] == ["dest", "chain"]
    assert definition.attributes["repeat_count"].default == "0"
    assert lookup("aie.nothing") is None
    assert lookup("nothing.at_all") is None
    assert lookup("aie.device") is lookup("aie.device")


@pytest.mark.parametrize(
    ("enum", "word", "number"),
    [
        ("DMAChannelDir", "S2MM", 0),
        ("DMAChannelDir", "MM2S", 1),
        ("LockAction", "Acquire", 0),
        ("LockAction", "Release", 1),
        ("LockAction", "AcquireGreaterEqual", 2),
        ("ObjectFifoPort", "Consume", 1),
        ("WireBundle", "DMA", 1),
        ("WireBundle", "TileControl", 10),
        ("AIEDevice", "npu1", 4),
        ("AIEDevice", "npu1_1col", 5),
        ("AIEDevice", "npu2", 8),
        ("AIEDevice", "npu2_7col", 15),
        ("CmpIPredicate", "uge", 9),
        ("CmpFPredicate", "true", 15),
        ("CmpFPredicate", "one", 6),
        ("TraceMode", "Event-Time", 0),
        ("TracePacketType", "memtile", 3),
    ],
)
def test_numbers_of_keywords(enum: str, word: str, number: int) -> None:
    assert enums.number(enum, word) == number
    assert enums.members(enum)[number] == word


def test_parts() -> None:
    parts = read_parts(
        "a:index b:i32>=1? c:i8{0..5} d:bool=true e:dense:i64? f:=a g:elem(a)* h:x|y"
    )
    assert [(p.name, p.kind, p.arity, p.default, p.low, p.high) for p in parts] == [
        ("a", "index", "", None, None, None),
        ("b", "i32", "?", None, 1, None),
        ("c", "i8", "", None, 0, 5),
        ("d", "bool", "", "true", None, None),
        ("e", "dense:i64", "?", None, None, None),
        ("f", "=a", "", None, None, None),
        ("g", "elem(a)", "*", None, None, None),
        ("h", "x|y", "", None, None, None),
    ]
    assert [p.optional for p in parts[:4]] == [False, True, False, True]


@pytest.mark.parametrize(
    ("name", "count", "segments", "sizes"),
    [
        ("aie.use_lock", 1, None, (1, 0)),
        ("aie.use_lock", 2, None, (1, 1)),
        ("aie.dma_bd", 1, None, (1, 0, 0, 0, 0)),
        ("aie.dma_bd", 3, (1, 0, 0, 1, 1), (1, 0, 0, 1, 1)),
        ("aie.objectfifo", 4, None, (1, 3)),
        ("aiex.npu.sync", 0, None, (0,) * 6),
        ("aiex.npu.sync", 6, None, (1,) * 6),
        ("aiex.npu.address_patch", 0, None, (0, 0)),
        ("aiex.npu.address_patch", 1, None, (0, 1)),
        ("aiex.npu.address_patch", 2, None, (1, 1)),
        ("aiex.dma_start_bd_chain", 3, None, (2, 1)),
        ("memref.store", 4, None, (1, 1, 2)),
    ],
)
def test_operands_find_their_names(
    name: str, count: int, segments: tuple[int, ...] | None, sizes: tuple[int, ...]
) -> None:
    op = ir.Operation(name, values(count), segments=segments)
    assert segment_sizes(op) == sizes
    definition = op.definition
    assert definition is not None
    start = 0
    for part, size in zip(definition.operands, sizes, strict=True):
        assert operand_slice(op, part.name) == slice(start, start + size)
        assert op.group(part.name) == op.operands[start : start + size]
        start += size


def test_operands_that_cannot_be_told_apart() -> None:
    with pytest.raises(ValueError, match="needs segments"):
        ir.Operation("aie.dma_bd", values(2)).group("len")
    with pytest.raises(ValueError, match="takes 1 operands, it has 2"):
        ir.Operation("aie.lock", values(2)).group("tile")
    with pytest.raises(KeyError, match="not registered"):
        ir.Operation("test.op", values(1)).group("x")
    with pytest.raises(ValueError, match="2 operands 'consumerTiles'"):
        ir.Operation("aie.objectfifo", values(3)).operand("consumerTiles")


def test_results_find_their_names() -> None:
    op = ir.Operation("arith.mulsi_extended", values(2), [ir.I32, ir.I32])
    assert result_slice(op, "high") == slice(1, 2)
    loop = ir.Operation("scf.for", values(5), [ir.I32, ir.I32])
    assert result_slice(loop, "results") == slice(0, 2)
    with pytest.raises(KeyError, match="no result 'sum'"):
        result_slice(op, "sum")


@pytest.mark.parametrize("text", ["[? %a", "%a ?]", "%a 1"])
def test_a_malformed_format_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"test\.op"):
        compile_format(OpDefinition("test.op", text, operands="a:i32"))


def test_importing_costs_no_parser() -> None:
    import subprocess
    import sys

    script = (
        "import sys, iron.ir; iron.ir.Builder; "
        "print(*sorted(m for m in sys.modules if m.startswith('iron.ir.')))"
    )
    out = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    ).stdout.split()
    assert out == [f"iron.ir.{m}" for m in ("attributes", "builder", "core", "types")]
