"""Calling a design: `CallableDesign`, what ``@iron.jit`` makes of a generator.

A call goes from a short key of its values to a loaded package, and its tensors from what they are
to buffers, without a file looked at, a lock or anything written out. With ``reload="auto"`` it
first makes sure that the package is still what the design's inputs say. What is not known so is
brought up to date and checked with every care, and known from then on.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from iron.build.turns import Turn
from iron.design.current import environment_device
from iron.runtime.device import chosen_device, use_device

from .arguments import Arguments
from .compilable import CompilableDesign
from .environment import Variables
from .keys import key_text
from .loaded import CallResult, Loaded
from .options import current_options, options, pinned
from .reads import Reads, reads_of
from .reload import SourceFiles
from .short_keys import all_plain, short_key
from .signature import MISSING

if TYPE_CHECKING:
    from pathlib import Path

    from iron.build import Session
    from iron.runtime.host import HostKernel
    from iron.runtime.xrt import XrtKernel

    from .artifacts import StrPath
    from .compilable import Built
    from .generate import Generated
    from .shortcuts import Shortcut

__all__ = ["CallResult", "CallableDesign", "OptionedCall"]

LOADED_LIMIT = 16
"""Packages one design keeps loaded, each with a worker process; the one not used for longest goes.
"""
SHORT_KEYS_LIMIT = 256
"""Ways of calling one design that are known by a short key; beyond, all are learnt again."""
PATIENCE = 1.0
"""Seconds within which a call does not look again at what only the system's package manager
writes; everything else is looked at before each call."""

_LoadedKey = tuple[str, str, str]


class CallableDesign:
    """A design that is called with tensors by position and compile-time values by keyword.

    TypeError for wrong arguments, before anything is built or run; iron.build.BuildError when a
    kernel does not compile; iron.runtime.errors.HostRuntimeError when a run fails.
    """

    def __init__(
        self,
        mlir_generator: Callable[..., Any] | str | os.PathLike[str] | CompilableDesign,
        *,
        compile_kwargs: Mapping[str, Any] | None = None,
        **build_options: Any,
    ) -> None:
        if isinstance(mlir_generator, CompilableDesign):
            if compile_kwargs or build_options:
                mlir_generator = mlir_generator.specialize(
                    **{**(compile_kwargs or {}), **build_options}
                )
            self.compilable = mlir_generator
        else:
            self.compilable = CompilableDesign(
                mlir_generator, compile_kwargs=compile_kwargs, **build_options
            )
        generator = self.compilable.generator
        self._sources = SourceFiles(self.compilable.own_files())
        self._reads: Reads | None = None
        self._generation = 0
        self._steady = self._has_steady_values()
        self._forget()
        self.__wrapped__ = generator
        self.__name__ = self.compilable.name
        self.__qualname__ = getattr(generator, "__qualname__", self.__name__)
        self.__module__ = getattr(generator, "__module__", __name__)
        self.__doc__ = generator.__doc__

    def _forget(self) -> None:
        """Have nothing loaded: at first, and in a forked child, where it is the parent's."""
        self._pid = os.getpid()
        self._lock = Turn(self.compilable.name)
        self._loaded: dict[_LoadedKey, Loaded] = {}
        self._short: dict[tuple[Any, ...], tuple[_LoadedKey, Any]] = {}
        self._sequences: dict[str, CallableDesign] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> CallResult:
        """Run the design on `args`, tensors and numbers in the order of the signature; `kwargs`
        are compile-time values.

        A tensor is a `Tensor` or a NumPy array of the dtype and the number of elements that the
        runtime sequence declares; arrays are copied in before the run, and those of `Out` and
        `InOut` back after it. What is missing is built first.

        TypeError for arguments that do not fit, and the errors of generating, building and running.
        """
        chosen = current_options()
        check = chosen.reload == "auto"
        if check:
            self._look_at_inputs()
        device = chosen_device()
        short = None
        if self._steady:
            short = short_key(self._generation, chosen.target, device, kwargs)
        known = None if short is None else self._short.get(short)
        loaded = None if known is None else self._loaded.get(known[0])
        if check and loaded is not None and not self._holds(loaded):
            loaded = None
        given = None if loaded is None else loaded.buffers(args)
        if loaded is not None and given is not None:
            loaded.used()
            return loaded.run(given, chosen.timeout)
        call = self.compilable.signature.bind(args, kwargs)
        if loaded is None:
            # What is loaded is of this device and these options, whatever others choose meanwhile.
            with pinned(chosen), use_device(environment_device() if device is None else device):
                key, loaded = self._load(call.values, check)
            if short is not None:
                self._remember(short, key, device)
        buffers = loaded.arguments.check(call.tensors)
        loaded.saw(call.tensors)
        result = loaded.run(buffers.given, chosen.timeout)
        buffers.copy_back()
        return result

    def _remember(self, short: tuple[Any, ...], key: _LoadedKey, device: Any) -> None:
        if len(self._short) >= SHORT_KEYS_LIMIT:
            self._short.clear()
        self._short[short] = (key, device)

    @property
    def _kernel_cache(self) -> dict[_LoadedKey, Loaded]:
        """What is loaded, by the name that tests of mlir-aie clear it by."""
        return self._loaded

    def specialize(self, **overrides: Any) -> CallableDesign:
        """The same design with options replaced and further values bound."""
        return self._with(self.compilable.specialize(**overrides))

    def _with(self, compilable: CompilableDesign) -> CallableDesign:
        """Another design of the same functions: edits since they were loaded are seen by either."""
        made = CallableDesign(compilable)
        made._sources = self._sources
        return made

    def sequence(self, name: str) -> CallableDesign:
        """The design running another of its runtime sequences: ``design.sequence("fill")(a, b)``.
        What the sequences share is built once, and loaded once on an NPU."""
        with self._own_lock():
            if name not in self._sequences:
                self._sequences[name] = self._with(self.compilable.for_sequence(name))
            return self._sequences[name]

    def __getitem__(self, options: options) -> OptionedCall:
        """``design[iron.options(timeout=5)](a, b)``: options for that call."""
        return OptionedCall(self, options)

    def compile(
        self,
        xclbin_path: StrPath | None = None,
        inst_path: StrPath | None = None,
        elf_path: StrPath | None = None,
        full_elf_path: StrPath | None = None,
        pdi_path: StrPath | None = None,
    ) -> tuple[Path, Path | None]:
        """Build with the values bound so far; see `CompilableDesign.compile`."""
        return self.compilable.compile(xclbin_path, inst_path, elf_path, full_elf_path, pdi_path)

    def get_pdi_paths(self) -> list[Path]:
        """As `CompilableDesign.get_pdi_paths`."""
        return self.compilable.get_pdi_paths()

    def get_pdi_path(self, device_name: str | None = None) -> Path | None:
        """As `CompilableDesign.get_pdi_path`."""
        return self.compilable.get_pdi_path(device_name)

    @property
    def trace_config(self) -> Any:
        """The build option of that name; the host target records no trace."""
        return self.compilable.options.trace_config

    def as_mlir(self, *args: Any, **values: Any) -> str:
        """The text of the design with `values`, as its inputs are now; with tensors, it is that of
        the call which they make."""
        from iron.design import get_current_device

        from .records import own_session

        self._look_at_inputs()
        signature = self.compilable.signature
        bound = signature.bind(args, values).values if args else signature.bind_values(values)
        return self._generate(own_session(), bound, get_current_device()).text

    def build(self, out: StrPath | None = None, **values: Any) -> Built:
        """Build with `values`, without running, and put the files where `out` says; see
        `CompilableDesign.build`. What is known is not done again."""
        self._look_at_inputs()
        built = self._load(self.compilable.signature.bind_values(values), True)[1].built
        return self.compilable.delivered(built, out)

    def export(self, directory: StrPath, **values: Any) -> Path:
        """Build with `values`, and write all it is made from; see `CompilableDesign.export`."""
        self._look_at_inputs()
        return self.compilable.export(directory, **values)

    def __repr__(self) -> str:
        return repr(self.compilable)

    def __iron_key__(self) -> Any:
        """What it is as a compile-time value of another design."""
        return self.compilable

    # -- from values to a loaded package ---------------------------------------------------

    def _load(self, values: Mapping[str, Any], check: bool) -> tuple[_LoadedKey, Loaded]:
        from iron.design import get_current_device

        device = get_current_device()
        with self._own_lock():
            key = (key_text(device, "device"), self.compilable.values_key(values), _target())
            loaded = self._loaded.get(key)
            if loaded is None or check:
                loaded = self._bring_up_to_date(loaded, values, device)
            self._loaded[key] = loaded
            loaded.used()
            while len(self._loaded) > LOADED_LIMIT:
                oldest = min(self._loaded, key=lambda k: self._loaded[k].last_use)
                self._loaded.pop(oldest).kernel.close()
            return key, loaded

    def _own_lock(self) -> Turn:
        """The lock of this design in this process."""
        if self._pid != os.getpid():
            self._forget()
        return self._lock

    def _look_at_inputs(self) -> None:
        """Take over edited source files, and begin a new generation when anything is different."""
        with self._own_lock():
            if self._sources.refreshing:
                return  # an edited statement, run again, calls the design itself
            if self._reads is None:
                self._reads = reads_of(self.compilable.generator)
                self._sources.add(self._reads.files)
            if self._sources.refresh(self._reads) or self._reads.changed():
                self._generation += 1
                self._reads = reads_of(self.compilable.generator)
                self._sources.add(self._reads.files)
                self.compilable.renew()
                self._steady = self._has_steady_values()

    def _has_steady_values(self) -> bool:
        """Whether no value that calls leave out can change between two calls."""
        signature = self.compilable.signature
        defaults = (v.default for v in signature.values if v.default is not MISSING)
        return all_plain((*signature.prebound.values(), *defaults))

    def _holds(self, loaded: Loaded) -> bool:
        """Whether a loaded package is what its inputs on the disk and the environment say."""
        watch = loaded.built.package.watch
        with self._own_lock():
            return (
                loaded.generation == self._generation
                and loaded.environment == _environment().now()
                and watch is not None
                and watch.unchanged(PATIENCE)
                and loaded.built.generated.holds()
            )

    def _bring_up_to_date(
        self, loaded: Loaded | None, values: Mapping[str, Any], device: Any
    ) -> Loaded:
        from .records import own_session

        environment = _environment().now()
        shortcut = self._shortcut(values, device) if loaded is None else None
        known = None if shortcut is None else shortcut.find()
        if known is not None:
            return self._load_package(known, environment)
        session = own_session()
        if loaded is not None and loaded.generation == self._generation:
            if self._holds(loaded):
                return loaded
            generated = loaded.built.generated
            if not generated.holds():
                generated = self._generate(session, values, device)
        else:
            generated = self._generate(session, values, device)
        built = self.compilable.package_of(session, generated)
        if shortcut is not None and self._reads is not None:
            shortcut.keep(session, built, self._reads)
        if loaded is not None and loaded.built.package.key == built.package.key:
            loaded.built, loaded.generation = built, self._generation
            loaded.environment = environment
            return loaded
        if loaded is not None:
            loaded.kernel.close()
        return self._load_package(built, environment)

    def _shortcut(self, values: Mapping[str, Any], device: Any) -> Shortcut | None:
        """The shortcut to the package, of a generator that is what a new process would load."""
        if self._reads is None:
            self._look_at_inputs()
        if self._sources.refreshed or self._reads is None:
            return None
        from .shortcuts import Shortcut

        return Shortcut.of(self.compilable, values, device, self._reads)

    def _generate(self, session: Session, values: Mapping[str, Any], device: Any) -> Generated:
        if self._reads is None:
            self._look_at_inputs()
        if self._sources.refreshed:
            # What an edit was taken over into may differ from what a new process would load.
            return self.compilable.generate(values, device)
        return self.compilable.generated(session, values, device, self._reads)

    def _load_package(self, built: Built, environment: tuple[Any, ...]) -> Loaded:
        directory = built.package.directory
        arguments = Arguments.read(directory, self.compilable.signature)
        kernel = self._kernel(built)
        return Loaded(built, arguments, kernel, self._generation, environment)

    def _kernel(self, built: Built) -> HostKernel | XrtKernel:
        """What runs a package: the emulator's worker, or an NPU through XRT."""
        directory, name = built.package.directory, self.compilable.name
        if built.package.outputs[0] in ("final.xclbin", "design.elf"):
            from iron.runtime.xrt import XrtKernel

            tensors = self.compilable.signature.tensors
            return XrtKernel(
                directory,
                name=name,
                roles=tuple(t.role for t in tensors),
                arguments=tuple(t.name for t in tensors),
            )
        from iron.runtime.host import HostKernel

        return HostKernel(directory, name=name)


class OptionedCall:
    """A design with run options of its own for each of its calls."""

    def __init__(self, design: CallableDesign, chosen: options) -> None:
        if not isinstance(chosen, options):
            raise TypeError(
                f"{design.__name__}[...] takes iron.options(...), got {chosen!r}; pass tensors "
                "and values in the call"
            )
        self.design = design
        self.options = chosen

    def __call__(self, *args: Any, **kwargs: Any) -> CallResult:
        with self.options:
            return self.design(*args, **kwargs)

    def __repr__(self) -> str:
        return f"{self.design!r}[{self.options!r}]"


@functools.cache
def _environment() -> Variables:
    """What decides where results and tools are."""
    from iron.build import STORE_VARIABLES
    from iron.toolchain.variables import HOST, NPU

    return Variables(*STORE_VARIABLES, *HOST, *NPU)


def _target() -> str:
    return current_options().target
