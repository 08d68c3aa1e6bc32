"""Weights by the feature-space measure, by KL, and by alignment without centring or with a ridge."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from benchmarks.references import optimal_value
from scipy.optimize import check_grad
from tests.helpers import problem

import manykernels as mk
from manykernels.approx import Nystroem
from manykernels.grams import StackGram
from manykernels.kernels import Callable, Gaussian, Linear, Polynomial
from manykernels.measures import fsm, kl_measure, uncentered_alignment
from manykernels.objectives import Alignment
from manykernels.weightings import FSM, KL, Align, Alignf
from manykernels.weightings.fsm import _blocks, _distances
from manykernels.weightings.kl import _Measure

KERNELS = [Linear(), Gaussian(1.0), Gaussian(3.0), Polynomial(2)]


def measured(seed=0, n=24, M=4, classes=2):
    """Kernels with a mean diagonal of one, labels from 0 on, and their alignment."""
    stack, _, _ = problem(seed, n=n, M=M)
    stack = stack * (n / np.trace(stack, axis1=1, axis2=2))[:, None, None]
    y = np.random.RandomState(seed).permutation(np.arange(n) % classes)
    Y = np.where(y == 1, 1.0, -1.0)[:, None] if classes == 2 else np.eye(classes)[y]
    return stack, y, Alignment(StackGram(stack), Y)


def data(seed=0, n=40):
    X = np.random.RandomState(seed).randn(n, 3)
    return X, (X[:, 0] + 0.5 * X[:, 1] ** 2 > 0.3).astype(int)


# -- the feature-space measure --------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(4))
def test_no_weights_have_a_smaller_measure(seed):
    stack, y, alignment = measured(seed)
    found = FSM().weigh(alignment)
    assert found.theta.min() >= 0 and found.theta.sum() == pytest.approx(1) and found.residual <= 1e-8

    def value(theta):
        return fsm(np.tensordot(theta, stack, 1), y)

    best = value(found.theta)
    rng = np.random.RandomState(seed)
    others = [*np.eye(4), *rng.dirichlet(np.ones(4), 100), *np.abs(found.theta + 0.01 * rng.randn(100, 4))]
    assert min(map(value, others)) >= best * (1 - 1e-7)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_feature_space_measure_by_a_convex_solver(classes):
    stack, y, alignment = measured(1, classes=classes)
    theta = FSM().weigh(alignment).theta
    spread, distance = 0.0, 0.0
    mu = cp.Variable(4, nonneg=True)
    at_theta = np.zeros(2)
    for a in range(classes):
        for b in range(classes):
            if a == b:
                continue
            u = (y == a) / np.sum(y == a) - (y == b) / np.sum(y == b)
            f = (stack @ u)[:, y == a].T
            B = (f - f.mean(axis=0)) / np.sqrt(np.sum(y == a) - 1)
            g = np.einsum("i,mij,j->m", u, stack, u) / 2
            spread, distance = spread + cp.norm(B @ mu), distance + g @ mu
            at_theta += np.linalg.norm(B @ theta), g @ theta
    best = optimal_value(cp.Problem(cp.Minimize(spread), [distance == 1]))
    assert at_theta[0] / at_theta[1] == pytest.approx(best, rel=1e-5)


def test_several_classes_count_pairs_by_the_distance_of_their_centres():
    stack, y, alignment = measured(2, n=30, classes=3)
    E = np.eye(3)[y] / np.bincount(y)
    g = _distances(alignment, E)
    F = alignment.gram.products(E)
    blocks = _blocks(F, y, np.ones(30), np.bincount(y).astype(float))
    theta = np.array([0.1, 0.4, 0.3, 0.2])
    total, weight = 0.0, 0.0
    for a, b in ((0, 1), (0, 2), (1, 2)):
        rows = (y == a) | (y == b)
        u = (y == a) / np.sum(y == a) - (y == b) / np.sum(y == b)
        K = np.tensordot(theta, stack, 1)
        total += (u @ K @ u) * fsm(K[np.ix_(rows, rows)], y[rows])
        weight += u @ K @ u
    assert sum(np.linalg.norm(B @ theta) for B in blocks) / (g @ theta) == pytest.approx(total / weight)


def test_neither_scale_nor_centring_of_kernels_matter_to_the_measure():
    stack, _, alignment = measured(3)
    scale = np.array([1.0, 10.0, 0.01, 3.0])
    scaled = Alignment(StackGram(stack, scale), alignment.given)
    centred = Alignment(StackGram(stack, mean=np.full(24, 1 / 24)), alignment.given)
    theta = FSM().weigh(alignment).theta
    other = FSM().weigh(scaled).theta * scale
    np.testing.assert_allclose(other / other.sum(), theta, atol=1e-6)
    np.testing.assert_allclose(FSM().weigh(centred).theta, theta, atol=1e-6)


def test_kernels_without_distance_or_without_spread():
    """Of kernels, one has no spread within classes: nothing is better. One has no distance: no weight."""
    y = np.repeat([1.0, -1.0], 4)
    odd = np.tile([1.0, -1.0], 4)
    stack = np.array([np.outer(y, y), np.outer(odd, odd), np.outer(y + 0.3 * odd, y + 0.3 * odd)])
    np.testing.assert_allclose(FSM().weigh(Alignment(StackGram(stack), y[:, None])).theta, [1, 0, 0])
    with pytest.raises(ValueError, match="centres of the classes are the same"):
        FSM().weigh(Alignment(StackGram(stack[1:2]), y[:, None]))
    with pytest.raises(ValueError, match="at least 2 of each class"):
        FSM().weigh(Alignment(StackGram(stack), np.array([[1.0], *[[-1.0]] * 7])))


# -- KL -------------------------------------------------------------------------------------------
def test_kl_is_the_measure_and_its_gradient():
    stack, _, alignment = measured(0)
    Y = alignment.given
    measure = _Measure(alignment, np.ones(24), Y, 0.1)
    theta = np.array([0.4, 0.1, 0.2, 0.3])
    K = np.tensordot(theta, stack, 1)
    assert measure(theta)[0] == pytest.approx(kl_measure(K, Y[:, 0], epsilon=0.1, kind="regression"))
    assert check_grad(lambda t: measure(t)[0], lambda t: measure(t)[1], theta) < 1e-4


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("epsilon", [1e-2, 0.5])
def test_kl_ends_at_a_stationary_point_below_its_start(seed, epsilon):
    stack, _, alignment = measured(seed)
    found = KL(epsilon).weigh(alignment)
    assert found.theta.min() >= 0 and found.theta.sum() == pytest.approx(1) and found.residual <= 1e-5

    def value(theta):
        return kl_measure(np.tensordot(theta, stack, 1), alignment.given[:, 0], epsilon=epsilon)

    best = value(found.theta)
    assert best <= value(np.full(4, 0.25)) + 1e-9
    for corner in np.eye(4):
        assert value(0.999 * found.theta + 0.001 * corner) >= best - 1e-6


def test_kl_of_two_kernels_is_the_best_of_a_grid():
    X, y = data()
    model = mk.AlignMKLClassifier([Gaussian(0.7), Gaussian(3.0)], weighting="kl", center=False).fit(X, y)
    K = np.array([Gaussian(0.7)(X), Gaussian(3.0)(X)])
    target = np.where(y == 1, 1.0, -1.0)
    grid = [kl_measure(t * K[0] + (1 - t) * K[1], target) for t in np.linspace(0, 1, 201)]
    found = kl_measure(np.tensordot(model.weights_, K, 1), target)
    assert found <= min(grid) + 1e-5 and 0.05 < model.weights_[0] < 0.95


def test_the_unit_of_y_does_not_matter_to_kl():
    X, _ = data()
    y = X[:, 0] + X[:, 1] ** 2
    first = mk.AlignMKLRegressor(KERNELS, weighting="kl").fit(X, y).weights_
    second = mk.AlignMKLRegressor(KERNELS, weighting="kl").fit(X, 1e3 * y).weights_
    np.testing.assert_allclose(second, first, atol=1e-3)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, np.inf, np.nan, "1", True])
def test_epsilon_must_be_positive(epsilon):
    with pytest.raises(ValueError, match=r"KL\(epsilon="):
        KL(epsilon).weigh(measured()[2])


def test_kl_of_an_indefinite_kernel():
    stack = np.eye(12)[None] - 0.4 * np.ones((12, 12))
    with pytest.raises(ValueError, match="negative eigenvalues"):
        KL().weigh(Alignment(StackGram(stack), np.tile([1.0, -1.0], 6)[:, None]))


# -- both, through the estimators -----------------------------------------------------------------
@pytest.mark.parametrize("weighting", ["fsm", "kl", Alignf(center=False), Alignf(ridge=0.1)])
def test_a_weight_of_two_is_a_repetition(weighting):
    X, y = data(n=30)
    weight = np.random.RandomState(0).randint(1, 4, 30)
    learn = {"weighting": weighting, "normalize": None}
    given = mk.AlignMKLClassifier(KERNELS, **learn).fit(X, y, sample_weight=weight)
    rows = np.repeat(np.arange(30), weight)
    repeated = mk.AlignMKLClassifier(KERNELS, **learn).fit(X[rows], y[rows])
    atol = 1e-3 if weighting == "kl" else 1e-6  # it ends where its conditions nearly hold
    np.testing.assert_allclose(given.weights_, repeated.weights_, atol=atol)


@pytest.mark.parametrize("weighting", ["fsm", "kl", Alignf(center=False)])
def test_features_and_covariates_are_refused(weighting):
    X, y = data()
    with pytest.raises(ValueError, match="explicit features"):
        mk.AlignMKLClassifier(KERNELS, weighting=weighting, approx=Nystroem(8)).fit(X, y)
    with pytest.raises(ValueError, match="covariates were given"):
        mk.AlignMKLClassifier([Gaussian(1.0)], weighting=weighting, covariates=[0]).fit(X, y)


def test_classes_and_numbers():
    X, y = data()
    weights = mk.AlignMKLClassifier(KERNELS, weighting="kl").fit(X, np.arange(40) % 3).weights_
    assert weights.sum() == pytest.approx(1.0)
    assert mk.AlignMKLClassifier(KERNELS, weighting="fsm").fit(X, np.arange(40) % 3).kkt_residual_ <= 1e-6
    with pytest.raises(ValueError, match="targets that are numbers"):
        mk.AlignMKLRegressor(KERNELS, weighting="fsm").fit(X, X[:, 0])
    with pytest.raises(ValueError, match="negative"):
        function = Callable(lambda A, B: -np.exp(-((A[:, :1] - B[:, 0]) ** 2)))
        mk.AlignMKLClassifier([function], weighting="kl").fit(X, y)


# -- alignment without centring, and with a ridge -------------------------------------------------
@pytest.mark.parametrize("center", [False, True])
def test_alignment_without_centring_is_that_of_the_raw_kernels(center):
    """Whatever the second stage centres; the maximum by a convex solver."""
    X, y = data()
    model = mk.AlignMKLClassifier(KERNELS, weighting=Alignf(center=False), center=center).fit(X, y)
    K = np.array([kernel(X) for kernel in KERNELS])
    K /= np.linalg.norm(K, axis=(1, 2))[:, None, None]
    target = np.where(y == 1, 1.0, -1.0)
    c, G = np.einsum("i,mij,j->m", target, K, target) / 40, np.einsum("kij,lij->kl", K, K)
    v = cp.Variable(4, nonneg=True)
    best = -optimal_value(cp.Problem(cp.Minimize(-c @ v), [cp.quad_form(v, cp.psd_wrap(G)) <= 1]))
    raw = np.array([kernel(X) for kernel in KERNELS])
    scales = [kernel.scale_ for kernel in model.kernels_]
    learned = np.tensordot(model.weights_ * scales, raw, 1)
    assert uncentered_alignment(learned, target) == pytest.approx(best, abs=1e-6)
    assert model.alignment_bound_ is None and model.kkt_residual_ <= 1e-10


@pytest.mark.parametrize("ridge", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("center", [False, True])
def test_the_ridge_is_that_of_the_problem(ridge, center):
    _, _, alignment = measured(5)
    found = Alignf(center, ridge).weigh(alignment)
    at = alignment if center else alignment.uncentred
    G, c = at.cosines, at.each
    v = cp.Variable(4, nonneg=True)
    risk = cp.quad_form(v, cp.psd_wrap(G)) - 2 * c @ v + ridge * cp.sum_squares(v)
    best = optimal_value(cp.Problem(cp.Minimize(risk)))
    w = found.theta * at.norms
    scale = (c @ w) / (w @ G @ w + ridge * w @ w)  # the weights are known up to a factor
    w = scale * w
    assert w @ G @ w - 2 * c @ w + ridge * w @ w == pytest.approx(best, abs=1e-7)
    assert found.unique and found.residual <= 1e-12
    if center:
        assert alignment.value(found.theta) <= found.bound + 1e-12


def test_limits_of_the_ridge():
    stack, _, alignment = measured(6)
    unit = Alignment(StackGram(stack, 1.0 / alignment.norms), alignment.given)
    np.testing.assert_allclose(Alignf(ridge=1e9).weigh(unit).theta, Align().weigh(unit).theta, rtol=1e-6)
    np.testing.assert_allclose(Alignf(ridge=1e-13).weigh(unit).theta, Alignf().weigh(unit).theta, atol=1e-6)
    twice = Alignment(StackGram(stack[[0, 0, 1]]), alignment.given)
    first, second, _ = Alignf(ridge=1e-3).weigh(twice).theta
    assert first == pytest.approx(second) and Alignf(ridge=1e-3).weigh(twice).unique


def test_classes_of_different_size_are_what_uncentred_alignment_sees():
    """A kernel of ones and little noise is aligned with labels of which 90 % are the same."""
    rng = np.random.RandomState(0)
    y = np.where(np.arange(40) < 4, -1.0, 1.0)
    noise, signal = rng.randn(40), y + rng.randn(40)
    stack = np.array([np.ones((40, 40)) + 0.01 * np.outer(noise, noise), np.outer(signal, signal)])
    alignment = Alignment(StackGram(stack), y[:, None])
    share = [
        weights[0] * 40 for weights in (Alignf(False).weigh(alignment).theta, Alignf().weigh(alignment).theta)
    ]
    assert alignment.uncentred.each[0] > 0.6 > alignment.each[0] and share[0] > 0.5


@pytest.mark.parametrize("ridge", [-0.1, np.inf, np.nan, "1", True, None])
def test_the_ridge_is_no_negative_number(ridge):
    with pytest.raises(ValueError, match=r"Alignf\(ridge="):
        Alignf(ridge=ridge).weigh(measured()[2])
