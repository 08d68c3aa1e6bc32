"""The greedy method: its steps are what they claim, and it ends at the optimum that others find."""

import numpy as np
import pytest
from tests.helpers import LOSSES, primal_of, problem, risk_of, run, told

from manykernels import MKLClassifier, MKLRegressor
from manykernels.grams import StackGram
from manykernels.kernels import Gaussian, Linear
from manykernels.losses import Hinge, Squared
from manykernels.oracles import Best, FiniteOracle
from manykernels.penalties import ElasticNet, L2Ball, LpBall, Simplex
from manykernels.solvers import ActiveSet, Greedy, resolve_solver
from manykernels.solvers.greedy import _EXACT, FrankWolfe

each_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)


class Vague(FiniteOracle):
    """Finds the best kernel, and bounds nothing."""

    def best(self, A, k):
        exact = super().best(A, k)
        return Best(exact.atoms, exact.values, np.inf)


def walk(oracle, risk, tol=1e-12):
    return FrankWolfe(oracle, risk, Simplex(), told(tol))


def value(stack, risk, theta):
    """J(θ) for the squared loss without an intercept, ½yᵀ(K_θ + I/C)⁻¹y."""
    K = np.einsum("m,mij->ij", theta, stack) + np.diag(1.0 / risk.C[:, 0])
    return 0.5 * float(risk.Y[:, 0] @ np.linalg.solve(K, risk.Y[:, 0]))


# -- the optimum -----------------------------------------------------------------------------------
@each_loss
@pytest.mark.parametrize("C", [0.1, 3.0, 100.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_ends_at_the_optimum_of_the_second_order_method(loss, C, fit_intercept):
    stack, labels, targets = problem(1, 30, 8)
    risk = risk_of(loss, labels, targets, C * np.linspace(0.5, 1.5, 30)[:, None], fit_intercept)
    best = run(ActiveSet(), stack, risk, Simplex(), 1e-9)
    found = run(Greedy(), stack, risk, Simplex(), 1e-3)
    assert found.converged and 0.0 <= found.gap <= 1e-3
    assert found.dual <= best.primal * (1 + 1e-9) and found.primal >= best.dual * (1 - 1e-9)
    assert np.all(found.weights >= 0.0) and found.weights.sum() <= 1.0 + 1e-12
    again = primal_of(stack, risk, Simplex(), found.weights, found.alpha, found.intercept)
    np.testing.assert_allclose(found.primal, again, rtol=1e-8)
    if fit_intercept:
        assert np.all(np.abs(found.alpha.sum(axis=0)) <= 1e-8 * np.abs(found.alpha).sum(axis=0))


@each_loss
@pytest.mark.parametrize("step", ["pairwise", "line-search", "2/(k+1)"])
def test_several_outputs_and_both_rules(loss, step):
    stack, labels, targets = problem(3, 20, 5, outputs=2)
    risk = risk_of(loss, labels, targets, 2.0)
    best = run(ActiveSet(), stack, risk, Simplex(), 1e-9)
    found = run(Greedy(step), stack, risk, Simplex(), 1e-2 if step == "2/(k+1)" else 1e-4, 2000)
    assert found.converged
    assert best.dual * (1 - 1e-9) <= found.primal <= best.primal / (1 - found.gap) * (1 + 1e-9)


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if not loss.smooth], ids=repr)
def test_corners_do_not_stop_it(loss):
    """Kernels of rank one: α is far from unique at every θ, and J has corners nearly everywhere."""
    rng = np.random.RandomState(0)
    F = rng.randn(8, 40)
    targets = (F[0] - 0.7 * F[1] + 0.4 * F[2] + 0.3 * rng.randn(40))[:, None]
    stack = F[:, :, None] * F[:, None, :]
    risk = risk_of(loss, np.sign(targets), targets, 1.0)
    best = run(ActiveSet(), stack, risk, Simplex(), 1e-7)
    found = run(Greedy(), stack, risk, Simplex(), 5e-3, 1000)
    assert found.converged
    np.testing.assert_allclose(found.primal, best.primal, rtol=5e-3)
    assert np.count_nonzero(best.weights) > 1


