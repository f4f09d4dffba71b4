"""Runs a built host package: the client of its worker process.

A package is a directory with `worker`, `design.net` and images. How it is built is not known
here. The protocol is that of iron/host/runtime_cc/channel_to_client.h.
"""

from __future__ import annotations

import array
import collections
import mmap
import os
import re
import select
import socket
import struct
import threading
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import Deadlock, HostRuntimeError, KernelCrash, KernelTimeout, RaceFound
from .memory import SharedBuffer, SharedSlice

if TYPE_CHECKING:
    import subprocess

_SEGMENT, _DROP, _RUN = 1, 2, 3
_READY, _DONE, _FAILED, _DEADLOCK, _CRASH, _RACE = 16, 17, 18, 19, 20, 21
_HEAD = struct.Struct("<II")
_ARGUMENT = struct.Struct("<iiqqqd")
_START_SECONDS = 60.0
_GRACE_SECONDS = 2.0

Argument = SharedBuffer | SharedSlice | int | float


@dataclass(frozen=True)
class RunReport:
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


class HostKernel:
    """A package and, from the first run on, its worker process.

    The state of the array (locks, buffers, cores) persists from run to run, as on the hardware;
    a failed run ends the worker, and the next run starts a fresh one. May be used from several
    threads (runs are served one after the other) and after a fork (the child starts its own
    worker).
    """

    def __init__(self, package_dir: str | os.PathLike[str], *, name: str = "") -> None:
        self.package_dir = os.fspath(package_dir)
        self.name = name
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._worker: _Worker | None = None

    def run(self, args: Sequence[Argument], timeout: float | None = None) -> RunReport:
        """Run the sequence once with `args`; memory arguments are read and written in place.

        `timeout` is in seconds. HostRuntimeError (KernelCrash, KernelTimeout, Deadlock) when
        the run does not end well.
        """
        with self._own_lock():
            worker = self._worker
            if worker is None:
                worker = self._worker = _Worker(self.package_dir, self.name)
            try:
                return worker.run(args, timeout)
            except BaseException:  # an interrupt as well: its state is unknown
                self._worker = None
                worker.close()
                raise

    def close(self) -> None:
        """End the worker; a later run starts another."""
        with self._own_lock():
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def _own_lock(self) -> threading.Lock:
        """The lock of this process. In a forked child the parent's may be held for ever, and
        the parent's worker is not ours."""
        if self._pid != os.getpid():
            self._pid = os.getpid()
            self._lock = threading.Lock()
            self._worker = None
        return self._lock


class _Expired(Exception):
    """Nothing came from the worker in time."""


