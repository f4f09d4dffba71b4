"""What a design is before anything is made of it: `DeclaredDesign`, a generator with the values
bound so far and the options it is built with. Knows nothing of generating and building.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from .options import BuildOptions
from .signature import ScalarParameter, Signature, TensorParameter, signature_of

if TYPE_CHECKING:
    from pathlib import Path

D = TypeVar("D", bound="DeclaredDesign")


class DeclaredDesign:
    """A generator with the compile-time values bound so far and the options it is built with.

    Raises TypeError when the generator's parameters have no meaning in a design.
    """

    def __init__(
        self,
        mlir_generator: Callable[..., Any] | str | os.PathLike[str],
        *,
        compile_kwargs: Mapping[str, Any] | None = None,
        **build_options: Any,
    ) -> None:
        if isinstance(mlir_generator, (str, os.PathLike)):
            from .mlir_file import MlirFile

            mlir_generator = MlirFile(mlir_generator)
        self.generator: Callable[..., Any] = mlir_generator
        self.signature: Signature = signature_of(mlir_generator).with_values(compile_kwargs or {})
        self.options = BuildOptions.of(build_options, self.directory)
        self.sequence: str | None = None
        """Which runtime sequence of several runs; None: the one called "sequence", or the only."""

    def renew(self) -> None:
        """Look at the generator's parameters again, after its definition was edited."""
        self.signature = signature_of(self.generator).with_values(self.signature.prebound)

    @property
    def name(self) -> str:
        """The name of the generator function, or of the file of MLIR."""
        return self.signature.design

    generator_name = name

    @property
    def mlir_generator(self) -> Callable[..., Any]:
        """The function that makes the design."""
        return self.generator

    @property
    def compile_kwargs(self) -> Mapping[str, Any]:
        """The values bound so far."""
        return MappingProxyType(self.signature.prebound)

    @property
    def use_cache(self) -> bool:
        """The build option of that name."""
        return self.options.use_cache

    @property
    def full_elf(self) -> bool:
        """The build option of that name."""
        return self.options.full_elf

    @property
    def compile_flags(self) -> tuple[str, ...]:
        """The build option of that name."""
        return self.options.compile_flags

    @property
    def aiecc_flags(self) -> tuple[str, ...]:
        """The build option of that name."""
        return self.options.aiecc_flags

    @property
    def source_files(self) -> tuple[Path, ...]:
        """The build option of that name, as absolute paths."""
        from pathlib import Path

        return tuple(map(Path, self.options.source_files))

    @property
    def include_paths(self) -> tuple[Path, ...]:
        """The build option of that name, as absolute paths."""
        from pathlib import Path

        return tuple(map(Path, self.options.include_paths))

    @property
    def object_files(self) -> tuple[Path, ...]:
        """The build option of that name, as absolute paths."""
        from pathlib import Path

        return tuple(map(Path, self.options.object_files))

    @property
    def compile_params(self) -> list[str]:
        """Names of the CompileTime parameters."""
        return list(self.signature.value_names)

    @property
    def tensor_params(self) -> list[str]:
        """Names of the tensor parameters, in the order of the call."""
        return [t.name for t in self.signature.tensors if isinstance(t, TensorParameter)]

    @property
    def scalar_params(self) -> list[str]:
        """Names of the numbers that calls give by position, in their order."""
        return [t.name for t in self.signature.tensors if isinstance(t, ScalarParameter)]

    @property
    def directory(self) -> str:
        """The folder of the generator's file; relative paths in the design's options start here."""
        files = self.own_files()
        return os.path.dirname(files[0]) if files else os.getcwd()

    def own_files(self) -> list[str]:
        """The file the generator stands in, unless it was typed in or made otherwise."""
        file = self.signature.where.rpartition(":")[0]
        return [os.path.abspath(file)] if os.path.exists(file) else []

    def specialize(self: D, **overrides: Any) -> D:
        """The same design with options replaced and further values bound; TypeError for a name that
        is neither an option nor a CompileTime parameter."""
        named = {k: overrides.pop(k) for k in list(overrides) if k in BuildOptions.names()}
        made = object.__new__(type(self))
        made.generator = self.generator
        made.signature = self.signature.with_values(overrides)
        changed = BuildOptions.of(named, self.directory)
        made.options = replace(self.options, **{k: getattr(changed, k) for k in named})
        made.sequence = self.sequence
        return made

    def for_sequence(self: D, name: str) -> D:
        """The same design, running the runtime sequence `name`; everything else of what is built
        is shared with the other sequences."""
        made = self.specialize()
        choose = getattr(self.generator, "for_sequence", None)
        if choose is not None:
            made.generator = choose(name)
            made.renew()
        made.sequence = name
        return made

    # -- as JSON ---------------------------------------------------------------------------

    def to_json(self) -> str:
        """Everything but the generator, for `from_json`. TypeError for a value that has no form
        in JSON."""
        import json

        from .values_json import encode

        values = {k: encode(v, k) for k, v in self.signature.prebound.items()}
        options = {
            f.name: encode(getattr(self.options, f.name), f.name) for f in fields(self.options)
        }
        return json.dumps(
            {"generator_name": self.name, "compile_kwargs": values, "options": options}
        )

    @classmethod
    def from_json(cls: type[D], json_str: str, generator: Callable[..., Any] | None = None) -> D:
        """The reverse of `to_json`, with the generator that is not in it; ValueError without
        one."""
        import json

        from .values_json import decode

        if generator is None:
            raise ValueError(
                "from_json needs the generator, which JSON cannot hold: from_json(text, generator)"
            )
        data = json.loads(json_str)
        values = {k: decode(v) for k, v in data["compile_kwargs"].items()}
        options = {k: decode(v) for k, v in data["options"].items()}
        return cls(generator, compile_kwargs=values, **options)

    def __iron_key__(self) -> tuple[Any, ...]:
        """What it is as a compile-time value of another design."""
        return (self.generator, dict(self.signature.prebound), self.options.key())

    def __repr__(self) -> str:
        return f"<design {self.name} at {self.signature.where}>"
