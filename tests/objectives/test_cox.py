"""Cox's partial likelihood as a risk: its value, derivatives, root and conjugate against naive forms."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize

from manykernels.grams import StackGram
from manykernels.grams.features import Combination
from manykernels.machines.joint import Inverse
from manykernels.objectives import Cox
from manykernels.objectives.intervals import Intervals
from manykernels.penalties import resolve_penalty
from manykernels.solvers import Run, resolve_solver

CASES = [
    (ties, tied, strata, weighted, late)
    for ties in ("breslow", "efron")
    for tied in (False, True)
    for strata, weighted, late in [
        (False, False, False),
        (True, True, False),
        (False, True, True),
        (True, False, True),
    ]
]


def problem(seed, tied=False, strata=False, weighted=False, late=False, n=13):
    rng = np.random.RandomState(seed)
    event = (rng.uniform(size=n) < 0.7).astype(float)
    event[0] = 1.0
    time = rng.randint(1, 6, n).astype(float) if tied else 0.1 + rng.uniform(size=n)
    w = rng.randint(1, 4, n).astype(float) if weighted else np.ones(n)
    stratum = rng.randint(0, 2, n).astype(float) if strata else np.zeros(n)
    entry = time * rng.uniform(0.0, 0.9, n) if late else None
    return {"event": event, "time": time, "C": 2.0 * w, "w": w, "stratum": stratum, "entry": entry}


def naive(f, event, time, C, w, stratum, entry, ties):
    """Σ_l [c̄_l Σ_r log S_lr − Σ_{i∈D_l} c_i f_i], by loops."""
    total = 0.0
    for s in np.unique(stratum):
        for t in np.unique(time[(stratum == s) & (event > 0)]):
            tied = (stratum == s) & (time == t) & (event > 0)
            at_risk = (stratum == s) & (time >= t) & (True if entry is None else entry < t)
            d = tied.sum()
            for r in range(d):
                lighter = r / d if ties == "efron" else 0.0
                S = np.sum((w * np.exp(f))[at_risk]) - lighter * np.sum((w * np.exp(f))[tied])
                total += C[tied].mean() * np.log(S)
            total -= np.sum((C * f)[tied])
    return total


def derivative(function, f, step=1e-5):
    return np.array([(function(f + step * e) - function(f - step * e)) / (2 * step) for e in np.eye(f.size)])


@pytest.mark.parametrize(("ties", "tied", "strata", "weighted", "late"), CASES)
def test_value_gradient_and_curvature_are_those_of_the_definition(ties, tied, strata, weighted, late):
    given = problem(0, tied, strata, weighted, late)
    risk, f = Cox(**given, ties=ties), 2.0 * np.random.RandomState(1).randn(13)
    assert risk.value(f[:, None]) == pytest.approx(naive(f, **given, ties=ties), rel=1e-12)
    g = risk.gradient(f[:, None])[:, 0]
    np.testing.assert_allclose(g, derivative(lambda x: risk.value(x[:, None]), f), atol=1e-6)
    root = risk.joint_root(f)
    W = root.times(root.left(np.eye(13)))
    np.testing.assert_allclose(W, derivative(lambda x: risk.gradient(x[:, None])[:, 0], f), atol=1e-6)
    L = root.times(np.eye(13))
    K = np.cov(np.random.RandomState(2).randn(13, 20))
    np.testing.assert_allclose(root.inside(K), L.T @ K @ L, atol=1e-12)
    np.testing.assert_allclose(root.squares(K), K.T @ W @ K, atol=1e-12)


@pytest.mark.parametrize(("ties", "tied", "strata", "weighted", "late"), CASES)
def test_the_conjugate_is_the_supremum(ties, tied, strata, weighted, late):
    """Fenchel–Young holds with equality at u = ∇R(f), and every other f is below."""
    given = problem(3, tied, strata, weighted, late)
    risk, rng = Cox(**given, ties=ties), np.random.RandomState(4)
    f = rng.randn(13)
    g = risk.gradient(f[:, None])[:, 0]
    conjugate = -risk.dual_fit(-g[:, None])
    assert conjugate == pytest.approx(g @ f - risk.value(f[:, None]), abs=1e-8)
    for _ in range(5):
        other = f + rng.randn(13)
        assert g @ other - risk.value(other[:, None]) <= conjugate + 1e-9
    back = risk.sets.given(risk.sets.decisions(risk.sets.sorted(-g)))
    np.testing.assert_allclose(risk.gradient(back[:, None])[:, 0], g, atol=1e-8)


@pytest.mark.parametrize(("ties", "tied", "strata", "weighted", "late"), CASES)
def test_any_point_is_made_feasible(ties, tied, strata, weighted, late):
    given = problem(5, tied, strata, weighted, late)
    Z = np.linalg.qr(np.column_stack([np.ones(13), np.random.RandomState(6).randn(13)]))[0]
    for basis in (None, Z):
        risk = Cox(**given, ties=ties, Z=basis)
        for seed in range(4):
            point = risk.feasible(3.0 * np.random.RandomState(seed).randn(13, 1))
            assert np.isfinite(risk.dual_fit(point))
            if basis is not None:
                np.testing.assert_allclose(basis.T @ point, 0.0, atol=1e-9)
        inside = -risk.gradient(np.random.RandomState(7).randn(13, 1))
        if basis is None:
            np.testing.assert_allclose(risk.feasible(inside), inside, atol=1e-9)


def test_points_outside_the_domain_bound_nothing():
    risk = Cox(**problem(8))
    alpha = -risk.gradient(np.zeros((13, 1)))
    alpha[np.argmax(risk.event[:, None] == 0)] += 0.5  # the sum is not 0 any more
    assert risk.dual_fit(alpha) == -np.inf


def grams(n, M, seed=9):
    rng = np.random.RandomState(seed)
    factors = [rng.randn(n, 1 + m) for m in range(M)]
    K = np.stack([A @ A.T / np.trace(A @ A.T) * n for A in factors])
    return factors, StackGram(K)


def reference(given, factors, norm, ties, Z=None):
    """P of the whole problem by cvxpy."""
    n, C, event, time = given["time"].size, given["C"], given["event"], given["time"]
    scaled = [A * np.sqrt(n / np.sum(A * A)) for A in factors]
    w = [cp.Variable(A.shape[1]) for A in scaled]
    f = sum(A @ v for A, v in zip(scaled, w, strict=True))
    f = f if Z is None else f + Z @ cp.Variable(Z.shape[1])
    loss = 0
    for t in np.unique(time[event > 0]):
        tied, at_risk = np.flatnonzero((time == t) & (event > 0)), np.flatnonzero(time >= t)
        d = tied.size
        for r in range(d):
            weight = np.where(np.isin(at_risk, tied) & (ties == "efron"), 1.0 - r / d, 1.0)
            loss += C[tied].mean() * cp.log_sum_exp(f[at_risk] + np.log(weight * given["w"][at_risk]))
        loss -= C[tied] @ f[tied]
    sizes = cp.hstack([cp.norm(v) for v in w])
    power = 2.0 if np.isinf(norm) else 2.0 * norm / (norm + 1.0)
    found = cp.Problem(cp.Minimize(0.5 * cp.square(cp.pnorm(sizes, power)) + loss))
    return found.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10, tol_feas=1e-10)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("ties", ["breslow", "efron"])
@pytest.mark.parametrize("norm", [1.0, 1.5, 2.0, np.inf])
def test_the_optimum_is_that_of_cvxpy(norm, ties):
    given = problem(10, tied=True, weighted=ties == "breslow", n=20)
    factors, gram = grams(20, 3)
    for Z in (None, np.linalg.qr(np.column_stack([np.ones(20), np.random.RandomState(11).randn(20)]))[0]):
        risk = Cox(**given, ties=ties, Z=Z)
        result = resolve_solver("auto").run(
            gram, risk, resolve_penalty(norm), Run(1e-8, 500, np.random.RandomState(0))
        )
        assert 0.0 <= result.gap <= 1e-7
        assert result.primal == pytest.approx(reference(given, factors, norm, ties, Z), rel=1e-6)


@pytest.mark.parametrize("late", [False, True])
def test_one_machine_is_the_minimum_over_its_coefficients(late):
    given = problem(12, tied=True, strata=True, late=late)
    _, gram = grams(13, 2)
    K, risk = gram.combine(np.array([0.5, 0.5])), Cox(**given, ties="efron")
    fit = risk.solve(K, risk.zeros(), 1e-10)

    def primal(a):
        return 0.5 * a @ K @ a + risk.value((K @ a)[:, None])

    rough = minimize(primal, np.zeros(13), method="BFGS", options={"gtol": 1e-9, "maxiter": 2000})
    assert risk.machine_value(fit) == pytest.approx(rough.fun, rel=1e-6)
    assert fit.gap <= 1e-8


def test_the_second_derivative_of_the_optimum_is_that_of_differences():
    given = problem(13, tied=True, weighted=True)
    _, gram = grams(13, 3)
    Z = np.linalg.qr(np.column_stack([np.ones(13), np.random.RandomState(14).randn(13)]))[0]
    risk, theta = Cox(**given, Z=Z), np.array([0.5, 0.2, 0.3])

    def slope(t):
        fit = risk.solve(gram.combine(t), risk.zeros(), 1e-13)
        return -0.5 * gram.quad(fit.alpha).sum(axis=1)

    fit = risk.solve(gram.combine(theta), risk.zeros(), 1e-13)
    B = risk.curvature(gram.combine(theta), fit, gram.products(fit.alpha))
    np.testing.assert_allclose(B.T @ B, derivative(slope, theta, 1e-4), atol=1e-4 * np.abs(B.T @ B).max())


def test_a_scale_of_costs_and_a_part_of_the_samples_are_risks_again():
    given = problem(15, tied=True)
    risk, f = Cox(**given), np.random.RandomState(16).randn(13, 1)
    assert risk.scaled(3.0).value(f) == pytest.approx(3.0 * risk.value(f))
    rows = np.arange(8)
    part = risk.subset(rows)
    assert part.sets.total.sum() == pytest.approx(risk.sets.total.sum())
    assert risk.subset(np.flatnonzero(given["event"] == 0)) is None


@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_zero_is_bounded_as_where_the_conjugate_has_a_closed_form(ties):
    """Where nobody enters late, the bound of `Intervals` on R*(0) is R*(0) itself."""
    given = problem(9, tied=True, strata=True, weighted=True)
    risk = Cox(**given, ties=ties)
    c = np.where(given["event"] > 0, given["C"], 0.0)
    parts = given["event"], given["time"], given["stratum"], given["w"], c, ties == "efron"
    late = Intervals(*parts, np.zeros(13))
    assert late.at_zero == pytest.approx(risk.sets.at_zero, rel=1e-10)
    assert late.at_zero == pytest.approx(-risk.dual_fit(np.zeros((13, 1))), rel=1e-10)


def test_scores_are_centred_by_weight():
    """A constant changes nothing of R, so that one is chosen: the weighted mean of decisions is 0."""
    given, score = problem(10, weighted=True), np.random.RandomState(0).randn(13, 1)
    b = Cox(**given).intercepts(score)
    assert np.average(score[:, 0] + b, weights=given["w"]) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("size", [1e-14, 1.0, 1e14])
def test_coefficients_of_covariates_do_not_depend_on_the_cost(size):
    """Also not which directions no sample feels: the constant among the columns of Z."""
    given, rng = problem(11), np.random.RandomState(1)
    Z = np.linalg.qr(np.column_stack([np.ones(13), rng.randn(13, 2)]))[0]
    score = rng.randn(13, 1)
    known = Cox(**given, Z=Z).intercepts(score)
    found = Cox(**{**given, "C": size * given["C"]}, Z=Z)
    np.testing.assert_allclose(found.intercepts(score), known, atol=1e-6)
    slope = Z.T @ found.gradient(score + known) / size
    np.testing.assert_allclose(slope, 0.0, atol=1e-6)


@pytest.mark.parametrize("ties", ["breslow", "efron"])
@pytest.mark.parametrize("late", [False, True])
def test_a_part_of_the_samples_keeps_all_that_was_given_with_them(ties, late):
    given = problem(17, tied=True, strata=True, weighted=True, late=late)
    Z = np.linalg.qr(np.column_stack([np.ones(13), np.random.RandomState(1).randn(13)]))[0]
    risk, f, rows = Cox(**given, ties=ties, Z=Z), np.random.RandomState(18).randn(13), np.arange(2, 12)
    part, scaled = risk.subset(rows), risk.scaled(0.5)
    costs = given["C"] * given["event"]
    cut = {name: None if value is None else value[rows] for name, value in given.items()}
    cut["C"] = cut["C"] * costs.sum() / costs[rows].sum()
    assert part.value(f[rows, None]) == pytest.approx(naive(f[rows], **cut, ties=ties), rel=1e-12)
    np.testing.assert_allclose(part.Z @ (part.Z.T @ Z[rows]), Z[rows], atol=1e-12)
    assert scaled.value(f[:, None]) == pytest.approx(0.5 * risk.value(f[:, None]), rel=1e-12)
    assert scaled.Z is Z


def test_what_is_left_of_covariates_is_charged():
    """α with Zᵀα ≠ 0 bounds nothing: the charge is at least |αᵀZγ| of the best γ."""
    given, rng = problem(19), np.random.RandomState(2)
    Z = np.linalg.qr(np.column_stack([np.ones(13), rng.randn(13)]))[0]
    risk, alpha = Cox(**given, Z=Z), rng.randn(13, 1)
    assert risk.leak(alpha) >= np.abs(Z.T @ alpha).max()
    assert Cox(**given).leak(alpha) == 0.0
    balanced = alpha - Z @ (Z.T @ alpha)
    assert 0.0 < risk.leak(balanced) < 1e-12


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("size", [1.0, 5.0, 20.0])
def test_the_best_coefficients_have_no_slope_left_whatever_the_scores(size, late):
    """Full steps of Newton's method would go astray from scores that are far apart."""
    given, rng = problem(20, late=late), np.random.RandomState(3)
    Z = np.linalg.qr(np.column_stack([np.ones(13), rng.randn(13, 2)]))[0]
    risk, score = Cox(**given, Z=Z), size * rng.randn(13, 1)
    b = risk.intercepts(score)
    least = risk.value(score + b)
    assert least <= risk.value(score)
    np.testing.assert_allclose(Z @ (Z.T @ b), b, atol=1e-8 * size)
    for _ in range(20):
        other = b + Z @ (10.0 ** rng.uniform(-3, 1) * rng.randn(3, 1))
        assert risk.value(score + other) >= least - 1e-9 * abs(least)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("beside", [False, True])
