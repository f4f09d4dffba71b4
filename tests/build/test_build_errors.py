"""A failed build says what was asked, the whole command and stderr, and leaves nothing behind."""

import os
import pickle
import subprocess
from pathlib import Path

import pytest

from iron.build import (
    BuildError,
    FunctionTool,
    In,
    Out,
    ProgramTool,
    Recipe,
    Ref,
    Session,
    Text,
)
from iron.build.environ import WITHIN


def script(w, name, text):
    path = w.write(name, "#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return ProgramTool(path)


def step(tool, source, output="out.o", **more):
    return Recipe("step", tool, (In(0), Out(output)), (source,), (output,), **more)


def test_a_syntax_error_shows_command_and_compiler_text_and_is_fixed_by_fixing_it(w):
    w.write("k.cc", "int f() { return x; }\n")
    recipe = w.object("k.cc", "-O2", label="add_one", where="design.py:12")
    session = Session(w.store)
    with pytest.raises(BuildError) as caught:
        session.build(recipe)
    text = str(caught.value)
    failure = caught.value.failures[0]
    assert "add_one" in text
    assert "design.py:12" in text
    assert f"{w.src}/k.cc:1:18: error:" in text
    assert "-O2" in text
    assert failure.status == 1
    assert os.path.isdir(failure.directory)
    assert failure.directory in text
    assert session.find(recipe) is None
    assert w.scratch() == []
    w.write("k.cc", "int f() { return 0; }\n")
    assert session.build(recipe)
    assert pickle.loads(pickle.dumps(caught.value)).failures == caught.value.failures


def test_a_text_is_called_by_its_name_in_diagnostics(w):
    recipe = w.object(Text("int f() { return x; }\n", "my_kernel.cc"))
    with pytest.raises(BuildError, match=r"(?m)^my_kernel\.cc:1:18: error"):
        w.build(recipe)


def test_the_kept_directory_has_the_command_to_repeat(w):
    w.write("k.cc", "broken\n")
    with pytest.raises(BuildError) as caught:
        w.build(w.object("k.cc"))
    kept = caught.value.failures[0].directory
    assert os.system(f"sh {kept}/command.sh >{w.root}/again 2>&1") != 0
    assert "k.cc:1:1: error" in (w.root / "again").read_text()


def test_a_missing_source_is_said_at_once_with_all_others(w):
    w.write("k.cc", "int f;\n")
    link = w.shared(
        w.object("k.cc"),
        w.object("no.cc", label="add", where="d.py:1"),
        w.object("nor.cc", where="d.py:2"),
    )
    for request in (Session(w.store).build, Session(w.store).find):
        with pytest.raises(BuildError) as caught:
            request(link)
        assert sorted(f.where for f in caught.value.failures) == ["d.py:1", "d.py:2"]
        assert f"no such source file: {w.src}/no.cc" in str(caught.value)
    assert w.runs() == 0


def test_a_missing_header_is_the_compilers_to_tell(w):
    w.write("k.cc", '#include "no.h"\n')
    with pytest.raises(BuildError, match=r"no\.h(: No such file|' file not found)"):
        w.build(w.object("k.cc"))
    w.write("no.h", "int f;\n")
    w.build(w.object("k.cc"))


def test_a_missing_tool_is_said_with_the_recipe(w):
    source = w.write("a", "x")
    with pytest.raises(BuildError, match=r"no program 'no-such-cc'") as caught:
        w.build(step(ProgramTool("no-such-cc"), source, where="d.py:3"))
    assert caught.value.failures[0].where == "d.py:3"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("exit 0", "succeeded but left no out.o"),
        (': > "$2"', "succeeded but left out.o empty"),
        ('echo half > "$2"; exit 3', "failed"),
        ('echo half > "$2"; kill -9 $$', "was killed"),
        ('ln -s /etc/passwd "$2"', "left no out.o"),
    ],
)
def test_what_is_no_proper_output_is_not_published(w, body, text):
    source = w.write("a", "x")
    tool = script(w, "tool", body + "\n")
    with pytest.raises(BuildError, match=text):
        w.build(step(tool, source))
    assert w.scratch() == []
    assert Session(w.store).find(step(tool, source)) is None
    script(w, "tool", 'cp "$1" "$2"\n')
    assert Path(w.build(step(tool, source))[0].path()).read_text() == "x"


def test_failing_then_reverting_gives_the_first_result_again(w):
    w.write("k.cc", "int f() { return 1; }\n")
    first = w.build(w.object("k.cc"))[0]
    w.write("k.cc", "int f() { return \n")
    with pytest.raises(BuildError):
        w.build(w.object("k.cc"))
    w.write("k.cc", "int f() { return 1; }\n")
    assert w.counted(w.object("k.cc")) == ([first], 0)


