"""Two-stage learning over continua of kernels."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from manykernels import AlignMKLClassifier, AlignMKLRegressor, KernelAligner
from manykernels.families import ARDGaussians, Dirichlets, Gaussians, Products
from manykernels.measures import centered_alignment
from manykernels.weightings import GreedyAlignment

rng = np.random.RandomState(0)
X = rng.randn(80, 3)
y = np.sign(np.sin(3.0 * X[:, 0]) + X[:, 1] + 0.1 * rng.randn(80))
NEW = rng.randn(30, 3)
NEW_Y = np.sign(np.sin(3.0 * NEW[:, 0]) + NEW[:, 1])


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("method", ["stagewise", "distance"])
def test_what_is_learned_is_what_is_applied(center, method):
    """Alignment, matrix, function and decision are of the same kernel."""
    model = AlignMKLClassifier(Gaussians(0.1, 30.0), weighting=GreedyAlignment(method), center=center)
    model.fit(X, y)
    assert len(model.kernels_) == len(model.kernel_names_) == len(model.weights_)
    np.testing.assert_allclose(model.weights_.sum(), 1.0)
    K = model.kernel_(X)
    np.testing.assert_allclose(model.alignment_, centered_alignment(K, y), rtol=1e-9)
    np.testing.assert_allclose(K.mean(axis=0), 0.0 if center else K.mean(axis=0), atol=1e-12)
    widths = [kernel.kernel.width for kernel in model.kernels_]
    plain = sum(
        w * np.exp(-((NEW[:, None] - NEW) ** 2).sum(axis=2) / s**2)
        for w, s in zip(model.weights_, widths, strict=True)
    )
    np.testing.assert_allclose(model.score_alignment(NEW, NEW_Y), centered_alignment(plain, NEW_Y), rtol=1e-9)
    decision = model.kernel_(NEW, model.X_fit_) @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(model.decision_function(NEW), decision, atol=1e-10)
    np.testing.assert_allclose(model.contributions(NEW).sum(axis=1) + model.intercept_, decision, atol=1e-10)


def test_the_frequencies_of_a_signal_are_found():
    """000 §3.1, smaller: no grid of ten has these."""
    points = np.random.RandomState(1).uniform(-10.0, 10.0, (300, 1))
    labels = np.sign(np.sin(np.sqrt(2.0) * points[:, 0]) + np.sin(np.sqrt(12.0) * points[:, 0]))
    model = KernelAligner(Dirichlets(0.1, 10.0), weighting="greedy").fit(points, labels)
    largest = np.argsort(-model.weights_)[:2]
    found = sorted(model.kernels_[m].kernel.frequency for m in largest)
    np.testing.assert_allclose(found, np.sqrt([2.0, 12.0]), atol=0.1)


def test_shrinkage_and_early_stopping_are_chosen_on_samples_held_out():
    few = slice(0, 40)
    model = KernelAligner(ARDGaussians(0.3, 30.0), weighting=GreedyAlignment(max_kernels=2)).fit(
        X[few], y[few]
    )
    again = clone(model).fit(X[few], y[few])
    assert np.array_equal(model.weights_, again.weights_) and model.kernel_names_ == again.kernel_names_
    strong = GreedyAlignment(max_kernels=1, shrinkage=1e6)
    equal = KernelAligner(ARDGaussians(0.3, 30.0), weighting=strong).fit(X[few], y[few])
    widths = np.array(list(map(float, equal.kernels_[0].kernel.widths)))
    assert np.ptp(widths) <= 1e-2 * widths.mean()
    stopped = KernelAligner(Gaussians(0.1, 30.0), weighting=GreedyAlignment(tol=-1.0, validation=0.3)).fit(
        X, y
    )
    assert 1 <= len(stopped.weights_) < 50


def test_regression_pickles_and_cross_validates():
    target = np.exp(-(X[:, 0] ** 2)) + 5.0
    model = AlignMKLRegressor(Gaussians(0.1, 30.0), weighting="greedy").fit(X, target)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.predict(NEW), copy.predict(NEW))
    assert model.score(X, target) > 0.8
    assert np.all(np.isfinite(cross_val_score(model, X, target, cv=3)))


@pytest.mark.parametrize(
    ("kernels", "weighting", "message"),
    [
        (Gaussians(0.1, 10.0), "alignf", "weighting='alignf'.*list.*'greedy'"),
        (Products(degree=2), "greedy", "'best_against'.*ProductsOracle"),
        (Gaussians(10.0, 0.1), "greedy", "low < high"),
    ],
)
def test_bad_input(kernels, weighting, message):
    with pytest.raises(ValueError, match=message):
        KernelAligner(kernels, weighting=weighting).fit(X, y)
