"""Groups of explicit features at norm 1: the optimality conditions, cvxpy, and the solver of matrices."""

import itertools
import tracemalloc

import cvxpy as cp
import numpy as np
import pytest
from sklearn.base import clone
from tests.helpers import cvxpy_optimum

from manykernels import MKLClassifier, MKLRegressor, MKLRegressorCV
from manykernels._fast import groups as fast
from manykernels.approx import OwnFeatures, RandomFeatures
from manykernels.families import rank_one
from manykernels.grams import FactorGram
from manykernels.inspection import certificate
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.losses import Hinge, Huber, Logistic, Squared, SquaredHinge
from manykernels.machines.free import basis
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


# -- groups of many features --------------------------------------------------------------------------
WIDE_PTR = np.arange(0, 101, 20)
WIDE = rng.randn(N, 100) + 0.3 * rng.randn(N, 1)
TARGET = (WIDE[:, :40] @ rng.randn(40) + 3.0 * rng.randn(N))[:, None]


def wide_gram(A=WIDE, mean=None):
    return FactorGram(np.asfortranarray(A), WIDE_PTR, mean=mean)


def solved(solver, gram, risk, tol=1e-8):
    return solver.run(gram, risk, Simplex(), Run(tol, 1000, np.random.RandomState(0)))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_wide_groups_agree_with_the_solver_of_matrices(loss, intercept):
    risk = risk_of(loss, intercept=intercept, Y=TARGET)
    found, other = solved(GroupDescent(), wide_gram(), risk), solved(ActiveSet(), wide_gram(), risk)
    assert found.converged and found.certified and 0.0 <= found.gap <= 1e-8
    np.testing.assert_allclose(found.primal, other.primal, rtol=1e-7)
    np.testing.assert_allclose(found.weights, other.weights, atol=1e-3)
    np.testing.assert_allclose(found.intercept, other.intercept, atol=1e-3)


def test_wide_groups_of_several_outputs_costs_and_centred_kernels():
    both, costs = np.c_[TARGET, WIDE[:, [50]] + rng.randn(N, 1)], rng.uniform(0.1, 2.0, size=(N, 1))
    gram = wide_gram(mean=costs[:, 0] / costs.sum())
    for risk in (
        Separable(Squared(), both, np.repeat(costs, 2, axis=1), True),
        Separable(Squared(), both, np.repeat(costs, 2, axis=1), False),
        Separable(Logistic(), np.sign(TARGET), costs, True),
    ):
        found, other = solved(GroupDescent(), gram, risk), solved(ActiveSet(), gram, risk)
        np.testing.assert_allclose(found.primal, other.primal, rtol=1e-7)
        np.testing.assert_allclose(found.intercept, other.intercept, atol=1e-3)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", SMOOTH[:3], ids=repr)
def test_wide_groups_beside_covariates(loss, intercept):
    Z = basis(np.hstack([np.ones((N, int(intercept))), rng.randn(N, 2) + WIDE[:, :2]]))
    target = np.sign(TARGET) if isinstance(loss, Logistic | SquaredHinge) else TARGET
    for mean in (None, np.full(N, 1.0 / N)):
        risk = Separable(loss, target, np.full(target.shape, 0.3), intercept, Z=Z)
        gram = wide_gram(mean=mean)
        found, other = solved(GroupDescent(), gram, risk, 1e-7), solved(ActiveSet(), gram, risk, 1e-7)
        assert found.gap <= 1e-7
        np.testing.assert_allclose(found.primal, other.primal, rtol=3e-7)
        np.testing.assert_allclose(found.intercept, other.intercept, atol=1e-3 * np.ptp(other.intercept))


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=repr)
@pytest.mark.parametrize("rows", [N, 70])
def test_wide_groups_that_nearly_depend_on_each_other(loss, rows):
    """Sweeps are too slow for them: Newton's method ends it, on the features or on fewer samples."""
    A = WIDE[:rows] + 5.0 * rng.randn(rows, 1)
    risk = risk_of(loss, C=30.0, Y=TARGET[:rows])
    found, other = (
        solved(GroupDescent(), wide_gram(A), risk, 1e-5),
        solved(ActiveSet(), wide_gram(A), risk, 1e-6),
    )
    assert found.gap <= 1e-5
    np.testing.assert_allclose(found.primal, other.primal, rtol=2e-5)


@pytest.mark.parametrize("A, ptr", [(WIDE, WIDE_PTR), (X, PTR)], ids=["wide", "narrow"])
@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=repr)
def test_a_path_is_that_of_single_fits(loss, A, ptr):
    risk, scales, run = risk_of(loss, C=3.0), [0.01, 0.1, 1.0], Run(1e-7, 1000, np.random.RandomState(0))
    path = GroupDescent().run_path(FactorGram(np.asfortranarray(A), ptr), risk, Simplex(), scales, run)
    for scale, found in zip(scales, path, strict=True):
        alone = solved(GroupDescent(), FactorGram(np.asfortranarray(A), ptr), risk.scaled(scale), 1e-7)
        assert found.gap <= 1e-7 and len(found.history.gap) >= 1
        np.testing.assert_allclose(found.primal, alone.primal, rtol=3e-7)
        np.testing.assert_allclose(found.weights, alone.weights, atol=1e-3)


