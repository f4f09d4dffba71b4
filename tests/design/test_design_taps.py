"""Access patterns against plain NumPy: every claim is checked on the elements visited."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iron.design import TensorAccessPattern, TensorAccessSequence, TensorTiler2D

dims = st.integers(1, 6)


@st.composite
def patterns(draw):
    shape = draw(st.lists(dims, min_size=1, max_size=3))
    count = draw(st.integers(1, 4))
    sizes = draw(st.lists(st.integers(1, 4), min_size=count, max_size=count))
    strides = draw(st.lists(st.integers(0, 12), min_size=count, max_size=count))
    offset = draw(st.integers(0, math.prod(shape) - 1))
    return TensorAccessPattern(shape, offset, sizes, strides)


def visits(tap):
    """By the definition: nested loops."""
    total = math.prod(tap.tensor_dims)
    return [
        (tap.offset + sum(i * s for i, s in zip(index, tap.strides, strict=True))) % total
        for index in itertools.product(*map(range, tap.sizes))
    ]


@given(patterns())
def test_visits_are_nested_loops(tap):
    expected = visits(tap)
    assert list(tap.access_generator()) == expected
    order = np.full(math.prod(tap.tensor_dims), -1)
    count = np.zeros(math.prod(tap.tensor_dims), int)
    for n, at in enumerate(expected):
        order[at] = n
        count[at] += 1
    got_order, got_count = tap.accesses()
    assert got_order.dtype == got_count.dtype == np.int32
    assert np.array_equal(got_order, order.reshape(tap.tensor_dims))
    assert np.array_equal(got_count, count.reshape(tap.tensor_dims))


@given(st.lists(patterns(), min_size=1, max_size=4))
def test_sequences_count_on(taps):
    shape = taps[0].tensor_dims
    total = math.prod(shape)
    taps = [TensorAccessPattern(shape, t.offset % total, t.sizes, t.strides) for t in taps]
    sequence = TensorAccessSequence.from_taps(taps)
    order, count = np.full(total, -1), np.zeros(total, int)
    for n, at in enumerate(itertools.chain.from_iterable(map(visits, taps))):
        order[at] = n
        count[at] += 1
    got_order, got_count = sequence.accesses()
    assert np.array_equal(got_order, order.reshape(shape))
    assert np.array_equal(got_count, count.reshape(shape))


@given(patterns(), patterns())
def test_equal_orders_however_written(a, b):
    assert a.compare_access_orders(b) == (visits(a) == visits(b))
    padded = TensorAccessPattern(a.tensor_dims, a.offset, [1, *a.sizes], [5, *a.strides])
    assert a.compare_access_orders(padded)
    assert padded.strides[0] == 0
    assert a != padded


@st.composite
def tilings(draw):
    tile = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    repeat = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    step = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    groups = draw(st.tuples(st.integers(1, 2), st.integers(1, 2)))
    shape = tuple(t * r * s * g for t, r, s, g in zip(tile, repeat, step, groups, strict=True))
    flags = {
        name: draw(st.booleans())
        for name in ("tile_col_major", "tile_group_col_major", "iter_col_major", "prune_step")
    }
    return shape, tile, repeat, step, flags


def expected_tiling(shape, tile, repeat, step, flags):
    """Visits of every group, by slicing an array of flat indices."""
    flat = np.arange(math.prod(shape)).reshape(shape)
    starts = [
        [b * r * s + i for b in range(n // t // (r * s)) for i in range(s)]
        for n, t, r, s in zip(shape, tile, repeat, step, strict=True)
    ]
    groups = list(itertools.product(*starts))
    if flags["iter_col_major"]:
        groups.sort(key=lambda g: (starts[1].index(g[1]), starts[0].index(g[0])))
    out = []
    for row, col in groups:
        inside = list(itertools.product(range(repeat[0]), range(repeat[1])))
        if flags["tile_group_col_major"]:
            inside.sort(key=lambda g: (g[1], g[0]))
        seen = []
        for r, c in inside:
            top, left = (row + r * step[0]) * tile[0], (col + c * step[1]) * tile[1]
            block = flat[top : top + tile[0], left : left + tile[1]]
            seen += (block.T if flags["tile_col_major"] else block).reshape(-1).tolist()
        out.append(seen)
    return out


@settings(max_examples=150)
@given(tilings())
def test_tilings_visit_what_they_say(tiling):
    shape, tile, repeat, step, flags = tiling
    sequence = TensorTiler2D.step_tiler(shape, tile, repeat, step, **flags)
    assert [visits(t) for t in sequence] == expected_tiling(shape, tile, repeat, step, flags)
    assert all(len(t.sizes) == 4 for t in sequence)
    assert np.array_equal(sequence.access_count(), np.ones(shape, int))


@given(tilings(), st.integers(2, 3))
def test_patterns_are_repeated(tiling, times):
    shape, tile, repeat, step, flags = tiling
    plain = TensorTiler2D.step_tiler(shape, tile, repeat, step, **flags)
    try:
        again = TensorTiler2D.step_tiler(shape, tile, repeat, step, pattern_repeat=times, **flags)
    except ValueError as fault:
        assert "fifth dimension" in str(fault)  # noqa: PT017
        assert any(t.sizes[0] > 1 for t in plain)
        return
    assert [visits(t) for t in again] == [visits(t) * times for t in plain]


@given(
    st.tuples(st.integers(1, 7), st.integers(1, 7)),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.tuples(st.integers(1, 4), st.integers(1, 4)),
    st.tuples(st.integers(1, 4), st.integers(1, 4)),
)
def test_partial_groups_still_cover_the_tensor(tiles, tile, repeat, step):
    shape = tuple(n * t for n, t in zip(tiles, tile, strict=True))
    sequence = TensorTiler2D.step_tiler(shape, tile, repeat, step, allow_partial=True)
    assert np.array_equal(sequence.access_count(), np.ones(shape, int))


def test_a_tiling_by_hand():
    taps = TensorTiler2D.simple_tiler((4, 6), (2, 3))
    assert [t.offset for t in taps] == [0, 3, 12, 15]
    assert taps[0].sizes == [1, 1, 2, 3]
    assert taps[0].strides == [0, 0, 6, 1]
    assert [t.offset for t in TensorTiler2D.simple_tiler((4, 6), (2, 3), iter_col_major=True)] == [
        0,
        12,
        3,
        15,
    ]
    group = TensorTiler2D.group_tiler((4, 6), (2, 3), (2, 2))[0]
    assert (group.sizes, group.strides) == ([2, 2, 2, 3], [12, 3, 6, 1])
    merged = TensorTiler2D.group_tiler((4, 6), (2, 3), (2, 2), tile_group_col_major=True)[0]
    assert (merged.sizes, merged.strides) == ([1, 2, 4, 3], [0, 3, 6, 1])
    kept = TensorTiler2D.group_tiler(
        (4, 6), (2, 3), (2, 2), tile_group_col_major=True, prune_step=False
    )[0]
    assert (kept.sizes, kept.strides) == ([2, 2, 2, 3], [3, 12, 6, 1])
    assert kept.compare_access_orders(merged)


def test_one_dimension_is_a_row():
    taps = TensorTiler2D.simple_tiler((16,))
    assert taps[0].tensor_dims == [1, 16]
    assert (taps[0].sizes, taps[0].strides) == ([1, 1, 1, 16], [0, 0, 0, 1])


def test_what_is_given_out_is_a_copy():
    tap = TensorAccessPattern((4, 4), 0, [2, 2], [4, 1])
    for part in (tap.sizes, tap.strides, tap.tensor_dims):
        part[0] = 99
    assert tap == TensorAccessPattern((4, 4), 0, [2, 2], [4, 1])
    assert hash(tap) == hash(TensorAccessPattern([4, 4], 0, (2, 2), (4, 1)))
    assert tap.transformation_dims == [(2, 4), (2, 1)]


def test_sequences_are_lists_of_one_tensor():
    taps = TensorAccessSequence((4, 4), 2, sizes=[4], strides=[1], offset_fn=lambda n, _: 4 * n)
    assert [t.offset for t in taps] == [0, 4]
    other = TensorAccessPattern((4, 4), 8, [4], [1])
    taps.append(other)
    assert other in taps
    taps[0] = other
    del taps[1]
    assert list(taps) == [other, other]
    assert taps == TensorAccessSequence.from_taps([other, other])
    with pytest.raises(ValueError, match="does not belong"):
        taps.append(TensorAccessPattern((2, 2), 0, [1], [1]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TensorAccessPattern((0,), 0, [1], [1]), "at least 1"),
        (lambda: TensorAccessPattern((), 0, [1], [1]), "at least one dimension"),
        (lambda: TensorAccessPattern((4,), 4, [1], [1]), "outside of a tensor of 4"),
        (lambda: TensorAccessPattern((4,), -1, [1], [1]), "offset is at least 0"),
        (lambda: TensorAccessPattern((4,), 0, [0], [1]), "each size is at least 1"),
        (lambda: TensorAccessPattern((4,), 0, [1], [-1]), "each stride is at least 0"),
        (lambda: TensorAccessPattern((4,), 0, [1, 1], [1]), "2 sizes.*1 strides"),
        (lambda: TensorAccessPattern((4,), 0, [], []), "at least one size"),
        (lambda: TensorAccessPattern((4,), 0, [1.5], [1]), "a size is an integer"),
        (lambda: TensorAccessSequence((4,), -1), "at least 0 steps"),
        (lambda: TensorAccessSequence((4,), 0, offset=1), "takes no offset"),
        (lambda: TensorAccessSequence((4,), 1, sizes=[1], strides=[1]), "offset must be given"),
        (lambda: TensorAccessSequence.from_taps([]), "at least one pattern"),
        (lambda: TensorTiler2D.simple_tiler((4, 4), (3, 4)), r"dimension 0 \(4\) is not divis"),
        (lambda: TensorTiler2D.group_tiler((4, 4), (2, 2), (1, 3)), "evenly into groups"),
        (lambda: TensorTiler2D.simple_tiler((4, 4, 4)), "2 dimensions are expected"),
        (lambda: TensorTiler2D.simple_tiler((4, 4), pattern_repeat=0), "at least 1, found 0"),
    ],
)
def test_what_cannot_be(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_the_tiler_has_no_instances():
    with pytest.raises(TypeError, match="no instances"):
        TensorTiler2D()
