"""How a design may be declared and called."""

import functools
from typing import Optional

import pytest

import iron
from iron.jit import CompileTime, In, InOut, Out
from iron.jit.signature import Signature, signature_of


def design(a: In, b: InOut, c: Out, *, n: CompileTime[int], k: CompileTime[int] = 3):
    """Nothing."""


def test_parameters_are_sorted_by_their_annotations():
    signature = signature_of(design)
    assert [(t.name, t.role) for t in signature.tensors] == [
        ("a", "In"),
        ("b", "InOut"),
        ("c", "Out"),
    ]
    assert signature.value_names == ("n", "k")
    assert signature.where.endswith(f"test_signature.py:{design.__code__.co_firstlineno}")


def test_a_call_gives_tensors_in_order_and_every_value():
    call = signature_of(design).bind((1, 2, 3), {"n": 4})
    assert call.tensors == (1, 2, 3)
    assert call.values == {"n": 4, "k": 3}


def test_values_bound_before_give_way_to_the_call():
    signature = signature_of(design).with_values({"n": 7, "k": 8})
    assert signature.bind_values({}) == {"n": 7, "k": 8}
    assert signature.bind_values({"k": 1}) == {"n": 7, "k": 1}


@pytest.mark.parametrize(
    ("args", "kwargs", "says"),
    [
        ((1, 2), {"n": 1}, r"design takes 3 tensor\(s\) by position \(a, b, c\), got 2"),
        ((1, 2, 3, 4), {"n": 1}, "got 4"),
        ((1, 2, 3), {}, r"needs a value for compile-time parameter\(s\) n: pass n="),
        ((1, 2, 3), {"n": 1, "m": 2}, r"no compile-time parameter 'm'; it has: n, k"),
        ((1, 2), {"n": 1, "c": 3}, r"takes tensor parameter\(s\) c by position"),
        ((1, 2, 3), {"n": 1, "a": 3}, r"takes tensor parameter\(s\) a by position"),
    ],
)
def test_a_wrong_call_names_design_parameter_and_expectation(args, kwargs, says):
    with pytest.raises(TypeError, match=says) as e:
        signature_of(design).bind(args, kwargs)
    assert "design" in str(e.value)
    assert "test_signature.py:" in str(e.value)


def test_an_unknown_value_is_refused_when_it_is_bound_beforehand():
    with pytest.raises(TypeError, match="'size'"):
        signature_of(design).with_values({"size": 3})


def positional(a: In, n: CompileTime[int]): ...
def plain(a: In, n): ...
def defaulted(a: In = None): ...
def starred(*a: In): ...
def broken(a: "Nowhere"): ...  # noqa: F821


@pytest.mark.parametrize(
    ("generator", "says"),
    [
        (positional, "given by keyword"),
        (plain, "neither a tensor nor a compile-time value"),
        (defaulted, "cannot have a default"),
        (starred, "no fixed meaning"),
        (broken, "annotations cannot be evaluated .*Nowhere"),
    ],
)
def test_a_parameter_without_meaning_is_refused_where_it_is_declared(generator, says):
    with pytest.raises(TypeError, match=says) as e:
        signature_of(generator).require_keywords()
    assert generator.__name__ in str(e.value)


def test_a_value_that_calls_need_not_give_may_stand_anywhere():
    def mixed(a: In, n: CompileTime[int], b: Out, k: CompileTime[int] = 3): ...

    with pytest.raises(TypeError, match="parameter n is given by keyword"):
        iron.jit(mixed)
    bound = iron.jit(n=1)(mixed).compilable.signature
    assert [t.name for t in bound.tensors] == ["a", "b"]
    assert bound.bind((1, 2), {}).values == {"n": 1, "k": 3}
    assert iron.compileconfig(mixed).compile_params == ["n", "k"]


def test_optional_compile_time_values_and_partials_are_understood():
    def optional(a: In, *, n: Optional[CompileTime[int]] = None): ...  # noqa: UP045

    assert signature_of(optional).value_names == ("n",)
    bound = functools.partial(design, k=9)
    signature: Signature = signature_of(bound)
    assert signature.design == "design"
    assert signature.bind((1, 2, 3), {"n": 1}).values == {"n": 1, "k": 9}
