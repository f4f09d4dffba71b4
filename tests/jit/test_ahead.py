"""Designs built ahead of their call: build, export, load; sequences and numbers of the call."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import iron
from iron.cli import main
from iron.jit.records import own_session
from iron.jit.scripts import load_design
from iron.runtime.errors import HostRuntimeError

KERNEL = """
#include "factor.h"
#include "../near.h"
extern "C" const char *where() { return __FILE__; }
extern "C" void scale(const int *in, int *out, int by) {
  for (int i = 0; i < 16; ++i) out[i] = in[i] * by * FACTOR + NEAR + GIVEN;
}
"""
DESIGN = '''
import numpy as np

import iron
from iron import ExternalFunction, In, ObjectFifo, Out, Program, Runtime, Worker

SHIFT = """#include "factor.h"
extern "C" void shift(int *out) { for (int i = 0; i < 16; ++i) out[i] += 100 * FACTOR; }
"""


@iron.jit(compile_flags=["-DGIVEN=1"])
def scaled(source: In, result: Out, by: np.int32, *, N: iron.CompileTime[int] = 64, first=None):
    tile = np.ndarray[(16,), np.dtype[np.int32]]
    whole = np.ndarray[(N,), np.dtype[np.int32]]
    scale = ExternalFunction(
        "scale", source_file="kernels/scale.cc", arg_types=[tile, tile, np.int32],
        include_dirs=["include"],
    )
    shift = ExternalFunction(
        "shift", source_string=SHIFT, arg_types=[tile], include_dirs=["include"]
    )
    factor = iron.Buffer(np.ndarray[(1,), np.dtype[np.int32]], name="factor", use_write_rtp=True)
    arriving, leaving = ObjectFifo(tile, name="arriving"), ObjectFifo(tile, name="leaving")

    def core(arriving, leaving, scale, shift, factor):
        x, y = arriving.acquire(1), leaving.acquire(1)
        scale(x, y, factor[0])
        shift(y)
        arriving.release(1)
        leaving.release(1)

    worker = Worker(core, [arriving.cons(), leaving.prod(), scale, shift, factor])

    def sequence(a, b, by, arriving, leaving, factor):
        factor[0] = by
        arriving.fill(a)
        leaving.drain(b, wait=True)

    runtime = Runtime(sequence, [whole, whole, np.int32, arriving.prod(), leaving.cons(), factor])
    return Program(iron.get_current_device(), runtime, workers=[worker]).resolve_program()
'''.replace(", first=None", "")


def expected(a, by):
    return a * by * 3 + 2 + 1 + 300


@pytest.fixture
def project(tmp_path, own_store):
    path = tmp_path / "a project"
    for name, text in (
        ("design.py", DESIGN),
        ("kernels/scale.cc", KERNEL),
        ("near.h", "#define NEAR 2\n"),
        ("include/factor.h", '#include "deep/value.h"\n'),
        ("include/deep/value.h", "#define FACTOR 3\n"),
        ("include/unused.h", "#define FACTOR 4\n"),
    ):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    return path


@pytest.fixture
def design(project):
    return load_design(str(project / "design.py"))


def digests(directory, names):
    return {n: hashlib.sha256((directory / n).read_bytes()).hexdigest() for n in names}


def run_python(text, *arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text), *map(str, arguments)],
        env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


RUN = """
import sys
import numpy as np
import iron
a, b = np.arange(128, dtype=np.int32), np.zeros(128, np.int32)
iron.load(sys.argv[1])(a, b, -4)
assert (b == a * -4 * 3 + 303).all(), b
assert not {"subprocess", "SCons", "iron.ir", "iron.host"} & ({*sys.modules} - {"subprocess"})
print("ran")
"""


def test_an_export_is_rebuilt_to_the_same_bytes_by_another_user_elsewhere(
    project, design, tmp_path, runtime_store, build_log
):
    place = design.export(tmp_path / "exported", N=128)
    manifest = json.loads((place / "manifest.json").read_text())
    assert manifest["design"] == "scaled"
    assert manifest["values"] == {"N": ["int", 128]}
    assert (manifest["target"], manifest["device"]) == ("host", "npu2")
    there = {str(p.relative_to(place)) for p in place.rglob("*") if p.is_file()}
    assert there == {*manifest["files"], "manifest.json"}
    assert digests(place, manifest["files"]) == {
        n: f["sha256"] for n, f in manifest["files"].items()
    }
    assert "tree/include/deep/value.h" in there
    assert "tree/include/unused.h" not in there
    assert str(tmp_path) not in "".join(
        (place / n).read_text() for n in there if not n.endswith(".bundle")
    )
    moved = tmp_path / "else where"
    shutil.move(place, moved)
    shutil.rmtree(project)
    shutil.copytree(runtime_store, tmp_path / "other", symlinks=True, copy_function=os.link)
    build_log.clear()
    home = tmp_path / "home"
    home.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "SCons", "-Q"], cwd=moved, capture_output=True, text=True,
        env={**os.environ, "HOME": str(home), "IRON_STORE": str(tmp_path / "other")}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert build_log.kinds()["kernel-object"] == 2
    built = moved / "build" / "scaled"
    assert digests(built, manifest["package"]) == manifest["package"]
    for what in (moved, moved / "scaled.bundle"):
        assert run_python(RUN, what, PATH="", HOME="/nowhere") == "ran\n"


def test_build_puts_the_files_where_they_are_asked_for(project, design, tmp_path, build_log):
    built = design.build(N=128)
    assert built.directory.parts[-1] == built.package.key
    build_log.clear()
    asked = design.build(out=tmp_path / "out", N=128)
    assert build_log.runs() == 0
    assert asked.directory == tmp_path / "out"
    assert {p.name for p in asked.paths.values() if p.is_file()} == set(built.package.outputs)
    assert design.build(out=tmp_path / "one.bundle", N=128).paths["one.bundle"].is_file()
    for what in ("out", "one.bundle"):
        assert run_python(RUN, tmp_path / what, PATH="") == "ran\n"
    (tmp_path / "out" / "mine").write_text("stays")
    about = json.loads((tmp_path / "out" / "package.json").read_text())
    (tmp_path / "out" / "package.json").write_text(
        json.dumps({**about, "package": {**about["package"], "old.so": ""}})
    )
    (tmp_path / "out" / "old.so").write_text("of another design")
    design.build(out=tmp_path / "out", N=64)
    assert not (tmp_path / "out" / "old.so").exists()
    assert (tmp_path / "out" / "mine").read_text() == "stays"
    with pytest.raises(TypeError, match="no compile-time parameter 'M'"):
        design.build(M=1)


def test_the_command_builds_and_exports_the_same(project, design, tmp_path, capsys, build_log):
    script = f"{project / 'design.py'}:scaled"
    built = design.build(N=128)
    build_log.clear()
    assert main(["build", script, "--set", "N=128"]) == 0
    assert capsys.readouterr().out.strip() == str(built.directory)
    assert main(["build", script, "--set", "N=128", "--out", str(tmp_path / "out")]) == 0
    assert main(["export", script, "--set", "N=128", str(tmp_path / "by command")]) == 0
    assert build_log.runs() == 0
    design.export(tmp_path / "by hand", N=128)
    names = [p.relative_to(tmp_path / "by hand") for p in (tmp_path / "by hand").rglob("*")]
    files = [n for n in names if (tmp_path / "by hand" / n).is_file()]
    assert digests(tmp_path / "by hand", files) == digests(tmp_path / "by command", files)
    capsys.readouterr()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis").touch()
    assert main(["export", script, str(tmp_path / "mine")]) == 1
    assert "is no export of a design" in capsys.readouterr().err
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["thesis"]
    design.export(tmp_path / "by hand", N=64)  # over an earlier one
    assert json.loads((tmp_path / "by hand" / "manifest.json").read_text())["values"] == {
        "N": ["int", 64]
    }
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".iron")]


def test_a_damaged_package_is_not_run(design, tmp_path):
    out = design.build(out=tmp_path / "out").directory
    (out / "cores0.so").chmod(0o644)
    with open(out / "cores0.so", "ab") as f:
        f.write(b"x")
    with pytest.raises(ValueError, match=r"cores0\.so is missing or not the file that was built"):
        iron.load(out)
    with pytest.raises(FileNotFoundError, match="no built design"):
        iron.load(tmp_path / "nothing")


def test_a_flag_that_names_a_file_goes_along_or_is_refused(project, tmp_path):
    design = load_design(str(project / "design.py")).compilable
    inside = design.specialize(compile_flags=["-DGIVEN=1", f"-I{project / 'include'}"])
    place = inside.export(tmp_path / "inside")
    flags = json.loads((place / "manifest.json").read_text())["options"]["compile_flags"]
    assert flags == ["-DGIVEN=1", "-I{export}/tree/include"]
    elsewhere = tmp_path / "not taken"
    elsewhere.mkdir()
    outside = design.specialize(compile_flags=["-DGIVEN=1", f"-I{elsewhere}"])
    with pytest.raises(iron.ExportError, match=r"the flag -I.* names a path that is not exported"):
        outside.export(tmp_path / "outside")


# ---- numbers of the call


def test_a_number_of_the_call_builds_nothing(design, build_log):
    a, b = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    design(a, b, 2)
    build_log.clear()
    for by in (3, -7, np.int16(5), np.int64(2**20)):
        design(a, b, by)
        assert (b == expected(a, int(by))).all()
    assert build_log.runs() == 0
    assert design.compilable.scalar_params == ["by"]
    assert design.compilable.tensor_params == ["source", "result"]


@pytest.mark.parametrize(
    ("value", "error", "says"),
    [
        (1.0, TypeError, "scaled: by is to be a number of dtype int32, got float"),
        (True, TypeError, "got bool"),
        ("3", TypeError, "got str"),
        (2**31, OverflowError, f"scaled: by .* from -{2**31} to {2**31 - 1}, got {2**31}"),
        (-(2**31) - 1, OverflowError, "scaled: by"),
        (np.zeros(1, np.int32), TypeError, "by is to be a number of dtype int32, got ndarray"),
    ],
)
def test_a_wrong_number_names_its_parameter(design, value, error, says):
    a, b = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    if error is TypeError and isinstance(value, np.ndarray):
        value = np.zeros(2, np.int32)
    with pytest.raises(error, match=says) as e:
        design(a, b, value)
    assert "design.py:" in str(e.value)


def test_a_parameter_and_the_sequence_must_agree(project):
    text = DESIGN.replace("by: np.int32", "by: np.float32")
    (project / "design.py").write_text(text)
    a, b = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    with pytest.raises(TypeError, match=r"by is declared as float32, but .* takes i32 there"):
        load_design(str(project / "design.py"))(a, b, 1.0)
    (project / "design.py").write_text(DESIGN.replace("by: np.int32", "by: In"))
    with pytest.raises(TypeError, match=r"by is declared as a tensor, .* takes a number of i32"):
        load_design(str(project / "design.py"))(a, b, a)


def numbers(name, dtype):
    from iron.jit.scalars import Number

    return Number((np.dtype(dtype).name,)).of


@pytest.mark.parametrize(
    ("dtype", "given", "handed"),
    [
        (np.uint32, 2**32 - 1, -1),
        (np.uint8, 200, -56),
        (np.int8, -128, -128),
        (np.int64, 2**63 - 1, 2**63 - 1),
        (np.float32, 3, 3.0),
        (np.float32, np.float64(0.5), 0.5),
        (np.float32, float("inf"), float("inf")),
    ],
)
def test_numbers_are_handed_over_as_the_bits_of_their_type(dtype, given, handed):
    found = numbers("x", dtype)(given, "f: x", "")
    assert (type(found), found) == (type(handed), handed)


@pytest.mark.parametrize(
    ("dtype", "given", "error"),
    [
        (np.uint32, -1, OverflowError),
        (np.uint8, 256, OverflowError),
        (np.float32, 1e39, OverflowError),
        (np.float32, 10**400, OverflowError),
        (np.float32, "1", TypeError),
        (np.float32, True, TypeError),
        (np.int32, np.float32(1), TypeError),
    ],
)
def test_numbers_that_do_not_fit_are_errors(dtype, given, error):
    with pytest.raises(error, match=r"^f: x "):
        numbers("x", dtype)(given, "f: x", "")


# ---- sequences


def test_designs_that_differ_in_their_sequence_share_everything_else(design, build_log):
    a, b = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    design(a, b, 1)
    build_log.clear()
    a, b = np.arange(160, dtype=np.int32), np.zeros(160, np.int32)
    design(a, b, 2, N=160)
    assert (b == expected(a, 2)).all()
    assert build_log.kinds() == {"bodies": 1, "link": 1, "package": 1}
    compiled = [line["label"] for line in build_log.lines() if line.get("kind") == "bodies"]
    assert all("sequence" in label for label in compiled)


SEQUENCES = """
module {
  aie.device(npu2) {
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2)
    aie.objectfifo @arriving(%shim, {%core}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @leaving(%core, {%shim}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo.link [@arriving] -> [@leaving]([] [])
    SEQUENCES
  }
}
"""
SEQUENCE = """
    aie.runtime_sequence @{name}({arguments}) {{
      %0 = aiex.dma_configure_task_for @arriving {{
        aie.dma_bd(%a : memref<{n}xi32>, {offset}, 16)
        aie.end
      }}
      aiex.dma_start_task(%0)
      %1 = aiex.dma_configure_task_for @leaving {{
        aie.dma_bd(%b : memref<{n}xi32>, {offset}, 16)
        aie.end
      }} {{issue_token = true}}
      aiex.dma_start_task(%1)
      aiex.dma_await_task(%1)
    }}
"""


def sequence(name, n, offset, *more):
    arguments = ", ".join([f"%a: memref<{n}xi32>", f"%b: memref<{n}xi32>", *more])
    return SEQUENCE.format(name=name, n=n, offset=offset, arguments=arguments)


@pytest.fixture
def several(tmp_path, own_store):
    """Three sequences over one array, as a file."""
    both = sequence("low", 32, 0) + sequence("high", 32, 16) + sequence("third", 48, 32, "%k: i32")
    path = tmp_path / "several.mlir"
    path.write_text(SEQUENCES.replace("SEQUENCES", both))
    return path


def test_which_sequence_runs_is_chosen_by_the_call(several, build_log):
    design = iron.CallableDesign(several)
    moved = {}
    for name in ("low", "high", "low"):
        a, b = np.arange(1, 33, dtype=np.int32), np.zeros(32, np.int32)
        design.sequence(name)(a, b)
        moved[name] = np.flatnonzero(b).tolist()
        kinds = build_log.kinds()
        build_log.clear()
        one = {"bodies": 1, "link": 1, "package": 1}
        assert kinds == (one if moved.keys() == {"low", "high"} and name == "high" else kinds)
    assert kinds == {}
    assert moved == {"low": list(range(16)), "high": list(range(16, 32))}
    a, b = np.arange(1, 49, dtype=np.int32), np.zeros(48, np.int32)
    third = design.sequence("third")
    assert third.compilable.scalar_params == ["k"]
    third(a, b, 7)
    assert np.flatnonzero(b).tolist() == list(range(32, 48))
    with pytest.raises(TypeError, match="takes 3 tensor and scalar"):
        third(a, b)
    with pytest.raises(Exception, match="fourth"):
        design.sequence("fourth").build()


def test_scons_makes_the_sequence_that_is_named(several, tmp_path, build_log):
    (tmp_path / "SConstruct").write_text(
        "import iron\n"
        "env = Environment(tools=[iron.tool])\n"
        'for name in ("low", "high"):\n'
        '    env.AIEDesign("build/" + name, "several.mlir", SEQUENCES=[name])\n'
    )
    command = [sys.executable, "-m", "SCons", "-Q"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for name, first in (("low", 0), ("high", 16)):
        a, b = np.arange(1, 33, dtype=np.int32), np.zeros(32, np.int32)
        iron.load(tmp_path / "build" / name)(a, b)
        assert np.flatnonzero(b)[0] == first
    with open(tmp_path / "SConstruct", "a") as f:
        f.write('env.AIEDesign("build/both", "several.mlir", SEQUENCES=["low", "high"])\n')
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "holds one runtime sequence" in done.stdout + done.stderr


def test_a_loaded_design_says_what_is_wrong_with_a_call(design, tmp_path):
    loaded = iron.load(design.build(out=tmp_path / "one.bundle").directory)
    assert loaded.parameters == ["source", "result", "by"]
    a, b = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    with pytest.raises(TypeError, match=r"takes 3 argument\(s\) by position \(source, result, by"):
        loaded(a, b)
    with pytest.raises(TypeError, match=r"result is to be of shape .* got 32"):
        loaded(a, b[:32], 1)
    loaded(a, b, 1)
    loaded.close()
    loaded(a, b, 2)
    assert (b == expected(a, 2)).all()
    assert re.fullmatch(r"<design scaled from .*one\.bundle>", repr(loaded))
    assert issubclass(HostRuntimeError, Exception)


# ---- shortcuts


@pytest.fixture
def at_once(monkeypatch):
    """Files are believed by their stamps however young they are."""
    monkeypatch.setattr("iron.build.digests.RACY_NS", -(2**62))


def test_a_shortcut_answers_only_while_nothing_on_the_way_is_touched(
    project, at_once, monkeypatch, build_log
):
    reads_data = 'SHIFT.replace("100", (Path(__file__).parent / "data").read_text())'
    text = DESIGN.replace("source_string=SHIFT", f"source_string={reads_data}")
    (project / "design.py").write_text("from pathlib import Path\n" + text)
    (project / "data").write_text("100")
    a = np.arange(64, dtype=np.int32)

    def call():
        """As the first call of a new process."""
        design = load_design(str(project / "design.py"))
        b = np.zeros(64, np.int32)
        iron.CallableDesign(design.compilable.specialize())(a, b, 2)
        return b

    def check(factor, near, plus, by=2):
        assert (call() == a * by * factor + near + 1 + plus * factor).all()
        build_log.clear()
        with monkeypatch.context() as barred:
            barred.setattr("iron.jit.records.own_session", lambda: pytest.fail("the long way"))
            assert (call() == a * by * factor + near + 1 + plus * factor).all()
        assert build_log.runs() == 0

    def put(name, content):
        (project / name).write_text(content)

    check(3, 2, 100)
    put("include/deep/value.h", "#define FACTOR 4\n")
    check(4, 2, 100)
    put("kernels/factor.h", "#define FACTOR 5\n")  # found before the one in include
    assert (call() == a * 2 * 5 + 2 + 1 + 100 * 4).all()
    (project / "kernels" / "factor.h").unlink()
    check(4, 2, 100)
    put("data", "200")
    check(4, 2, 200)
    put("data", "100")
    check(4, 2, 100)
    put("near.h", "#define NEAR 9\n")
    check(4, 9, 100)
    edited = (project / "design.py").read_text().replace('"-DGIVEN=1"', '"-DGIVEN=1", "-DNEAR_=1"')
    put("design.py", edited)
    check(4, 9, 100)
    package = load_design(str(project / "design.py")).build().directory
    (package / "cores0.so").chmod(0o755)
    (package / "cores0.so").write_bytes(b"damaged")
    check(4, 9, 100)
    monkeypatch.setenv("IRON_HOST_SCHEDULE", "seed:1")  # any variable of ours may say how to build
    asked, own = [], own_session
    monkeypatch.setattr("iron.jit.records.own_session", lambda: asked.append(1) or own())
    assert (call() == a * 2 * 4 + 9 + 1 + 100 * 4).all()
    assert asked


def test_no_shortcut_is_made_past_a_young_file(project, monkeypatch):
    monkeypatch.setattr("iron.build.digests.RACY_NS", 2**62)
    a, b = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    load_design(str(project / "design.py"))(a, b, 1)
    assert not os.path.exists(os.path.join(os.environ["IRON_STORE"], "shortcuts"))


def test_what_a_shortcut_loaded_is_watched_as_what_was_built(project, at_once):
    a, b = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    watches = []
    for _ in range(2):
        design = iron.CallableDesign(
            load_design(str(project / "design.py")).compilable.specialize()
        )
        design(a, b, 2)
        (loaded,) = design._loaded.values()
        watches.append(loaded.built.package.watch.stamps())
    assert watches[0] == watches[1]
    before = b.copy()
    (project / "near.h").write_text("#define NEAR 9\n")
    design(a, b, 2)
    assert (b == before + 7).all()
