"""Runs a built npu package on an NPU through XRT: `XrtKernel`, and `XrtRun` for one that is under
way. What lives on the device and who shares it is `xrt_device`'s.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import KernelTimeout
from .host import Argument, RunReport
from .memory import SharedBuffer, SharedSlice
from .xrt_device import Buffer, Context, XrtRuntime, default_runtime, is_einval
from .xrt_package import NpuRuntimeError, Package

OPCODE = 3
"""First argument of a DPU kernel: run a transaction of instructions."""
_DATA_AT = 3
_ELF_GROUP = 0
"""The memory group mlir-aie gives buffers of full-ELF kernels, which name none."""


class NpuTimeout(NpuRuntimeError, KernelTimeout):
    """The run took longer than the caller allows. Its context is thrown away."""


class XrtRun:
    """A run that was started. `wait` must be called: it brings the results."""

    def __init__(self, kernel: XrtKernel, started: float) -> None:
        self._kernel, self._started = kernel, started
        self._report: RunReport | None = None
        self._failure: NpuRuntimeError | None = None
        self.handle: Any = None
        self.held: list[tuple[int, int, Buffer, Argument]] = []
        """(position, group, buffer object, what it holds) of each memory argument."""
        self.instructions: Any = None
        self.context: Context | None = None
        self.close: Any = None

    def wait(self, timeout: float | None = None) -> RunReport:
        """Wait for the end, at most `timeout` seconds, and write the results into the arguments.
        NpuTimeout and NpuRuntimeError as for `XrtKernel.run`."""
        if self._failure is not None:
            raise self._failure
        if self._report is None:
            try:
                self._report = self._kernel._finish(self, timeout, self._started)
            except NpuRuntimeError as e:
                self._failure = e
                raise
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
            if e.__cause__ is None or not is_einval(e.__cause__):
                raise
            return self._start(args)

    def _start(self, args: Sequence[Argument]) -> XrtRun:
        runtime, package = self.runtime, self.package
        if package.arity is not None and len(args) != package.arity:
            raise NpuRuntimeError(
                self.name, f"{len(args)} arguments for a sequence that takes {package.arity}"
            )
        run = XrtRun(self, time.monotonic())
        using = runtime.context(package)
        context = using.__enter__()
        run.context = context
        run.close = lambda: self._release(runtime, run, using)
        try:
            kernel = runtime.kernel(context, package)
            given = [self._given(runtime, context, kernel, run, i, a) for i, a in enumerate(args)]
            run.handle = self._launch(runtime, context, kernel, given, run)
        except BaseException as e:
            run.close()
            if is_einval(e):
                runtime.discard(package, context)
            if isinstance(e, NpuRuntimeError) or not isinstance(e, Exception):
                raise
            raise NpuRuntimeError(self.name, f"the run cannot be started: {e}") from e
        return run

    def close(self) -> None:
        """Nothing is held between runs: contexts belong to the runtime."""

    # -- steps of a run --------------------------------------------------------------------

    def _launch(
        self,
        runtime: XrtRuntime,
        context: Context,
        kernel: Any,
        given: Sequence[Any],
        run: XrtRun,
    ) -> Any:
        if self.package.elf:
            handle = runtime.xrt.run(kernel)
            for i, argument in enumerate(given):
                handle.set_arg(i, argument)
            handle.start()
            return handle
        instructions, size = run.instructions = runtime.instructions(context, self.package, kernel)
        return kernel(OPCODE, instructions, size, *given)

    def _given(
        self,
        runtime: XrtRuntime,
        context: Context,
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
        if self.package.elf:  # XRT: "scalar args are not yet supported for this kind of kernel"
            raise NpuRuntimeError(
                self.name,
                f"{self._called(position)} is {value!r}: a full ELF takes memory only; build an "
                "xclbin, or put the number into a buffer",
            )
        number = int(value) if value == value and abs(value) != float("inf") else 2**31
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
            runtime.discard(self.package, run.context)
            if not isinstance(e, Exception):
                raise
            raise NpuRuntimeError(self.name, f"waiting for the run failed: {e}") from e
        if state != states.ERT_CMD_STATE_COMPLETED:
            runtime.discard(self.package, run.context)
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
        run.held, run.instructions = [], None
        using.__exit__(None, None, None)
