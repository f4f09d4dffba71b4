"""A design on the way from a generator to a built package: `CompilableDesign`.

Generation is remembered in the store: a record under a key of everything the generator reads
gives its text back without running it. What the text names is built by the toolchain, keyed by
content, so that equal text builds nothing, whoever wrote it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from .context import compile_values
from .generate import Generated, generate, in_users_terms
from .keys import key_text
from .options import BuildOptions, current_options
from .reads import Reads, reads_of
from .signature import Signature, signature_of

if TYPE_CHECKING:
    from iron.build import Result, Session
    from iron.design import Module
    from iron.toolchain.host import HostToolchain
    from iron.toolchain.npu import NpuToolchain
    from iron.toolchain.objects import ObjectSpec

    from .artifacts import StrPath

RECORD_FORMAT = "1"
RECORD_PARTS = (
    "form of the record", "iron itself", "name", "directory", "values and options", "device",
    "what the generator reads",
)  # fmt: skip
"""What the parts of a record's key are called; the files it reads come after them."""


@dataclass(frozen=True)
class Built:
    """One design, generated and built: its package, and what tells whether it is still right."""

    generated: Generated
    package: Result


class CompilableDesign:
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

    def renew(self) -> None:
        """Look at the generator's parameters again, after its definition was edited."""
        self.signature = signature_of(self.generator).with_values(self.signature.prebound)

    @property
    def name(self) -> str:
        return self.signature.design

    generator_name = name

    @property
    def mlir_generator(self) -> Callable[..., Any]:
        return self.generator

    @property
    def compile_kwargs(self) -> Mapping[str, Any]:
        """The values bound so far."""
        return MappingProxyType(self.signature.prebound)

    @property
    def use_cache(self) -> bool:
        return self.options.use_cache

    @property
    def full_elf(self) -> bool:
        return self.options.full_elf

    @property
    def compile_flags(self) -> tuple[str, ...]:
        return self.options.compile_flags

    @property
    def aiecc_flags(self) -> tuple[str, ...]:
        return self.options.aiecc_flags

    @property
    def source_files(self) -> tuple[Path, ...]:
        return tuple(map(Path, self.options.source_files))

    @property
    def include_paths(self) -> tuple[Path, ...]:
        return tuple(map(Path, self.options.include_paths))

    @property
    def object_files(self) -> tuple[Path, ...]:
        return tuple(map(Path, self.options.object_files))

    @property
    def compile_params(self) -> list[str]:
        return list(self.signature.value_names)

    @property
    def tensor_params(self) -> list[str]:
        return [t.name for t in self.signature.tensors]

    @property
    def scalar_params(self) -> list[str]:
        """None: a number of the call is a compile-time value or lies in a tensor."""
        return []

    @property
    def directory(self) -> str:
        """The folder of the generator's file; relative paths in the design's options start here."""
        files = self.own_files()
        return os.path.dirname(files[0]) if files else os.getcwd()

    def own_files(self) -> list[str]:
        """The file the generator stands in, unless it was typed in or made otherwise."""
        file = self.signature.where.rpartition(":")[0]
        return [os.path.abspath(file)] if os.path.exists(file) else []

    def specialize(self, **overrides: Any) -> CompilableDesign:
        """The same design with options replaced and further values bound."""
        named = {k: overrides.pop(k) for k in list(overrides) if k in BuildOptions.names()}
        made = object.__new__(CompilableDesign)
        made.generator = self.generator
        made.signature = self.signature.with_values(overrides)
        changed = BuildOptions.of(named, self.directory)
        made.options = replace(self.options, **{k: getattr(changed, k) for k in named})
        return made

    # -- generating ------------------------------------------------------------------------

    def generated(
        self, session: Session, values: Mapping[str, Any], device: Any, reads: Reads | None = None
    ) -> Generated:
        """The design's text: as recorded, when everything it depends on is the same, else anew."""
        reads = reads or reads_of(self.generator)
        use_cache = self.options.use_cache and current_options().use_cache
        if not reads.complete or not use_cache:
            return self.generate(values, device)
        parts = self._record_parts(values, device, reads)
        recorded = _recall(session, parts, self.name)
        if recorded is not None:
            return recorded
        started = time.perf_counter()
        made = self.generate(values, device)
        seconds = time.perf_counter() - started
        late = reads_of(self.generator)
        if late.text() == reads.text() and late.files == reads.files:
            # Otherwise it imported or changed something while it ran: its inputs are known only
            # from now on, and the next process starts from what it finds then.
            files = {"aie.mlir": made.text, "record.json": made.to_json()}
            session.keep(
                "generation", parts, files, label=self.name, names=RECORD_PARTS, seconds=seconds
            )
        return made

    def generate(self, values: Mapping[str, Any], device: Any) -> Generated:
        """The design's text, from running the generator; no record is read or written."""
        return generate(self.generator, self.signature, values, device)

    def _record_parts(self, values: Mapping[str, Any], device: Any, reads: Reads) -> list[str]:
        from iron.build import file_digest

        return [
            RECORD_FORMAT,
            _own_identity(),
            self.name,
            self.directory,
            self.values_key(values),
            key_text(device, "device"),
            reads.text(),
            *(f"{f} {file_digest(f)}" for f in sorted(self._input_files(reads))),
        ]

    def _input_files(self, reads: Reads) -> set[str]:
        return {*reads.files, *self.options.source_files, *self.own_files()}

    def values_key(self, values: Mapping[str, Any]) -> str:
        """Canonical text of compile-time values, of the context's and of the options."""
        parts = [f"{k}={key_text(v, f'{self.name}: {k}')}" for k, v in sorted(values.items())]
        context = {k: v for k, v in compile_values().items() if k not in values}
        return "\n".join(
            (*parts, key_text(context, "compile_context"), key_text(self.options.key()))
        )

    # -- building --------------------------------------------------------------------------

    def toolchain(
        self, target: str | None = None, sequences: Sequence[str] = (), driver: str | None = None
    ) -> HostToolchain | NpuToolchain:
        """The tools of `target`, by default the one in force; ToolNotFound when it has none here.
        Sequences and driver are choices of the npu target."""
        flags, includes = self.options.compile_flags, self.options.include_paths
        if (target or current_options().target) == "host":
            from iron.toolchain.host import HostToolchain

            return HostToolchain.find(flags, includes)
        from iron.design.spelling import march_2026_operation
        from iron.toolchain.npu import NpuToolchain

        from .mlir_file import MlirFile

        by_hand = isinstance(self.generator, MlirFile)  # in the spelling its writer chose
        return NpuToolchain.find(
            flags,
            includes,
            driver=driver,
            aiecc_flags=self.options.aiecc_flags,
            full_elf=self.options.full_elf,
            sequences=sequences,
            spellings={} if by_hand else {"2026-03": march_2026_operation},
        )

    def build(self, session: Session, generated: Generated) -> Built:
        """The package of what was generated. Raises iron.build.BuildError and the errors of
        `HostToolchain.package`."""
        objects = self.objects(generated)
        try:
            package = self.toolchain().package(session, generated.text, objects, self.name)
        except Exception as e:
            in_users_terms(e, generated.lines)
            raise
        return Built(generated, package)

    def objects(self, generated: Generated) -> dict[str, ObjectSpec | str]:
        """What the text's ``link_with`` names are: ready files by name, and what must be built."""
        ready = {os.path.basename(p): p for p in self.options.object_files}
        return {**ready, **generated.objects}

    def as_mlir(self, **values: Any) -> str:
        """The text of the design with `values`."""
        from iron.build import default_session
        from iron.design import get_current_device

        bound = self.signature.bind_values(values)
        return self.generated(default_session(), bound, get_current_device()).text

    def generate_mlir(self) -> Module:
        """The design with the values bound so far, as a module. TypeError when one is missing."""
        from iron import ir
        from iron.design import Module

        return Module(ir.parse(self.as_mlir(), "aie.mlir"))

    # -- as files --------------------------------------------------------------------------

    def compile(
        self,
        xclbin_path: StrPath | None = None,
        inst_path: StrPath | None = None,
        elf_path: StrPath | None = None,
        full_elf_path: StrPath | None = None,
        pdi_path: StrPath | None = None,
    ) -> tuple[Path, Path | None]:
        """Build, and give or write the files that take the place of an xclbin and its
        instructions; see `iron.jit.artifacts`.

        Without paths they are in the store. ValueError for paths that do not go together,
        TypeError for missing values, iron.build.BuildError when a kernel does not compile.
        """
        from .artifacts import artifacts, given_paths, write_artifacts

        given = given_paths(
            {
                "xclbin_path": xclbin_path,
                "inst_path": inst_path,
                "elf_path": elf_path,
                "full_elf_path": full_elf_path,
                "pdi_path": pdi_path,
            }
        )
        package = self.build(*self._generated()).package
        return write_artifacts(package, given) if given else artifacts(package)

    def get_artifacts(self) -> tuple[Path, Path] | None:
        """What `compile()` would give, when it is built already; nothing is compiled."""
        from .artifacts import artifacts

        session, generated = self._generated()
        objects = self.objects(generated)
        found = self.toolchain().find_package(session, generated.text, objects, self.name)
        return None if found is None else artifacts(found)

    def get_pdi_paths(self) -> list[Path]:
        """The device images; the host target makes none."""
        return []

    def get_pdi_path(self, device_name: str | None = None) -> Path | None:
        """The image of one device; None on the host target."""
        return None

    def _generated(self) -> tuple[Session, Generated]:
        from iron.build import default_session
        from iron.design import get_current_device

        try:
            values = self.signature.bind_values({})
        except TypeError as e:
            raise TypeError(
                f"the compile_kwargs do not match the CompileTime parameters: {e}"
            ) from None
        session = default_session()
        return session, self.generated(session, values, get_current_device())

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
    def from_json(
        cls, json_str: str, generator: Callable[..., Any] | None = None
    ) -> CompilableDesign:
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


def _recall(session: Session, parts: Sequence[str], name: str) -> Generated | None:
    """What a record says, None when there is none that can be read."""
    found = session.recall("generation", parts, label=name, names=RECORD_PARTS)
    if found is None:
        return None
    try:
        with open(found.path("aie.mlir"), encoding="utf-8") as f:
            text = f.read()
        with open(found.path("record.json"), encoding="utf-8") as f:
            return Generated.from_json(text, f.read())
    except (OSError, ValueError, KeyError):
        return None


def _own_identity() -> str:
    """What our own part in generating is: the sources of the rooms that do it."""
    from iron.build import source_digest

    return source_digest(
        "iron.algorithms", "iron.compat", "iron.design", "iron.ir", "iron.jit", "iron.kernels"
    )
