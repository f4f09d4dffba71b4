"""The client of the worker: several of them, threads, forks, memory."""

from __future__ import annotations

import gc
import os
import threading

import numpy as np
import pytest
from designs import acquire, add, core, fifo, in_and_out, map_core, module, release

from iron.runtime.errors import HostRuntimeError, KernelCrash, PackageGone
from iron.runtime.host import HostKernel
from iron.runtime.memory import SharedBuffer

N = 64
X = np.arange(N, dtype=np.int32)


@pytest.fixture
def plus_five(build):
    return build(
        module(
            fifo("in", "0_0", "0_2", "16xi32"),
            fifo("out", "0_2", "0_0", "16xi32"),
            map_core("0_2", "in", "out", 16, add(5)),
            in_and_out("in", "out", N),
        )
    )


def shared(values: np.ndarray) -> SharedBuffer:
    b = SharedBuffer(values.nbytes)
    b.array[:] = values.view(np.uint8)
    return b


def test_the_same_input_gives_the_same_steps(plus_five):
    steps = set()
    for _ in range(3):
        plus_five(X, X)
        steps.add(plus_five.report.steps)
        plus_five.kernel.close()  # so that every run is a first run
    assert len(steps) == 1


def test_two_that_never_stop_do_not_keep_the_others_waiting(build):
    def pass_on(take: str, give: str) -> str:
        lines = [acquire(take, "Consume", "4xi32"), acquire(give, "Produce", "4xi32")]
        return "\n".join([*lines, release(take, "Consume"), release(give, "Produce")])

    design = build(
        module(
            fifo("there", "0_2", "0_3", "4xi32", 1),
            fifo("back", "0_3", "0_2", "4xi32", 1, init=" = [dense<0> : memref<4xi32>]"),
            core("0_2", pass_on("back", "there")),
            core("0_3", pass_on("there", "back")),
            fifo("in", "0_0", "0_4", "16xi32"),
            fifo("out", "0_4", "0_0", "16xi32"),
            map_core("0_4", "in", "out", 16, add(5)),
            in_and_out("in", "out", N),
        )
    )
    np.testing.assert_array_equal(design(X, 0 * X, timeout=20)[1], X + 5)
    assert design.report.steps > 200  # they were at it all the time


def test_slices_of_one_buffer(plus_five):
    b = SharedBuffer(3 * X.nbytes)
    b.array[X.nbytes : 2 * X.nbytes] = X.view(np.uint8)
    plus_five.kernel.run([b.slice(X.nbytes, X.nbytes), b.slice(0, X.nbytes)])
    values = b.array.view(np.int32)
    np.testing.assert_array_equal(values[:N], X + 5)
    np.testing.assert_array_equal(values[N : 2 * N], X)
    np.testing.assert_array_equal(values[2 * N :], 0)
    with pytest.raises(ValueError, match="not inside a buffer of 768"):
        b.slice(700, 100)


def test_two_workers_at_once(plus_five):
    other = HostKernel(plus_five.directory)
    a, b = shared(X), shared(0 * X)
    c, d = shared(X * 2), shared(0 * X)
    for _ in range(3):
        plus_five.kernel.run([a, b])
        other.run([c, d])
    other.close()
    np.testing.assert_array_equal(b.array.view(np.int32), X + 5)
    np.testing.assert_array_equal(d.array.view(np.int32), X * 2 + 5)


