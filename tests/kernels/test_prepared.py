"""Raw tables made comparable: against scipy, weights as repetition, names, and columns that say nothing."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse, stats
from sklearn.base import clone

from manykernels import MKLRegressorCV
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.kernels.prepared import Preparation, Prepared

RNG = np.random.RandomState(0)
N = 80
HEAVY = RNG.standard_t(1.5, N)
X = np.column_stack([RNG.randn(N), 1e3 + 1e-2 * RNG.rand(N), HEAVY, np.full(N, 0.1)])
COLOUR = RNG.choice(["blue", "green", "red"], N, p=[0.5, 0.3, 0.2])
FRAME = {"size": X[:, 0], "colour": COLOUR, "dose": HEAVY}
LEVELS = ["blue", "green", "red"]


def mixed():
    return Preparation([0, 2], {1: LEVELS})


# -- numbers --------------------------------------------------------------------------------------
def test_numbers_are_standardised_and_constant_columns_left_out():
    made = Preparation().fit(X)
    np.testing.assert_array_equal(made.kept_, [0, 1, 2])
    np.testing.assert_allclose(made.transform(X), stats.zscore(X[:, :3], axis=0), atol=1e-7)
    assert made.n_numbers == 3
    new = X[::20] + 0.1 * X.std(axis=0)
    expected = (new[:, :3] - X[:, :3].mean(axis=0)) / X[:, :3].std(axis=0)
    np.testing.assert_allclose(made.transform(new), expected, rtol=1e-9)


def test_columns_that_are_constant_up_to_rounding_are_left_out():
    noise = 0.3 * (1.0 + 1e-15 * RNG.randn(N))
    assert np.ptp(noise) > 0.0
    made = Preparation().fit(np.column_stack([noise, np.zeros(N), 1e-200 * X[:, 0], X[:, 0]]))
    np.testing.assert_array_equal(made.kept_[-1:], [3])
    assert 0 not in made.kept_ and 1 not in made.kept_
    assert np.isfinite(made.transform(np.ones((3, 4)))).all()


def test_without_a_column_that_varies_there_are_no_features():
    made = Preparation().fit(np.full((5, 2), 7.0))
    assert made.n_numbers == 0 and made.transform(np.ones((3, 2))).shape == (3, 0)


def test_scores_are_scipys_normal_scores():
    made = Preparation().fit(X)
    kurtosis = stats.kurtosis(X[:, :3], axis=0)
    np.testing.assert_array_equal(made.heavy_, np.flatnonzero(kurtosis > 3.0))
    assert 2 in made.heavy_ and 0 not in made.heavy_
    raw = stats.norm.ppf((stats.rankdata(HEAVY) - 0.5) / N)
    scores = made.transform(X, "scores")
    np.testing.assert_allclose(scores[:, 2], stats.zscore(raw), atol=1e-9)
    np.testing.assert_array_equal(scores[:, 0], made.transform(X)[:, 0])
    both = made.transform(X, "both")
    np.testing.assert_array_equal(both, np.column_stack([made.transform(X), scores[:, 2]]))


def test_ties_share_the_middle_of_their_ranks():
    tied = np.round(HEAVY)
    made = Preparation().fit(tied[:, None])
    raw = stats.norm.ppf((stats.rankdata(tied, method="average") - 0.5) / N)
    np.testing.assert_allclose(made.transform(tied[:, None], "scores")[:, 0], stats.zscore(raw), atol=1e-9)


def test_scores_rise_between_samples_and_are_constant_beyond():
    made = Preparation().fit(HEAVY[:, None])
    grid = np.linspace(HEAVY.min(), HEAVY.max(), 2001)
    scores = made.transform(grid[:, None], "scores")[:, 0]
    assert np.all(np.diff(scores) > 0.0)
    ends = made.transform(np.array([[-1e9], [HEAVY.min()], [HEAVY.max()], [1e9]]), "scores")[:, 0]
    assert ends[0] == ends[1] and ends[2] == ends[3]


def test_scores_do_not_change_with_a_rising_transformation():
    cubes = Preparation().fit(HEAVY[:, None] ** 3)
    np.testing.assert_allclose(
        cubes.transform(HEAVY[:, None] ** 3, "scores"),
        Preparation().fit(HEAVY[:, None]).transform(HEAVY[:, None], "scores"),
        atol=1e-9,
    )


def test_scale_and_shift_of_columns_do_not_matter():
    moved = X * [1e6, 1e-3, 1e-8, 1.0] + [3e6, 1.0, 0.0, 5.0]
    for part in ("scaled", "scores", "both"):
        was, now = Preparation().fit(X).transform(X, part), Preparation().fit(moved).transform(moved, part)
        np.testing.assert_allclose(now, was, atol=1e-6)


# -- weights --------------------------------------------------------------------------------------
@pytest.mark.parametrize("part", ["scaled", "scores", "both"])
def test_weights_are_repetition(part):
    weight = RNG.randint(0, 4, N)
    table = pd.DataFrame(FRAME)
    weighted = mixed().fit(table, sample_weight=weight)
    repeated = mixed().fit(table.loc[np.repeat(np.arange(N), weight)])
    np.testing.assert_array_equal(weighted.heavy_, repeated.heavy_)
    np.testing.assert_allclose(weighted.transform(table, part), repeated.transform(table, part), atol=1e-9)
    plain = mixed().fit(table)
    assert np.abs(weighted.transform(table, part) - plain.transform(table, part)).max() > 1e-2


def test_samples_of_weight_zero_play_no_part():
    wild = X.copy()
    wild[:10] = 1e12
    weight = np.r_[np.zeros(10), np.ones(N - 10)]
    made = Preparation().fit(wild, sample_weight=weight)
    np.testing.assert_allclose(made.transform(X, "both"), Preparation().fit(X[10:]).transform(X, "both"))
    assert made.key_ == Preparation().fit(X[10:]).key_


# -- categories -----------------------------------------------------------------------------------
@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame, lambda t: pd.DataFrame(t).to_numpy(object)])
def test_categories_are_centred_indicators_with_a_total_variance_of_one(form):
    table = form(FRAME)
    made = mixed().fit(table)
    Z = made.transform(table)
    assert Z.shape == (N, 5)
    share = np.array([np.mean(COLOUR == level) for level in LEVELS])
    expected = ((COLOUR[:, None] == np.array(LEVELS)) - share) / np.sqrt(share @ (1.0 - share))
    np.testing.assert_allclose(Z[:, 2:], expected, atol=1e-12)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-12)
    assert Z[:, 2:].var(axis=0).sum() == pytest.approx(1.0)


def test_levels_that_were_never_seen_have_no_indicator():
    table = pd.DataFrame(FRAME)
    made = mixed().fit(table)
    new = table.iloc[:2].assign(colour=["mauve", "blue"])
    codes = made.transform(new)[:, 2:]
    share, spread = made.indicators_[0]
    np.testing.assert_allclose(codes[0], -share / spread)
    assert codes[1, 0] > 0.0


def test_names_follow_the_features():
    made = mixed().fit(pd.DataFrame(FRAME))
    names = made.names(list(FRAME))
    assert names == ["size", "dose", "colour=blue", "colour=green", "colour=red"]
    assert len(names) == made.transform(pd.DataFrame(FRAME), "scores").shape[1]
    assert Preparation().fit(X).names(["a", "b", "c", "d"]) == ["a", "b", "c"]
    flat = pd.DataFrame(FRAME).assign(size=1.0)
    assert mixed().fit(flat).names(list(FRAME)) == names[1:]


def test_sparse_matrices_are_refused():
    with pytest.raises(ValueError, match="toarray"):
        Preparation().fit(sparse.csr_array(X))


# -- kernels on prepared features -----------------------------------------------------------------
def test_a_prepared_kernel_is_the_kernel_of_the_features():
    made = Preparation().fit(X)
    new = RNG.randn(7, 4)
    for part in ("scaled", "scores", "both"):
        for kernel in (Linear(), Gaussian(2.0), OnColumns(Gaussian(1.0), [1])):
            seen = Prepared(kernel, made, part)
            expected = kernel(made.transform(new, part), made.transform(X, part))
            np.testing.assert_allclose(seen(new, X), expected, atol=1e-12)
            np.testing.assert_allclose(seen.diag(new), kernel.diag(made.transform(new, part)), atol=1e-12)


def test_clones_and_pickles_keep_the_constants():
    seen = Prepared(Gaussian(2.0), Preparation().fit(X), "scores")
    for twin in (clone(seen), pickle.loads(pickle.dumps(seen))):
        np.testing.assert_array_equal(twin(X), seen(X))
    assert "normal" in seen.label and "Gaussian" in seen.label


def test_keys_tell_preparations_apart():
    def key(table, part="scaled"):
        return Prepared(Linear(), Preparation().fit(table), part)._key()

    assert key(X) == key(X.copy())
    assert len({key(X), key(X[:40]), key(X + 1.0), key(X, "scores"), key(X, "both")}) == 5


def test_keys_tell_columns_apart_that_hold_the_same_values_in_another_order():
    whole = np.arange(8.0)
    table = np.column_stack([whole, whole[::-1], whole])
    one, other = (Prepared(Linear(), Preparation([j]).fit(table)) for j in (0, 1))
    assert not np.allclose(one(table, whole[:3, None] * [1, 0, 1]), other(table, whole[:3, None] * [1, 0, 1]))
    assert one._key() != other._key()


def test_new_samples_are_held_one_deviation_beyond_the_training_ones():
    """An outlier would go through a polynomial with its power; a trend may go on a little."""
    A = X[:, :3]
    made = Preparation().fit(A)
    Z = made.transform(A)
    low, high = Z.min(axis=0), Z.max(axis=0)
    far = A.max(axis=0) + np.array([[50.0], [-5000.0], [0.5]]) * A.std(axis=0)
    np.testing.assert_allclose(made.transform(far)[:2], [high + 1.0, low - 1.0])
    np.testing.assert_allclose(made.transform(far)[2], high + 0.5, rtol=1e-6)
    other = A.copy()
    other[np.argmax(A[:, 0]), 0] += 1.0
    assert Preparation().fit(other).key_ != made.key_


def test_one_outlier_among_new_samples_does_not_ruin_a_default_search():
    rng = np.random.RandomState(0)
    A = rng.randn(120, 3)
    b = A[:, 0] ** 2 + A[:, 1]
    model = MKLRegressorCV(strategy="finite", cv=3).fit(A, b)
    outlier = np.array([[300.0, 0.0, 0.0]])
    assert abs(model.predict(outlier)[0]) < 10.0 * np.abs(b).max()
