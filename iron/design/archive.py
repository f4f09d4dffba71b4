"""Several functions of one build: `ExternalModule` is one source, `ExternalArchive` a static
library of several. Sources, flags and include directories are said once, functions bound to them.

    lib = iron.ExternalArchive("lib", sources=["a.cc", "b.cc"], compile_flags=["-DN=4"])
    f = lib.function("f", arg_types=[tile, tile])
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from .context import here
from .kernel import BaseKernel, check_object_name, one_source
from .objects import CompileSpec, ObjectSpec, SourceFile, SourceText
from .sources import find_directories, find_file, string_list


class ArchivedFunction(BaseKernel):
    """A function of an `ExternalModule` or `ExternalArchive`, made by its ``function()``."""

    kind = "ExternalFunction"

    def __init__(
        self, name: str, arg_types: Sequence[Any] | None, spec: ObjectSpec, file_name: str | None
    ) -> None:
        prefix = spec.symbol_prefix
        super().__init__(f"{prefix}_{name}" if prefix else name, arg_types)
        self._spec = spec
        self._file_name = file_name

    @property
    def link_with(self) -> str | None:
        """The ``object_file_name`` given; None when the build names the file."""
        return self._file_name

    @property
    def object_spec(self) -> ObjectSpec | None:
        return self._spec


class ExternalModule:
    """One source compiled once, with any number of functions.

    The same object results from as many ExternalFunctions with the same source, flags,
    directories and prefix. Arguments and errors are those of `ExternalFunction`.
    """

    def __init__(
        self,
        name: str,
        source_file: str | os.PathLike[str] | None = None,
        source_string: str | None = None,
        *,
        include_dirs: Sequence[Any] | None = None,
        compile_flags: Sequence[Any] | None = None,
        symbol_prefix: str | None = None,
        object_file_name: str | None = None,
    ) -> None:
        what, self.where = f"ExternalModule {name!r}", here()
        check_object_name(what, self.where, object_file_name)
        unit = CompileSpec(
            one_source(what, self.where, name, source_file, source_string),
            string_list(compile_flags, what, "compile_flags"),
            find_directories(include_dirs, what, self.where),
        )
        self.name = name
        self.object_file_name = object_file_name
        self.object_spec = ObjectSpec((unit,), symbol_prefix=symbol_prefix or None)

    def function(self, name: str, arg_types: Sequence[Any] | None = None) -> ArchivedFunction:
        """The function `name` of this source, to be passed to a Worker and called."""
        return ArchivedFunction(name, arg_types, self.object_spec, self.object_file_name)

    def __repr__(self) -> str:
        return f"ExternalModule({self.name!r}, {self.object_spec})"


class ExternalArchive:
    """A static library: each source is compiled by itself, with the same flags, and a core takes
    from it what it calls.

    `sources` are files; `source_strings` are texts by name (``{"extra.cc": "..."}``), after them.
    Files are found as for `ExternalFunction`. ValueError when there is no source at all.
    """

    def __init__(
        self,
        name: str,
        sources: Sequence[Any] = (),
        *,
        source_strings: dict[str, str] | None = None,
        include_dirs: Sequence[Any] | None = None,
        compile_flags: Sequence[Any] | None = None,
        symbol_prefix: str | None = None,
        object_file_name: str | None = None,
    ) -> None:
        what, self.where = f"ExternalArchive {name!r}", here()
        check_object_name(what, self.where, object_file_name or name)
        flags = string_list(compile_flags, what, "compile_flags")
        directories = find_directories(include_dirs, what, self.where)
        units: list[SourceFile | SourceText] = [
            SourceFile(find_file(s, what, self.where))
            for s in string_list(sources, what, "sources")
        ]
        units += [SourceText(text, stem) for stem, text in (source_strings or {}).items()]
        if not units:
            raise ValueError(f"{what} ({self.where}): an archive needs at least one source")
        self.name = name
        self.object_file_name = object_file_name or f"{name.removesuffix('.a')}.a"
        self.object_spec = ObjectSpec(
            tuple(CompileSpec(u, flags, directories) for u in units),
            archive=True,
            symbol_prefix=symbol_prefix or None,
        )

    def function(self, name: str, arg_types: Sequence[Any] | None = None) -> ArchivedFunction:
        """The function `name` of the library, to be passed to a Worker and called."""
        return ArchivedFunction(name, arg_types, self.object_spec, self.object_file_name)

    def __repr__(self) -> str:
        return f"ExternalArchive({self.name!r}, {self.object_spec})"
