"""Stability selection: its halves, its choice, and its bound where the truth is known."""

from typing import ClassVar

import numpy as np
import pytest

from manykernels import HierarchicalMKLRegressor, MKLClassifier, MKLRegressor, MKLRegressorCV
from manykernels.families import Products, rank_one, views
from manykernels.inspection import Stability, stability_selection, weight_stability
from manykernels.inspection.selected import selection_of
from manykernels.kernels import Linear

rng = np.random.RandomState(0)
X = rng.randn(61, 8)
y = X[:, 0] - X[:, 1] + 0.5 * rng.randn(61)


class Recorder(MKLRegressor):
    """Remembers which samples it was given."""

    seen: ClassVar[list] = []

    def fit(self, X, y):
        self.seen.append(set(X[:, 7]))
        return super().fit(X, y)


def test_pairs_are_halves_that_share_no_sample():
    Recorder.seen.clear()
    found = weight_stability(Recorder(rank_one()), X, y, method="pairs", n_resamples=6, random_state=0)
    assert found.pairs and len(Recorder.seen) == 6
    for first, second in zip(Recorder.seen[::2], Recorder.seen[1::2], strict=True):
        assert len(first) == len(second) == 30 and not first & second


def test_kernels_with_an_effect_are_selected_and_others_are_not():
    found = stability_selection(MKLRegressor(rank_one()), X, y, n_pairs=10, random_state=0)
    assert [name for name, kept in zip(found.names, found.selected, strict=True) if kept] == ["x0", "x1"]
    assert found.n_selected == 2 and found.expected_false == pytest.approx(4 / (0.5 * 8))
    assert found.frequency.sum() <= 2 + 1e-12  # no half takes more
    assert "one of the 2 largest weights in 75% or more of 20 halves" in repr(found)
    assert list(found.to_frame().columns) == ["frequency", "selected"]


def test_norms_that_give_every_kernel_weight_are_served():
    found = stability_selection(MKLRegressor(rank_one(), norm=2), X, y, n_pairs=5, random_state=0)
    assert set(np.flatnonzero(found.selected)) == {0, 1}


def test_views_are_selected_whole():
    two = views({"good": ([0, 1], [Linear(), Linear()]), "poor": [3, 4], "none": [5, 6]})
    found = stability_selection(MKLRegressor(two), X, y, by="view", n_pairs=5, random_state=0)
    assert found.names == ["good", "poor", "none"] and found.selected.tolist() == [True, False, False]
    with pytest.raises(ValueError, match="no kernel belongs to a view"):
        stability_selection(MKLRegressor(rank_one()), X, y, by="view", n_pairs=2)


def test_a_search_is_served():
    search = MKLRegressorCV(rank_one(), strategy="finite", norms=[1.0], Cs=[1.0], cv=3)
    found = stability_selection(search, X, y, n_pairs=3, random_state=0)
    assert found.selected[found.names.index("x0")]


def weights(table):
    table = np.asarray(table, dtype=float)
    return Stability([f"k{m}" for m in range(table.shape[1])], table, 0.9, pairs=True)


def test_equal_weights_are_taken_by_chance():
    found = selection_of(weights(np.ones((200, 10))), random_state=0)
    assert not found.selected.any() and found.frequency.max() < 0.5 < 2 <= found.n_selected
    none = selection_of(weights(np.zeros((20, 10))), random_state=0)
    assert not none.frequency.any()


@pytest.mark.parametrize("threshold", [0.6, 0.75, 0.9])
def test_the_bound_holds_where_kernels_are_taken_by_guessing(threshold):
    """Halves take q of p kernels at random: few of them reach the threshold."""
    draw = np.random.RandomState(1)
    false = []
    for _ in range(200):
        found = selection_of(weights(draw.uniform(size=(6, 6))), threshold, 2.0, random_state=0)
        false.append(found.selected.sum())
    assert 0 < np.mean(false) <= found.expected_false


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"by": "layer"}, "expected 'kernel' or 'view'"),
        ({"threshold": 0.5}, "above 0.5"),
        ({"max_false": 0}, "positive number"),
        ({"max_false": 0.1}, "more than max_false=0.1"),
        ({"n_pairs": 1}, "whole number from 2"),
        ({"n_selected": 0}, "whole number from 1"),
    ],
)
def test_bad_options_are_told(options, said):
    with pytest.raises(ValueError, match=said):
        stability_selection(MKLRegressor(rank_one()), X, y, **{"n_pairs": 2, **options})


def test_what_cannot_be_selected_from_is_told():
    with pytest.raises(ValueError, match="more kernels than can be listed"):
        stability_selection(MKLRegressor(Products(degree=3)), X, y)
    with pytest.raises(ValueError, match="the kernels of HierarchicalMKLRegressor stand for more"):
        stability_selection(HierarchicalMKLRegressor(), X, y, n_pairs=2)
    with pytest.raises(ValueError, match="nothing to choose from"):
        stability_selection(MKLRegressor([Linear()]), X, y, n_pairs=2)
    with pytest.raises(ValueError, match="a class has one sample"):
        stability_selection(MKLClassifier(rank_one()), X, np.arange(61) == 0, n_pairs=2)
    with pytest.raises(ValueError, match="even number of halves"):
        weight_stability(MKLRegressor(rank_one()), X, y, method="pairs", n_resamples=3)
