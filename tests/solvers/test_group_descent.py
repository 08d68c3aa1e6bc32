"""Groups of explicit features at norm 1: the optimality conditions, cvxpy, and the solver of matrices."""

import itertools

import numpy as np
import pytest
from tests.helpers import cvxpy_optimum

from manykernels import MKLClassifier, MKLRegressor
from manykernels._fast import groups as fast
from manykernels.families import rank_one
from manykernels.grams import FactorGram
from manykernels.inspection import certificate
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.losses import Hinge, Huber, Logistic, Squared, SquaredHinge
from manykernels.objectives import Separable
from manykernels.penalties import LpBall, Simplex
from manykernels.solvers import ActiveSet, GroupDescent, Run
from manykernels.solvers._groups import Quadratic, diagonal_blocks, turned

rng = np.random.RandomState(0)
N, GROUPS, WIDTH = 120, 12, 4
X = rng.randn(N, GROUPS * WIDTH) @ (np.eye(GROUPS * WIDTH) + 0.2)  # columns that are alike
PTR = np.arange(0, X.shape[1] + 1, WIDTH)
Y = (X[:, :8] @ rng.randn(8) + rng.randn(N))[:, None]
SMOOTH = [Squared(), Logistic(), SquaredHinge(), Huber(0.5)]
KERNELS = [OnColumns(Linear(), list(range(lo, lo + WIDTH))) for lo in PTR[:-1]]


def risk_of(loss, C=0.3, intercept=True, Y=Y):
    targets = np.sign(Y) if isinstance(loss, Logistic | SquaredHinge) else Y
    return Separable(loss, targets, np.full(Y.shape, C), intercept)


def solve(solver, risk, tol=1e-8, start=None):
    return solver.run(FactorGram(X, PTR), risk, Simplex(), Run(tol, 1000, np.random.RandomState(0), start))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_optimality_conditions(loss, intercept):
    """‖Φ_gᵀα‖ ≤ N, with equality where a group has weight, and f is that of the weights."""
    risk = risk_of(loss, intercept=intercept)
    found = solve(GroupDescent(), risk)
    assert found.converged and found.certified and 0.0 <= found.gap <= 1e-8
    K = sum(t * X[:, lo:hi] @ X[:, lo:hi].T for t, lo, hi in zip(found.weights, PTR, PTR[1:], strict=False))
    f = K @ found.alpha + found.intercept
    np.testing.assert_allclose(found.alpha, -risk.gradient(f), atol=2e-3 * np.abs(found.alpha).max())
    pull = np.sqrt(np.add.reduceat(((X.T @ found.alpha) ** 2).sum(axis=1), PTR[:-1]))
    level = pull[found.weights > 0]
    assert np.ptp(level) <= 1e-3 * level.max() and pull.max() <= level.max() * (1 + 1e-3)
    again = 0.5 * found.weights @ pull**2 + risk.value(f)  # at the optimum ½N² = ½ Σ θ_g ‖Φ_gᵀα‖²
    np.testing.assert_allclose(found.primal, again, rtol=1e-6)


@pytest.mark.parametrize("loss", SMOOTH[:3], ids=repr)
def test_agrees_with_cvxpy_and_with_the_solver_of_matrices(loss):
    risk = risk_of(loss)
    found = solve(GroupDescent(), risk)
    stack = np.stack([X[:, lo:hi] @ X[:, lo:hi].T for lo, hi in itertools.pairwise(PTR)])
    np.testing.assert_allclose(found.primal, cvxpy_optimum(stack, risk, Simplex()), rtol=1e-5)
    other = solve(ActiveSet(), risk)
    np.testing.assert_allclose(found.primal, other.primal, rtol=1e-7)
    np.testing.assert_allclose(found.weights, other.weights, atol=1e-3)


def test_several_outputs_share_the_groups():
    both = np.c_[Y, X[:, [20]] + rng.randn(N, 1)]
    risk = risk_of(Squared(), Y=both)
    np.testing.assert_allclose(solve(GroupDescent(), risk).primal, solve(ActiveSet(), risk).primal, rtol=1e-7)


def test_samples_of_different_cost():
    costs = rng.uniform(0.1, 2.0, size=(N, 1))
    for loss, target in ((Squared(), Y), (Logistic(), np.sign(Y))):
        risk = Separable(loss, target, costs, True)
        found, other = solve(GroupDescent(), risk), solve(ActiveSet(), risk)
        np.testing.assert_allclose(found.primal, other.primal, rtol=1e-7)
        np.testing.assert_allclose(found.intercept, other.intercept, atol=1e-3)


def test_a_start_is_used():
    risk = risk_of(Squared())
    cold = solve(GroupDescent(), risk, 1e-6)
    warm = solve(GroupDescent(), risk, 1e-6, (cold.weights, cold.alpha))
    assert warm.n_iter <= cold.n_iter and warm.converged
    np.testing.assert_allclose(warm.primal, cold.primal, rtol=2e-6)


