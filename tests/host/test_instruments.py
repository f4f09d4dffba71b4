"""What looks into a run: drawn schedules, the race check, the address sanitizer, the timeline."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from designs import (
    acquire,
    add,
    core,
    fifo,
    in_and_out,
    map_core,
    module,
    release,
    sequence,
    transfer,
)

from iron import host
from iron.runtime.errors import HostRuntimeError, KernelCrash, RaceFound

I32 = np.int32


def chain() -> str:
    return module(
        fifo("in", "0_0", "0_2", "16xi32"),
        fifo("mid", "0_2", "0_4", "16xi32"),
        fifo("out", "0_4", "0_0", "16xi32"),
        map_core("0_2", "in", "mid", 16, add(1)),
        map_core("0_4", "mid", "out", 16, add(2)),
        in_and_out("in", "out", 256),
    )


def links_with_the_sanitizer(cxx: list[str], directory: Path) -> bool:
    """Debian keeps Clang's sanitizers in a package of their own."""
    source = directory / "empty.cc"
    source.write_text("int main() { return 0; }\n")
    command = [*cxx, "-fsanitize=address", str(source), "-o", str(directory / "empty")]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


# ---- schedules
def test_a_seed_draws_the_order_and_draws_it_alike(build, monkeypatch):
    data = np.arange(256, dtype=I32)
    steps = {}
    for seed in ("", "seed:1", "seed:1", "seed:2", "seed:3", "seed:4"):
        monkeypatch.setenv("IRON_HOST_SCHEDULE", seed)
        design = build(chain())
        np.testing.assert_array_equal(design(data, np.zeros(256, I32))[1], data + 3)
        known = steps.setdefault(seed, design.report.steps)
        assert known == design.report.steps
    assert len(set(steps.values())) > 1


def test_a_seed_shows_a_result_that_depends_on_the_order(build, monkeypatch):
    """Two cores write what a third reads; a lock counts them but does not order them."""
    text = module(
        '%x = aie.buffer(%t0_3) {sym_name = "x"} : memref<1xi32>',
        '%n = aie.lock(%t0_3) {init = 0 : i32, sym_name = "n"}',
        "%one = arith.constant 1 : i32\n%two = arith.constant 2 : i32",
        *(
            f"""%core{r} = aie.core(%t0_{r}) {{
  %c0 = arith.constant 0 : index
  %v = arith.constant {r} : i32
  memref.store %v, %x[%c0] : memref<1xi32>
  aie.use_lock(%n, Release, %one)
  aie.end
}}"""
            for r in (2, 4)
        ),
        fifo("out", "0_3", "0_0", "1xi32"),
        core(
            "0_3",
            "\n".join(
                [
                    "aie.use_lock(%n, AcquireGreaterEqual, %two)",
                    acquire("out", "Produce", "1xi32"),
                    "%v = memref.load %x[%c0] : memref<1xi32>",
                    "memref.store %v, %out0[%c0] : memref<1xi32>",
                    release("out", "Produce"),
                ]
            ),
        ),
        sequence(["1xi32"], transfer(0, "out", 0, 1, "1xi32", wait=True), wait=[0]),
    )
    found = set()
    for seed in range(8):
        monkeypatch.setenv("IRON_HOST_SCHEDULE", f"seed:{seed}")
        found.add(int(build(text)(np.zeros(1, I32))[0][0]))
    assert found == {2, 4}


def test_a_schedule_must_be_a_seed(build, monkeypatch):
    monkeypatch.setenv("IRON_HOST_SCHEDULE", "random")
    design = build(chain())
    with pytest.raises(HostRuntimeError, match="IRON_HOST_SCHEDULE=random: write it as seed:N"):
        design(np.zeros(256, I32), np.zeros(256, I32))


# ---- races
def parameter(order: str) -> str:
    """A core reads a parameter the sequence writes, after its first object or before it."""
    load = "%k = memref.load %p[%c0] : memref<4xi32>"
    body = [acquire("in", "Consume", "16xi32"), acquire("out", "Produce", "16xi32")]
    body = [*body, load] if order == "after" else [load, *body]
    return module(
        '%p = aie.buffer(%t0_2) {sym_name = "p"} : memref<4xi32>',
        fifo("in", "0_0", "0_2", "16xi32"),
        fifo("out", "0_2", "0_0", "16xi32"),
        core(
            "0_2",
            "\n".join(
                [
                    *body,
                    "memref.store %k, %out0[%c0] : memref<16xi32>",
                    release("in", "Consume"),
                    release("out", "Produce"),
                ]
            ),
        ),
        sequence(
            ["16xi32", "16xi32"],
            "aiex.npu.rtp_write(@p, 0, 7)",
            transfer(0, "in", 0, 16, "16xi32"),
            transfer(1, "out", 1, 16, "16xi32", wait=True),
            wait=[1],
        ),
    )


def test_the_race_check_knows_what_orders(build, monkeypatch):
    monkeypatch.setenv("IRON_HOST_CHECK", "race")
    zeros = np.zeros(16, I32)
    ordered = build(parameter("after"))
    for _ in range(3):
        assert ordered(zeros, zeros)[1][0] == 7
    design = build(chain())
    data = np.arange(256, dtype=I32)
    np.testing.assert_array_equal(design(data, np.zeros(256, I32))[1], data + 3)


def test_the_race_check_reports_a_read_that_nothing_orders(build, monkeypatch):
    monkeypatch.setenv("IRON_HOST_CHECK", "race")
    with pytest.raises(RaceFound) as caught:
        build(parameter("before"))(np.zeros(16, I32), np.zeros(16, I32))
    text = str(caught.value)
    assert "'p' of tile (0,2)" in text
    assert "core (0,2)" in text
    assert "the runtime sequence" in text
    assert "design.py:" in text


