"""Runs the tests of what we use of SCons on the newest SCons of the package index. It only
reports: a release that we do not support yet is no fault of a change. Ends with status 0.

`./sconsw scons-newest` calls it. Everything but SCons is borrowed from the environment it runs in.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
HOME = TOP / "build" / "scons-newest"
TESTS = ("tests/build/test_build_contract.py", "tests/build/test_build_scons.py")


def environment() -> tuple[Path, str] | None:
    """The Python of a new environment that has the newest SCons, and which; None if it cannot be
    had."""
    shutil.rmtree(HOME, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", HOME], check=True)
    python = HOME / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    if subprocess.run([*pip, "install", "-q", "scons"], check=False).returncode:
        return None
    borrowed = {str(TOP), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (own,) = HOME.glob("lib/python*/site-packages")
    (own / "borrowed.pth").write_text("\n".join(sorted(borrowed)))
    program = "import SCons; print(SCons.__version__)"
    version = subprocess.run([python, "-c", program], check=True, capture_output=True, text=True)
    return python, version.stdout.strip()


def main() -> None:
    made = environment()
    if made is None:
        print("scons-newest: no SCons could be had from the package index; nothing was tested")
        return
    python, version = made
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
    command += ["--deselect", f"{TESTS[0]}::test_the_release_is_in_the_supported_range"]
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    status = subprocess.run(command, cwd=TOP, env=clean, check=False).returncode
    verdict = "passes" if status == 0 else "does NOT pass: read iron/build/engine.py against it"
    print(f"scons-newest: SCons {version}, the newest of the index, {verdict}")


if __name__ == "__main__":
    main()
