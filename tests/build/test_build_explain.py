"""`iron explain`: the first input that differs, old and new, as it was decided then."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from build_workshop import Workshop

from iron.build import BuildError, ProgramTool, Recipe, Session
from iron.build.explain import Unexplained, explain


def kernel(w: Workshop, *flags: str, **more: Any) -> Recipe:
    return w.object("k.cc", *flags, include=["inc"], label="scale", where="design.py:7", **more)


def why(w: Workshop, target: str = "scale") -> str:
    return explain(Session(w.store).store, target)


@pytest.fixture
def built(w: Workshop) -> Workshop:
    w.write("k.cc", '#include "a.h"\nint k() { return A; }\n')
    w.write("inc/a.h", "#define A 1\n")
    w.build(kernel(w, "-O1", "-DX=1", "-DX=2"))
    return w


def test_the_first_time_says_so(built: Workshop) -> None:
    text = why(built)
    assert "scale (kernel-object): made in" in text
    assert "for the first time in this store" in text
    assert "declared at design.py:7" in text


def test_a_header_is_named_with_its_contents_before_and_after(built: Workshop) -> None:
    header = built.write("inc/a.h", "#define A 2\n")
    built.build(kernel(built, "-O1", "-DX=1", "-DX=2"))
    text = why(built)
    assert "made in" in text
    assert f"    {header}: contents " in text
    assert " -> contents " in text


def test_a_new_header_in_front_is_named(built: Workshop) -> None:
    header = built.write("a.h", "#define A 3\n")
    built.build(kernel(built, "-O1", "-DX=1", "-DX=2"))
    assert f"    {header}: was not an input -> contents " in why(built)


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (("-O2", "-DX=1", "-DX=2"), "command: -O1 -> -O2"),
        (("-O1", "-DX=2", "-DX=1"), "command: another order -> this order"),
    ],
)
def test_a_flag_is_named(built: Workshop, flags: tuple[str, ...], text: str) -> None:
    built.build(kernel(built, *flags))
    assert text in why(built)


def test_a_tool_is_named(built: Workshop) -> None:
    tool = ProgramTool(built.cxx.program, identity_extra=("newer",))
    built.build(kernel(built, "-O1", "-DX=1", "-DX=2", tool=tool))
    assert f"    tool {tool.name}: " in why(built)


def test_a_hit_after_going_back_says_what_went_back(built: Workshop) -> None:
    header = built.write("inc/a.h", "#define A 2\n")
    built.build(kernel(built, "-O1", "-DX=1", "-DX=2"))
    built.write("inc/a.h", "#define A 1\n")
    built.build(kernel(built, "-O1", "-DX=1", "-DX=2"))
    text = why(built)
    assert "found, nothing ran" in text
    assert f"{header}: contents " in text


def test_a_plain_hit_still_tells_why_it_was_made(built: Workshop) -> None:
    header = built.write("inc/a.h", "#define A 2\n")
    for _ in range(2):
        built.build(kernel(built, "-O1", "-DX=1", "-DX=2"))
    text = why(built)
    assert "found, nothing ran" in text
    assert "every input is as it was" in text
    assert f"{header}: contents " in text


def test_a_failure_is_a_decision_too(built: Workshop) -> None:
    built.write("k.cc", "int k() { return x; }\n")
    with pytest.raises(BuildError):
        built.build(kernel(built, "-O1", "-DX=1", "-DX=2"))
    text = why(built, "last")
    assert "failed" in text
    assert f"{built.src / 'k.cc'}: contents" in text


def test_a_link_leads_to_the_source_that_changed(w: Workshop) -> None:
    source = w.write("k.cc", "int k() { return 1; }\n")
    one = w.object("k.cc", "-fPIC", label="scale")
    w.build(w.shared(one, label="the library"))
    w.write("k.cc", "int k() { return 2; }\n")
    w.build(w.shared(w.object("k.cc", "-fPIC", label="scale"), label="the library"))
    text = why(w, "the library")
    assert "which is so because of" in text
    assert f"{source}: contents " in text


def test_a_target_may_be_a_path_a_key_or_the_last(built: Workshop) -> None:
    result = built.build(kernel(built, "-O1", "-DX=1", "-DX=2"))[0]
    for target in ("last", result.key[:12], str(built.src / "inc/a.h"), "scale"):
        assert why(built, target).startswith("scale (kernel-object)")


def test_what_is_not_known_lists_what_is(built: Workshop) -> None:
    with pytest.raises(Unexplained, match="there are: scale"):
        why(built, "unheard-of")


def test_the_record_is_written_once_for_hits_of_one_process(built: Workshop) -> None:
    session = Session(built.store)
    journal = built.store / "decisions" / "journal"
    session.build(kernel(built, "-O1", "-DX=1", "-DX=2"))
    before = journal.read_bytes()
    for _ in range(20):
        session.build(kernel(built, "-O1", "-DX=1", "-DX=2"))
    assert journal.read_bytes() == before


def test_nothing_of_a_build_depends_on_the_record(built: Workshop) -> None:
    decisions = built.store / "decisions"
    for path in decisions.iterdir():
        path.write_bytes(b"\xff\x00garbage\n" * 3)
    assert built.build(kernel(built, "-O1", "-DX=1", "-DX=2"))
    assert why(built, "last").startswith("scale")


def test_the_command_explains_after_the_fact(built: Workshop) -> None:
    def iron(*arguments: str) -> Any:
        command = [sys.executable, "-m", "iron", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert "scale (kernel-object): made" in iron("explain", "scale").stdout
    missing = iron("explain", "nothing")
    assert missing.returncode == 1
    assert missing.stderr.startswith("iron: no decision about 'nothing'")
    assert "1 results" in iron("cache", "stats").stdout
    assert "everything is whole" in iron("cache", "verify").stdout
    assert "took 0 results" in iron("cache", "gc").stdout
    assert iron("cache", "path").stdout.strip() == str(built.store)


def test_a_design_leads_to_the_value_it_was_generated_with(w: Workshop) -> None:
    w.write("k.cc", "int k() { return 1; }\n")
    for tile in (16, 32):
        session = Session(w.store)
        parts = ["1", f"N=int:{tile}"]
        names = ("form", "values")
        session.recall("generation", parts, label="mm", names=names)
        session.keep("generation", parts, {"a.mlir": f"{tile}"}, label="mm", names=names)
        recipe = w.object("k.cc", label="k.cc")
        session.composite(
            "package",
            [f"use {tile}", recipe],
            lambda made=recipe: made,
            label="mm",
            names=("MLIR",),
        )
    text = why(w, "mm")
    assert "MLIR: use 16 -> use 32" in text
    assert "values: N=int:16 -> N=int:32" in text
