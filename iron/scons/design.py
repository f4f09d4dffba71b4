"""Steps of a scons run that make designs: from a Python file or an MLIR text to named targets."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from iron.build import BuildError, Failure, Recipe, Result, Session, digest
from iron.build.targets import DeliverAction, deliver, same_bytes

if TYPE_CHECKING:
    from iron.jit.generate import Generated
    from iron.toolchain.host import HostToolchain
    from iron.toolchain.npu import NpuToolchain


@dataclass(frozen=True)
class DesignRequest:
    """Which design of a file, with which values, for which device and target."""

    name: str | None
    values: dict[str, Any]
    device: str
    target: str
    objects: tuple[str, ...]
    sequences: tuple[str, ...] = ()
    driver: str = ""
    aiecc_flags: tuple[str, ...] = ()
    extend: str = ""
    full_elf: bool = False

    def text(self) -> str:
        from iron.jit.keys import key_text

        npu = (self.aiecc_flags, self.extend, self.full_elf)
        asked = (self.target, self.sequences, self.driver, *npu)
        parts = (self.name, self.values, self.device, asked, self.objects)
        return key_text(parts, "SET")

    def generated(self, session: Session, path: str) -> tuple[Generated, Any]:
        """The text of the design in `path` (a Python file, a text, or the manifest of an export),
        and what builds it (a CompilableDesign or None)."""
        from iron.jit.generate import Generated
        from iron.jit.scripts import beside, load_design

        if path.endswith(".json"):
            from iron.jit.compilable import CompilableDesign
            from iron.jit.export import ExportedDesign

            exported = ExportedDesign(path)
            made = CompilableDesign(exported, **exported.options())
            made.sequence = exported.sequence
            return exported.generated(), made
        if path.endswith(".mlir"):
            with open(path, encoding="utf-8") as f:
                return Generated(f.read(), {}, {}), None
        with beside(path):
            design = load_design(path, self.name).compilable
            bound = design.signature.bind_values(self.values)
            return design.generated(session, bound, self._device()), design

    def _device(self) -> Any:
        from iron.design.current import device_named, get_current_device

        return device_named(self.device) if self.device else get_current_device()

    def package(self, session: Session, path: str, take: str) -> Result | None:
        """The package of the design in `path`; with take="find" None when it is not there."""
        generated, toolchain, objects = self._parts(session, path)
        label = _stem(path)
        if take == "find":
            return toolchain.find_package(session, generated.text, objects, label)
        return toolchain.package(session, generated.text, objects, label)

    def kernels(self, session: Session, path: str) -> list[Recipe]:
        """What is compiled for the design's cores, for compile_commands.json; of the npu target,
        whose compiler depends on the device, nothing."""
        from iron.toolchain.host import HostToolchain

        _, toolchain, objects = self._parts(session, path)
        return toolchain.kernels(objects) if isinstance(toolchain, HostToolchain) else []

    def _parts(
        self, session: Session, path: str
    ) -> tuple[Generated, HostToolchain | NpuToolchain, Mapping[str, Any]]:
        generated, design = self.generated(session, path)
        if design is None:
            objects = {os.path.basename(o): o for o in self.objects}
            return generated, self._chosen(self._toolchain()), objects
        toolchain = design.toolchain(self.target, self.sequences, self.driver or None)
        return generated, self._chosen(toolchain), design.objects(generated)

    def _chosen(self, toolchain: HostToolchain | NpuToolchain) -> HostToolchain | NpuToolchain:
        """The tools with the choices that only the npu target has."""
        if self.target != "npu":
            return toolchain
        from iron.toolchain.npu import NpuToolchain

        assert isinstance(toolchain, NpuToolchain)
        return toolchain.with_choices(self.aiecc_flags, self.extend, full_elf=self.full_elf)

    def _toolchain(self) -> HostToolchain | NpuToolchain:
        """For a hand-written text."""
        if self.target == "npu":
            from iron.toolchain.npu import NpuToolchain

            return NpuToolchain.find(driver=self.driver or None, sequences=self.sequences)
        from iron.toolchain.host import Choice, HostToolchain

        if len(self.sequences) > 1:
            raise ValueError(
                "a package of the host target holds one runtime sequence, SEQUENCES names "
                f"{', '.join(self.sequences)}; build one package for each, they share the rest"
            )
        choice = Choice(sequence=self.sequences[0]) if self.sequences else None
        return HostToolchain.find(choice=choice)


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


class _FromDesign(DeliverAction):
    """Common to the steps that start from a design's file.

    Up to date means: what the file says now is in the store, and the targets have its bytes. To
    know what it says the design is generated, or its record found; no signature of SCons' is asked.
    """

    def __init__(self, session: Session, request: DesignRequest) -> None:
        super().__init__()
        self.session, self.request = session, request

    def signature(self, target: list[str], source: list[str], env: Any) -> str:
        return digest(type(self).__name__, self.request.text())

    def produce(self, target: list[str], source: list[str], env: Any) -> Result:
        try:
            return self.made(target, source[0])
        except BuildError:
            raise
        except Exception as e:
            reason = f"{type(e).__name__}: {e}"
            raise BuildError([Failure(_stem(source[0]), source[0], reason)]) from e

    def made(self, target: list[str], source: str) -> Result:
        raise NotImplementedError


class MlirAction(_FromDesign):
    """A design's MLIR text at a named target."""

    def made(self, target: list[str], source: str) -> Result:
        generated, _ = self.request.generated(self.session, source)
        return self.session.keep("mlir", [generated.text], {"aie.mlir": generated.text})

    def find(self, target: list[str], source: list[str], env: Any) -> Result | None:
        return self.produce(target, source, env)

    def describe(self, target: list[str], source: list[str], env: Any) -> str:
        return f"generate {os.path.basename(target[0])} from {os.path.basename(source[0])}"


class DesignAction(_FromDesign):
    """A design's package in a directory: the files every package has, which are the targets, and
    beside them the images of this one."""

    def made(self, target: list[str], source: str) -> Result:
        result = self.request.package(self.session, source, "make")
        assert result is not None
        for output in result.outputs[len(target) :]:
            deliver(result.path(output), self._beside(target, output))
        return result

    def recipes(self, target: list[str], source: list[str], env: Any) -> list[Recipe]:
        return self.request.kernels(self.session, source[0])

    def find(self, target: list[str], source: list[str], env: Any) -> Result | None:
        result = self.request.package(self.session, source[0], "find")
        if result is None:
            return None
        rest = result.outputs[len(target) :]
        intact = all(same_bytes(result.path(o), self._beside(target, o)) for o in rest)
        return result if intact else None

    def describe(self, target: list[str], source: list[str], env: Any) -> str:
        return f"design {os.path.basename(os.path.dirname(target[0]))} from {source[0]}"

    @staticmethod
    def _beside(target: list[str], output: str) -> str:
        return os.path.join(os.path.dirname(target[0]), output)
