"""``iron run design.mlir``: a module as plain MLIR, run on the host target with arrays.

`MlirProgram` is the same for a program: built on its first call, its worker kept.
"""

from __future__ import annotations

import argparse
import glob
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from iron.runtime.memory import SharedBuffer

if TYPE_CHECKING:
    from iron.runtime.host import HostKernel, RunReport

Array = npt.NDArray[Any]
SOURCES = (".cc", ".cpp", ".cxx", ".c")
INTRINSICS = ("-include", "aie_api/aie.hpp")
"""What a kernel made for the array's own compiler uses without an include."""
DTYPES = {"i1": "bool", "index": "int64", "f16": "float16", "f32": "float32", "f64": "float64"}
DTYPES |= {f"i{n}": f"int{n}" for n in (8, 16, 32, 64)}
DTYPES |= {f"si{n}": f"int{n}" for n in (8, 16, 32, 64)}
DTYPES |= {f"ui{n}": f"uint{n}" for n in (8, 16, 32, 64)}


class RunError(Exception):
    """The design cannot be run as asked; the text says why and what to do."""


@dataclass(frozen=True)
class Parameter:
    """An argument of a run: of the sequence, or one the host gives besides (a scratchpad
    parameter, an external buffer). dtype is MLIR's name, shape has -1 where it is not fixed."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    scalar: bool

    @property
    def numpy(self) -> Any:
        if self.dtype == "bf16":
            try:
                from ml_dtypes import bfloat16
            except ImportError:
                return np.dtype(np.uint16)  # its bits
            return np.dtype(bfloat16)
        return np.dtype(DTYPES[self.dtype])

    def __str__(self) -> str:
        if self.scalar:
            return f"{self.name}: {self.dtype}"
        return f"{self.name}: {'x'.join('?' if n < 0 else str(n) for n in self.shape)}x{self.dtype}"


class MlirProgram:
    """A module to run on the host target.

    `path` is a file of MLIR, or `text` the text itself. `objects` gives for a ``link_with`` name
    a source (compiled here) or an object; one that is not given is looked for beside the file.
    `device` and `sequence` choose among several; `limits=False` leaves out the check whether the
    design fits the real device. Raises RunError, iron.build.BuildError,
    iron.toolchain.symbols.SymbolError and, when run, iron.runtime.errors.HostRuntimeError.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        text: str | None = None,
        objects: Mapping[str, str | os.PathLike[str]] | None = None,
        flags: Sequence[str] = (),
        include_dirs: Sequence[str] = (),
        device: str | None = None,
        sequence: str | None = None,
        limits: bool = True,
    ) -> None:
        if (path is None) == (text is None):
            raise TypeError("give either a path or text=")
        self.directory = os.path.dirname(os.path.abspath(path)) if path else os.getcwd()
        self.name = os.path.basename(path) if path else "text"
        if path is not None:
            try:
                with open(path, encoding="utf-8") as f:
                    text = f.read()
            except OSError as e:
                raise RunError(f"{os.fspath(path)}: {e.strerror}") from e
        self.text: str = text or ""
        self.given = {name: os.path.abspath(p) for name, p in (objects or {}).items()}
        self.flags, self.include_dirs = tuple(flags), tuple(include_dirs)
        self.device, self.sequence, self.limits = device, sequence, limits
        self._kernel: HostKernel | None = None
        self._parameters: tuple[Parameter, ...] = ()

    # ---- building
    def build(self) -> str:
        """The directory of the package; the design is built when it is not known yet."""
        from iron.build import default_session
        from iron.host import HostError, LimitError
        from iron.ir import ParseError, VerifyError
        from iron.toolchain.host import Choice, HostToolchain

        tools = HostToolchain.find(self.flags, (self.directory, *self.include_dirs))
        choice = Choice(self.device, self.sequence, self.limits)
        try:
            package = tools.package(default_session(), self.text, self.objects(), self.name, choice)
        except LimitError as e:
            raise RunError(
                f"{self.name} does not fit the device (--no-limits runs it all the same):\n{e}"
            ) from e
        except (HostError, ParseError, VerifyError) as e:
            raise RunError(str(e).replace("aie.mlir", self.name)) from e
        return str(package.directory)

    def objects(self) -> dict[str, Any]:
        """What each ``link_with`` name of the text is: a spec to build or the path of an object."""
        import re

        found: dict[str, Any] = {}
        for name in dict.fromkeys(re.findall(r'link_with\s*=\s*"([^"]+)"', self.text)):
            found[name] = self._made(name, self.given.get(name) or self._beside(name))
        for name, path in self.given.items():
            found.setdefault(name, self._made(name, path))
        return found

    def _made(self, name: str, path: str) -> Any:
        from iron.toolchain.objects import CompileSpec, ObjectSpec, SourceFile

        if not os.path.exists(path):
            raise RunError(f"{self.name}: the object {name} was to be {path}, which is not there")
        if path.endswith(SOURCES):
            return ObjectSpec((CompileSpec(SourceFile(path), INTRINSICS),))
        return path

    def _beside(self, name: str) -> str:
        stem = os.path.join(glob.escape(self.directory), glob.escape(os.path.splitext(name)[0]))
        for path in (*(stem + s for s in SOURCES), os.path.join(self.directory, name)):
            if os.path.exists(path):
                return path
        raise RunError(
            f'{self.name} links "{name}", and there is neither {os.path.basename(stem)}'
            f"{'|'.join(SOURCES)} nor {name} beside it; say where: --object {name}=PATH"
        )

    # ---- running
    def load(self) -> tuple[Parameter, ...]:
        """The arguments a run takes, in order. Builds the design."""
        if self._kernel is None:
            import json

            from iron.runtime.host import HostKernel

            directory = self.build()
            with open(os.path.join(directory, "arguments.json"), encoding="utf-8") as f:
                self._parameters = tuple(
                    Parameter(
                        a["name"], a["dtype"], tuple(max(n, -1) for n in a["shape"]), a["scalar"]
                    )
                    for a in json.load(f)
                )
            self._kernel = HostKernel(directory, name=self.name)
        return self._parameters

    def __call__(
        self, *args: Array | int | float, timeout: float | None = None, **named: Array | int | float
    ) -> RunReport:
        """Run the sequence once; arrays are read and written in place. Arguments by position or
        by name (scratchpad parameters and external buffers by their symbols)."""
        parameters = self.load()
        values = self.bind(parameters, args, named)
        shared: list[SharedBuffer | int | float] = []
        for p, v in zip(parameters, values, strict=True):
            shared.append(self.hand_over(p, v) if isinstance(v, np.ndarray) else v)
        assert self._kernel is not None
        report = self._kernel.run(shared, timeout)
        for v, s in zip(values, shared, strict=True):
            if isinstance(v, np.ndarray) and isinstance(s, SharedBuffer):
                v[...] = s.array[: v.nbytes].view(v.dtype).reshape(v.shape)
        return report

    def bind(
        self,
        parameters: Sequence[Parameter],
        args: Sequence[Array | int | float],
        named: Mapping[str, Array | int | float],
    ) -> list[Array | int | float]:
        left = dict(named)
        values = list(args)
        for p in parameters[len(values) :]:
            if p.name not in left:
                break
            values.append(left.pop(p.name))
        if left or len(values) != len(parameters):
            wanted = ", ".join(map(str, parameters)) or "none"
            got = f"{len(args)} by position" + (f" and {', '.join(named)}" if named else "")
            raise RunError(f"{self.name} takes the arguments {wanted}; given were {got}")
        return values

    def hand_over(self, p: Parameter, array: Array) -> SharedBuffer:
        if p.scalar:
            raise RunError(f"{self.name}: argument {p} is a number, not an array")
        if array.dtype.itemsize != p.numpy.itemsize:
            raise RunError(f"{self.name}: argument {p} does not fit an array of {array.dtype}")
        if -1 not in p.shape and array.size < int(np.prod(p.shape)):
            raise RunError(
                f"{self.name}: argument {p} has {int(np.prod(p.shape))} elements, the array has "
                f"{array.size}"
            )
        buffer = SharedBuffer(array.nbytes)
        buffer.array[:] = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
        return buffer

    def close(self) -> None:
        if self._kernel is not None:
            self._kernel.close()
            self._kernel = None


