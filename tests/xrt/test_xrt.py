"""Runs through XRT, against a recording stand-in of pyxrt."""

import ast
import errno
import gc
import inspect
import json
import os
import subprocess
import sys
import threading

import fake_pyxrt
import numpy as np
import pytest

from iron.runtime import xrt, xrt_device
from iron.runtime.errors import HostRuntimeError, KernelTimeout
from iron.runtime.memory import SharedBuffer
from iron.runtime.xrt import NpuTimeout, XrtKernel
from iron.runtime.xrt_device import MOST_FREE, MOST_INSTRUCTIONS, XrtRuntime
from iron.runtime.xrt_package import NpuRuntimeError


@pytest.fixture
def world(monkeypatch):
    made = fake_pyxrt.World()
    monkeypatch.setattr(fake_pyxrt, "world", made)
    monkeypatch.setitem(sys.modules, "pyxrt", fake_pyxrt)
    return made


@pytest.fixture
def package(tmp_path):
    def make(name, content=b"xclbin", insts=b"\1\2\3\4", device="npu2_1col", elf=False):
        folder = tmp_path / name
        folder.mkdir()
        about = {
            "kernel": "MLIR_AIE", "device": device, "symbol": "main",
            "sequences": {"sequence": "insts.bin", "other": "insts_other.bin"},
        }  # fmt: skip
        (folder / "design.json").write_text(json.dumps(about))
        if elf:
            (folder / "design.elf").write_bytes(content)
            about["sequences"] = {"sequence": "main:sequence", "two:other": "two:other"}
            (folder / "design.json").write_text(json.dumps(about))
        else:
            (folder / "final.xclbin").write_bytes(content)
            (folder / "insts.bin").write_bytes(insts)
            (folder / "insts_other.bin").write_bytes(insts[::-1])
        return str(folder)

    return make


def data(*values):
    made = SharedBuffer(4 * len(values))
    made.array.view(np.int32)[:] = values
    return made


def add_one(arguments):
    """What the array does: the last buffer is the first plus one."""
    first, last = (np.frombuffer(arguments[i].device, dtype=np.int32) for i in (3, -1))
    last[:] = first + 1


def test_a_run_copies_in_runs_and_copies_out(world, package):
    world.body = add_one
    kernel = XrtKernel(package("p"), roles=("In", "Out"), runtime=XrtRuntime())
    x, y = data(1, 2), data(0, 0)
    kernel.run((x, y))
    assert y.array.view(np.int32).tolist() == [2, 3]
    ((arguments,),) = world.did("run")
    assert arguments[0] == 3
    assert bytes(arguments[1].device) == b"\1\2\3\4"
    assert arguments[2] == 4  # bytes
    assert [a.group for a in arguments[3:]] == [33, 34]
    assert [(a.flags) for a in (arguments[1], arguments[3])] == ["cacheable", "host_only"]


def test_only_declared_directions_are_synchronised(world, package):
    kernel = XrtKernel(package("p"), roles=("In", "Out", "InOut"), runtime=XrtRuntime())
    kernel.run((data(1), data(2), data(3)))
    ((arguments,),) = world.did("run")
    sides = [[d for o, d in world.did("sync") if o is a] for a in arguments[3:]]
    to, back = "O_TO_DEVICE", "FROM_DEVICE"
    assert sides == [[to], [back], [to, back]]


def test_what_is_made_is_used_again(world, package):
    runtime = XrtRuntime()
    kernel = XrtKernel(package("p"), roles=("In", "Out"), runtime=runtime)
    again = XrtKernel(package("same content elsewhere"), roles=("In", "Out"), runtime=runtime)
    for each in (kernel, again, kernel):
        each.run((data(1), data(2)))
    assert [len(world.did(n)) for n in ("context", "kernel", "bo", "run")] == [1, 1, 3, 3]


def test_sequences_share_the_context_of_their_overlay(world, package):
    runtime, folder = XrtRuntime(), package("p")
    for sequence in ("sequence", "other"):
        XrtKernel(folder, sequence=sequence, runtime=runtime).run((data(1),))
    assert len(world.did("context")) == 1
    assert [bytes(a[1].device) for (a,) in world.did("run")] == [b"\1\2\3\4", b"\4\3\2\1"]
    with pytest.raises(NpuRuntimeError, match="no sequence 'third'; there is sequence, other"):
        XrtKernel(folder, sequence="third", runtime=runtime)


