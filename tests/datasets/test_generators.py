"""Generators against the formulas of the texts, their moments, and the errors that no learner can beat."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
from scipy.stats import norm

from manykernels import datasets
from manykernels.datasets.breiman import PAIRS, SHIFT, WAVES, best_ringnorm, best_waveform
from manykernels.datasets.papers import FREQUENCIES

GENERATORS = {name: getattr(datasets, name) for name in datasets.__all__ if name.startswith("make_")}


# -- what all of them promise -----------------------------------------------------------------------
@pytest.mark.parametrize("name", GENERATORS)
def test_the_same_seed_makes_the_same_samples(name):
    make = GENERATORS[name]
    once, again, other = (make(30, random_state=seed) for seed in (3, np.random.RandomState(3), 4))
    assert all(np.array_equal(a, b) for a, b in zip(once[:2], again[:2], strict=True))
    assert not np.array_equal(once[0], other[0])


@pytest.mark.parametrize("name", GENERATORS)
def test_a_random_state_moves_on(name):
    rng = np.random.RandomState(0)
    assert not np.array_equal(
        GENERATORS[name](20, random_state=rng)[0], GENERATORS[name](20, random_state=rng)[0]
    )


@pytest.mark.parametrize("name", GENERATORS)
def test_there_are_as_many_samples_as_asked_for(name):
    X, y, *_ = GENERATORS[name](7, random_state=0)
    assert len(X) == len(y) == (21 if name == "make_three_views" else 7)
    assert X.dtype == np.float64 and X.ndim == 2 and y.ndim == (2 if name == "make_voxels" else 1)


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("wrong", [0, -1, 2.5, True, "ten"])
def test_a_number_of_samples_is_a_number(name, wrong):
    first = next(iter(inspect.signature(GENERATORS[name]).parameters))
    with pytest.raises(ValueError, match=rf"{first}=.* was given; expected a whole number"):
        GENERATORS[name](wrong)


# -- Afkanpour 2013 ------------------------------------------------------------------------------------------
def test_polynomials_are_the_mean_of_their_terms():
    X, y, terms = datasets.make_polynomials(40, 9, random_state=1)
    assert X.shape == (40, 9) and len(set(terms)) == len(terms) == 10
    assert all(len(z) <= 3 and max(z, default=0) < 5 and list(z) == sorted(z) for z in terms)
    by_hand = [sum(math.prod(row[j] for j in z) for z in terms) / 10.0 for row in X]
    np.testing.assert_allclose(y, by_hand, rtol=0, atol=1e-14)


def test_polynomials_draw_from_all_products():
    """C(5 + 3, 3) = 56 with the constant, 55 without; over many seeds each is drawn about equally often."""
    drawn = [z for seed in range(560) for z in datasets.make_polynomials(1, 5, random_state=seed)[2]]
    kinds, times = np.unique(["".join(map(str, z)) for z in drawn], return_counts=True)
    assert kinds.size == 56
    assert np.all(np.abs(times - 100) < 5 * math.sqrt(100 * 46 / 55))  # five deviations
    every = [datasets.make_polynomials(1, 5, constant=False, random_state=seed)[2] for seed in range(50)]
    assert () not in {z for terms in every for z in terms}


def test_inputs_of_polynomials_are_uniform():
    X, _, _ = datasets.make_polynomials(20_000, 3, n_relevant=3, random_state=0)
    assert -1.0 <= X.min() < -0.999 and 0.999 < X.max() <= 1.0
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=0.02)
    np.testing.assert_allclose(X.var(axis=0), 1.0 / 3.0, atol=0.01)


def test_noise_of_polynomials_is_in_units_of_their_deviation():
    clean, noisy = (datasets.make_polynomials(20_000, 6, noise=s, random_state=2)[1] for s in (0.0, 0.5))
    assert np.std(noisy - clean) / np.std(clean) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"n_features": 3}, "n_relevant=5 was given with n_features=3"),
        ({"n_terms": 57}, "n_terms=57 was given; expected at most 56"),
        ({"degree": 0}, "degree=0"),
        ({"noise": -1.0}, "noise=-1.0"),
        ({"noise": math.nan}, "noise=nan"),
    ],
)
def test_polynomials_that_cannot_be_made(given, said):
    with pytest.raises(ValueError, match=said):
        datasets.make_polynomials(10, **given)


@pytest.mark.parametrize("gamma", [0.0, 2.0, 40.0])
def test_relevance_has_means_along_beta_and_the_error_of_its_distance(gamma):
    X, y = datasets.make_relevance(40_000, gamma=gamma, random_state=0)
    beta = (np.arange(1, 51) / 50.0) ** gamma
    mu = 1.75 * beta / np.sqrt(np.sum(beta**2))
    for sign in (-1.0, 1.0):
        part = X[y == sign]
        np.testing.assert_allclose(part.mean(axis=0), sign * mu, atol=0.04)
        np.testing.assert_allclose(part.var(axis=0), 1.0, atol=0.06)
    assert abs(np.mean(y)) < 0.03
    assert np.mean(np.sign(X @ mu) != y) == pytest.approx(norm.cdf(-1.75), abs=0.004)


def test_sines_are_the_sign_of_three():
    X, y = datasets.make_sines(5000, random_state=0)
    x = X[:, 0]
    f = np.sin(math.sqrt(2) * x) + np.sin(math.sqrt(12) * x) + np.sin(math.sqrt(60) * x)
    assert np.array_equal(y, np.where(f > 0, 1.0, -1.0))
    assert -10.0 <= x.min() < -9.99 and 9.99 < x.max() <= 10.0
    np.testing.assert_allclose(FREQUENCIES**2, [2.0, 12.0, 60.0])
    _, other = datasets.make_sines(5000, frequencies=[1.0], random_state=0)
    assert np.array_equal(other > 0, np.sin(x) > 0)


@pytest.mark.parametrize("frequencies", [[], 3.0, [np.inf], [[1.0]]])
def test_frequencies_are_a_list(frequencies):
    with pytest.raises(ValueError, match=r"frequencies=.* was given"):
        datasets.make_sines(10, frequencies=frequencies)


# -- Breiman --------------------------------------------------------------------------------------
def test_ringnorm_has_its_moments_and_breimans_error():
    X, y = datasets.make_ringnorm(100_000, random_state=0)
    wide, narrow = X[y == 0], X[y == 1]
    assert SHIFT**2 * 20 == pytest.approx(4.0)  # ‖a‖ = 2
    np.testing.assert_allclose(wide.mean(axis=0), 0.0, atol=0.05)
    np.testing.assert_allclose(narrow.mean(axis=0), SHIFT, atol=0.025)
    np.testing.assert_allclose(np.cov(wide.T), 4.0 * np.eye(20), atol=0.15)
    np.testing.assert_allclose(np.cov(narrow.T), np.eye(20), atol=0.04)
    assert 0.0115 < np.mean(best_ringnorm(X) != y) < 0.0135


def test_the_best_rule_for_ringnorm_compares_densities():
    X, _ = datasets.make_ringnorm(500, random_state=1)
    logs = [norm.logpdf(X, 0.0, 2.0).sum(axis=1), norm.logpdf(X, SHIFT, 1.0).sum(axis=1)]
    assert np.array_equal(best_ringnorm(X), np.argmax(logs, axis=0))


def test_waveform_mixes_waves_with_unit_noise():
    """E x = (h_a + h_b)/2 and Cov x = I + (h_a − h_b)(h_a − h_b)ᵀ/12, the variance of u being 1/12."""
    X, y = datasets.make_waveform(60_000, random_state=0)
    places = np.arange(21)
    for wave, peak in zip(WAVES, (10, 14, 6), strict=True):
        assert np.array_equal(wave, np.clip(6.0 - np.abs(places - peak), 0.0, None))
    for k, (a, b) in enumerate(PAIRS):
        part, d = X[y == k], WAVES[a] - WAVES[b]
        np.testing.assert_allclose(part.mean(axis=0), 0.5 * (WAVES[a] + WAVES[b]), atol=0.06)
        np.testing.assert_allclose(np.cov(part.T), np.eye(21) + np.outer(d, d) / 12.0, atol=0.12)
    assert 0.12 < np.mean(best_waveform(X[:5000]) != y[:5000]) < 0.15  # about 14 % in the book


# -- Orabona & Jie 2011 and Lei et al. 2016 --------------------------------------------------------
def test_only_the_fourth_view_sets_all_three_classes_apart():
    X, y = datasets.make_three_views(200, noise=0.01, random_state=0)
    assert np.array_equal(y, np.repeat([0, 1, 2], 200)) and X.shape == (600, 8)
    for j, apart in enumerate((2, 0, 1, None)):
        centres = [X[y == k, 2 * j : 2 * j + 2].mean(axis=0) for k in range(3)]
        for a, b in ((0, 1), (0, 2), (1, 2)):
            side = 1.0 if apart is None or apart in (a, b) else 0.0
            assert np.linalg.norm(centres[a] - centres[b]) == pytest.approx(side, abs=0.01)
    assert np.std(X[y == 0][:, 0]) == pytest.approx(0.01, rel=0.2)


def test_the_informative_view_depends_on_the_region():
    X, y = datasets.make_regions_views(20_000, random_state=0)
    left = X[:, 0] < 0  # wrong for Φ(−2/0.7) of the samples, 0.2 %
    np.testing.assert_allclose(X[left][:, :2].mean(axis=0), [-2.0, 0.0], atol=0.03)
    np.testing.assert_allclose(X[~left][:, :2].mean(axis=0), [2.0, 0.0], atol=0.03)
    first, second = X[:, 2] + X[:, 3], X[:, 8] + X[:, 9]
    right_rule = np.where(left, first, second)
    expected = math.atan(0.3 / math.sqrt(2.0)) / math.pi  # Pr[sign(s) ≠ sign(s + 0.3 z)], s ~ N(0, 2)
    assert np.mean(np.sign(right_rule) != y) == pytest.approx(expected + 0.5 * norm.cdf(-2 / 0.7), abs=0.006)
    assert abs(np.mean(y[left] * second[left])) < 0.05  # and the other view says nothing
    assert abs(np.mean(y[~left] * first[~left])) < 0.05


def test_the_right_width_depends_on_the_region():
    X, y, f = datasets.make_regions_widths(20_000, random_state=0)
    right = X[:, 0] > 0
    assert np.all(X[right][:, 1:] == 0.0) and np.all(np.abs(np.abs(X[:, 0]) - 2.5) <= 1.0)
    u = X[:, 0] - np.where(right, 2.5, -2.5)
    by_hand = np.sin(2 * u + X[:, 1] + X[:, 2]) + np.cos(2 * X[:, 1] - u)
    np.testing.assert_allclose(f[~right], by_hand[~right], atol=1e-12)
    np.testing.assert_allclose(f[right], 1.4 * np.sin(5 * np.pi * u[right]), atol=1e-12)
    assert np.std(y - f) == pytest.approx(0.1, rel=0.03)
    assert np.mean(right) == pytest.approx(0.5, abs=0.02)


# -- voxels ---------------------------------------------------------------------------------------
def test_voxels_have_the_parts_that_they_are_said_to_have():
    """The best linear predictor of each space, on many samples, explains the part that is returned."""
    widths = (2, 4, 3)
    X, Y, parts = datasets.make_voxels(20_000, 60, widths=widths, random_state=0)
    np.testing.assert_allclose(Y.var(axis=0), 1.0, atol=0.06)
    ends = np.cumsum(widths)
    for m, end in enumerate(ends):
        Z = X[:, end - widths[m] : end]
        left = Y - Z @ np.linalg.lstsq(Z, Y, rcond=None)[0]
        np.testing.assert_allclose(1.0 - left.var(axis=0) / Y.var(axis=0), parts[m], atol=0.03)
        np.testing.assert_allclose(Z.std(axis=0), np.arange(1, widths[m] + 1) ** -0.5, atol=0.02)
    assert np.all((parts.sum(axis=0) > 0.1) & (parts.sum(axis=0) < 0.8))
    alone = np.count_nonzero(parts, axis=0) == 1
    assert 0.1 < alone.mean() < 0.5


def test_voxels_respond_within_runs():
    X, Y, parts = datasets.make_voxels(
        6000, 8, widths=(3,), ceiling=(1.0, 1.0), response=(0.0, 1.0, 2.0), n_runs=2, random_state=0
    )
    np.testing.assert_allclose(parts, 1.0)
    assert not Y[[0, 3000]].any()  # nothing came before
    lagged = np.zeros((6000, 6))
    for run in (slice(0, 3000), slice(3000, 6000)):
        lagged[run][1:, :3], lagged[run][2:, 3:] = X[run][:-1], X[run][:-2]
    coef = np.linalg.lstsq(lagged, Y, rcond=None)[0]
    np.testing.assert_allclose(lagged @ coef, Y, atol=1e-9)
    np.testing.assert_allclose(coef[3:], 2.0 * coef[:3], atol=1e-9)


def test_voxels_say_what_they_cannot_make():
    with pytest.raises(ValueError, match="n_samples=10 was given with n_runs=3"):
        datasets.make_voxels(10, n_runs=3)
    with pytest.raises(ValueError, match=r"ceiling=\(0.5, 0.2\)"):
        datasets.make_voxels(10, ceiling=(0.5, 0.2))
    with pytest.raises(ValueError, match=r"response=\(0.0,\) was given"):
        datasets.make_voxels(10, response=(0.0,))
