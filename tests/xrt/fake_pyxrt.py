"""A recording stand-in of the names of pyxrt that are used. What it must offer is in `NAMES`."""

from __future__ import annotations

import enum
import errno

SOURCE = "src/python/pybind11/src/pyxrt.cpp at 963c58ee (2026-08-20) of XRT"
NAMES = {
    "device": {
        "(index)": 'py::init<unsigned int>(), py::arg("index")',
        "register_xclbin(xclbin)": '.def("register_xclbin", [](xrt::device& d, const xrt::xclbin&',
    },
    "xclbin": {
        "(path)": "py::init([](const std::string &filename)",
        "get_uuid()": '.def("get_uuid", &xrt::xclbin::get_uuid',
    },
    "hw_context": {
        "(device, what)": "py::init([](const xrt::device& d, const xrt::uuid& u)",
        "(device, what) of an elf": "py::init([](const xrt::device& device, const xrt::elf& elf)",
    },
    "kernel": {
        "(context, name)": "py::init([](const xrt::hw_context& ctx, const std::string& n)",
        "__call__(*arguments)": '.def("__call__", [](xrt::kernel& k, py::args args) -> xrt::run',
        "group_id(argument)": '.def("group_id", &xrt::kernel::group_id',
    },
    "run": {
        "(kernel)": "py::init<const xrt::kernel &>()",
        "set_arg(index, value)": '.def("set_arg", [](xrt::run& r, int i, xrt::bo& item)',
        "set_arg(index, value) of a number": '.def("set_arg", [](xrt::run& r, int i, int& item)',
        "start()": '.def("start", [](xrt::run& r)',
        "wait(timeout_ms=0)": '.def("wait", ([](xrt::run& r, unsigned int timeout_ms)',
    },
    "bo": {
        "(device, size, flags, group)": (
            "py::init<xrt::device, size_t, xrt::bo::flags, xrt::memory_group>()"
        ),
        "cacheable": '.value("cacheable", xrt::bo::flags::cacheable)',
        "host_only": '.value("host_only", xrt::bo::flags::host_only)',
        "write(data, seek)": '.def("write", ([](xrt::bo &b, py::buffer pyb, size_t seek)',
        "sync(direction)": '.def("sync", ([](xrt::bo& b, xclBOSyncDirection dir)',
        "map()": '.def("map", ([](xrt::bo &b)',
    },
    "elf": {"(path)": "py::init([](const std::string& fnm)"},
    "ext": {
        "kernel(context, name)": (
            "py::init([](const xrt::hw_context& ctx, const std::string& name) {\n"
            "            return new xrt::ext::kernel(ctx, name);"
        ),
    },
    "xclBOSyncDirection": {
        name: f'.value("{name}", xclBOSyncDirection::{name})'
        for name in ("XCL_BO_SYNC_BO_TO_DEVICE", "XCL_BO_SYNC_BO_FROM_DEVICE")
    },
    "ert_cmd_state": {
        name: f'.value("{name}", ert_cmd_state::{name})'
        for name in ("ERT_CMD_STATE_COMPLETED", "ERT_CMD_STATE_ERROR", "ERT_CMD_STATE_TIMEOUT")
    },
}
"""For each name that is used: how it is called here, and the words of `SOURCE` that define it."""


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
            try:
                made.set_arg(i, a)
            except TypeError:  # as the binding does: what it cannot pass on is left out silently
                continue
        made.start()
        return made


class ext:
    kernel = kernel


class run:
    def __init__(self, kernel):
        self.arguments = {}

    def set_arg(self, index, value):
        if not isinstance(value, (bo, int)) or (isinstance(value, int) and abs(value) >= 2**31):
            raise TypeError(f"set_arg of {value!r}")
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
