"""Points that another solver finds: their P, in extended precision, is above the optimum whatever it says."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
from benchmarks.references import attempts
from tests.properties.exact import Grams, Long, costs, group_norm, loss_values, targets
from tests.properties.problems import Case

from manykernels.losses import Huber, Pinball
from manykernels.penalties import ElasticNet, L2Ball


def cvxpy_primal(case: Case, model: Any, Ks: Grams) -> float:
    """P of the point where cvxpy ends, summed over problems with weights of their own; ∞ where it fails."""
    Y, cost = targets(case, model), costs(case, model)
    separate = np.ndim(model.weights_) == 2
    groups = [[k] for k in range(Y.shape[1])] if separate else [list(range(Y.shape[1]))]
    return sum(_solve(case, Y[:, group], cost, Ks) for group in groups)


def _solve(case: Case, Y: np.ndarray, cost: np.ndarray, Ks: Grams) -> float:
    """One problem in w_m = Φ_mᵀ a_m, with K_m = Φ_m Φ_mᵀ by eigenvectors."""
    roots = [_root(K.astype(float)) for K in map(Ks.__getitem__, range(len(Ks)))]
    W = [cp.Variable((Phi.shape[1], Y.shape[1])) for Phi, _ in roots]
    b = cp.Variable((1, Y.shape[1]))
    F = sum(Phi @ w for (Phi, _), w in zip(roots, W, strict=True))
    F = F + np.ones((len(Y), 1)) @ b if case.model.fit_intercept else F
    size, constraints = _size(case.model.norm, W)
    problem = cp.Problem(cp.Minimize(size + _risk(case.model.loss, Y, cost.astype(float), F)), constraints)
    best = np.inf
    for attempt, _ in enumerate(attempts(problem, 1e-10)):
        if all(w.value is not None and np.isfinite(w.value).all() for w in W):
            inverse = [back @ w.value for (_, back), w in zip(roots, W, strict=True)]
            shift = b.value if case.model.fit_intercept else np.zeros_like(Y[:1])
            best = min(best, _primal_at(case, Y, cost, Ks, inverse, shift))
        if problem.status == cp.OPTIMAL or (attempt > 0 and np.isfinite(best)):
            break
    return best


def _root(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Φ with ΦΦᵀ = K, and its pseudo-inverse from the left of w: K (back w) = Φ w."""
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    keep = values > 1e-11 * max(values.max(initial=0.0), 1e-300)
    if not keep.any():
        return np.zeros((len(K), 1)), np.zeros((len(K), 1))
    root = np.sqrt(values[keep])
    return vectors[:, keep] * root, vectors[:, keep] / root


def _size(norm: Any, W: list[Any]) -> tuple[Any, list[Any]]:
    norms = [cp.norm(w, "fro") for w in W]
    if isinstance(norm, ElasticNet):
        pairs = zip(W, norms, strict=True)
        return sum(0.5 * norm.lam * cp.sum_squares(w) + (1 - norm.lam) * a for w, a in pairs), []
    if isinstance(norm, L2Ball):
        theta = cp.Variable(len(W))
        size = 0.5 * sum(cp.quad_over_lin(w, theta[m]) for m, w in enumerate(W))
        return size, [theta >= 0, cp.norm(theta - norm.mu0) <= norm.radius]
    e = 2.0 if norm == np.inf else 2 * norm / (norm + 1)
    return 0.5 * cp.square(cp.pnorm(cp.hstack(norms), e)), []


def _risk(loss: Any, Y: np.ndarray, cost: np.ndarray, F: Any) -> Any:
    C = np.broadcast_to(cost[:, None], Y.shape)
    margin, root = 1 - cp.multiply(Y, F), np.sqrt(C)
    if loss == "squared_hinge":
        return 0.5 * cp.sum_squares(cp.multiply(root, cp.pos(margin)))
    if loss == "squared":
        return 0.5 * cp.sum_squares(cp.multiply(root, Y - F))
    if loss == "hinge":
        return cp.sum(cp.multiply(C, cp.pos(margin)))
    if loss == "logistic":
        return cp.sum(cp.multiply(C, cp.logistic(margin - 1)))
    if isinstance(loss, Pinball):
        return cp.sum(cp.multiply(C, loss.tau * cp.pos(Y - F) + (1 - loss.tau) * cp.pos(F - Y)))
    if isinstance(loss, Huber):
        return cp.sum(cp.multiply(C, 0.5 * cp.huber(Y - F, loss.delta)))
    return cp.sum(cp.multiply(C, cp.pos(cp.abs(Y - F) - getattr(loss, "epsilon", 0.1))))


def _primal_at(case: Case, Y: Any, cost: Any, Ks: Grams, a: list[np.ndarray], b: Any) -> float:
    """P of f = Σ_m K_m a_m + b."""
    f, norms = np.zeros(Y.shape, Long) + b, np.zeros(len(Ks), Long)
    for m, coef in enumerate(a):
        part = Ks[m] @ coef.astype(Long)
        f, norms[m] = f + part, np.sqrt(np.maximum((coef * part).sum(), 0))
    risk = (cost[:, None] * loss_values(case.model.loss, Y, f)).sum()
    return float(group_norm(case.model.norm, norms) / 2 + risk)
