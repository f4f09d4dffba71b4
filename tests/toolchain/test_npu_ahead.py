"""Designs built ahead of their call for the npu target: exported, loaded, another sequence."""

import hashlib
import json
import os
import shutil
import subprocess
import sys

import numpy as np
from test_npu_remake import PLACED, SEQUENCE
from test_npu_users import folder, load, npu  # noqa: F401 - fixtures

import iron


def test_an_export_is_rebuilt_elsewhere_and_its_bundle_runs(
    tools, folder, npu, tmp_path, monkeypatch  # noqa: F811
):  # fmt: skip
    with iron.options(target="npu"):
        place = load(folder).export(tmp_path / "exported", N=256)
    manifest = json.loads((place / "manifest.json").read_text())
    assert (manifest["target"], manifest["device"]) == ("npu", "npu2")
    assert "tree/scale.cc" in manifest["files"]
    moved = tmp_path / "else where"
    shutil.move(place, moved)
    shutil.rmtree(folder)
    done = subprocess.run(
        [sys.executable, "-m", "SCons", "-Q"], cwd=moved, capture_output=True, text=True,
        env={**os.environ, "IRON_STORE": str(tmp_path / "other")}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    built = moved / "build" / "scaled"
    assert {
        name: hashlib.sha256((built / name).read_bytes()).hexdigest()
        for name in manifest["package"]
    } == manifest["package"]
    assert "final.xclbin" in manifest["package"]
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("MLIR_AIE_INSTALL_DIR")
    for path in (moved, moved / "scaled.bundle", built):
        x, y = np.arange(256, dtype=np.int32), np.zeros(256, np.int32)
        iron.load(path)(x, y)
        assert (y == x + 1).all()


def test_another_sequence_of_a_design_remakes_instructions_only(
    tools, folder, npu, build_log  # noqa: F811
):  # fmt: skip
    design = load(folder)
    with iron.options(target="npu"):
        design(iron.arange(128, dtype=np.int32), iron.zeros(128, dtype=np.int32))
        build_log.clear()
        x, y = iron.arange(320, dtype=np.int32), iron.zeros(320, dtype=np.int32)
        design(x, y, N=320)
    assert (y.numpy() == x.numpy() + 1).all()
    # The text is placed anew, since it holds the sequence; it comes to the same overlay.
    assert build_log.kinds() == {**PLACED, **SEQUENCE}
    assert len(npu.did("context")) == 1
