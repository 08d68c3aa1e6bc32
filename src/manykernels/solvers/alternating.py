"""Alternating updates: solve the machine, then the weights, in closed form.

Kloft's update (000 §2.3.1): with ‖w_m‖ = θ_m √q_m, the weights that minimise Σ‖w_m‖²/θ_m + h(θ), which never
raises P. Or 004's Algorithm 1: θ ← argmax θᵀq(α) − h(θ) (Theorem 2.1: μ₀ + Λ q/‖q‖ for the ball around μ₀)
and α ← ηα + (1−η) α(θ). Both read all kernels at every step; the machine is only as exact as the gap needs.
"""

from __future__ import annotations

import numpy as np

from ..objectives import Risk
from ..penalties import Penalty
from ._stopping import goes_on
from .base import Kernels, Reason, Result, Run, Solver, listed, relative
from .declarations import Serves

_UNIQUE = "since it needs best weights that are unique for given αᵀK_mα"
_IDLE = 20  # iterations without a smaller gap, by a thousandth: rounding errors are all that is left


class Alternating(Solver):
    """First-order alternation, for every penalty.

    Parameters
    ----------
    interpolation : float or None
        None is Kloft's update. A number η in [0, 1) is 004's interpolated Algorithm 1, for penalties whose
        best weights for given q are unique (norm > 1, L2Ball).
    """

    def __init__(self, interpolation: float | None = None) -> None:
        self.interpolation = interpolation

    @property
    def serves(self) -> Serves:  # type: ignore[override]
        """The interpolated algorithm moves to the best weights for given αᵀK_mα: they must be unique."""
        if self.interpolation is None:
            return Serves()
        return Serves(sparse=False, needs="norm > 1 or L2Ball(mu0, radius)", because=_UNIQUE)

    def run(self, kernels: Kernels, risk: Risk, penalty: Penalty, run: Run) -> Result:
        gram, eta = listed(self, kernels, risk, penalty), self._check()
        theta, alpha = run.start or (penalty.start(gram.n_kernels), risk.zeros())
        mixed = alpha  # the interpolated α of 004; Kloft's update has no use for it
        K, best, dual, gap, proof = np.empty((gram.n, gram.n)), None, -np.inf, 1.0, alpha
        scale = risk.zero_value()
        iteration, largest, smallest, waits = 0, gram.largest(), np.inf, 0
        while iteration < run.max_iter:
            iteration += 1
            fit = risk.solve(gram.combine(theta, out=K), alpha, 0.05 * min(gap, 1.0) * scale)
            alpha = fit.alpha
            q = gram.quad(alpha).sum(axis=1)
            primal = scale = risk.primal(penalty, theta, q, fit.f, alpha, largest)
            value = risk.dual(alpha, q, penalty, largest)
            if value > dual:
                dual, proof = value, alpha
            if best is None or primal <= best[0]:
                best = primal, theta, fit
            gap = relative(best[0], dual)
            run.history.add(best[0], gap, int(np.count_nonzero(best[1])))
            waits = 0 if gap < 0.999 * smallest else waits + 1
            smallest = smallest if waits else gap
            if gap <= run.tol or waits >= _IDLE or not goes_on(iteration, run.max_iter):
                break
            if eta is None:
                theta = penalty.closed_form(theta * np.sqrt(q))
            else:
                mixed = eta * mixed + (1.0 - eta) * alpha if iteration > 1 else alpha
                theta = penalty.conjugate(gram.quad(mixed).sum(axis=1))[1]
        if best is None:
            raise ValueError(f"max_iter={run.max_iter} was given; expected at least 1.")
        primal, theta, fit = best
        return Result(
            atoms=list(range(gram.n_kernels)),
            weights=theta,
            alpha=fit.alpha,
            intercept=fit.intercept,
            primal=primal,
            dual=dual,
            certified=True,
            converged=gap <= run.tol,
            n_iter=iteration,
            history=run.history,
            reason=Reason.STALLED if gap > run.tol and waits >= _IDLE else Reason.NONE,
            dual_alpha=proof,
        )

    def _check(self) -> float | None:
        eta = self.interpolation
        if eta is None:
            return None
        if not 0.0 <= eta < 1.0:
            raise ValueError(f"interpolation={eta!r} was given; expected None or a number in [0, 1).")
        return float(eta)
