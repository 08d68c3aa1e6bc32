"""What losses of several scores promise: convexity, conjugates, slopes; and a user's own among them."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone

from manykernels import UFOMKLClassifier, losses
from manykernels.kernels import Gaussian, Linear
from manykernels.losses import (
    EpsilonInsensitive,
    Hinge,
    Logistic,
    MulticlassHinge,
    MulticlassLogistic,
    OrdinalHinge,
    Squared,
    SquaredHinge,
    StructuredLoss,
)
from manykernels.losses.structured import PerScore

CLASSES = 4
SEVERAL = [MulticlassHinge(), MulticlassLogistic(), OrdinalHinge()]
SCALAR = [Hinge(), SquaredHinge(), Logistic(), Squared(), EpsilonInsensitive(0.2)]
INSTANCES = SEVERAL + [PerScore(loss, CLASSES) for loss in SCALAR]
each_loss = pytest.mark.parametrize("loss", INSTANCES, ids=repr)
each_of_several = pytest.mark.parametrize("loss", SEVERAL, ids=repr)
scores = arrays(float, CLASSES, elements=st.floats(-20, 20).map(lambda v: round(v, 6)))


def targets(loss, n, seed=0):
    rng = np.random.RandomState(seed)
    if not isinstance(loss, PerScore):
        return rng.randint(CLASSES, size=n)
    return (
        rng.choice([-1.0, 1.0], (n, CLASSES)) if loss.loss.task == "classification" else rng.randn(n, CLASSES)
    )


def test_every_exported_loss_is_covered():
    exported = {kind for name in losses.__all__ if inspect.isclass(kind := getattr(losses, name))}
    several = {kind for kind in exported if issubclass(kind, StructuredLoss)} - {StructuredLoss}
    assert several == {type(loss) for loss in SEVERAL}


def test_what_a_loss_says_of_itself_is_true():
    """Probabilities are p = u + e_y of the slopes; a loss that never rests has hardly any slope of zero."""
    f = np.random.RandomState(3).randn(50, CLASSES) * 3.0
    for loss in SEVERAL:
        slopes = np.array([loss.subgradient(k % CLASSES, row) for k, row in enumerate(f)])
        p = slopes + np.eye(CLASSES)[np.arange(50) % CLASSES]
        softmax = np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
        assert loss.probabilistic == np.allclose(p, softmax)
        assert loss.never_rests == bool(np.all(np.abs(slopes).max(axis=1) > 0.0))
    for loss in SCALAR:
        several = PerScore(loss, CLASSES)
        assert several.never_rests == loss.never_rests and several.code == loss.code
        assert several.parameter == loss.parameter
        assert several.curvature == (0.25 if isinstance(loss, Logistic) else 1.0)


def test_values_by_enumeration():
    y, f = np.array([0, 2, 3]), np.random.RandomState(0).randn(3, CLASSES)
    for i in range(3):
        rivals = [c for c in range(CLASSES) if c != y[i]]
        crammer = max(0.0, *(1 - f[i, y[i]] + f[i, c] for c in rivals))
        ordinal = max(abs(y[i] - c) + f[i, c] - f[i, y[i]] for c in range(CLASSES))
        softmax = np.exp(f[i, y[i]]) / np.exp(f[i]).sum()
        for loss, expected in zip(SEVERAL, (crammer, -np.log(softmax), ordinal), strict=True):
            assert loss.value(y, f)[i] == pytest.approx(expected, abs=1e-12)


@each_loss
@settings(max_examples=40)
@given(f=scores, other=scores, seed=st.integers(0, 50))
def test_subgradient_inequality(loss, f, other, seed):
    y = targets(loss, 1, seed)
    g = loss.subgradient(y[0] if isinstance(loss, PerScore) else int(y[0]), f.copy())
    assert g.shape == f.shape
    at, there = loss.value(y, f[None])[0], loss.value(y, other[None])[0]
    assert there >= at + g @ (other - f) - 1e-9 * (1 + abs(there))
    assert np.linalg.norm(g) <= loss.lipschitz + 1e-12


@each_loss
@settings(max_examples=40)
@given(f=scores, other=scores, seed=st.integers(0, 50))
def test_fenchel_young(loss, f, other, seed):
    y = targets(loss, 1, seed)
    g = loss.subgradient(y[0] if isinstance(loss, PerScore) else int(y[0]), f.copy())
    conjugate = loss.conjugate(y, g[None])[0]
    size = 1 + abs(conjugate) + np.abs(f).max()
    assert loss.value(y, f[None])[0] + conjugate == pytest.approx(g @ f, abs=1e-8 * size)
    assert loss.value(y, other[None])[0] + conjugate >= g @ other - 1e-8 * (1 + np.abs(other).max() + size)


@each_of_several
def test_conjugate_is_the_supremum(loss):
    """Over a fine grid of scores of three classes, for points well inside the domain, and none outside."""
    rng = np.random.RandomState(1)
    grid = np.linspace(-8, 8, 81)
    f = np.stack([a.ravel() for a in np.meshgrid(grid, grid)] + [np.zeros(grid.size**2)], axis=1)
    for y in range(3):
        p = 0.05 + 0.85 * rng.dirichlet(np.ones(3), size=4)
        u = p / p.sum(axis=1, keepdims=True) - np.eye(3)[y]
        values = loss.value(np.full(len(f), y), f)
        supremum = (u @ f.T - values).max(axis=1)
        np.testing.assert_allclose(loss.conjugate(np.full(4, y), u), supremum, atol=6e-3)
        outside = u[:1] + np.array([0.1, 0.0, 0.0])
        assert np.isinf(loss.conjugate(np.array([y]), outside)[0])
        one, two = np.eye(3)[(y + 1) % 3], np.eye(3)[(y + 2) % 3]
        outside = (0.7 * one - 0.2 * two - 0.5 * np.eye(3)[y])[None]  # adds up to 0, and pulls a class down
        assert np.isinf(loss.conjugate(np.array([y]), outside)[0])
        outside = 1.3 * (np.eye(3)[(y + 1) % 3] - np.eye(3)[y])[None]
        assert np.isinf(loss.conjugate(np.array([y]), outside)[0])


@pytest.mark.parametrize("loss", SCALAR, ids=repr)
def test_separable_losses_are_sums(loss):
    y, rng = targets(PerScore(loss, CLASSES), 6), np.random.RandomState(2)
    f, several = rng.randn(6, CLASSES), PerScore(loss, CLASSES)
    np.testing.assert_allclose(several.value(y, f), sum(loss.value(y[:, c], f[:, c]) for c in range(CLASSES)))
    assert PerScore(loss).lipschitz * np.sqrt(CLASSES) == several.lipschitz
    assert several.lipschitz == (np.inf if isinstance(loss, Squared | SquaredHinge) else 2.0)
    np.testing.assert_array_equal(several.decode(f), f.argmax(axis=1))
    np.testing.assert_array_equal(PerScore(loss).decode(f[:, :1]), f[:, 0] > 0)


# -- a user's own -----------------------------------------------------------------------------------
class Own(StructuredLoss):
    """Crammer and Singer's hinge, as a user would write it."""

    lipschitz = 2.0**0.5

    def value(self, y, f):
        return np.array([max(0.0, 1 - a[k] + np.delete(a, k).max()) for k, a in zip(y, f, strict=True)])

    def subgradient(self, y, f):
        others = np.where(np.arange(f.size) == y, -np.inf, f)
        if f[y] - others.max() >= 1:
            return np.zeros(f.size)
        return np.eye(f.size)[others.argmax()] - np.eye(f.size)[y]


