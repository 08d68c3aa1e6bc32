"""Folds come off the sums of all samples: the answers are those of learning without each fold."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import KFold

from manykernels import MKLClassifier, MKLRegressor
from manykernels.approx import Nystroem
from manykernels.fitting.bound import solve
from manykernels.fitting.featured import feature_problem, map_kernels, sums_of
from manykernels.fitting.samples import read
from manykernels.kernels import Gaussian, Linear
from manykernels.penalties import resolve_penalty
from manykernels.selection.sums import cross_validate, decisions, fold_sums, sums_of_folds
from manykernels.solvers import ActiveSet

X, y = load_diabetes(return_X_y=True)
X, Y = 20.0 * X, np.column_stack([y, 80.0 * np.sin(40.0 * X[:, 2])])
WEIGHT = np.random.RandomState(0).randint(1, 3, len(y)).astype(float)
KERNELS = [Gaussian(3.0), Gaussian(8.0), Linear()]
FOLD = np.random.RandomState(1).permutation(len(y)) % 4
CS, NORMS = [3.0, 0.03, 0.3], [1.0, 2.0]


def prepared(model, data, target, weight=None):
    """Options, samples in the order given, and the kernels as features of merged samples."""
    options = model._options()
    given = read(options, data, target, weight, model._target())
    return options, given, map_kernels(options, given.samples())


def learn(options, samples, mapped):
    """One fit with known features."""
    bound = feature_problem(options, samples, ActiveSet(), mapped, sums_of(options, samples, mapped))
    return bound.model(options, [solve(options, bound, g) for g in options.groups(bound.Y.shape[1])])


@pytest.mark.parametrize(
    "options",
    [{}, {"center": True}, {"fit_intercept": False}, {"normalize": "max"}, {"normalize": "frobenius"}],
    ids=str,
)
def test_a_path_is_learning_without_each_fold(options):
    model = MKLRegressor(KERNELS, approx=Nystroem(25), random_state=0, tol=1e-9, **options)
    options, given, mapped = prepared(model, X, Y, WEIGHT)
    path = cross_validate(sums_of_folds(options, given.in_place(), mapped, FOLD, 4), CS, NORMS)
    assert path.gap.max() <= 1e-9 and path.weights.shape == (2, 3, 4, 1, 3)
    inside, held = given.part(np.flatnonzero(FOLD != 2)).in_place(), FOLD == 2
    for i, norm in enumerate(NORMS):
        for c, C in enumerate(CS):
            fit = learn(options.replace(penalty=resolve_penalty(norm), C=C), inside, mapped)
            expected = np.average((Y[held] - fit.decide(X[held])) ** 2, axis=0, weights=WEIGHT[held])
            np.testing.assert_allclose(path.squared_error[i, c, 2], expected, rtol=1e-4)
            np.testing.assert_allclose(path.weights[i, c, 2], [fit.weights], atol=2e-3)


def test_decisions_are_of_models_that_did_not_see_the_sample():
    model = MKLRegressor(KERNELS, approx=Nystroem(25), random_state=0, center=True)
    options, given, mapped = prepared(model, X, Y)
    path = cross_validate(sums_of_folds(options, given.in_place(), mapped, FOLD, 4), CS, NORMS)
    errors, seen = np.zeros((4, 2, 3, 2)), np.zeros(len(y), dtype=int)
    for rows, f, values in decisions(mapped.features, path, X, FOLD):
        seen[rows] += 1
        assert np.all(FOLD[rows] == f)
        errors[f] += np.sum((Y[rows, None, None] - values) ** 2, axis=0) / np.sum(FOLD == f)
    np.testing.assert_array_equal(seen, 1)
    np.testing.assert_allclose(errors.transpose(1, 2, 0, 3), path.squared_error, rtol=1e-8)
    np.testing.assert_allclose(path.mean_squared_error, errors.mean(axis=(0, 3)), rtol=1e-8)


def test_a_refit_is_a_fit():
    model = MKLRegressor(KERNELS, approx=Nystroem(25), random_state=0, norm=2.0, C=0.3, tol=1e-8)
    options, given, mapped = prepared(model, X, Y)
    again = sums_of_folds(options, given.in_place(), mapped, FOLD, 4).refit(2.0, 0.3)
    once = learn(options, given.in_place(), mapped)
    coef = once.function.coefficients
    np.testing.assert_allclose(again.weights, once.weights, atol=1e-6)
    np.testing.assert_allclose(again.function.coefficients, coef, atol=1e-5 * np.abs(coef).max())


@pytest.mark.parametrize("multi_class", ["shared", "ovr"])
def test_classes_and_their_costs(multi_class):
    A, labels = load_iris(return_X_y=True)
    model = MKLClassifier(KERNELS, loss="squared", approx=Nystroem(25), random_state=0, norm=2.0)
    model.set_params(multi_class=multi_class, class_weight={0: 1.0, 1: 3.0, 2: 1.0})
    options, given, mapped = prepared(model, A, labels)
    fold = np.arange(150) % 5
    path = cross_validate(sums_of_folds(options, given.in_place(), mapped, fold, 5), [0.1, 1.0], [2.0])
    assert path.weights.shape == (1, 2, 5, 1 if multi_class == "shared" else 3, 3)
    right = np.zeros((1, 2))
    for rows, _, values in decisions(mapped.features, path, A, fold):
        right += np.mean(values.argmax(axis=3) == labels[rows, None, None], axis=0) / 5
    assert np.all(right > 0.85)


def test_a_search_is_a_pass_over_folds_and_a_refit():
    model = MKLRegressor(KERNELS, approx=Nystroem(25), random_state=0, tol=1e-6)
    weight = np.where(np.arange(len(y)) % 7 == 0, 0.0, WEIGHT)  # rows of weight zero count nowhere
    tests = [rows for _, rows in KFold(4, shuffle=True, random_state=0).split(X)]
    options = model._options()
    samples = read(options, X, Y, weight, model._target()).in_place()
    sums = fold_sums(options, samples, tests)
    path = cross_validate(sums, CS, NORMS)
    assert path.squared_error.shape == (2, 3, 4, 2)
    inside = np.setdiff1d(np.flatnonzero(weight), tests[1])
    one = clone(model).set_params(C=CS[0], norm=NORMS[1])._options()
    part = read(options, X[inside], Y[inside], weight[inside], model._target()).in_place()
    f = learn(one, part, sums.mapped).decide(X[tests[1]])
    expected = np.average((Y[tests[1]] - f) ** 2, axis=0, weights=weight[tests[1]])
    np.testing.assert_allclose(path.squared_error[1, 0, 1], expected, rtol=1e-3)
    model._publish(sums.refit(NORMS[1], CS[0]))
    assert model.predict(X).shape == Y.shape and model.score(X, Y) > 0.5
    with pytest.raises(ValueError, match="every sample exactly once"):
        fold_sums(options, samples, tests[:3])


def test_folds_must_fit():
    model = MKLRegressor(KERNELS, approx=Nystroem(25), random_state=0)
    options, given, mapped = prepared(model, X, Y)
    with pytest.raises(ValueError, match="expected at least 2 folds, and one for each of the 442"):
        sums_of_folds(options, given.in_place(), mapped, FOLD[:9], 4)
    with pytest.raises(ValueError, match="fold 4 of 5 holds no sample"):
        sums_of_folds(options, given.in_place(), mapped, FOLD, 5)