def test_the_gap_of_a_machine_is_that_of_its_function(late, beside):
    given, rng = problem(21, late=late), np.random.RandomState(5)
    X = rng.randn(13, 2)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    Z = np.linalg.qr(np.column_stack([np.ones(13), rng.randn(13)]))[0] if beside else None
    risk = Cox(**given, Z=Z)
    assert risk.label == "the partial likelihood with ties='breslow'"
    fit = risk.solve(K, risk.zeros(), 1e-8)
    np.testing.assert_allclose(fit.f, K @ fit.alpha + fit.intercept, atol=1e-12)
    energy = float(np.sum(fit.alpha * (K @ fit.alpha)))
    assert 0.0 <= fit.gap <= 1e-8
    assert energy + risk.value(fit.f) - risk.dual_fit(fit.alpha) == pytest.approx(fit.gap, abs=1e-8)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("beside", [False, True])
def test_the_inverse_in_features_is_that_of_matrices(late, beside):
    """P = (K + W⁻¹)⁻¹ = W − WK(I + WK)⁻¹W, less what covariates absorb."""
    given, rng = problem(22, late=late), np.random.RandomState(7)
    Phi, weights, R = rng.randn(13, 4), rng.uniform(0.2, 2.0, 4), rng.randn(13, 3)
    Z = np.linalg.qr(rng.randn(13, 2))[0] if beside else None
    K = (Phi * weights**2) @ Phi.T
    root = Cox(**given).joint_root(rng.randn(13))
    W = root.apply(np.eye(13))
    P = W - W @ K @ np.linalg.solve(np.eye(13) + W @ K, W)
    if Z is not None:
        P = P - P @ Z @ np.linalg.solve(Z.T @ P @ Z, Z.T @ P)
    for kernel in (K, Combination(Phi, weights)):
        inverse = Inverse(kernel, root, Z)
        B = inverse.half(R)
        np.testing.assert_allclose(B.T @ B, R.T @ P @ R, atol=1e-8)
        d = rng.randn(3)
        np.testing.assert_allclose(inverse.move(B @ d), -P @ R @ d, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_a_ray_ends_where_the_domain_does(seed):
    risk = Cox(**problem(seed + 30, tied=seed % 2 == 1, strata=seed > 1))
    alpha = -risk.gradient(np.random.RandomState(seed).randn(13, 1))
    end = risk.reach(alpha)
    assert end >= 1.0 and np.isfinite(end)
    assert np.isfinite(risk.dual_fit(0.999 * end * alpha))
    assert risk.dual_fit(1.01 * end * alpha) == -np.inf
