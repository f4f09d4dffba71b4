"""Drawings of access patterns: what is drawn, where matplotlib is installed, and what is not."""

import sys

import pytest

from iron.design import TensorAccessPattern, TensorAccessSequence, TensorTiler2D

TAP = TensorAccessPattern((4, 6), 1, [2, 3], [6, 2])


def test_without_matplotlib_the_error_says_how_to_get_it(monkeypatch):
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="needs matplotlib: pip install matplotlib"):
        TensorAccessPattern((4, 6), 0, [4], [1]).visualize()
    with pytest.raises(NotImplementedError, match="2 dimensions are drawn, found 3"):
        TensorAccessPattern((2, 2, 2), 0, [4], [1]).visualize()
    with pytest.raises(ValueError, match="nothing to animate"):
        TensorAccessSequence((4, 6), 0).animate()


@pytest.fixture
def pyplot(monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.close("all")
    return pyplot


def test_orders_counts_and_arrows_are_drawn(pyplot, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(pyplot, "close", drawn.append)
    TAP.visualize(title="six", file_path=str(tmp_path / "tap.png"), show_plot=False)
    TAP.visualize(show_arrows=False, show_plot=False, plot_access_count=True)
    assert (tmp_path / "tap.png").read_bytes().startswith(b"\x89PNG")
    order = drawn[0].axes[0]
    assert drawn[0].get_suptitle() == "six"
    assert (order.images[0].get_array() == TAP.access_order()).all()
    assert len(order.texts) == 5  # arrows between six visits
    images = [axis.images[0] for axis in drawn[1].axes if axis.images]
    assert (images[1].get_array() == TAP.access_count()).all()
    assert not drawn[1].axes[0].texts


def test_sequences_are_drawn_and_animated_in_one_scale(pyplot, tmp_path):
    tiles = TensorTiler2D.group_tiler((4, 6), (2, 3), (1, 1))
    tiles.visualize(file_path=str(tmp_path / "tiles.png"), show_plot=False)
    assert (tmp_path / "tiles.png").exists()
    moving = tiles.animate(title="tiles")
    moving.save(tmp_path / "tiles.gif", writer="pillow")
    shown = pyplot.gcf().axes[0].images[0]
    assert (shown.get_array() == tiles[len(tiles) - 1].access_order()).all()
    assert (shown.norm.vmin, shown.norm.vmax) == (-1, 5)
