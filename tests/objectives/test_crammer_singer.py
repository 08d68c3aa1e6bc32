"""The hinge of several classes in one problem: its dual, the set of dual points, its machine, and optima."""

import cvxpy as cp
import numpy as np
import pytest
from benchmarks.references import optimal_value, root
from scipy.optimize import linprog
from tests.helpers import PENALTIES, gaussians, run

from manykernels.objectives import CrammerSinger
from manykernels.penalties import ElasticNet, LpBall, Simplex
from manykernels.solvers import ActiveSet, Alternating, Corrective, Greedy
from manykernels.solvers._interior import InteriorPoint

each_intercept = pytest.mark.parametrize("fit_intercept", [True, False], ids=["b", "no b"])


def setting(fit_intercept=True, n=36, k=4, C=1.0, seed=0):
    """Kernels of which some are of rank one, overlapping classes of different sizes, costs that differ."""
    rng = np.random.RandomState(seed)
    X = rng.randn(n, 3)
    stack = np.concatenate([gaussians(X, [0.05, 0.5, 3.0]), np.einsum("im,jm->mij", X, X)])
    cuts = np.quantile(X[:, 0], np.arange(1, k) / k) + 0.3
    y = np.digitize(X[:, 0] + 0.5 * rng.randn(n), cuts)
    y[:k] = np.arange(k)
    return stack, CrammerSinger(y, C * rng.uniform(0.5, 2.0, n), k, fit_intercept)


def reference(stack, risk, penalty):
    """min P by cvxpy, written as in the docstring."""
    n, k = risk.shape
    roots = [root(K) for K in stack]
    w = [cp.Variable((L.shape[1], k)) for L in roots]
    f = sum(L @ v for L, v in zip(roots, w, strict=True))
    if risk.fit_intercept:
        f = f + np.ones((n, 1)) @ cp.Variable((1, k))
    own = np.eye(k)[risk.y]
    loss = risk.C @ (cp.max(1.0 - own + f, axis=1) - cp.sum(cp.multiply(own, f), axis=1))
    norms = cp.hstack([cp.norm(v, "fro") for v in w])
    if isinstance(penalty, ElasticNet):
        size = 0.5 * penalty.lam * cp.sum_squares(norms) + (1 - penalty.lam) * cp.sum(norms)
    else:
        p = penalty.p
        size = 0.5 * cp.square(cp.pnorm(norms, 2.0 if np.isinf(p) else 2 * p / (p + 1)))
    return optimal_value(cp.Problem(cp.Minimize(size + loss)), 1e-9)


# -- the dual -----------------------------------------------------------------------------------
def test_the_conjugate_by_a_linear_program():
    """R*(u) = sup ⟨u, f⟩ − ξ with ξ ≥ C (1 − [c = y] + f_c − f_y) for one sample; no bound outside."""
    k, C, y, rng = 4, 1.7, 2, np.random.RandomState(0)
    risk = CrammerSinger(np.array([y]), np.array([C]), k, False)
    rows = C * (np.eye(k) - np.eye(k)[[y]])
    A = np.column_stack([rows, -np.ones(k)])
    right = -C * (1.0 - np.eye(k)[y])
    for _ in range(20):
        p = rng.dirichlet(np.full(k, 0.5))
        alpha = C * (np.eye(k)[y] - p)
        cost = np.r_[alpha, 1.0]  # minimise ⟨α, f⟩ + ξ
        found = linprog(cost, A_ub=A, b_ub=right, bounds=(None, None))
        assert risk.dual_fit(alpha[None]) == pytest.approx(found.fun, abs=1e-9)
        outside = alpha + 0.1 * rng.randn(k)
        assert linprog(np.r_[outside, 1.0], A_ub=A, b_ub=right, bounds=(None, None)).status == 3
        assert risk.dual_fit(outside[None]) == -np.inf