def test_a_hundred_designs_cycle_through_few_contexts(world, package):
    world.contexts = 6
    runtime = XrtRuntime(limit=6)
    kernels = [XrtKernel(package(f"p{i}", b"%d" % i), runtime=runtime) for i in range(100)]
    for kernel in (*kernels, *kernels[:3]):
        kernel.run((data(1),))
    assert len(runtime) == 6
    gc.collect()
    assert world.open == 6
    first = len(world.did("context"))
    kernels[2].run((data(1),))  # one of the last used
    assert len(world.did("context")) == first


def test_the_limit_is_that_of_the_device(world, package):
    runtime = XrtRuntime()
    for i in range(8):
        folder = package(f"p{i}", b"%d" % i, device="npu1_1col")
        XrtKernel(folder, runtime=runtime).run((data(1),))
    assert len(runtime) == 6


def test_einval_evicts_and_tries_once_more(world, package):
    world.contexts = 2  # others hold the rest
    runtime = XrtRuntime(limit=6)
    for i in range(3):
        XrtKernel(package(f"p{i}", b"%d" % i), runtime=runtime).run((data(1),))
    assert len(runtime) == 2
    world.contexts = 0
    with pytest.raises(NpuRuntimeError, match=r"late: the NPU gives no hardware context") as e:
        XrtKernel(package("late", b"late"), name="late", runtime=runtime).run((data(1),))
    assert isinstance(e.value.__cause__, OSError)
    assert e.value.__cause__.errno == errno.EINVAL


def test_a_launch_on_a_context_gone_stale_is_tried_once_more(world, package):
    kernel = XrtKernel(package("p"), runtime=XrtRuntime())
    kernel.run((data(1),))
    world.launch_fails = 1
    kernel.run((data(1),))
    assert len(world.did("context")) == 2
    world.launch_fails = 2
    with pytest.raises(NpuRuntimeError, match="cannot be started"):
        kernel.run((data(1),))


def test_a_context_in_use_is_not_evicted(world, package):
    runtime = XrtRuntime(limit=1)
    busy = XrtKernel(package("busy", b"b"), runtime=runtime).start((data(1),))
    XrtKernel(package("other", b"o"), runtime=runtime).run((data(1),))
    assert world.did("context gone") == []
    busy.wait()
    assert busy.wait() is busy.wait()  # a second wait is the first one's answer
    XrtKernel(package("third", b"t"), runtime=runtime).run((data(1),))
    gc.collect()
    assert len(world.did("context gone")) == 2


def test_a_timeout_names_the_design_and_throws_the_context_away(world, package):
    runtime = XrtRuntime()
    kernel = XrtKernel(package("p"), name="demo", runtime=runtime)
    world.state = fake_pyxrt.ert_cmd_state.ERT_CMD_STATE_TIMEOUT
    y = data(7)
    with pytest.raises(NpuTimeout, match=r"demo: the run was not over in 0\.5 s") as e:
        kernel.run((y,), timeout=0.5)
    assert isinstance(e.value, KernelTimeout)
    assert world.did("wait") == [(500,)]
    assert len(runtime) == 0
    assert y.array.view(np.int32)[0] == 7


def test_an_error_state_is_an_error(world, package):
    world.state = fake_pyxrt.ert_cmd_state.ERT_CMD_STATE_ERROR
    kernel = XrtKernel(package("p"), name="demo", runtime=XrtRuntime())
    with pytest.raises(HostRuntimeError, match="demo: the NPU ended the run with ERT_CMD_STATE_E"):
        kernel.run((data(1),))


def test_errors_name_design_and_argument(world, package):
    kernel = XrtKernel(package("p"), name="demo", arguments=("x", "n"), runtime=XrtRuntime())

    class Huge(SharedBuffer):
        def __init__(self):
            super().__init__(4)
            self.nbytes = 2**31

    with pytest.raises(NpuRuntimeError, match="demo: argument x: no buffer of 2147483648 bytes"):
        kernel.run((Huge(),))
    with pytest.raises(NpuRuntimeError, match=r"argument n is 1\.5: an NPU kernel takes 32-bit"):
        kernel.run((data(1), 1.5))
    kernel.run((data(1), 7))
    assert world.did("run")[-1][0][4] == 7


def test_a_full_elf_needs_neither_xclbin_nor_instructions(world, package):
    folder = package("p", elf=True)
    runtime = XrtRuntime()
    XrtKernel(folder, runtime=runtime).run((data(1), data(2)))
    assert world.did("register") == []
    assert world.did("kernel") == [("main:sequence",)]
    ((arguments,),) = world.did("run")
    assert [a.group for a in arguments] == [0, 0]
    XrtKernel(folder, sequence="two:other", runtime=runtime).run((data(1),))
    assert world.did("kernel")[1:] == [("two:other",)]
    assert len(world.did("context")) == 1
    with pytest.raises(NpuRuntimeError, match="no sequence 'third'; there is sequence, two:other"):
        XrtKernel(folder, sequence="third", runtime=runtime)


