"""What must be compiled for a design, as data: sources, flags and include directories, in order.

Equal values are one thing to build; the names that functions and files go by are no part of it.
Knows nothing of compilers, keys or files' contents.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from iron.frozen import frozen


@frozen
class SourceFile:
    """A source by its absolute path."""

    path: str

    def __str__(self) -> str:
        return self.path


@dataclass(frozen=True)
class SourceText:
    """A source by its text; `name` (``add_one.cc``) is for messages and no part of what it is."""

    text: str
    name: str = field(compare=False)

    def __str__(self) -> str:
        return f"the source string {self.name}"


@dataclass(frozen=True)
class CompileSpec:
    """One translation unit. Flags and include directories (absolute) in the order given."""

    source: SourceFile | SourceText
    flags: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()

    def __str__(self) -> str:
        flags = " ".join(self.flags) if self.flags else "no flags"
        where = f", include directories {', '.join(self.include_dirs)}" if self.include_dirs else ""
        return f"{self.source} with {flags}{where}"


@dataclass(frozen=True)
class ObjectSpec:
    """One file to link: an object of its one member or, with `archive`, a static library of all.

    With `symbol_prefix` the symbols it defines are renamed ``prefix_name`` after compiling.
    `merge` asks for LLVM IR that is linked into the core before code generation, `use_chess` for
    the xchesscc compiler. `functions` (symbols as the design calls them, sorted) and `where`
    (``file:line`` of each declaration) serve messages and are no part of its identity.
    """

    members: tuple[CompileSpec, ...]
    archive: bool = False
    symbol_prefix: str | None = None
    merge: bool = False
    use_chess: bool = False
    functions: tuple[str, ...] = field(default=(), compare=False)
    where: tuple[str, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        members = "; ".join(map(str, self.members))
        prefix = f", symbols prefixed {self.symbol_prefix}_" if self.symbol_prefix else ""
        return f"{'an archive of ' if self.archive else ''}{members}{prefix}"

    def describe(self) -> str:
        """For a message: the functions bound to it, where they were declared, what it is of."""
        where = f" (declared at {', '.join(self.where)})" if self.where else ""
        return f"{', '.join(self.functions) or 'no function'}{where} from {self}"
