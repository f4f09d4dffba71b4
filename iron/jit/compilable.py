"""A design on the way from a generator to a built package: `CompilableDesign`.

Generation is remembered in the store: a record under a key of everything the generator reads
gives its text back without running it. What the text names is built by the toolchain, keyed by
content, so that equal text builds nothing, whoever wrote it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .context import compile_values
from .declared import DeclaredDesign
from .generate import Generated, generate, in_users_terms
from .keys import key_text
from .options import current_options
from .reads import Reads, reads_of

if TYPE_CHECKING:
    from pathlib import Path

    from iron.build import Result, Session
    from iron.design import Module
    from iron.toolchain.host import HostToolchain
    from iron.toolchain.npu import NpuToolchain
    from iron.toolchain.objects import ObjectSpec

    from .artifacts import StrPath

RECORD_FORMAT = "2"


@dataclass(frozen=True)
class Built:
    """One design, generated and built: its package, and what tells whether it is still right."""

    generated: Generated
    package: Result
    out: str | None = None
    """Where it was asked for, when it was."""

    @property
    def directory(self) -> Path:
        """Where its files are: where they were asked for, else in the store, read-only."""
        from pathlib import Path

        return Path(self.package.directory if self.out is None else self.out)

    @property
    def paths(self) -> dict[str, Path]:
        """The package's files by name; one path, when a bundle was asked for."""
        from pathlib import Path

        if self.out is not None and os.path.isfile(self.out):
            return {os.path.basename(self.out): Path(self.out)}
        return {name: self.directory / name for name in self.package.outputs}