def test_threads_share_a_kernel(plus_five):
    wrong = []

    def use(k: int) -> None:
        a, b = shared(X * k), shared(0 * X)
        for _ in range(20):
            b.array[:] = 0
            plus_five.kernel.run([a, b])
            if not (b.array.view(np.int32) == X * k + 5).all():
                wrong.append(k)

    threads = [threading.Thread(target=use, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_forked_child_has_its_own_worker(plus_five):
    a, b = shared(X), shared(0 * X)
    plus_five.kernel.run([a, b])
    parents = plus_five.kernel._worker._process.pid
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = b"wrong"
        try:
            c, d = shared(X * 3), shared(0 * X)
            plus_five.kernel.run([c, d])
            good = (d.array.view(np.int32) == X * 3 + 5).all()
            if good and plus_five.kernel._worker._process.pid != parents:
                code = b"right"
            plus_five.kernel.close()
        finally:
            os.write(write, code)
            os._exit(0)
    os.close(write)
    assert os.read(read, 5) == b"right"
    os.close(read)
    os.waitpid(child, 0)
    b.array[:] = 0
    plus_five.kernel.run([a, b])  # the parent's is still there
    np.testing.assert_array_equal(b.array.view(np.int32), X + 5)
    assert plus_five.kernel._worker._process.pid == parents


def test_memory_is_given_back(plus_five):
    a = shared(X)
    b = shared(0 * X)
    plus_five.kernel.run([a, b])

    def mapped() -> int:
        pid = plus_five.kernel._worker._process.pid
        with open(f"/proc/{pid}/maps") as f:
            return sum("memfd:iron (" in line for line in f)

    if not os.path.exists("/proc/self/maps"):
        pytest.skip("no /proc")
    before = mapped()
    extra = [shared(0 * X) for _ in range(5)]
    for e in extra:
        plus_five.kernel.run([a, e])
    assert mapped() == before + 5
    del extra, e
    gc.collect()
    plus_five.kernel.run([a, b])
    assert mapped() == before


def test_running_needs_neither_lowering_nor_building(plus_five):
    import subprocess
    import sys

    code = (
        "import sys\n"
        "from iron.runtime.host import HostKernel\n"
        "from iron.runtime.memory import SharedBuffer\n"
        f"k = HostKernel({str(plus_five.directory)!r})\n"
        f"k.run([SharedBuffer({X.nbytes}), SharedBuffer({X.nbytes})])\n"
        "k.close()\n"
        "print([m for m in sys.modules if m.startswith(('iron.host', 'iron.build', 'iron.ir'))])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM", "SIGSEGV"])
def test_a_worker_that_was_ended_between_runs_is_started_again(plus_five, how):
    import signal

    plus_five(X, X)
    before = plus_five.kernel._worker._process
    before.send_signal(getattr(signal, how))
    if how != "SIGSEGV":  # which it reports, and which is nobody's kernel's doing either
        before.wait()
    np.testing.assert_array_equal(plus_five(X, X)[1], X + 5)
    assert plus_five.kernel._worker._process.pid != before.pid


def test_a_worker_that_ends_in_a_run_is_a_crash(build):
    design = build(
        module(
            fifo("in", "0_0", "0_2", "16xi32"),
            fifo("out", "0_2", "0_0", "16xi32"),
            'func.func private @work(memref<16xi32>) attributes {link_with = "k.o"}',
            core(
                "0_2",
                "\n".join(
                    [
                        acquire("in", "Consume", "16xi32"),
                        "func.call @work(%in0) : (memref<16xi32>) -> ()",
                        release("in", "Consume"),
                    ]
                ),
            ),
            in_and_out("in", "out", N),
        ),
        {
            "k.o": "#include <csignal>\n"
            'extern "C" void work(int *x) { if (x[1] == 1) std::raise(SIGKILL); }'
        },
    )
    with pytest.raises(KernelCrash, match=r"the worker ended \(signal 9\).*core \(0,2\) ran last"):
        design(X, X)
    with pytest.raises(HostRuntimeError, match="deadlock"):  # a fresh one, and other input
        design(0 * X, X)


def test_a_package_that_is_gone(plus_five):
    import shutil

    plus_five(X, X)
    shutil.rmtree(plus_five.directory)
    np.testing.assert_array_equal(plus_five(X, X)[1], X + 5)  # what runs goes on
    plus_five.kernel.close()
    with pytest.raises(PackageGone, match=r"has no worker and no design.net.*build it again"):
        plus_five(X, X)


def test_nothing_is_left_behind(plus_five):
    """Processes, descriptors and mappings after many runs, failures and workers."""
    if not os.path.exists("/proc/self/maps"):
        pytest.skip("no /proc")

    def counts() -> tuple[int, int, int]:
        gc.collect()
        with open("/proc/self/maps") as f:
            mapped = sum("memfd:iron" in line for line in f)
        with open(f"/proc/self/task/{threading.get_native_id()}/children") as f:
            children = len(f.read().split())
        return len(os.listdir("/proc/self/fd")), mapped, children

    before = counts()
    kernels = [HostKernel(plus_five.directory) for _ in range(2)]
    for k in range(1000):
        a, b = shared(X + k), shared(0 * X)
        kernels[k % 2].run([a, b])
        if k % 100 == 50:
            with pytest.raises(HostRuntimeError, match="takes 2 arguments, not 1"):
                kernels[0].run([a])
            with pytest.raises(ValueError, match="invalid literal"):
                kernels[1].run([a, "b"])
    np.testing.assert_array_equal(b.array.view(np.int32), X + 999 + 5)
    assert counts()[2] == before[2] + 2
    del a, b, k
    for kernel in kernels:
        kernel.close()
    assert counts() == before


def test_a_kernel_nobody_refers_to_takes_its_worker_along(plus_five):
    kernel = HostKernel(plus_five.directory)
    kernel.run([shared(X), shared(X)])
    process = kernel._worker._process
    del kernel
    gc.collect()
    assert process.poll() is not None


def test_a_view_keeps_the_memory(plus_five):
    view = shared(X).array
    gc.collect()
    np.testing.assert_array_equal(view.view(np.int32), X)


def test_closing_ends_the_process(plus_five):
    plus_five(X, X)
    process = plus_five.kernel._worker._process
    plus_five.kernel.close()
    assert process.poll() is not None
    np.testing.assert_array_equal(plus_five(X, X)[1], X + 5)  # and it can be used again


def test_the_worker_leaves_with_its_parent(plus_five, tmp_path):
    """Also when the parent is killed and nobody says goodbye."""
    import signal
    import subprocess
    import sys
    import time

    script = tmp_path / "client.py"
    script.write_text(
        "import sys, time\n"
        "from iron.runtime.host import HostKernel\n"
        "from iron.runtime.memory import SharedBuffer\n"
        f"k = HostKernel({str(plus_five.directory)!r})\n"
        f"k.run([SharedBuffer({X.nbytes}), SharedBuffer({X.nbytes})])\n"
        "print(k._worker._process.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    client = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert client.stdout is not None
    pid = int(client.stdout.readline())
    client.send_signal(signal.SIGKILL)
    client.wait()
    client.stdout.close()
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        with open(f"/proc/{pid}/stat") as f:
            if f.read().split()[2] == "Z":  # gone, not yet reaped by its new parent
                return
        time.sleep(0.1)
    pytest.fail("the worker is still there")
