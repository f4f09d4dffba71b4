"""Text to module to text, in both forms, for everything the tables know."""

from __future__ import annotations

import re

import pytest
from ir_texts import TEXTS

from iron import ir
from iron.ir.dialects import TABLES, table


@pytest.mark.parametrize("name", TEXTS)
def test_custom_text_reads_back_as_the_same_module(name: str) -> None:
    module = ir.parse(TEXTS[name], name)
    text = ir.print_module(module)
    again = ir.parse(text, "printed")
    assert ir.equivalent(module, again)
    assert ir.print_module(again) == text


@pytest.mark.parametrize("name", TEXTS)
def test_generic_text_reads_back_as_the_same_module(name: str) -> None:
    module = ir.parse(TEXTS[name], name)
    text = ir.print_module(module, generic=True)
    again = ir.parse(text, "generic")
    assert ir.equivalent(module, again)
    assert ir.print_module(again) == ir.print_module(module)
    assert ir.print_module(again, generic=True) == text
    generic = re.findall(r'^ *(?:%[^"=]*= )?"([\w.]+)"\(', text, re.MULTILINE)
    assert generic == [op.name for op in again.walk()]


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_right_verifies(name: str) -> None:
    module = ir.parse(TEXTS[name], name)
    if name == "older routes":
        for op in list(module.walk()):
            if op.name == "aiex.cert.uc_dma_bd":
                op.detach()
    ir.verify(module)
    ir.verify(ir.parse(ir.print_module(module, generic=True)))


@pytest.mark.parametrize("name", TEXTS)
def test_locations_travel_with_the_text(name: str) -> None:
    module = ir.parse(TEXTS[name], "some/file.mlir")
    again = ir.parse(ir.print_module(module, locations=True), "other")
    implied = ("aie.end", "scf.yield", "scf.reduce", "affine.yield")
    ours = [op.location for op in module.walk() if op.name not in implied]
    theirs = [op.location for op in again.walk() if op.name not in implied]
    assert ours == theirs
    assert any(where.file == "some/file.mlir" and where.line > 1 for where in theirs)


@pytest.mark.parametrize("dialect", TABLES)
def test_every_row_of_a_table_compiles(dialect: str) -> None:
    for definition in table(dialect).values():
        assert definition.elements is not None
        names = [p.name for p in (*definition.operands, *definition.results)]
        assert len(names) == len(set(names)), definition.name
        for parent in definition.parents:
            assert parent in table(parent.partition(".")[0]) or parent.startswith("affine."), parent


def test_the_texts_meet_most_of_the_aie_tables() -> None:
    met = {op.name for text in TEXTS.values() for op in ir.parse(text).walk()}
    missing = {n for d in ("aie", "aiex") for n in table(d)} - met
    assert missing == {
        "aie.objectfifo.register_external_buffers",
        "aie.objectfifo_rearm_binding",
        "aiex.dma_channel_reset_for",
        "aiex.npu.assert_bd_divisible",
        "aiex.npu.writebd",
        "aiex.cert.maskwrite32",
        "aiex.cert.apply_offset_57",
        "aiex.cert.uc_dma_write_des_sync",
        "aiex.cert.local_barrier",
        "aiex.cert.remote_barrier",
        "aiex.cert.preempt",
        "aiex.cert.load_pdi",
    }