def test_a_full_elf_takes_memory_only(world, package):
    kernel = XrtKernel(package("p", elf=True), name="demo", arguments="xn", runtime=XrtRuntime())
    with pytest.raises(NpuRuntimeError, match="demo: argument n is 5: a full ELF takes memory on"):
        kernel.run((data(1), 5))
    assert world.did("run") == []


def test_as_many_arguments_as_the_sequence_takes(world, package):
    folder = package("p")
    path = os.path.join(folder, "design.json")
    with open(path) as f:
        about = json.load(f)
    with open(path, "w") as f:
        json.dump({**about, "arity": {"sequence": 2, "other": 1}}, f)
    kernel = XrtKernel(folder, name="demo", runtime=XrtRuntime())
    with pytest.raises(NpuRuntimeError, match="demo: 3 arguments for a sequence that takes 2"):
        kernel.run((data(1), data(2), data(3)))
    kernel.run((data(1), data(2)))
    XrtKernel(folder, sequence="other", runtime=XrtRuntime()).run((data(1),))


def test_what_a_context_keeps_for_later_is_bounded(world, package):
    runtime = XrtRuntime()
    for i in range(MOST_INSTRUCTIONS + 3):
        folder = package(f"p{i}", insts=b"%04d" % i)
        XrtKernel(folder, runtime=runtime).run((data(*range(i + 1)),))
    (context,) = runtime._pool.values()
    assert len(context.instructions) == MOST_INSTRUCTIONS
    assert [bytes(a[1].device) for (a,) in world.did("run")][-1] == b"%04d" % (i)
    runs = [XrtKernel(folder, runtime=runtime).start((data(1),)) for _ in range(MOST_FREE + 5)]
    for run in runs:
        run.wait()
    assert len(context.free) == MOST_FREE


def test_a_run_that_failed_says_so_again(world, package):
    run = XrtKernel(package("p"), name="demo", runtime=XrtRuntime()).start((data(1),))
    world.state = fake_pyxrt.ert_cmd_state.ERT_CMD_STATE_TIMEOUT
    for _ in range(2):
        with pytest.raises(NpuTimeout, match="demo: the run was not over in 1 s"):
            run.wait(1)
    assert world.did("wait") == [(1000,)]


def test_runs_overlap_and_each_has_its_own_buffers(world, package):
    world.body = add_one
    kernel = XrtKernel(package("p"), roles=("In", "Out"), runtime=XrtRuntime())
    results = [data(0) for _ in range(3)]
    runs = [kernel.start((data(i), y)) for i, y in enumerate(results)]
    assert len(world.did("wait")) == 0
    for run in reversed(runs):
        run.wait()
    assert [y.array.view(np.int32)[0] for y in results] == [1, 2, 3]


def test_a_context_opened_meanwhile_is_not_thrown_away_for_anothers_failure(world, package):
    runtime = XrtRuntime()
    kernel = XrtKernel(package("p"), runtime=runtime)
    first, second = kernel.start((data(1),)), kernel.start((data(1),))
    world.state = fake_pyxrt.ert_cmd_state.ERT_CMD_STATE_ERROR
    with pytest.raises(NpuRuntimeError):
        first.wait()
    world.state = fake_pyxrt.ert_cmd_state.ERT_CMD_STATE_COMPLETED
    kernel.run((data(1),))  # in a new context
    world.state = fake_pyxrt.ert_cmd_state.ERT_CMD_STATE_ERROR
    with pytest.raises(NpuRuntimeError):
        second.wait()  # of the old one
    assert len(runtime) == 1
    world.state = fake_pyxrt.ert_cmd_state.ERT_CMD_STATE_COMPLETED
    kernel.run((data(1),))
    assert len(world.did("context")) == 2


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 2**31, -(2**31) - 1, np.float32(0.5)]
)
def test_numbers_an_npu_kernel_cannot_take(world, package, value):
    kernel = XrtKernel(package("p"), name="demo", runtime=XrtRuntime())
    with pytest.raises(NpuRuntimeError, match=r"demo: argument 1 is .*takes 32-bit integers"):
        kernel.run((data(1), value))
    kernel.run((data(1), np.int32(-7)))
    assert world.did("run")[-1][0][4] == -7
    assert type(world.did("run")[-1][0][4]) is int  # the binding leaves out other kinds silently


