"""What a user reads when a run cannot go on."""

from __future__ import annotations

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

from iron.runtime.errors import Deadlock, HostRuntimeError, KernelCrash, KernelTimeout
from iron.runtime.memory import SharedBuffer

X = np.arange(64, dtype=np.int32)


def line_of(text: str, part: str) -> int:
    return next(i for i, line in enumerate(text.splitlines(), 1) if part in line)


def plus_one(*sequence_lines: str, wait: tuple[int, ...] = (1,)) -> str:
    return module(
        fifo("in", "0_0", "0_2", "16xi32"),
        fifo("out", "0_2", "0_0", "16xi32"),
        map_core("0_2", "in", "out", 16, add(1)),
        sequence(["64xi32", "64xi32"], *sequence_lines, wait=wait),
    )


def test_a_transfer_that_is_too_short(build):
    text = plus_one(
        transfer(0, "in", 0, 24, "64xi32"),
        transfer(1, "out", 1, 32, "64xi32", wait=True),
    )
    design = build(text)
    with pytest.raises(Deadlock) as e:
        design(X, X)
    report = str(e.value)
    acquire_line = line_of(text, "acquire @in(Consume")
    await_line = line_of(text, "dma_await_task")
    assert report.startswith("design: deadlock: the runtime sequence waits for a transfer on")
    assert f"at design.py:{await_line}" in report
    assert (
        "core (0,2) waits for a filled object of fifo 'in' on tile (0,2) (value 0, wants 1)\n"
        f"      at design.py:{acquire_line}" in report
    )
    assert "DMA (0,2) S2MM 0 ('in') is in a transfer, 32 bytes left, has moved 96 bytes" in report
    assert "DMA (0,0) MM2S 0 ('in') has nothing queued" in report
    assert (
        "hint: the transfer on DMA (0,0) MM2S 0 ('in') is too short: 32 bytes are missing" in report
    )


def test_nothing_queued(build):
    design = build(plus_one(transfer(1, "out", 1, 64, "64xi32", wait=True)))
    with pytest.raises(Deadlock, match=r"hint: nothing is queued on DMA \(0,0\) MM2S 0 \('in'\)"):
        design(X, X)


def test_nobody_takes_the_result(build):
    text = module(
        fifo("in", "0_0", "0_2", "16xi32"),
        fifo("out", "0_2", "0_0", "16xi32"),
        map_core("0_2", "in", "out", 16, add(1)),
        sequence(["160xi32"], transfer(0, "in", 0, 160, "160xi32", wait=True), wait=[0]),
    )
    design = build(text)
    with pytest.raises(Deadlock, match=r"hint: DMA \(0,2\) MM2S 0 \('out'\) has data for DMA"):
        design(np.zeros(160, np.int32))


def cross(depth: int) -> str:
    """Two cores that exchange objects, each waiting before it gives."""

    def one(tile: str, take: str, give: str) -> str:
        return core(
            tile,
            "\n".join(
                [
                    acquire(take, "Consume", "4xi32"),
                    acquire(give, "Produce", "4xi32"),
                    release(give, "Produce"),
                    release(take, "Consume"),
                ]
            ),
        )

    return module(
        fifo("there", "0_2", "0_3", "4xi32", depth),
        fifo("back", "0_3", "0_2", "4xi32", depth),
        fifo("out", "0_3", "0_0", "4xi32"),
        one("0_2", "back", "there"),
        one("0_3", "there", "back"),
        sequence(["4xi32"], transfer(0, "out", 0, 4, "4xi32", wait=True), wait=[0]),
    )


def test_a_circle_of_waits(build):
    with pytest.raises(Deadlock) as e:
        build(cross(1))(X[:4])
    report = str(e.value)
    assert "these wait for each other: core (0,2) -> core (0,3) -> core (0,2)" in report
    assert "one of these fifos needs an initial object" in report
    assert "depth of 1" not in report  # which is not the reason


def test_a_depth_of_one_that_is_too_little(build):
    """Two objects of one fifo are made before the other's, which is what is wanted first."""

    def design(depth: int) -> str:
        one = [acquire("a", "Produce", "4xi32"), release("a", "Produce")]
        one += [acquire("a", "Produce", "4xi32", prefix="next"), release("a", "Produce")]
        one += [acquire("b", "Produce", "4xi32"), release("b", "Produce")]
        other = [acquire("b", "Consume", "4xi32"), release("b", "Consume")]
        other += [acquire("out", "Produce", "4xi32"), release("out", "Produce")]
        other += [acquire("a", "Consume", "4xi32", 2), release("a", "Consume", 2)]
        return module(
            fifo("a", "0_2", "0_3", "4xi32", depth),
            fifo("b", "0_2", "0_3", "4xi32", depth),
            fifo("out", "0_3", "0_0", "4xi32"),
            core("0_2", "\n".join(one)),
            core("0_3", "\n".join(other)),
            sequence(["4xi32"], transfer(0, "out", 0, 4, "4xi32", wait=True), wait=[0]),
        )

    build(design(2))(X[:4])
    with pytest.raises(Deadlock, match="fifo 'a' has a depth of 1 at core") as e:
        build(design(1))(X[:4])
    assert "initial object" not in str(e.value)


