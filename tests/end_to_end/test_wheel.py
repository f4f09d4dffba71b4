"""The package as pip installs it, far from this tree: a user's own SConstruct, and his script."""

import importlib.util
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]

SCONSTRUCT = """import iron
env = Environment(tools=[iron.tool], AIEPATH=["include"])
env.AIEKernel("scale.o", "scale.cc")
env.AIEArchive("libscale.a", ["scale.cc"])
env.AIEDesign("scaled", "design.py")
env.AIEDesign("copy", "copied.py")
env.CompileCommands()
"""

# With a kernel of ours, whose C++ is in the wheel.
COPIED = """import numpy as np

import iron
from iron import In, ObjectFifo, Out, Program, Runtime, Worker, kernels


@iron.jit
def copied(left: In, result: Out):
    tile = np.ndarray[(1024,), np.dtype[np.int32]]
    copy = kernels.passthrough(tile_size=1024, dtype=np.int32)
    left, result = ObjectFifo(tile, name="left"), ObjectFifo(tile, name="result")

    def core(left, result, copy):
        x, y = left.acquire(1), result.acquire(1)
        copy(x, y, 1024)
        left.release(1)
        result.release(1)

    worker = Worker(core, [left.cons(), result.prod(), copy])

    def sequence(a, c, left, result):
        left.fill(a)
        result.drain(c, wait=True)

    runtime = Runtime(sequence, [tile, tile, left.prod(), result.cons()])
    return Program(iron.get_current_device(), runtime, workers=[worker]).resolve_program()


if __name__ == "__main__":
    source, result = iron.arange(1024, dtype=np.int32), iron.zeros(1024, dtype=np.int32)
    copied(source, result)
    print(result.numpy()[5], iron.__file__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("makes the wheel with hatchling, which is not installed")
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out]
    subprocess.run(command, cwd=TOP, check=True, stdout=subprocess.DEVNULL)
    (made,) = out.glob("*.whl")
    return made


def files_below(directory: Path, shown: str) -> set[str]:
    return {
        f"{shown}/{path.relative_to(directory)}"
        for path in directory.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_has_every_file_of_the_package_and_the_kernels(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    wanted = files_below(TOP / "iron", "iron") | files_below(TOP / "kernels", "iron/kernels/cpp")
    assert names == wanted
    for suffix in (".py", ".cc", ".h", ".hpp", "/py.typed"):
        assert any(name.endswith(suffix) for name in names), suffix


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The `bin` of a new environment with the wheel, and what it requires borrowed from ours."""
    home = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    pip = [sys.executable, "-m", "pip", "--python", home / "bin" / "python", "install", "-q"]
    options = ["--no-deps", "--no-index", "--disable-pip-version-check", wheel]
    subprocess.run([*pip, *options], check=True, stderr=subprocess.DEVNULL)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    places = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (home / "lib" / version / "site-packages" / "borrowed.pth").write_text("\n".join(places))
    return home / "bin"


def test_a_users_own_tree_with_the_installed_package(installed, project, build_log):
    project.write("SConstruct", SCONSTRUCT)
    project.write("copied.py", COPIED)

    def run(*command):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        done = subprocess.run(
            [installed / command[0], *command[1:]],
            cwd=project.path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("python", "-m", "SCons", "-Q", "-j2")
    for name in ("scale.o", "libscale.a", "scaled", "copy", "compile_commands.json"):
        assert (project.path / name).exists()
    assert build_log.runs("kernel-object") == 2
    assert build_log.kinds().get("worker") is None, "what this tree has made was found"
    build_log.clear()
    value, file = run("python", "copied.py").split()
    assert value == "5"
    assert Path(file).is_relative_to(installed.parent)
    assert build_log.runs() == 0, "the script found what scons made"
    assert "found, nothing ran" in run("iron", "explain", "copied")
    assert "up to date" in run("python", "-m", "SCons", "-Q", "scaled", "copy", "scale.o")
