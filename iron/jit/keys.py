"""Values as typed canonical text: two values have one text if and only if they mean the same.

``1``, ``True``, ``1.0``, ``"1"`` and ``None`` are five values; dictionaries and sets do not depend
on their order; an object is told by what it holds, never by its address. What cannot be told so
raises `Unkeyable`, which says how to make it keyable.
"""

from __future__ import annotations

import enum
import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from typing import Any


class Unkeyable(TypeError):
    """A value that cannot take part in a key."""


def key_text(value: Any, name: str = "value") -> str:
    """The canonical text of `value`; `name` is what a message calls it."""
    return _Encoder(name).text(value)


_Encode = Callable[["_Encoder", Any], str]


class _Encoder:
    def __init__(self, name: str) -> None:
        self.name = name
        self.inside: list[int] = []

    def text(self, value: Any) -> str:
        encode = _EXACT.get(type(value))
        if encode is not None and encode is not _container:
            return encode(self, value)
        if id(value) in self.inside:
            raise Unkeyable(f"{self.name}: a value that contains itself cannot be keyed")
        self.inside.append(id(value))
        try:
            return encode(self, value) if encode is not None else _other(self, value)
        finally:
            self.inside.pop()

    def many(self, values: Iterable[Any]) -> str:
        return ",".join(self.text(v) for v in values)


def _plain(kind: str) -> _Encode:
    return lambda encoder, value: f"{kind}:{value!r}"


def _float(encoder: _Encoder, value: float) -> str:
    return f"float:{value.hex()}"


def _complex(encoder: _Encoder, value: complex) -> str:
    return f"complex:{value.real.hex()},{value.imag.hex()}"


def _container(encoder: _Encoder, value: Any) -> str:
    if isinstance(value, dict):
        pairs = sorted((encoder.text(k), encoder.text(v)) for k, v in value.items())
        return "dict{" + ",".join(f"{k}={v}" for k, v in pairs) + "}"
    if isinstance(value, (set, frozenset)):
        kind = type(value).__name__
        return f"{kind}{{{','.join(sorted(encoder.text(v) for v in value))}}}"
    return f"{type(value).__name__}[{encoder.many(value)}]"


_EXACT: dict[type, _Encode] = {
    type(None): lambda encoder, value: "None",
    bool: _plain("bool"),
    int: _plain("int"),
    float: _float,
    complex: _complex,
    str: _plain("str"),
    bytes: _plain("bytes"),
    type(Ellipsis): lambda encoder, value: "Ellipsis",
    tuple: _container,
    list: _container,
    dict: _container,
    set: _container,
    frozenset: _container,
    range: lambda encoder, value: f"range:{value.start},{value.stop},{value.step}",
    slice: lambda encoder, value: f"slice[{encoder.many((value.start, value.stop, value.step))}]",
}


def _other(encoder: _Encoder, value: Any) -> str:
    """Everything that is not one of the exact builtin types."""
    own = getattr(type(value), "__iron_key__", None)
    if own is not None:
        return f"{qualified(type(value))}<{encoder.text(own(value))}>"
    if isinstance(value, enum.Enum):
        return f"enum:{qualified(type(value))}.{value.name}"
    pathlib = sys.modules.get("pathlib")  # whoever has a path has loaded it
    if pathlib is not None and isinstance(value, pathlib.PurePath):
        return f"path:{str(value)!r}"
    if isinstance(value, types.GenericAlias):
        return f"alias:{encoder.text(value.__origin__)}[{encoder.many(value.__args__)}]"
    if isinstance(value, type):
        return f"type:{qualified(value)}"
    if isinstance(value, functools.partial):
        return f"partial[{encoder.many((value.func, value.args, value.keywords))}]"
    if isinstance(value, types.FunctionType):
        return function_text(value, encoder.text)
    if isinstance(value, types.MethodType):
        return f"method[{encoder.many((value.__func__, value.__self__))}]"
    if isinstance(value, inspect.Signature):
        return f"signature[{encoder.many((*value.parameters.values(), value.return_annotation))}]"
    if isinstance(value, inspect.Parameter):
        held = (value.name, int(value.kind), value.default, value.annotation)
        return f"parameter[{encoder.many(held)}]"
    if isinstance(value, types.BuiltinFunctionType):
        return f"builtin:{value.__module__}.{value.__qualname__}"
    if type(value).__module__.partition(".")[0] in ("numpy", "ml_dtypes"):
        return _numpy(encoder, value)
    if is_dataclass(value):
        parts = ",".join(
            f"{f.name}={encoder.text(getattr(value, f.name))}" for f in fields(value) if f.compare
        )
        return f"{qualified(type(value))}({parts})"
    return _by_state(encoder, value)


