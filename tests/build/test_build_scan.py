"""The include scanner sees at least what a compiler reads, and every change of a resolution."""

import os
import subprocess
from pathlib import Path

import pytest
from build_workshop import CXX
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iron.build.cover import extras
from iron.build.depfile import prerequisites
from iron.build.digests import Digests, View
from iron.build.scan import Parses, Source, closure, parse


def scan(source: Path, *directories: Path):
    view = View(Digests())
    root = Source(str(source), view.digest(str(source)), "./source.cc")
    return closure(view, Parses(), [root], [str(d) for d in directories], os.path.basename)


def names(source: Path, *directories: Path):
    return [os.path.relpath(f.path, source.parent) for f in scan(source, *directories).files[1:]]


@pytest.mark.parametrize(
    ("text", "form", "name"),
    [
        ('#include "a.h"', '"', "a.h"),
        ("  #  include <a/b.h>", "<", "a/b.h"),
        ('/* x */ # /* y */ include /* z */ "a.h"', '"', "a.h"),
        ('#inc\\\nlude \\\n "a.h"', '"', "a.h"),
        ('%:include "a.h"', '"', "a.h"),
        ("#include MACRO(x)", "?", "MACRO(x)"),
        ('#import "a.h"', '"', "a.h"),
        ('#embed "w.bin" limit(4)', '"', "w.bin"),
        ('#if __has_include("a.h")', '"', "a.h"),
        ("#if defined(X) && __has_include ( <a.h> )", "<", "a.h"),
        ("#if __has_include(NAME)", "?", "NAME"),
    ],
)
def test_directives_are_recognised(text, form, name):
    found = parse(f"int x;\n{text}\n".encode()).directives
    assert [(d.form, d.name) for d in found] == [(form, name)]


@pytest.mark.parametrize(
    "text", ["#include_nothing", "int include;", "x #include", "#error include"]
)
def test_what_is_no_directive_is_not(text):
    assert parse(text.encode()).directives == ()


def test_quote_looks_beside_the_includer_first_and_angle_does_not(tmp_path):
    inc = tmp_path / "inc"
    inc.mkdir()
    (inc / "a.h").write_text("")
    (tmp_path / "a.h").write_text("")
    source = tmp_path / "s.cc"
    source.write_text('#include "a.h"\n')
    assert names(source, inc) == ["a.h"]
    source.write_text("#include <a.h>\n")
    assert names(source, inc) == ["inc/a.h"]


def test_include_next_counts_every_candidate(tmp_path):
    for d in "ij":
        (tmp_path / d).mkdir()
        (tmp_path / d / "a.h").write_text("#include_next <a.h>\n")
    source = tmp_path / "s.cc"
    source.write_text("#include <a.h>\n")
    assert set(names(source, tmp_path / "i", tmp_path / "j")) == {"i/a.h", "j/a.h"}


def test_a_header_that_names_itself_by_a_longer_and_longer_path_ends(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "x.h").write_text('#pragma once\n#include "../d/x.h"\n')
    source = tmp_path / "s.cc"
    source.write_text('#include "d/x.h"\n')
    assert len(scan(source).files) <= 3


def test_a_swap_of_two_resolutions_is_a_change(tmp_path):
    """Same files, same texts; only which directive finds which differs."""
    for d, text in (("i", "1"), ("j", "2")):
        (tmp_path / d).mkdir()
        (tmp_path / d / f"{text}.h").write_text(text)
    source = tmp_path / "s.cc"
    source.write_text("#include <1.h>\n#include <2.h>\n")
    before = scan(source, tmp_path / "i", tmp_path / "j")
    (tmp_path / "i" / "1.h").unlink()
    after = scan(source, tmp_path / "i", tmp_path / "j")
    assert before.resolved == [1, -1, 2, -1]
    assert after.resolved == [-1, 1, -1]


def test_opaque_names_and_incbin_are_reported(tmp_path):
    source = tmp_path / "s.cc"
    source.write_text('#include HDR\nasm(".incbin \\"/nowhere/x.bin\\"");\n// .incbin in words\n')
    found = scan(source)
    assert [macro for _, macro in found.opaque] == ["HDR"]
    assert found.unknown_incbin == [str(source)]


@pytest.mark.parametrize("name", ["a b.h", "ä.h", "d$.h", "h#.h", "q'.h", "p%.h", "b\\.h", "c:d.h"])
def test_depfiles_name_odd_files_as_they_are(tmp_path, name):
    (tmp_path / name).write_text("")
    (tmp_path / "s.cc").write_text(f'#include "{name}"\n')
    done = subprocess.run(
        [CXX, "-M", "-MT", "result", str(tmp_path / "s.cc")], capture_output=True, check=True
    )
    read = [p for p in prerequisites(os.fsdecode(done.stdout)) if p.startswith(str(tmp_path))]
    assert len(read) == 2
    assert extras(read, [str(tmp_path / "s.cc"), str(tmp_path / name)]) == []
    if "\\" not in name:  # which Clang writes as a slash
        assert str(tmp_path / name) in read


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_the_scanner_covers_what_the_compiler_reads(tmp_path_factory, data):
    root = tmp_path_factory.mktemp("tree")
    places = ["", "i/", "j/", "i/sub/"]
    files = {p + n for p in places for n in ("a.h", "b.h", "c.h") if data.draw(st.booleans())}
    spelled = st.sampled_from(["a.h", "b.h", "c.h", "sub/a.h", "../b.h", "i/c.h", "../i/sub/b.h"])
    line = st.builds(
        lambda form, name: (
            f"#if __has_include({form.format(name)})\n#include {form.format(name)}\n#endif\n"
        ),
        st.sampled_from(["<{}>", '"{}"']),
        spelled,
    )
    for d in ("i", "j", "i/sub"):
        (root / d).mkdir(parents=True, exist_ok=True)
    for f in files:
        (root / f).write_text("#pragma once\n" + "".join(data.draw(st.lists(line, max_size=3))))
    source = root / "s.cc"
    source.write_text("".join(data.draw(st.lists(line, min_size=1, max_size=4))))
    done = subprocess.run(
        [CXX, f"-I{root}/i", f"-I{root}/j", "-M", "-MT", "result", str(source)],
        capture_output=True,
        text=True,
        check=True,
    )
    read = {os.path.realpath(p) for p in prerequisites(done.stdout) if p.startswith(str(root))}
    seen = {os.path.realpath(f.path) for f in scan(source, root / "i", root / "j").files}
    assert read <= seen
