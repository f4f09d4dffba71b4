"""Typed keys: equal text exactly for equal meaning."""

import functools
import inspect
import subprocess
import sys
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iron.jit.keys import Unkeyable, code_digest, key_text

DISTINCT = [
    None,
    1,
    True,
    1.0,
    "1",
    b"1",
    -1,
    -2,
    0,
    2**61 - 1,
    0.0,
    -0.0,
    float("inf"),
    1j,
    (1,),
    [1],
    {1},
    frozenset({1}),
    {1: 2},
    {2: 1},
    (1, 2),
    (12,),
    ("1", 2),
    "",
    (),
    np.int32(1),
    np.int64(1),
    np.float32(1),
    np.dtype(np.int32),
    np.int32,
    np.dtype(ml_dtypes.bfloat16),
    np.array([1, 2]),
    np.array([[1, 2]]),
    np.array([1, 2], dtype=np.int32),
    np.ndarray[(4,), np.dtype[np.int32]],
    np.ndarray[(4,), np.dtype[np.int16]],
    slice(1, 2),
    range(3),
    Ellipsis,
    inspect.signature(lambda a, b=1: None),
    inspect.signature(lambda a, b=True: None),
    inspect.signature(lambda a, *, b=1: None),
]


def test_values_of_different_meaning_have_different_keys():
    texts = [key_text(v) for v in DISTINCT]
    assert len(set(texts)) == len(texts)


def test_large_arrays_differ_where_their_print_does_not():
    a = np.zeros(5000)
    b = a.copy()
    b[2500] = 1
    assert str(a) == str(b)
    assert key_text(a) != key_text(b)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=8,
)


@given(plain)
def test_a_key_is_the_same_for_an_equal_value_built_anew(value):
    import copy

    assert key_text(copy.deepcopy(value)) == key_text(value)


@given(st.dictionaries(st.text(), st.integers()))
def test_the_order_of_a_dictionary_does_not_matter(value):
    assert key_text(dict(reversed(value.items()))) == key_text(value)


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_strings_cannot_run_into_each_other(a, b):
    assert (key_text(a) == key_text(b)) == (a == b)


class Plain:
    def __init__(self, n):
        self.n = n


@dataclass
class Record:
    n: int
    name: str = "x"


def test_objects_are_told_by_what_they_hold():
    assert key_text(Plain(1)) == key_text(Plain(1)) != key_text(Plain(2))
    assert key_text(Record(1)) == key_text(Record(1)) != key_text(Record(2))
    holder = Plain(1)
    before = key_text(holder)
    holder.n = 2
    assert key_text(holder) != before


class Named:
    __slots__ = ("n",)

    def __init__(self, n):
        self.n = n


class Keyed(Named):
    def __iron_key__(self):
        return self.n


def test_what_cannot_be_told_apart_is_refused_with_advice():
    with pytest.raises(Unkeyable, match=r"depth: a .*Named .* __iron_key__"):
        key_text(Named(1), "depth")
    with pytest.raises(Unkeyable, match="__iron_key__"):
        key_text(object())
    assert key_text(Keyed(1)) == key_text(Keyed(1)) != key_text(Keyed(2))


def test_a_value_that_contains_itself_is_refused():
    loop = []
    loop.append(loop)
    with pytest.raises(Unkeyable, match="contains itself"):
        key_text(loop)
    twice = [1]
    assert key_text([twice, twice]) == key_text([[1], [1]])


def make(n, *, k=0):
    return lambda x: x + n + k


def test_functions_are_told_by_code_defaults_and_what_they_close_over():
    assert key_text(make(1)) == key_text(make(1)) != key_text(make(2))
    assert key_text(functools.partial(make, 1)) != key_text(functools.partial(make, 2))
    assert key_text(functools.partial(make, 1)) != key_text(functools.partial(make, k=1))


def compiled(text):
    scope = {}
    exec(text, scope)
    return scope["f"].__code__


def test_code_is_told_without_lines_docstring_and_file():
    a = compiled("def f(x):\n    return x + 1\n")
    assert code_digest(a) == code_digest(compiled("\n\n\ndef f(x):\n    # why\n    return x + 1\n"))
    assert code_digest(a) == code_digest(compiled("def f(x):\n    'says'\n    return x + 1\n"))
    assert code_digest(a) != code_digest(compiled("def f(x):\n    return x + 2\n"))
    assert code_digest(a) != code_digest(compiled("def f(x):\n    return x + 1.0\n"))
    lambdas = [compiled(f"f = lambda: {text!r}\n") for text in ("a", "b")]
    assert code_digest(lambdas[0]) != code_digest(lambdas[1])


def test_keys_are_equal_in_every_process():
    script = (
        "from iron.jit.keys import key_text\n"
        "print(key_text({'b': {1, 'x', 2.5}, 'a': frozenset('hello'), 'f': lambda x: x}))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "77")
    }
    assert len(texts) == 1
    assert " at 0x" not in texts.pop()