# -- single steps ----------------------------------------------------------------------------------
@each_loss
def test_line_search_ends_where_the_slope_does(loss, monkeypatch):
    """φ' = −½αᵀ(K_I − K_θ)α at the end is a small part of what it was, or below zero at a full step."""
    stack, labels, targets = problem(2, 25, 6)
    descent = walk(FiniteOracle(StackGram(stack)), risk_of(loss, labels, targets, 5.0))
    searched = []

    original = FrankWolfe._search

    def search(self, R, first, most=1.0):
        eta, fit = original(self, R, first, most)
        atom, alpha = self.best.atoms[0], fit.alpha
        before = sum(weight * stack[z] for z, weight in self.theta.items())
        slope = -0.5 * np.sum(alpha * ((stack[atom] - before) @ alpha))
        assert abs(slope) <= -1.001 * _EXACT * first or (eta == 1.0 and slope <= 0.0)
        searched.append(eta)
        return eta, fit

    monkeypatch.setattr(FrankWolfe, "_search", search)
    while descent.k < 12 and not (descent.look() or descent.gap < 1e-6):
        descent.move(None)
        combined = sum(weight * stack[z] for z, weight in descent.theta.items())
        np.testing.assert_allclose(descent.K, combined, atol=1e-12)
        np.testing.assert_allclose(sum(descent.theta.values()), 1.0)
    assert 0.0 < min(searched) < 1.0


def test_pairwise_steps_keep_the_mixture():
    """K is the mixture by θ, θ stays on the simplex, and J falls with every step."""
    stack, labels, targets = problem(2, 25, 6)
    risk = risk_of(Squared(), labels, targets, 50.0)
    descent = FrankWolfe(FiniteOracle(StackGram(stack)), risk, Simplex(), told(1e-9, 100), pairwise=True)
    values = []
    while descent.k < 40 and not descent.look():
        descent.move(None)
        combined = sum(weight * stack[z] for z, weight in descent.theta.items())
        np.testing.assert_allclose(descent.K, combined, atol=1e-11)
        assert min(descent.theta.values()) > 0.0 and sum(descent.theta.values()) == pytest.approx(1.0)
        values.append(risk.machine_value(descent.fit))
    assert np.all(np.diff(values) <= 1e-6 * values[0])
    best = run(ActiveSet(), stack, risk, Simplex(), 1e-9)
    np.testing.assert_allclose(descent.primal, best.primal, rtol=1e-6)


def test_the_rule_as_printed(monkeypatch):
    """η_k = 2/(k + 1): after k steps the kernel of step i has 2i/(k(k + 1)), added up where it repeats."""
    stack, labels, targets = problem(4, 20, 6)
    risk = risk_of(Squared(), labels, targets, 50.0)
    descent, picked = walk(FiniteOracle(StackGram(stack)), risk), []
    for k in range(1, 8):
        descent.look()
        picked.append(descent.best.atoms[0])
        descent.move(2.0 / (k + 1.0))
        expected = np.bincount(picked, [2.0 * i / (k * (k + 1.0)) for i in range(1, k + 1)], 6)
        theta = np.zeros(6)
        theta[list(descent.theta)] = list(descent.theta.values())
        np.testing.assert_allclose(theta, expected, atol=1e-14)
    assert len(set(picked)) > 1 and len(set(picked)) < len(picked)
    taken = []
    monkeypatch.setattr(
        FrankWolfe, "move", lambda self, eta, move=FrankWolfe.move: taken.append(eta) or move(self, eta)
    )
    run(Greedy("2/(k+1)"), stack, risk, Simplex(), 0.0, 4)
    assert taken == [1.0, 2 / 3, 1 / 2, 2 / 5]


@pytest.mark.parametrize("step", ["line-search", "2/(k+1)"])
def test_falls_as_theorem_5_1_says(step):
    """J_k − J* ≤ 2C_J/(k + 2) with C_J ≤ max ‖(K_z − K_x)α‖² C, and each step falls as its proof says."""
    stack, labels, targets = problem(5, 20, 6)
    C = 0.2
    risk = risk_of(Squared(), labels, targets, C, fit_intercept=False)
    stack = stack * 3.0
    best = run(ActiveSet(), stack, risk, Simplex(), 1e-12).primal
    spread = max(np.abs(np.linalg.eigvalsh(a - b)).max() for a in stack for b in stack)
    curvature = C * (spread * C * np.linalg.norm(risk.Y)) ** 2  # ‖α‖ ≤ C‖y‖, P ≤ C
    descent = walk(FiniteOracle(StackGram(stack)), risk)
    previous = None
    for k in range(1, 40):
        descent.look()
        q = np.array([descent.fit.alpha[:, 0] @ K @ descent.fit.alpha[:, 0] for K in stack])
        theta = np.zeros(6)
        theta[list(descent.theta)] = list(descent.theta.values())
        now = value(stack, risk, theta)
        if k > 1:
            assert now - best <= 2.0 * curvature / (k + 1.0)
        if k > 2 and step == "line-search":
            assert now <= previous * (1 + 1e-12)
        g = 0.5 * (q.max() - theta @ q)
        eta = min(g / curvature, 1.0)
        previous = now - (eta * g - 0.5 * curvature * eta**2)
        descent.move(None if step == "line-search" else 2.0 / (k + 1.0))