def test_the_group_lasso_at_the_sum_of_norms():
    """½‖y − Σ Z_g w_g‖² + λ Σ ‖w_g‖ at λ = Σ ‖w_g‖/C has the same w; columns of two groups are copied."""
    shared = np.hstack([WIDE[:, :20], WIDE[:, 10:30], WIDE[:, 25:45], WIDE[:, 60:80], WIDE[:, 70:90]])
    C, y = 0.3, TARGET[:, 0]
    risk = Separable(Squared(), TARGET, np.full(TARGET.shape, C), False)
    found = solved(GroupDescent(), wide_gram(shared), risk, 1e-12)
    w = np.repeat(found.weights, 20) * (shared.T @ found.alpha)[:, 0]
    groups = [slice(lo, lo + 20) for lo in WIDE_PTR[:-1].tolist()]
    sizes = np.array([np.linalg.norm(w[own]) for own in groups])
    lam, pull = sizes.sum() / C, shared.T @ (y - shared @ w)
    for own, size in zip(groups, sizes, strict=True):
        if size > 0:
            np.testing.assert_allclose(pull[own], lam * w[own] / size, atol=1e-4 * lam)
        assert np.linalg.norm(pull[own]) <= lam * (1 + 1e-4)
    lasso = cp.Variable(100)
    norms = sum(cp.norm(lasso[own]) for own in groups)
    value = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(y - shared @ lasso) + lam * norms)).solve("CLARABEL")
    np.testing.assert_allclose(0.5 * np.sum((y - shared @ w) ** 2) + lam * sizes.sum(), value, rtol=1e-6)


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


GAUSSIANS = [OnColumns(Gaussian(8.0), list(range(lo, lo + 20))) for lo in range(0, 81, 20)]
SETS = [
    OnColumns(Linear(), list(range(lo, lo + 20))) for lo in range(0, 81, 10)
]  # each shares half of the next


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (MKLRegressor(SETS, C=0.1), TARGET[:, 0]),
        (MKLRegressor(SETS, C=0.1, center=True, fit_intercept=False), TARGET[:, 0]),
        (MKLClassifier(SETS, loss="logistic"), TARGET[:, 0] > 1),
        (MKLClassifier(SETS, loss="squared_hinge", class_weight="balanced"), TARGET[:, 0] > 1),
        (MKLRegressor(SETS, C=0.1, approx=OwnFeatures()), TARGET[:, 0]),
        (MKLClassifier(SETS, loss="logistic", approx=OwnFeatures()), TARGET[:, 0] > 1),
        (MKLRegressor(GAUSSIANS, C=0.1, approx=RandomFeatures(20), random_state=0), TARGET[:, 0]),
        (
            MKLClassifier(GAUSSIANS, loss="logistic", approx=RandomFeatures(20), random_state=0),
            TARGET[:, 0] > 1,
        ),
    ],
    ids=[
        "squared",
        "centred",
        "logistic",
        "squared hinge",
        "sums",
        "own features",
        "random",
        "random, logistic",
    ],
)
def test_estimators_take_it_for_sets_that_share_columns(model, target):
    model = clone(model).set_params(tol=1e-6)
    found, other = model.fit(WIDE, target), clone(model).set_params(solver="active-set").fit(WIDE, target)
    assert found.dual_gap_ <= 1e-6
    np.testing.assert_allclose(found.objective_, other.objective_, rtol=3e-6)
    decide = "predict" if isinstance(model, MKLRegressor) else "decision_function"
    f, g = (getattr(one, decide)(WIDE[:30]) for one in (found, other))
    np.testing.assert_allclose(f, g, atol=2e-2 * np.abs(g).max())
    given = clone(model).set_params(solver="group-descent").fit(WIDE, target)
    np.testing.assert_allclose(given.objective_, found.objective_, rtol=1e-12)


def test_shared_columns_are_copied_once_within_the_limit():
    """20 sets of 60 columns of 1,200 samples: the copies are 11 MB, five matrices of n × n would be 58."""
    A = rng.randn(1200, 300)
    sets = [OnColumns(Linear(), rng.choice(300, 60, replace=False)) for _ in range(20)]
    y = A[:, :30].sum(axis=1) + rng.randn(1200)
    model = MKLRegressor(sets, C=0.01, memory_limit="30MB").fit(A[:300], y[:300])  # whatever is compiled
    tracemalloc.start()
    model.fit(A, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.dual_gap_ <= 1e-3 and peak <= 30 * 2**20
    with pytest.raises(MemoryError, match="memory_limit allows"):
        model.set_params(memory_limit="8MB").fit(A, y)


def test_searches_take_it_where_norm_1_is_all_there_is():
    many = [OnColumns(Linear(), [j, j + 1]) for j in range(45)]
    options = {"norms": [1.0], "Cs": [0.01, 0.1], "cv": 3, "strategy": "finite"}
    found = MKLRegressorCV(many, tol=1e-6, **options).fit(WIDE, TARGET[:, 0])
    C = found.best_params_["C"]
    other = MKLRegressor(many, C=C, solver="active-set", tol=1e-6).fit(WIDE, TARGET[:, 0])
    assert found.dual_gap_ <= 1e-6
    np.testing.assert_allclose(found.objective_, other.objective_, rtol=3e-6)
    np.testing.assert_allclose(found.predict(WIDE), other.predict(WIDE), atol=2e-2 * np.ptp(TARGET))


def test_wide_kernels_and_others_stay_matrices():
    few = [OnColumns(Linear(), list(range(40))), OnColumns(Linear(), list(range(40, 48)))]
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
