"""Runs a built npu package on an NPU through XRT: `XrtKernel`, and the contexts that kernels share.

The only module that imports pyxrt, and only when something runs. A package is a directory with
``final.xclbin`` and ``insts.bin``, or ``design.elf``; how it is built is not known here.

Hardware contexts are scarce (6 on npu1, 16 on npu2 with every driver) and cost some 35 ms each:
they are pooled per process, by the content of what they load, and the least used one goes.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import HostRuntimeError, KernelTimeout
from .host import Argument, RunReport
from .memory import SharedBuffer, SharedSlice

CONTEXT_LIMITS = {"npu1": 6, "npu2": 16}
OPCODE = 3
"""First argument of a DPU kernel: run a transaction of instructions."""
_INSTRUCTIONS_AT, _DATA_AT = 1, 3
_ELF_GROUP = 0
"""The memory group mlir-aie gives buffers of full-ELF kernels, which name none."""
_EINVAL = ("invalid argument", "einval", "errno 22", "err=22", "err = 22", "err:-22", "(22)")


class NpuRuntimeError(HostRuntimeError):
    """A run on an NPU failed; the text names the design and, where it is one, the argument."""


class NpuTimeout(NpuRuntimeError, KernelTimeout):
    """The run took longer than the caller allows. Its context is thrown away."""


def _pyxrt() -> Any:
    try:
        import pyxrt
    except ImportError as e:
        raise NpuRuntimeError(
            "", f"pyxrt cannot be imported ({e}): install XRT for this Python, or use target 'host'"
        ) from e
    return pyxrt


@dataclass
class _Buffer:
    """A buffer object and the host's view of it."""

    object: Any
    view: npt.NDArray[np.uint8]


@dataclass
class _Context:
    """A hardware context and everything that lives in it."""

    handle: Any
    kernels: dict[str, Any] = field(default_factory=dict)
    instructions: dict[str, tuple[Any, int]] = field(default_factory=dict)
    free: dict[tuple[int, int], list[_Buffer]] = field(default_factory=dict)
    users: int = 0

    def drop(self) -> None:
        """Let go in the order that XRT wants: buffers, kernels, context."""
        self.free.clear()
        self.instructions.clear()
        self.kernels.clear()
        self.handle = None


