"""What is being built right now, and from which line of the user's code.

Owns the ambient design: a ContextVar holding one `DesignContext` while a program is resolved, the
scope (device, core, sequence) operations are emitted in, and the search for the user's frame.
Nothing outlives a resolve, and nothing is stored on the objects of the user's program. Knows no
class of the public API.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..ir.attributes import Attribute
from ..ir.builder import Builder
from ..ir.core import UNKNOWN, Block, Location, Operation, Region, Value
from ..ir.types import Type

if TYPE_CHECKING:
    from .declarations import Functions
    from .devices import Device
    from .endpoints import Endpoints

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_NOT_THE_USER = (contextlib.__file__,)


class ScopeError(RuntimeError):
    """A verb of the API was used where it means nothing, e.g. ``acquire`` outside of a core."""


class UnresolvedError(ScopeError, AttributeError):
    """A Buffer, Lock or Task was used outside of a design that contains it."""


@dataclass
class Scope:
    """Where operations go: ``kind`` is "core", "sequence", "function", or "device" for a part the
    user wrote; `owner` is the Worker, Runtime, function or part being traced."""

    kind: str
    owner: Any
    name: str


@dataclass
class DesignContext:
    """Everything one resolve knows. The maps are keyed by the user's objects, by identity: the
    operations of Buffers, Locks and (per Worker) barriers, the Workers that use each Buffer, and
    those of tiles that were used before they had a place (`wished`; `tiles` are those with one)."""

    device: Device
    endpoints: Endpoints
    functions: Functions
    builder: Builder = field(default_factory=Builder)
    scope: Scope | None = None
    buffers: dict[Any, Operation] = field(default_factory=dict)
    users: dict[Any, dict[Any, None]] = field(default_factory=dict)
    locks: dict[Any, Operation] = field(default_factory=dict)
    barriers: dict[Any, dict[Any, Operation]] = field(default_factory=dict)
    tiles: dict[tuple[int, int], Operation] = field(default_factory=dict)
    wished: dict[Any, Operation] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    symbols: dict[str, tuple[str, Location]] = field(default_factory=dict)
    active: Any = None
    broken_loops: list[Location] = field(default_factory=list)

    def create(
        self,
        name: str,
        operands: Iterable[Value] = (),
        result_types: Iterable[Type] = (),
        attributes: Mapping[str, Attribute] | None = None,
        regions: Iterable[Region] = (),
        segments: Sequence[int] | None = None,
        location: Location | None = None,
    ) -> Operation:
        """A new operation at the insertion point, with the place of the user's line."""
        where = here() if location is None else location
        return self.builder.create(
            name, operands, result_types, attributes, regions, (), segments, where
        )

    @contextlib.contextmanager
    def entered(self, scope: Scope, block: Block) -> Iterator[None]:
        """Emit into `block`, as part of `scope`."""
        before, self.scope = self.scope, scope
        try:
            with self.builder.at(block):
                yield
        finally:
            self.scope = before

    def define(self, symbol: str, what: str, where: Location) -> str:
        """Claim a symbol of the device; ValueError naming both when it is taken."""
        taken = self.symbols.get(symbol)
        if taken is not None:
            raise ValueError(
                f"two parts of the design are called {symbol!r}: {taken[0]} ({taken[1]}) and "
                f"{what} ({where}); give one of them another name"
            )
        self.symbols[symbol] = (what, where)
        return symbol

    def fresh(self, stem: str, what: str, where: Location) -> str:
        """The first of ``stem0``, ``stem1``, ... that no part of the design has taken."""
        n = 0
        while f"{stem}{n}" in self.symbols:
            n += 1
        return self.define(f"{stem}{n}", what, where)


_design: ContextVar[DesignContext | None] = ContextVar("iron_design", default=None)


@contextlib.contextmanager
def designing(context: DesignContext) -> Iterator[DesignContext]:
    token = _design.set(context)
    try:
        yield context
    finally:
        _design.reset(token)


def current() -> DesignContext | None:
    """The design being resolved in this thread or task, if any."""
    return _design.get()


def emitting(
    what: str, advice: str = "call it in a Worker's core_fn or a Runtime's seq_fn"
) -> DesignContext:
    """The design, for something that emits operations; ScopeError outside of a traced body."""
    context = _design.get()
    if context is None or context.builder.block is None:
        raise ScopeError(f"{what}, but no body of a design is being traced here; {advice}")
    return context


def in_core(what: str) -> DesignContext:
    """The design while a core is traced; ScopeError elsewhere."""
    context = _design.get()
    if context is None or context.scope is None or context.scope.kind == "sequence":
        place = (
            "a runtime sequence"
            if context is not None and context.scope is not None
            else "no core of a design"
        )
        raise ScopeError(
            f"{what} belongs into a core, but {place} is being traced here; call it in the "
            "core_fn of a Worker, with the object passed in fn_args"
        )
    return context


def in_sequence(what: str) -> DesignContext:
    """The design while a runtime sequence is traced; ScopeError elsewhere."""
    context = _design.get()
    if context is None or context.scope is None or context.scope.kind != "sequence":
        place = (
            f"the core of {context.scope.name} is being traced here"
            if context is not None and context.scope is not None
            else "this is outside of any"
        )
        raise ScopeError(
            f"No active runtime sequence: {what} belongs into a runtime sequence, but {place}; "
            "call it in the function passed to Runtime(seq_fn, fn_args)"
        )
    return context


def here() -> Location:
    """The innermost line of Python that is not of this package."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_PACKAGE) and name not in _NOT_THE_USER:
            return Location(name, frame.f_lineno, 0)
        frame = frame.f_back  # type: ignore[assignment]
    return UNKNOWN


def told_place(what: str, loc: Any, ip: Any) -> Location | None:
    """The place a caller names by ``loc=``. TypeError when it is none, and for an ``ip=``: there
    are no insertion points here, operations go where the code stands."""
    if ip is not None:
        raise TypeError(f"{what}: ip={ip!r}: operations go where the code stands; leave ip out")
    if loc is not None and not isinstance(loc, Location):
        raise TypeError(f"{what}: loc= is an iron.ir.core.Location, found {loc!r}")
    return loc


def place_of(function: Any) -> Location:
    """Where a Python function is defined; the caller's line when it has no code object."""
    code = getattr(function, "__code__", None) or getattr(
        getattr(function, "func", None), "__code__", None
    )
    return here() if code is None else Location(code.co_filename, code.co_firstlineno, 0)
