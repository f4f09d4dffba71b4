"""One worker process of a host package, and the socket to it.

Owns the protocol (that of iron/host/runtime_cc/channel_to_client.h) and how the worker's end
becomes an error. When a worker is started and what follows its end is the caller's decision.
"""

from __future__ import annotations

# What is in `socket` besides would cost a new process 2 ms.
import _socket
import collections
import mmap
import os
import re
import select
import struct
import time
import weakref
from collections.abc import Sequence
from typing import NamedTuple

from .errors import Deadlock, HostRuntimeError, KernelCrash, KernelTimeout, PackageGone, RaceFound
from .memory import SharedBuffer, SharedSlice
from .process import Process

_SEGMENT, _DROP, _RUN, _RUN_WATCHED, _TELL = 1, 2, 3, 4, 5
_READY, _DONE, _FAILED, _DEADLOCK, _CRASH, _RACE = 16, 17, 18, 19, 20, 21
_HEAD = struct.Struct("<II")
_ARGUMENT = struct.Struct("<iiqqqd")
_RUNNING, _ASKED, _BEGUN, _ANSWERED, _TOLD = 0, 16, 32, 33, 34
_STEPS = 144
"""Words of the status page (iron/host/runtime_cc/status.h), and a byte."""
_START_SECONDS = 60.0
_GRACE_SECONDS = 2.0
_LINGER_SECONDS = 50e-6
"""How long an answer is looked for before this thread sleeps: a few times what waking it costs."""

Argument = SharedBuffer | SharedSlice | int | float


class RunReport(NamedTuple):
    """A run that ended. `steps`: how often the scheduler served a process (deterministic);
    `unfinished`: transfers the sequence started and did not wait for, that had not ended."""

    steps: int
    seconds: float
    unfinished: tuple[str, ...] = ()

    @property
    def npu_time(self) -> int:
        """The run's time in nanoseconds, as mlir-aie's results give it."""
        return int(self.seconds * 1e9)

    def is_success(self) -> bool:
        return True  # a run that fails raises

    def has_trace(self) -> bool:
        return False


class GoneIdle(Exception):
    """The worker had ended before it began the run that was asked for."""


class _Expired(Exception):
    """Nothing came from the worker in time."""