@each_intercept
def test_the_dual_is_below_every_primal(fit_intercept):
    stack, risk = setting(fit_intercept)
    rng = np.random.RandomState(1)
    for trial in range(30):
        penalty = PENALTIES[trial % len(PENALTIES)]
        theta = penalty.start(len(stack)) * rng.uniform(0.1, 1.0, len(stack))
        alpha, z = (risk.feasible(3.0 * rng.randn(*risk.shape)) for _ in range(2))
        q, other = (np.einsum("ik,mij,jk->m", a, stack, a) for a in (alpha, z))
        f = np.einsum("m,mij,jk->ik", theta, stack, alpha) + fit_intercept * rng.randn(risk.shape[1])
        P = 0.5 * penalty.group_norm(theta * np.sqrt(np.maximum(q, 0.0))) + risk.value(f)
        assert risk.dual(z, other, penalty, 1.0) <= P


def test_gradients_and_the_worst_that_rounding_does():
    _, risk = setting()
    rng = np.random.RandomState(2)
    for _ in range(20):
        f, g, off = rng.randn(*risk.shape), rng.randn(*risk.shape), 0.1 * rng.rand(*risk.shape)
        assert risk.value(g) >= risk.value(f) + np.sum(risk.gradient(f) * (g - f)) - 1e-12
        moved = f + off * rng.choice([-1.0, 1.0], risk.shape)
        assert risk.worst(f, off) >= risk.value(moved) - 1e-12
        # α = −∇R attains −R*(−α) = R(f) − ⟨∇R, f⟩
        alpha = -risk.gradient(f)
        assert risk.dual_fit(alpha) == pytest.approx(risk.value(f) + np.sum(alpha * f), abs=1e-10)


# -- the set of dual points -----------------------------------------------------------------------
@each_intercept
def test_points_are_made_feasible_to_the_last_digit(fit_intercept):
    rng = np.random.RandomState(3)
    for trial in range(60):
        n, k = int(rng.randint(3, 30)), int(rng.randint(2, 6))
        n = max(n, k)
        y = np.r_[np.arange(k), rng.randint(k, size=n - k)]
        C = 10.0 ** rng.uniform(-4, 4, n)
        risk = CrammerSinger(y, C, k, fit_intercept)
        raw = C[:, None] * rng.randn(n, k) * 10.0 ** rng.randint(-6, 3)
        point = risk.exact(raw)
        assert np.isfinite(risk.dual_fit(point))
        assert not np.any(point.sum(axis=1)) and np.all(point <= risk.plans.caps)
        assert not fit_intercept or not np.any(point.sum(axis=0)), trial
        given = risk.feasible(raw)  # zero is exact too, and would bound nothing
        np.testing.assert_allclose(point, given, rtol=0.0, atol=1e-13 * C.sum())
        near = risk.feasible(point)
        np.testing.assert_allclose(near, point, rtol=1e-6, atol=1e-12 * np.abs(point).sum())
        inside = risk.interior(raw)
        assert np.all(inside < risk.plans.caps)


def test_rows_are_projected_as_cvxpy_does_it():
    rng = np.random.RandomState(4)
    risk = CrammerSinger(np.array([0, 1, 2, 1]), np.array([0.3, 1.0, 5.0, 2.0]), 3, False)
    for _ in range(5):
        raw = 3.0 * rng.randn(4, 3)
        x = cp.Variable((4, 3))
        rules = [cp.sum(x, axis=1) == 0, x <= risk.plans.caps]
        optimal_value(cp.Problem(cp.Minimize(cp.sum_squares(x - raw)), rules), 1e-10)
        np.testing.assert_allclose(risk.feasible(raw), x.value, atol=1e-5)


def test_intercepts_by_a_linear_program():
    rng = np.random.RandomState(5)
    for seed in range(6):
        _, risk = setting(n=20, k=3, C=10.0 ** rng.uniform(-2, 2), seed=seed)
        (n, k), score = risk.shape, (10.0 ** rng.uniform(-2, 1)) * rng.randn(20, 3)
        own = np.eye(k)[risk.y]
        A = np.zeros((n, k, k + n))
        A[:, :, :k] = np.eye(k) - own[:, None, :]
        A[np.arange(n), :, k + np.arange(n)] = -1.0
        right = -(1.0 - own + score - np.sum(own * score, axis=1)[:, None])
        best = linprog(
            np.r_[np.zeros(k), risk.C], A_ub=A.reshape(n * k, -1), b_ub=right.ravel(), bounds=(None, None)
        )
        b = risk.intercepts(score)
        assert risk.value(score + b) == pytest.approx(best.fun, rel=1e-6)
        assert b.sum() == pytest.approx(0.0, abs=1e-9)


