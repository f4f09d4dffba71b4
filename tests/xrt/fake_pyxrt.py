"""A recording stand-in of the names of pyxrt that are used. What it must offer is in `NAMES`."""

from __future__ import annotations

import enum
import errno

NAMES = {
    "device": ("(index)", "register_xclbin(xclbin) -> uuid"),
    "xclbin": ("(path)", "get_uuid() -> uuid"),
    "hw_context": ("(device, uuid)", "(device, elf)"),
    "kernel": ("(hw_context, name)", "__call__(*args) -> run", "group_id(argument) -> group"),
    "run": (
        "(kernel)", "set_arg(index, bo or int)", "start()", "wait() -> state",
        "wait(timeout_ms) -> state",
    ),
    "bo": (
        "(device, size, flags, group)", "cacheable", "host_only", "write(buffer, seek)",
        "sync(direction)", "map() -> memoryview",
    ),
    "elf": ("(path)",),
    "ext": ("kernel(hw_context, name)",),
    "xclBOSyncDirection": ("XCL_BO_SYNC_BO_TO_DEVICE", "XCL_BO_SYNC_BO_FROM_DEVICE"),
    "ert_cmd_state": (
        "ERT_CMD_STATE_COMPLETED", "ERT_CMD_STATE_TIMEOUT", "ERT_CMD_STATE_ERROR",
    ),
}  # fmt: skip
"""Names and signatures, from the pybind11 binding of XRT: src/python/pybind11/src/pyxrt.cpp
(``hw_context(device, elf)``, ``elf`` and ``ext.kernel`` in versions that know full ELF files)."""


class xclBOSyncDirection(enum.Enum):
    XCL_BO_SYNC_BO_TO_DEVICE = 0
    XCL_BO_SYNC_BO_FROM_DEVICE = 1


class ert_cmd_state(enum.Enum):
    ERT_CMD_STATE_COMPLETED = 4
    ERT_CMD_STATE_ERROR = 5
    ERT_CMD_STATE_TIMEOUT = 8


class World:
    """What a test sets and reads: how many contexts there are, what was done, what runs do."""

    def __init__(self, contexts: int = 100) -> None:
        self.contexts, self.open = contexts, 0
        self.calls: list[tuple] = []
        self.state = ert_cmd_state.ERT_CMD_STATE_COMPLETED
        self.body = lambda arguments: None
        self.launch_fails = 0

    def did(self, name: str) -> list[tuple]:
        return [c[1:] for c in self.calls if c[0] == name]


world = World()


class device:
    def __init__(self, index):
        world.calls.append(("device", index))

    def register_xclbin(self, xclbin):
        world.calls.append(("register", xclbin.path))
        return xclbin.get_uuid()


class xclbin:
    def __init__(self, path):
        self.path = path
        with open(path, "rb") as f:
            self.content = f.read()

    def get_uuid(self):
        return ("uuid", self.content)


class elf:
    def __init__(self, path):
        self.path = path


class hw_context:
    world = None

    def __init__(self, device, what):
        if world.open >= world.contexts:
            raise OSError(errno.EINVAL, "Invalid argument")
        self.world = world
        world.open += 1
        world.calls.append(("context", what))

    def __del__(self):
        if self.world is not None:
            self.world.open -= 1
            self.world.calls.append(("context gone",))


class kernel:
    def __init__(self, context, name):
        self.context, self.name = context, name
        world.calls.append(("kernel", name))

    def group_id(self, argument):
        return {1: 11}.get(argument, 30 + argument)

    def __call__(self, *arguments):
        if world.launch_fails:
            world.launch_fails -= 1
            raise RuntimeError("DRM_IOCTL_AMDXDNA_EXEC_CMD IOCTL failed (err=22): Invalid argument")
        made = run(self)
        for i, a in enumerate(arguments):
            made.set_arg(i, a)
        made.start()
        return made


class ext:
    kernel = kernel


class run:
    def __init__(self, kernel):
        self.arguments = {}

    def set_arg(self, index, value):
        if not isinstance(value, (bo, int)):
            raise TypeError(f"set_arg of {type(value)}")
        self.arguments[index] = value

    def start(self):
        world.calls.append(("run", tuple(self.arguments[i] for i in sorted(self.arguments))))

    def wait(self, timeout_ms=0):
        world.calls.append(("wait", timeout_ms))
        world.body([self.arguments[i] for i in sorted(self.arguments)])
        return world.state


class bo:
    cacheable, host_only = "cacheable", "host_only"

    def __init__(self, device, size, flags, group):
        if size > 2**30:
            raise MemoryError("Cannot allocate memory")
        self.host, self.device = bytearray(size), bytearray(size)
        self.flags, self.group = flags, group
        world.calls.append(("bo", size, flags, group))

    def write(self, data, seek):
        raw = bytes(data)
        self.host[seek : seek + len(raw)] = raw

    def sync(self, direction):
        world.calls.append(("sync", self, direction.name[-11:]))
        if direction is xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE:
            self.device[:] = self.host
        else:
            self.host[:] = self.device

    def map(self):
        return memoryview(self.host)
