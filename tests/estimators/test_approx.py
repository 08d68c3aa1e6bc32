"""Learning with explicit features: the exact answers where features are exact, and the same promises."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from manykernels import (
    AlignMKLClassifier,
    KernelAligner,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    UFOMKLClassifier,
)
from manykernels.approx import Nystroem, OwnFeatures, RandomFeatures
from manykernels.families import Products, gaussian_grid, rank_one, resolve_kernels
from manykernels.kernels import (
    Callable,
    Constant,
    Gaussian,
    Linear,
    OnColumns,
    Polynomial,
    Preparation,
    Prepared,
)
from manykernels.penalties import L2Ball

X, y = (part[:150] for part in load_diabetes(return_X_y=True))
X = 20.0 * X
X_new = np.random.RandomState(1).randn(17, 10)
X_iris, y_iris = load_iris(return_X_y=True)
KERNELS = {"narrow": Gaussian(2.0), "wide": Gaussian(6.0), "linear": Linear(), "x2": OnColumns(Linear(), 2)}
ALL = Nystroem(10_000, "uniform")


def quietly(model, *data, **options):
    """Fit, without the warning that all rows are landmarks."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "n_components=.* is more than", UserWarning)
        return model.fit(*data, **options)


@pytest.mark.parametrize("norm", [1.0, 2.0, np.inf, L2Ball(0.2, 1.0)], ids=str)
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_all_points_as_landmarks_give_the_exact_method(norm, center, fit_intercept):
    options = {"norm": norm, "center": center, "fit_intercept": fit_intercept, "tol": 1e-9}
    options["solver"] = (
        "active-set"  # for both, since answers of two solvers agree only as far as the gap says
    )
    exact = MKLRegressor(KERNELS, **options).fit(X, y)
    model = quietly(MKLRegressor(KERNELS, approx=ALL, **options), X, y)
    np.testing.assert_allclose(model.weights_, exact.weights_, atol=1e-6)
    np.testing.assert_allclose(model.predict(X_new), exact.predict(X_new), rtol=1e-6)
    np.testing.assert_allclose(model.contributions(X_new), exact.contributions(X_new), rtol=1e-5, atol=1e-5)
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-8)
    assert model.dual_gap_ <= 1e-9 and model.certified_


@pytest.mark.parametrize("normalize", ["trace", "max", "cosine", "frobenius", None])
def test_all_points_with_every_normalisation_and_weights(normalize):
    weight = np.random.RandomState(2).randint(0, 4, len(y)).astype(float)
    kernels = [Gaussian(3.0), Polynomial(2)]
    options = {"norm": 2.0, "normalize": normalize, "tol": 1e-9, "C": 0.5}
    exact = MKLRegressor(kernels, **options).fit(X, y, weight)
    model = quietly(MKLRegressor(kernels, approx=ALL, **options), X, y, sample_weight=weight)
    np.testing.assert_allclose(model.weights_, exact.weights_, atol=1e-6)
    np.testing.assert_allclose(model.predict(X_new), exact.predict(X_new), rtol=1e-5)


@pytest.mark.parametrize("multi_class", ["shared", "ovr"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 1: 0.5}])
def test_least_squares_classification(multi_class, class_weight):
    some = np.r_[0:150:2, 1:50:2]
    data = X_iris[some], y_iris[some]
    options = {"loss": "squared", "norm": 2.0, "tol": 1e-9, "multi_class": multi_class}
    options["class_weight"] = class_weight
    exact = MKLClassifier(**options).fit(*data)
    model = quietly(MKLClassifier(approx=ALL, **options), *data)
    np.testing.assert_allclose(model.weights_, exact.weights_, atol=1e-6)
    found, expected = model.decision_function(X_iris), exact.decision_function(X_iris)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert model.score(X_iris, y_iris) > 0.9