class XrtRuntime:
    """One device and its pool of contexts. Thread-safe; belongs to the process it was made in."""

    def __init__(self, index: int = 0, limit: int | None = None) -> None:
        self.xrt = _pyxrt()
        self.pid = os.getpid()
        try:
            self.device = self.xrt.device(index)
        except Exception as e:
            raise NpuRuntimeError("", f"no NPU: device {index} cannot be opened: {e}") from e
        self.limit = limit
        self._lock = threading.RLock()
        self._pool: OrderedDict[str, _Context] = OrderedDict()

    def __len__(self) -> int:
        return len(self._pool)

    @contextmanager
    def context(self, package: Package) -> Iterator[_Context]:
        """The context of a package, not evicted while it is used."""
        with self._lock:
            found = self._pool.get(package.key) or self._open(package)
            self._pool.move_to_end(package.key)
            found.users += 1
        try:
            yield found
        finally:
            with self._lock:
                found.users -= 1

    def _open(self, package: Package) -> _Context:
        limit = self.limit or CONTEXT_LIMITS.get(package.family, 6)
        while len(self._pool) >= limit and self._evict():
            pass
        try:
            handle = self._make(package)
        except Exception as e:
            if not _is_einval(e) or not self._evict(all_of_them=package.family == "npu1"):
                raise self._refused(package, e) from e
            try:
                handle = self._make(package)
            except Exception as again:
                raise self._refused(package, again) from again
        made = self._pool[package.key] = _Context(handle)
        return made

    def _make(self, package: Package) -> Any:
        if package.elf:
            return self.xrt.hw_context(self.device, self.xrt.elf(package.elf))
        xclbin = self.xrt.xclbin(package.xclbin)
        self.device.register_xclbin(xclbin)
        return self.xrt.hw_context(self.device, xclbin.get_uuid())

    def _refused(self, package: Package, error: Exception) -> NpuRuntimeError:
        return NpuRuntimeError(
            package.name,
            f"the NPU gives no hardware context for {package.directory}: {error}; "
            f"{len(self._pool)} of this process are in use. Other processes may hold the rest",
        )

    def _evict(self, *, all_of_them: bool = False) -> bool:
        """Drop the least used context nobody uses (npu1's firmware wants all gone); whether one
        went."""
        idle = [key for key, c in self._pool.items() if c.users == 0]
        for key in idle if all_of_them else idle[:1]:
            self._pool.pop(key).drop()
        return bool(idle)

    def discard(self, package: Package) -> None:
        """Forget a context whose state is unknown."""
        with self._lock:
            found = self._pool.pop(package.key, None)
            if found is not None:
                found.handle = None

    def kernel(self, context: _Context, package: Package) -> Any:
        with self._lock:
            name = package.kernel
            if name not in context.kernels:
                maker = self.xrt.ext.kernel if package.elf else self.xrt.kernel
                context.kernels[name] = maker(context.handle, name)
            return context.kernels[name]

    def instructions(self, context: _Context, package: Package, kernel: Any) -> tuple[Any, int]:
        """The buffer object of the package's instructions, and their size in bytes."""
        with self._lock:
            known = context.instructions.get(package.instructions_key)
            if known is None:
                words = np.frombuffer(package.instructions, dtype=np.uint8)
                group = kernel.group_id(_INSTRUCTIONS_AT)
                made = self.xrt.bo(self.device, words.size, self.xrt.bo.cacheable, group)
                made.write(words, 0)
                made.sync(self.xrt.xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE)
                known = context.instructions[package.instructions_key] = (made, words.size)
            return known

    def buffer(self, context: _Context, size: int, group: int) -> _Buffer:
        """A free buffer object of that size, or a new one."""
        with self._lock:
            free = context.free.get((size, group))
            if free:
                return free.pop()
        made = self.xrt.bo(self.device, size, self.xrt.bo.host_only, group)
        return _Buffer(made, np.frombuffer(made.map(), dtype=np.uint8))

    def give_back(self, context: _Context, group: int, buffer: _Buffer) -> None:
        with self._lock:
            if context.handle is not None:
                key = (buffer.view.size, group)
                context.free.setdefault(key, []).append(buffer)

    def close(self) -> None:
        """Drop everything, in order. A forked child has nothing of its own to drop."""
        if os.getpid() != self.pid:
            return
        with self._lock:
            while self._pool:
                self._pool.popitem()[1].drop()
            self.device = None


