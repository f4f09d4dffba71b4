"""What every test has: a store of its own unless it asks for the shared one."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="run the long forms of tests too")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--full"):
        skip = pytest.mark.skip(reason="long form; run with --full")
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(skip)


def pytest_terminal_summary(terminalreporter):
    """What the fault tests did. Here, since the process that writes the summary may run no test
    itself and then knows no conftest.py but this one."""
    lines = [
        f"{report.nodeid.rpartition('::')[2]}: "
        + ", ".join(f"{k} {v}" for k, v in json.loads(value).items())
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == "faults" and report.when == "call"
    ]
    if lines:
        terminalreporter.section("faults")
        for line in sorted(lines):
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def runtime_store(tmp_path_factory):
    """A store that holds the emulator's runtime and nothing else, made once for all workers of a
    test run. It is copied, never used."""
    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "runtime-store"
    from iron.build import Session
    from iron.toolchain.host import HostToolchain

    Session(root).build(HostToolchain.find().worker)
    return root


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    """A store and a build log of the test's own, and nothing inherited."""
    for name in list(os.environ):
        if name.startswith(("IRON_", "NPU_")) and name != "IRON_CXX":
            monkeypatch.delenv(name)
    (tmp_path / "run").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))  # a job budget of its own
    monkeypatch.setenv("IRON_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("IRON_BUILD_LOG", str(tmp_path / "build.log"))


@pytest.fixture
def own_store(environment, runtime_store, tmp_path) -> str:
    """The test's store, with the emulator's runtime in it: not every test compiles that."""
    store = tmp_path / "store"
    shutil.copytree(runtime_store, store, symlinks=True, copy_function=os.link)
    return str(store)


class BuildLog:
    """The lines of a build log, as counts."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> list[dict]:
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def runs(self, kind: str | None = None) -> int:
        return sum(line["event"] == "run" and kind in (None, line["kind"]) for line in self.lines())

    def kinds(self) -> dict[str, int]:
        """How many commands ran, by kind."""
        found: dict[str, int] = {}
        for line in self.lines():
            if line["event"] == "run":
                found[line["kind"]] = found.get(line["kind"], 0) + 1
        return found

    def clear(self) -> None:
        self.path.unlink(missing_ok=True)


@pytest.fixture
def build_log(tmp_path) -> BuildLog:
    return BuildLog(tmp_path / "build.log")
