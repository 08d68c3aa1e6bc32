"""Folds come off the sums of all samples: the answers are those of learning without each fold."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import KFold

from manykernels import MKLClassifier, MKLRegressor
from manykernels.approx import Nystroem
from manykernels.estimators._approx_cv import cross_validate, decisions, fold_samples, refit, search
from manykernels.estimators._approx_data import LocalSamples, read_samples
from manykernels.estimators._approx_fit import choose_features, learn
from manykernels.estimators._data import take
from manykernels.kernels import Gaussian, Linear
from manykernels.losses import Squared

X, y = load_diabetes(return_X_y=True)
X, Y = 20.0 * X, np.column_stack([y, 80.0 * np.sin(40.0 * X[:, 2])])
WEIGHT = np.random.RandomState(0).randint(1, 3, len(y)).astype(float)
KERNELS = [Gaussian(3.0), Gaussian(8.0), Linear()]
FOLD = np.random.RandomState(1).permutation(len(y)) % 4
CS, NORMS = [3.0, 0.03, 0.3], [1.0, 2.0]


def prepared(model, target, weight=None):
    read, _ = read_samples(model, X[: len(target)], target, weight)
    n = len(target)  # in the order given: read_samples merges and sorts small data
    encoded = model._encode(model._read_y(target), np.ones(n))
    samples = LocalSamples(X[:n], encoded[0], weight, None if np.all(encoded[1] == 1) else encoded[1])
    return samples, choose_features(model, read, None)


@pytest.mark.parametrize(
    "options",
    [{}, {"center": True}, {"fit_intercept": False}, {"normalize": "max"}, {"normalize": "frobenius"}],
    ids=str,
)
def test_a_path_is_learning_without_each_fold(options):
    model = MKLRegressor(KERNELS, approx=Nystroem(25), random_state=0, tol=1e-9, **options)
    samples, chosen = prepared(model, Y, WEIGHT)
    path = cross_validate(model, fold_samples(model, samples, chosen, FOLD, 4), CS, NORMS)
    assert path.gap.max() <= 1e-9 and path.weights.shape == (2, 3, 4, 1, 3)
    for i, norm in enumerate(NORMS):
        for c, C in enumerate(CS):
            one = copy(model)
            one.norm, one.C = norm, C
            inside = samples._rows(np.flatnonzero(FOLD != 2))
            fit = learn(one, inside, chosen, Squared(), None)
            held = FOLD == 2
            f = fit.features.transform(X[held]) @ fit.coef + fit.intercept
            expected = np.average((Y[held] - f) ** 2, axis=0, weights=WEIGHT[held])
            np.testing.assert_allclose(path.squared_error[i, c, 2], expected, rtol=1e-4)
            np.testing.assert_allclose(path.weights[i, c, 2], fit.theta, atol=2e-3)


def test_decisions_are_of_models_that_did_not_see_the_sample():
    model = MKLRegressor(KERNELS, approx=Nystroem(25), random_state=0, center=True)
    samples, chosen = prepared(model, Y)
    path = cross_validate(model, fold_samples(model, samples, chosen, FOLD, 4), CS, NORMS)
    errors, seen = np.zeros((4, 2, 3, 2)), np.zeros(len(y), dtype=int)
    for rows, f, values in decisions(chosen.features, path, X, FOLD, take):
        seen[rows] += 1
        assert np.all(FOLD[rows] == f)
        errors[f] += np.sum((Y[rows, None, None] - values) ** 2, axis=0) / np.sum(FOLD == f)
    np.testing.assert_array_equal(seen, 1)
    np.testing.assert_allclose(errors.transpose(1, 2, 0, 3), path.squared_error, rtol=1e-8)
    np.testing.assert_allclose(path.mean_squared_error, errors.mean(axis=(0, 3)), rtol=1e-8)


def test_a_refit_is_a_fit():
    model = MKLRegressor(KERNELS, approx=Nystroem(25), random_state=0, norm=2.0, C=0.3, tol=1e-8)
    samples, chosen = prepared(model, Y)
    again = refit(model, fold_samples(model, samples, chosen, FOLD, 4))
    once = learn(model, samples, chosen, Squared(), None)
    np.testing.assert_allclose(again.theta, once.theta, atol=1e-6)
    np.testing.assert_allclose(again.coef, once.coef, atol=1e-5 * np.abs(once.coef).max())


@pytest.mark.parametrize("multi_class", ["shared", "ovr"])
def test_classes_and_their_costs(multi_class):
    A, labels = load_iris(return_X_y=True)
    model = MKLClassifier(KERNELS, loss="squared", approx=Nystroem(25), random_state=0, norm=2.0)
    model.set_params(multi_class=multi_class, class_weight={0: 1.0, 1: 3.0, 2: 1.0})
    model.classes_ = np.unique(labels)
    targets, costs = model._encode(labels, np.ones(150))
    samples = LocalSamples(A, targets, None, costs)
    chosen, fold = choose_features(model, samples, None), np.arange(150) % 5
    path = cross_validate(model, fold_samples(model, samples, chosen, fold, 5), [0.1, 1.0], [2.0])
    assert path.weights.shape == (1, 2, 5, 1 if multi_class == "shared" else 3, 3)
    right = np.zeros((1, 2))
    for rows, _, values in decisions(chosen.features, path, A, fold, take):
        right += np.mean(values.argmax(axis=3) == labels[rows, None, None], axis=0) / 5
    assert np.all(right > 0.85)


def test_a_search_is_a_pass_over_folds_and_a_refit():
    model = MKLRegressor(KERNELS, approx=Nystroem(25), random_state=0, tol=1e-6)
    weight = np.where(np.arange(len(y)) % 7 == 0, 0.0, WEIGHT)  # rows of weight zero count nowhere
    tests = [rows for _, rows in KFold(4, shuffle=True, random_state=0).split(X)]
    data, path = search(model, X, Y, weight, tests, CS, NORMS)
    assert path.squared_error.shape == (2, 3, 4, 2)
    inside = np.setdiff1d(np.flatnonzero(weight), tests[1])
    one = copy(model).set_params(C=CS[0], norm=NORMS[1])
    fit = learn(one, LocalSamples(X[inside], Y[inside], weight[inside], None), data.chosen, Squared(), None)
    f = fit.features.transform(X[tests[1]]) @ fit.coef + fit.intercept
    expected = np.average((Y[tests[1]] - f) ** 2, axis=0, weights=weight[tests[1]])
    np.testing.assert_allclose(path.squared_error[1, 0, 1], expected, rtol=1e-3)
    model.set_params(C=CS[0], norm=NORMS[1])._store_features(refit(model, data))
    assert model.predict(X).shape == Y.shape and model.score(X, Y) > 0.5
    with pytest.raises(ValueError, match="every sample exactly once"):
        search(model, X, Y, None, tests[:3], CS, NORMS)


def test_folds_must_fit():
    model = MKLRegressor(KERNELS, approx=Nystroem(25), random_state=0)
    samples, chosen = prepared(model, Y)
    with pytest.raises(ValueError, match="expected at least 2 folds, and one for each of the 442"):
        fold_samples(model, samples, chosen, FOLD[:9], 4)
    with pytest.raises(ValueError, match="fold 4 of 5 holds no sample"):
        fold_samples(model, samples, chosen, FOLD, 5)
