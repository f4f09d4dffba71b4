"""The site builds, and says what is public; the tables that code cannot make are complete."""

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


def test_the_site_builds_without_a_warning_and_says_what_is_public(tmp_path):
    """As ``./sconsw docs`` builds it: docstrings, signatures, the command's own help."""
    options = ["-E", "-W", "--keep-going", "-q", "-b", "html", "-d", str(tmp_path / "trees")]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, "docs", str(tmp_path / "html")],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    design = (tmp_path / "html" / "api" / "design.html").read_text()
    assert 'id="iron.ObjectFifo.prod"' in design
    assert "one for all calls" in design
    assert "iron cache gc" in (tmp_path / "html" / "cli.html").read_text()


def test_every_variable_is_in_the_table():
    """Ours, wherever they are read, and those of others that decide about stores and tools."""
    from iron.build import STORE_VARIABLES
    from iron.toolchain.variables import HOST, NPU

    named = {*STORE_VARIABLES, *HOST, *NPU} - {"HOME", "PATH"}
    for path in (p for p in (TOP / "iron").rglob("*") if p.suffix in (".py", ".cc")):
        named |= set(re.findall(r'"(IRON_[A-Z_]+)"', path.read_text()))
    named -= {"IRON_WITHIN_BUILD"}  # we set it ourselves
    named -= {"IRON_SESSION", "IRON_DECLARED"}  # construction variables of SCons
    named -= {"IRON_IMAGE"}  # a macro
    rows = re.findall(r"^\| (`.*?`) \|", (TOP / "docs" / "environment.md").read_text(), re.M)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == named


def test_a_public_name_without_a_page_or_docstring_is_found(tmp_path):
    (tmp_path / "conf.py").write_text((TOP / "docs" / "conf.py").read_text())
    (tmp_path / "reference.py").write_text((TOP / "docs" / "reference.py").read_text())
    (tmp_path / "index.rst").write_text("Words\n=====\n\n`Worker.nothing` is no name.\n")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-b", "dummy", str(tmp_path), str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "iron.Worker is public and on no page" in done.stderr
    assert "'Worker.nothing' is a name on no page" in done.stderr
