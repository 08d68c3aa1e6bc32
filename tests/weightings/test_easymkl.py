"""EasyMKL against its definition, solved by cvxpy."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from benchmarks.references import optimal_value, root
from tests.helpers import problem

import manykernels as mk
from manykernels.approx import Nystroem
from manykernels.grams import StackGram
from manykernels.kernels import Gaussian, Linear
from manykernels.objectives import Alignment
from manykernels.weightings import Align, EasyMKL


def easy(seed=0, n=24, M=4):
    """Kernels with a mean diagonal of one, labels ±1, and their alignment."""
    stack, labels, _ = problem(seed, n=n, M=M)
    y = labels[:, 0]
    stack = stack * (n / np.trace(stack, axis1=1, axis2=2))[:, None, None]
    return stack, y, Alignment(StackGram(stack), y[:, None])


def value(gamma, y, K, lam, weight=1.0):
    return (1 - lam) * (y * gamma) @ K @ (y * gamma) + lam * (gamma**2 / weight).sum()


def points(alignment, lam):
    """γ of the weighting, by the definition of its u."""
    from manykernels.weightings.easymkl import _points

    K = None if lam == 1.0 else alignment.gram.combine(np.ones(alignment.gram.n_kernels))
    y = np.where(alignment.Y[:, 0] > 0, 1.0, -1.0)
    return y * _points(K, y, np.ones(y.size), lam)[0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("lam", [0.01, 0.3, 0.9, 1.0])
def test_it_solves_the_problem_of_the_paper(seed, lam):
    stack, y, alignment = easy(seed)
    K, gamma = stack.sum(axis=0), points(alignment, lam)
    assert gamma.min() >= -1e-12
    assert gamma[y > 0].sum() == pytest.approx(1.0) and gamma[y < 0].sum() == pytest.approx(1.0)
    g = cp.Variable(y.size, nonneg=True)
    distance = cp.sum_squares(root(K).T @ cp.multiply(y, g))
    constraints = [cp.sum(g[y > 0]) == 1, cp.sum(g[y < 0]) == 1]
    best = optimal_value(cp.Problem(cp.Minimize((1 - lam) * distance + lam * cp.sum_squares(g)), constraints))
    assert value(gamma, y, K, lam) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("lam", [0.05, 0.6])
def test_the_conditions_of_optimality(lam):
    """The gradient is the same for all γ > 0 of a class, and not smaller where γ = 0."""
    stack, y, alignment = easy(5)
    gamma = points(alignment, lam)
    slope = 2 * (1 - lam) * y * (stack.sum(axis=0) @ (y * gamma)) + 2 * lam * gamma
    for rows in (y > 0, y < 0):
        level = slope[rows][gamma[rows] > 1e-9]
        assert np.ptp(level) <= 1e-6 * np.abs(slope).max()
        assert slope[rows].min() >= level.mean() - 1e-6 * np.abs(slope).max()


def test_the_weights_are_the_distances_at_these_points():
    stack, y, alignment = easy(1)
    found, gamma = EasyMKL(lam=0.2).weigh(alignment), points(alignment, 0.2)
    distances = np.einsum("i,mij,j->m", y * gamma, stack, y * gamma)
    np.testing.assert_allclose(found.theta, distances / distances.sum(), rtol=1e-10)
    assert found.residual <= 1e-9 and found.unique


def test_the_means_of_classes_of_equal_size_are_the_unnormalised_alignment():
    """At λ = 1, Yγ ∝ y, and y is centred: the weights are ⟨K_c, yyᵀ⟩."""
    stack, _, _ = easy(1)
    alignment = Alignment(StackGram(stack), np.tile([1.0, -1.0], 12)[:, None])
    found = EasyMKL(lam=1.0).weigh(alignment)
    np.testing.assert_allclose(found.theta, Align(q=2).weigh(alignment).theta, rtol=1e-10)


def test_a_weight_is_a_repetition():
    stack, y, _ = easy(2)
    counts = np.random.default_rng(0).integers(1, 4, y.size)
    rows = np.repeat(np.arange(y.size), counts)
    weighted = StackGram(stack)
    weighted.weight = counts.astype(float)
    repeated = StackGram(np.ascontiguousarray(stack[:, rows][:, :, rows]))
    one = EasyMKL().weigh(Alignment(weighted, y[:, None])).theta
    two = EasyMKL().weigh(Alignment(repeated, y[rows][:, None])).theta
    np.testing.assert_allclose(one, two, rtol=1e-6)


def test_centring_changes_no_weight():
    stack, y, alignment = easy(3)
    H = np.eye(y.size) - 1.0 / y.size
    centred = Alignment(StackGram(H @ stack @ H), y[:, None])
    np.testing.assert_allclose(EasyMKL().weigh(alignment).theta, EasyMKL().weigh(centred).theta, rtol=1e-6)


def test_several_classes_have_the_mean_of_each_against_the_rest():
    draw = np.random.default_rng(0)
    labels = np.repeat(["a", "b", "c"], 12)
    X = draw.standard_normal((36, 4)) + 2.0 * (labels[:, None] == ["a", "b", "c", "d"])
    kernels = {"l": Linear(), "g": Gaussian(2.0)}
    model = mk.AlignMKLClassifier(kernels, weighting="easymkl").fit(X, labels)
    own = [
        mk.AlignMKLClassifier(kernels, weighting="easymkl").fit(X, labels == name).weights_ for name in "abc"
    ]
    np.testing.assert_allclose(model.weights_, np.mean(own, axis=0), rtol=1e-6)
    assert model.score(X, labels) > 0.8
    assert mk.KernelAligner(kernels, weighting=EasyMKL(0.5)).fit(X, labels).weights_.sum() == pytest.approx(1)


def test_what_is_refused():
    X, y = np.random.default_rng(0).standard_normal((20, 2)), np.arange(20.0)
    with pytest.raises(ValueError, match="weighting='easymkl' was given with targets that are numbers"):
        mk.AlignMKLRegressor(weighting="easymkl").fit(X, y)
    with pytest.raises(ValueError, match="it needs kernels between samples"):
        mk.AlignMKLClassifier(weighting="easymkl", approx=Nystroem(5)).fit(X, y > 9)
    for lam in (0.0, 1.5, "a", True):
        with pytest.raises(ValueError, match=r"lam=.*expected a number"):
            mk.AlignMKLClassifier(weighting=EasyMKL(lam)).fit(X, y > 9)
