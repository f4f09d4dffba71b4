"""The device designs are made for: the one chosen, else the one the environment names."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

DEFAULT_DEVICE = "npu2"
"""What `IRON_DEVICE` names when it is not set: the whole array of a Ryzen AI 300 processor."""


def get_current_device(*, probe_runtime: bool = True) -> Any:
    """The device chosen by ``iron.set_current_device`` or for a block of code; else the one that
    ``IRON_DEVICE`` names (as "npu1", "npu2" or "npu1_1col"), else the whole of npu2.

    `probe_runtime` is accepted; nothing is opened or changed here.
    """
    from ..runtime.device import chosen_device

    device = chosen_device()
    return environment_device() if device is None else device


def environment_device() -> Any:
    """The device that ``IRON_DEVICE`` names, else the whole of npu2."""
    return device_named(os.environ.get("IRON_DEVICE") or DEFAULT_DEVICE)


@contextlib.contextmanager
def device(of: Any) -> Iterator[Any]:
    """``with device("npu2"):`` the current device inside, in this thread or task only: by name, as
    `device_named` takes it, or itself."""
    from ..runtime.device import use_device

    with use_device(as_device(of)) as chosen:
        yield chosen


def as_device(of: Any) -> Any:
    """A device given by name, as `device_named` takes it, or itself."""
    return device_named(of) if isinstance(of, str) else of


def ensure_current_device(*, probe_runtime: bool = True) -> Any:
    """The current device, as `get_current_device`."""
    return get_current_device(probe_runtime=probe_runtime)


def device_named(name: str) -> Any:
    """The device of a short name ("npu1", "npu2": all of it) or of an MLIR name ("npu1_1col")."""
    from .devices import from_mlir_name, from_name

    return from_mlir_name(name) if "_" in name else from_name(name, n_cols=None)
