"""Weights over resamples."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from manykernels import (
    AlignMKLRegressor,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    UFOMKLRegressor,
)
from manykernels.approx import Nystroem
from manykernels.estimators import same_trade_off
from manykernels.families import Products, views
from manykernels.inspection import weight_stability
from manykernels.kernels import Gaussian, Linear, OnColumns

rng = np.random.RandomState(0)
X = rng.randn(80, 4)
y = X[:, 0] + 0.1 * rng.randn(80)
KERNELS = {
    "right": OnColumns(Linear(), [0]),
    "wrong": OnColumns(Linear(), [1]),
    "other": OnColumns(Linear(), [2]),
}


class Recorder(MKLRegressor):
    """Remembers which samples it was given."""

    seen: ClassVar[list] = []

    def fit(self, X, y):
        self.seen.append(set(X[:, 3]))
        return super().fit(X, y)


@pytest.mark.parametrize("method", ["bootstrap", "subsample"])
def test_groups_of_samples_are_drawn_whole(method):
    groups = np.arange(80) // 8
    table = np.c_[X[:, :3], np.arange(80.0)]
    Recorder.seen.clear()
    weight_stability(Recorder(KERNELS), table, y, method=method, n_resamples=3, sample_groups=groups)
    for samples in Recorder.seen:
        drawn = {int(i) // 8 for i in samples}
        assert len(samples) == 8 * len(drawn) < 80
    search = MKLRegressorCV(KERNELS, strategy="finite", norms=[1.0], Cs=[1.0], cv=GroupKFold(3))
    found = weight_stability(search, X, y, n_resamples=2, sample_groups=groups, random_state=0)
    assert "right" in found.names
    with pytest.raises(ValueError, match="by groups of samples, and none were given"):
        weight_stability(search, X, y, n_resamples=2)
    with pytest.raises(ValueError, match="a label for each of 80 samples"):
        weight_stability(search, X, y, n_resamples=2, sample_groups=groups[:5])


@pytest.mark.parametrize("method", ["bootstrap", "subsample"])
def test_tells_what_is_always_chosen(method):
    model = MKLRegressor(KERNELS, C=1.0)
    found = weight_stability(model, X, y, method=method, n_resamples=20, random_state=0)
    assert found.names == list(KERNELS) and found.weights.shape == (20, 3) and found.views is None
    assert found.frequency[0] == 1.0 and found.mean[0] > 0.8 and found.frequency[1:].max() < 1.0
    assert np.all(found.low <= found.mean + 1e-12) and np.all(found.mean <= found.high + 1e-12)
    np.testing.assert_allclose(found.mean, found.weights.mean(axis=0))
    assert list(found.columns()) == ["name", "mean", "low", "high", "frequency"]


def test_the_bootstrap_is_that_of_scikit_learn_style_resampling():
    found = weight_stability(
        MKLRegressor(KERNELS, tol=1e-6), X, y, method="bootstrap", n_resamples=2, random_state=3
    )
    draw = np.random.RandomState(3)
    for weights in found.weights:
        rows = np.sort(draw.choice(np.arange(80), 80))
        again = MKLRegressor(KERNELS, tol=1e-6).fit(X[rows], y[rows])
        np.testing.assert_allclose(weights, again.weights_, atol=1e-12)


@pytest.mark.parametrize("fraction", [0.25, 0.5])
def test_fewer_samples_have_the_trade_off_of_all(fraction):
    """C Σ ℓ is C n times a mean, so that a share of the samples needs as much more C."""
    options = {"norm": 2.0, "tol": 1e-6}
    found = weight_stability(
        MKLRegressor(KERNELS, C=0.02, **options), X, y, n_resamples=2, fraction=fraction, random_state=3
    )
    draw = np.random.RandomState(3)
    for weights in found.weights:
        rows = np.sort(draw.permutation(np.arange(80))[: round(80 * fraction)])
        again = MKLRegressor(KERNELS, C=0.02 / fraction, **options).fit(X[rows], y[rows])
        np.testing.assert_allclose(weights, again.weights_, atol=1e-12)


def test_twins_of_all_samples_have_the_same_weights():
    """Half of a table in which every sample is there twice is all of it."""
    twice, target = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    model = MKLRegressor(KERNELS, C=0.02, norm=2.0, tol=1e-8)
    half = clone(model).set_params(**same_trade_off(model.get_params(), 0.5))
    np.testing.assert_allclose(half.fit(X, y).weights_, model.fit(twice, target).weights_, atol=1e-6)


def test_online_learning_takes_as_many_steps_on_fewer_samples():
    model = UFOMKLRegressor(KERNELS, epochs=3)
    model.set_params(**same_trade_off(model.get_params(), 0.5))
    assert model.epochs == 6
    assert model.fit(X[::2], y[::2]).t_ == UFOMKLRegressor(KERNELS, epochs=3).fit(X, y).t_


def test_views_and_processes():
    model = MKLRegressor(views({"a": [0, 1], "b": [2, 3]}), norm=1.0)
    found = weight_stability(model, X, y, n_resamples=6, random_state=0)
    assert found.views.names == ["a", "b"]
    np.testing.assert_allclose(found.views.weights.sum(axis=1), found.weights.sum(axis=1))
    assert found.views.mean[0] > found.views.mean[1]
    again = weight_stability(model, X, y, n_resamples=6, random_state=0, n_jobs=2)
    np.testing.assert_allclose(again.weights, found.weights)


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (MKLClassifier(KERNELS, multi_class="ovr"), np.digitize(y, [-0.5, 0.5])),
        (AlignMKLRegressor(KERNELS), y),
        (UFOMKLRegressor(KERNELS), y),
        (MKLRegressor(Products(degree=2), solver="corrective"), y),
        (MKLClassifierCV(KERNELS, Cs=[1.0], cv=2).fit(X, y > 0), y > 0),
    ],
)
def test_every_kind_of_model(model, target):
    found = weight_stability(model, X, target, n_resamples=3, random_state=0)
    assert found.frequency.max() == 1.0 and np.all(found.weights >= 0.0)


def test_stacks():
    K = np.stack([Linear()(X[:, [0]]), Gaussian(1.0)(X)], axis=2)
    found = weight_stability(MKLRegressor("precomputed"), K, y, n_resamples=3, random_state=0)
    assert found.names == ["kernel 0", "kernel 1"] and found.frequency[0] == 1.0


# -- searches ---------------------------------------------------------------------------------------
NEAR = rng.randn(80, 3)
SHARED = NEAR[:, 0] + NEAR[:, 1] + 0.3 * rng.randn(80)  # of which either column says half
HALVES = {f"only {j}": OnColumns(Linear(), [j]) for j in range(3)}


def search_of(**options):
    """One that tries single kernels only, of which two are about equally good, and one is worthless."""
    alone = [MKLRegressor({name: kernel}) for name, kernel in HALVES.items()]
    return MKLRegressorCV(HALVES, strategy=alone, Cs=[0.1, 1.0], cv=5, **options)


def test_finalists_are_what_the_folds_cannot_tell_from_the_best():
    search = search_of().fit(NEAR, SHARED)
    table = search.finalists_
    assert {key: table[key][0] for key in search.best_params_} == search.best_params_
    assert sorted(table["strategy"]) == ["MKLRegressor", "MKLRegressor (2)"]  # of three
    assert table["behind"][0] == table["error"][0] == 0.0
    assert 0.0 <= table["behind"][1] <= 2.0 * table["error"][1]


def test_a_search_chooses_anew_in_each_resample():
    search = search_of().fit(NEAR, SHARED)
    found = weight_stability(search, NEAR, SHARED, n_resamples=12, random_state=0)
    assert sum(found.choices.values()) == 12 and min(found.choices.values()) > 0
    assert sorted(found.names) == ["only 0", "only 1"] and np.all(found.frequency < 1.0)
    np.testing.assert_allclose(found.weights.sum(axis=1), 1.0)
    draw = np.random.RandomState(0)
    for weights in found.weights:
        rows = np.sort(draw.permutation(80)[:40])
        rest = np.setdiff1d(np.arange(80), rows)
        errors = []
        for name in found.names:
            C = dict(zip(search.finalists_["strategy"], search.finalists_["C"], strict=True))
            strategy = "MKLRegressor" if name == "only 0" else "MKLRegressor (2)"
            one = MKLRegressor({name: HALVES[name]}, C=2.0 * C[strategy]).fit(NEAR[rows], SHARED[rows])
            errors.append(np.mean((one.predict(NEAR[rest]) - SHARED[rest]) ** 2))
        assert weights.argmax() == int(np.argmin(errors))


def test_a_search_that_is_not_fitted_is():
    fitted = weight_stability(search_of().fit(NEAR, SHARED), NEAR, SHARED, n_resamples=3, random_state=0)
    search = search_of()
    found = weight_stability(search, NEAR, SHARED, n_resamples=3, random_state=0)
    np.testing.assert_array_equal(found.weights, fitted.weights)
    assert found.choices == fitted.choices and not hasattr(search, "comparison_")


def test_the_choice_is_not_repeated_unless_asked():
    search = search_of().fit(NEAR, SHARED)
    found = weight_stability(search, NEAR, SHARED, n_resamples=3, random_state=0, searched="before")
    assert found.choices is None and np.all(found.frequency == 1.0)
    assert weight_stability(MKLRegressor(HALVES), NEAR, SHARED, n_resamples=2).choices is None


@pytest.mark.parametrize(
    "options",
    [
        {"scoring": "accuracy"},
        {"class_weight": "balanced"},
        {"strategy": ["finite", "aligned", SVC()]},
        {"cv": "loo", "norms": [1.0]},
        {"approx": Nystroem(10), "random_state": 0},
    ],
)
def test_choices_of_every_kind_of_search(options):
    kernels = [Linear(), Gaussian(2.0)]
    search = MKLClassifierCV(kernels, **{"Cs": [0.1, 1.0], "cv": 3, **options}).fit(NEAR, SHARED > 0)
    found = weight_stability(search, NEAR, SHARED > 0, n_resamples=3, random_state=0)
    assert sum(found.choices.values()) == 3 and len(found.choices) <= 6


def test_choices_among_views_of_a_dict():
    parts = {"a": NEAR[:, :2], "b": NEAR[:, 2:]}
    found = weight_stability(MKLRegressorCV(Cs=[1.0], cv=3), parts, SHARED, n_resamples=3, random_state=0)
    assert sum(found.choices.values()) == 3 and "a" in found.views.names


def test_choices_among_layers_of_a_stack():
    K = np.stack([kernel(NEAR) for kernel in HALVES.values()], axis=2)
    search = MKLRegressorCV("precomputed", Cs=[1.0], cv=3).fit(K, SHARED)
    found = weight_stability(search, K, SHARED, n_resamples=3, method="bootstrap", random_state=0)
    assert sum(found.choices.values()) == 3 and found.weights.shape[0] == 3


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (MKLRegressor(), {"method": "jackknife"}, "method='jackknife'"),
        (MKLRegressor(), {"n_resamples": 1}, "n_resamples=1"),
        (MKLRegressor(), {"fraction": 1.5}, "fraction=1.5"),
        (MKLRegressor(), {"level": 0}, "level=0"),
        (MKLClassifierCV(), {"searched": "never"}, "searched='never'"),
        (SVC(), {}, "no weights_"),
    ],
)
def test_bad_input(model, options, message):
    target = y > 0 if "Class" in type(model).__name__ or isinstance(model, SVC) else y
    with pytest.raises(ValueError, match=message):
        weight_stability(model, X, target, **options)


def test_the_last_step_of_a_pipeline_is_learned_anew():
    rng = np.random.RandomState(0)
    X_raw, y_raw = 100.0 * rng.randn(40, 3), rng.randint(0, 2, 40)
    model, how = MKLClassifier({"a": Gaussian(2.0), "b": Linear()}), {"n_resamples": 3, "random_state": 0}
    scaled = StandardScaler().fit_transform(X_raw)
    expected = weight_stability(model, scaled, y_raw, **how)
    for pipe in (
        make_pipeline(StandardScaler(), model),
        make_pipeline(StandardScaler(), model).fit(X_raw, y_raw),
    ):
        found = weight_stability(pipe, X_raw, y_raw, **how)
        assert found.names == expected.names
        np.testing.assert_allclose(found.weights, expected.weights, atol=1e-6)
