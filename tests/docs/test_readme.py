"""Every command and every snippet of README.md runs."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", (TOP / "README.md").read_text(), re.M | re.S)
COMMANDS = [line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines() if line]
SNIPPETS = [text for kind, text in BLOCKS if kind == "python"]


@pytest.fixture(autouse=True)
def store(own_store):
    """The commands build."""


def test_the_readme_has_what_is_tested_here():
    assert "./sconsw demo" in COMMANDS
    assert "./sconsw test" in COMMANDS
    assert len(SNIPPETS) == 3


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_readme_runs(command):
    if command == "./sconsw test":
        command += " PYTEST=--version"  # this very suite is what it runs
    bin_directory = str(Path(sys.executable).parent)
    done = subprocess.run(
        shlex.split(command),
        cwd=TOP,
        env={**os.environ, "PATH": f"{bin_directory}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    if command == "./sconsw demo":
        assert "equals NumPy's" in done.stdout


@pytest.mark.parametrize("snippet", SNIPPETS[:2], ids=["short", "written out"])
def test_a_design_of_the_readme_runs(snippet, tmp_path):
    script = tmp_path / "design.py"
    script.write_text(snippet)
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_sconstruct_of_the_readme_builds_what_it_names(tmp_path):
    (tmp_path / "SConstruct").write_text(SNIPPETS[2])
    (tmp_path / "design.py").write_text(SNIPPETS[1].partition("\na, b =")[0])
    for name in ("scale", "clamp", "offset"):
        (tmp_path / f"{name}.cc").write_text((TOP / "kernels" / f"{name}.cc").read_text())
    done = subprocess.run(
        [sys.executable, "-m", "SCons", "-Q"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    built = {str(p.relative_to(tmp_path / "build")) for p in (tmp_path / "build").rglob("*")}
    assert {"scale.o", "elementwise.a", "design/aie.mlir", "design/worker"} <= built
