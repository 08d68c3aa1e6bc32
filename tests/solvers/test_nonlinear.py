"""Projected gradient descent on powers of combined kernels: gradient, descent, stationarity, brute force."""

import numpy as np
import pytest
from tests.helpers import LOSSES, cvxpy_optimum, problem, risk_of, told

from manykernels.grams import StackGram
from manykernels.losses import Hinge, Logistic, Squared
from manykernels.penalties import L2Ball
from manykernels.solvers import History
from manykernels.solvers.nonlinear import PoweredRisk, ProjectedGradient

each_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)
each_degree = pytest.mark.parametrize("degree", [1, 2, 3])


def run(stack, risk, penalty, degree=2, n_starts=3, tol=1e-5, max_iter=300, seed=0, **options):
    solver = ProjectedGradient(degree, n_starts)
    return solver.run(StackGram(stack), risk, penalty, told(tol, max_iter, seed, **options))


def ridge(stack, y, C, mu, degree):
    """½ yᵀ(K_μ + I/C)⁻¹y: half of Afkanpour 2013, Eq. 2.17 with λ = 1/C."""
    K = np.einsum("m,mij->ij", mu, stack) ** degree
    return 0.5 * float(y @ np.linalg.solve(K + np.eye(len(y)) / C, y))


@each_loss
@each_degree
@pytest.mark.parametrize("outputs", [1, 2])
def test_the_gradient_is_that_of_finite_differences(loss, degree, outputs):
    stack, labels, targets = problem(1, outputs=outputs)
    J = PoweredRisk(StackGram(stack), risk_of(loss, labels, targets, 2.0), degree, 1e-13)
    mu, zero, h = np.array([0.3, 0.5, 0.2, 0.4]), np.zeros_like(labels), 1e-5
    g = J.gradient(J.at(mu, zero))
    for m, step in enumerate(h * np.eye(4)):
        slope = (J.at(mu + step, zero).J - J.at(mu - step, zero).J) / (2 * h)
        assert g[m] == pytest.approx(slope, rel=2e-4, abs=1e-7 * np.abs(g).max())
    assert np.all(g <= 0.0)


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_the_objective_is_that_of_the_paper(degree):
    stack, labels, targets = problem(2)
    risk = risk_of(Squared(), labels, targets, 3.0, fit_intercept=False)
    result = run(stack, risk, L2Ball(0.2, 0.7), degree)
    expected = ridge(stack, targets[:, 0], 3.0, result.weights, degree)
    assert result.primal == pytest.approx(expected, rel=1e-9)
    K = np.einsum("m,mij->ij", result.weights, stack) ** degree
    np.testing.assert_allclose((K + np.eye(len(K)) / 3.0) @ result.alpha, targets, atol=1e-8)


@each_loss
@each_degree
@pytest.mark.parametrize("penalty", [L2Ball(0.0, 1.0), L2Ball([0.5, 0.0, 0.2, 0.0], 0.3)], ids=["0", "mu0"])
def test_descends_to_a_stationary_point(loss, degree, penalty):
    """J falls at every step, and at the end −g is in the normal cone of the ball and the orthant."""
    stack, labels, targets = problem(3)
    risk = risk_of(loss, labels, targets, 2.0)
    result = run(stack, risk, penalty, degree, tol=1e-4)
    assert result.converged and np.isnan(result.dual)
    assert all(np.diff(result.history.objective) < 0.0) and len(result.history.objective) == result.n_iter + 1
    mu, mu0 = result.weights, np.broadcast_to(penalty.mu0, 4)
    assert np.isfinite(penalty.value(mu))
    K = np.einsum("m,mij->ij", mu, stack)
    S = result.alpha @ result.alpha.T * K ** (degree - 1)
    g = -0.5 * degree * np.einsum("mij,ij->m", stack, S)
    assert np.linalg.norm(mu - mu0) == pytest.approx(penalty.radius, rel=1e-9)  # J falls with every weight
    np.testing.assert_allclose((mu - mu0) / penalty.radius, -g / np.linalg.norm(g), atol=1e-3)


@each_loss
def test_degree_one_is_convex_and_reaches_its_optimum(loss):
    stack, labels, targets = problem(4)
    risk, penalty = risk_of(loss, labels, targets, 1.5), L2Ball(0.3, 0.7)
    result = run(stack, risk, penalty, degree=1, tol=1e-4)
    assert result.primal == pytest.approx(cvxpy_optimum(stack, risk, penalty), rel=1e-5)
    np.testing.assert_allclose(result.details["starts"]["objective"], result.primal, rtol=1e-6)