@pytest.mark.parametrize("approx", [Nystroem(8), RandomFeatures(20), "features"], ids=str)
def test_few_features_are_solved_to_the_gap(approx):
    """Fewer features than samples: sums instead of samples; the objective is that of the returned model."""
    kernels = [Linear(), OnColumns(Linear(), [1, 2])] if approx == "features" else [Linear(), Gaussian(3.0)]
    model = MKLRegressor(kernels, approx=approx, norm=1.5, tol=1e-8, C=2.0, random_state=0).fit(X, y)
    assert model.features_.n_features < len(y) and model.dual_gap_ <= 1e-8
    f = model.features_.transform(X) @ model.feature_coef_ + model.intercept_
    np.testing.assert_allclose(model.predict(X), f)
    ptr, scale = model.features_.ptr, np.array([kernel.scale_ for kernel in model.kernels_])
    norms = np.add.reduceat(model.feature_coef_**2, ptr[:-1]) / scale
    primal = 0.5 * np.sum(norms / model.weights_) + 0.5 * 2.0 * np.sum((y - f) ** 2)
    assert model.objective_ == pytest.approx(primal, rel=1e-7)
    # stationary in the coefficients: w/θs + CΦᵀ(f − y) = 0
    gradient = model.feature_coef_ / np.repeat(model.weights_ * scale, np.diff(ptr))
    gradient += 2.0 * model.features_.transform(X).T @ (f - y)
    size = 2.0 * np.abs(model.features_.transform(X).T @ (y - y.mean())).max()
    np.testing.assert_allclose(gradient, 0.0, atol=1e-6 * size)
    assert np.sum(f - y) == pytest.approx(0.0, abs=1e-6)


def test_sums_and_samples_agree(monkeypatch):
    """The road for fewer samples than features, and the one for more."""
    model = quietly(MKLRegressor(KERNELS, approx=ALL, tol=1e-9, center=True), X, y)
    monkeypatch.setattr("manykernels.fitting.featured.Samples", type(None))  # as if elsewhere
    sums = quietly(clone(model), X, y)
    np.testing.assert_allclose(sums.weights_, model.weights_, atol=1e-7)
    np.testing.assert_allclose(sums.predict(X_new), model.predict(X_new), rtol=1e-7)


def test_many_samples_are_not_merged_and_answers_are_the_same(monkeypatch):
    twice = np.r_[X, X[:40]], np.r_[y, y[:40]]
    weight = np.r_[np.full(40, 2.0), np.ones(110)]
    merged = MKLRegressor(KERNELS, approx=Nystroem(20), random_state=0).fit(*twice)
    weighted = MKLRegressor(KERNELS, approx=Nystroem(20), random_state=0).fit(X, y, weight)
    np.testing.assert_allclose(merged.feature_coef_, weighted.feature_coef_, rtol=1e-7)
    monkeypatch.setattr("manykernels.fitting.lazy.MERGED", 0)
    apart = quietly(MKLRegressor(KERNELS, approx=ALL, tol=1e-8), *twice)
    exact = MKLRegressor(KERNELS, tol=1e-8).fit(*twice)
    np.testing.assert_allclose(apart.predict(X_new), exact.predict(X_new), rtol=1e-6)


def test_a_model_keeps_no_samples_and_pickles():
    model = MKLRegressor(KERNELS, approx=Nystroem(10), random_state=0).fit(X, y)
    assert not hasattr(model, "X_fit_") and not hasattr(model, "dual_coef_")
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X_new), model.predict(X_new))
    parts = model.contributions(X_new)
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, model.predict(X_new))
    assert set(model.view_weights_) == set(KERNELS)
    assert not hasattr(model, "coef_")
    exact = model.set_params(approx=None).fit(X, y)
    assert hasattr(exact, "dual_coef_") and not hasattr(exact, "feature_coef_")
    assert not hasattr(exact.set_params(approx=Nystroem(10)).fit(X, y), "dual_coef_")


def test_outputs_keep_their_axis():
    two = MKLRegressor(approx=Nystroem(10), random_state=0).fit(X, np.column_stack([y, X[:, 2]]))
    one = MKLRegressor(approx=Nystroem(10), random_state=0).fit(X, y[:, None])
    assert two.predict(X_new).shape == (17, 2) and two.feature_coef_.ndim == 2
    assert one.predict(X_new).shape == (17, 1) and one.intercept_.shape == (1,)