def test_the_race_check_sees_what_kernels_do(build, monkeypatch):
    """A kernel that writes its input writes what the DMA may be sending on."""
    monkeypatch.setenv("IRON_HOST_CHECK", "race")

    def text(synchronised: bool) -> str:
        flags = "" if synchronised else "disable_synchronization = true"
        return module(
            'func.func private @k(memref<16xi32>) attributes {link_with = "k.o"}',
            fifo("in", "0_0", "0_2", "16xi32", 1, attributes=flags),
            fifo("out", "0_2", "0_0", "16xi32"),
            core(
                "0_2",
                "\n".join(
                    [
                        acquire("in", "Consume", "16xi32"),
                        acquire("out", "Produce", "16xi32"),
                        "func.call @k(%in0) : (memref<16xi32>) -> ()",
                        release("in", "Consume"),
                        release("out", "Produce"),
                    ]
                ),
            ),
            in_and_out("in", "out", 16),
        )

    kernel = {"k.o": '#include <cstdint>\nextern "C" void k(int32_t *a) { a[3]++; }'}
    build(text(True), kernel)(np.zeros(16, I32), np.zeros(16, I32))
    with pytest.raises(RaceFound, match=r"writes 'in_cons_buff_0'|wrote"):
        build(text(False), kernel)(np.zeros(16, I32), np.zeros(16, I32))


def test_checks_have_names(monkeypatch):
    monkeypatch.setenv("IRON_HOST_CHECK", "races")
    with pytest.raises(ValueError, match="IRON_HOST_CHECK=races: there is race"):
        host.image_flags()
    monkeypatch.delenv("IRON_HOST_CHECK")
    monkeypatch.setenv("IRON_HOST_SANITIZE", "memory")
    with pytest.raises(ValueError, match="IRON_HOST_SANITIZE=memory: there is address"):
        host.worker_flags()


def test_instrumented_flags_are_others(monkeypatch):
    plain = host.image_flags(), host.worker_flags()
    for name, value in (("IRON_HOST_SANITIZE", "address"), ("IRON_HOST_CHECK", "race")):
        with monkeypatch.context() as m:
            m.setenv(name, value)
            assert host.image_flags() != plain[0]
            assert host.worker_flags() != plain[1]


# ---- sanitizer
KERNEL = """#include <cstdint>
extern "C" void k(const int32_t *a, int32_t *b, int32_t n) {
  for (int32_t i = 0; i < n; i++) b[i] = a[i] + 1;
}"""


def kernel_design(n: int) -> str:
    return module(
        'func.func private @k(memref<16xi32>, memref<16xi32>, i32) attributes {link_with = "k.o"}',
        fifo("in", "0_0", "0_2", "16xi32"),
        fifo("out", "0_2", "0_0", "16xi32"),
        core(
            "0_2",
            "\n".join(
                [
                    acquire("in", "Consume", "16xi32"),
                    acquire("out", "Produce", "16xi32"),
                    f"%n = arith.constant {n} : i32",
                    "func.call @k(%in0, %out0, %n) : (memref<16xi32>, memref<16xi32>, i32) -> ()",
                    release("in", "Consume"),
                    release("out", "Produce"),
                ]
            ),
        ),
        in_and_out("in", "out", 64),
    )


def test_the_address_sanitizer_sees_a_write_beyond_a_buffer(build, workshop, monkeypatch, tmp_path):
    if not links_with_the_sanitizer(workshop.cxx, tmp_path):
        pytest.skip("the compiler's address sanitizer is not installed")
    monkeypatch.setenv("IRON_HOST_SANITIZE", "address")
    data = np.arange(64, dtype=I32)
    good = build(kernel_design(16), {"k.o": KERNEL})
    for _ in range(2):
        np.testing.assert_array_equal(good(data, np.zeros(64, I32))[1], data + 1)
    with pytest.raises(KernelCrash) as caught:
        build(kernel_design(17), {"k.o": KERNEL})(data, np.zeros(64, I32))
    text = str(caught.value)
    assert "use-after-poison" in text
    assert "core (0,2)" in text
    assert "design.py:" in text


# ---- timeline
def test_the_timeline(build, monkeypatch, tmp_path):
    path = tmp_path / "out.json"
    monkeypatch.setenv("IRON_HOST_TRACE", str(path))
    design = build(chain())
    design(np.zeros(256, I32), np.zeros(256, I32))
    events = json.loads(Path(path).read_text())["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert {"core (0,2)", "core (0,4)", "runtime sequence"} <= set(names.values())
    spans = [e for e in events if e["ph"] == "X"]
    assert all(e["dur"] >= 0 and e["ts"] > 0 for e in spans)
    moved = [e for e in spans if e["cat"] == "transfer" and e["name"].startswith("in ")]
    assert sum(names[e["pid"], e["tid"]].startswith("DMA (0,2) S2MM") for e in moved) == 16
    waits = {e["name"] for e in spans if e["cat"] == "wait"}
    assert any("a filled object of fifo 'in'" in w for w in waits)
    levels = [
        e["args"]["objects"] for e in events if e["ph"] == "C" and e["name"].endswith(" of mid")
    ]
    assert set(levels) <= {0, 1, 2}
    assert max(levels) >= 1
    last = {}
    for e in sorted((e for e in spans if e["cat"] == "run"), key=lambda e: e["ts"]):
        row = e["pid"], e["tid"]
        assert e["ts"] >= last.get(row, 0)  # one core does one thing at a time
        last[row] = e["ts"] + e["dur"]
