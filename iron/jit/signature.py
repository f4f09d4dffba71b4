"""What a design's parameters are, and what one call gives for them.

Owns the rules of calling: tensors by position, compile-time values by keyword, everything named.
Knows nothing of generating or building.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .markers import COMPILE_TIME_TAG, In, InOut, Out


class Missing:
    """Stands for a default that is not there."""

    def __repr__(self) -> str:
        return "(no default)"


MISSING = Missing()

_ROLES: dict[type, str] = {In: "In", Out: "Out", InOut: "InOut"}


class TensorParameter(NamedTuple):
    name: str
    role: str
    """``In``, ``Out`` or ``InOut``."""
    by_name: bool = True
    """Whether the generator can be given it by name."""


class ScalarParameter(NamedTuple):
    """A number given by position at the call; the compiled design takes any."""

    name: str
    dtype: Any = None
    """The NumPy scalar type it is declared with; None when only the runtime sequence says."""
    by_name: bool = True
    role: str = "Scalar"


class ValueParameter(NamedTuple):
    name: str
    default: Any = MISSING
    keyword_only: bool = True


class Call(NamedTuple):
    """One call, taken apart: tensors in order, every compile-time value by name."""

    tensors: tuple[Any, ...]
    values: dict[str, Any]


class Signature:
    """The parameters of one design.

    Raises TypeError from `bind` for everything a call can get wrong before anything is built.
    """

    def __init__(
        self,
        design: str,
        where: str,
        tensors: tuple[TensorParameter | ScalarParameter, ...],
        values: tuple[ValueParameter, ...],
        prebound: dict[str, Any] | None = None,
    ) -> None:
        self.design = design
        self.where = where
        self.tensors = tensors
        """What calls give by position, scalars among the tensors."""
        self.values = values
        self.prebound = {} if prebound is None else prebound

    @property
    def value_names(self) -> tuple[str, ...]:
        return tuple(v.name for v in self.values)

    def with_values(self, values: Mapping[str, Any]) -> Signature:
        """The same parameters with `values` bound beforehand; TypeError for an unknown name."""
        self._refuse_unknown(values)
        return Signature(
            self.design, self.where, self.tensors, self.values, {**self.prebound, **values}
        )

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call:
        """Tensors and values of a call; TypeError naming design, parameter and expectation."""
        if len(args) != len(self.tensors):
            self._refuse_tensor_keywords(kwargs)
            raise TypeError(
                f"{self.design} takes {len(self.tensors)} {self._kinds()} by position "
                f"({self._tensor_list()}), got {len(args)}{self._declared()}"
            )
        return Call(tuple(args), self.bind_values(kwargs))

    def bind_values(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Every compile-time value, from the call, what was bound before, or its default."""
        if kwargs:
            self._refuse_tensor_keywords(kwargs)
            self._refuse_unknown(kwargs)
        bound: dict[str, Any] = {}
        absent: list[str] = []
        for parameter in self.values:
            name = parameter.name
            if name in kwargs:
                bound[name] = kwargs[name]
            elif name in self.prebound:
                bound[name] = self.prebound[name]
            elif parameter.default is not MISSING:
                bound[name] = parameter.default
            else:
                absent.append(name)
        if absent:
            raise TypeError(
                f"{self.design} needs a value for compile-time parameter(s) "
                f"{', '.join(absent)}: pass {absent[0]}=... at the call or to iron.jit"
                f"{self._declared()}"
            )
        return bound

    def require_keywords(self) -> None:
        """TypeError when a value that calls have to give could be taken for one given by
        position, as tensors are."""
        for v in self.values:
            if not (v.keyword_only or v.default is not MISSING or v.name in self.prebound):
                raise TypeError(
                    f"{self.design}: compile-time parameter {v.name} is given by keyword, so "
                    f"declare it after a bare *: def {self.design}(..., *, {v.name}: "
                    f"CompileTime[...]){self._declared()}"
                )

    def _refuse_tensor_keywords(self, kwargs: Mapping[str, Any]) -> None:
        named = [t.name for t in self.tensors if t.name in kwargs]
        if named:
            raise TypeError(
                f"{self.design} takes {self._kinds('parameter')} {', '.join(named)} by position, "
                f"not by keyword: {self.design}({self._tensor_list()}, ...){self._declared()}"
            )

    def _refuse_unknown(self, values: Mapping[str, Any]) -> None:
        unknown = [k for k in values if k not in self.value_names]
        if unknown:
            known = ", ".join(self.value_names) or "none"
            raise TypeError(
                f"{self.design} has no compile-time parameter {', '.join(map(repr, unknown))}; "
                f"it has: {known}{self._declared()}"
            )

    def _kinds(self, word: str = "") -> str:
        scalars = any(isinstance(t, ScalarParameter) for t in self.tensors)
        kinds = "tensor and scalar" if scalars else "tensor"
        return f"{kinds} {word}(s)" if word else f"{kinds}(s)"

    def _tensor_list(self) -> str:
        return ", ".join(t.name for t in self.tensors) or "none"

    def _declared(self) -> str:
        return f" (declared at {self.where})" if self.where else ""