# ---- the command
def command(path: str, words: Sequence[str]) -> None:
    options = _parser().parse_args(words)
    if options.trace:
        os.environ["IRON_HOST_TRACE"] = os.path.abspath(options.trace)
    program = MlirProgram(
        path,
        objects=dict(_pair(o, "--object") for o in options.object),
        flags=options.flag,
        include_dirs=[os.path.abspath(d) for d in options.include],
        device=options.device,
        sequence=options.sequence,
        limits=options.limits,
    )
    parameters = program.load()
    given = dict(_pair(a, "--arg") for a in options.arg)
    values = [_value(p, _given(given, p, i)) for i, p in enumerate(parameters)]
    if given:
        raise RunError(
            f"{program.name} has no argument {', '.join(given)}; it has: "
            + (", ".join(f"{i} {p}" for i, p in enumerate(parameters)) or "none")
        )
    before = [v.copy() if isinstance(v, np.ndarray) else v for v in values]
    for _ in range(options.runs):
        report = program(*values, timeout=options.timeout)
    for line in report.unfinished:
        print(f"note: {line}")
    outputs = dict(_pair(o, "--out") for o in options.out)
    for i, (p, v, b) in enumerate(zip(parameters, values, before, strict=True)):
        target = _given(outputs, p, i)
        if target is not None and isinstance(v, np.ndarray):
            np.save(target, v)
        if isinstance(v, np.ndarray) and not np.array_equal(
            v.view(np.uint8), np.asarray(b).view(np.uint8)
        ):
            shown = np.array2string(v.reshape(-1), threshold=16, edgeitems=6)
            print(f"{i} {p} = {shown}" + (f" -> {target}" if target else ""))
    if outputs:
        raise RunError(f"{program.name} has no argument {', '.join(outputs)} to write out")
    program.close()


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="iron run design.mlir", description="Run a module of MLIR on the host target."
    )
    p.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="N=VALUE",
        help="argument number or name: file.npy, zeros, ones, arange, random, or a number; "
        "with (COUNT) after it where the shape is not fixed",
    )
    p.add_argument(
        "--out", action="append", default=[], metavar="N=FILE", help="write an argument (.npy)"
    )
    p.add_argument(
        "--object",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="what a link_with name is: a source or an object",
    )
    p.add_argument("--flag", action="append", default=[], help="to compile sources with")
    p.add_argument("-I", "--include", action="append", default=[], metavar="DIR")
    p.add_argument("--device", help="which device, when there are several")
    p.add_argument("--sequence", help="which runtime sequence, when there are several")
    p.add_argument("--runs", type=int, default=1, metavar="COUNT")
    p.add_argument("--timeout", type=float, help="seconds for each run")
    p.add_argument("--trace", metavar="FILE", help="write a timeline (Perfetto, chrome://tracing)")
    p.add_argument(
        "--no-limits", dest="limits", action="store_false", help="do not check the device's limits"
    )
    return p


