"""Flags of mlir-aie's aiecc, as users give them for a design: what each asks of the steps.

A flag that no step of ours knows is for aiecc itself; who drives the build decides what that means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .outline import PlanError
from .packaging import Kernel
from .pipelines import Placing


@dataclass(frozen=True)
class Asked:
    """What flags ask for. `unknown` are those that only aiecc can tell."""

    placing: Placing = field(default_factory=Placing)
    kernel: Kernel = field(default_factory=Kernel)
    extend: str = ""
    device: str = ""
    sequences: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def over(self, sequences: tuple[str, ...], device: str | None, extend: str) -> Asked:
        """With these in place of what the flags say of it, where there are any."""
        return replace(
            self,
            sequences=sequences or self.sequences,
            device=device or self.device,
            extend=extend or self.extend,
        )

    def flags(self, base: str = "") -> tuple[str, ...]:
        """For aiecc: the same again, but for device and sequences. `base` is what the xclbin to
        extend is called where it runs."""
        placing = {flag: getattr(self.placing, name) for flag, name in _PLACING.items()}
        usual = Kernel()
        given = {flag: getattr(self.kernel, name) for flag, name in _KERNEL.items()}
        kernel = {f: v for f, v in given.items() if v != getattr(usual, _KERNEL[f])}
        words = {**placing, **kernel, "xclbin-input": base if self.extend else ""}
        return (
            *(f"--{flag}={_word(v)}" for flag, v in words.items() if v not in ("", None)),
            *self.unknown,
        )


def _word(value: str | bool) -> str:
    return value if isinstance(value, str) else str(value).lower()


_PLACING = {
    "alloc-scheme": "alloc_scheme",
    "dynamic-objFifos": "dynamic_fifos",
    "packet-sw-objFifos": "packet_fifos",
}
_KERNEL = {
    "xclbin-kernel-name": "name",
    "xclbin-instance-name": "instance",
    "xclbin-kernel-id": "identifier",
}
_WORDS = {"xclbin-input": "extend", "device-name": "device"}
_IDLE = frozenset(("verbose", "v", "progress", "no-progress", "profile", "nthreads", "j"))
"""These say how aiecc goes about it and change no result."""
_TRUTH = {"": True, "true": True, "1": True, "false": False, "0": False}


def read_flags(flags: Sequence[str], asked: Asked | None = None) -> Asked:
    """What `flags` (``--name=value``, ``--name``) ask for beyond `asked`. PlanError for a value
    that cannot be."""
    asked = asked or Asked()
    for flag in flags:
        name, equals, value = flag.lstrip("-").partition("=")
        if not flag.startswith("-"):
            asked = replace(asked, unknown=(*asked.unknown, flag))
        elif name in _IDLE or (name[:1] == "j" and name[1:].isdigit()):
            continue
        elif name in _PLACING:
            chosen: Any = value if name == "alloc-scheme" else _yes(flag, value)
            placing = replace(asked.placing, **{_PLACING[name]: chosen})
            asked = replace(asked, placing=placing)
        elif equals and name in _KERNEL:
            asked = replace(asked, kernel=replace(asked.kernel, **{_KERNEL[name]: value}))
        elif equals and name in _WORDS:
            words: dict[str, Any] = {_WORDS[name]: value}
            asked = replace(asked, **words)
        elif equals and name == "sequence-name":
            asked = replace(asked, sequences=(*asked.sequences, value))
        else:
            asked = replace(asked, unknown=(*asked.unknown, flag))
    return asked


def _yes(flag: str, value: str) -> bool:
    if value.lower() not in _TRUTH:
        raise PlanError(f"{flag}: it is true or false")
    return _TRUTH[value.lower()]
