"""The harness catches what it is there to catch: each of these faults, put into a copy of the build
layer, makes one of its tests fail."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fault_yard import HERE

IRON = HERE.parents[1] / "iron"

# name: (module of iron/build, code that takes the place of what it defines, the test that fails)
FAULTS = {
    "an input edited during the command goes unnoticed": (
        "make", "def _check_unchanged(*_): pass", "while_everybody",
    ),
    "results appear file by file": (
        "store",
        """
import shutil
def _publish(self, key, directory, kind, outputs, notes):
    write_record(directory, key, kind, outputs, notes)
    shutil.copytree(directory, self.directory(key), dirs_exist_ok=True)
    return self.get(key)
Store.publish = _publish
def _trusting(self, key):
    directory = self.directory(key)
    return self._read(key, directory) if os.path.exists(f"{directory}/{RECORD}") else None
Store.get = _trusting
""",
        "kills",
    ),
    "dependency files are not read": (
        "make", "def split_reads(*_): return Reads((), (), ())", "random_edits",
    ),
    "locks exclude nobody": ("locks", "def _flock(*_): pass", "overlapping"),
    "a change of nothing but the inode's time is no change": (
        "digests",
        "def stamp_of(s): return (s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, 0)",
        "random_edits",
    ),
    "a stamp is believed at once": (
        "digests",
        "def settled(stamp): return True\n"
        "def stamp_of(s): return (s.st_dev, 0, s.st_size, s.st_mtime_ns // 10**9, 0)",
        "random_edits",
    ),
    "stored files are not looked at": (
        "entry", "def verify(entry, scratch): return entry", "damage",
    ),
    "a live session does not look again": (
        "store", "def stamps_hold(entry): return True", "damage",
    ),
    "nobody sweeps": ("store", "Store._sweep = lambda self: None", "kills"),
    "what a killed command left is a result": (
        "make",
        """
_honest = _run
def _run(*arguments):
    return _honest(*arguments)._replace(status=0)
""",
        "random_kills",
    ),
    "a session looks at files once": (
        "session",
        """
_fresh = Session.keys
Session.keys = lambda self: self.__dict__.setdefault("_once", _fresh(self))
""",
        "random_edits",
    ),
    "headers are in no key": (
        "cover",
        "def _parts(found, sources, view): return tuple(f.digest for f in found.files[:1])",
        "random_edits",
    ),
    "flags are in no key": (
        "keys",
        "Keys.action = lambda self, recipe: digest(FORMAT, self.tool(recipe.tool), recipe.kind)",
        "random_edits",
    ),
    "work directories stay": (
        "store",
        """
import tempfile
@contextlib.contextmanager
def _scratch(self, key):
    os.makedirs(self.side("tmp"), exist_ok=True)
    yield tempfile.mkdtemp(prefix=f"{key[:12]}.", dir=self.side("tmp"))
Store.scratch = _scratch
""",
        "overlapping",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_the_harness_catches(fault, tmp_path):
    module, code, tests = FAULTS[fault]
    copy = tmp_path / "broken" / "iron"
    shutil.copytree(IRON, copy, ignore=shutil.ignore_patterns("__pycache__"))
    with open(copy / "build" / f"{module}.py", "a", encoding="utf-8") as stream:
        stream.write(f"\n\n{code}\n")
    done = run_harness(copy.parent, tests, tmp_path, "--full")
    assert done.returncode == 1, f"not caught:\n{done.stdout}{done.stderr}"
    assert "FAILED tests/faults" in done.stdout


@pytest.mark.slow
def test_a_sound_copy_passes(tmp_path):
    copy = tmp_path / "sound" / "iron"
    shutil.copytree(IRON, copy, ignore=shutil.ignore_patterns("__pycache__"))
    done = run_harness(copy.parent, "not catches", tmp_path)
    assert done.returncode == 0, done.stdout


def run_harness(
    package: Path, tests: str, tmp_path: Path, *options: str
) -> subprocess.CompletedProcess:
    """Until a test fails, on that copy of the package (whose path comes before the installed
    one)."""
    command = [
        Path(sys.executable).with_name("pytest"), HERE, "-x", "-q", "-p", "no:cacheprovider",
        "-k", f"({tests}) and not jit and not reload and not catches and not sound",
        f"--basetemp={tmp_path}/inner", *options,
    ]  # fmt: skip
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "IRON_"))},
        "PYTHONPATH": str(package),
    }
    return subprocess.run(
        command, env=environment, cwd=HERE.parents[1], capture_output=True, text=True, check=False
    )  # fmt: skip
