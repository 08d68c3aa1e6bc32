"""Two-stage learning over continua of kernels."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from manykernels import AlignMKLClassifier, AlignMKLRegressor, KernelAligner
from manykernels.families import ARDGaussians, Dirichlets, Gaussians
from manykernels.measures import centered_alignment
from manykernels.oracles import build_oracle
from manykernels.weightings import GreedyAlignment
from manykernels.weightings.choice import _across, _folds

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
    """Afkanpour 2013, §3.1, smaller: no grid of ten has these."""
    points = np.random.RandomState(1).uniform(-10.0, 10.0, (300, 1))
    labels = np.sign(np.sin(np.sqrt(2.0) * points[:, 0]) + np.sin(np.sqrt(12.0) * points[:, 0]))
    model = KernelAligner(Dirichlets(0.1, 10.0), weighting="greedy").fit(points, labels)
    largest = np.argsort(-model.weights_)[:2]
    found = sorted(model.kernels_[m].kernel.frequency for m in largest)
    np.testing.assert_allclose(found, np.sqrt([2.0, 12.0]), atol=0.1)


def two_classes(seed, relevant, n=40, features=12):
    """N(±μ, I) with μ of length 1.75 along the first features."""
    rng = np.random.RandomState(seed)
    labels = np.where(rng.uniform(size=n) < 0.5, 1.0, -1.0)
    mean = np.zeros(features)
    mean[:relevant] = 1.75 / np.sqrt(relevant)
    return rng.randn(n, features) + np.outer(labels, mean), labels


def score(weighting, family, relevant):
    """The mean alignment on other samples of what 40 teach."""
    values = []
    for seed in range(2):
        model = KernelAligner(family, weighting=weighting).fit(*two_classes(seed, relevant))
        values.append(model.score_alignment(*two_classes(seed + 100, relevant, 400)))
    return np.mean(values)


@pytest.mark.slow
def test_shrinkage_is_as_strong_as_the_features_ask_for():
    """Widths that differ help if few features matter, and harm if all do (Afkanpour 2013, §6.2.1)."""
    greedy, free = GreedyAlignment(max_kernels=2), GreedyAlignment(max_kernels=2, shrinkage=0.0)
    ard, one = ARDGaussians(0.3, 300.0), Gaussians(0.1, 300.0)
    alike, single = score(greedy, ard, 12), score(greedy, ard, 1)
    assert alike > score(free, ard, 12) + 0.05
    assert alike > score(greedy, one, 12) - 0.02
    assert single > score(greedy, one, 1) + 0.1


def test_folds_spread_the_targets_and_leave_nobody_out():
    targets = np.repeat([[1.0], [-1.0]], [30, 20], axis=0)
    parts = _folds(targets)
    assert sorted(np.concatenate([out for out, _ in parts]).tolist()) == list(range(50))
    for out, rest in parts:
        assert not set(out) & set(rest) and out.size + rest.size == 50
        assert targets[out].sum() == 2.0  # six and four
    few = _folds(np.array([[1.0], [-1.0], [1.0]]))  # without one of them, the others are alike
    assert [out.size for out, _ in few] == [1, 1]
    with pytest.raises(ValueError, match=r"2 samples are too few.*shrinkage="):
        _folds(np.array([[1.0], [-1.0]]))


def test_alignment_across_is_that_of_the_centred_blocks():
    """With features φ of the kernel, centred by the mean of the rest: B = φ_out φ_restᵀ."""
    out, rest = np.arange(0, 60, 3), np.setdiff1d(np.arange(60), np.arange(0, 60, 3))
    Y = np.column_stack([y, X[:, 2]])[:60]
    oracle = build_oracle(ARDGaussians(0.3, 30.0), X[rest], normalize="trace")
    atom = (0.7, 3.0, 9.0)
    values, V = np.linalg.eigh(oracle.kernel(atom)(X[:60]))
    phi = V * np.sqrt(np.maximum(values, 0.0))
    phi, centred = phi - phi[rest].mean(axis=0), Y - Y[rest].mean(axis=0)
    B, T = phi[out] @ phi[rest].T, centred[out] @ centred[rest].T
    expected = np.vdot(B, T) / (np.linalg.norm(B) * np.linalg.norm(T))
    np.testing.assert_allclose(_across(oracle, atom, X[:60], Y, out, rest), expected, rtol=1e-6)


def test_kernels_whose_labels_are_the_same_are_told_apart():
    """A label shows four widths of many; here these are those that do not matter."""
    data, labels = two_classes(0, 1)
    data, new = data[:, ::-1], two_classes(1, 1)
    weighting = GreedyAlignment(tol=-1.0, max_kernels=5, shrinkage=0.0)
    model = KernelAligner(ARDGaussians(0.3, 300.0), weighting=weighting).fit(data, labels)
    assert any(name.endswith(" (2)") for name in model.kernel_names_)
    assert len(set(model.kernel_names_)) == len(model.kernel_names_)
    found = model.score_alignment(new[0][:, ::-1], new[1])
    np.testing.assert_allclose(found, centered_alignment(model.kernel_(new[0][:, ::-1]), new[1]), rtol=1e-9)


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
        (Gaussians(10.0, 0.1), "greedy", "low < high"),
    ],
)
def test_bad_input(kernels, weighting, message):
    with pytest.raises(ValueError, match=message):
        KernelAligner(kernels, weighting=weighting).fit(X, y)