def _is_einval(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno == 22:
        return True
    text = str(error).lower()
    return any(word in text for word in _EINVAL)


_runtimes: dict[tuple[int, int], XrtRuntime] = {}
_making = threading.Lock()


def default_runtime(index: int = 0) -> XrtRuntime:
    """The runtime of a device: one per process. A forked child opens the device anew; what it
    inherited stays untouched, since letting go of it would close the parent's contexts."""
    key = (os.getpid(), index)
    with _making:
        found = _runtimes.get(key)
        if found is None:
            found = _runtimes[key] = XrtRuntime(index)
            atexit.register(found.close)
        return found


def _after_fork() -> None:
    global _making
    _making = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


class Package:
    """What of a package's files is needed to run it."""

    def __init__(self, directory: str, name: str, sequence: str | None = None) -> None:
        self.directory, self.name = directory, name
        elf = os.path.join(directory, "design.elf")
        self.elf = elf if os.path.exists(elf) else ""
        self.xclbin = os.path.join(directory, "final.xclbin")
        with open(os.path.join(directory, "design.json"), encoding="utf-8") as f:
            about = json.load(f)
        self.family: str = about["device"].partition("_")[0]
        sequences = about["sequences"]
        if sequence is not None and sequence not in sequences:
            raise NpuRuntimeError(
                name, f"no sequence {sequence!r}; there is {', '.join(sequences) or 'none'}"
            )
        self.instructions = b""
        if self.elf:
            self.kernel: str = f"{about['symbol']}:{sequence or 'sequence'}"
        else:
            self.kernel = about["kernel"]
            file = sequences[sequence] if sequence is not None else "insts.bin"
            with open(os.path.join(directory, file), "rb") as stream:
                self.instructions = stream.read()
        self.instructions_key = hashlib.sha256(self.instructions).hexdigest()
        with open(self.elf or self.xclbin, "rb") as stream:
            self.key = hashlib.sha256(stream.read()).hexdigest()


class XrtRun:
    """A run that was started. `wait` must be called: it brings the results."""

    def __init__(self, kernel: XrtKernel, started: float) -> None:
        self._kernel, self._started = kernel, started
        self._report: RunReport | None = None
        self.handle: Any = None
        self.held: list[tuple[int, int, _Buffer, Argument]] = []
        """(position, group, buffer object, what it holds) of each memory argument."""
        self.context: _Context | None = None
        self.close: Any = None

    def wait(self, timeout: float | None = None) -> RunReport:
        """Wait for the end, at most `timeout` seconds, and write the results into the arguments.
        NpuTimeout and NpuRuntimeError as for `XrtKernel.run`."""
        if self._report is None:
            try:
                self._report = self._kernel._finish(self, timeout, self._started)
            finally:
                self.close()
        return self._report


class XrtKernel:
    """A package on an NPU, with the interface of `iron.runtime.host.HostKernel`.

    `roles` (``In``, ``Out``, ``InOut``) of the arguments say what is copied which way; without
    them everything goes both ways. May be used from several threads and after a fork.
    """

    def __init__(
        self,
        package_dir: str | os.PathLike[str],
        *,
        name: str = "",
        roles: Sequence[str] = (),
        arguments: Sequence[str] = (),
        sequence: str | None = None,
        runtime: XrtRuntime | None = None,
    ) -> None:
        self.package = Package(os.fspath(package_dir), name, sequence)
        self.name = name
        self.roles, self.arguments = tuple(roles), tuple(arguments)
        self._runtime = runtime

    @property
    def runtime(self) -> XrtRuntime:
        if self._runtime is not None and self._runtime.pid == os.getpid():
            return self._runtime
        return default_runtime()

    def run(self, args: Sequence[Argument], timeout: float | None = None) -> RunReport:
        """Run the sequence once with `args`; memory arguments are read and written in place.

        `timeout` is in seconds. NpuTimeout when it passes; NpuRuntimeError when the NPU reports
        an error or a buffer cannot be had.
        """
        return self.start(args).wait(timeout)

    def start(self, args: Sequence[Argument]) -> XrtRun:
        """Begin a run; what it was given must not be touched until its `wait` is over.

        A context that the driver calls invalid (it was taken away meanwhile) is made anew, once.
        """
        try:
            return self._start(args)
        except NpuRuntimeError as e:
            if e.__cause__ is None or not _is_einval(e.__cause__):
                raise
            self.runtime.discard(self.package)
            return self._start(args)

    def _start(self, args: Sequence[Argument]) -> XrtRun:
        runtime, package = self.runtime, self.package
        run = XrtRun(self, time.monotonic())
        using = runtime.context(package)
        context = using.__enter__()
        run.context = context
        run.close = lambda: self._release(runtime, run, using)
        try:
            kernel = runtime.kernel(context, package)
            given = [self._given(runtime, context, kernel, run, i, a) for i, a in enumerate(args)]
            run.handle = self._launch(runtime, context, kernel, given)
        except BaseException as e:
            run.close()
            if isinstance(e, NpuRuntimeError) or not isinstance(e, Exception):
                raise
            raise NpuRuntimeError(self.name, f"the run cannot be started: {e}") from e
        return run

    def close(self) -> None:
        """Nothing is held between runs: contexts belong to the runtime."""

    # -- steps of a run --------------------------------------------------------------------

    def _launch(
        self, runtime: XrtRuntime, context: _Context, kernel: Any, given: Sequence[Any]
    ) -> Any:
        if self.package.elf:
            run = runtime.xrt.run(kernel)
            for i, argument in enumerate(given):
                run.set_arg(i, argument)
            run.start()
            return run
        instructions, size = runtime.instructions(context, self.package, kernel)
        return kernel(OPCODE, instructions, size, *given)

    def _given(
        self,
        runtime: XrtRuntime,
        context: _Context,
        kernel: Any,
        run: XrtRun,
        position: int,
        argument: Argument,
    ) -> Any:
        """What the kernel gets for an argument: a number, or a buffer object with its content."""
        if isinstance(argument, (bool, int, float, np.generic)):
            return self._number(position, argument)
        size = max(1, argument.nbytes)
        group = _ELF_GROUP if self.package.elf else kernel.group_id(_DATA_AT + position)
        try:
            buffer = runtime.buffer(context, size, group)
        except Exception as e:
            raise NpuRuntimeError(
                self.name, f"{self._called(position)}: no buffer of {size} bytes: {e}"
            ) from e
        run.held.append((position, group, buffer, argument))
        if self._role(position) != "Out":
            buffer.view[: argument.nbytes] = argument.array[: argument.nbytes]
            buffer.object.sync(runtime.xrt.xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE)
        return buffer.object

    def _number(self, position: int, value: Any) -> int:
        number = int(value)
        if number != value or not -(2**31) <= number < 2**31:
            raise NpuRuntimeError(
                self.name,
                f"{self._called(position)} is {value!r}: an NPU kernel takes 32-bit integers",
            )
        return number

    def _role(self, position: int) -> str:
        return self.roles[position] if position < len(self.roles) else "InOut"

    def _called(self, position: int) -> str:
        named = position < len(self.arguments)
        return f"argument {self.arguments[position] if named else position}"

    def _finish(self, run: XrtRun, timeout: float | None, started: float) -> RunReport:
        runtime = self.runtime
        states = runtime.xrt.ert_cmd_state
        try:
            limit = None if timeout is None else max(1, round(timeout * 1000))
            state = run.handle.wait() if limit is None else run.handle.wait(limit)
        except BaseException as e:  # an interrupt as well: what the NPU does now is unknown
            runtime.discard(self.package)
            if not isinstance(e, Exception):
                raise
            raise NpuRuntimeError(self.name, f"waiting for the run failed: {e}") from e
        if state != states.ERT_CMD_STATE_COMPLETED:
            runtime.discard(self.package)
            if state == states.ERT_CMD_STATE_TIMEOUT:
                raise NpuTimeout(self.name, f"the run was not over in {timeout} s")
            raise NpuRuntimeError(
                self.name, f"the NPU ended the run with {getattr(state, 'name', state)}"
            )
        for position, _, buffer, argument in run.held:
            if self._role(position) != "In":
                buffer.object.sync(runtime.xrt.xclBOSyncDirection.XCL_BO_SYNC_BO_FROM_DEVICE)
                assert isinstance(argument, (SharedBuffer, SharedSlice))
                argument.array[: argument.nbytes] = buffer.view[: argument.nbytes]
        return RunReport(0, time.monotonic() - started)

    def _release(self, runtime: XrtRuntime, run: XrtRun, using: Any) -> None:
        assert run.context is not None
        for _, group, buffer, _ in run.held:
            runtime.give_back(run.context, group, buffer)
        run.held = []
        using.__exit__(None, None, None)
