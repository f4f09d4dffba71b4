"""The bench runs, with every tool there is, and says what it found."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


def test_one_object_by_every_tool(own_store):
    done = subprocess.run(
        [
            sys.executable, "-m", "bench", "-n", "1", "--rounds", "1", "--compiles", "1",
            "--rows", "builds,calls", "--store", own_store,
        ],
        cwd=TOP,
        env={k: v for k, v in os.environ.items() if k != "IRON_STORE"},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    tools = ["iron session", "iron scons", "stock scons"]
    tools += [name for name in ("ninja", "make") if shutil.which(name)]
    for kind in ("no-op", "one changed", "cold"):
        for tool in tools:
            assert f"N=1 {kind}: {tool}" in done.stdout
    assert 'a call, reload="auto"' in done.stdout
