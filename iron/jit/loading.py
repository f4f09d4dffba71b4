"""Running what was built elsewhere: `load` makes a package callable, with neither its generator nor
any compiler."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from iron.runtime.bundle import Bundle

from .arguments import Arguments
from .callable import CallResult
from .errors import ExportError
from .options import current_options
from .signature import listed

if TYPE_CHECKING:
    from iron.runtime.host import HostKernel
    from iron.runtime.xrt import XrtKernel


def load(path: str | os.PathLike[str], *, sequence: str | None = None) -> LoadedDesign:
    """The design that ``design.build(out=path)`` or ``design.export(path)`` wrote, to be called.

    `path` is a bundle, a package's directory or an export's; `sequence` names one of several
    runtime sequences of an npu package. FileNotFoundError when nothing is there, ValueError when
    it is no package or damaged.
    """
    return LoadedDesign(path, sequence)


class LoadedDesign:
    """A built design by its files. It is called as the design itself, without compile-time values:
    tensors and NumPy arrays by position, numbers where the design declares them.

    TypeError for wrong arguments, HostRuntimeError when a run fails.
    """

    def __init__(self, path: str | os.PathLike[str], sequence: str | None = None) -> None:
        self._bundle = Bundle(_package_in(os.fspath(path)))
        self.about: Mapping[str, Any] = self._bundle.about
        """What the package says it is: design, target, parameters, and digests of its files."""
        self.__name__ = str(self.about.get("design") or _stem(path))
        self._arguments = Arguments.read(self._bundle.directory, self._signature(os.fspath(path)))
        self._kernel = self._made(sequence)

    def __call__(self, *args: Any) -> CallResult:
        """Run it once; NumPy arrays are read and, but for inputs, written back."""
        if len(args) != len(self._arguments.expected):
            names = ", ".join(self.parameters) or "none"
            raise TypeError(
                f"{self.__name__} takes {len(self._arguments.expected)} argument(s) by position "
                f"({names}), got {len(args)}"
            )
        buffers = self._arguments.check(args)
        report = self._kernel.run(buffers.given, timeout=current_options().timeout)
        buffers.copy_back()
        return CallResult(self._kernel, report)

    @property
    def parameters(self) -> list[str]:
        """Names of what a call gives, in order."""
        return [e.parameter.name for e in self._arguments.expected]

    def close(self) -> None:
        """End what runs; a later call starts it again."""
        self._kernel.close()

    def __repr__(self) -> str:
        return f"<design {self.__name__} from {self._bundle.path}>"

    def _signature(self, where: str) -> Any:
        parameters = self.about.get("parameters")
        if parameters is None:
            with open(os.path.join(self._bundle.directory, "arguments.json"), "rb") as f:
                parameters = [
                    {"name": a["name"], "role": "Scalar" if a["scalar"] else "InOut"}
                    for a in json.load(f)
                ]
        return listed(self.__name__, where, parameters)

    def _made(self, sequence: str | None) -> HostKernel | XrtKernel:
        directory = self._bundle.directory
        if os.path.exists(os.path.join(directory, "worker")):
            from iron.runtime.host import HostKernel

            if sequence is not None:
                raise ValueError(
                    f"{self.__name__}: a package of the host target holds one runtime sequence; "
                    "choose another one when it is built"
                )
            return HostKernel(directory, name=self.__name__)
        from iron.runtime.xrt import XrtKernel

        expected = [e.parameter for e in self._arguments.expected]
        return XrtKernel(
            directory,
            name=self.__name__,
            roles=tuple(p.role for p in expected),
            arguments=tuple(p.name for p in expected),
            sequence=sequence,
        )


def _package_in(path: str) -> str:
    """The package of an export; any other path is one itself."""
    manifest = os.path.join(path, "manifest.json")
    if not os.path.isfile(manifest):
        return path
    try:
        with open(manifest, encoding="utf-8") as f:
            return os.path.join(path, f"{json.load(f)['design']}.bundle")
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise ExportError(f"{manifest} is no manifest of an exported design: {e!r}") from None


def _stem(path: str | os.PathLike[str]) -> str:
    return os.path.splitext(os.path.basename(os.fspath(path)))[0]
