"""Designs whose generators use other designs; circles of them are told, in any threads."""

import contextlib
import threading

import pytest

import iron
from iron.build import BuildError
from iron.jit.generate import GenerationError

asked: list[int] = []


@iron.jit
def countdown(*, N: iron.CompileTime[int]):
    asked.append(N)
    if N:
        countdown.as_mlir(N=N - 1)


def test_a_generator_may_use_itself_with_other_values():
    asked.clear()
    with pytest.raises(GenerationError, match="returned nothing"):  # the last one's own fault
        countdown.as_mlir(N=3)
    assert asked == [3, 2, 1, 0]


together = threading.Barrier(2)


def meet(apart):
    """The generators that threads begin with are both running before they go on."""
    if apart:
        with contextlib.suppress(threading.BrokenBarrierError):
            together.wait(1)


@iron.jit
def one(*, apart: iron.CompileTime[bool]):
    meet(apart)
    two.build(apart=apart)


@iron.jit
def two(*, apart: iron.CompileTime[bool]):
    meet(apart)
    one.build(apart=apart)


def test_a_circle_of_generators_is_named():
    with pytest.raises(GenerationError, match=r"asks for itself .* one -> two -> one \("):
        one.build(apart=False)


def test_a_circle_of_generators_in_two_threads_is_named():
    said = []

    def build(design):
        try:
            design.build(apart=True)
        except (BuildError, GenerationError) as error:
            said.append(str(error))

    threads = [threading.Thread(target=build, args=(d,), daemon=True) for d in (one, two)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(said) == 2
    assert any("in another thread: " in text for text in said)
    assert all("one -> two -> one" in text or "two -> one -> two" in text for text in said), said
