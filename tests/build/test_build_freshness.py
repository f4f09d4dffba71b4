"""No stale result: every kind of edit is seen, each by exactly the commands it needs."""

import ctypes
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from build_workshop import CXX, settle

from iron.build import BuildError, In, Out, ProgramTool, Recipe, Ref, Session, Text
from iron.build.cover import AnswerMemo
from iron.build.digests import RACY_NS, Digests


def value(result) -> int:
    """What f() of a shared library returns, asked in a process of its own."""
    code = "import ctypes,sys; print(ctypes.CDLL(sys.argv[1]).f())"
    python = shutil.which("python3")
    return int(subprocess.check_output([python, "-c", code, result.path()]))


def dso(w, *flags, source="k.cc", include=(), **more):
    return Recipe(
        "kernel-object",
        w.cxx,
        (*flags, *w.object(source, include=include).argv[:1], "-shared", "-fPIC", In(0), "-o",
         Out("k.so")),
        (str(w.src / source),),
        ("k.so",),
        include_dirs=tuple(str(w.src / d) for d in include),
        scan=True,
        **more,
    )  # fmt: skip


def f(expression: str, *lines: str) -> str:
    return "\n".join(lines) + f'\nextern "C" int f() {{ return {expression}; }}\n'


def test_nothing_changed_runs_nothing(w):
    w.write("k.cc", f("1"))
    assert w.counted(w.object("k.cc"))[1] == 1
    for _ in range(2):
        assert w.counted(w.object("k.cc"))[1] == 0
    hits = w.events("hit")
    assert [h["kind"] for h in hits] == ["kernel-object"] * 2
    assert hits[0]["key"] == w.events("run")[0]["key"]


def test_source_and_header_edits_each_cost_one_compile(w):
    w.write("inc/deep/n.h", "#define N 1\n")
    w.write("inc/h.h", '#include "deep/n.h"\n')
    w.write("k.cc", f("N", "#include <h.h>"))
    session = Session(w.store)
    recipe = dso(w, include=["inc"])
    assert value(session.build(recipe)[0]) == 1
    with open(w.src / "inc/deep/n.h", "r+") as file:  # in place: no directory changes
        file.write("#define N 2\n")
    assert value(session.build(recipe)[0]) == 2
    assert w.runs() == 2
    w.write("k.cc", f("N + 10", "#include <h.h>"))
    assert value(session.build(recipe)[0]) == 12
    assert w.runs() == 3
    session.build(recipe)
    assert w.runs() == 3


def test_the_same_length_and_time_does_not_hide_an_edit(w):
    source = w.write("k.cc", f("1"))
    settle(source)
    session = Session(w.store)
    assert value(session.build(dso(w))[0]) == 1
    with open(source, "w") as file:
        file.write(f("2"))
    settle(source)
    assert value(session.build(dso(w))[0]) == 2


