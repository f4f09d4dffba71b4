"""Calling a design: `CallableDesign`, what ``@iron.jit`` makes of a generator.

A call goes from the typed key of its values to a loaded package in one dictionary. With
``reload="auto"`` it first makes sure that the package is still what the design's inputs say.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from iron.runtime.errors import HostRuntimeError

from .arguments import Arguments
from .compilable import CompilableDesign
from .generate import in_users_terms
from .keys import key_text
from .options import current_options, options
from .reads import Reads, reads_of
from .reload import SourceFiles

if TYPE_CHECKING:
    from pathlib import Path

    from iron.build import Session
    from iron.runtime.host import HostKernel, RunReport
    from iron.runtime.xrt import XrtKernel

    from .compilable import Built
    from .generate import Generated

LOADED_LIMIT = 16
"""Packages one design keeps loaded, each with a worker process; the least used one goes."""


class CallResult(NamedTuple):
    """What a call gives back, as mlir-aie's ``(kernel handle, kernel result)``."""

    handle: HostKernel | XrtKernel
    result: RunReport


@dataclass
class _Loaded:
    """One specialisation ready to run."""

    built: Built
    arguments: Arguments
    kernel: HostKernel | XrtKernel
    generation: int
    """Which state of the generator it was generated from."""
    environment: tuple[str | None, ...]
    """What decides where results and tools are, when it was built."""


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
        self._forget()
        self.__wrapped__ = generator
        self.__name__ = self.compilable.name
        self.__qualname__ = getattr(generator, "__qualname__", self.__name__)
        self.__module__ = getattr(generator, "__module__", __name__)
        self.__doc__ = generator.__doc__

    def _forget(self) -> None:
        """Have nothing loaded: at first, and in a forked child, where it is the parent's."""
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._loaded: OrderedDict[tuple[str, str, str], _Loaded] = OrderedDict()

    def __call__(self, *args: Any, **kwargs: Any) -> CallResult:
        chosen = current_options()
        check = chosen.reload == "auto"
        if check:
            self._look_at_inputs()
        call = self.compilable.signature.bind(args, kwargs)
        loaded = self._load(call.values, check)
        buffers = loaded.arguments.check(call.tensors)
        try:
            report = loaded.kernel.run(buffers.given, timeout=chosen.timeout)
        except HostRuntimeError as e:
            raise in_users_terms(e, loaded.built.generated.lines) from None
        buffers.copy_back()
        return CallResult(loaded.kernel, report)

    @property
    def _kernel_cache(self) -> OrderedDict[tuple[str, str, str], _Loaded]:
        """What is loaded, by the name that tests of mlir-aie clear it by."""
        return self._loaded

    def specialize(self, **overrides: Any) -> CallableDesign:
        """The same design with options replaced and further values bound."""
        return CallableDesign(self.compilable.specialize(**overrides))

    def __getitem__(self, options: options) -> OptionedCall:
        """``design[iron.options(timeout=5)](a, b)``: options for that call."""
        return OptionedCall(self, options)

    def compile(self, **paths: Any) -> tuple[Path, Path | None]:
        """Build with the values bound so far; see `CompilableDesign.compile`."""
        return self.compilable.compile(**paths)

    def get_pdi_paths(self) -> list[Path]:
        return self.compilable.get_pdi_paths()

    def get_pdi_path(self, device_name: str | None = None) -> Path | None:
        return self.compilable.get_pdi_path(device_name)

    @property
    def trace_config(self) -> Any:
        return self.compilable.options.trace_config

    def as_mlir(self, **values: Any) -> str:
        """The text of the design with `values`, as its inputs are now."""
        from iron.build import default_session
        from iron.design import get_current_device

        self._look_at_inputs()
        bound = self.compilable.signature.bind_values(values)
        return self._generate(default_session(), bound, get_current_device()).text

    def build(self, **values: Any) -> Built:
        """Generate and build with `values`, without running; what is known is not done again."""
        self._look_at_inputs()
        return self._load(self.compilable.signature.bind_values(values), True).built

    def __repr__(self) -> str:
        return repr(self.compilable)

    def __iron_key__(self) -> Any:
        """What it is as a compile-time value of another design."""
        return self.compilable

    # -- from values to a loaded package ---------------------------------------------------

    def _load(self, values: Mapping[str, Any], check: bool) -> _Loaded:
        from iron.design import get_current_device

        device = get_current_device()
        with self._own_lock():
            key = (key_text(device, "device"), self.compilable.values_key(values), _target())
            loaded = self._loaded.get(key)
            if loaded is None or check:
                loaded = self._bring_up_to_date(loaded, values, device)
            self._loaded[key] = loaded
            self._loaded.move_to_end(key)
            while len(self._loaded) > LOADED_LIMIT:
                self._loaded.popitem(last=False)[1].kernel.close()
            return loaded

    def _own_lock(self) -> threading.RLock:
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

    def _bring_up_to_date(
        self, loaded: _Loaded | None, values: Mapping[str, Any], device: Any
    ) -> _Loaded:
        from iron.build import default_session

        environment = _environment()
        if loaded is not None and loaded.generation == self._generation:
            generated = loaded.built.generated
            watch = loaded.built.package.watch
            same_tools = loaded.environment == environment
            if same_tools and watch is not None and watch.unchanged():
                return loaded
            session = default_session()
        else:
            session = default_session()
            generated = self._generate(session, values, device)
        built = self.compilable.build(session, generated)
        if loaded is not None and loaded.built.package.key == built.package.key:
            loaded.built, loaded.generation = built, self._generation
            loaded.environment = environment
            return loaded
        if loaded is not None:
            loaded.kernel.close()
        return self._load_package(built)

    def _generate(self, session: Session, values: Mapping[str, Any], device: Any) -> Generated:
        if self._reads is None:
            self._look_at_inputs()
        if self._sources.refreshed:
            # What an edit was taken over into may differ from what a new process would load.
            return self.compilable.generate(values, device)
        return self.compilable.generated(session, values, device, self._reads)

    def _load_package(self, built: Built) -> _Loaded:
        directory = built.package.directory
        arguments = Arguments.read(directory, self.compilable.signature)
        kernel = self._kernel(built)
        return _Loaded(built, arguments, kernel, self._generation, _environment())

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


def _environment() -> tuple[str | None, ...]:
    from iron.build import STORE_VARIABLES
    from iron.toolchain.compiler import VARIABLES
    from iron.toolchain.resolver import VARIABLES as NPU_VARIABLES

    return tuple(map(os.environ.get, (*STORE_VARIABLES, *VARIABLES, *NPU_VARIABLES)))


def _target() -> str:
    return current_options().target