def _numpy(encoder: _Encoder, value: Any) -> str:
    import numpy as np

    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            return f"ndarray:{value.shape}[{encoder.many(value.ravel().tolist())}]"
        import hashlib  # of a new process with no array in its keys it costs 3 ms

        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"ndarray:{value.dtype.str}:{value.dtype.name}:{value.shape}:{content}"
    if isinstance(value, np.dtype):
        return f"dtype:{value.str}:{value.name}"
    if isinstance(value, np.generic):
        return f"{type(value).__name__}:{value.tobytes().hex()}"
    return _by_state(encoder, value)


def _by_state(encoder: _Encoder, value: Any) -> str:
    """An object of a plain class is what its attributes are."""
    if type(value).__module__ != "builtins" and hasattr(value, "__dict__"):
        if getattr(type(value), "__slots__", ()):
            raise _refuse(encoder, value)
        return f"{qualified(type(value))}({encoder.text(vars(value))})"
    raise _refuse(encoder, value)


def _refuse(encoder: _Encoder, value: Any) -> Unkeyable:
    return Unkeyable(
        f"{encoder.name}: a {qualified(type(value))} cannot be told from another one by what it "
        "holds, so it cannot take part in a key. Pass plain values (numbers, strings, tuples, "
        "arrays, dtypes, dataclasses, functions), or give its class a method __iron_key__(self) "
        "that returns such a value"
    )


def qualified(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def function_text(function: types.FunctionType, text: Callable[[Any], str]) -> str:
    """A function by what it does: module, name, code, and everything it reads besides its
    arguments (defaults, cells, globals, functions it calls), wherever user code reaches."""
    from .reads import reads_of
    from .usercode import is_user_code

    if is_user_code(function.__module__, function.__code__):
        reads = reads_of(function)
        if reads.unkeyable:
            raise Unkeyable(reads.unkeyable[0])
        return f"function:{function.__module__}.{function.__qualname__}[{reads.text()}]"
    cells = [_cell(c) for c in function.__closure__ or ()]
    rest = (function.__defaults__, function.__kwdefaults__, cells)
    code = code_digest(function.__code__)
    return f"function:{function.__module__}.{function.__qualname__}:{code}[{text(rest)}]"


def _cell(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def code_digest(code: types.CodeType) -> str:
    """Digest of what a code object does: no file, no line numbers, no docstring."""
    from iron.build import digest

    parts: list[bytes | str] = []
    _collect(parts, code)
    return digest(*parts)


def _collect(parts: list[bytes | str], code: types.CodeType) -> None:
    consts = list(code.co_consts)
    if consts and isinstance(consts[0], str) and _may_have_docstring(code):
        consts[0] = None
    head = (
        code.co_code,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags,
    )
    parts.append(repr(head))
    parts.append(getattr(code, "co_exceptiontable", b""))
    for const in consts:
        if isinstance(const, types.CodeType):
            parts.append("code")
            _collect(parts, const)
        else:
            parts.append(
                f"{type(const).__name__}:{_constant(const)}".encode("utf-8", "surrogatepass")
            )


def _may_have_docstring(code: types.CodeType) -> bool:
    """Up to Python 3.13 the first constant of a ``def`` is its docstring or None."""
    return bool(code.co_flags & inspect.CO_NEWLOCALS) and not code.co_name.startswith("<")


def _constant(const: Any) -> str:
    if isinstance(const, (tuple, frozenset)):
        words = [f"{type(c).__name__}:{_constant(c)}" for c in const]
        return ",".join(sorted(words) if isinstance(const, frozenset) else words)
    return repr(const)
