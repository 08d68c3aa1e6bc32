"""Weights of kernels beside covariates: every solver finds the optimum of cvxpy, and proves it."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from tests.machines.test_free import LOSSES, of_cvxpy

from manykernels import losses
from manykernels.grams import build_gram
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.machines.free import basis
from manykernels.objectives import Separable
from manykernels.penalties import resolve_penalty
from manykernels.solvers import Run, resolve_solver

N = 40
RNG = np.random.RandomState(0)
X, SITE = RNG.randn(N, 3), RNG.randint(0, 3, N)
Z = basis(np.column_stack([np.ones(N), RNG.randn(N), np.eye(3)[SITE]]))
SIGNAL = np.sin(X[:, 0]) + X[:, 1] + SITE + 0.3 * RNG.randn(N)
LINEAR = {f"x{j}": OnColumns(Linear(), [j]) for j in range(3)}
KERNELS = {"narrow": Gaussian(1.0), "wide": Gaussian(3.0), **LINEAR}


def gram_of(kernels: Any, narrow: bool = False) -> Any:
    given = {"center": False, "normalize": "trace", "sample_weight": None, "memory_limit": None}
    return build_gram(kernels, X, **given, narrow=narrow)[0]


def risk_of(loss: Any) -> Separable:
    y = np.where(SIGNAL > np.median(SIGNAL), 1.0, -1.0) if loss.task == "classification" else SIGNAL
    return Separable(loss, y[:, None], np.ones((N, 1)), True, Z=Z)


def learned(solver: str, gram: Any, risk: Separable, norm: float = 1.0) -> Any:
    return resolve_solver(solver).run(
        gram, risk, resolve_penalty(norm), Run(1e-7, 400, np.random.RandomState(0))
    )


def root_of(K: Any) -> Any:
    """Features of a kernel, without those that are rounding."""
    values, V = np.linalg.eigh(K)
    used = values > 1e-9 * values[-1]
    return V[:, used] * np.sqrt(values[used])


def optimum(gram: Any, risk: Separable) -> float:
    """½ (Σ ‖w_m‖)² + R(Σ Φ_m w_m + Zγ), by cvxpy."""
    roots = [root_of(gram.combine(np.eye(gram.n_kernels)[m])) for m in range(gram.n_kernels)]
    w, gamma = [cp.Variable(root.shape[1]) for root in roots], cp.Variable(Z.shape[1])
    f = Z @ gamma + sum(root @ v for root, v in zip(roots, w, strict=True))
    size = cp.square(sum(cp.norm(v) for v in w))
    found = cp.Problem(cp.Minimize(0.5 * size + of_cvxpy(risk.loss, risk.Y[:, 0], f)))
    return float(found.solve(solver=cp.CLARABEL))


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # of cvxpy's, by less than is compared
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_optimum_is_that_of_cvxpy(loss: Any) -> None:
    gram, risk = gram_of(KERNELS), risk_of(loss)
    result = learned("active-set", gram, risk)
    assert 0.0 <= result.gap <= 1e-7
    assert result.primal == pytest.approx(optimum(gram, risk), rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_solvers_agree(loss: Any) -> None:
    narrow = gram_of(LINEAR, narrow=True)
    others = ["group-descent"] * loss.smooth + ["blockwise"] * loss.quadratic
    for solver in others:
        one, other = learned("active-set", narrow, risk_of(loss)), learned(solver, narrow, risk_of(loss))
        assert other.primal == pytest.approx(one.primal, rel=1e-6)
        assert np.broadcast_to(other.intercept, (N, 1)) == pytest.approx(one.intercept, abs=1e-2)
    dense, alternating = (
        learned(s, gram_of(KERNELS), risk_of(loss), 2.0) for s in ("active-set", "alternating")
    )
    assert alternating.primal == pytest.approx(dense.primal, rel=1e-5)


def test_what_covariates_explain_changes_no_weight() -> None:
    """Squared loss: y + Zβ has the same θ and α as y."""
    gram, beta = gram_of(KERNELS), 100.0 * np.random.RandomState(1).randn(Z.shape[1])
    shifted = Separable(losses.Squared(), (SIGNAL + Z @ beta)[:, None], np.ones((N, 1)), True, Z=Z)
    one, other = learned("active-set", gram, risk_of(losses.Squared())), learned("active-set", gram, shifted)
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-6)
    np.testing.assert_allclose(one.alpha, other.alpha, atol=1e-6)
    np.testing.assert_allclose(other.intercept - one.intercept, (Z @ beta)[:, None], atol=1e-5)
