"""A weight is a repetition, in every estimator whose problem can carry it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

import manykernels as mk
from manykernels.approx import Nystroem
from manykernels.families import AnovaDAG, Gaussians, rank_one
from manykernels.kernels import Gaussian, Linear

RNG = np.random.RandomState(0)
X = RNG.randn(40, 3)
y = (X[:, 0] * X[:, 1] + 0.3 * RNG.randn(40) > 0).astype(int)
t = X[:, 0] * X[:, 1] + 0.1 * RNG.randn(40)
WEIGHT = RNG.randint(0, 4, 40)
TWICE = np.repeat(np.arange(40), WEIGHT)
KERNELS = [Linear(), Gaussian(1.0), Gaussian(3.0)]
STACK = np.stack([kernel(X) for kernel in KERNELS], axis=2)

MODELS = {
    "align": mk.AlignMKLClassifier(KERNELS),
    "align, uncentred": mk.AlignMKLRegressor(KERNELS, center=False),
    "align, each kernel": mk.AlignMKLRegressor(KERNELS, weighting="align"),
    "align, rank one": mk.AlignMKLRegressor(rank_one()),
    "align in features": mk.AlignMKLRegressor(KERNELS, approx=Nystroem(10), random_state=0),
    "align in features, labels": mk.AlignMKLClassifier(KERNELS, approx=Nystroem(10), random_state=0),
    "hierarchical": mk.HierarchicalMKLRegressor(tol=1e-6),
    "hierarchical classes": mk.HierarchicalMKLClassifier(AnovaDAG(width=2.0), tol=1e-6),
    "nonlinear": mk.NonlinearMKLRegressor(KERNELS, n_starts=2, random_state=0),
    "localized": mk.LocalizedMKLRegressor(KERNELS, random_state=0),
}


def decisions(model, data):
    return model.decision_function(data) if hasattr(model, "decision_function") else model.predict(data)


@pytest.mark.parametrize("name", MODELS)
def test_a_weight_of_two_is_two_samples(name):
    model = MODELS[name]
    target = y if hasattr(model, "decision_function") else t
    weighted = model.fit(X, target, sample_weight=WEIGHT)
    f, weights = decisions(weighted, X), weighted.weights_.copy()
    again = model.fit(X[TWICE], target[TWICE])
    np.testing.assert_allclose(weights, again.weights_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(f, decisions(again, X), rtol=1e-6, atol=1e-8)


def test_alignment_counts_pairs_by_weight():
    """ρ̂ of the repeated samples, from their definition."""
    model = mk.AlignMKLRegressor(KERNELS).fit(X, t, WEIGHT)
    K, T = model.kernel_(X[TWICE]), np.outer(t[TWICE], t[TWICE])
    H = np.eye(len(TWICE)) - 1.0 / len(TWICE)
    K, T = H @ K @ H, H @ T @ H
    expected = np.sum(K * T) / (np.linalg.norm(K) * np.linalg.norm(T))
    assert model.alignment_ == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("kind", [mk.AlignMKLClassifier, mk.NonlinearMKLClassifier])
def test_samples_of_a_stack_that_count_nothing(kind):
    model = kind("precomputed")
    weight = np.where(np.arange(40) < 30, 1.0, 0.0)
    some = model.fit(STACK, y, weight)
    f = some.decision_function(STACK)
    assert len(some.dual_coef_) == 40 and not np.any(some.dual_coef_[30:])
    without = model.fit(STACK[:30, :30], y[:30])
    np.testing.assert_allclose(f, without.decision_function(STACK[:, :30]), atol=2e-3)


def test_learners_without_weights_are_refused_by_name():
    class Plain(SVC):
        def fit(self, X, y):
            return super().fit(X, y)

    with pytest.raises(ValueError, match=r"estimator=Plain, whose fit takes no weights.*SVC"):
        mk.AlignMKLClassifier(KERNELS, estimator=Plain(kernel="precomputed")).fit(X, y, WEIGHT)
    twice = mk.AlignMKLClassifier(KERNELS, estimator=Plain(kernel="precomputed")).fit(X[TWICE], y[TWICE])
    assert len(twice.X_fit_) == len(TWICE)  # which are then not merged
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": [1.0, 10.0]}, cv=2)
    assert mk.AlignMKLClassifier(KERNELS, estimator=search).fit(X, y, WEIGHT).score(X, y) > 0.6


def test_learners_of_features_get_the_weights():
    options = {"approx": Nystroem(10), "random_state": 0, "estimator": LogisticRegression()}
    plain = mk.AlignMKLClassifier(KERNELS, **options).fit(X, y)
    weighted = mk.AlignMKLClassifier(KERNELS, **options).fit(X, y, WEIGHT)
    assert np.abs(plain.decision_function(X) - weighted.decision_function(X)).max() > 1e-3


def test_greedy_alignment_counts_every_sample_once():
    with pytest.raises(ValueError, match=r"counts every sample once.*gaussian_grid"):
        mk.AlignMKLRegressor(Gaussians(), weighting="greedy").fit(X, t, WEIGHT)


def test_a_class_that_weighs_nothing_is_no_class():
    labels = np.where(np.arange(40) < 6, "none", np.where(X[:, 0] > 0, "up", "down"))
    weight = np.where(labels == "none", 0.0, 1.0)
    model = mk.AlignMKLClassifier(KERNELS, approx=Nystroem(10), random_state=0).fit(X, labels, weight)
    assert model.classes_.tolist() == model.estimator_.classes_.tolist() == ["down", "up"]
    kept = weight > 0
    assert model.score(X[kept], labels[kept]) > 0.8
    without = mk.AlignMKLClassifier(KERNELS, approx=Nystroem(10), random_state=0)
    without.fit(X[kept], labels[kept])
    np.testing.assert_allclose(model.weights_, without.weights_, atol=1e-10)


def test_alignment_of_few_new_samples_in_features():
    model = mk.AlignMKLClassifier(KERNELS, approx=Nystroem(10), random_state=0).fit(X, np.arange(40) % 3)
    assert -1.0 <= model.score_alignment(X[:3], np.arange(3)) <= 1.0
