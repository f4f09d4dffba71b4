"""Values made by `frozen` behave as those of a frozen dataclass."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from iron.frozen import frozen


@frozen
class Point:
    x: int
    y: int = 7


@frozen
class Named(Point):
    name: str = "a"

    def __str__(self) -> str:
        return self.name


class Plain(Point):
    pass


@dataclasses.dataclass(frozen=True)
class Model:
    x: int
    y: int = 7


def test_they_are_made_shown_compared_and_hashed_as_a_dataclass() -> None:
    assert repr(Point(1)) == repr(Model(1)).replace("Model", "Point")
    assert hash(Point(1, 2)) == hash(Model(1, 2))
    assert Point(1) == Point(x=1, y=7) != Point(1, 8)
    assert Point(1) != Model(1)
    assert Named(1, 2, "b") == Named(1, name="b", y=2)
    assert Named(1) != Point(1) != Plain(1)
    assert (Plain(1, 2).y, str(Named(1, name="c"))) == (2, "c")
    assert {Point(1): 1}[Point(1)] == 1
    for copied in (copy.deepcopy(Named(1)), pickle.loads(pickle.dumps(Named(1)))):
        assert (copied, hash(copied)) == (Named(1), hash(Named(1)))
    match Named(3):
        case Named(x, y):
            assert (x, y) == (3, 7)


@pytest.mark.parametrize(
    "spoil",
    [lambda p: setattr(p, "x", 2), lambda p: setattr(p, "z", 2), lambda p: delattr(p, "x")],
)
def test_they_cannot_be_changed(spoil) -> None:  # type: ignore[no-untyped-def]
    point = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        spoil(point)
    assert point == Point(1)


def test_what_is_missing_or_too_much_is_told_of_the_class() -> None:
    for wrong in ((), (1, 2, 3, 4)):
        with pytest.raises(TypeError, match=r"Named\.__init__\(\)"):
            Named(*wrong)
    with pytest.raises(TypeError, match="without a default follows one that has one"):

        @frozen
        class Wrong(Point):
            z: int
