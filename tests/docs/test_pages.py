"""Every command, file and edit of the pages in docs/ does what the page shows.

A page is a session in one directory, from top to bottom:

- a code block with a caption is a file of that name;
- a ``diff`` block with a caption is an edit of that file: what it takes away stands there once;
- a ``console`` block has commands after ``$`` and what they print, ``...`` for any text;
- a ``python`` block without a caption is a script, and says nothing on stderr;
- an ``sh`` block has commands that succeed;
- ``make``, ``text`` and other blocks are shown only.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

TOP = Path(__file__).resolve().parents[2]
FENCE = re.compile(
    r"^```(?:\{code-block\} )?(\w+)\n(?::caption: (\S+)\n\n?)?(.*?)^```$", re.M | re.S
)


class Block(NamedTuple):
    kind: str
    caption: str
    text: str
    line: int


def blocks_of(page):
    text = page.read_text()
    return [
        Block(m[1], m[2] or "", m[3], text.count("\n", 0, m.start()) + 1)
        for m in FENCE.finditer(text)
    ]


PAGES = [
    page
    for page in sorted((TOP / "docs").glob("*.md"))
    if {b.kind for b in blocks_of(page)} - {"text", "make"}
]


def shown(text):
    """A pattern of what a block shows of a command's output."""
    parts = [re.escape(p) for p in text.strip().split("...")]
    return re.compile(".*".join(parts), re.S)


def edit(file, block):
    """Apply a diff: take away lines with ``-``, put those with ``+``, and keep the others."""
    lines = block.text.splitlines()
    before = "".join(f"{line[1:]}\n" for line in lines if line[:1] != "+")
    after = "".join(f"{line[1:]}\n" for line in lines if line[:1] != "-")
    text = file.read_text()
    assert text.count(before) == 1, f"line {block.line}: the edit does not fit {file.name}"
    file.write_text(text.replace(before, after))


class Session:
    def __init__(self, directory):
        self.directory = directory
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "COLUMNS": "88"}

    def run(self, command):
        return subprocess.run(
            ["sh", "-c", command],
            cwd=self.directory,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def console(self, block):
        for step in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
            command, _, expected = step.partition("\n")
            done = self.run(command)
            where = f"line {block.line}: $ {command}\n{done.stdout}"
            assert shown(expected).fullmatch(done.stdout.strip()), where
            assert expected or done.returncode == 0, where

    def sh(self, block):
        for command in block.text.splitlines():
            done = self.run(command)
            assert done.returncode == 0, f"line {block.line}: {command}\n{done.stdout}"

    def python(self, block):
        script = self.directory / "snippet.py"
        script.write_text(block.text)
        done = self.run(f"{sys.executable} snippet.py")
        assert (done.returncode, done.stdout) == (0, ""), f"line {block.line}: {done.stdout}"

    def do(self, block):
        if block.caption:
            file = self.directory / block.caption
            file.parent.mkdir(parents=True, exist_ok=True)
            if block.kind == "diff":
                edit(file, block)
            else:
                file.write_text(block.text)
        elif block.kind in ("console", "sh", "python"):
            getattr(self, block.kind)(block)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_does_what_it_shows(page, own_store, tmp_path):
    session = Session(tmp_path)
    for block in blocks_of(page):
        session.do(block)


def test_a_page_that_shows_something_else_is_found(tmp_path):
    session = Session(tmp_path)
    session.do(Block("cpp", "a.cc", "int a;\nint b;\n", 1))
    session.do(Block("diff", "a.cc", " int a;\n-int b;\n+int c;\n", 2))
    assert (tmp_path / "a.cc").read_text() == "int a;\nint c;\n"
    session.do(Block("console", "", "$ cat a.cc\nint...c;\n$ false || true\n", 3))
    for block in (
        Block("diff", "a.cc", "-int b;\n+int c;\n", 4),
        Block("console", "", "$ cat a.cc\nint b;\n", 5),
        Block("console", "", "$ false\n", 6),
        Block("sh", "", "true\nfalse\n", 7),
        Block("python", "", "print(1)\n", 8),
    ):
        with pytest.raises(AssertionError, match=f"line {block.line}"):
            session.do(block)
