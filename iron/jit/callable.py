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

from .arguments import Arguments
from .compilable import CompilableDesign
from .generate import relocate
from .keys import key_text
from .options import current_options
from .reads import Reads, reads_of
from .reload import SourceFiles

if TYPE_CHECKING:
    from iron.build import Session
    from iron.runtime.host import HostKernel, RunReport

    from .compilable import Built
    from .generate import Generated

LOADED_LIMIT = 16
"""Packages one design keeps loaded, each with a worker process; the least used one goes."""


class CallResult(NamedTuple):
    """What a call gives back, as mlir-aie's ``(kernel handle, kernel result)``."""

    handle: HostKernel
    result: RunReport


@dataclass
class _Loaded:
    """One specialisation ready to run."""

    built: Built
    arguments: Arguments
    kernel: HostKernel
    generation: int
    """Which state of the generator it was generated from."""


class CallableDesign:
    """A design that is called with tensors by position and compile-time values by keyword.

    TypeError for wrong arguments, before anything is built or run; iron.build.BuildError when a
    kernel does not compile; iron.runtime.errors.HostRuntimeError when a run fails.
    """

    def __init__(
        self,
        mlir_generator: Callable[..., Any] | CompilableDesign,
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
        options = current_options()
        check = options.reload == "auto"
        if check:
            self._look_at_inputs()
        call = self.compilable.signature.bind(args, kwargs)
        loaded = self._load(call.values, check)
        buffers = loaded.arguments.check(call.tensors)
        try:
            report = loaded.kernel.run(buffers.given, timeout=options.timeout)
        except Exception as e:
            raise _in_users_terms(e, loaded) from None
        buffers.copy_back()
        return CallResult(loaded.kernel, report)

    def specialize(self, **overrides: Any) -> CallableDesign:
        """The same design with options replaced and further values bound."""
        return CallableDesign(self.compilable.specialize(**overrides))

    def as_mlir(self, **values: Any) -> str:
        """The text of the design with `values`."""
        return self.compilable.as_mlir(**values)

    def build(self, **values: Any) -> Built:
        """Generate and build with `values`, without running; what is known is not done again."""
        self._look_at_inputs()
        return self._load(self.compilable.signature.bind_values(values), True).built

    def __repr__(self) -> str:
        return repr(self.compilable)

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

        session = default_session()
        if loaded is not None and loaded.generation == self._generation:
            generated = loaded.built.generated
        else:
            generated = self._generate(session, values, device)
        built = self.compilable.build(session, generated)
        if loaded is not None and loaded.built.package.key == built.package.key:
            loaded.built, loaded.generation = built, self._generation
            return loaded
        if loaded is not None:
            loaded.kernel.close()
        return self._load_package(built)

    def _generate(self, session: Session, values: Mapping[str, Any], device: Any) -> Generated:
        if self._reads is None:
            self._look_at_inputs()
        return self.compilable.generated(session, values, device, self._reads)

    def _load_package(self, built: Built) -> _Loaded:
        from iron.runtime.host import HostKernel

        directory = built.package.directory
        arguments = Arguments.read(directory, self.compilable.signature)
        kernel = HostKernel(directory, name=self.compilable.name)
        return _Loaded(built, arguments, kernel, self._generation)


def _target() -> str:
    return current_options().target


def _in_users_terms(error: Exception, loaded: _Loaded) -> Exception:
    """The same error, its text naming the user's lines instead of the generated text's."""
    text = relocate(str(error), loaded.built.generated.lines)
    error.args = (text, *error.args[1:])
    return error
