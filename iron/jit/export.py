"""Designs as directories that stand on their own: `export` writes one, `ExportedDesign` reads it.

    manifest.json   what the design is, what each file is, and the digests of all
    design.mlir     its text
    tree/           sources and headers of the user's, placed to each other as they were
    text/, objects/ sources given as strings, and ready-made objects
    SConstruct      ``scons`` makes build/ of it, with the same bytes
    <name>.bundle   the built package, which `iron.load` runs without any compiler

Headers of the compiler and of the toolchain are not copied: they belong to the tools.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .artifacts import file_sha256
from .errors import ExportError
from .generate import Generated, object_fields, object_of
from .options import BuildOptions
from .signature import Signature, listed

if TYPE_CHECKING:
    from iron.build import Recipe, Session
    from iron.toolchain.objects import ObjectSpec

    from .compilable import Built, CompilableDesign

FORMAT = "iron export 1"
MANIFEST, TEXT, SCONSTRUCT = "manifest.json", "design.mlir", "SConstruct"
_ATTACHED = ("-I", "-L", "-isystem", "-iquote", "-include", "-imacros", "-idirafter", "@")
"""Options that a path may follow without a space."""


def export(
    design: CompilableDesign,
    built: Built,
    session: Session,
    directory: str | os.PathLike[str],
    values: Mapping[str, Any],
    target: str,
) -> Path:
    """Write a design that is built to `directory`, all at once; an earlier export there makes way.

    ExportError when something else lies there, or when an option names a file that cannot be
    taken along.
    """
    place = os.path.abspath(directory)
    if os.path.exists(place) and os.listdir(place) and not _is_export(place):
        raise ExportError(
            f"{place} is not empty and is no export of a design; name another directory"
        )
    os.makedirs(os.path.dirname(place), exist_ok=True)
    scratch = tempfile.mkdtemp(prefix=".iron-export-", dir=os.path.dirname(place))
    try:
        _Export(design, built, session, scratch, values, target).write()
        os.chmod(scratch, 0o755)
        old = f"{scratch}.old"
        if os.path.exists(place):
            os.rename(place, old)
        os.rename(scratch, place)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return Path(place)


def _is_export(directory: str) -> bool:
    try:
        with open(os.path.join(directory, MANIFEST), encoding="utf-8") as f:
            return bool(json.load(f).get("format") == FORMAT)
    except (OSError, ValueError, AttributeError):
        return False


class _Export:
    """One export being written below `scratch`."""

    def __init__(
        self,
        design: CompilableDesign,
        built: Built,
        session: Session,
        scratch: str,
        values: Mapping[str, Any],
        target: str,
    ) -> None:
        self.design, self.built, self.session = design, built, session
        self.scratch, self.values, self.target = scratch, values, target
        self.specs = design.objects(built.generated)
        self.files: dict[str, dict[str, str]] = {}
        self.root = ""

    def write(self) -> None:
        from .artifacts import about_package, write_package

        name = self.design.name
        sources, headers = self._users_files()
        directories = self._include_dirs()
        self.root = _common([*map(os.path.dirname, sources | headers), *directories])
        for path in sorted(directories):
            os.makedirs(os.path.join(self.scratch, self._in_tree(path)), exist_ok=True)
        for path in sorted(sources | headers):
            what = "source of a kernel" if path in sources else "header"
            self._copy(path, self._in_tree(path), what)
        objects = {n: self._object(n, o) for n, o in self.specs.items()}
        options = self._options(objects)
        self._write(TEXT, self.built.generated.text, "the design")
        self._write(SCONSTRUCT, _sconstruct(name, self.target), "builds build/ with scons")
        bundle = f"{name}.bundle"
        write_package(self.design, self.built, os.path.join(self.scratch, bundle))
        self._note(bundle, "the built package: iron.load runs it")
        manifest = {
            "format": FORMAT,
            **about_package(self.design, self.built),
            "device": _device_of(self.built.generated.text),
            "values": {k: _shown(k, v) for k, v in self.values.items()},
            "sequence": self.design.sequence,
            "by_hand": bool(getattr(self.design.generator, "spelled_by_hand", False)),
            "options": options,
            "objects": objects,
            "files": self.files,
        }
        text = json.dumps(manifest, indent=1) + "\n"
        with open(os.path.join(self.scratch, MANIFEST), "w", encoding="utf-8") as f:
            f.write(text)

    # ---- which files

    def _users_files(self) -> tuple[set[str], set[str]]:
        """Sources, and the headers of the user's that compiling them may read."""
        from iron.toolchain.objects import ObjectSpec, SourceFile

        sources, headers = set[str](), set[str]()
        for spec in self.specs.values():
            if not isinstance(spec, ObjectSpec):
                continue
            members = [m.source.path for m in spec.members if isinstance(m.source, SourceFile)]
            sources.update(map(os.path.abspath, members))
            recipe = self._recipe(spec)
            keys = self.session.keys()
            keys.leaf(recipe)
            tools = _tool_directories(recipe, self._given_dirs(spec))
            tools += tuple(
                os.path.join(os.path.abspath(d), "")
                for d in (self.session.store.root, *keys.system_directories(recipe))
            )
            headers |= {
                os.path.abspath(p)
                for p in keys.looked_at(recipe)
                if os.path.isfile(p) and not os.path.abspath(p).startswith(tools)
            }
        return sources, headers - sources

    def _recipe(self, spec: ObjectSpec) -> Recipe:
        toolchain: Any = self.design.toolchain(self.target)
        if self.target == "host":
            made: Recipe = toolchain.kernel(spec)
        else:
            family = about_device(self.built)
            made = toolchain.kernel(spec, "aie2p" if family.startswith("npu2") else "aie2")
        return made

    def _given_dirs(self, spec: ObjectSpec) -> list[str]:
        own = [d for m in spec.members for d in m.include_dirs]
        return [*own, *self.design.options.include_paths]

    def _include_dirs(self) -> set[str]:
        from iron.toolchain.objects import ObjectSpec

        given = [d for s in self.specs.values() if isinstance(s, ObjectSpec)
                 for d in self._given_dirs(s)]  # fmt: skip
        return {os.path.abspath(d) for d in given}

    # ---- what they are in the export

    def _in_tree(self, path: str) -> str:
        relative = os.path.relpath(path, self.root)
        return os.path.normpath(os.path.join("tree", relative))

    def _object(self, name: str, given: ObjectSpec | str) -> dict[str, Any]:
        if isinstance(given, str):
            target = f"objects/{len(self.files)}/{os.path.basename(given)}"
            self._copy(given, target, f"object {name}, as it was given")
            return {"file": target}
        fields = object_fields(given)
        for number, member in enumerate(fields["members"]):
            if member["file"] is not None:
                member["file"] = self._in_tree(os.path.abspath(member["file"]))
            else:
                stem, suffix = os.path.splitext(os.path.basename(member["name"]))
                target = f"text/{len(self.files)}-{number}-{stem}{suffix}"
                self._write(target, member.pop("text"), f"source string {member['name']}")
                member["text_file"] = target
            member["flags"] = [self._flag(f) for f in member["flags"]]
            member["include_dirs"] = [
                self._in_tree(os.path.abspath(d)) for d in member["include_dirs"]
            ]
        fields["where"] = [os.path.basename(w) for w in fields["where"]]
        return fields

    def _options(self, objects: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
        given = self.design.options
        return {
            "compile_flags": [self._flag(f) for f in given.compile_flags],
            "include_paths": [self._in_tree(os.path.abspath(p)) for p in given.include_paths],
            "aiecc_flags": [self._flag(f) for f in given.aiecc_flags],
            "full_elf": given.full_elf,
        }

    def _flag(self, flag: str) -> str:
        """A flag with the path in it, if there is one, as that of the export."""
        for option in ("", *_ATTACHED):
            path = flag.removeprefix(option)
            if flag.startswith(option) and os.path.isabs(path) and os.path.exists(path):
                inside = os.path.join(self.scratch, self._in_tree(path))
                if self.root and os.path.exists(inside):
                    return f"{option}{{export}}/{self._in_tree(path)}"
                raise ExportError(
                    f"{self.design.name}: the flag {flag} names a path that is not exported; "
                    "give directories with include_dirs= or include_paths= instead"
                )
        return flag

    # ---- writing

    def _copy(self, path: str, target: str, what: str) -> None:
        place = os.path.join(self.scratch, target)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.copyfile(path, place)
        self._note(target, what)

    def _write(self, target: str, text: str, what: str) -> None:
        place = os.path.join(self.scratch, target)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8", errors="surrogateescape", newline="") as f:
            f.write(text)
        self._note(target, what)

    def _note(self, target: str, what: str) -> None:
        digest = file_sha256(os.path.join(self.scratch, target))
        self.files[target] = {"what": what, "sha256": digest}


def about_device(built: Built) -> str:
    """The name of the device an npu package is for."""
    with open(built.package.path("design.json"), encoding="utf-8") as f:
        return str(json.load(f)["device"])


def _device_of(text: str) -> str:
    """The device a text is for; of several, as the first says."""
    found = re.search(r"\baie\.device\((\w+)\)", text)
    return found[1] if found else ""


def _common(directories: Iterable[str]) -> str:
    known = list(directories)
    return os.path.commonpath(known) if known else ""


def _tool_directories(recipe: Recipe, given: Iterable[str]) -> tuple[str, ...]:
    """Include directories of the toolchain's own, as prefixes of paths."""
    from iron.build import Ref

    users = {os.path.abspath(d) for d in given}
    found = {os.path.abspath(os.fspath(d)) for d in recipe.include_dirs} - users
    below = [_tool_directories(i.recipe, users) for i in recipe.inputs if isinstance(i, Ref)]
    return tuple(sorted({os.path.join(d, "") for d in found}.union(*below)))


def _shown(name: str, value: Any) -> Any:
    """A compile-time value for people and, where it has a form in JSON, for programs."""
    from .values_json import encode

    try:
        return encode(value, name)
    except TypeError:
        return ["shown", repr(value)]


def _sconstruct(name: str, target: str) -> str:
    driver = os.environ.get("IRON_NPU_DRIVER") if target == "npu" else None
    more = f", AIEDRIVER={driver!r}" if driver else ""
    return (
        "# Builds the design of manifest.json: `scons`, with iron installed.\n"
        "import iron\n\n"
        f"env = Environment(tools=[iron.tool], AIETARGET={target!r}{more})\n"
        f'env.AIEDesign("build/{name}", "{MANIFEST}")\n'
    )


class ExportedDesign:
    """A generator whose design was exported: what `CompilableDesign` makes of a manifest.

    ExportError for a file that is no manifest.
    """

    def __init__(self, manifest: str | os.PathLike[str]) -> None:
        self.path = os.path.abspath(manifest)
        self.directory = os.path.dirname(self.path)
        try:
            with open(self.path, encoding="utf-8") as f:
                self._data: dict[str, Any] = json.load(f)
        except (OSError, ValueError) as e:
            raise ExportError(f"{self.path} cannot be read: {e}") from None
        if not isinstance(self._data, dict) or self._data.get("format") != FORMAT:
            raise ExportError(f"{self.path} is no manifest of an exported design")
        self.__name__ = str(self._data["design"])
        self.spelled_by_hand: bool = self._data["by_hand"]
        self.sequence: str | None = self._data["sequence"]

    def __call__(self) -> None:
        raise ExportError(f"{self.path} holds a finished text; nothing is generated from it")

    def generated(self) -> Generated:
        """The text and its objects, where they lie now."""
        with open(os.path.join(self.directory, TEXT), encoding="utf-8", newline="") as f:
            text = f.read()
        objects = {n: self._object(o) for n, o in self._data["objects"].items() if "file" not in o}
        return Generated(text, objects, {})

    def options(self) -> dict[str, Any]:
        """Build options, as `CompilableDesign` takes them."""
        given = dict(self._data["options"])
        given["compile_flags"] = [self._flag(f) for f in given["compile_flags"]]
        given["aiecc_flags"] = [self._flag(f) for f in given["aiecc_flags"]]
        given["include_paths"] = [self._at(p) for p in given["include_paths"]]
        files = [o["file"] for o in self._data["objects"].values() if "file" in o]
        given["object_files"] = [self._at(f) for f in files]
        return {k: v for k, v in given.items() if k in BuildOptions.names()}

    def _object(self, fields: Mapping[str, Any]) -> ObjectSpec:
        made = {**fields, "members": [dict(m) for m in fields["members"]]}
        for member in made["members"]:
            if "text_file" in member:
                path = self._at(member.pop("text_file"))
                with open(path, encoding="utf-8", errors="surrogateescape", newline="") as f:
                    member["text"] = f.read()
            else:
                member["file"] = self._at(member["file"])
            member["flags"] = [self._flag(f) for f in member["flags"]]
            member["include_dirs"] = [self._at(d) for d in member["include_dirs"]]
        return object_of(made)

    def _at(self, path: str) -> str:
        return os.path.join(self.directory, path)

    def _flag(self, flag: str) -> str:
        return flag.replace("{export}", self.directory, 1)

    def __iron_signature__(self) -> Signature:
        """The parameters of the function it was exported from."""
        return listed(self.__name__, self.path, self._data["parameters"])

    def __iron_key__(self) -> tuple[str, str]:
        return self.path, file_sha256(self.path)