def test_warm_starts_are_from_the_last_weights():
    model = MKLRegressor(gaussian_grid(1.0, 10.0, 8), approx=Nystroem(20), norm=2.0, tol=1e-6, random_state=0)
    cold = clone(model).fit(X, y)
    warm = model.set_params(warm_start=True).fit(X, y).fit(X, y)
    assert warm.n_iter_ < cold.n_iter_
    np.testing.assert_allclose(warm.predict(X), cold.predict(X), rtol=1e-2)


def test_searches_over_parts_of_the_approximation():
    search = GridSearchCV(
        MKLRegressor(approx=Nystroem(5), random_state=0),
        {"approx__n_components": [5, 20], "C": [0.1, 1.0]},
        cv=3,
    )
    assert search.fit(X, y).best_params_["approx__n_components"] == 20


def test_useless_kernels_get_no_weight_and_a_warning():
    kernels = {"good": Gaussian(3.0), "same": Constant(1.0)}
    with pytest.warns(
        UserWarning, match="kernel 'same' is constant .* adds nothing beside the intercept: weight zero"
    ):
        model = MKLRegressor(kernels, approx=Nystroem(20), random_state=0, norm=2.0).fit(X, y)
    assert model.weights_[1] == 0.0 and model.weights_[0] > 0.0
    with pytest.warns(UserWarning, match="kernel 'same' is zero"):
        MKLRegressor(kernels, approx=Nystroem(20), random_state=0, center=True).fit(X, y)
    with pytest.raises(ValueError, match="nothing to learn from"):
        MKLRegressor([Constant(0.0)], approx="features").fit(X, y)
    with pytest.warns(UserWarning, match="are the same; at norm=1"):
        MKLRegressor([Gaussian(2.0), Gaussian(2.0)], approx=Nystroem(9), random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"approx": "nystrom"}, "approx='nystrom' is unknown"),
        ({"approx": Nystroem(0)}, "n_components=0 was given"),
        ({"approx": RandomFeatures(10), "kernels": [Polynomial(2)]}, r"Polynomial.* has no random features"),
        ({"approx": "features", "kernels": [Gaussian(1.0)]}, "no finite feature map"),
        ({"kernels": Products()}, "more kernels than can be listed"),
        ({"center": True, "normalize": "max"}, "normalize='max' .*center=True and approx"),
        ({"center": True, "normalize": "cosine"}, "normalize='cosine' .*center=True and approx"),
        ({"kernels": [Callable(lambda A, B: np.tanh(A @ B.T - 1))]}, "not positive semidefinite"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        MKLRegressor(**{"approx": Nystroem(10), **options}).fit(X, y)


def test_bad_input():
    model = MKLRegressor(approx=Nystroem(10))
    with pytest.raises(MemoryError, match=r"1000 features in all need at least .*fewer components"):
        MKLRegressor(gaussian_grid(1, 9, 10), approx=Nystroem(100), memory_limit="1MB").fit(X, y)
    with pytest.raises(ValueError, match="contains NaN"):
        model.set_params(kernels=[Gaussian(2.0)]).fit(np.where(X == X[3, 3], np.nan, X), y)
    with pytest.raises(ValueError, match="stack of matrices"):
        MKLRegressor("precomputed", approx=Nystroem(10)).fit(np.ones((5, 5, 1)), y[:5])
    with pytest.warns(UserWarning, match="more than the 150 rows"):
        MKLRegressor(approx=Nystroem(200)).fit(X, y)
    with pytest.raises(ValueError, match=r"frobenius' .*class_weight"):
        options = {"loss": "squared", "class_weight": "balanced", "normalize": "frobenius"}
        MKLClassifier(approx=Nystroem(10), **options).fit(X_iris[:70], y_iris[:70])


def test_memory_mapped_samples(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    a, b = (MKLRegressor(KERNELS, approx=Nystroem(20), random_state=0).fit(A, y) for A in (mapped, X))
    np.testing.assert_array_equal(a.feature_coef_, b.feature_coef_)


def test_rank_one_families_use_their_columns():
    model = MKLRegressor(rank_one(), approx="features", tol=1e-8).fit(X, y)
    exact = MKLRegressor(rank_one(), tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.weights_, exact.weights_, atol=1e-5)


def test_progress_is_shown(capfd):
    MKLRegressor(KERNELS, approx=Nystroem(10), random_state=0, verbose=1).fit(X, y)
    assert "150" in capfd.readouterr().err


@pytest.mark.filterwarnings("ignore:n_components=.* is more than:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        MKLRegressor(approx=Nystroem(20), random_state=0),
        MKLClassifier(loss="squared", approx=Nystroem(20), random_state=0),
        MKLRegressor(gaussian_grid(1, 9, 3), approx=RandomFeatures(20), center=True, random_state=0),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_accuracy_is_that_of_exact_kernels():
    A, labels = make_classification(400, 6, n_informative=4, random_state=0)
    options = {"loss": "squared", "norm": 2.0}
    exact = MKLClassifier(**options).fit(A[:200], labels[:200]).score(A[200:], labels[200:])
    model = MKLClassifier(approx=Nystroem(60), random_state=0, **options).fit(A[:200], labels[:200])
    assert model.score(A[200:], labels[200:]) > exact - 0.03


@pytest.mark.parametrize("approx", [RandomFeatures(64), OwnFeatures()], ids=repr)
@pytest.mark.parametrize(
    "estimator", [MKLClassifier, AlignMKLClassifier, UFOMKLClassifier, MKLClassifierCV, KernelAligner]
)
def test_auto_offers_what_the_approximation_serves(estimator, approx):
    """A polynomial has no random features; Gaussians of scaled and heavy-tailed columns have."""
    X = np.random.RandomState(0).standard_t(2, (80, 3))
    y = X[:, 0] > np.abs(X[:, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = estimator(approx=approx).fit(X, y)
    every = list(resolve_kernels("auto", X))
    left = [name for name in every if "Polynomial" not in name]
    assert "Gaussian(1 × median, normal scores)" in left and len(left) == len(every) - 1
    left = left if isinstance(approx, RandomFeatures) else ["Linear"]
    found = set(model.kernel_names_)  # a search may have chosen some of them
    assert found <= set(left) if estimator is MKLClassifierCV else list(model.kernel_names_) == left


def test_random_features_of_prepared_columns_are_those_of_the_columns():
    X = np.random.RandomState(0).standard_t(2, (60, 3)) * [1.0, 100.0, 0.01]
    prepared = Preparation().fit(X)
    kernels = [Prepared(Gaussian(2.0), prepared, part) for part in ("scaled", "scores", "both")]
    kernels.append(Prepared(OnColumns(Gaussian(2.0), [1]), prepared))
    found = RandomFeatures(64).fit(kernels, X, rng=np.random.RandomState(0))
    Phi = found.transform(X)
    for m, kernel in enumerate(kernels):
        columns = kernel._select(X)[:, [1]] if m == 3 else kernel._select(X)
        alone = RandomFeatures(4000).fit([kernel], X, rng=np.random.RandomState(1)).transform(X)
        assert np.abs(alone @ alone.T - Gaussian(2.0)(columns)).max() < 0.1
        one = Phi[:, found.ptr[m] : found.ptr[m + 1]]
        assert np.allclose(np.sum(one * one, axis=1), 1.0)


def test_auto_on_text_says_what_serves_it():
    with pytest.raises(ValueError, match=r"'auto', and it has no features for any .*Spectrum.*Nystroem"):
        texts = pd.DataFrame({"text": [f"said number {i} in words" for i in range(60)]})
        MKLClassifier(approx=RandomFeatures(16)).fit(texts, np.arange(60) % 2)
