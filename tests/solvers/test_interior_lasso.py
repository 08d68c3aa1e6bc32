"""The interior-point method on features: cvxpy's value, valid bounds at every point, and warm starts."""

import cvxpy as cp
import numpy as np
import pytest
from benchmarks.references import optimal_value
from tests.solvers.test_lasso import Columns, columns_of

from manykernels import MKLClassifier
from manykernels.families import rank_one
from manykernels.losses import EpsilonInsensitive, Hinge, Logistic, Pinball, SquaredHinge
from manykernels.machines.free import basis
from manykernels.objectives import Separable
from manykernels.penalties import Simplex
from manykernels.solvers._held_newton import HeldNewton
from manykernels.solvers._interior_lasso import InteriorLasso
from manykernels.solvers._restricted import Cornered

CORNERS = [Hinge(), EpsilonInsensitive(0.3), Pinball(0.8)]


def risk_of(loss, y, C, fit_intercept=True, Z=None):
    y = np.where(y > np.median(y), 1.0, -1.0) if loss.task == "classification" else y
    return Separable(loss, y[:, None], C[:, None], fit_intercept, Z=Z)


def lasso_of(risk):
    ones = np.ones((risk.shape[0], 1 if risk.fit_intercept else 0))
    lasso = InteriorLasso(risk.box(), ones if risk.Z is None else risk.Z)
    lasso.begin(None if risk.Z is None else risk.interior(risk.zeros())[:, 0])
    return lasso


def cvxpy_value(F, risk):
    box, Z = risk.box(), risk.Z
    w, t = cp.Variable(F.shape[1]), box.target[:, 0]
    Z = np.ones((len(F), 1)) if Z is None else Z
    left = t - F @ w - (Z @ cp.Variable(Z.shape[1]) if risk.fit_intercept else 0.0)
    up = box.hi[:, 0] @ cp.pos(left - box.tube)
    down = -box.lo[:, 0] @ cp.pos(-left - box.tube)
    return optimal_value(cp.Problem(cp.Minimize(0.5 * cp.square(cp.norm1(w)) + up + down)), 1e-9)


def assert_bounds(F, risk, lasso, value, tol):
    """P of w is above the optimum and D of α below, both within `tol`; θ is that of w."""
    score = F @ lasso.w[:, None]
    primal = 0.5 * np.abs(lasso.w).sum() ** 2 + risk.value(score + risk.intercepts(score))
    alpha = risk.feasible(lasso.alpha[:, None])
    dual = risk.dual_fit(alpha) - 0.5 * float(np.abs(F.T @ alpha).max()) ** 2
    assert dual <= value * (1.0 + 1e-7) and primal >= value * (1.0 - 1e-7)
    assert primal - dual <= 2.0 * tol * primal
    theta = np.abs(lasso.w) / np.abs(lasso.w).sum()
    assert np.abs(lasso.weights() - theta).sum() <= 0.5


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", CORNERS, ids=repr)
@pytest.mark.parametrize("kind", ["plain", "doubled", "wide", "nearly the same"])
def test_against_cvxpy(kind, loss, fit_intercept):
    F, y, C = columns_of(kind)
    risk = risk_of(loss, y, C, fit_intercept)
    lasso = lasso_of(risk)
    lasso.start(F)
    assert lasso.run(F, 1e-6) <= 1e-6
    assert_bounds(F, risk, lasso, cvxpy_value(F, risk), 1e-6)


@pytest.mark.parametrize("loss", CORNERS, ids=repr)
def test_covariates(loss):
    F, y, C = columns_of("plain")
    Z = basis(np.column_stack([np.ones(len(y)), np.linspace(-1.0, 1.0, len(y))]))
    risk = risk_of(loss, y, C, True, Z)
    lasso = lasso_of(risk)
    lasso.start(F)
    assert lasso.run(F, 1e-6) <= 1e-6
    value = cvxpy_value(F, risk)
    np.testing.assert_allclose(lasso.primal, value, rtol=1e-5)
    assert np.abs(Z.T @ lasso.alpha).max() <= 1e-6 * np.abs(lasso.alpha).sum()


@pytest.mark.parametrize("loss", CORNERS, ids=repr)
def test_columns_join_and_leave_and_costs_change(loss):
    """From the last point: the same optimum as from the start."""
    F, y, C = columns_of("plain")
    risk = risk_of(loss, y, C)
    lasso = lasso_of(risk)
    lasso.start(F[:, :6])
    lasso.run(F[:, :6], 1e-3)
    kept = np.array([0, 2, 5])
    F = np.hstack([F[:, kept], F[:, 6:]])
    lasso.join(F, kept)
    lasso.run(F, 1e-2)
    for factor in (10.0, 0.02, 5.0):
        risk = risk.scaled(factor)
        lasso.scale(factor)
        lasso.join(F, np.arange(F.shape[1]))
        assert lasso.run(F, 1e-6) <= 1e-6
        assert_bounds(F, risk, lasso, cvxpy_value(F, risk), 1e-6)


@pytest.mark.parametrize("scale", [1.0, 0.1])
@pytest.mark.parametrize("loss", [*CORNERS, Logistic(), SquaredHinge()], ids=repr)
def test_what_is_returned_has_the_value_that_is_said(loss, scale):
    """θ and α of a result stand for a function whose P is the one that `settled` says."""
    F, y, C = columns_of("plain")
    risk = risk_of(loss, y, C)
    family = Columns(F)
    kind = Cornered(family, risk, Simplex(), np.random.RandomState(0)) if loss in CORNERS else None
    problem = kind or HeldNewton(family, risk)
    problem.add([0, 3, 7])
    problem.solve(scale, 1e-2)
    problem.add([z for z in range(F.shape[1]) if z not in (0, 3, 7)])
    point, primal, level = problem.solve(scale, 1e-6)
    said = problem.settled(primal, 1e-6)
    (atoms, theta), (alpha, b), risk = problem.weights(), problem.machine(), risk.scaled(scale)
    pull = F[:, atoms].T @ alpha[:, 0]
    f = (F[:, atoms] @ (theta * pull))[:, None] + b
    value = 0.5 * float(np.sum(theta * np.abs(pull))) ** 2 + risk.value(f)
    assert said >= value * (1.0 - 1e-12)
    np.testing.assert_allclose(said, value, rtol=1e-7)
    dual = risk.dual(point, np.array([level]), Simplex(), problem.size)
    assert 0.0 <= said - dual <= 3e-6 * said
    assert level >= float(np.square(F.T @ point).max()) * (1.0 - 1e-12)


def test_lists_of_columns_are_learned_on_their_features():
    """The default for rank_one() and the hinge has the optimum of the active set method."""
    F, y, _ = columns_of("plain")
    y = np.where(y > np.median(y), 1, -1)
    model = MKLClassifier(rank_one(), C=0.5, tol=1e-6, warm_start=True).fit(F, y)
    plain = MKLClassifier(rank_one(), C=0.5, tol=1e-6, solver="active-set").fit(F, y)
    np.testing.assert_allclose(model.objective_, plain.objective_, rtol=1e-5)
    np.testing.assert_allclose(model.decision_function(F), plain.decision_function(F), atol=2e-2)
    first = model.objective_
    assert model.dual_gap_ <= 1e-6 and model.certified_
    np.testing.assert_allclose(model.fit(F, y).objective_, first, rtol=1e-5)