class CompilableDesign(DeclaredDesign):
    """A design that is generated and built: to a package in the store, or to files.

    Raises TypeError when the generator's parameters have no meaning in a design.
    """

    # -- generating ------------------------------------------------------------------------

    def generated(
        self, session: Session, values: Mapping[str, Any], device: Any, reads: Reads | None = None
    ) -> Generated:
        """The design's text: as recorded, when everything it depends on is the same, else anew."""
        from . import records
        from .observing import is_observed

        use_cache = self.options.use_cache and current_options().use_cache
        # What a generator asks of another design is read by the one that asks.
        if not use_cache or is_observed():
            return self.generate(values, device)
        reads = reads or reads_of(self.generator)
        parts = self._record_parts(values, device, reads)
        found = records.recall(session, parts, self.name) if reads.complete else None
        if found is not None:
            return found
        return records.make(
            session,
            parts,
            self.name,
            reads,
            lambda without: reads_of(self.generator, without),
            lambda: self.generate(values, device),
        )

    def generate(self, values: Mapping[str, Any], device: Any) -> Generated:
        """The design's text, from running the generator; no record is read or written."""
        return generate(self.generator, self.signature, values, device)

    def _record_parts(
        self, values: Mapping[str, Any], device: Any, reads: Reads
    ) -> list[tuple[str, str]]:
        from iron.build import file_digest

        return [
            ("form of the record", RECORD_FORMAT),
            ("iron itself", _own_identity()),
            ("name", self.name),
            ("directory", self.directory),
            ("values and options", self.values_key(values)),
            ("device", key_text(device, "device")),
            ("what the generator reads", reads.text()),
            *((f, f"{f} {file_digest(f)}") for f in sorted(self.input_files(reads))),
        ]

    def input_files(self, reads: Reads) -> set[str]:
        """Files whose contents a record depends on."""
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
        `sequences` names the runtime sequences that are wanted, by default `sequence` or, on the
        npu target, all; a package of the host target holds one (ValueError). The driver is a choice
        of the npu target."""
        sequences = sequences or ((self.sequence,) if self.sequence is not None else ())
        flags, includes = self.options.compile_flags, self.options.include_paths
        if (target or current_options().target) == "host":
            from iron.toolchain.host import Choice, HostToolchain

            if len(sequences) > 1:
                raise ValueError(
                    f"{self.name}: a package of the host target holds one runtime sequence, asked "
                    f"were {', '.join(sequences)}; build one package for each, they share the rest"
                )
            choice = Choice(sequence=sequences[0]) if sequences else None
            return HostToolchain.find(flags, includes, choice)
        from iron.design.spelling import march_2026_operation
        from iron.toolchain.npu import NpuToolchain

        by_hand = getattr(self.generator, "spelled_by_hand", False)
        return NpuToolchain.find(
            flags,
            includes,
            driver=driver,
            aiecc_flags=self.options.aiecc_flags,
            full_elf=self.options.full_elf,
            sequences=sequences,
            spellings={} if by_hand else {"2026-03": march_2026_operation},
        )

    def build(self, out: StrPath | None = None, **values: Any) -> Built:
        """Build with `values`, without running; nothing is done for what is in the store.

        With `out` the files are also put there: into a directory of that name, or into one file
        when it ends in ``.bundle``; `iron.load` runs either without any compiler. TypeError for
        values that are missing or unknown, BuildError when a kernel does not compile.
        """
        bound = self.signature.bind_values(values)
        session, generated = self._generated(bound)
        return self.delivered(self.package_of(session, generated), out)

    def delivered(self, built: Built, out: StrPath | None) -> Built:
        """A built design, its files put where they are asked for as well."""
        from .artifacts import write_package

        if out is None:
            return built
        write_package(self, built, out)
        return replace(built, out=os.path.abspath(out))

    def export(self, directory: StrPath, **values: Any) -> Path:
        """Build with `values`, and write all that it is made from to `directory`, so that ``scons``
        makes the same bytes of it anywhere: its MLIR, the sources and headers of its kernels, a
        manifest, an SConstruct, and the built package as a bundle that `iron.load` runs.

        The directory is new, empty or an earlier export, which makes way; ExportError when it
        holds anything else, or an option names a file that cannot be taken along."""
        from .export import export

        bound = self.signature.bind_values(values)
        session, generated = self._generated(bound)
        built = self.package_of(session, generated)
        return export(self, built, session, directory, bound, current_options().target)

    def package_of(self, session: Session, generated: Generated) -> Built:
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
        """The text of the design with `values`, from the store when nothing it reads has changed;
        TypeError for values that are missing or unknown, and the errors of the generator."""
        from iron.design import get_current_device

        from .records import own_session

        bound = self.signature.bind_values(values)
        return self.generated(own_session(), bound, get_current_device()).text

    def generate_mlir(self) -> Module:
        """The design with the values bound so far, as a module. TypeError when one is missing."""
        from iron import ir
        from iron.design import Module

        return Module(ir.parse(self.as_mlir(), "aie.mlir"))

    # -- of calls and results, as mlir-aie's tools ask -----------------------------------------

    def split_runtime_args(
        self, runtime_args: Sequence[Any], runtime_kwargs: Mapping[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """What a call gives: by position, and its compile-time values. TypeError where it would be
        one of the call."""
        call = self.signature.bind(runtime_args, runtime_kwargs)
        return list(call.tensors), dict(runtime_kwargs)

    def validate_tensor_args(self, tensor_args: Sequence[Any]) -> None:
        """TypeError when `tensor_args` are not what the design, which is built for that, takes."""
        from .arguments import Arguments

        given = self.signature.bind(tensor_args, {}).tensors
        package = self.package_of(*self._generated(self._values_so_far())).package
        Arguments.read(package.directory, self.signature).check(given)

    @property
    def recipe_hash(self) -> str:
        """Digest of what the design is made from: what its generator reads, the values bound so far
        and the options. Device and tools are not in it."""
        import hashlib

        parts = (
            self.name,
            self.values_key(self.signature.prebound),
            reads_of(self.generator).text(),
        )
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @property
    def artifact_hash(self) -> str:
        """The key of the built design, which sources, tools and device are in; it is built when it
        is not. TypeError when a value is missing."""
        return self.package_of(*self._generated(self._values_so_far())).package.key

    # -- as files --------------------------------------------------------------------------

    def compile(
        self,
        xclbin_path: StrPath | None = None,
        inst_path: StrPath | None = None,
        elf_path: StrPath | None = None,
        full_elf_path: StrPath | None = None,
        pdi_path: StrPath | None = None,
    ) -> tuple[Path, Path | None]:
        """Build, and give or write the xclbin and its instructions: (`xclbin_path`, `inst_path`).

        Without paths they are in the store. On the host target a bundle that ``NPUKernel`` of the
        ``aie`` names runs without a compiler takes the place of the xclbin, the package's network
        that of the instructions; there is no ELF and no PDI. `full_elf_path` is for designs built
        with ``full_elf=True``, and alone.

        ValueError for paths that do not go together, TypeError for missing values, ToolNotFound for
        a file that the target does not make, BuildError when a kernel does not compile.
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
        session, generated = self._generated(self._values_so_far())
        package = self.package_of(session, generated).package
        if not given:
            return artifacts(package)
        return write_artifacts(
            session, package, given, lambda: self._instruction_elf(session, package)
        )

    def _instruction_elf(self, session: Session, package: Result) -> str:
        from iron.toolchain.npu import NpuToolchain

        toolchain = self.toolchain("npu")
        assert isinstance(toolchain, NpuToolchain)
        return toolchain.instruction_elf(session, package).path()

    def get_artifacts(self) -> tuple[Path, Path] | None:
        """What `compile()` would give, when it is built already; nothing is compiled."""
        from .artifacts import artifacts

        _, found = self._built_already()
        return None if found is None else artifacts(found)

    def get_pdi_paths(self) -> list[Path]:
        """The device images, sorted by device, when it is built already; the host target makes
        none."""
        return list(self._images().values())

    def get_pdi_path(self, device_name: str | None = None) -> Path | None:
        """The image of one ``aie.device``, by default the first; None when there is none."""
        images = self._images()
        return next(iter(images.values()), None) if device_name is None else images.get(device_name)

    def _images(self) -> dict[str, Path]:
        from .artifacts import images

        session, found = self._built_already()
        return {} if found is None else images(session, found)

    def _built_already(self) -> tuple[Session, Result | None]:
        session, generated = self._generated(self._values_so_far())
        objects = self.objects(generated)
        found = self.toolchain().find_package(session, generated.text, objects, self.name)
        return session, found

    def _generated(self, values: Mapping[str, Any]) -> tuple[Session, Generated]:
        from iron.design import get_current_device

        from .records import own_session

        session = own_session()
        return session, self.generated(session, values, get_current_device())

    def _values_so_far(self) -> dict[str, Any]:
        try:
            return self.signature.bind_values({})
        except TypeError as e:
            raise TypeError(
                f"the compile_kwargs do not match the CompileTime parameters: {e}"
            ) from None


def _own_identity() -> str:
    """What our own part in generating is: the sources of the rooms that do it."""
    from iron.build import source_digest

    return source_digest(
        "iron.algorithms", "iron.compat", "iron.design", "iron.ir", "iron.jit", "iron.kernels"
    )
