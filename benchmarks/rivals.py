"""What people use instead: libsvm in a loop, a general convex solver, MKLpy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.svm import SVC

from manykernels.losses import EpsilonInsensitive, Hinge, Logistic, Loss, Squared, SquaredHinge
from manykernels.penalties import LpBall

from .problems import Array, risk_of


def libsvm(K: Array, y: Array, C: float, tol: float = 1e-3) -> SVC:
    """One SVM on one kernel, as scikit-learn's users get it."""
    return SVC(C=C, kernel="precomputed", tol=tol).fit(K, y)


@dataclass(frozen=True)
class Wrapped:
    """Weights and certificate of the wrapper, named as the solvers' results are."""

    weights: Array
    gap: float
    n_iter: int


def libsvm_wrapper(
    stack: Array, y: Array, C: float, p: float, rounds: int, tol: float | None = None
) -> Wrapped:
    """The usual wrapper: libsvm on K_θ = Σ θ_m K_m, then Kloft's update of θ, every pass by BLAS.

        θ_m = a_m^{2/(p+1)} / (Σ a^{2p/(p+1)})^{1/p},     a_m = ‖w_m‖ = θ_m √(αᵀK_mα)

    It stops after `rounds`, or (with `tol`) when the gap of its own ℓp problem is that small; libsvm's
    own tolerance, 1e-3, does not always allow that and is then tightened to 1e-4.
    """
    M, n = len(stack), y.size
    penalty, risk = LpBall(p), risk_of(y, C)
    theta, gap, t = penalty.start(M), np.inf, 0
    while t < rounds:
        t += 1
        K = (theta @ stack.reshape(M, n * n)).reshape(n, n)
        machine = libsvm(K, y, C, 1e-3 if tol is None else 1e-4)
        alpha = np.zeros(n)
        alpha[machine.support_] = machine.dual_coef_[0]
        q = (stack.reshape(M * n, n) @ alpha).reshape(M, n) @ alpha
        used, a = theta, theta * np.sqrt(np.maximum(q, 0.0))
        theta = a ** (2 / (p + 1)) / np.sum(a ** (2 * p / (p + 1))) ** (1 / p)
        if tol is not None or t == rounds:
            f = K @ alpha
            f += risk.loss.intercept(y, f, risk.C[:, 0])  # kinder than libsvm's own
            primal = 0.5 * penalty.group_norm(a) + risk.value(f[:, None])
            gap = (primal - risk.dual(alpha[:, None], q, penalty, 0.0)) / primal
        if tol is not None and gap <= tol:
            break
    return Wrapped(used, gap, t)


def cvxpy_optimum(stack: Array, y: Array, C: float, loss: Loss, p: float) -> float:
    """P at the optimum by Clarabel: min ½ Σ ‖v_m‖²/θ_m + C Σ ℓ(y, Σ L_m v_m + b), K_m = L_m L_mᵀ."""
    import cvxpy as cp

    from .references import optimal_value, root

    L = [root(K) for K in stack]
    V, b = [cp.Variable(L_m.shape[1]) for L_m in L], cp.Variable()
    f = sum(L_m @ v for L_m, v in zip(L, V, strict=True)) + b
    margin, residual = 1 - cp.multiply(y, f), y - f
    fit = {
        Hinge: lambda: cp.sum(cp.pos(margin)),
        SquaredHinge: lambda: 0.5 * cp.sum_squares(cp.pos(margin)),
        Logistic: lambda: cp.sum(cp.logistic(margin - 1)),
        Squared: lambda: 0.5 * cp.sum_squares(residual),
        EpsilonInsensitive: lambda: cp.sum(cp.pos(cp.abs(residual) - loss.epsilon)),
    }[type(loss)]()
    if np.isinf(p):  # θ = 1
        problem = cp.Problem(cp.Minimize(0.5 * sum(cp.sum_squares(v) for v in V) + C * fit))
    else:
        theta = cp.Variable(len(V), nonneg=True)
        norm = 0.5 * sum(cp.quad_over_lin(v, theta[m]) for m, v in enumerate(V))
        problem = cp.Problem(cp.Minimize(norm + C * fit), [cp.pnorm(theta, p) <= 1])
    return optimal_value(problem)


@dataclass(frozen=True)
class Solved:
    """A gap and weights, named as the solvers' results are."""

    gap: float
    weights: Array


def qcqp(stack: Array, y: Array, C: float) -> Solved:
    """The quadratically constrained program of Lanckriet et al. (2004) for the hinge at norm 1, by Clarabel:

        max_a  yᵀa − ½t      with      aᵀK_ma ≤ t for all m,  Σa = 0,  0 ≤ y∘a ≤ C

    Weights are the multipliers of its constraints. The gap is that of the machine at these weights.
    """
    import cvxpy as cp

    from .references import attempts, root

    a, t = cp.Variable(y.size), cp.Variable()
    quadratic = [cp.sum_squares(root(K).T @ a) <= t for K in stack]
    box = [cp.sum(a) == 0, cp.multiply(y, a) >= 0, cp.multiply(y, a) <= C]
    problem = cp.Problem(cp.Maximize(y @ a - 0.5 * t), quadratic + box)
    for _ in attempts(problem, 1e-6):
        if problem.status == cp.OPTIMAL:
            break
    theta = np.maximum([float(np.sum(constraint.dual_value)) for constraint in quadratic], 0.0)
    theta /= theta.sum()
    risk, penalty = risk_of(y, C), LpBall(1.0)
    K = np.einsum("m,mij->ij", theta, stack)
    fit = risk.solve(K, a.value[:, None], 1e-6 * float(problem.value))
    q = np.einsum("i,mij,j->m", a.value, stack, a.value, optimize=True)
    primal = 0.5 * float(theta @ (stack @ fit.alpha[:, 0] @ fit.alpha[:, 0])) + risk.value(fit.f)
    return Solved((primal - risk.dual(a.value[:, None], q, penalty, 0.0)) / primal, theta)


def mklpy_cka(stack: Array, y: Array, C: float, threads: int) -> Callable[[], Any] | None:
    """A fit of MKLpy's CKA (its "alignf"), or None where MKLpy is not installed.

    Its weights are M⁻¹a/‖M⁻¹a‖ (Rostamizadeh 2010, Prop. 3.2) by an explicit inverse. They have any sign and
    may align a little better than non-negative ones. The SVM gets the combination of the kernels as given,
    not centred nor scaled, and perhaps indefinite. Kernels are centred M²/2 times.
    """
    try:
        import torch
        from MKLpy.algorithms import CKA
    except ImportError:
        return None
    torch.set_num_threads(threads)
    kernels, labels = [torch.tensor(K) for K in stack], torch.tensor(y)
    return lambda: CKA(learner=SVC(C=C)).fit(kernels, labels)