class _Worker:
    """One process and the socket to it."""

    def __init__(self, package_dir: str, name: str) -> None:
        import subprocess

        self.package_dir = package_dir
        self.name = name
        self._known: dict[int, weakref.finalize[..., SharedBuffer]] = {}
        self._dropped: collections.deque[int] = collections.deque()
        ours, theirs = socket.socketpair()
        status_fd = SharedBuffer(mmap.PAGESIZE)
        self._status = status_fd
        try:
            self._process = subprocess.Popen(
                [
                    os.path.join(package_dir, "worker"),
                    package_dir,
                    str(theirs.fileno()),
                    str(status_fd.fd),
                    str(os.getpid()),
                ],
                pass_fds=(theirs.fileno(), status_fd.fd),
                stdin=subprocess.DEVNULL,
            )
        except OSError as e:
            ours.close()
            raise HostRuntimeError(name, f"cannot start the worker of {package_dir}: {e}") from e
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
        start = time.monotonic()
        self._forget()
        wire = b"".join([self._pack(a) for a in args])
        self._send(_RUN, wire)
        try:
            kind, payload = self._receive(None if timeout is None else start + timeout)
        except _Expired:
            raise self._out_of_time() from None
        if kind != _DONE:
            raise self._failure(kind, payload)
        (steps,) = struct.unpack_from("<Q", payload)
        unfinished = tuple(payload[8:].decode("utf-8", "replace").splitlines())
        return RunReport(steps, time.monotonic() - start, unfinished)

    # ---- arguments
    def _pack(self, a: Argument) -> bytes:
        if isinstance(a, SharedBuffer):
            self._introduce(a)
            return _ARGUMENT.pack(0, a.identity, 0, a.nbytes, 0, 0.0)
        if isinstance(a, SharedSlice):
            self._introduce(a.buffer)
            return _ARGUMENT.pack(0, a.buffer.identity, a.offset, a.nbytes, 0, 0.0)
        if isinstance(a, float):
            return _ARGUMENT.pack(2, 0, 0, 0, int(a) if abs(a) < 2**62 else 0, a)
        value = int(a)
        wrapped = (value + 2**63) % 2**64 - 2**63
        return _ARGUMENT.pack(1, 0, 0, 0, wrapped, float(value))

    def _introduce(self, buffer: SharedBuffer) -> None:
        """Hand the memory over the first time; take it back when the buffer has gone."""
        if buffer.identity in self._known:
            return
        payload = struct.pack("<iq", buffer.identity, max(buffer.nbytes, 1))
        self._send(_SEGMENT, payload, buffer.fd)
        self._known[buffer.identity] = weakref.finalize(
            buffer, self._dropped.append, buffer.identity
        )

    def _forget(self) -> None:
        while self._dropped:
            identity = self._dropped.popleft()
            self._known.pop(identity, None)
            self._send(_DROP, struct.pack("<i", identity))

    # ---- messages
    def _send(self, kind: int, payload: bytes, fd: int | None = None) -> None:
        head = _HEAD.pack(kind, len(payload))
        try:
            if fd is None:
                self._socket.sendall(head + payload)
            else:
                rights = array.array("i", [fd])
                self._socket.sendmsg([head], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
                self._socket.sendall(payload)
        except OSError:
            pass  # the worker has gone; what it had to say is read next

    def _receive(self, deadline: float | None) -> tuple[int, bytes]:
        kind, size = _HEAD.unpack(self._read(_HEAD.size, deadline))
        return kind, self._read(size, deadline)

    def _read(self, size: int, deadline: float | None) -> bytes:
        parts = []
        while size > 0:
            if deadline is not None:
                left = deadline - time.monotonic()
                if left <= 0 or not select.select([self._socket], [], [], left)[0]:
                    raise _Expired
            try:
                part = self._socket.recv(size)
            except ConnectionError:
                part = b""
            if not part:
                raise self._vanished()
            parts.append(part)
            size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    # ---- faults
    def _failure(self, kind: int, payload: bytes) -> HostRuntimeError:
        text = payload.decode("utf-8", "replace")
        error = {_DEADLOCK: Deadlock, _CRASH: KernelCrash, _RACE: RaceFound}.get(
            kind, HostRuntimeError
        )
        return error(self.name, text)

    def _vanished(self) -> HostRuntimeError:
        try:
            code: object = self._process.wait(_GRACE_SECONDS)
        except Exception:
            code = "unknown"
        how = f"signal {-code}" if isinstance(code, int) and code < 0 else f"exit status {code}"
        return KernelCrash(
            self.name, f"the worker ended ({how}) without a report; {self._ran_last()} ran last"
        )

    def _out_of_time(self) -> HostRuntimeError:
        """Ask the worker where it is, then it has to go."""
        import signal

        self._process.send_signal(signal.SIGUSR1)
        report = ""
        try:
            kind, payload = self._receive(time.monotonic() + _GRACE_SECONDS)
            if kind == _CRASH:
                report = payload.decode("utf-8", "replace")
        except (HostRuntimeError, _Expired):
            pass
        if not report:
            report = f"{self._ran_last()} ran last"
        return KernelTimeout(self.name, f"the run was not over in time; {report}")

    def _ran_last(self) -> str:
        (index,) = struct.unpack_from("<i", self._status.array.tobytes()[:4])
        if index < 0:
            return "the runtime sequence"
        cores = _core_lines(os.path.join(self.package_dir, "design.net"))
        return cores[index] if index < len(cores) else f"core number {index}"


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


def _end(sock: socket.socket, process: subprocess.Popen[bytes], owner: int) -> None:
    """Close our side. The process is ours to end only where it was started."""
    sock.close()
    if os.getpid() != owner:
        process.returncode = 0  # another process's child: nothing to wait for
        return
    try:
        process.wait(0.2)
    except Exception:
        process.kill()
        process.wait()
