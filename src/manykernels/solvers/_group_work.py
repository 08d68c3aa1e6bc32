"""The common part of all ways to move the coefficients of groups: the certificate, and missing groups."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from ..grams import FactorGram
from ..objectives import Separable
from ..penalties import Penalty
from ._stopping import goes_on
from .base import Array, Reason, Result, Run, relative

EXACT = 1e-11  # the relative change of a group at which a problem is solved, at last
_STALLED = 3  # looks without a smaller gap after which rounding has the last word


class GroupWork(ABC):
    """The coefficients of groups, and what is known of P and D."""

    def __init__(self, gram: FactorGram, risk: Separable, penalty: Penalty, run: Run) -> None:
        self.gram, self.penalty = gram, penalty
        self.squares = risk.least_squares() is not None
        self.largest = gram.largest()
        self.f = risk.zeros() + risk.constant()
        self.change = EXACT  # of a group, relative to Σ ‖w_g‖, at which the present problem is solved
        self.pose(risk, run)

    def pose(self, risk: Separable, run: Run) -> None:
        """A problem of which nothing is known yet but f."""
        self.risk, self.run = risk, run
        self.alpha = risk.constant_alpha()
        self.best, self.dual, self.steps, self.waits = self.alpha, -np.inf, 0, 0
        self.reason, self.slow = Reason.NONE, False
        self.answer: tuple[Array, Array, float] | None = None

    def after(self, risk: Separable, run: Run) -> GroupWork:
        """The work on the same risk at another cost: from the start of the run, or from what is there."""
        return type(self)(self.gram, risk, self.penalty, run)

    @property
    @abstractmethod
    def sizes(self) -> Array:
        """(M,): ‖w_g‖ of all groups."""

    @abstractmethod
    def begin(self, count: int | None) -> None:
        """The groups with weight in the start, and those that pull most."""

    @abstractmethod
    def improve(self) -> None:
        """Solve the problem of the groups that take part, as far as `change` says."""

    @abstractmethod
    def join(self, pull: Array, add: int | None) -> bool:
        """Let groups take part with ‖Φ_gᵀα‖ = pull above Σ ‖w_g‖; whether there are any."""

    @abstractmethod
    def scores(self, theta: Array) -> tuple[Array, Array]:
        """Σ_g θ_g K_gα (n, outputs), and what the unpenalised part of the model is less than that of this."""

    def forms(self, alpha: Array) -> Array:
        """(M,): αᵀK_gα."""
        return np.asarray(self.gram.quad(alpha).sum(axis=1))

    def solve(self, add: int | None) -> Result:
        """Steps and looks in turn, until the gap is as small as it should be, or steps are too slow."""
        while goes_on(self.steps, self.run.max_iter):
            self.improve()
            if self.look(add):
                break
        if self.answer is None:  # stopped before the first step
            self.look(0)
        return self.result()

    def look(self, add: int | None) -> bool:
        """P and D over all groups; whether that is enough, and if not, the groups that are missing join."""
        risk, run = self.risk, self.run
        self.alpha = risk.feasible(-risk.gradient(self.f))
        q = self.forms(self.alpha)
        dual = risk.dual(self.alpha, q, self.penalty, self.largest)
        if dual > self.dual:
            self.dual, self.best = dual, self.alpha
        self.answer = self._answer(q)
        *_, primal = self.answer
        gap = relative(primal, self.dual)
        last = run.history.gap[-1] if run.history.gap else np.inf
        run.history.add(primal, gap, int(np.count_nonzero(self.sizes)))
        if gap <= run.tol:
            return True
        if self.slow:
            return True
        more = self.join(np.sqrt(q), add)
        self.waits = self.waits + 1 if gap >= 0.5 * last and not more else 0
        if self.waits >= _STALLED and self.change <= EXACT:
            self.reason = Reason.STALLED
            return True
        return False

    def _answer(self, q: Array) -> tuple[Array, Array, float]:
        """θ, b and P of the function Σ θ_g K_gα + b."""
        theta, total = self.sizes, float(self.sizes.sum())
        if total > 0.0:
            theta = theta / total
        score, less = self.scores(theta)
        b = self.risk.intercepts(score)
        primal = self.risk.primal(self.penalty, theta, q, score + b, self.alpha, self.largest)
        return theta, b - less, primal

    def result(self) -> Result:
        assert self.answer is not None
        theta, b, primal = self.answer
        return Result(
            atoms=list(range(theta.size)),
            weights=theta if theta.any() else self.penalty.start(theta.size),
            alpha=self.alpha,
            intercept=b,
            primal=primal,
            dual=self.dual,
            certified=True,
            converged=relative(primal, self.dual) <= self.run.tol,
            n_iter=self.steps,
            history=self.run.history,
            reason=self.reason,
            dual_alpha=self.best,
        )


def missing(pull: Array, sizes: Array, out: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The groups among `out` that pull more than Σ ‖w_g‖, the strongest first."""
    found = np.flatnonzero(out & (pull > sizes.sum() * (1.0 + 1e-12)))
    return found[np.argsort(-pull[found], kind="stable")]
