"""Tests of kernels: against classical tests, Imhof's integral, permutations and simulation."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.integrate import quad

from manykernels import MKLClassifierCV, MKLRegressor
from manykernels.families import Products, Relevance, Subset, views
from manykernels.inspection import Importance, Significance, Stability, significance
from manykernels.inspection.null_models import binary_null, linear_null
from manykernels.inspection.quadratic_forms import upper_tail
from manykernels.inspection.significance import min_p
from manykernels.kernels import Gaussian, Linear, OnColumns

rng = np.random.RandomState(0)
N = 60
X = rng.randn(N, 5)
Z = rng.randn(N, 2)
y = X[:, 0] + Z[:, 0] + rng.randn(N)
labels = np.where(0.5 * X[:, 0] + rng.randn(N) > 0, "ill", "well")
KERNELS = {"one": OnColumns(Linear(), [0]), "wide": Gaussian(3.0), "noise": OnColumns(Gaussian(1.0), [4])}


# -- tails ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("x", [1e-3, 0.5, 4.0, 60.0, 700.0])
@pytest.mark.parametrize("df", [1, 2, 7, 200])
def test_equal_weights_are_a_chi_square(df, x):
    found = upper_tail(np.full(df, 3.0), 3.0 * x)
    assert found == pytest.approx(stats.chi2.sf(x, df), rel=1e-11)


@pytest.mark.parametrize(
    ("m", "n", "x"), [(1, 1, 5.0), (1, 10, 3.0), (3, 40, 1.5), (5, 90, 20.0), (4, 3, 0.1)]
)
def test_two_weights_of_opposite_sign_are_an_f_ratio(m, n, x):
    found = upper_tail(np.r_[np.full(m, 1 / m), np.full(n, -x / n)])
    assert found == pytest.approx(stats.f.sf(x, m, n), rel=1e-11)


def imhof(a, x):
    """Imhof (1961): ½ + (1/π) ∫ sin θ(u) / (u ρ(u)) du."""

    def integrand(u):
        return np.sin(0.5 * np.arctan(a * u).sum() - 0.5 * x * u) / (
            u * np.exp(0.25 * np.log1p((a * u) ** 2).sum())
        )

    pieces = np.r_[0.0, np.geomspace(0.05, 400.0, 40)]
    parts = [quad(integrand, lo, hi, epsabs=1e-13, limit=200)[0] for lo, hi in itertools.pairwise(pieces)]
    return 0.5 + sum(parts) / np.pi


@pytest.mark.parametrize("seed", range(6))
def test_any_weights_agree_with_imhof(seed):
    draw = np.random.RandomState(seed)
    a, x = draw.randn(14), 2.0 * draw.randn()
    assert upper_tail(a, x) == pytest.approx(imhof(a, x), abs=1e-9)
    assert upper_tail(a, x) + upper_tail(-a, -x) == pytest.approx(1.0, abs=1e-12)


def test_tails_of_nothing_and_of_one_sign():
    assert upper_tail(np.zeros(3), 1.0) == 0.0 and upper_tail(np.zeros(3), -1.0) == 1.0
    assert upper_tail(np.array([-1.0, -2.0]), 0.0) == 0.0
    assert upper_tail(np.array([1.0, 2.0]), 0.0) == 1.0
    assert upper_tail(np.array([-1.0]), -4.0) == pytest.approx(stats.chi2.cdf(4.0, 1), rel=1e-11)


# -- classical tests that are special cases -------------------------------------------------------------
def test_a_linear_kernel_of_one_column_is_the_partial_f_test():
    found = significance({"one": OnColumns(Linear(), [0])}, X, y, covariates=Z)
    small, large = (np.column_stack([np.ones(N), Z, *more]) for more in ([], [X[:, 0]]))
    rss = [np.linalg.lstsq(A, y, rcond=None)[1][0] for A in (small, large)]
    F = (rss[0] - rss[1]) / (rss[1] / (N - 4))
    assert found.p_value[0] == pytest.approx(stats.f.sf(F, 1, N - 4), rel=1e-8)


def test_a_linear_kernel_of_one_column_is_raos_test_for_labels():
    found = significance({"one": OnColumns(Linear(), [0])}, X, labels)
    t = (labels == "well").astype(float)
    p = t.mean()
    centred = X[:, 0] - X[:, 0].mean()
    rao = (centred @ (t - p)) ** 2 / (p * (1 - p) * (centred @ centred))
    assert found.p_value[0] == pytest.approx(stats.chi2.sf(rao, 1), rel=1e-8)


# -- invariance -----------------------------------------------------------------------------------------
def test_what_covariates_explain_does_not_matter():
    first = significance(KERNELS, X, y, covariates=Z)
    moved = significance(KERNELS, X, 7.0 * y + Z @ [30.0, -4.0] + 1e3, covariates=Z)
    np.testing.assert_allclose(first.p_value, moved.p_value, rtol=1e-6)
    np.testing.assert_allclose(first.statistic, moved.statistic, rtol=1e-6)


def test_covariates_may_be_columns_of_a_frame_with_categories():
    frame = pd.DataFrame(np.c_[X, Z], columns=[f"x{j}" for j in range(5)] + ["age", "dose"])
    frame["site"] = np.where(Z[:, 0] > 0, "north", "south")
    kernels = {"one": OnColumns(Linear(), ["x0"])}
    by_name = significance(kernels, frame, y, covariates=["age", "site"])
    by_value = significance(
        {"one": OnColumns(Linear(), [0])}, X, y, covariates=np.c_[Z[:, 0], (Z[:, 0] > 0) * 1.0]
    )
    np.testing.assert_allclose(by_name.p_value, by_value.p_value, rtol=1e-6)


def test_dependent_covariates_count_once():
    twice = significance(KERNELS, X, y, covariates=np.c_[Z, Z[:, 0] - 2 * Z[:, 1]])
    np.testing.assert_allclose(twice.p_value, significance(KERNELS, X, y, covariates=Z).p_value, rtol=1e-6)


# -- agreement with draws -------------------------------------------------------------------------------
@pytest.mark.parametrize("target", [y, labels], ids=["continuous", "binary"])
def test_score_and_draws_agree(target):
    score = significance(KERNELS, X, target, covariates=Z)
    drawn = significance(KERNELS, X, target, covariates=Z, method="permutation", random_state=0)
    error = np.sqrt(score.p_value * (1 - score.p_value) / 999)
    assert np.all(np.abs(score.p_value - drawn.p_value) < 5 * error + 0.03)
    np.testing.assert_allclose(score.statistic, drawn.statistic, rtol=1e-8)
    assert np.all(drawn.p_adjusted >= drawn.p_value - 1e-12)


def test_given_the_others_a_copy_of_them_says_nothing_new():
    column = X[:, 0] + 0.05 * rng.randn(N)
    data = np.c_[X, column]
    kernels = {"one": OnColumns(Linear(), [0]), "copy": OnColumns(Linear(), [5])}
    target = 3.0 * X[:, 0] + rng.randn(N)
    alone = significance(kernels, data, target)
    given = significance(kernels, data, target, given="others")
    assert alone.p_value.max() < 1e-6 and given.p_value[1] > 0.01


def test_views_are_tested_whole():
    three = views({"a": ([0, 1], [Linear(), Gaussian(2.0)]), "b": ([3, 4], Linear())})
    found = significance(three, X, y, by="view")
    assert found.names == ["a", "b"] and found.p_value[0] < 1e-3 < found.p_value[1]
    model = MKLRegressor(three).fit(X, y)
    np.testing.assert_allclose(significance(model, X, y, by="view").p_value, found.p_value, rtol=1e-9)
    assert list(pd.DataFrame(found.columns())) == ["name", "statistic", "p_value", "p_adjusted"]


PARTS = {"good": X[:, :2], "poor": X[:, 3:]}


def test_views_of_a_dict_are_those_of_the_model():
    model = MKLRegressor().fit(PARTS, y)
    reordered = {name: PARTS[name] for name in ("poor", "good")}
    for kernels, data in (("auto", PARTS), (model, PARTS), (model, reordered)):
        found = significance(kernels, data, y, by="view")
        assert found.names == ["good", "poor"] and found.p_value[0] < 1e-3 < found.p_value[1]
        assert significance(kernels, data, y).names == list(model.kernel_names_)


def test_the_kernels_of_a_model_keep_what_they_learned_from_its_samples():
    model = MKLRegressor().fit(PARTS, y)
    scaled = {name: 3.0 * part[:40] for name, part in PARTS.items()}
    own = dict(zip(model.kernel_names_, (kernel.kernel for kernel in model.kernels_), strict=True))
    joined = np.hstack(list(scaled.values()))
    expected = significance(own, joined, y[:40]).p_value
    np.testing.assert_allclose(significance(model, scaled, y[:40]).p_value, expected, rtol=1e-9)
    with pytest.raises(ValueError, match="Relevance, which learns from y"):
        significance(MKLRegressor([Relevance(), Linear()]).fit(X, y), X, y)


def test_all_kernels_that_a_search_chose_from_are_tested():
    kernels = {"good": Linear(), "poor": [Linear(), Gaussian(0.1)]}
    search = MKLClassifierCV(kernels, strategy="finite", norms=[1.0], Cs=[1.0], cv=3)
    search.fit(PARTS, np.where(X[:, 0] > 0, "ill", "well"))
    assert isinstance(search.best_estimator_.kernels, Subset)
    assert significance(search, PARTS, labels, by="view").names == ["good", "poor"]
    assert len(significance(search, PARTS, labels).names) == 3


def test_results_print_as_tables_of_their_first_rows():
    names = [f"k{j}" for j in range(12)]
    p = np.linspace(0.9, 0.0123456, 12)
    found = Significance(names, np.ones(12), p, p, "score")
    lines = repr(found).splitlines()
    assert lines[0].split() == ["name", "statistic", "p_value", "p_adjusted"]
    assert lines[1].split() == ["k11", "1", "0.0123", "0.0123"] and "k0 " not in repr(found)
    assert "and 2 more" in repr(found) and "0.0123456" not in repr(found)
    assert found.to_frame().shape == (12, 3) and found.to_frame().loc["k0", "p_value"] == p[0]
    part = Stability(names, np.tile(np.arange(12.0), (3, 1)), 0.9, choices={"sum": 3})
    assert repr(part).splitlines()[1].split() == ["k11", "11", "11", "11", "1"] and "sum 3" in repr(part)
    drops = np.tile(np.arange(2.0)[:, None, None], (1, 3, 1))
    told = Importance(names[:2], drops, np.ones(3), "accuracy", 0.9, 0.5, 2)
    assert repr(told).splitlines()[1].startswith("k1") and "accuracy" in repr(told)
    assert told.to_frame().index.tolist() == ["k1", "k0"]
    assert repr(Importance([], drops[:0], np.ones(3), "accuracy", 0.9, 0.5, 2)).startswith("name")


# -- several tests ----------------------------------------------------------------------------------------
def test_min_p_of_copies_needs_no_correction_and_of_independent_tests_does():
    draws = rng.randn(1, 999)
    copies = min_p(np.full(4, 2.0), np.repeat(draws, 4, axis=0))
    np.testing.assert_allclose(copies, (1 + np.sum(draws >= 2.0)) / 1000, atol=2e-3)
    apart = rng.randn(4, 4999)
    single = stats.norm.sf(2.0)
    assert min_p(np.full(4, 2.0), apart)[0] == pytest.approx(1 - (1 - single) ** 4, abs=0.02)


# -- calibration --------------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("binary", [False, True])
def test_null_draws_are_uniform(binary):
    """Of 2,000 draws of y that no kernel knows about, about 5 % are below 0.05."""
    draw = np.random.RandomState(1)
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    K, design = np.exp(-D / 9.0), np.column_stack([np.ones(N), Z])
    low = 0
    for _ in range(2000):
        if binary:
            target = (draw.uniform(size=N) < 0.5).astype(float)
            null = binary_null(target, design)
        else:
            null = linear_null(design @ [1.0, 2.0, 0.0] + draw.randn(N), design)
        A = null.form(K)
        Q, values = float(null.e @ A @ null.e), np.linalg.eigvalsh(A)
        if binary:
            p = upper_tail(values, Q)
        else:
            p = upper_tail(np.sort(values)[::-1][: null.n_free] - Q / float(null.e @ null.e))
        low += p < 0.05
    assert (0.025 if binary else 0.037) < low / 2000 < 0.063


# -- bad input ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kernels": Relevance()}, "Relevance learns widths from y"),
        ({"kernels": Products(degree=3)}, "give a list"),
        ({"y": (np.arange(N) % 3).astype(str)}, "y has 3 classes"),
        ({"y": np.ones(N)}, "y has one value"),
        ({"y": np.c_[y, y]}, "y has 2 outputs"),
        ({"covariates": Z[:5]}, "expected a row for each"),
        ({"covariates": np.full((N, 1), np.nan)}, "missing or infinite"),
        ({"covariates": np.random.RandomState(0).randn(N, N)}, "give fewer covariates"),
        ({"y": labels, "covariates": (labels == "ill") * 1.0}, "gives y away"),
        ({"method": "chance"}, "expected 'score' or 'permutation'"),
        ({"by": "view"}, "no kernel belongs to a view"),
        ({"n_permutations": 5}, "at least 19"),
    ],
)
def test_bad_input_is_told(changes, said):
    given = {"kernels": KERNELS, "y": y} | changes
    with pytest.raises(ValueError, match=said):
        significance(given.pop("kernels"), X, given.pop("y"), **given)
