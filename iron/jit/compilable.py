"""A design on the way from a generator to a built package: `CompilableDesign`.

Generation is remembered in the store: a record under a key of everything the generator reads
gives its text back without running it. What the text names is built by the toolchain, keyed by
content, so that equal text builds nothing, whoever wrote it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .context import compile_values
from .generate import Generated, generate
from .keys import key_text
from .options import BuildOptions, current_options
from .reads import Reads, reads_of
from .signature import Signature, signature_of

if TYPE_CHECKING:
    from iron.build import Result, Session
    from iron.toolchain.host import HostToolchain
    from iron.toolchain.objects import ObjectSpec

RECORD_FORMAT = "1"


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
        mlir_generator: Callable[..., Any],
        *,
        compile_kwargs: Mapping[str, Any] | None = None,
        **build_options: Any,
    ) -> None:
        self.generator = mlir_generator
        self.signature: Signature = signature_of(mlir_generator).with_values(compile_kwargs or {})
        self.options = BuildOptions.of(build_options, self.directory)

    def renew(self) -> None:
        """Look at the generator's parameters again, after its definition was edited."""
        self.signature = signature_of(self.generator).with_values(self.signature.prebound)

    @property
    def name(self) -> str:
        return self.signature.design

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
        if reads.unkeyable or not self.options.use_cache:
            return generate(self.generator, self.signature, values, device)
        parts = self._record_parts(values, device, reads)
        recorded = _recall(session, parts)
        if recorded is not None:
            return recorded
        made = generate(self.generator, self.signature, values, device)
        late = reads_of(self.generator)
        if late.text() == reads.text() and late.files == reads.files:
            # Otherwise it imported or changed something while it ran: its inputs are known only
            # from now on, and the next process starts from what it finds then.
            files = {"aie.mlir": made.text, "record.json": made.to_json()}
            session.keep("generation", parts, files)
        return made

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
            *(f"{f} {file_digest(f)}" for f in sorted({*reads.files, *self.options.source_files})),
        ]

    def values_key(self, values: Mapping[str, Any]) -> str:
        """Canonical text of compile-time values, of the context's and of the options."""
        parts = [f"{k}={key_text(v, f'{self.name}: {k}')}" for k, v in sorted(values.items())]
        context = {k: v for k, v in compile_values().items() if k not in values}
        return "\n".join(
            (*parts, key_text(context, "compile_context"), key_text(self.options.key()))
        )

    # -- building --------------------------------------------------------------------------

    def toolchain(self) -> HostToolchain:
        """The tools of the target in force; ToolNotFound when it has none here."""
        target = current_options().target
        if target != "host":
            from iron.toolchain.compiler import ToolNotFound

            raise ToolNotFound(
                f"{self.name}: target {target!r} needs mlir-aie and Peano, which this version "
                "does not drive yet; use target 'host'"
            )
        from iron.toolchain.host import HostToolchain

        return HostToolchain.find(self.options.compile_flags, self.options.include_paths)

    def build(self, session: Session, generated: Generated) -> Built:
        """The package of what was generated. Raises iron.build.BuildError and the errors of
        `HostToolchain.package`."""
        objects = self.objects(generated)
        package = self.toolchain().package(session, generated.text, objects, self.name)
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

    def __repr__(self) -> str:
        return f"<design {self.name} at {self.signature.where}>"


def _recall(session: Session, parts: Sequence[str]) -> Generated | None:
    """What a record says, None when there is none that can be read."""
    found = session.recall("generation", parts)
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

    return source_digest("iron.design", "iron.ir", "iron.jit")