def test_what_is_printed_on_success_goes_nowhere(w, capfd):
    source = w.write("a", "x")
    w.build(step(script(w, "tool", 'echo out; echo err >&2; cp "$1" "$2"\n'), source))
    assert capfd.readouterr() == ("", "")


def test_only_declared_outputs_are_published(w):
    source = w.write("a", "x")
    tool = script(w, "tool", 'cp "$1" "$2"; echo > "$(dirname $2)/more"; echo > here\n')
    result = w.build(step(tool, source))[0]
    assert sorted(os.listdir(result.directory)) == [".record", "out.o"]


def test_the_environment_is_what_is_declared(w, monkeypatch):
    monkeypatch.setenv("CPATH", str(w.src))
    monkeypatch.setenv("SECRET", "1")
    tool = script(w, "tool", 'env | sort > "$2"\n')
    source = w.write("a", "x")
    result = w.build(step(tool, source, env=(("MODE", "fast"),)))[0]
    names = {line.split("=")[0] for line in Path(result.path()).read_text().splitlines()}
    shell = {"PWD", "OLDPWD", "SHLVL", "_"}
    assert names - shell == {
        "PATH",
        "LC_ALL",
        "SOURCE_DATE_EPOCH",
        "TMPDIR",
        "HOME",
        "MODE",
        WITHIN,
    }
    assert w.build(step(tool, source))[0].key != result.key


def upper(argv):
    with open(argv[0]) as source, open(argv[1], "w") as target:
        target.write(source.read().upper())


def explode(argv):
    raise LookupError("nothing of the kind")


def test_a_function_is_a_tool_like_any_other(w):
    source = w.write("a", "x")
    tool = FunctionTool("upper", upper, ("iron.build.digests",))
    recipe = step(tool, source)
    results, runs = w.counted(recipe, recipe)
    assert (Path(results[0].path()).read_text(), runs) == ("X", 1)
    assert w.counted(recipe)[1] == 0
    other = step(FunctionTool("upper", upper, ("iron.build.log",)), source)
    assert w.counted(other)[1] == 1
    with pytest.raises(BuildError, match="LookupError: nothing of the kind"):
        w.build(step(FunctionTool("explode", explode, ("iron.build.log",)), source))
    with pytest.raises(ValueError, match="name the modules"):
        FunctionTool("upper", upper, ())


def test_a_step_that_asks_for_itself_is_told_so(w):
    source = w.write("a", "x")
    session = Session(w.store)

    def again(argv):
        session.make(recipe)

    recipe = step(FunctionTool("again", again, ("iron.build.log",)), source)
    with pytest.raises(BuildError, match="asks for this very result"):
        session.make(recipe)


def test_a_step_may_build_other_things(w):
    w.write("k.cc", "int f() { return 1; }\n")
    session = Session(w.store, jobs=1)

    def outer(argv):
        inner = session.build(w.object("k.cc"))[0]
        with open(argv[1], "w") as target:
            target.write(inner.key)

    recipe = step(FunctionTool("outer", outer, ("iron.build.log",)), w.write("a", "x"))
    assert len(Path(session.build(recipe)[0].path()).read_text()) == 40


def test_failures_of_several_come_together_or_stop(w):
    w.write("bad.cc", "broken\n")
    w.write("good.cc", "int f;\n")
    with pytest.raises(BuildError) as caught:
        w.build(w.shared(w.object("bad.cc"), w.object("good.cc")), w.object("bad.cc", "-O1"))
    assert all("bad.cc" in str(f) for f in caught.value.failures)
    assert w.runs("link") == 0


def test_a_tool_that_leaves_no_dependency_file_is_refused(w):
    w.write("k.cc", "int f;\n")
    tool = script(w, "cxx", 'while [ "$1" != -o ]; do shift; done; echo x > "$2"\n')
    with pytest.raises(BuildError, match="left no dependency file"):
        w.build(w.object("k.cc", tool=tool))


def test_long_command_lines_go_through_a_response_file(w):
    members = [w.write(f"m{i:04d}.txt", str(i)) for i in range(2500)]
    recipe = Recipe("archive", ProgramTool("ar"),
                    ("qcD", Out("big.a"), *(In(i) for i in range(len(members)))),
                    tuple(members), ("big.a",))  # fmt: skip
    result = w.build(recipe)[0]
    listed = subprocess.check_output(["ar", "t", result.path()], text=True)
    assert len(listed.splitlines()) == 2500
    assert "@" not in w.events("run")[0]["argv"][1]
    short = Recipe("one", ProgramTool("ar"), ("qcD", Out("a.a"), In(0)), (members[0],), ("a.a",))
    assert Ref(short).name == "a.a"
