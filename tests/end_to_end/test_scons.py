"""`scons` and the JIT build the same things into the same store."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
EXAMPLES = ("passthrough", "vector_scalar_mul", "two_functions", "matmul", "archive")


@pytest.fixture
def checkout(tmp_path):
    """The parts of this project that scons reads, in a directory of their own."""
    path = tmp_path / "checkout"
    path.mkdir()
    for name in ("SConstruct", "site_scons", "kernels", "examples"):
        source = TOP / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, path / name)
    return path


def scons(checkout, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "SCons", *arguments],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_example(checkout, name):
    done = subprocess.run(
        [sys.executable, str(checkout / "examples" / f"{name}.py")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_scons_then_jit_then_scons_again(checkout, build_log, own_store):
    scons(checkout, "-j2", "-Q")
    kinds = build_log.kinds()
    assert kinds["package"] == len(EXAMPLES)
    build_log.clear()
    for name in EXAMPLES:
        assert run_example(checkout, name).startswith(f"{name}: ")
    assert build_log.runs() == 0

    assert "is up to date" in scons(checkout, "-Q", "examples", "kernels")
    before = {
        p.relative_to(checkout): p.read_bytes()
        for p in (checkout / "build").rglob("*")
        if p.is_file()
    }
    shutil.rmtree(checkout / "build")
    scons(checkout, "-Q")
    assert build_log.runs() == 0
    after = {
        p.relative_to(checkout): p.read_bytes()
        for p in (checkout / "build").rglob("*")
        if p.is_file()
    }
    assert after == before
    assert len(after) > 25


def test_jit_then_scons(checkout, build_log, own_store):
    for name in EXAMPLES:
        run_example(checkout, name)
    build_log.clear()
    scons(checkout, "-Q", "examples")
    assert build_log.runs() == 0
    for name in EXAMPLES:
        files = {p.name for p in (checkout / "build" / "examples" / name).iterdir()}
        assert {"aie.mlir", "design.net", "arguments.json", "worker", "sequence.so"} <= files


def test_an_edit_remakes_what_it_must_and_tampering_is_undone(checkout, build_log):
    scons(checkout, "-Q", "vector_scalar_mul")
    build_log.clear()
    kernel = checkout / "kernels" / "scale.cc"
    kernel.write_text(kernel.read_text().replace("in[i])", "in[i] + 1)"))
    scons(checkout, "-Q", "vector_scalar_mul")
    assert build_log.kinds() == {"kernel-object": 1, "link": 1, "package": 1}
    build_log.clear()
    package = checkout / "build" / "examples" / "vector_scalar_mul"
    for name in ("design.net", "sequence.so"):
        good = (package / name).read_bytes()
        (package / name).unlink()
        (package / name).write_bytes(b"tampered")
        scons(checkout, "-Q", "vector_scalar_mul")
        assert (package / name).read_bytes() == good
    assert build_log.runs() == 0
    scons(checkout, "-Q", "-c", "vector_scalar_mul")
    assert not package.exists()


def test_a_failing_kernel_ends_scons_with_the_compilers_words(checkout):
    kernel = checkout / "kernels" / "scale.cc"
    kernel.write_text(kernel.read_text() + "\nint broken( {\n")
    done = subprocess.run(
        [sys.executable, "-m", "SCons", "-Q", "vector_scalar_mul"],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "scale.cc" in done.stderr
    assert "error:" in done.stderr


def test_help_lists_the_targets(checkout):
    out = scons(checkout, "-h")
    for name in ("demo", "test", "kernels", "examples", *EXAMPLES):
        assert name in out
