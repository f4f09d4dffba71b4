"""``aie.utils.compile``: the parts scripts call themselves."""

from __future__ import annotations

import os
from typing import Any


def resolve_target_arch(device: Any = None) -> str:
    """ "aie2" or "aie2p": the architecture of `device`, of the current one when None."""
    from ..design.current import get_current_device
    from ..design.devices import AIEArch

    device = get_current_device() if device is None else device
    return "aie2p" if device.arch == AIEArch.AIE2p else "aie2"


def __getattr__(name: str) -> Any:
    if name == "NPU_CACHE_HOME":
        from ..build import store_root

        return os.fspath(store_root())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
