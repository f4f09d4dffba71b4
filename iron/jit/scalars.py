"""Numbers that a call gives to the runtime sequence: which are taken, and what is handed over.

A number fits or is an error; nothing is wrapped or cut off. Floats are rounded to their type, as
NumPy does, when they are in its range.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from iron.frozen import frozen


@frozen
class Number:
    """What one scalar parameter takes: NumPy dtypes by name, any of which a number may fit."""

    dtypes: tuple[str, ...]

    def of(self, value: Any, called: str, declared: str) -> int | float:
        """`value` as it is handed over; TypeError or OverflowError beginning with `called`."""
        if _is_float(self.dtypes[0]):
            return self._float(value, called, declared)
        return self._integer(value, called, declared)

    def _integer(self, value: Any, called: str, declared: str) -> int:
        try:
            if isinstance(value, (bool, np.bool_)) and self.dtypes != ("bool",):
                raise TypeError
            number = int(value) if isinstance(value, np.bool_) else operator.index(value)
        except TypeError:
            raise self._wrong(value, called, declared) from None
        low, high = _range(self.dtypes)
        if not low <= number <= high:
            raise OverflowError(
                f"{called} is a number of {self._says()}, from {low} to {high}, got {number}"
                f"{declared}"
            )
        # The sequence takes bits: the upper half of an unsigned type is negative there.
        bits = 1 if self.dtypes == ("bool",) else np.iinfo(self.dtypes[0]).bits
        return number - 2**bits if bits > 1 and number >= 2 ** (bits - 1) else number

    def _float(self, value: Any, called: str, declared: str) -> float:
        known = isinstance(value, (int, float, np.integer, np.floating)) or (
            isinstance(value, np.generic) and type(value).__module__ == "ml_dtypes"
        )
        if not known or isinstance(value, bool):
            raise self._wrong(value, called, declared)
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        largest = _largest(self.dtypes[0])
        given_infinite = isinstance(value, (float, np.floating)) and math.isinf(value)
        if abs(number) > largest and not given_infinite:
            raise OverflowError(
                f"{called} is a number of {self._says()}, at most {largest:g}, got {value!r}"
                f"{declared}"
            )
        return number

    def _wrong(self, value: Any, called: str, declared: str) -> TypeError:
        kind = type(value).__name__
        return TypeError(f"{called} is to be a number of {self._says()}, got {kind}{declared}")

    def _says(self) -> str:
        return f"dtype {' or '.join(self.dtypes)}"


def _is_float(name: str) -> bool:
    return "float" in name


def _largest(name: str) -> float:
    if name == "bfloat16":
        import ml_dtypes

        return float(ml_dtypes.finfo(ml_dtypes.bfloat16).max)  # type: ignore[no-untyped-call]
    return float(np.finfo(name).max)


def _range(names: tuple[str, ...]) -> tuple[int, int]:
    if names == ("bool",):
        return 0, 1
    infos = [np.iinfo(name) for name in names]
    return min(int(i.min) for i in infos), max(int(i.max) for i in infos)
