"""Recipes as named targets of a real `scons` run, sharing the store with the library."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from build_workshop import CXX

SCONSTRUCT = f"""
import os, iron.build as ib

def compiled(target, source, env):
    return ib.Recipe("kernel-object", CXX, ("-fPIC", ib.IncludeDirs(), "-c", ib.In(0), "-o",
                     ib.Out("kernel.o")), (source[0],), ("kernel.o",),
                     include_dirs=(Dir("inc").abspath,), scan=True)

def linked(target, source, env):
    return ib.Recipe("link", CXX, ("-shared", *map(ib.In, range(len(source))), "-o",
                     ib.Out("lib.so")), tuple(source), ("lib.so",))

CXX = ib.ProgramTool({CXX!r})
env = Environment(tools=[ib.tool])
a = env.Recipe("build/a.o", "a.cc", recipe=compiled)
b = env.Recipe("build/b.o", "b.cc", recipe=compiled)
env.Recipe("build/lib.so", a + b, recipe=linked)
"""


@pytest.fixture
def project(w):
    w.write("SConstruct", SCONSTRUCT)
    w.write("inc/n.h", "#define N 1\n")
    w.write("a.cc", '#include <n.h>\nextern "C" int f() { return N; }\n')
    w.write("b.cc", 'extern "C" int g() { return 2; }\n')
    return w


def scons(w, *arguments, status=0):
    done = subprocess.run(
        [sys.executable, "-m", "SCons", "-Q", *arguments], cwd=w.src, capture_output=True, text=True
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def built(w, *arguments):
    before = w.runs()
    scons(w, *arguments)
    return w.runs() - before


def f_of(w):
    code = "import ctypes,sys; print(ctypes.CDLL(sys.argv[1]).f())"
    return subprocess.check_output(
        [sys.executable, "-c", code, w.src / "build/lib.so"], text=True
    ).strip()


def test_builds_once_sees_headers_and_cuts_off_early(project):
    w = project
    assert built(w, "-j2") == 3
    assert f_of(w) == "1"
    assert "up to date" in scons(w)
    w.write("inc/n.h", "#define N 5\n")
    assert built(w) == 2
    assert f_of(w) == "5"
    w.write("b.cc", 'extern "C" int g() { return 2; } // a remark\n')
    assert built(w) == 1
    assert built(w) == 0


def test_a_target_that_was_tampered_with_is_restored(project):
    w = project
    scons(w)
    target = w.src / "build/a.o"
    good = target.read_bytes()
    target.unlink()
    target.write_bytes(b"garbage")
    assert built(w) == 0
    assert target.read_bytes() == good


def test_a_target_edited_through_its_link_heals_the_store_as_well(project):
    w = project
    scons(w)
    target = w.src / "build/b.o"
    good = target.read_bytes()
    os.chmod(target, 0o644)
    with open(target, "r+b") as file:
        file.write(b"garbage")
    assert built(w) == 1
    assert target.read_bytes() == good


def test_the_build_tree_is_only_a_view_of_the_store(project):
    w = project
    scons(w)
    scons(w, "-c")
    assert not (w.src / "build/lib.so").exists()
    (w.src / ".sconsign.dblite").unlink()
    assert built(w) == 0
    assert f_of(w) == "1"


def test_scons_and_the_library_share_results(project):
    w = project
    w.build(w.object("a.cc", "-fPIC", include=["inc"]))
    assert built(w) == 2


def test_a_failure_shows_the_compilers_text_and_fails_the_run(project):
    w = project
    w.write("a.cc", "int f() { return x; }\n")
    text = scons(w, status=2)
    assert "a.cc:1:18: error" in text
    assert "build/a.o" in text
    w.write("a.cc", 'extern "C" int f() { return 0; }\n')
    assert built(w) in (2, 3)  # b.o may have been made before the failure stopped the run
    assert f_of(w) == "0"


def test_a_dry_run_makes_nothing_and_prints_commands(project):
    w = project
    text = scons(w, "-n")
    assert " -o " in text
    assert "build/a.o" in text
    assert w.runs() == 0
    assert not (w.src / "build").exists()


def test_their_own_builders_feed_ours_and_the_reverse(w):
    w.write(
        "SConstruct",
        SCONSTRUCT.split("a = env")[0]
        + """