def signature_of(generator: Callable[..., Any]) -> Signature:
    """The parameters of `generator`; TypeError for a parameter that has no meaning in a design."""
    own = getattr(generator, "__iron_signature__", None)
    if own is not None:
        said: Signature = own()
        return said
    design, where = name_and_place(generator)
    try:
        hints = typing.get_type_hints(_annotated(generator), include_extras=True)
    except Exception as e:
        raise TypeError(
            f"{design}: its annotations cannot be evaluated ({type(e).__name__}: {e}); "
            f"import the names they use at module level (declared at {where})"
        ) from e
    tensors: list[TensorParameter | ScalarParameter] = []
    values: list[ValueParameter] = []
    for p in inspect.signature(generator).parameters.values():
        hint = _without_none(hints.get(p.name)) if p.default is None else hints.get(p.name)
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise TypeError(
                f"{design}: parameter *{p.name} has no fixed meaning in a design; "
                f"name every tensor and value (declared at {where})"
            )
        if isinstance(hint, type) and hint in _ROLES:
            if p.default is not p.empty:
                raise TypeError(
                    f"{design}: tensor parameter {p.name} cannot have a default "
                    f"(declared at {where})"
                )
            tensors.append(TensorParameter(p.name, _ROLES[hint], p.kind is not p.POSITIONAL_ONLY))
        elif is_scalar_type(hint):
            if p.default is not p.empty:
                raise TypeError(
                    f"{design}: scalar parameter {p.name} cannot have a default, since numbers are "
                    f"given by position; declare {p.name}: CompileTime[...] = {p.default!r} for a "
                    f"value that is compiled in (declared at {where})"
                )
            tensors.append(ScalarParameter(p.name, hint, p.kind is not p.POSITIONAL_ONLY))
        elif is_compile_time(hint):
            default = MISSING if p.default is p.empty else p.default
            values.append(ValueParameter(p.name, default, p.kind is p.KEYWORD_ONLY))
        else:
            raise TypeError(
                f"{design}: parameter {p.name} is neither a tensor nor a compile-time value; "
                "annotate it with In, Out, InOut or CompileTime[...], or with a NumPy scalar type "
                f"such as np.int32 for a number of the runtime sequence (declared at {where})"
            )
    return Signature(design, where, tuple(tensors), tuple(values))


def listed(design: str, where: str, parameters: Iterable[Mapping[str, str]]) -> Signature:
    """The signature of a design whose function is not here: from the name and role of each
    parameter that calls give by position."""
    made = tuple(
        ScalarParameter(p["name"], by_name=False)
        if p["role"] == "Scalar"
        else TensorParameter(p["name"], p["role"], by_name=False)
        for p in parameters
    )
    return Signature(design, where, made, ())


def _without_none(hint: Any) -> Any:
    """``X`` of ``Optional[X]``, which Python 3.10 makes of a parameter whose default is None."""
    kinds = [a for a in typing.get_args(hint) if a is not type(None)]
    optional = typing.get_origin(hint) is typing.Union and len(kinds) == 1
    return kinds[0] if optional else hint


def is_scalar_type(hint: Any) -> bool:
    """Whether `hint` is a type of one number, as ``np.int32`` or ``ml_dtypes.bfloat16``."""
    if not isinstance(hint, type):
        return False
    return hint.__module__ == "ml_dtypes" or any(
        c.__module__ == "numpy" and c.__name__ == "number" for c in hint.__mro__
    )


def is_compile_time(hint: Any) -> bool:
    """Whether `hint` is ``CompileTime[T]``, possibly inside ``Optional``."""
    if COMPILE_TIME_TAG in getattr(hint, "__metadata__", ()):
        return True
    return any(is_compile_time(a) for a in typing.get_args(hint) if a is not type(None))


def name_and_place(generator: Callable[..., Any]) -> tuple[str, str]:
    """The name a design goes by, and ``file:line`` of its definition when it has one."""
    function = inspect.unwrap(getattr(generator, "func", generator))
    code = getattr(function, "__code__", None)
    name = getattr(function, "__name__", None) or type(function).__name__
    return name, f"{code.co_filename}:{code.co_firstlineno}" if code is not None else ""


def _annotated(generator: Callable[..., Any]) -> Any:
    """What holds the annotations: a partial's function, an object's ``__call__``."""
    function = getattr(generator, "func", generator)
    if not hasattr(function, "__annotations__") and hasattr(function, "__call__"):  # noqa: B004
        return type(function).__call__
    return function