# -- what is promised besides ----------------------------------------------------------------------
@each_loss
def test_history_gap_and_determinism(loss):
    stack, labels, targets = problem(6, 30, 10)
    risk = risk_of(loss, labels, targets, 10.0)
    first, second = (run(Greedy(), stack, risk, Simplex(), 1e-5, 40) for _ in range(2))
    assert np.array_equal(first.weights, second.weights) and np.array_equal(first.alpha, second.alpha)
    history = first.history
    assert np.all(np.diff(history.objective) <= 0.0) and np.all(np.diff(history.gap) <= 1e-12)
    assert history.objective[-1] == first.primal and history.gap[-1] == first.gap
    assert history.active[-1] == np.count_nonzero(first.weights)
    assert first.primal >= first.dual * (1 - 1e-10)


@each_loss
def test_without_a_bound_nothing_is_certified(loss):
    stack, labels, targets = problem(7, 25, 6)
    risk, gram = risk_of(loss, labels, targets, 3.0), StackGram(stack)
    sure, vague = (Greedy().run(o(gram), risk, Simplex(), told(1e-3, 500)) for o in (FiniteOracle, Vague))
    assert sure.certified and sure.converged and not vague.certified and vague.converged
    assert len(set(vague.atoms)) == len(vague.atoms) and vague.primal >= vague.dual
    np.testing.assert_allclose(sure.primal, vague.primal, rtol=2e-3)


def test_zero_kernels_and_constant_targets():
    _, labels, targets = problem(6, 12)
    for loss in LOSSES:
        risk = risk_of(loss, labels, targets)
        result = run(Greedy(), np.zeros((2, 12, 12)), risk, Simplex(), 1e-6, 20)
        assert result.converged and result.gap <= 1e-6, loss
        np.testing.assert_allclose(result.primal, risk.constant_value(), rtol=1e-5)
    stack, labels, targets = problem(6, 13)
    result = run(Greedy(), stack, risk_of(Squared(), labels, np.full_like(targets, 0.1)), Simplex(), 1e-6, 20)
    assert result.converged and result.primal < 1e-20


def test_a_single_kernel_is_one_machine():
    stack, labels, targets = problem(8, 20)
    for loss in LOSSES:
        risk = risk_of(loss, labels, targets, 2.0)
        result = run(Greedy(), stack[:1], risk, Simplex(), 1e-5)
        assert result.converged and result.weights[0] == 1.0, loss
        np.testing.assert_allclose(
            result.primal, run(ActiveSet(), stack[:1], risk, Simplex(), 1e-7).primal, rtol=2e-5
        )


def test_refusals():
    stack, labels, targets = problem(0, 10)
    risk = risk_of(Hinge(), labels, targets)
    for penalty in (LpBall(2.0), LpBall(np.inf), L2Ball(0.0, 1.0), ElasticNet(0.4)):
        with pytest.raises(ValueError, match=r"needs norm=1, .*stay on the simplex"):
            run(Greedy(), stack, risk, penalty)
    endless = FiniteOracle(StackGram(stack))
    endless.size = np.inf
    with pytest.raises(ValueError, match="splitting a kernel of a continuum into copies of itself lowers"):
        Greedy().run(endless, risk, LpBall(2.0), told(1e-3, 10))
    with pytest.raises(ValueError, match=r"step='newton'.*line-search"):
        run(Greedy("newton"), stack, risk, Simplex())
    with pytest.raises(ValueError, match="max_iter=0"):
        run(Greedy(), stack, risk, Simplex(), max_iter=0)
    assert isinstance(resolve_solver("greedy"), Greedy)


# -- estimators ------------------------------------------------------------------------------------
def test_estimators_take_it():
    rng = np.random.RandomState(0)
    X = rng.randn(80, 4)
    y = X[:, 0] ** 2 + X[:, 1]
    kernels = [Linear(), *[Gaussian(width=w) for w in (0.5, 2.0, 8.0)]]
    for estimator, target in ((MKLClassifier, y > 1.0), (MKLRegressor, y)):
        greedy = estimator(kernels, solver="greedy", C=5.0).fit(X, target)
        other = estimator(kernels, C=5.0).fit(X, target)
        assert greedy.dual_gap_ <= 1e-3 and greedy.weights_.shape == (4,)
        np.testing.assert_allclose(greedy.objective_, other.objective_, rtol=2e-3)
        assert greedy.score(X, target) > 0.8