class OneScore(StructuredLoss):
    """Ordered labels y on a line: |f − y|, with one score whatever the number of classes."""

    lipschitz = 1.0

    def outputs(self, n_classes):
        return 1

    def value(self, y, f):
        return np.abs(f[:, 0] - y)

    def subgradient(self, y, f):
        return np.sign(f - y)

    def decode(self, f):
        return np.clip(np.rint(f[:, 0]), 0, CLASSES - 1).astype(int)


def ordinal_problem(n, seed=0, noise=0.5):
    rng = np.random.RandomState(seed)
    X = rng.randn(n, 3)
    signal = X[:, 0] + 0.5 * X[:, 1] ** 2
    return X, np.digitize(signal + noise * rng.randn(n), [-0.6, 0.2, 1.0])


KERNELS = [Linear(), Gaussian(1.0), Gaussian(2.5), Gaussian(5.0)]


@pytest.mark.parametrize("average", [False, True])
def test_a_loss_in_python_equals_the_compiled_one(average):
    X, y = ordinal_problem(60)
    options = {"epochs": 3, "random_state": 0, "average": average, "alpha": 0.01, "lam": 0.01}
    own = UFOMKLClassifier(KERNELS, loss=Own(), **options).fit(X, y)
    ours = UFOMKLClassifier(KERNELS, loss=MulticlassHinge(), **options).fit(X, y)
    np.testing.assert_allclose(own.decision_function(X), ours.decision_function(X), atol=1e-10)
    np.testing.assert_allclose(own.weights_, ours.weights_, atol=1e-12)
    assert own.objective_ == pytest.approx(ours.objective_, rel=1e-12)
    assert own.bound_ == pytest.approx(ours.bound_)
    assert ours.certified_ and not own.certified_ and np.isnan(own.dual_gap_)