def test_a_core_that_has_finished(build):
    text = module(
        fifo("in", "0_0", "0_2", "16xi32"),
        fifo("out", "0_2", "0_0", "16xi32"),
        map_core("0_2", "in", "out", 16, add(1), times=4),
        in_and_out("in", "out", 64),
    )
    design = build(text)
    np.testing.assert_array_equal(design(X, 0 * X)[1], X + 1)
    with pytest.raises(Deadlock, match=r"core \(0,2\) has finished its body"):
        design(X, X)
    # The next run starts from the beginning.
    np.testing.assert_array_equal(design(X, 0 * X)[1], X + 1)


def kernel_design(build, code: str):
    body = "\n".join(
        [
            acquire("in", "Consume", "16xi32"),
            acquire("out", "Produce", "16xi32"),
            "func.call @work(%in0, %out0) : (memref<16xi32>, memref<16xi32>) -> ()",
            release("in", "Consume"),
            release("out", "Produce"),
        ]
    )
    text = module(
        fifo("in", "0_0", "0_2", "16xi32"),
        fifo("out", "0_2", "0_0", "16xi32"),
        'func.func private @work(memref<16xi32>, memref<16xi32>) attributes {link_with = "k.o"}',
        core("0_2", body),
        in_and_out("in", "out", 64),
    )
    head = "#include <cstdint>\n#include <cstdlib>\n"
    return build(text, {"k.o": head + code})


def test_a_crash_names_core_and_kernel(build):
    design = kernel_design(
        build,
        """static int32_t *volatile nowhere = (int32_t *)16;
extern "C" void work(int32_t *x, int32_t *y) {
  if (x[0] == 32) *nowhere = 1;  // at the third object
  for (int i = 0; i < 16; i++) y[i] = x[i];
}""",
    )
    with pytest.raises(KernelCrash) as e:
        design(X, X)
    assert "SIGSEGV (bad memory access) in core (0,2)" in str(e.value)
    assert "in work" in str(e.value)
    np.testing.assert_array_equal(design(X * 0, X)[1], X * 0)  # a fresh worker


def test_an_abort(build):
    design = kernel_design(build, 'extern "C" void work(int32_t *, int32_t *) { std::abort(); }')
    with pytest.raises(KernelCrash, match=r"SIGABRT \(abort\) in core \(0,2\)"):
        design(X, X)


def test_a_kernel_that_exits(build):
    design = kernel_design(build, 'extern "C" void work(int32_t *, int32_t *) { std::exit(7); }')
    with pytest.raises(KernelCrash, match=r"ended \(exit status 7\).*core \(0,2\) ran last"):
        design(X, X)


def test_a_stack_overflow(build):
    design = kernel_design(
        build,
        """static int32_t down(volatile int32_t *x, int n) {
  volatile int32_t room[256];
  room[n % 256] = x[0];
  return n == 0 ? 0 : down(room, n + 1) + room[n % 200];
}
extern "C" void work(int32_t *x, int32_t *y) { y[0] = down(x, 1); }""",
    )
    with pytest.raises(KernelCrash, match=r"stack overflow in core \(0,2\)"):
        design(X, X)


def test_a_kernel_that_never_ends(build):
    design = kernel_design(
        build,
        """extern "C" void work(int32_t *x, int32_t *y) {
  for (volatile int32_t i = 0; x[0] >= 0;) i = y[0];
}""",
    )
    with pytest.raises(KernelTimeout) as e:
        design(X, X, timeout=0.5)
    assert "core (0,2) was running when the time was up" in str(e.value)
    assert "in work" in str(e.value)


def test_a_transfer_outside_its_argument(build):
    text = plus_one(
        transfer(0, "in", 0, 64, "64xi32", offset=16),
        transfer(1, "out", 1, 64, "64xi32", wait=True),
    )
    with pytest.raises(HostRuntimeError, match="elements 16 to 79 of argument 0, which has 64"):
        build(text)(X, X)


def test_an_argument_that_is_too_small(build):
    design = build(plus_one(transfer(0, "in", 0, 64, "64xi32"), wait=()))
    small = SharedBuffer(64 * 4)
    with pytest.raises(HostRuntimeError, match="argument 1 has 32 bytes, the design asks for 256"):
        design.kernel.run([small, small.slice(0, 32)])
    with pytest.raises(HostRuntimeError, match="takes 2 arguments, not 1"):
        design.kernel.run([small])
    with pytest.raises(HostRuntimeError, match="argument 1 must be memory"):
        design.kernel.run([small, 3])


def test_releasing_what_is_not_held(build):
    text = module(
        fifo("in", "0_0", "0_2", "16xi32"),
        fifo("out", "0_2", "0_0", "16xi32"),
        core("0_2", "\n".join([acquire("in", "Consume", "16xi32"), release("in", "Consume", 2)])),
        in_and_out("in", "out", 64),
    )
    with pytest.raises(HostRuntimeError, match="releases 2 objects of 'in' but holds 1"):
        build(text)(X, X)


def test_transfers_nobody_waited_for_are_told(build):
    design = build(
        plus_one(
            transfer(0, "in", 0, 64, "64xi32"),
            transfer(1, "out", 1, 32, "64xi32", wait=True),
            transfer(2, "out", 1, 32, "64xi32", offset=32),
        )
    )
    design(X, X)
    lines = design.report.unfinished  # the run ends at once: what goes in may be under way, too
    assert lines[-1].startswith(
        "DMA (0,0) S2MM 0 ('out'): a transfer of the sequence has not ended"
    )
    assert all("a transfer of the sequence has not ended" in line for line in lines)
