"""The test on permuted targets: its level, its power, and which orders it draws."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import NearestCentroid
from tests.fitted_models import X, numbers, stack, y

from manykernels import MKLClassifier, MKLClassifierCV
from manykernels.comparison.folds import make_folds
from manykernels.comparison.scores import Fold, Scores
from manykernels.inspection import permutation_test
from manykernels.inspection.permutations import _null, _Orders, permuted
from manykernels.kernels import Gaussian


@pytest.mark.slow
def test_noise_is_rarely_called_a_signal_and_a_signal_always_is():
    found = []
    for seed in range(12):
        draw = np.random.default_rng(seed)
        table, labels = draw.standard_normal((30, 3)), np.tile([0, 1], 15)
        found.append(permutation_test(NearestCentroid(), table, labels, cv=2, n_permutations=19).p_value)
    assert np.mean(np.array(found) <= 0.05) <= 0.2 and np.mean(found) > 0.3
    told = permutation_test(NearestCentroid(), table + 3.0 * labels[:, None], labels, cv=2, n_permutations=19)
    assert told.p_value == pytest.approx(1 / 20) and len(told.null) == 19 and told.score > max(told.null)


def test_models_of_this_package_stacks_and_searches():
    how = {"cv": 3, "n_permutations": 3}
    kernels = [Gaussian(1.0), Gaussian(4.0)]
    assert permutation_test(MKLClassifier(kernels), X, y, **how).p_value >= 0.25
    assert permutation_test(MKLClassifier("precomputed"), stack, y, **how).p_value >= 0.25
    search = MKLClassifierCV(kernels, cv=3).fit(X, y)
    assert len(permutation_test(search, X, y, **how).null) == 3
    assert permutation_test(Ridge(), X, numbers, **how, scoring="neg_mean_squared_error").score < 0.0


def test_folds_go_with_the_targets():
    """Each fold of permuted targets has the shares of classes that it had."""
    seen = []

    class Watch(NearestCentroid):
        def fit(self, X, y):
            seen.append(np.bincount(y).tolist())
            return super().fit(X, y)

    labels = np.r_[np.zeros(6, int), np.ones(24, int)]
    table = np.random.default_rng(0).standard_normal((30, 2))
    splits = make_folds(labels, classes=True, cv=3)
    _null(Watch(), table, labels, splits, np.random.RandomState(0).permutation(30), None)
    assert seen == [[4, 16]] * 3


def test_targets_change_places_within_groups_and_whole_groups_do():
    rng, groups = np.random.RandomState(0), np.repeat([0, 1, 2, 3], [4, 4, 4, 3])
    several = [_Orders(np.arange(15) % 2, groups).draw(rng) for _ in range(20)]
    assert all(np.ptp(groups[order][groups == g]) == 0 for order in several for g in range(4))
    assert any((groups[order] != groups).any() for order in several)
    assert any((order[12:] != [12, 13, 14]).any() for order in several)
    assert all((groups[order[12:]] == 3).all() for order in several)  # the only group of its size
    targets = np.repeat([0, 1, 1, 0], [4, 4, 4, 3])
    orders = [_Orders(targets, groups).draw(rng) for _ in range(20)]
    assert all((np.sort(order) == np.arange(15)).all() for order in orders)
    assert all(np.ptp(targets[order][groups == g]) == 0 for order in orders for g in range(4))
    assert all((targets[order][12:] == targets[12:]).all() for order in orders)
    assert any((targets[order] != targets).any() for order in orders)
    with pytest.raises(ValueError, match="a size of its own"):
        _Orders(np.array([0, 1, 1]), np.array([0, 1, 1]))


def test_what_x_says_of_whole_groups_counts_where_targets_vary_within():
    draw = np.random.default_rng(0)
    groups = np.repeat(np.arange(24), 3)
    own = draw.standard_normal(24)[groups]
    labels = np.where(own + 0.5 * draw.standard_normal(72) > 0.0, "yes", "no")
    assert any(np.unique(labels[groups == g]).size > 1 for g in range(24))
    found = permutation_test(NearestCentroid(), own[:, None], labels, cv=3, groups=groups, n_permutations=19)
    assert found.p_value == pytest.approx(1 / 20) and found.score > max(found.null) + 0.1


def test_it_takes_no_longer_than_it_may():
    with pytest.raises(ValueError, match="19 permutations in 5 folds would take about"):
        permutation_test(MKLClassifier(), X, y, n_permutations=1000, seconds=1e-9)
    assert len(permutation_test(NearestCentroid(), X, y, cv=2, n_permutations=20, seconds=1e9).null) == 20


def test_what_is_refused():
    with pytest.raises(ValueError, match="n_permutations=0 was given"):
        permutation_test(Ridge(), X, numbers, n_permutations=0)
    with pytest.raises(ValueError, match="X has 48 samples and y has 3"):
        permutation_test(Ridge(), X, numbers[:3])
    splits = make_folds(y, classes=True, cv=2)
    with pytest.raises(ValueError, match="cannot be scored: it failed in 1 of 1 folds: no"):
        permuted(Ridge(), Scores([Fold(error="no")]), X, y, splits, 3)
    with pytest.raises(ValueError, match="cannot be scored on permuted targets: it failed in 2 of 2"):
        permuted(MKLClassifier("precomputed"), Scores([Fold(0.5)]), X, y, splits, 3)
