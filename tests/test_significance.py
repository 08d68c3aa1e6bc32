"""Tests of kernels: against classical tests, Imhof's integral, permutations and simulation."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.integrate import quad

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor
from manykernels.families import Products, Relevance, Subset, views
from manykernels.fitting.survival import Survival, read_survival
from manykernels.inspection import Importance, Significance, Stability, significance
from manykernels.inspection.likelihoods import Binary, Cox
from manykernels.inspection.null_models import likelihood_null, linear_null
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


@pytest.mark.parametrize(
    ("a", "x", "expected"),
    [
        ([1.0, 0.5, 0.25, 0.125] * 4, 9.0, 0.27280981294067813),
        ([1.0] * 6 + [-0.5] * 8, 6.0, 0.14697087946178766),
        ([2.0, -1.0, 0.5] * 5, -3.0, 0.9547962699832169),
        ([1.0 / k for k in range(1, 17)], 12.0, 0.002489395933538765),
    ],
)
def test_tails_agree_with_imhof_in_high_precision(a, x, expected):
    """By mpmath with 25 digits: `imhof` of benchmarks/bench_significance.py."""
    assert upper_tail(np.array(a), x) == pytest.approx(expected, rel=1e-11)


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


def test_a_linear_kernel_of_one_column_is_the_test_of_its_correlation_with_labels():
    found = significance({"one": OnColumns(Linear(), [0])}, X, labels)
    expected = stats.pearsonr(X[:, 0], labels == "well").pvalue
    assert found.p_value[0] == pytest.approx(expected, rel=1e-8)


def test_a_linear_kernel_of_one_column_has_raos_statistic_for_labels():
    t, column = (labels == "well") * 1.0, X[:, 0] - X[:, 0].mean()
    null = likelihood_null(Binary(t), np.ones((N, 1)))
    rao = (column @ (t - t.mean())) ** 2 / (t.mean() * (1 - t.mean()) * (column @ column))
    assert squared(null, X[:, 0]) == pytest.approx(rao, rel=1e-9)


def squared(null, x):
    """The score test of one column, (xᵀs)² / xᵀVx, by the quadratic form of its linear kernel."""
    A = null.form(np.outer(x, x))
    return float(null.e @ A @ null.e) / float(np.linalg.eigvalsh(A)[-1])


# -- survival ---------------------------------------------------------------------------------------------
T = np.ceil(8.0 * rng.exponential(size=N) * np.exp(-0.8 * X[:, 0] - 0.5 * Z[:, 0])) / 8.0  # with ties
CENSORED = np.ceil(12.0 * rng.exponential(size=N)) / 8.0
SEEN = Survival(T <= CENSORED, np.minimum(T, CENSORED))
TIMES = np.array(list(zip(SEEN.event, SEEN.time, strict=True)), dtype=[("event", bool), ("time", float)])


def test_the_expansion_of_cox_is_that_of_its_definition():
    f = np.random.RandomState(3).randn(N)
    value, r, W = 0.0, np.zeros(N), np.zeros((N, N))
    for i in np.flatnonzero(SEEN.event):
        p = np.exp(f) * (SEEN.time >= SEEN.time[i])
        value += f[i] - np.log(p.sum())
        p /= p.sum()
        r += np.eye(N)[i] - p
        W += np.diag(p) - np.outer(p, p)
    cox = Cox(SEEN)
    at = cox.expand(f)
    assert cox.value(f) == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(at.score, r, atol=1e-12)
    np.testing.assert_allclose(at.root.T @ at.root, W, atol=1e-12)
    np.testing.assert_allclose(at.root.T @ (at.inverse @ r), r, atol=1e-10)
    draws = cox.draw(np.repeat(f[:, None], 20_000, axis=1), np.random.RandomState(0))
    assert np.abs(draws.mean(axis=1)).max() < 0.1
    assert np.abs(np.cov(draws) - W).max() < 0.12


def test_the_score_of_a_group_is_the_log_rank_test():
    group, chi2, n1 = X[:, 1] > 0, [0.0, 0.0], 0.0
    seen = Survival(SEEN.event, SEEN.time + 1e-6 * np.arange(N))  # no ties, where all versions agree
    for t in seen.time[seen.event]:
        at_risk = seen.time >= t
        n1 = float((group & at_risk).sum() / at_risk.sum())
        chi2[0] += float(group[seen.time == t][0]) - n1
        chi2[1] += n1 * (1.0 - n1)
    null = likelihood_null(Cox(seen), np.ones((N, 1)))
    assert squared(null, group * 1.0) == pytest.approx(chi2[0] ** 2 / chi2[1], rel=1e-9)


def test_times_to_an_event_are_read_however_they_are_given():
    found = significance(KERNELS, X, TIMES, covariates=Z)
    frame = pd.DataFrame({"time": SEEN.time, "status": SEEN.event * 1})
    pairs = list(zip(SEEN.event.tolist(), SEEN.time.tolist(), strict=True))
    for given in (frame, pairs):
        np.testing.assert_allclose(significance(KERNELS, X, given, covariates=Z).p_value, found.p_value)
    both = significance(KERNELS, X, np.c_[SEEN.event, SEEN.time], covariates=Z, target="survival")
    np.testing.assert_allclose(both.p_value, found.p_value)
    assert found.p_value[0] < 0.01 < found.p_value[2]
    model = MKLRegressor(KERNELS).fit(X, SEEN.time)
    np.testing.assert_allclose(significance(model, X, TIMES, covariates=Z).p_value, found.p_value)


def test_only_the_order_of_times_matters():
    later = np.c_[SEEN.event, SEEN.time**3 + 5.0]
    first = significance(KERNELS, X, TIMES)
    np.testing.assert_allclose(first.p_value, significance(KERNELS, X, later, target="survival").p_value)


def test_permuted_samples_ask_whether_censoring_depends_on_the_kernel():
    early = Survival(np.arange(N) % 2 == 0, np.where(X[:, 0] > 0, 1.0, 5.0) + 0.01 * np.arange(N))
    given = np.c_[early.event, early.time]
    with pytest.warns(UserWarning, match="censoring depends on 'one'"):
        significance(KERNELS, X, given, target="survival", method="permutation", random_state=0)
    found = significance(KERNELS, X, TIMES, method="permutation", n_permutations=19, random_state=0)
    assert "where censoring does not depend on the kernel" in repr(found)
    found = significance(KERNELS, X, TIMES, covariates=Z, method="permutation", random_state=0)
    assert "among the samples at risk" in repr(found)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (np.c_[np.zeros(N), SEEN.time], "no event among 60 samples"),
        (np.c_[SEEN.event * 2, SEEN.time], "hold 0, 2; expected 1"),
        (
            np.c_[SEEN.event, -SEEN.time - 1],
            r"missing or infinite in 60 rows \(0, 1, 2, 3, 4 and 55 more\)",
        ),
        (SEEN.time, "a structured array or a frame"),
        (pd.DataFrame({"censored": SEEN.event, "time": SEEN.time}), "is a sample with a 1 censored"),
    ],
)
def test_bad_times_are_told(given, said):
    with pytest.raises(ValueError, match=said):
        significance(KERNELS, X, given, target="survival")
    with pytest.raises(ValueError, match=said):
        read_survival(given)


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


def test_covariates_of_a_model_are_those_of_its_test():
    frame = pd.DataFrame(np.c_[X, Z], columns=[f"x{j}" for j in range(5)] + ["age", "dose"])
    expected = significance([Linear(), Gaussian(3.0)], X, y, covariates=Z).p_value
    named = significance([Linear(), Gaussian(3.0)], frame, y, covariates=["age", "dose"])
    np.testing.assert_allclose(named.p_value, expected)  # the kernels do not see them
    assert named.covariates == ("age", "dose") and "Adjusted for age, dose." in repr(named)
    model = MKLRegressor([Linear(), Gaussian(3.0)], covariates=["age", "dose"]).fit(frame, y)
    np.testing.assert_allclose(significance(model, frame, y).p_value, expected)
    with pytest.warns(UserWarning, match="covariate age is in a kernel as well"):
        significance([OnColumns(Linear(), ["age", "x1"])], frame, y, covariates=["age"])
    beside = MKLRegressor([Linear(), Gaussian(3.0)]).fit(X, y, covariates=Z)
    np.testing.assert_allclose(significance(beside, X, y, covariates=Z).p_value, expected)
    with pytest.raises(ValueError, match="covariates are missing"):
        significance(beside, X, y)


def test_dependent_covariates_count_once():
    twice = significance(KERNELS, X, y, covariates=np.c_[Z, Z[:, 0] - 2 * Z[:, 1]])
    np.testing.assert_allclose(twice.p_value, significance(KERNELS, X, y, covariates=Z).p_value, rtol=1e-6)


# -- agreement with draws -------------------------------------------------------------------------------
@pytest.mark.parametrize("target", [y, labels, TIMES], ids=["continuous", "binary", "survival"])
@pytest.mark.parametrize("given", [{"covariates": Z}, {}, {"given": "others"}], ids=["Z", "1", "others"])
def test_score_and_draws_agree(target, given):
    score = significance(KERNELS, X, target, **given)
    drawn = significance(KERNELS, X, target, **given, method="permutation", random_state=0)
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


def test_a_classifier_says_that_numbers_are_classes():
    stages = np.arange(N) % 3
    with pytest.raises(ValueError, match="y has 3 classes"):
        significance(MKLClassifier(KERNELS).fit(X, stages), X, stages)
    assert significance(KERNELS, X, stages).p_value.size == 3


def test_that_a_view_is_absent_is_not_what_it_says():
    """Samples without a view have another mean of y; the view itself is noise."""
    lacking = np.arange(N) < 25
    data = np.where(lacking[:, None] & (np.arange(5) > 2), np.nan, X)
    kernels = views({"one": ([0, 1, 2], Linear()), "two": ([3, 4], Gaussian(2.0))})
    target = Z[:, 0] + 4.0 * lacking
    for absent in (
        significance(kernels, data, target),
        significance(MKLRegressor(kernels).fit(data, y), data, target),
    ):
        whole = significance({"two": Gaussian(2.0)}, X[25:, 3:], target[25:])
        assert absent.p_value[1] > 0.02 < whole.p_value[0]
    K = np.stack([X @ X.T, X[:, 3:] @ X[:, 3:].T], axis=2)
    K[lacking, :, 1] = K[:, lacking, 1] = np.nan
    assert significance("precomputed", K, target).p_value[1] > 0.02


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
    assert repr(part).splitlines()[1].split() == ["k11", "11", "11", "11", "1"] and "3 × sum" in repr(part)
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
@pytest.mark.parametrize("kind", ["continuous", "binary", "survival"])
@pytest.mark.parametrize("width", [0.8, 3.0])
def test_null_draws_are_uniform(kind, width):
    """Of 1,000 draws of y that no kernel knows about, about 5 % are below 0.05, with narrow kernels too."""
    draw = np.random.RandomState(1)
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    K, known = np.exp(-D / width**2), np.column_stack([np.ones(N), Z])
    low = 0
    for _ in range(1000):
        noise = draw.uniform(size=N)
        f = known @ [0.2, 0.5, 0.0]
        if kind == "continuous":
            null = linear_null(f + stats.norm.ppf(noise), known)
        elif kind == "binary":
            null = likelihood_null(Binary((noise < 1 / (1 + np.exp(-f))) * 1.0), known)
        else:
            t, c = -np.log(noise) * np.exp(-f), -1.5 * np.log(draw.uniform(size=N))
            null = likelihood_null(Cox(Survival(t <= c, np.minimum(t, c))), known)
        low += null.test(K)[1] < 0.05
    assert 0.03 < low / 1000 < 0.075


# -- bad input ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kernels": Relevance()}, "Relevance learns widths from y"),
        ({"kernels": Products(degree=3)}, "give a list"),
        ({"kernels": [MKLRegressor(KERNELS).fit(X, y).kernel_]}, "weights that a model learned from y"),
        ({"y": (np.arange(N) % 3).astype(str)}, "y has 3 classes"),
        ({"y": np.ones(N)}, "y has only one value"),
        ({"y": np.c_[y, y]}, "y has 2 outputs"),
        ({"covariates": Z[:5]}, "expected a row for each"),
        ({"covariates": np.full((N, 1), np.nan)}, "missing or infinite"),
        ({"covariates": np.random.RandomState(0).randn(N, N)}, "60 covariates and a constant leave 0 of 60"),
        ({"covariates": np.random.RandomState(0).randn(N, 90), "y": labels}, "give fewer covariates"),
        ({"covariates": np.c_[SEEN.time], "y": TIMES}, "gives the time away"),
        ({"kernels": [Linear()], "given": "others"}, "there is one kernel"),
        ({"y": np.full(N, "a")}, "only one class"),
        ({"y": 2.0 + Z @ [1.0, 3.0], "covariates": Z}, "leaves no residuals"),
        ({"y": np.c_[np.ones(N), np.ones(N)], "target": "survival"}, "leaves no residuals: .* same time"),
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


@pytest.mark.parametrize("target", [y, labels, TIMES], ids=["continuous", "binary", "survival"])
@pytest.mark.parametrize("method", ["score", "permutation"])
def test_a_kernel_that_covariates_explain_has_a_p_of_one(target, method):
    data = np.c_[X, np.ones(N), Z[:, 0]]
    kernels = {"flat": OnColumns(Linear(), [5]), "age": OnColumns(Linear(), [6]), "one": KERNELS["one"]}
    with pytest.warns(UserWarning, match="'flat', 'age': constant on these samples, or explained by"):
        found = significance(kernels, data, target, covariates=Z, method=method, random_state=0)
    assert found.p_value[:2].tolist() == [1.0, 1.0] and found.p_value[2] < 0.5


@pytest.mark.parametrize("target", [y, labels, TIMES], ids=["continuous", "binary", "survival"])
@pytest.mark.parametrize("method", ["score", "permutation"])
def test_a_kernel_to_which_no_two_samples_are_alike_has_a_p_of_one(target, method):
    found = significance("precomputed", np.eye(N)[:, :, None], target, method=method, random_state=0)
    assert found.p_value[0] == 1.0


def test_matrices_with_negative_eigenvalues_are_refused():
    K = np.stack([X @ X.T, X @ X.T - 0.5 * Z @ Z.T + 0.5 * np.eye(N) * np.sum(Z**2, axis=1)], axis=2)
    with pytest.raises(ValueError, match="'kernel 1' is not positive semi-definite"):
        significance("precomputed", K, y)


def test_strata_and_late_entries_are_risk_sets_of_their_own():
    """Against the definition event by event; without either, it is the same as sums along the time order."""
    from manykernels.inspection.risk_sets import CoxOfRiskSets, times_likelihood

    rng = np.random.RandomState(3)
    n = 25
    time, event, f = rng.randint(1, 9, n).astype(float), rng.rand(n) < 0.7, rng.randn(n)
    plain = Survival(event, time)
    assert type(times_likelihood(plain)) is Cox
    assert CoxOfRiskSets(plain).value(f) == pytest.approx(Cox(plain).value(f))
    np.testing.assert_allclose(CoxOfRiskSets(plain).expand(f).score, Cox(plain).expand(f).score, atol=1e-10)

    seen = Survival(event, time, time * rng.rand(n), rng.choice(["a", "b"], n).astype(object))
    found = times_likelihood(seen)
    value, score, W = 0.0, np.zeros(n), np.zeros((n, n))
    for i in np.flatnonzero(event):
        at_risk = (time >= time[i]) & (seen.entry < time[i]) & (seen.stratum == seen.stratum[i])
        p = np.where(at_risk, np.exp(f), 0.0)
        value += f[i] - np.log(p.sum())
        p /= p.sum()
        score += (np.arange(n) == i) - p
        W += np.diag(p) - np.outer(p, p)
    assert found.value(f) == pytest.approx(value)
    expanded = found.expand(f)
    np.testing.assert_allclose(expanded.score, score, atol=1e-10)
    np.testing.assert_allclose(expanded.root.T @ expanded.root, W, atol=1e-8)
    draws = found.draw(np.tile(f[:, None], (1, 4000)), np.random.RandomState(0))
    assert abs(draws.mean(axis=1)).max() < 0.15
    np.testing.assert_allclose(np.cov(draws), W, atol=0.2)
