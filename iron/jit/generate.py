"""Runs a generator: compile-time values and a device in, MLIR text and what it links out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from iron.runtime.device import use_device
from iron.toolchain.objects import CompileSpec, ObjectSpec, SourceFile, SourceText

from .context import compile_context
from .errors import GenerationError as GenerationError
from .nesting import generating
from .observed import Observation, still_hold
from .signature import Signature, name_and_place

if TYPE_CHECKING:
    from iron.ir import Operation


@dataclass(frozen=True)
class Generated:
    """What a generator says: the text of its module, the objects the text names, and the place in
    the user's Python (``file:line``) that each line of the text comes from."""

    text: str
    objects: dict[str, ObjectSpec]
    lines: dict[int, str]
    observed: tuple[Observation, ...] = ()
    """What the generator was seen to read while it ran."""
    untracked: tuple[str, ...] = ()
    """Why it may say something else although nothing of that is different."""

    def having_read(self, observed: Sequence[Observation], untracked: Sequence[str]) -> Generated:
        """The same, said by a generator that read this."""
        return replace(self, observed=tuple(observed), untracked=tuple(untracked))

    def holds(self) -> bool:
        """Whether what the generator read while it ran is as it was."""
        return not self.untracked and still_hold(self.observed)

    def to_json(self) -> str:
        """Everything but the text."""
        objects = {name: object_fields(spec) for name, spec in self.objects.items()}
        return json.dumps({"objects": objects, "lines": self.lines}, indent=1)

    @staticmethod
    def from_json(text: str, rest: str) -> Generated:
        """The reverse of `to_json`; ValueError or KeyError when `rest` is not what that writes."""
        data = json.loads(rest)
        objects = {name: object_of(f) for name, f in data["objects"].items()}
        return Generated(text, objects, {int(k): str(v) for k, v in data["lines"].items()})


class TensorStandIn:
    """What a generator gets for a tensor: it exists at the call only, so nothing can be read."""

    def __init__(self, name: str, design: str) -> None:
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_design", design)

    def _refuse(self) -> RuntimeError:
        name, design = (object.__getattribute__(self, n) for n in ("_name", "_design"))
        return RuntimeError(
            f"{design}: parameter {name} is a tensor, known only when the design is called; "
            f"while it is generated it has no shape, dtype or elements. Pass what you need as "
            f"{name}_size: CompileTime[int] or the like"
        )

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        raise self._refuse()

    def __getitem__(self, index: Any) -> Any:
        raise self._refuse()

    def __len__(self) -> int:
        raise self._refuse()

    def __repr__(self) -> str:
        return f"<tensor parameter {object.__getattribute__(self, '_name')}>"


def generate(
    generator: Callable[..., Any], signature: Signature, values: Mapping[str, Any], device: Any
) -> Generated:
    """Run `generator`; GenerationError when what it returns is no module of a design."""
    name, where = name_and_place(generator)
    stand_ins = [TensorStandIn(t.name, name) for t in signature.tensors if not t.by_name]
    named = {t.name: TensorStandIn(t.name, name) for t in signature.tensors if t.by_name}
    from iron.design.placed import ambient

    with (
        generating(generator, values, device, name, where),
        use_device(device),
        compile_context(**values),
        ambient() as written,
    ):
        made = generator(*stand_ins, **named, **values)
    if made is None and written.operation.body.operations:
        made = written  # a placed design: it wrote into the ambient module
    operation = getattr(made, "operation", None)
    if operation is None:
        raise GenerationError(
            f"{name} returned {'nothing' if made is None else repr(type(made).__name__)}; "
            "a generator returns the module of its program: "
            f"return Program(device, runtime).resolve_program() (declared at {where})"
        )
    return _finish(operation, dict(made.objects))


def _finish(operation: Operation, objects: dict[str, ObjectSpec]) -> Generated:
    from iron import ir

    ir.verify(operation)
    text = ir.print_module(operation)
    return Generated(text, objects, _source_lines(operation, ir.parse(text, "aie.mlir")))


def _source_lines(written: Operation, read_back: Operation) -> dict[int, str]:
    """For each line of the text, the user's line that made it.

    Reading the text back gives the same operations in the same order, each knowing its line,
    and terminators that the text leaves out.
    """
    lines: dict[int, str] = {}
    for mine, theirs in _pairs(written, read_back):
        if mine.location and theirs.location:
            lines.setdefault(theirs.location.line, f"{mine.location.file}:{mine.location.line}")
    return lines


def _pairs(written: Operation, read_back: Operation) -> Iterator[tuple[Operation, Operation]]:
    """Each operation with what it reads back as; a terminator that is not written has no pair."""
    yield written, read_back
    for mine, theirs in zip(written.regions, read_back.regions, strict=True):
        for one, other in zip(mine.blocks, theirs.blocks, strict=False):
            for a, b in zip(one.operations, other.operations, strict=False):
                yield from _pairs(a, b)


def object_fields(spec: ObjectSpec) -> dict[str, Any]:
    """What must be built, as plain JSON data."""
    return {
        "members": [
            {
                "file": m.source.path if isinstance(m.source, SourceFile) else None,
                "text": m.source.text if isinstance(m.source, SourceText) else None,
                "name": m.source.name if isinstance(m.source, SourceText) else None,
                "flags": m.flags,
                "include_dirs": m.include_dirs,
            }
            for m in spec.members
        ],
        "archive": spec.archive,
        "symbol_prefix": spec.symbol_prefix,
        "merge": spec.merge,
        "use_chess": spec.use_chess,
        "functions": spec.functions,
        "where": spec.where,
    }


def object_of(f: dict[str, Any]) -> ObjectSpec:
    """The reverse of `object_fields`."""
    members = tuple(
        CompileSpec(
            SourceText(m["text"], m["name"]) if m["file"] is None else SourceFile(m["file"]),
            tuple(m["flags"]),
            tuple(m["include_dirs"]),
        )
        for m in f.pop("members")
    )
    functions, where = tuple(f.pop("functions")), tuple(f.pop("where"))
    return ObjectSpec(members, functions=functions, where=where, **f)


def in_users_terms(error: Exception, lines: Mapping[int, str]) -> Exception:
    """The same error, its message naming the user's lines instead of the generated text's."""
    if error.args and isinstance(error.args[0], str):
        error.args = (relocate(error.args[0], lines), *error.args[1:])
    return error


def relocate(report: str, lines: Mapping[int, str], text_name: str = "aie.mlir") -> str:
    """A report that names lines of the text, with the user's own lines in their place."""

    def user_line(match: re.Match[str]) -> str:
        return lines.get(int(match[1]), match[0])

    return re.sub(rf"\b{re.escape(text_name)}:(\d+)(?::\d+)?", user_line, report)
