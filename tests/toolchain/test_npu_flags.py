"""Flags of mlir-aie's own driver, and the pipelines they change."""

import pytest

from iron.toolchain.flags import Asked, read_flags
from iron.toolchain.outline import PlanError
from iron.toolchain.packaging import Kernel
from iron.toolchain.pipelines import AUGUST_2026, GENERATIONS, MARCH_2026, Placing

FLAGS = (
    "--alloc-scheme=bank-aware", "--dynamic-objFifos", "--packet-sw-objFifos=false",
    "--xclbin-kernel-name=K", "--xclbin-instance-name=I", "--xclbin-kernel-id=2306",
    "--xclbin-input=base.xclbin", "--device-name=one", "--sequence-name=first",
    "--sequence-name=second", "--verbose", "-j8", "--progress",
)  # fmt: skip


def test_flags_say_what_they_ask_for():
    assert read_flags(FLAGS) == Asked(
        Placing("bank-aware", True, False), Kernel("K", "I", "0x902"), "base.xclbin", "one",
        ("first", "second"), (),
    )  # fmt: skip
    assert read_flags([]) == Asked()


def test_what_no_step_knows_is_kept_for_aiecc():
    asked = read_flags(["--expand-load-pdis", "--alloc-scheme=x", "positional", "--unified"])
    assert asked.unknown == ("--expand-load-pdis", "positional", "--unified")
    assert asked.placing.alloc_scheme == "x"


def test_aiecc_is_told_the_same_again():
    again = read_flags(read_flags(FLAGS).flags("base.xclbin"))
    # Which device and sequences are meant is said in other words.
    assert again.over(("first", "second"), "one", "") == read_flags(FLAGS)
    assert Asked().flags() == ()


@pytest.mark.parametrize("flag", ["--dynamic-objFifos=perhaps", "--xclbin-kernel-id=many"])
def test_a_value_that_cannot_be_is_told(flag):
    with pytest.raises(PlanError, match=flag.partition("=")[2]):
        read_flags([flag])


def test_choices_are_words_of_the_pipeline():
    usual = MARCH_2026.placing("aie2", Placing())
    assert "aie-assign-buffer-addresses," in usual
    assert "{dynamic-objFifos=0 packet-sw-objFifos=0}" in usual
    chosen = MARCH_2026.placing("aie2", Placing("bank-aware", True, True))
    assert "aie-assign-buffer-addresses{alloc-scheme=bank-aware}," in chosen
    assert "{dynamic-objFifos=1 packet-sw-objFifos=1}" in chosen
    newer = AUGUST_2026.placing("aie2p", Placing())
    assert "{packet-sw-objFifos=false}" in newer
    assert "aie-objectFifo-unroll{default-dynamic=true}" in newer  # its driver's default
    assert "{aie-target=aie2p}" in newer
    static = AUGUST_2026.placing("aie2p", Placing(dynamic_fifos=False))
    assert "aie-objectFifo-unroll{default-dynamic=false}" in static


@pytest.mark.parametrize("generation", GENERATIONS.values(), ids=lambda g: g.name)
def test_pipelines_are_well_formed(generation):
    made = [
        generation.placing("aie2", Placing("x")),
        generation.route,
        generation.lower_core.format(device="main", column=0, row=2, target="aie2"),
        generation.lower_sequence,
        generation.transaction.format(device="main", elfs="."),
    ]
    for pipeline in made:
        assert pipeline.startswith("builtin.module(")
        assert pipeline.endswith(")")
        assert pipeline.count("(") == pipeline.count(")")
        assert pipeline.count("{") == pipeline.count("}")
        assert "{{" not in pipeline
    assert ("include-min-max-f=true" in made[2]) == (generation is AUGUST_2026)
