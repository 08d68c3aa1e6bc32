"""Sequential minimal optimisation: optimality conditions first, then libsvm."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC, SVR

from manykernels._fast import smo

MAX_ITER = 1_000_000


def kernel(kind, n, rng):
    X = rng.randn(n, 3)
    if kind == "duplicates":
        X[n // 2 :] = X[: n - n // 2]
    if kind in ("rank one", "zero"):
        return np.outer(X[:, 0], X[:, 0]) * (kind == "rank one")
    if kind == "linear":
        return X @ X.T
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))


KINDS = ["gaussian", "duplicates", "linear", "rank one", "zero"]
each_kind = pytest.mark.parametrize("kind", KINDS)


def solved(K, t, lo, hi, epsilon, pairs, tol=1e-9, alpha=None):
    alpha = np.zeros(t.size) if alpha is None else alpha.copy()
    G = np.empty_like(alpha)
    run = smo.solve_pairs if pairs else smo.solve_single
    *_, iterations = run(K, t, lo, hi, epsilon, alpha, G, tol, MAX_ITER)
    np.testing.assert_allclose(G, K @ alpha - t, atol=1e-8)
    assert np.all(alpha >= lo) and np.all(alpha <= hi)
    return alpha, iterations


def violation(K, t, lo, hi, epsilon, alpha, pairs):
    """By how much the conditions of min ½αᵀKα − tᵀα + ε‖α‖₁ in the box fail, from the definition."""
    G = K @ alpha - t
    up = np.where(alpha < hi, -(G + np.where(alpha >= 0, epsilon, -epsilon)), -np.inf)
    low = np.where(alpha > lo, -(G + np.where(alpha > 0, epsilon, -epsilon)), np.inf)
    return up.max() - low.min() if pairs else max(up.max(), -low.min(), 0.0)


def task(loss, n, rng):
    C = 10 ** rng.uniform(-1, 2, n)  # every sample has its own C
    if loss == "hinge":
        y = rng.choice([-1.0, 1.0], n)
        return y, np.minimum(C * y, 0), np.maximum(C * y, 0), 0.0
    return rng.randn(n), -C, C, 0.1


@each_kind
@pytest.mark.parametrize("loss", ["hinge", "tube"])
@pytest.mark.parametrize("pairs", [True, False])
@pytest.mark.parametrize("n", [1, 2, 31])
def test_optimality_conditions(kind, loss, pairs, n):
    rng = np.random.RandomState(n)
    K = kernel(kind, n, rng)
    t, lo, hi, epsilon = task(loss, n, rng)
    alpha, iterations = solved(K, t, lo, hi, epsilon, pairs)
    assert iterations < MAX_ITER
    assert violation(K, t, lo, hi, epsilon, alpha, pairs) <= 2e-8
    if pairs:
        assert abs(alpha.sum()) <= 1e-10 * np.abs(alpha).sum() + 1e-12


@pytest.mark.parametrize("kind", KINDS[:4])
@pytest.mark.parametrize("loss", ["hinge", "tube"])
def test_agrees_with_libsvm(kind, loss):
    rng = np.random.RandomState(3)
    n = 40
    K = kernel(kind, n, rng)
    t, lo, hi, epsilon = task(loss, n, rng)
    weight = hi - lo if loss == "hinge" else hi
    options = {"kernel": "precomputed", "C": 1.0, "tol": 1e-9}
    machine = SVC(**options) if loss == "hinge" else SVR(epsilon=epsilon, **options)
    machine.fit(K, t, sample_weight=weight)
    theirs = np.zeros(n)
    theirs[machine.support_] = machine.dual_coef_[0]

    def value(a):
        return 0.5 * a @ K @ a - t @ a + epsilon * np.abs(a).sum()

    ours, _ = solved(K, t, lo, hi, epsilon, True)
    assert value(ours) <= value(theirs) + 1e-7 * abs(value(theirs))
    np.testing.assert_allclose(value(ours), value(theirs), rtol=1e-6)
    if kind == "gaussian":  # a strictly convex problem has one solution
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("pairs", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "tube"])
def test_warm_starts_end_at_the_same_point(pairs, loss):
    rng = np.random.RandomState(5)
    K = kernel("gaussian", 30, rng)
    t, lo, hi, epsilon = task(loss, 30, rng)
    cold, iterations = solved(K, t, lo, hi, epsilon, pairs)
    warm, none = solved(K, t, lo, hi, epsilon, pairs, tol=1e-8, alpha=cold)
    assert none <= 1 < iterations
    np.testing.assert_allclose(warm, cold, atol=1e-6)
    near, _ = solved(1.01 * K, t, lo, hi, epsilon, pairs, alpha=cold)
    assert violation(1.01 * K, t, lo, hi, epsilon, near, pairs) <= 2e-8


def test_shrinking_changes_nothing():
    """Enough iterations that coordinates are put aside and called back."""
    rng = np.random.RandomState(0)
    X = rng.randn(150, 2)
    K = np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    y = np.where(X[:, 0] + 0.5 * rng.randn(150) > 0, 1.0, -1.0)
    lo, hi = np.minimum(100 * y, 0), np.maximum(100 * y, 0)
    alpha, iterations = solved(K, y, lo, hi, 0.0, True, tol=1e-8)
    assert iterations > 300
    assert violation(K, y, lo, hi, 0.0, alpha, True) <= 1e-7


def test_iterations_are_bounded():
    rng = np.random.RandomState(1)
    K = kernel("gaussian", 30, rng)
    t, lo, hi, epsilon = task("tube", 30, rng)
    alpha, G = np.zeros(30), np.empty(30)
    for run in (smo.solve_pairs, smo.solve_single):
        assert run(K, t, lo, hi, epsilon, alpha, G, 0.0, 7)[2] <= 7
        np.testing.assert_allclose(G, K @ alpha - t, atol=1e-12)


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 12),
    pairs=st.booleans(),
    loss=st.sampled_from(["hinge", "tube"]),
)
def test_random_singular_problems(seed, n, pairs, loss):
    rng = np.random.RandomState(seed)
    K = kernel(KINDS[seed % len(KINDS)], n, rng)
    t, lo, hi, epsilon = task(loss, n, rng)
    alpha, iterations = solved(K, t, lo, hi, epsilon, pairs)
    assert iterations < MAX_ITER and violation(K, t, lo, hi, epsilon, alpha, pairs) <= 1e-7