def test_a_loss_with_one_score():
    X, y = ordinal_problem(150, noise=0.1)
    model = UFOMKLClassifier(KERNELS, loss=OneScore(), lam=1e-3, epochs=10, random_state=0).fit(X, y)
    assert model.decision_function(X).shape == (150,)
    assert model.score(X, y) > 0.6 > np.bincount(y).max() / 150
    with pytest.warns(UserWarning, match="leaves no kernel"):
        nothing = UFOMKLClassifier(KERNELS, loss=OneScore(), alpha=100.0).fit(X, y)
    assert np.unique(nothing.predict(X)).size == 1


def test_order_of_labels_helps():
    """Far mistakes cost more: on noisy ordered labels the mean distance is smaller, over several draws."""
    distance = {}
    for loss in (OrdinalHinge(), MulticlassHinge()):
        errors = []
        for seed in range(4):
            (X, y), (X_new, y_new) = ordinal_problem(200, seed, 1.0), ordinal_problem(500, seed + 50, 1.0)
            model = UFOMKLClassifier(KERNELS, loss=clone(loss), lam=0.01, epochs=10, random_state=0)
            errors.append(np.abs(model.fit(X, y).predict(X_new) - y_new).mean())
        distance[type(loss)] = np.mean(errors)
    assert distance[OrdinalHinge] < 0.97 * distance[MulticlassHinge]
    assert distance[OrdinalHinge] < 0.9


@pytest.mark.parametrize(
    ("labels", "given"),
    [
        (lambda y: y + CLASSES, "the unknown label"),
        (lambda y: y - CLASSES, "the unknown label -"),
        (lambda y: y + 0.5, "the unknown label"),
        (lambda y: np.array(["far"] * len(y)), "the unknown label 'far'"),
        (lambda y: y[:-1], r"labels of shape \(19,\)"),
    ],
)
def test_labels_that_are_no_classes_are_refused(labels, given):
    X, _ = ordinal_problem(20)
    loss = type("Far", (Own,), {"decode": lambda self, f: labels(f.argmax(axis=1))})()
    model = UFOMKLClassifier(KERNELS, loss=loss).fit(X, np.arange(20) % CLASSES)
    with pytest.raises(
        ValueError, match=rf"Far.decode returned {given}.*from 0 to {CLASSES - 1} for each row"
    ):
        model.predict(X)


@pytest.mark.parametrize("given", [np.ones(CLASSES + 1), np.full(CLASSES, np.nan), 1.0])
def test_subgradients_that_are_none_are_refused(given):
    X, _ = ordinal_problem(20)
    loss = type("Bent", (Own,), {"subgradient": lambda self, y, f: given})()
    with pytest.raises(ValueError, match=rf"Bent.subgradient returned .*expected {CLASSES} finite numbers"):
        UFOMKLClassifier(KERNELS, loss=loss).fit(X, np.arange(20) % CLASSES)