env.Command("gen.cc", "gen.in", Copy("$TARGET", "$SOURCE"))
o = env.Recipe("gen.o", "gen.cc", recipe=compiled)
env.Command("copy.bin", o, Copy("$TARGET", "$SOURCE"))
""",
    )
    w.write("gen.in", "int f;\n")
    assert built(w) == 1
    first = (w.src / "copy.bin").read_bytes()
    assert first == (w.src / "gen.o").read_bytes()
    assert "up to date" in scons(w)
    w.write("gen.in", "int g;\n")
    assert built(w) == 1
    assert (w.src / "copy.bin").read_bytes() != first


def test_a_generator_builder_with_an_action_of_ours(w):
    w.write(
        "SConstruct",
        SCONSTRUCT.split("env = Env")[0]
        + """
from iron.build.targets import RecipeAction, named_targets
session = ib.default_session()
def generator(target, source, env, for_signature):
    return RecipeAction(session, compiled)
env = Environment(tools=[], BUILDERS={"Kernel": Builder(generator=generator,
                  emitter=named_targets, suffix=".o", src_suffix=".cc")})
env.Kernel("k")
""",
    )
    w.write("k.cc", "int f;\n")
    assert built(w) == 1
    assert "up to date" in scons(w)
    (w.src / "k.o").unlink()
    (w.src / "k.o").write_text("garbage")
    assert built(w) == 0
    assert (w.src / "k.o").read_bytes()[1:4] == b"ELF"
    w.write("k.cc", "int g;\n")
    assert built(w) == 1


def test_two_runs_and_the_library_at_once_compile_once(project):
    w = project
    command = [sys.executable, "-m", "SCons", "-Q", "-j2"]
    second = Path(str(w.src) + "2")
    import shutil

    shutil.copytree(w.src, second)
    started = [subprocess.Popen(command, cwd=d, stdout=subprocess.DEVNULL) for d in (w.src, second)]
    w.build(w.object("a.cc", "-fPIC", include=["inc"]))
    assert [p.wait(60) for p in started] == [0, 0]
    assert (w.runs("kernel-object"), w.runs("link")) == (2, 1)


def test_the_switches_of_scons_mean_what_they_say(project):
    w = project
    assert built(w, "-j4") == 3
    scons(w, "-c")
    assert not list((w.src / "build").glob("*.*"))
    assert built(w) == 0, "clean removes targets, not results"
    assert f_of(w) == "1"
    w.write("a.cc", "int f() { return x; }\n")
    w.write("b.cc", 'extern "C" int g() { return 3; }\n')
    text = scons(w, "-k", status=2)
    assert "was not declared" in text
    assert len(w.events("run")) == 5, "the other one was built"
    w.write("a.cc", '#include <n.h>\nextern "C" int f() { return N; }\n')
    text = scons(w, "--debug=explain")
    assert "rebuilding" in text
    assert "build/a.o" in text
    assert "up to date" in scons(w, "--debug=explain")


@pytest.mark.parametrize("duplicate", [0, 1])
def test_variant_directories_share_results(w, duplicate):
    construct = (
        SCONSTRUCT.split("a = env")[0]
        + f"""
Export("env", "compiled")
for name in ("debug", "release"):
    SConscript("code/SConscript", variant_dir=f"out/{{name}}", duplicate={duplicate})
env.CompileCommands()
"""
    )
    w.write("SConstruct", construct)
    inner = 'Import("env compiled")\nenv.Recipe("k.o", "k.cc", recipe=compiled)\n'
    w.write("code/SConscript", inner)
    w.write("code/k.cc", '#include "near.h"\nint f() { return NEAR; }\n')
    w.write("code/near.h", "#define NEAR 1\n")
    assert built(w) == 1
    first, second = ((w.src / "out" / name / "k.o") for name in ("debug", "release"))
    assert first.read_bytes() == second.read_bytes()
    found = json.loads((w.src / "compile_commands.json").read_text())
    assert found
    for entry in found:
        assert os.path.isfile(entry["file"])
        again = list(entry["arguments"])
        again[again.index("-o") + 1] = str(w.root / "again.o")
        subprocess.check_call(again, cwd=entry["directory"])
    w.write("code/near.h", "#define NEAR 2\n")
    assert built(w) == 1
