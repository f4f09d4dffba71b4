"""A started process: what it gets, and how its end is told."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from iron.runtime.process import Process


def shell(text: str, *keeps: int) -> Process:
    return Process(["/bin/sh", "-c", text], keeps)


def test_its_end_is_told_as_a_status_or_a_signal():
    assert shell("exit 3").wait() == 3
    assert shell("kill -9 $$").wait(10) == -9
    sleeping = shell("exec sleep 60")
    assert sleeping.poll() is None
    with pytest.raises(TimeoutError, match=f"process {sleeping.pid} has not ended"):
        sleeping.wait(0.01)
    sleeping.send_signal(signal.SIGKILL)
    assert (sleeping.wait(10), sleeping.poll(), sleeping.returncode) == (-9, -9, -9)
    sleeping.send_signal(signal.SIGKILL)  # nobody else has its number to be hit
    with pytest.raises(FileNotFoundError):
        Process(["/nowhere/at/all"])


def test_it_has_the_files_it_keeps_and_no_other():
    (read, write), (other, theirs) = os.pipe(), os.pipe()
    os.set_inheritable(other, True)
    os.set_inheritable(theirs, True)
    code = (
        "import os, sys\n"
        "def there(fd):\n"
        "    try: return bool(os.fstat(fd))\n"
        "    except OSError: return False\n"
        f"fds = [there(fd) for fd in ({read}, {other}, {theirs})]\n"
        f"os.write({write}, repr((fds, sys.stdin.read())).encode())\n"
    )
    process = Process([sys.executable, "-c", code], [write])
    assert process.wait(60) == 0
    assert os.read(read, 100) == b"([False, False, False], '')"
    assert os.get_inheritable(write) is False
    for fd in (read, write, other, theirs):
        os.close(fd)


def test_one_that_somebody_else_waited_for_has_ended():
    process = shell("exit 3")
    os.waitpid(process.pid, 0)
    assert (process.wait(), process.poll()) == (0, 0)
