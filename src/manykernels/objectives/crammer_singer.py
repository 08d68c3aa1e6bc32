"""The hinge of several classes in one problem (Crammer and Singer 2001).

    R(f) = Σ_i C_i max_c (1 − [c = y_i] + f_ic − f_iy_i)

is no sum over outputs. A subgradient in row i is C_i (p − e_y) with p in the simplex, on the classes where
the maximum is attained, so that α_i = C_i (e_y − p):

    −R*(−α) = Σ_i α_iy_i      where  Σ_c α_ic = 0  and  α_ic ≤ C_i [c = y_i],      −∞ elsewhere,

since R*(u) = sup_f ⟨u, f⟩ − R(f) has no bound along (1, …, 1), which changes no margin, and is linear between
the corners u = C (e_c − e_y), where it is −C [c ≠ y]. With intercepts also Σ_i α_ic = 0 for every class c.
Both kinds of sums together make the dual points plans of transport (`machines/rows.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..losses.structured import MulticlassHinge
from ..machines.row_descent import RowDescent
from ..machines.rows import Codes, Plans
from .base import Box, Fit, Risk

Array = NDArray[np.float64]
_INSIDE = 0.05  # of the way to a point inside all bounds, from which interior-point methods start


class CrammerSinger(Risk):
    """The multiclass hinge loss of all samples, with one decision for each class.

    Parameters
    ----------
    y : ndarray of int of shape (n,)
        Classes as numbers below k, each of which occurs.
    C : ndarray of shape (n,)
        Costs of the samples, positive.
    k : int
        Number of classes.
    fit_intercept : bool
        Whether each class has an intercept.

    Attributes
    ----------
    loss : MulticlassHinge
        The loss of one sample.
    plans : Plans
        The set of the dual points.
    machine : RowDescent
        The machine that fits the risk with one kernel.

    References
    ----------
    Crammer & Singer (2001), "On the algorithmic implementation of multiclass kernel-based vector machines",
    Journal of Machine Learning Research 2.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.objectives import CrammerSinger
    >>> CrammerSinger(np.array([0, 1, 2]), np.ones(3), 3, True).value(np.zeros((3, 3)))
    3.0
    """

    def __init__(self, y: Codes, C: Array, k: int, fit_intercept: bool) -> None:
        self.y, self.C, self.shape, self.fit_intercept = y, C, (y.size, k), fit_intercept
        self.loss = MulticlassHinge()
        self.plans = Plans(y, C, k, fit_intercept)
        self.machine = RowDescent(self.plans)
        self.cost = float(C.mean())

    @property
    def label(self) -> str:
        return "multi_class='crammer-singer'"

    @property
    def piecewise_linear(self) -> bool:
        return True

    def subset(self, rows: NDArray[np.intp]) -> CrammerSinger | None:
        """The risk of some samples, weighing as much as all; None where a class is missing among them."""
        y, k = self.y[rows], self.shape[1]
        if np.unique(y).size < k:
            return None
        C = self.C[rows] * (self.C.sum() / self.C[rows].sum())
        return CrammerSinger(y, C, k, self.fit_intercept)

    def scaled(self, factor: float) -> CrammerSinger:
        return CrammerSinger(self.y, factor * self.C, self.shape[1], self.fit_intercept)

    # -- the function and its conjugate -----------------------------------------------------------
    def terms(self, f: Array) -> Array:
        return self.C * self.loss.value(self.y, f)

    def gradient(self, f: Array) -> Array:
        """C (e_c − e_y) for the class c with the largest 1 − [c = y] + f_c."""
        rows, G = np.arange(len(f)), np.zeros_like(f)
        reach = 1.0 + f
        reach[rows, self.y] -= 1.0
        G[rows, reach.argmax(axis=1)] += self.C
        G[rows, self.y] -= self.C
        return G

    def dual_terms(self, alpha: Array) -> Array:
        return -self.C * self.loss.conjugate(self.y, -alpha / self.C[:, None])

    def feasible(self, alpha: Array) -> Array:
        return self.plans.feasible(alpha)

    def exact(self, alpha: Array) -> Array:
        return self.plans.exact(self.plans.feasible(alpha))

    def interior(self, alpha: Array) -> Array:
        alpha = self.feasible(alpha)
        return alpha + _INSIDE * (self.plans.center - alpha)

    def intercepts(self, score: Array) -> Array:
        return self.machine.offsets(score) if self.fit_intercept else np.zeros(self.shape[1])

    def worst(self, f: Array, off: Array) -> float:
        """Each rival at its upper end, the class itself at its lower one."""
        rows = np.arange(len(f))
        raised = f + off
        raised[rows, self.y] = f[rows, self.y] - off[rows, self.y]
        return self.value(raised)

    def ray(self, alpha: Array) -> tuple[float, float]:
        return float(np.sum(alpha[np.arange(len(alpha)), self.y])), 0.0

    def reach(self, alpha: Array) -> float:
        own = alpha[np.arange(len(alpha)), self.y]
        return float(np.min(self.C[own > 0.0] / own[own > 0.0], initial=np.inf))

    def box(self) -> Box:
        """α_iy in [0, C_i], the others in [−C_i, 0]; rows add up to 0 as well."""
        caps = self.plans.caps
        own = caps > 0.0
        return Box(own.astype(float), np.where(own, 0.0, -self.C[:, None]), caps, 0.0, rows=True)

    # -- the machine ------------------------------------------------------------------------------
    def solve(self, K: Any, alpha: Array, tol: float) -> Fit:
        s = self.machine.solve(K, alpha, tol)
        return Fit(s.alpha, s.intercept, s.f, s.gap, [s])

    def curvature(self, K: Any, fit: Fit, R: Array) -> Array:
        return self.machine.curvature(K, fit.solutions[0], R)

    def move(self, fit: Fit, alpha: Array, Bd: Array) -> Array:
        return self.machine.move(fit.solutions[0], alpha, Bd)
