"""The house in order: lint, format, types, layers, cheap import, headers of modules."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parent.parent
MODULES = sorted((TOP / "iron").rglob("*.py"))
LONGEST_MODULE = 450  # lines; "a few hundred"


def run(*command):
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=TOP, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_linter_has_nothing_to_say():
    run("ruff", "check", ".")


def test_everything_is_formatted():
    run("ruff", "format", "--check", ".")


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="NumPy's own types differ from release to release"
)
def test_types_are_checked():
    run("mypy", "--cache-dir", str(TOP / ".mypy_cache"))


def test_rooms_import_only_downwards():
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(TOP)))
def test_a_module_says_what_it_owns_and_fits_a_room(path):
    text = path.read_text()
    assert ast.get_docstring(ast.parse(text)), "no docstring"
    assert text.count("\n") <= LONGEST_MODULE


def test_importing_iron_costs_little():
    script = (
        "import sys, numpy; before = set(sys.modules); import iron; iron.jit, iron.ObjectFifo;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    assert "iron.jit" in loaded
    assert not [m for m in loaded if m.partition(".")[0] in ("SCons", "pyxrt", "ziglang")]


def test_every_public_name_is_there():
    import iron

    for name in iron.__all__:
        assert getattr(iron, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = iron.nothing