class Worker:
    """One process. HostRuntimeError when it cannot start: PackageGone when its files are not
    there any more."""

    def __init__(self, package_dir: str, name: str) -> None:
        self.package_dir = package_dir
        self.name = name
        self._known: dict[int, _Lent] = {}
        self._dropped: collections.deque[int] = collections.deque()
        self._asked = 0
        self._processors = _processors()
        self._lingers = False  # the last run was a short one, and there is more than one processor
        ours, theirs = _socket.socketpair()
        for end in (ours, theirs):
            end.settimeout(None)  # whatever socket.setdefaulttimeout says
        self._page = SharedBuffer(mmap.PAGESIZE)
        page = memoryview(self._page.array)  # type: ignore[arg-type]
        self._status = page.cast("i")
        self._steps = page[_STEPS : _STEPS + 8].cast("Q")
        try:
            self._process = Process(
                [
                    os.path.join(package_dir, "worker"),
                    package_dir,
                    str(theirs.fileno()),
                    str(self._page.fd),
                    str(os.getpid()),
                ],
                keeps=(theirs.fileno(), self._page.fd),
            )
        except OSError as e:
            ours.close()
            raise self._not_started(e) from e
        finally:
            theirs.close()
        self._socket = ours
        self._closer = weakref.finalize(self, _end, ours, self._process, os.getpid())
        try:
            kind, payload = self._receive(time.monotonic() + _START_SECONDS)
            if kind != _READY:
                raise self._failure(kind, payload)
        except _Expired:
            self.close()
            raise HostRuntimeError(
                name, f"the worker of {package_dir} did not load in {_START_SECONDS:.0f} s"
            ) from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._closer()

    def run(self, args: Sequence[Argument], timeout: float | None) -> RunReport:
        """Run once. GoneIdle when the process ended before it began to."""
        start = time.monotonic()
        if self._dropped:
            self._forget()
        known, watched = self._known, self._lingers
        parts = [_HEAD.pack(_RUN_WATCHED if watched else _RUN, _ARGUMENT.size * len(args))]
        for a in args:
            lent = known.get(a.identity) if type(a) is SharedBuffer else None
            parts.append(self._pack(a) if lent is None else lent.packed)
        self._send(b"".join(parts))
        self._asked = asked = (self._asked + 1) & 0x7FFFFFFF
        status = self._status
        status[_ASKED] = asked
        if watched and self._linger(asked) and not status[_TOLD]:
            return RunReport(self._steps[0], time.monotonic() - start)
        try:
            kind, payload = self._receive(None if timeout is None else start + timeout)
        except _Expired:
            raise self._out_of_time() from None
        if kind != _DONE:
            raise self._failure(kind, payload)
        seconds = time.monotonic() - start
        self._lingers = seconds < 2 * _LINGER_SECONDS and self._processors > 1
        steps = int.from_bytes(payload[:8], "little")
        return RunReport(steps, seconds, tuple(payload[8:].decode("utf-8", "replace").splitlines()))

    def _linger(self, asked: int) -> bool:
        """Watch for the answer without sleeping, for a moment: is it there? Afterwards the worker
        has to be asked to tell it."""
        status, now = self._status, time.monotonic
        until = now() + _LINGER_SECONDS
        while status[_ANSWERED] != asked:
            if now() > until:
                self._send(_HEAD.pack(_TELL, 0))
                return False
        return True

    # ---- arguments
    def _pack(self, a: Argument) -> bytes:
        if isinstance(a, SharedBuffer):
            return self._introduce(a).packed
        if isinstance(a, SharedSlice):
            self._introduce(a.buffer)
            return _ARGUMENT.pack(0, a.buffer.identity, a.offset, a.nbytes, 0, 0.0)
        if isinstance(a, float):
            return _ARGUMENT.pack(2, 0, 0, 0, int(a) if abs(a) < 2**62 else 0, a)
        value = int(a)
        wrapped = (value + 2**63) % 2**64 - 2**63
        return _ARGUMENT.pack(1, 0, 0, 0, wrapped, float(value))

    def _introduce(self, buffer: SharedBuffer) -> _Lent:
        """Hand the memory over the first time; take it back when the buffer has gone."""
        identity = buffer.identity
        lent = self._known.get(identity)
        if lent is None:
            payload = struct.pack("<iq", identity, max(buffer.nbytes, 1))
            self._send(_HEAD.pack(_SEGMENT, len(payload)) + payload, buffer.fd)
            lent = self._known[identity] = _Lent(
                _ARGUMENT.pack(0, identity, 0, buffer.nbytes, 0, 0.0),
                weakref.finalize(buffer, self._dropped.append, identity),
            )
        return lent

    def _forget(self) -> None:
        while self._dropped:
            identity = self._dropped.popleft()
            self._known.pop(identity, None)
            self._send(_HEAD.pack(_DROP, 4) + struct.pack("<i", identity))

    # ---- messages
    def _send(self, message: bytes, fd: int | None = None) -> None:
        try:
            if fd is None:
                self._socket.sendall(message)
            else:
                rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("i", fd))
                sent = self._socket.sendmsg([message], [rights])
                self._socket.sendall(message[sent:])
        except OSError:
            pass  # the worker has gone; what it had to say is read next

    def _receive(self, deadline: float | None) -> tuple[int, bytes]:
        data = self._read(deadline)
        while len(data) < _HEAD.size:
            data += self._read(deadline)
        kind, size = _HEAD.unpack_from(data)
        while len(data) < _HEAD.size + size:
            data += self._read(deadline)
        return kind, data[_HEAD.size : _HEAD.size + size]

    def _read(self, deadline: float | None) -> bytes:
        if deadline is not None:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([self._socket], [], [], left)[0]:
                raise _Expired
        try:
            part = self._socket.recv(4096)
        except ConnectionError:
            part = b""
        if not part:
            raise self._vanished()
        return part

    # ---- faults
    def _not_started(self, e: OSError) -> HostRuntimeError:
        missing = [f for f in ("worker", "design.net") if not self._has(f)]
        if not missing:
            return HostRuntimeError(
                self.name, f"cannot start the worker of {self.package_dir}: {e}"
            )
        return PackageGone(
            self.name,
            f"{self.package_dir} has no {' and no '.join(missing)}: it was removed, or cleaned out "
            "of the store, after the design was built; build it again",
        )

    def _has(self, file: str) -> bool:
        return os.path.exists(os.path.join(self.package_dir, file))

    def _failure(self, kind: int, payload: bytes) -> Exception:
        if kind == _CRASH and not self._begun():
            return GoneIdle()
        text = payload.decode("utf-8", "replace")
        error = {_DEADLOCK: Deadlock, _CRASH: KernelCrash, _RACE: RaceFound}.get(
            kind, HostRuntimeError
        )
        return error(self.name, text)

    def _vanished(self) -> Exception:
        if self._asked and not self._begun():
            return GoneIdle()
        try:
            code = self._process.wait(_GRACE_SECONDS)
            how = f"signal {-code}" if code < 0 else f"exit status {code}"
        except TimeoutError:
            how = "exit status unknown"
        return KernelCrash(
            self.name, f"the worker ended ({how}) without a report; {self._ran_last()} ran last"
        )

    def _begun(self) -> bool:
        return bool(self._status[_BEGUN] == self._asked)

    def _out_of_time(self) -> HostRuntimeError:
        """Ask the worker where it is, then it has to go."""
        import signal

        self._process.send_signal(signal.SIGUSR1)
        report = ""
        try:
            kind, payload = self._receive(time.monotonic() + _GRACE_SECONDS)
            if kind == _CRASH:
                report = payload.decode("utf-8", "replace")
        except (HostRuntimeError, GoneIdle, _Expired):
            pass
        if not report:
            report = f"{self._ran_last()} ran last"
        return KernelTimeout(self.name, f"the run was not over in time; {report}")

    def _ran_last(self) -> str:
        index = self._status[_RUNNING]
        if index < 0:
            return "the runtime sequence"
        cores = _core_lines(os.path.join(self.package_dir, "design.net"))
        return cores[index] if index < len(cores) else f"core number {index}"


class _Lent(NamedTuple):
    """A buffer the worker has mapped: it whole as an argument, and what takes it back."""

    packed: bytes
    takes_back: weakref.finalize[..., SharedBuffer]


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _core_lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as f:
            return [
                f"core {m.group(1)}"
                for line in f
                if line.startswith("core ") and (m := re.search(r" tile=(\S+)", line))
            ]
    except OSError:
        return []


def _end(sock: _socket.socket, process: Process, owner: int) -> None:
    """Close our side. The process is ours to end only where it was started."""
    sock.close()
    if os.getpid() != owner:
        process.returncode = 0  # another process's child: nothing to wait for
        return
    try:
        process.wait(0.2)
    except TimeoutError:
        import signal

        process.send_signal(signal.SIGKILL)
        process.wait()
