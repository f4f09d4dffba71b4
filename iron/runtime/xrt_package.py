"""What of a package of the npu target is needed to run it: its files, read once. Knows no XRT."""

from __future__ import annotations

import hashlib
import json
import os

from .errors import HostRuntimeError


class NpuRuntimeError(HostRuntimeError):
    """A run on an NPU failed; the text names the design and, where it is one, the argument."""


class Package:
    """A directory with ``final.xclbin`` and instructions, or ``design.elf``, and one sequence of
    it: the one named, else its first."""

    def __init__(self, directory: str, name: str, sequence: str | None = None) -> None:
        self.directory, self.name = directory, name
        elf = os.path.join(directory, "design.elf")
        self.elf = elf if os.path.exists(elf) else ""
        self.xclbin = os.path.join(directory, "final.xclbin")
        with open(os.path.join(directory, "design.json"), encoding="utf-8") as f:
            about = json.load(f)
        self.family: str = about["device"].partition("_")[0]
        sequences: dict[str, str] = about["sequences"]
        chosen = next(iter(sequences), None) if sequence is None else sequence
        if chosen is None or chosen not in sequences:
            raise NpuRuntimeError(
                name, f"no sequence {sequence!r}; there is {', '.join(sequences) or 'none'}"
            )
        self.arity: int | None = about.get("arity", {}).get(chosen)
        """How many arguments the sequence takes."""
        self.instructions = b""
        if self.elf:
            self.kernel = sequences[chosen]
        else:
            self.kernel = about["kernel"]
            with open(os.path.join(directory, sequences[chosen]), "rb") as stream:
                self.instructions = stream.read()
        self.instructions_key = hashlib.sha256(self.instructions).hexdigest()
        with open(self.elf or self.xclbin, "rb") as stream:
            self.key = hashlib.sha256(stream.read()).hexdigest()