# -- the machine ----------------------------------------------------------------------------------
@each_intercept
@pytest.mark.parametrize("C", [1e-2, 1.0, 1e3])
def test_one_kernel(C, fit_intercept):
    stack, risk = setting(fit_intercept, C=C)
    K = stack.mean(axis=0)
    fit = risk.solve(K, risk.zeros(), 1e-9 * risk.zero_value())
    assert fit.gap <= 1e-9 * risk.zero_value()
    np.testing.assert_allclose(fit.f, K @ fit.alpha + fit.intercept, atol=1e-9 * (1 + np.abs(fit.f).max()))
    assert risk.machine_value(fit) == pytest.approx(reference(K[None], risk, Simplex()), rel=1e-5)


@each_intercept
def test_second_derivatives_by_differences(fit_intercept):
    """BᵀB is that of J(θ), and α moves as `move` says."""
    stack, risk = setting(fit_intercept, n=30, k=3, C=2.0)
    stack = stack + 1e-3 * np.eye(30)
    theta, rng, h = np.full(6, 1 / 6), np.random.RandomState(6), 1e-6

    def at(theta):
        return risk.solve(np.einsum("m,mij->ij", theta, stack), risk.zeros(), 1e-14)

    fit, d = at(theta), rng.uniform(-1, 1, 6)
    R = np.einsum("mij,jk->mik", stack, fit.alpha)
    B = risk.curvature(np.einsum("m,mij->ij", theta, stack), fit, R)
    ends = [at(theta + s * h * d) for s in (1.0, -1.0)]
    slopes = [-0.5 * np.einsum("ik,mij,jk->m", e.alpha, stack, e.alpha) for e in ends]
    np.testing.assert_allclose(B.T @ (B @ d), (slopes[0] - slopes[1]) / (2 * h), rtol=1e-2, atol=1e-3)
    moved = risk.move(fit, fit.alpha, B @ (h * d))
    np.testing.assert_allclose((moved - fit.alpha) / h, (ends[0].alpha - ends[1].alpha) / (2 * h), atol=2e-2)


# -- whole problems -------------------------------------------------------------------------------
@each_intercept
@pytest.mark.parametrize(
    "penalty", [Simplex(), LpBall(1.3), LpBall(2.0), LpBall(np.inf), ElasticNet(0.4)], ids=repr
)
def test_optima_are_cvxpys(penalty, fit_intercept):
    stack, risk = setting(fit_intercept, C=2.0)
    optimum = reference(stack, risk, penalty)
    result = run(ActiveSet(), stack, risk, penalty, 1e-7, 300)
    assert result.certified and result.gap <= 1e-7
    assert result.dual <= optimum * (1 + 1e-7)
    assert result.primal == pytest.approx(optimum, rel=1e-6)
    f = np.einsum("m,mij,jk->ik", result.weights, stack, result.alpha) + result.intercept
    # complementary slackness: a sample only spends on classes at the top of its margins
    reach = 1.0 - np.eye(4)[risk.y] + f
    spent = risk.plans.caps - result.alpha
    assert np.sum(spent * (reach.max(axis=1, keepdims=True) - reach)) <= 1e-6 * result.primal


@pytest.mark.parametrize(
    ("solver", "tol"),
    [(ActiveSet(warm_size=5), 1e-6), (Alternating(), 1e-3), (Corrective(), 1e-5), (Greedy(), 3e-2)],
    ids=["warm", "alternating", "corrective", "greedy"],
)
def test_other_solvers_agree(solver, tol):
    stack, risk = setting(n=60, C=1.0)
    best = run(ActiveSet(), stack, risk, Simplex(), 1e-8, 300)
    result = run(solver, stack, risk, Simplex(), tol, 2000)
    assert result.gap <= tol and result.dual <= best.primal
    assert result.primal == pytest.approx(best.primal, rel=2 * tol)


