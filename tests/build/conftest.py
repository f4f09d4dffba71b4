"""Fixtures of the build layer's tests; see build_workshop."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from build_workshop import Workshop


@pytest.fixture
def w(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    made = Workshop(tmp_path)
    monkeypatch.setenv("IRON_BUILD_LOG", str(made.log_file))
    monkeypatch.setenv("IRON_STORE", str(made.store))
    return made


@pytest.fixture(scope="session")
def symbols() -> Any:
    """The defined symbols of an object file."""

    def names(path: str) -> set[str]:
        out = subprocess.run(["nm", "-C", path], capture_output=True, text=True, check=True).stdout
        return {line.split(" ", 2)[2] for line in out.splitlines() if line[17:18] in "TDBR"}

    return names
