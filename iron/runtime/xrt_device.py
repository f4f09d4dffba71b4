"""One NPU through XRT and what lives on it: hardware contexts, which kernels share, and in each
its kernel handles, instructions and free buffer objects.

The only module that imports pyxrt, and only when something runs. Hardware contexts are scarce (6
on npu1, 16 on npu2 with every driver) and cost some 35 ms each: they are pooled per process, by
the content of what they load, and the least used one goes. How a run goes is `xrt`'s.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .xrt_package import NpuRuntimeError, Package

CONTEXT_LIMITS = {"npu1": 6, "npu2": 16}
MOST_INSTRUCTIONS, MOST_FREE = 32, 64
"""Instructions and free buffers that one context keeps for later."""
_INSTRUCTIONS_AT = 1
_EINVAL = ("invalid argument", "einval", "errno 22", "err=22", "err = 22", "err:-22", "(22)")


def _pyxrt() -> Any:
    try:
        import pyxrt
    except ImportError as e:
        raise NpuRuntimeError(
            "", f"pyxrt cannot be imported ({e}): install XRT for this Python, or use target 'host'"
        ) from e
    return pyxrt


@dataclass
class Buffer:
    """A buffer object and the host's view of it."""

    object: Any
    view: npt.NDArray[np.uint8]


@dataclass
class Context:
    """A hardware context and everything that lives in it."""

    handle: Any
    kernels: dict[str, Any] = field(default_factory=dict)
    instructions: OrderedDict[str, tuple[Any, int]] = field(default_factory=OrderedDict)
    free: list[tuple[int, int, Buffer]] = field(default_factory=list)
    """(size, memory group, buffer object), the last used last."""
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
        self._pool: OrderedDict[str, Context] = OrderedDict()
        _living.add(self)

    def __len__(self) -> int:
        return len(self._pool)

    @contextmanager
    def context(self, package: Package) -> Iterator[Context]:
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

    def _open(self, package: Package) -> Context:
        limit = self.limit or CONTEXT_LIMITS.get(package.family, 6)
        while len(self._pool) >= limit and self._evict():
            pass
        try:
            handle = self._make(package)
        except Exception as e:
            if not is_einval(e) or not self._evict(all_of_them=package.family == "npu1"):
                raise self._refused(package, e) from e
            try:
                handle = self._make(package)
            except Exception as again:
                raise self._refused(package, again) from again
        made = self._pool[package.key] = Context(handle)
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

    def discard(self, package: Package, context: Context | None) -> None:
        """Forget a context whose state is unknown, if it is still the one that is kept."""
        with self._lock:
            if context is not None and self._pool.get(package.key) is context:
                del self._pool[package.key]
            if context is not None:
                context.handle = None

    def kernel(self, context: Context, package: Package) -> Any:
        with self._lock:
            name = package.kernel
            if name not in context.kernels:
                maker = self.xrt.ext.kernel if package.elf else self.xrt.kernel
                context.kernels[name] = maker(context.handle, name)
            return context.kernels[name]

    def instructions(self, context: Context, package: Package, kernel: Any) -> tuple[Any, int]:
        """The buffer object of the package's instructions, and their size in bytes."""
        key, known = package.instructions_key, context.instructions
        with self._lock:
            if key not in known:
                words = np.frombuffer(package.instructions, dtype=np.uint8)
                group = kernel.group_id(_INSTRUCTIONS_AT)
                made = self.xrt.bo(self.device, words.size, self.xrt.bo.cacheable, group)
                made.write(words, 0)
                made.sync(self.xrt.xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE)
                known[key] = (made, words.size)
            known.move_to_end(key)
            while len(known) > MOST_INSTRUCTIONS:
                known.popitem(last=False)
            return known[key]

    def buffer(self, context: Context, size: int, group: int) -> Buffer:
        """A free buffer object of that size, or a new one."""
        with self._lock:
            for at in reversed(range(len(context.free))):
                if context.free[at][:2] == (size, group):
                    return context.free.pop(at)[2]
        made = self.xrt.bo(self.device, size, self.xrt.bo.host_only, group)
        return Buffer(made, np.frombuffer(made.map(), dtype=np.uint8))

    def give_back(self, context: Context, group: int, buffer: Buffer) -> None:
        with self._lock:
            if context.handle is not None:
                context.free.append((buffer.view.size, group, buffer))
                del context.free[:-MOST_FREE]

    def close(self) -> None:
        """Drop everything, in order. A forked child has nothing of its own to drop."""
        if os.getpid() != self.pid:
            return
        with self._lock:
            while self._pool:
                self._pool.popitem()[1].drop()
            self.device = None


def is_einval(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno == 22:
        return True
    text = str(error).lower()
    return any(word in text for word in _EINVAL)


_runtimes: dict[tuple[int, int], XrtRuntime] = {}
_living: weakref.WeakSet[XrtRuntime] = weakref.WeakSet()
_making = threading.Lock()


def default_runtime(index: int = 0) -> XrtRuntime:
    """The runtime of a device: one per process. A forked child opens the device anew."""
    key = (os.getpid(), index)
    with _making:
        found = _runtimes.get(key)
        if found is None:
            found = _runtimes[key] = XrtRuntime(index)
            atexit.register(found.close)
        return found


def _after_fork() -> None:
    """What a forked child inherits it must never let go of, not at its end either: that would
    close the contexts of its parent."""
    global _making
    _making = threading.Lock()
    inherited = list(_living)
    if inherited:
        import ctypes

        for runtime in inherited:
            for kept in (runtime, *runtime._pool.values()):
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))


os.register_at_fork(after_in_child=_after_fork)
