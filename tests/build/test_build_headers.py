"""The compiler's own headers are inputs: an upgrade of them is seen, as far as it matters."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest
from build_workshop import CXX, Workshop, settle

from iron.build import ProgramTool, Session, headers
from iron.build import digests as digests_module
from iron.build.identity import find_program


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file written by now is old enough to be believed by its stat."""
    then = time.time_ns() + 3600 * 10**9
    monkeypatch.setattr(digests_module.time, "time_ns", lambda: then)


@pytest.fixture
def tool(w: Workshop) -> ProgramTool:
    """A compiler with two header directories more of its own."""
    one, two = w.root / "sys one", w.root / "sys two"
    one.mkdir()
    two.mkdir()
    (two / "outer.h").write_text('#include <inner.h>\n#include "deep/near.h"\n')
    (two / "inner.h").write_text("#define INNER 1\n")
    (two / "deep").mkdir()
    (two / "deep" / "near.h").write_text("#define NEAR 1\n")
    (two / "named.h").write_text("#define BY_MACRO <hidden.h>\n#include BY_MACRO\n")
    (two / "hidden.h").write_text("#define HIDDEN 1\n")
    script = w.root / "c++"
    script.write_text(
        f'#!/bin/sh\nexec {find_program(CXX)} -isystem "{one}" -isystem "{two}" "$@"\n'
    )
    script.chmod(0o755)
    for path in (script, *one.rglob("*"), *two.rglob("*"), one, two):
        settle(path)
    w.write("k.cc", "#include <outer.h>\nint k() { return INNER + NEAR; }\n")
    w.write("m.cc", "#include <named.h>\nint k() { return HIDDEN; }\n")
    return ProgramTool(script)


def as_another_process() -> None:
    """What this process knows of headers is only on disk from now on."""
    headers._tables.clear()


def compiled(w: Workshop, tool: Any, name: str = "k.cc") -> int:
    return w.counted(w.object(name, tool=tool))[1]


@pytest.mark.parametrize("name", ["inner.h", "deep/near.h"])
def test_an_upgrade_of_a_system_header_is_seen_and_its_undoing_hits(
    w: Workshop, tool: Any, name: str
) -> None:
    assert compiled(w, tool) == 1
    assert compiled(w, tool) == 0
    header = w.root / "sys two" / name
    before = header.read_text()
    replacement = header.with_name("new")
    replacement.write_text(before.replace("1", "2"))
    replacement.replace(header)
    assert compiled(w, tool) == 1
    assert compiled(w, tool) == 0
    header.write_text(before)
    assert compiled(w, tool) == 0


def test_a_session_at_work_sees_a_package_managers_rename(
    w: Workshop, tool: Any, later: None
) -> None:
    session = Session(w.store)
    recipe = w.object("k.cc", tool=tool)
    first = session.build(recipe)[0]
    new = w.root / "sys two" / "inner.h.dpkg-new"
    new.write_text("#define INNER 2\n")
    new.replace(w.root / "sys two" / "inner.h")
    assert session.build(recipe)[0].key != first.key


def test_a_system_header_newly_in_front_of_another_is_seen(w: Workshop, tool: Any) -> None:
    assert compiled(w, tool) == 1
    (w.root / "sys one" / "inner.h").write_text("#define INNER 3\n")
    assert compiled(w, tool) == 1
    os.unlink(w.root / "sys one" / "inner.h")
    assert compiled(w, tool) == 0


def test_other_system_headers_do_not_matter(w: Workshop, tool: Any) -> None:
    assert compiled(w, tool) == 1
    (w.root / "sys two" / "hidden.h").write_text("#define HIDDEN 2\n")
    (w.root / "sys two" / "unheard_of.h").write_text("")
    assert compiled(w, tool) == 0


def test_a_system_header_named_by_a_macro_is_found_by_the_dependency_file(
    w: Workshop, tool: Any
) -> None:
    assert compiled(w, tool, "m.cc") == 2  # the first one shows the surprise
    assert compiled(w, tool, "m.cc") == 0
    (w.root / "sys two" / "hidden.h").write_text("#define HIDDEN 2\n")
    assert compiled(w, tool, "m.cc") == 1
    assert compiled(w, tool, "m.cc") == 0


def test_another_process_reads_no_header_again(
    w: Workshop, tool: Any, monkeypatch: pytest.MonkeyPatch, later: None
) -> None:
    assert compiled(w, tool) == 1
    monkeypatch.setattr(headers, "parse", lambda data: pytest.fail("a header was scanned again"))
    assert compiled(w, tool) == 0
    as_another_process()
    assert compiled(w, tool) == 0


def test_another_store_is_given_what_the_process_knows(
    w: Workshop, tool: Any, monkeypatch: pytest.MonkeyPatch, later: None
) -> None:
    assert compiled(w, tool) == 1
    w.store = w.root / "another store"
    monkeypatch.setattr(headers, "parse", lambda data: pytest.fail("a header was scanned again"))
    assert compiled(w, tool) == 1
    as_another_process()
    assert compiled(w, tool) == 0


def test_a_new_session_looks_at_every_header(w: Workshop, tool: Any, later: None) -> None:
    assert compiled(w, tool) == 1
    (w.root / "sys two" / "inner.h").write_text("#define INNER 2\n")  # directories stay as they are
    assert compiled(w, tool) == 1


def test_a_fork_in_the_middle_of_a_look_leaves_nothing_half_known(
    w: Workshop, tool: Any, later: None
) -> None:
    assert compiled(w, tool) == 1
    with headers._looking:
        child = os.fork()
        if not child:
            os._exit(3 if headers._tables or headers._looking.locked() else 0)
    assert os.waitpid(child, 0)[1] == 0
    assert headers._tables


def test_a_garbled_memo_is_no_memo(w: Workshop, tool: Any, later: None) -> None:
    assert compiled(w, tool) == 1
    memo = next((w.store / "headers").iterdir())
    text = memo.read_text()
    memo.write_text(text.replace("inner.h", "other.h"))
    as_another_process()
    assert compiled(w, tool) == 0
    memo.write_text(text[: len(text) // 2])
    as_another_process()
    assert compiled(w, tool) == 0