@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize("mu0", [[0.0, 0.0], [0.4, 0.1]])
def test_two_kernels_by_brute_force(degree, mu0):
    stack, labels, targets = problem(5)
    stack, y, C, radius = stack[[0, 2]], targets[:, 0], 2.0, 0.8
    risk = risk_of(Squared(), labels, targets, C, fit_intercept=False)
    result = run(stack, risk, L2Ball(mu0, radius), degree)
    grid = [
        np.add(mu0, r * radius * np.array([np.cos(t), np.sin(t)]))
        for r in np.linspace(0.0, 1.0, 9)
        for t in np.linspace(-np.pi, np.pi, 241)
    ]
    values = [ridge(stack, y, C, mu, degree) for mu in grid if mu.min() >= 0.0]
    assert len(values) > 200
    assert min(values) * (1 - 1e-3) < result.primal <= min(values) * (1 + 1e-9)


def separate_halves(n=30):
    """Kernels of different samples: B^{∘4} is μ₁⁴ K₁^{∘4} + μ₂⁴ K₂^{∘4}, and little is shared by both."""
    stack, labels, targets = problem(6, n=n)
    first = np.arange(n) < n // 2
    halves = np.stack([stack[0] * np.outer(part, part) for part in (first, ~first)])
    return halves, labels, targets * np.where(first, 1.0, 1.3)[:, None]


def test_starts_end_at_different_minima_and_the_best_is_kept():
    """In the small-C regime J is concave along the arc, so that both ends of it are minima."""
    stack, labels, targets = separate_halves()
    risk = risk_of(Squared(), labels, targets, 0.05, fit_intercept=False)
    result = run(stack, risk, L2Ball(0.0, 1.0), degree=4, n_starts=8)
    y = targets[:, 0]
    ends = [ridge(stack, y, 0.05, mu, 4) for mu in np.eye(2)]
    middle = ridge(stack, y, 0.05, np.ones(2) / np.sqrt(2), 4)
    assert max(ends) < middle
    starts = result.details["starts"]
    reached = np.array(starts["objective"])
    assert reached.size == 8 and all(len(column) == 8 for column in starts.values())
    assert starts["start"] == ["uniform"] + ["random"] * 7 and all(starts["converged"])
    for end in ends:
        assert np.any(np.isclose(reached, end, rtol=1e-6))
    assert np.all(np.isclose(reached, ends[0], rtol=1e-6) | np.isclose(reached, ends[1], rtol=1e-6))
    assert result.primal == reached.min() == pytest.approx(min(ends), rel=1e-6)
    best = int(reached.argmin())
    assert result.n_iter == starts["iterations"][best]
    assert result.history.residual[-1] == starts["residual"][best]


def test_a_given_start_takes_the_place_of_the_first():
    stack, labels, targets = problem(7)
    risk, ball = risk_of(Hinge(), labels, targets), L2Ball(0.0, 1.0)
    cold = run(stack, risk, ball, tol=1e-4)
    warm = run(stack, risk, ball, tol=1e-4, start=(cold.weights, cold.alpha))
    assert warm.details["starts"]["start"] == ["given", "random", "random"]
    assert warm.details["starts"]["iterations"][0] == 0 and warm.primal <= cold.primal * (1 + 1e-7)


def test_a_ball_of_one_point_and_few_iterations():
    stack, labels, targets = problem(8)
    risk = risk_of(Logistic(), labels, targets)
    fixed = run(stack, risk, L2Ball([1.0, 0.5, 0.0, 0.2], 0.0))
    np.testing.assert_array_equal(fixed.weights, [1.0, 0.5, 0.0, 0.2])
    assert fixed.converged and fixed.n_iter == 0 and fixed.details["starts"]["start"] == ["uniform"]
    short = run(stack, risk, L2Ball(0.0, 1.0), max_iter=1, tol=1e-9)
    assert not short.converged and short.n_iter == 1
    lines: list[str] = []
    run(stack, risk, L2Ball(0.0, 1.0), n_starts=1, history=History(report=lines.append))
    assert lines and all("residual" in line for line in lines)


def test_entries_that_overflow_are_refused():
    stack, labels, targets = problem(9)
    with pytest.raises(ValueError, match=r"too large for degree=40.*normalize='trace'"):
        run(1e4 * stack, risk_of(Squared(), labels, targets), L2Ball(0.0, 1.0), degree=40)
