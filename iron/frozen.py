"""`frozen`: immutable values, as ``dataclass(frozen=True)`` makes them, made quickly.

Dataclasses write and compile six functions for each class; here a class gets shared ones, and an
``__init__`` of its own when it is first called, so that a room full of small classes costs little
to import. They are no dataclasses: ``replace``, ``fields`` and ``asdict`` are not for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Callable[[Any], Any]:
        return lambda decorator: decorator


C = TypeVar("C", bound=type)


@dataclass_transform(frozen_default=True)
def frozen(cls: C) -> C:
    """Make immutable values of `cls`: its annotations, after those of its bases, are what
    ``__init__`` takes, with the class's attributes as defaults. Values are equal when they are of
    one class and all fields are equal; what a class defines itself stays.

    TypeError when a field without a default follows one that has one.
    """
    own = vars(cls)
    names = dict.fromkeys(getattr(cls, "__match_args__", ()))
    names.update(dict.fromkeys(own.get("__annotations__", {})))
    given = [name for name in names if hasattr(cls, name)]
    if given != list(names)[len(names) - len(given) :]:
        raise TypeError(f"{cls.__qualname__}: a field without a default follows one that has one")
    setattr(cls, "__match_args__", tuple(names))  # noqa: B010 - no name of every type
    for name, function in _METHODS.items():
        if name not in own:
            setattr(cls, name, function)
    return cls


def _first(self: Any, *args: Any, **kwargs: Any) -> None:
    """``__init__`` until a class is first called: write its own, and call that."""
    cls: Any = next(c for c in type(self).__mro__ if "__init__" in vars(c))
    names = cls.__match_args__
    scope = {"_set": object.__setattr__}
    scope.update({f"_{name}": getattr(cls, name) for name in names if hasattr(cls, name)})
    takes = "".join(f", {n}=_{n}" if f"_{n}" in scope else f", {n}" for n in names)
    body = "; ".join(f"_set(self, {n!r}, {n})" for n in names) or "pass"
    exec(f"def __init__(self{takes}): {body}", scope)
    written: Any = scope["__init__"]
    written.__qualname__ = f"{cls.__qualname__}.__init__"
    cls.__init__ = written
    written(self, *args, **kwargs)


def _equal(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self.__dict__ == other.__dict__


def _hash(self: Any) -> int:
    return hash(tuple(self.__dict__.values()))


def _shown(self: Any) -> str:
    held = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
    return f"{type(self).__qualname__}({held})"


def _set(self: Any, name: str, value: object) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: Any, name: str) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


_METHODS: dict[str, Callable[..., Any]] = {
    "__init__": _first,
    "__eq__": _equal,
    "__hash__": _hash,
    "__repr__": _shown,
    "__setattr__": _set,
    "__delattr__": _delete,
}
