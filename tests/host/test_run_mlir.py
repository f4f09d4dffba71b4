"""``iron run design.mlir`` and ``iron graph``: a module from a file, with arrays."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from designs import acquire, core, fifo, in_and_out, map_core, module, release

from iron.cli.main import main
from iron.cli.run_mlir import MlirProgram, RunError

I32 = np.int32
KERNEL = """#include <cstdint>
extern "C" void work(const int32_t *a, int32_t *b) { for (int i = 0; i < 16; i++) b[i] = a[i] * 5; }
"""


def design(*, depth: int = 2) -> str:
    return module(
        'func.func private @work(memref<16xi32>, memref<16xi32>) attributes {link_with = "work.o"}',
        fifo("in", "0_0", "0_2", "16xi32", [2, depth]),
        fifo("out", "0_2", "0_0", "16xi32"),
        core(
            "0_2",
            "\n".join(
                [
                    acquire("in", "Consume", "16xi32"),
                    acquire("out", "Produce", "16xi32"),
                    "func.call @work(%in0, %out0) : (memref<16xi32>, memref<16xi32>) -> ()",
                    release("in", "Consume"),
                    release("out", "Produce"),
                ]
            ),
        ),
        in_and_out("in", "out", 64),
    )


@pytest.fixture
def folder(own_store, tmp_path):
    (tmp_path / "d.mlir").write_text(design())
    (tmp_path / "work.cc").write_text(KERNEL)
    return tmp_path


def test_the_command(folder, capsys):
    out = folder / "o.npy"
    trace = folder / "t.json"
    words = ["--arg", "0=arange", "--out", f"1={out}", "--trace", str(trace)]
    assert main(["run", str(folder / "d.mlir"), *words]) == 0
    np.testing.assert_array_equal(np.load(out), np.arange(64) * 5)
    assert "1 arg1: 64xi32 = [" in capsys.readouterr().out
    assert json.loads(trace.read_text())["traceEvents"]
    given = folder / "x.npy"
    np.save(given, np.arange(64, dtype=I32)[::-1])
    assert main(["run", str(folder / "d.mlir"), "--arg", f"arg0={given}", "--out", f"1={out}"]) == 0
    np.testing.assert_array_equal(np.load(out), np.arange(64)[::-1] * 5)


def test_what_is_wrong_is_said(folder, capsys):
    path = str(folder / "d.mlir")

    def says(*words: str) -> str:
        assert main(["run", path, *words]) == 1
        return capsys.readouterr().err

    assert "has no argument 2; it has: 0 arg0: 64xi32, 1 arg1: 64xi32" in says("--arg", "2=zeros")
    assert "'many' is neither a file nor zeros, ones, arange" in says("--arg", "0=many")
    assert "--object NAME=PATH" not in says("--object", "work.o=nowhere.cc")
    (folder / "work.cc").unlink()
    assert 'links "work.o", and there is neither work.cc|.cpp' in says()
    (folder / "d.mlir").write_text(design().replace("scf.for", "scf.far"))
    assert re.search(r"d\.mlir:\d+", says("--object", "work.o=" + str(folder / "d.mlir")))


def test_the_program(own_store, tmp_path):
    (tmp_path / "k.cpp").write_text(KERNEL)
    objects = {"work.o": tmp_path / "k.cpp"}
    program = MlirProgram(text=design(), objects=objects)
    a, b = np.arange(64, dtype=I32), np.zeros(64, I32)
    program(a, b)
    np.testing.assert_array_equal(b, a * 5)
    b[:] = 0
    program(a, arg1=b, timeout=30)
    np.testing.assert_array_equal(b, a * 5)
    with pytest.raises(RunError, match=r"takes the arguments arg0: 64xi32, arg1: 64xi32; given"):
        program(a)
    with pytest.raises(RunError, match="has 64 elements, the array has 63"):
        program(a[:63].copy(), b)
    with pytest.raises(RunError, match="does not fit an array of int8"):
        program(a.astype(np.int8), b)
    program.close()


def test_limits_can_be_left_out(own_store, tmp_path):
    (tmp_path / "k.cpp").write_text(KERNEL)
    objects = {"work.o": tmp_path / "k.cpp"}
    text = design(depth=2000)
    with pytest.raises(RunError, match="--no-limits runs it all the same"):
        MlirProgram(text=text, objects=objects).build()
    a, b = np.arange(64, dtype=I32), np.zeros(64, I32)
    program = MlirProgram(text=text, objects=objects, limits=False)
    program(a, b)
    program.close()
    np.testing.assert_array_equal(b, a * 5)


def test_a_drawing(tmp_path, capsys):
    path = tmp_path / "d.mlir"
    path.write_text(
        module(
            fifo("in", "0_0", "0_2", "16xi32"),
            fifo("mid", "0_2", "0_3", "16xi32", 3),
            fifo("out", "0_3", "0_0", "16xi32"),
            map_core("0_2", "in", "mid", 16, "%y = arith.addi %x, %x : i32"),
            map_core("0_3", "mid", "out", 16, "%y = arith.addi %x, %x : i32"),
            in_and_out("in", "out", 64),
        )
    )
    assert main(["graph", str(path)]) == 0
    drawn = tmp_path / "d.svg"
    assert capsys.readouterr().out.strip() == str(drawn)
    root = ET.parse(drawn).getroot()
    space = "{http://www.w3.org/2000/svg}"
    texts = [(t.text or "") for t in root.iter(f"{space}text")]
    assert {"core (0,2)", "core (0,3)", "shim (0,0)"} <= set(texts)
    assert any(t.startswith("in_cons: 2") for t in texts)
    titles = [p.findtext(f"{space}title") for p in root.iter(f"{space}path")]
    assert {"in", "out", "mid, 3 in shared memory"} <= set(titles)
    boxes = [
        tuple(float(r.get(k, "0")) for k in ("x", "y", "width", "height"))
        for r in root.iter(f"{space}rect")
        if r.get("rx")
    ]
    for i, (x, y, w, h) in enumerate(boxes):  # nothing lies on anything
        for u, v, a, b in boxes[i + 1 :]:
            assert x + w <= u or u + a <= x or y + h <= v or v + b <= y
    assert len(boxes) == 3
