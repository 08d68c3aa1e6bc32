"""The unpenalised part Zγ of machines: Zᵀα = 0, and optima that agree with their bound and with cvxpy."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from manykernels import losses
from manykernels.machines.barrier import interior_path
from manykernels.machines.corners import Corners
from manykernels.machines.free import balanced, basis, offset, residual
from manykernels.machines.newton import Newton
from manykernels.objectives import Separable
from manykernels.penalties import Simplex

LOSSES = [
    losses.Squared(),
    losses.Logistic(),
    losses.SquaredHinge(),
    losses.Huber(0.3),
    losses.Hinge(),
    losses.EpsilonInsensitive(0.1),
    losses.Pinball(0.3),
]


def problem(loss: Any, n: int = 40, seed: int = 0) -> tuple[Any, Any, Any]:
    """K, y and Z with a constant, a site and a number."""
    rng = np.random.RandomState(seed)
    X, site = rng.randn(n, 3), rng.randint(0, 3, n)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 6.0)
    Z = basis(np.column_stack([np.ones(n), rng.randn(n), np.eye(3)[site]]))
    y = np.sin(X[:, 0]) + 0.7 * site + 0.4 * rng.randn(n)
    return K, np.where(y > np.median(y), 1.0, -1.0) if loss.task == "classification" else y, Z


def of_cvxpy(loss: Any, y: Any, f: Any) -> Any:
    margin = cp.pos(1 - cp.multiply(y, f))
    return {
        "Squared": lambda: 0.5 * cp.sum_squares(y - f),
        "Logistic": lambda: cp.sum(cp.logistic(-cp.multiply(y, f))),
        "SquaredHinge": lambda: 0.5 * cp.sum_squares(margin),
        "Huber": lambda: 0.5 * cp.sum(cp.huber(y - f, 0.3)),
        "Hinge": lambda: cp.sum(margin),
        "EpsilonInsensitive": lambda: cp.sum(cp.pos(cp.abs(y - f) - 0.1)),
        "Pinball": lambda: cp.sum(cp.maximum(0.3 * (y - f), -0.7 * (y - f))),
    }[type(loss).__name__]()


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_machines_with_covariates_are_those_of_cvxpy(loss: Any, C: float) -> None:
    K, y, Z = problem(loss)
    risk = Separable(loss, y[:, None], np.full((y.size, 1), C), True, Z=Z)
    fit = risk.solve(K, risk.zeros(), 1e-9 * risk.constant_value())
    primal, q = risk.machine_value(fit), np.einsum("ik,ij,jk->k", fit.alpha, K, fit.alpha)
    assert residual(fit.alpha[:, 0], Z) < 1e3
    dual = risk.dual(fit.alpha, q, Simplex(), 1.0)
    assert dual <= primal <= dual + 1e-7 * primal

    v, gamma = cp.Variable(y.size), cp.Variable(Z.shape[1])
    root = np.linalg.cholesky(K + 1e-10 * np.eye(y.size))
    f = root @ v + Z @ gamma
    problem_ = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(v) + C * of_cvxpy(loss, y, f)))
    problem_.solve(solver=cp.CLARABEL)
    assert primal == pytest.approx(problem_.value, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_a_constant_column_is_the_intercept(loss: Any) -> None:
    K, y, _ = problem(loss)
    C = np.full((y.size, 1), 2.0)
    plain = Separable(loss, y[:, None], C, True)
    general = Separable(loss, y[:, None], C, True, Z=np.full((y.size, 1), y.size**-0.5))
    values = []
    for risk in (plain, general):
        fit = risk.solve(K, risk.zeros(), 1e-10)
        values.append(risk.machine_value(fit))
        assert risk.intercepts(fit.f - fit.intercept).shape == ((1,) if risk is plain else (y.size, 1))
    assert values[0] == pytest.approx(values[1], rel=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_balanced_points_are_the_nearest(seed: int) -> None:
    rng = np.random.RandomState(seed)
    n = 25
    alpha, C = 2.0 * rng.randn(n), rng.rand(n) + 0.5
    lo, hi = np.where(rng.rand(n) < 0.5, 0.0, -C), C
    Z = basis(rng.randn(n, 4))
    a = balanced(alpha, lo, hi, C, Z)
    assert np.all((a >= lo) & (a <= hi))
    x = cp.Variable(n)
    nearest = cp.Problem(
        cp.Minimize(cp.sum_squares(cp.multiply(x - alpha, C**-0.5))), [Z.T @ x == 0, x >= lo, x <= hi]
    )
    nearest.solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(a, x.value, atol=1e-6)
    assert residual(a, Z) <= 1e3


def test_a_site_of_one_class_leaves_its_samples_without_coefficients() -> None:
    """No γ is the best there, and α = 0 is all that Zᵀα = 0 leaves: the bound is still tight."""
    K, y, _ = problem(losses.Hinge())
    alone = np.zeros(y.size)
    alone[np.flatnonzero(y > 0)[:5]] = 1.0
    Z = basis(np.column_stack([np.ones(y.size), alone]))
    for loss in (losses.Hinge(), losses.Logistic(), losses.SquaredHinge()):
        risk = Separable(loss, y[:, None], np.ones((y.size, 1)), True, Z=Z)
        fit = risk.solve(K, risk.zeros(), 1e-7)
        assert np.abs(fit.alpha[alone > 0.0]).max() < 1e-6
        q = np.einsum("ik,ij,jk->k", fit.alpha, K, fit.alpha)
        gap = risk.machine_value(fit) - risk.dual(risk.feasible(fit.alpha), q, Simplex(), 1.0)
        assert 0.0 <= gap < 1e-5 * risk.constant_value()
        assert not risk.has_interior


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_no_offset_is_better(loss: Any) -> None:
    _, y, Z = problem(loss)
    rng = np.random.RandomState(0)
    score, C = 0.5 * rng.randn(y.size), rng.rand(y.size) + 0.5
    b = offset(loss, y, score, C, Z)
    value = C @ loss.value(y, score + b)
    for _ in range(20):
        other = b + Z @ (10.0 ** rng.uniform(-4, 0) * rng.randn(Z.shape[1]))
        assert C @ loss.value(y, score + other) >= value - 1e-7 * value


@pytest.mark.parametrize(
    "loss", [losses.Hinge(), losses.EpsilonInsensitive(0.1), losses.EpsilonInsensitive(0.0)], ids=str
)
def test_the_interior_path_ends_at_the_optimum(loss: Any) -> None:
    """By itself, without what descent finds: optimal, at its bounds where it belongs, and Zᵀα = 0."""
    K, y, Z = problem(loss)
    C = np.random.RandomState(2).uniform(0.3, 3.0, y.size)
    lo, hi = (bound * C for bound in loss.bounds(y))
    alpha, settled, gamma = interior_path(K, y, loss.tube, (hi, -lo), Z, np.zeros(Z.shape[1]))
    zero = np.zeros(y.size)
    machine = Corners(loss, Z)
    assert machine._inside(K, y, C, machine.judge.judged(y, C, zero, zero, zero)).gap < 1e-5
    for point in (alpha, settled):
        assert np.abs(Z.T @ point).max() < 1e-6
        found = Corners(loss, Z).judge.judged(y, C, balanced(point, lo, hi, C, Z), Z @ gamma, K @ point)
        assert found.gap < 1e-5
    assert np.all((settled >= lo) & (settled <= hi)) and np.mean((settled == lo) | (settled == hi)) > 0.2


def test_nothing_is_corrected_where_no_sample_is_free() -> None:
    loss = losses.Hinge()
    K, y, Z = problem(loss)
    machine, C = Corners(loss, Z), np.ones(y.size)
    near = machine.judge.judged(y, C, np.zeros(y.size), np.zeros(y.size), np.zeros(y.size))
    assert machine._corrected(K, y, C, near.alpha, near, np.zeros(y.size, dtype=bool)) is near


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_an_offset_is_found_from_anywhere(loss: Any) -> None:
    _, y, Z = problem(loss)
    rng = np.random.RandomState(1)
    score, C = 0.5 * rng.randn(y.size), rng.rand(y.size) + 0.5
    least = C @ loss.value(y, score + offset(loss, y, score, C, Z))
    for size in (0.1, 3.0):
        b = offset(loss, y, score, C, Z, begin=Z @ (size * rng.randn(Z.shape[1])))
        np.testing.assert_allclose(Z @ (Z.T @ b), b, atol=1e-9)
        assert C @ loss.value(y, score + b) == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize(
    "loss", [losses.Hinge(), losses.EpsilonInsensitive(0.1), losses.Pinball(0.3)], ids=str
)
def test_a_point_inside_the_box_is_found_beside_covariates(loss: Any) -> None:
    _, y, Z = problem(loss)
    C = np.random.RandomState(3).uniform(0.3, 3.0, (y.size, 1))
    risk = Separable(loss, y[:, None], C, True, Z=Z)
    box = risk.box()
    assert risk.has_interior
    for size in (0.0, 0.1, 100.0):
        inside = risk.interior(size * np.random.RandomState(4).randn(y.size, 1))
        assert np.all((inside > box.lo) & (inside < box.hi))
        assert residual(inside[:, 0], Z) <= 1e3


@pytest.mark.parametrize(
    "loss", [losses.Hinge(), losses.EpsilonInsensitive(0.1), losses.Pinball(0.3)], ids=str
)
def test_samples_between_two_corners_are_free(loss: Any) -> None:
    _, y, Z = problem(loss)
    C = np.random.RandomState(5).uniform(0.1, 10.0, y.size)
    lo, hi = (bound * C for bound in loss.bounds(y))
    machine = Corners(loss, Z)
    for end in (lo, hi):
        assert not machine._free(y, C, end).any()
        assert machine._free(y, C, 0.9 * end + 0.1 * (lo + hi - end))[end != 0.0].all()
    assert not machine._free(y, C, np.zeros(y.size)).any() or loss.tube == 0.0


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss.smooth], ids=str)
def test_newton_begins_where_covariates_are_balanced(loss: Any) -> None:
    _, y, Z = problem(loss)
    C = np.random.RandomState(6).uniform(0.3, 3.0, y.size)
    lo, hi = (bound * C for bound in loss.bounds(y))
    machine = Newton(loss, True, Z=Z)
    start = machine._feasible(y, C, 0.5 * C * np.sign(y))
    assert start.any() and np.all((start >= lo) & (start <= hi)) and residual(start, Z) <= 1e3
    np.testing.assert_allclose(machine._feasible(y, C, start), start, atol=1e-9)