ENDING = """
import os, sys
sys.path.insert(0, sys.argv[1])
import fake_pyxrt
sys.modules["pyxrt"] = fake_pyxrt
from iron.runtime.memory import SharedBuffer
from iron.runtime.xrt import XrtKernel
from iron.runtime.xrt_device import default_runtime

class Loud:
    open = 0
    contexts = 9
    launch_fails = 0
    state = fake_pyxrt.ert_cmd_state.ERT_CMD_STATE_COMPLETED
    body = staticmethod(lambda arguments: None)
    class calls:
        @staticmethod
        def append(call, write=os.write, pid=os.getpid, parent=os.getpid()):
            if call[0] == "context gone":  # at the very end modules are empty
                write(1, b"parent lets go\\n" if pid() == parent else b"child lets go\\n")

fake_pyxrt.world = Loud()
kernel = XrtKernel(sys.argv[2])
kernel.run((SharedBuffer(4),))
if os.fork() == 0:
    sys.exit(0)
os.wait()
os.write(1, b"the child is gone\\n")
"""


def test_an_ending_child_closes_nothing_of_its_parent_and_the_parent_all(package):
    folder = os.path.dirname(fake_pyxrt.__file__)
    done = subprocess.run(
        [sys.executable, "-c", ENDING, folder, package("p")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["the child is gone", "parent lets go"]


def test_threads_do_not_share_buffers(world, package):
    runtime = XrtRuntime()
    kernel = XrtKernel(package("p"), roles=("In", "Out"), runtime=runtime)
    world.body = add_one
    wrong = []

    def work(i):
        for _ in range(20):
            y = data(0)
            kernel.run((data(i), y))
            if y.array.view(np.int32)[0] != i + 1:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []
    assert len(world.did("context")) == 1


def test_a_forked_child_opens_the_device_itself_and_lets_nothing_of_the_parent_go(world, package):
    kernel = XrtKernel(package("p"), runtime=XrtRuntime())
    kernel.run((data(1),))
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            kernel.run((data(1),))
            kernel._runtime.close()
            opened, gone = len(world.did("device")), len(world.did("context gone"))
            os.write(write, f"{opened} {gone}".encode())
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(read, 100) == b"2 0"
    os.close(read)
    os.close(write)


def test_without_pyxrt_the_message_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyxrt", None)
    with pytest.raises(NpuRuntimeError, match="install XRT for this Python, or use target 'host'"):
        XrtRuntime()


def test_nothing_is_imported_before_something_runs():
    script = "import sys, iron.runtime.xrt; print('pyxrt' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "False\n"


# -- the stand-in is honest -------------------------------------------------------------------


def test_the_stand_in_has_exactly_the_names_of_the_table():
    for name, members in fake_pyxrt.NAMES.items():
        made = getattr(fake_pyxrt, name)
        for member in members:
            called, _, rest = member.partition("(")
            found = getattr(made, called) if called else made
            if rest:  # called just so
                own = [p for p in inspect.signature(found).parameters.values() if p.name != "self"]
                assert str(inspect.Signature(own)) == f"({rest.partition(' of ')[0]}"
    classes = {n for n, v in vars(fake_pyxrt).items() if inspect.isclass(v) and n != "World"}
    assert classes == set(fake_pyxrt.NAMES)


def test_only_names_of_the_table_are_used():
    used = {
        node.attr
        for module in (xrt, xrt_device)
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "xrt"
    }
    assert used == set(fake_pyxrt.NAMES)


BINDING = os.environ.get("IRON_PYXRT")


@pytest.mark.skipif(not BINDING, reason="IRON_PYXRT names no pyxrt.cpp")
def test_the_table_says_what_the_binding_says():
    with open(BINDING, encoding="utf-8") as f:
        binding = f.read()
    words = [w for members in fake_pyxrt.NAMES.values() for w in members.values()]
    assert [w for w in words if w not in binding] == []


def test_only_one_module_imports_pyxrt():
    from pathlib import Path

    top = Path(xrt.__file__).parents[1]
    importers = [
        p.relative_to(top).as_posix()
        for p in top.rglob("*.py")
        if any(
            isinstance(n, ast.Import) and any(a.name.startswith("pyxrt") for a in n.names)
            for n in ast.walk(ast.parse(p.read_text()))
        )
    ]
    assert importers == ["runtime/xrt_device.py"]