@each_intercept
@pytest.mark.parametrize("penalty", [Simplex(), LpBall(2.0), ElasticNet(0.3)], ids=repr)
def test_the_joint_interior_point_method(penalty, fit_intercept):
    stack, risk = setting(fit_intercept, n=30, k=3)
    inner = InteriorPoint(
        risk,
        penalty,
        lambda theta: np.einsum("m,mij->ij", theta, stack),
        lambda alpha: np.einsum("mij,jk->mik", stack, alpha),
        penalty.start(len(stack)),
        risk.zeros(),
        1.0,
    )
    inner.run(0.3 * risk.zero_value(), 1e-8 * risk.zero_value())
    best = run(ActiveSet(), stack, risk, penalty, 1e-8, 300)
    q = np.einsum("ik,mij,jk->m", inner.alpha, stack, inner.alpha)
    assert risk.dual(inner.alpha, q, penalty, 1.0) == pytest.approx(best.primal, rel=1e-6)


def test_hard_problems_are_solved_or_honest():
    """Costs from tiny to huge, classes of one sample, repeated samples: the gap is true."""
    for seed in range(8):
        stack, risk = setting(n=12, k=5, C=10.0 ** (seed - 3), seed=seed)
        stack[:, 6:] = stack[:, :6]
        stack[:, :, 6:] = stack[:, :, :6]
        result = run(ActiveSet(), stack, risk, Simplex(), 1e-5, 100)
        optimum = reference(stack, risk, Simplex())
        assert result.dual <= optimum * (1 + 1e-6) and result.primal >= optimum * (1 - 1e-6)
        assert result.gap <= 1e-5


def test_parts_of_the_samples_need_every_class():
    _, risk = setting(n=20, k=4)
    assert risk.subset(np.arange(3)) is None
    some = risk.subset(np.arange(10))
    assert some is not None and some.C.sum() == pytest.approx(risk.C.sum())
    assert risk.scaled(2.0).value(risk.zeros()) == pytest.approx(2.0 * risk.value(risk.zeros()))


@each_intercept
@pytest.mark.parametrize("off", [1e-3, 1e-6])
def test_a_point_that_is_almost_feasible_hardly_moves(fit_intercept, off):
    """Columns are balanced by what is between bounds, in proportion to it."""
    _, risk = setting(fit_intercept)
    rng = np.random.RandomState(5)
    inside = 0.5 * (risk.feasible(rng.randn(*risk.shape)) + risk.plans.center)
    near = inside + off * rng.randn(*risk.shape)
    assert np.abs(risk.feasible(near) - inside).max() < 10.0 * off
    np.testing.assert_allclose(risk.feasible(inside), inside, atol=1e-12)


@each_intercept
def test_descent_alone_solves_easy_problems(fit_intercept):
    """The interior-point method is for hard ones."""
    stack, risk = setting(fit_intercept, C=0.3)
    machine, K = risk.machine, stack[:3].sum(axis=0)
    zero = np.zeros(risk.shape)
    first = machine.judged(zero, zero, machine.offsets(zero) if fit_intercept else np.zeros(risk.shape[1]))
    found = machine._descent(K, first, 1e-8)
    assert found.gap <= 1e-8
    inside = machine._inside(K, first, 1e-8)
    assert inside.gap <= 1e-7
    np.testing.assert_allclose(inside.f, found.f, atol=1e-3)


def test_directions_in_which_a_point_is_free_keep_its_rows():
    """One from the class that a sample spends most on to each other that it spends on."""
    _, risk = setting()
    alpha = risk.feasible(np.random.RandomState(6).randn(*risk.shape))
    i, V = risk.plans.pairs(alpha, 1e-6)
    spent = risk.plans.caps - alpha > 1e-6 * risk.C[:, None]
    assert np.array_equal(np.bincount(i, minlength=len(alpha)), spent.sum(axis=1) - 1)
    assert np.all(np.sort(V, axis=1)[:, [0, -1]] == [-1.0, 1.0]) and np.all(np.abs(V).sum(axis=1) == 2.0)
    assert np.all(spent[i][V > 0.0]) and np.all(spent[i][V < 0.0])