def _pair(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise RunError(f"{option} {text}: write it as NAME=VALUE")
    return name, value


def _given(given: dict[str, str], p: Parameter, number: int) -> str | None:
    by_number = given.pop(str(number), None)
    return by_number if by_number is not None else given.pop(p.name, None)


def _value(p: Parameter, word: str | None) -> Array | int | float:
    """What a word of the command line says an argument is."""
    if p.scalar:
        if word is None:
            raise RunError(f"{p} is a number and has no default: --arg {p.name}=VALUE")
        try:
            return float(word) if p.dtype.startswith(("f", "bf")) else int(word, 0)
        except ValueError:
            raise RunError(f"{p}: {word!r} is no {p.dtype}") from None
    word, _, count = (word or "zeros").partition("(")
    if os.path.exists(word):
        return np.array(np.load(word))
    shape: tuple[int, ...] = (int(count.rstrip(")")),) if count else p.shape
    if -1 in shape:
        raise RunError(f"{p} has no fixed shape: --arg {p.name}={word}(COUNT) or a file")
    size = int(np.prod(shape))
    if word == "zeros":
        return np.zeros(shape, p.numpy)
    if word == "ones":
        return np.ones(shape, p.numpy)
    if word == "arange":
        return np.arange(size).astype(p.numpy).reshape(shape)
    if word == "random":
        raw = np.random.default_rng(0).integers(-100, 100, size)
        return raw.astype(p.numpy).reshape(shape)
    raise RunError(f"{p}: {word!r} is neither a file nor zeros, ones, arange or random")
