"""A compiler launcher runs the compiles, and is in no key."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from build_workshop import Workshop

from iron.build import BuildError, In, Out, ProgramTool, Recipe, ToolDir


@pytest.fixture
def launcher(w: Workshop) -> Path:
    path = w.root / "my cache" / "ccache"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\necho "$CCACHE_DIR $HOME $*" >> {w.root}/launched\nexec "$@"\n')
    path.chmod(0o755)
    return path


def launched(w: Workshop) -> list[str]:
    path = w.root / "launched"
    return path.read_text().splitlines() if path.exists() else []


def test_a_launcher_runs_compiles_and_disturbs_no_key(
    w: Workshop, monkeypatch: pytest.MonkeyPatch, launcher: Path
) -> None:
    w.write("k.cc", "int f() { return 1; }\n")
    recipe = w.shared(w.object("k.cc", "-fPIC"))
    monkeypatch.setenv("IRON_CXX_LAUNCHER", f"'{launcher}'")
    monkeypatch.setenv("CCACHE_DIR", "/its/own")
    _, ran = w.counted(recipe)
    assert ran == 2
    lines = launched(w)
    assert len(lines) == 1, "a link is none of its business"
    assert lines[0].startswith(f"/its/own {os.environ['HOME']} {w.cxx.path} ")
    monkeypatch.delenv("IRON_CXX_LAUNCHER")
    assert w.counted(recipe)[1] == 0


def test_long_commands_reach_the_compiler_behind_a_launcher(
    w: Workshop, monkeypatch: pytest.MonkeyPatch, launcher: Path
) -> None:
    w.write("k.cc", "int f() { return LAST; }\n")
    monkeypatch.setenv("IRON_CXX_LAUNCHER", f"'{launcher}'")
    flags = [f"-DA{n:05}=some_long_and_useless_value_{n}" for n in range(2600)]
    w.build(w.object("k.cc", *flags, "-DLAST=7"))
    assert "@" in launched(w)[0]


def test_a_launcher_that_is_not_there_is_told(w: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    w.write("k.cc", "int f() { return 1; }\n")
    monkeypatch.setenv("IRON_CXX_LAUNCHER", "no-such-cache --fast")
    with pytest.raises(BuildError, match="IRON_CXX_LAUNCHER=no-such-cache --fast: no program"):
        w.build(w.object("k.cc"))


def test_a_tools_own_cache_lives_in_the_store_and_in_no_key(w: Workshop) -> None:
    path = w.root / "cached"
    path.write_text('#!/bin/sh\necho x >> "$ITS_CACHE/uses"\ncp "$1" "$2"\n')
    path.chmod(0o755)
    for number in range(2):
        source = w.write(f"in{number}", str(number))
        w.build(
            Recipe(
                "step", ProgramTool(path), (In(0), Out("o")), (source,), ("o",),
                env=(("ITS_CACHE", ToolDir("its")),),
            )
        )  # fmt: skip
    assert (w.store / "private" / "its" / "uses").read_text() == "x\nx\n"
