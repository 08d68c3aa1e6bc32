"""Machines at one θ after another: what every method does that moves θ and solves the machine there.

It keeps the best function met so far with its P, the best dual bound with the point that gives it, and the
history of both, so that a method only has to say where to go next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..grams import Gram
from ..objectives import Fit, Risk
from ..penalties import Penalty
from ._stopping import goes_on
from .base import Array, Reason, Result, Run, relative

IDLE = 20  # looks without a smaller gap, by a thousandth: rounding errors are all that is left


@dataclass
class Visit:
    """θ, the machine at K_θ, q_m = αᵀK_mα of all kernels, and the value ½αᵀK_θα + R(f) ≥ J(θ)."""

    theta: Array
    fit: Fit
    q: Array
    value: float


class Walk:
    """The machines that were solved, and what is known from them."""

    def __init__(self, gram: Gram, risk: Risk, penalty: Penalty, run: Run, idle: float = IDLE) -> None:
        """After `idle` looks without a smaller gap it gives up."""
        if run.max_iter < 1:
            raise ValueError(f"max_iter={run.max_iter} was given; expected at least 1.")
        self.gram, self.risk, self.penalty, self.run, self.idle = gram, risk, penalty, run, idle
        self.K, self.largest = np.empty((gram.n, gram.n)), gram.largest()
        self.size = risk.zero_value()  # of the objective
        self.primal, self.dual, self.gap = np.inf, -np.inf, 1.0
        self.best: Visit | None = None
        self.proof: Array | None = None
        self.looks, self._smallest, self._waits = 0, np.inf, 0

    def start(self) -> tuple[Array, Array]:
        """(θ, α) to start from: given, or equal weights."""
        theta, alpha = self.run.start or (self.penalty.start(self.gram.n_kernels), self.risk.zeros())
        return theta, alpha

    def solve(self, theta: Array, alpha: Array, accuracy: float) -> Fit:
        """The machine at θ, from α, to a gap of `accuracy` times the objective; K_θ is then in `K`."""
        return self.risk.solve(self.gram.combine(theta, out=self.K), alpha, accuracy * self.size)

    def visit(self, theta: Array, alpha: Array, accuracy: float) -> Visit:
        """The same, with all quadratic forms."""
        fit = self.solve(theta, alpha, accuracy)
        return self.seen(theta, fit, self.gram.quad(fit.alpha).sum(axis=1))

    def seen(self, theta: Array, fit: Fit, q: Array) -> Visit:
        """A machine whose quadratic forms are known."""
        return Visit(theta, fit, q, self.risk.machine_value(fit))

    def bound(self, alpha: Array, q: Array) -> None:
        """Raise the dual bound by D(α), where it can; q may be anything above q(α)."""
        value = self.risk.dual(alpha, q, self.penalty, self.largest)
        if value > self.dual:
            self.dual, self.proof = value, alpha

    def judge(self, visit: Visit) -> None:
        """P and D of a machine."""
        theta, fit, q = visit.theta, visit.fit, visit.q
        self.size = self.risk.primal(self.penalty, theta, q, fit.f, fit.alpha, self.largest)
        self.bound(fit.alpha, q)
        if self.best is None or self.size <= self.primal:
            self.primal, self.best = self.size, visit

    def goes_on(self) -> bool:
        """Write the history; whether another iteration is needed, allowed, and not in vain."""
        assert self.best is not None
        self.looks += 1
        self.gap = relative(self.primal, self.dual)
        self.run.history.add(self.primal, self.gap, int(np.count_nonzero(self.best.theta)))
        self._waits = 0 if self.gap < 0.999 * self._smallest else self._waits + 1
        self._smallest = self._smallest if self._waits else self.gap
        done = self.gap <= self.run.tol or self._waits >= self.idle
        return not done and goes_on(self.looks, self.run.max_iter)

    def result(self, reason: Reason = Reason.NONE) -> Result:
        """The best function and the best bound; `reason` says why the method gave up."""
        assert self.best is not None
        converged = self.gap <= self.run.tol
        if not converged and self._waits >= self.idle:
            reason = Reason.STALLED
        return Result(
            atoms=list(range(self.gram.n_kernels)),
            weights=self.best.theta,
            alpha=self.best.fit.alpha,
            intercept=self.best.fit.intercept,
            primal=self.primal,
            dual=self.dual,
            certified=True,
            converged=converged,
            n_iter=self.looks,
            history=self.run.history,
            reason=Reason.NONE if converged else reason,
            dual_alpha=self.proof,
        )