def test_a_stat_is_only_believed_of_a_file_left_alone_for_a_while(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_text("x")
    memory = Digests()
    for reads in (1, 2):
        memory.look(str(path))
        assert memory.reads == reads
    later = time.time_ns() + 2 * RACY_NS
    monkeypatch.setattr(time, "time_ns", lambda: later)
    for reads in (3, 3):
        memory.look(str(path))
        assert memory.reads == reads


def test_going_back_finds_the_old_result(w):
    results = []
    for text in ("1", "2", "1"):
        w.write("k.cc", f(text))
        results.append(w.build(w.object("k.cc"))[0].key)
    assert results[0] == results[2] != results[1]
    assert w.runs() == 2


def test_a_header_that_newly_shadows_another_is_seen_and_forgotten_again(w):
    w.write("b/h.h", "#define N 1\n")
    w.write("a/other.h", "")
    w.write("k.cc", f("N", "#include <h.h>"))
    recipe = dso(w, include=["a", "b"])
    assert value(w.build(recipe)[0]) == 1
    shadow = w.write("a/h.h", "#define N 2\n")
    assert value(w.build(recipe)[0]) == 2
    os.unlink(shadow)
    assert value(w.build(recipe)[0]) == 1
    assert w.runs() == 2


def test_has_include_turning_true_is_seen(w):
    w.write("k.cc", f("N", '#if __has_include("x.h")', '#include "x.h"', "#else",
                      "#define N 1", "#endif"))  # fmt: skip
    assert value(w.build(dso(w))[0]) == 1
    w.write("x.h", "#define N 2\n")
    assert value(w.build(dso(w))[0]) == 2


def test_a_header_named_by_a_macro_is_part_of_the_key(w):
    w.write("m.h", "#define N 1\n")
    w.write("k.cc", f("N", "#include HEADER"))
    recipe = dso(w, '-DHEADER="m.h"')
    assert value(w.build(recipe)[0]) == 1
    asked = len(w.events("ask"))
    assert (asked, w.runs()) == (1, 1)
    assert w.counted(recipe)[1] == 0
    assert len(w.events("ask")) == asked  # the answer still holds: the compiler is not asked
    w.write("m.h", "#define N 2\n")
    assert value(w.build(recipe)[0]) == 2
    w.write("m.h", "#define N 1\n")
    assert w.counted(recipe)[1] == 0
    for n in (3, 4):
        w.write("m.h", '#include "n.h"\n')
        w.write("n.h", f"#define N {n}\n")
        assert value(w.build(recipe)[0]) == n


def wrong_answers(monkeypatch, times: int) -> None:
    """As if the preprocessor had run over a text that was there for a moment only."""
    keep, left = AnswerMemo.keep, [None] * times

    def kept(memo, bare, view, answer, reads, search):
        return keep(memo, bare, view, [] if left and not left.pop() else answer, reads, search)

    monkeypatch.setattr(AnswerMemo, "keep", kept)


def test_an_answer_given_while_somebody_edited_is_asked_for_again(w, monkeypatch):
    w.write("m.h", "#define N 1\n")
    w.write("k.cc", f("N", "#include HEADER"))
    recipe = dso(w, '-DHEADER="m.h"')
    wrong_answers(monkeypatch, 1)
    assert value(w.build(recipe)[0]) == 1
    w.write("m.h", "#define N 2\n")
    assert value(w.build(recipe)[0]) == 2


def test_files_that_the_compiler_does_not_tell_beforehand_are_an_error(w, monkeypatch):
    w.write("m.h", "#define N 1\n")
    w.write("k.cc", f("N", "#include HEADER"))
    wrong_answers(monkeypatch, 100)
    with pytest.raises(BuildError, match=r"cannot be known beforehand: .*m\.h"):
        w.build(dso(w, '-DHEADER="m.h"'))


def test_a_new_file_in_front_of_one_named_by_a_macro_is_seen(w):
    w.write("b/m.h", "#define N 1\n")
    w.write("a/x.h", "")
    w.write("k.cc", f("N", "#include HEADER"))
    recipe = dso(w, "-DHEADER=<m.h>", include=["a", "b"])
    assert value(w.build(recipe)[0]) == 1
    w.write("a/m.h", "#define N 2\n")
    assert value(w.build(recipe)[0]) == 2


def test_a_header_named_by_an_option_is_part_of_the_key(w):
    pre = w.write("pre.h", "#define N 1\n")
    w.write("k.cc", f("N"))
    recipe = dso(w, "-include", pre)
    assert value(w.build(recipe)[0]) == 1
    w.write("pre.h", "#define N 2\n")
    assert value(w.build(recipe)[0]) == 2
    assert w.counted(recipe)[1] == 0


def test_a_forced_header_is_followed_without_asking_the_compiler(w):
    """`-include` finds it where a quoted include would, but for the source's own directory."""
    w.write("b/pre.h", '#include "n.h"\n')
    w.write("b/n.h", "#define N 1\n")
    w.write("pre.h", "#define N 8\n")  # beside the source: not looked for
    (w.src / "a").mkdir()
    w.write("k.cc", f("N"))
    recipe = dso(w, "-include", "pre.h", include=["a", "b"])
    assert value(w.build(recipe)[0]) == 1
    w.write("b/n.h", "#define N 2\n")
    assert value(w.build(recipe)[0]) == 2
    w.write("a/pre.h", "#define N 3\n")  # newly in front
    assert value(w.build(recipe)[0]) == 3
    assert not w.events("ask")


def test_a_system_directory_of_the_users_is_not_the_tools(w):
    w.write("sys/s.h", "#define N 1\n")
    w.write("k.cc", f("N", "#include <s.h>"))
    recipe = dso(w, "-isystem", str(w.src / "sys"))
    assert value(w.build(recipe)[0]) == 1
    w.write("sys/s.h", "#define N 2\n")
    assert value(w.build(recipe)[0]) == 2


def test_what_only_the_depfile_shows_is_asked_for_from_then_on(w):
    """An include that begins behind the end of a comment of several lines."""
    w.write("n.h", "#define N 1\n")
    w.write("k.cc", f("N", "/* what a", 'scanner skips */ #include "n.h"'))
    recipe = dso(w)
    assert value(w.build(recipe)[0]) == 1
    assert len(w.events("ask")) == 1
    w.write("n.h", "#define N 2\n")
    assert value(w.build(recipe)[0]) == 2
    assert w.counted(recipe)[1] == 0


def test_a_file_put_in_front_of_an_inner_system_header_is_seen(w):
    w.write("inc/x.h", "")
    w.write("k.cc", f("N", "#include <cstddef>", "#ifndef N", "#define N 1", "#endif"))
    recipe = dso(w, include=["inc"])
    assert value(w.build(recipe)[0]) == 1
    w.write("inc/stddef.h", '#include_next <stddef.h>\n#include "n.h"\n')
    w.write("inc/n.h", "#define N 2\n")
    assert value(w.build(recipe)[0]) == 2
    w.write("inc/n.h", "#define N 3\n")
    assert value(w.build(recipe)[0]) == 3
    os.unlink(w.src / "inc/stddef.h")
    assert value(w.build(recipe)[0]) == 1
    assert w.runs() == 3


def test_flag_order_is_meaning(w):
    w.write("k.cc", f("N"))
    assert value(w.build(dso(w, "-DN=1", "-UN", "-DN=2"))[0]) == 2
    assert value(w.build(dso(w, "-DN=2", "-UN", "-DN=1"))[0]) == 1
    assert w.runs() == 2


def test_one_source_one_compile_under_any_name(w):
    """Two names, two recipes, two directories: one key, one command, also in one request."""
    w.write("k.cc", f("1"))
    w.write("elsewhere/other.cc", f("1"))
    first, second = w.object("k.cc", label="a"), w.object("elsewhere/other.cc", label="b")
    results, runs = w.counted(first, second, w.object("k.cc"))
    assert runs == 1
    assert len({r.key for r in results}) == 1


def test_quote_includes_of_equal_sources_may_differ(w):
    for d, n in (("one", 1), ("two", 2)):
        w.write(f"{d}/k.cc", f("N", '#include "n.h"'))
        w.write(f"{d}/n.h", f"#define N {n}\n")
    one, two = w.build(dso(w, source="one/k.cc"), dso(w, source="two/k.cc"))
    assert (value(one), value(two)) == (1, 2)


def test_a_text_lies_in_no_directory(w, monkeypatch):
    monkeypatch.chdir(w.src)
    w.write("n.h", "#define N 1\n")
    text = Text(f("N", '#include "n.h"'), "inline.cc")
    with pytest.raises(BuildError, match=r"n\.h"):
        w.build(w.object(text))
    w.build(w.object(text, include=["."]))


def test_two_texts_of_two_names_are_one(w):
    one, two = (w.object(Text(f("1"), name), "-g") for name in ("one.cc", "two.cc"))
    assert w.counted(one, two)[1] == 1


def test_the_language_of_a_text_is_part_of_its_key(w):
    as_c = Recipe("o", w.cxx, ("-c", In(0), "-o", Out("o")), (Text("int f(){return 1;}", "a.c"),),
                  ("o",), scan=True)  # fmt: skip
    as_cxx = Recipe("o", w.cxx, ("-c", In(0), "-o", Out("o")),
                    (Text("int f(){return 1;}", "a.cc"),), ("o",), scan=True)  # fmt: skip
    one, two = w.build(as_c, as_cxx)
    assert one.key != two.key


def test_a_comment_compiles_and_does_not_link(w):
    w.write("k.cc", f("1"))
    w.write("l.cc", "int g() { return 2; }\n")
    link = w.shared(w.object("k.cc", "-fPIC"), w.object("l.cc", "-fPIC"))
    assert w.counted(link)[1] == 3
    w.write("k.cc", f("1") + "// a remark\n")
    w.build(link)
    assert (w.runs("kernel-object"), w.runs("link")) == (3, 1)
    w.write("k.cc", f("7"))
    assert value(w.build(link)[0]) == 7
    assert (w.runs("kernel-object"), w.runs("link")) == (4, 2)


def test_an_edit_while_the_compiler_runs_does_not_bless_the_result(w, tmp_path):
    """The compiler reads the old text, then waits; the new text is saved meanwhile."""
    source = w.write("k.cc", f("1"))
    slow = tmp_path / "slow-cxx"
    slow.write_text(f'#!/bin/sh\n{CXX} "$@" || exit\ntouch {tmp_path}/read\nsleep 0.4\n')
    slow.chmod(0o755)
    recipe = Recipe("kernel-object", ProgramTool(slow), dso(w).argv, (source,), ("k.so",),
                    scan=True)  # fmt: skip
    process = w.python(
        f"""
        from iron.build import *
        from iron.build.recipe import *
        r = Recipe("kernel-object", ProgramTool({str(slow)!r}), ("-shared", "-fPIC", In(0), "-o",
                   Out("k.so")), ({source!r},), ("k.so",), scan=True)
        print(w.session.build(r)[0].path())
        """
    )
    while not (tmp_path / "read").exists():
        time.sleep(0.01)
    with open(source, "w") as file:
        file.write(f("2"))
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert ctypes.CDLL(out.strip()).f() == 2
    assert w.runs() == 2
    w.write("k.cc", f("1"))
    assert value(w.build(recipe)[0]) == 1
    assert w.runs() == 3  # what was compiled from the old text was not kept under any name


def test_an_edit_undone_before_the_end_is_noticed_too(w, tmp_path):
    source = w.write("k.cc", f("1"))
    devious = tmp_path / "devious-cxx"
    devious.write_text(
        f'#!/bin/sh\ntest -e {tmp_path}/done && exec {CXX} "$@"\ntouch {tmp_path}/done\n'
        f"cp {source} {tmp_path}/old; sed -i s/1/2/ {source}\n"
        f'{CXX} "$@"; s=$?\ncat {tmp_path}/old > {source}; exit $s\n'
    )
    devious.chmod(0o755)
    recipe = Recipe("kernel-object", ProgramTool(devious), dso(w).argv, (source,), ("k.so",),
                    scan=True)  # fmt: skip
    assert value(w.build(recipe)[0]) == 1


def test_a_generated_source_has_its_headers_in_the_key(w):
    w.write("inc/n.h", "#define N 1\n")
    template = w.write("k.in", f("N", "#include <n.h>"))
    generate = Recipe("generate", ProgramTool("cp"), (In(0), Out("k.cc")), (template,), ("k.cc",))
    compiled = Recipe(
        "kernel-object", w.cxx, (*w.object("k.in").argv[:1], "-shared", "-fPIC", In(0), "-o",
        Out("k.so")), (Ref(generate),), ("k.so",), include_dirs=(str(w.src / "inc"),), scan=True,
    )  # fmt: skip
    listing = Recipe("list", ProgramTool("wc"), ("-c", In(0)), (Ref(compiled),), ("x",))
    with pytest.raises(BuildError, match="left no x"):
        w.build(listing)
    assert value(w.build(compiled)[0]) == 1
    assert w.counted(compiled)[1] == 0
    w.write("inc/n.h", "#define N 2\n")
    result, runs = w.counted(compiled)
    assert (value(result[0]), runs) == (2, 1)


def test_a_timestamp_in_a_source_is_an_input(w):
    source = w.write("k.cc", "const char *t = __TIMESTAMP__;\n")
    settle(source)
    one = w.build(w.object("k.cc"))[0]
    os.utime(source, (1_500_000_000, 1_500_000_000))
    assert w.build(w.object("k.cc"))[0].key != one.key


def test_embedded_assembly_files_are_inputs_or_refused(w):
    data = w.write("d.bin", "abc")
    text = 'asm(".incbin \\"{}\\"");\nint f;\n'
    w.write("k.cc", text.format(data))
    one = w.build(w.object("k.cc"))[0]
    w.write("d.bin", "abd")
    assert w.build(w.object("k.cc"))[0].key != one.key
    w.write("k.cc", text.format("no.bin"))
    with pytest.raises(BuildError, match="incbin"):
        w.build(w.object("k.cc"))


def knows_embed(w) -> bool:
    asked = w.write("ask.cc", "#ifdef __has_embed\nit does\n#endif\n")
    told = subprocess.run([CXX, "-E", asked], capture_output=True, text=True, check=True).stdout
    return "it does" in told


@pytest.mark.parametrize("form", ['"d.bin"', "<d.bin>"])
def test_embedded_data_is_an_input(w, form):
    """With a compiler that knows `#embed`, to the end; with another one, as far as the keys go."""
    here = "src" if form[0] == '"' else "data"
    flags = () if here == "src" else (f"--embed-dir={w.root / 'data'}",)
    (w.root / "data").mkdir()

    def write(content):
        (w.root / here / "d.bin").write_text(content)

    def key():
        return Session(w.store).keys().leaf(recipe)

    write("first")
    declared = "extern const unsigned char d[];\nconst unsigned char d[] = {"
    w.write("k.cc", f"{declared}\n#embed {form}\n}};\n")
    recipe = w.object("k.cc", *flags)
    if not knows_embed(w):
        with pytest.raises(BuildError, match="embed"):
            w.build(recipe)
        if here == "src":
            before = key()
            write("second")
            assert key() != before
        return
    before = key()
    assert b"first" in Path(w.build(recipe)[0].path()).read_bytes()
    write("second")
    assert b"second" in Path(w.build(recipe)[0].path()).read_bytes()
    assert key() != before
    (w.root / here / "d.bin").unlink()
    with pytest.raises(BuildError, match=r"d\.bin"):
        w.build(recipe)
    write("first")
    result, runs = w.counted(recipe)
    assert b"first" in Path(result[0].path()).read_bytes()
    assert (key(), runs) == (before, 0)


def test_a_repointed_link_is_another_file(w):
    w.write("one.h", "#define N 1\n")
    w.write("two.h", "#define N 2\n")
    w.write("k.cc", f("N", '#include "n.h"'))
    link = w.src / "n.h"
    link.symlink_to("one.h")
    assert value(w.build(dso(w))[0]) == 1
    link.unlink()
    link.symlink_to("two.h")
    assert value(w.build(dso(w))[0]) == 2
