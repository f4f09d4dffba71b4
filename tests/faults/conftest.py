"""Counts of what was broken and what came of it, and the seed: FAULT_SEED=... repeats a run."""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from pathlib import Path

import pytest
from fault_yard import HERE, Yard

from iron.toolchain.compiler import find_compiler

# Taken before the tests' environment is cleaned. The short form tries the same things each time.
SEED = os.environ.get("FAULT_SEED")


def pytest_report_header():
    return f"faults: seed {SEED or '1 (short form), the time (--full)'}; FAULT_SEED sets it"


@pytest.fixture(scope="session")
def full(request) -> bool:
    return request.config.getoption("--full")


@pytest.fixture
def seed(full) -> int:
    """Printed with a failure."""
    chosen = int(SEED) if SEED else time.time_ns() % 10**9 if full else 1
    print(f"FAULT_SEED={chosen}")
    return chosen


@pytest.fixture
def rng(seed) -> random.Random:
    return random.Random(seed)


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory) -> Path:
    """The stand-in compiler, compiled once for all workers of a test run."""
    base = tmp_path_factory.getbasetemp()
    program = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "stand-in"
    if not program.exists():
        mine = program.with_name(f"stand-in.{os.getpid()}")
        compiler = find_compiler()
        command = [compiler.program, *compiler.leading, "-x", "c", "-O1", "-o", mine]
        subprocess.run([*command, HERE / "stand_in.c"], check=True)
        mine.replace(program)
    return program


@pytest.fixture
def yard(tmp_path, stand_in, monkeypatch) -> Yard:
    made = Yard.make(tmp_path / "yard", stand_in)
    monkeypatch.setenv("IRON_STORE", str(made.store))
    monkeypatch.setenv("IRON_BUILD_LOG", str(made.log))
    return made


@pytest.fixture
def count(request):
    """Say what was done, and with what seed: the summary of the run shows it."""

    def note(**numbers: int) -> None:
        print(request.node.name, numbers)
        request.node.user_properties.append(("faults", json.dumps(numbers)))

    return note