@pytest.mark.parametrize("spread", [0.0, 10.0])
def test_sweeps_and_newton_reach_the_minimum_of_the_quadratic(spread):
    """Also where groups nearly depend on each other, which sweeps alone would take very long for."""
    A = rng.randn(40, 20) + spread * rng.randn(40, 1)
    H, b, ptr = A.T @ A, rng.randn(2, 20) @ (A.T @ A), np.array([0, 3, 9, 10, 16, 20])
    bases = diagonal_blocks(H, ptr)
    turned_H = turned(turned(H, ptr, bases).T, ptr, bases)
    found = Quadratic(turned_H, turned(b, ptr, bases), ptr)
    w = turned(found.minimise(np.zeros((2, 20)), 1e-12), ptr, bases, back=True)
    norms = found.norms(w)
    residual, total = b - w @ H, norms.sum()
    for g, (lo, hi) in enumerate(itertools.pairwise(ptr)):
        part = residual[:, lo:hi]
        if norms[g] > 0:
            np.testing.assert_allclose(part, total * w[:, lo:hi] / norms[g], atol=1e-7 * np.abs(b).max())
        else:
            assert np.linalg.norm(part) <= total * (1 + 1e-9)


def test_a_block_is_minimised_exactly():
    d, c, s = np.array([0.5, 2.0, 0.0]), np.array([[1.0, -2.0, 0.3]]), 0.7
    H, ptr = np.zeros((4, 4)), np.array([0, 3, 4])
    H[[0, 1, 2], [0, 1, 2]] = d
    w, norms = np.array([[0.0, 0.0, 0.0, s]]), np.array([0.0, s])
    b = np.c_[c, [[s]]]
    fast.sweep(H, ptr, b, w, w @ H, norms)
    block, r = w[0, :3], np.linalg.norm(w[0, :3])
    np.testing.assert_allclose((d + 1 + s / r) * block, c[0], rtol=1e-10)


# -- chosen by itself ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("model", "target"),
    [
        (MKLRegressor(KERNELS, C=0.1), Y[:, 0]),
        (MKLRegressor(rank_one(), C=0.1), Y[:, 0]),
        (MKLRegressor(KERNELS, C=0.1, center=True, normalize="max"), Y[:, 0]),
        (MKLClassifier(KERNELS, loss="logistic", class_weight="balanced"), Y[:, 0] > 1),
        (MKLClassifier(KERNELS, loss="logistic", multi_class="ovr"), np.digitize(Y[:, 0], [-1, 1])),
        (MKLClassifier(KERNELS, loss="squared"), np.digitize(Y[:, 0], [-1, 1])),
    ],
    ids=["groups", "columns", "centred", "balanced", "one against the rest", "classes"],
)
def test_estimators_take_it_for_narrow_kernels(model, target):
    """The same model as that of the solver of matrices, with a certificate that holds when computed anew."""
    found = model.set_params(tol=1e-6).fit(X, target)
    P, gap = found.objective_, found.dual_gap_
    decide = found.predict if isinstance(model, MKLRegressor) else found.decision_function
    f = decide(X)
    again = certificate(found, X, target)
    assert gap <= 1e-6 and again.gap <= 2e-6
    np.testing.assert_allclose(again.primal, P, rtol=1e-6)
    other = model.set_params(solver="active-set").fit(X, target)
    np.testing.assert_allclose(P, other.objective_, rtol=3e-6)
    decide = other.predict if isinstance(model, MKLRegressor) else other.decision_function
    np.testing.assert_allclose(f, decide(X), atol=2e-2 * np.abs(f).max())


def test_wide_kernels_and_others_stay_matrices():
    few = [OnColumns(Linear(), list(range(20))), OnColumns(Linear(), list(range(20, 48)))]
    for kernels in (few, [*KERNELS, Gaussian(3.0)]):
        assert MKLRegressor(kernels).fit(X, Y[:, 0]).dual_gap_ <= 1e-3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kernels": [Gaussian(1.0)]}, "needs kernels with explicit features"),
        ({"kernels": KERNELS, "norm": 2.0}, "needs norm=1"),
        ({"kernels": KERNELS, "loss": "epsilon_insensitive"}, "smooth losses"),
    ],
)
def test_what_it_does_not_serve_is_told(options, said):
    with pytest.raises(ValueError, match=said):
        MKLRegressor(solver="group-descent", **options).fit(X, Y[:, 0])


def test_outputs_that_share_no_model_are_told():
    many = np.sign(np.c_[Y, -Y])
    with pytest.raises(ValueError, match="2 outputs"):
        solve(GroupDescent(), Separable(Logistic(), many, np.ones_like(many), True))
    with pytest.raises(ValueError, match="norm=1"):
        GroupDescent().run(FactorGram(X, PTR), risk_of(Squared()), LpBall(2.0), Run(1e-3, 10, rng))
    with pytest.raises(ValueError, match="smooth losses"):
        solve(GroupDescent(), Separable(Hinge(), np.sign(Y), np.ones_like(Y), True))
