"""SMO, which solves machines of piecewise linear losses: hinge, ε-insensitive and their like."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._fast import smo as fast
from .._fast.linalg import factor
from ..losses import Loss
from .base import Array, Machine, Sensitivity, Solution, direction, feasible

_LARGE = 500  # support vectors from which single precision is used: twice as fast, and it is only a metric
_STEPS = 20_000  # or fifty a sample, between two looks at the gap
_WAITS = 5  # looks without a smaller gap, after which rounding errors are all that moves
_JITTER = 1e-8  # relative to the mean diagonal: the metric of a singular kernel need not be exact


class SMO(Machine):
    """Sequential minimal optimisation for piecewise linear losses.

    Working sets of two are chosen by second-order information; bounded variables are shrunk; starts are warm.
    The loop is compiled (`_fast/smo.py`).

    Parameters
    ----------
    loss : Loss
        A piecewise linear loss.
    fit_intercept : bool
        Whether there is an intercept.
    max_iter : int, default=1_000_000
        Largest number of steps.

    Attributes
    ----------
    epsilon : float
        The half-width of the tube of the loss; 0 for losses without one.

    References
    ----------
    Fan, Chen & Lin (2005), "Working set selection using second order information for training support vector
    machines", Journal of Machine Learning Research 6.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Hinge
    >>> from manykernels.machines import SMO
    >>> K, y, C = np.eye(4), np.array([1.0, 1.0, -1.0, -1.0]), np.full(4, 0.5)
    >>> found = SMO(Hinge(), fit_intercept=True).solve(K, y, C, np.zeros(4), tol=1e-9)
    >>> found.alpha.round(6).tolist()
    [0.5, 0.5, -0.5, -0.5]
    """

    def __init__(self, loss: Loss, fit_intercept: bool, max_iter: int = 1_000_000) -> None:
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.epsilon = float(loss.tube)

    def solve(
        self, K: Array, y: Array, C: Array, alpha: Array, tol: float, previous: Sensitivity | None = None
    ) -> Solution:
        lo, hi = (bound * C for bound in self.loss.bounds(y))
        alpha = feasible(alpha, lo, hi) if self.fit_intercept else np.clip(alpha, lo, hi)
        run = fast.solve_pairs if self.fit_intercept else fast.solve_single
        G = np.empty_like(alpha)
        scale = max(float(np.abs(y).max()), 1e-300)
        violation, chunk = 1e-2 * scale, max(_STEPS, 50 * alpha.size)
        best, steps, waits = None, 0, 0
        while True:
            *_, taken = run(K, y, lo, hi, self.epsilon, alpha, G, violation, chunk)
            solution = self._solution(y, C, alpha, G)
            waits = waits + 1 if best is not None and solution.gap > 0.9 * best.gap else 0
            if best is None or solution.gap <= best.gap:
                best = replace(solution, alpha=alpha.copy())
            steps, finished = steps + taken, taken < chunk
            if not best.gap > tol or best.gap == 0.0 or steps >= self.max_iter or waits >= _WAITS:
                return best
            if finished:
                if violation < 1e-13 * scale:
                    return best
                violation *= min(0.3, max(0.01, 0.5 * tol / solution.gap))

    def _solution(self, y: Array, C: Array, alpha: Array, G: Array) -> Solution:
        """f and the duality gap from the gradient G = Kα − y that the solver maintains."""
        score = G + y
        b = self.loss.intercept(y, score, C) if self.fit_intercept else 0.0
        f = score + b
        dual_fit = float(alpha @ y) - self.epsilon * float(np.abs(alpha).sum())
        gap = float(alpha @ score) + float(C @ self.loss.value(y, f)) - dual_fit
        return Solution(alpha, b, f, max(gap, 0.0))

    def sensitivity(self, K: Array, y: Array, C: Array, solution: Solution) -> Sensitivity:
        return free_sensitivity(self.loss, K, y, C, solution.alpha, self.fit_intercept)


def free_sensitivity(
    loss: Loss, K: Array, y: Array, C: Array, alpha: Array, fit_intercept: bool, Z: Array | None = None
) -> Sensitivity:
    """Return how the free support vectors of a piecewise linear loss move with the kernel."""
    lo, hi = (bound * C for bound in loss.bounds(y))
    margin = 1e-9 * C
    free = (alpha > lo + margin) & (alpha < hi - margin)
    if float(loss.tube) > 0.0:
        free &= np.abs(alpha) > margin
    support = np.flatnonzero(free)
    part = K[np.ix_(support, support)]
    single = support.size >= _LARGE
    L = factor(part.astype(np.float32) if single else part, 1e3 * _JITTER if single else _JITTER)
    root = np.ones(support.size)
    beside = None if Z is None else Z[support]
    v = direction(L, root, fit_intercept, beside) if support.size else None
    return Sensitivity(support, L, root, v)
