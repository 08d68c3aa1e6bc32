"""The semi-infinite linear program of Sonnenburg et al. (2006), solved by column generation.

J(θ) = max_α c(α) − ½θᵀq(α) with c(α) = −R*(−α) is the least r that is above infinitely many linear functions
of θ, one for every dual point α:

    min_{θ, r}  r      with      r ≥ c(α) − ½ θᵀq(α)  for all α,      θ ≥ 0, Σθ = 1

(their Eq. 11, with S_k(α) = ½q_k(α) − c(α) and the sign of r changed). The wrapper algorithm (their Algorithm
1) keeps the constraints of the α that it met, solves the linear program for θ, and the machine at that θ for
the most violated of all constraints. The value of the linear program is a lower bound. The multipliers λ of
its constraints make a dual point Σλ_tα_t that proves it: c is concave and each q_m convex, so that
D(Σλ_tα_t) ≥ Σλ_tc_t − ½ max_m Σλ_tq_tm = r.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from .._fast.threads import blas_for
from ..objectives import Risk
from ..penalties import Penalty
from ._walk import Walk
from .base import Array, Kernels, Reason, Result, Run, Solver, listed
from .declarations import Serves

_EXACT = 0.05  # of the gap, to which the machine is solved
_KEPT = 100  # constraints that are always kept; beyond, twice as many as bind
_VAIN = 5  # constraints in a row that add nothing, after which rounding errors are all that is left
_RISE = 1e-6  # of what is left between the bounds, by which a constraint must cut
_OPTIONS = {  # in units of what is left between the bounds
    "presolve": False,
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
}


class SILP(Solver):
    """Column generation, as in Sonnenburg et al. (2006): one linear program and one machine an iteration.

    It is there for comparison: `ActiveSet` needs fewer iterations. Weights are those of the best machine met.

    References
    ----------
    Sonnenburg, Rätsch, Schäfer & Schölkopf (2006), "Large scale multiple kernel learning", Journal of Machine
    Learning Research 7.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from manykernels import MKLClassifier
    >>> from manykernels.families import gaussian_grid
    >>> X, y = make_classification(60, random_state=0)
    >>> model = MKLClassifier(gaussian_grid(1.0, 20.0, 5), solver="silp").fit(X, y)
    >>> bool(model.dual_gap_ <= model.tol)
    True
    """

    serves = Serves(
        penalties=frozenset({"norm 1"}), needs="norm=1", because="since its linear program is over Σθ = 1"
    )

    def run(self, kernels: Kernels, risk: Risk, penalty: Penalty, run: Run) -> Result:
        # bounds of cutting planes stand still for long; what ends them is a constraint that adds nothing
        walk = Walk(listed(self, kernels, risk, penalty), risk, penalty, run, idle=np.inf)
        theta, alpha = walk.start()
        program, vain = Program(), 0
        with blas_for(walk.gram.n):
            while True:
                visit = walk.visit(theta, alpha, _EXACT * min(walk.gap, 1.0))
                walk.judge(visit)
                alpha = visit.fit.alpha
                height = risk.dual_fit(risk.feasible(alpha))
                vain = 0 if program.violated(theta, height, visit.q, walk) else vain + 1
                program.add(height, visit.q, alpha)
                found = program.solve(walk)
                if found is not None:
                    theta, multipliers = found
                    walk.bound(*program.mixed(multipliers))
                if not walk.goes_on():
                    return walk.result()
                if found is None or vain >= _VAIN:
                    return walk.result(Reason.STALLED)


class Program:
    """The linear program over the constraints that are kept: heights c_t, quadratic forms q_t, points α_t."""

    def __init__(self) -> None:
        self.heights: list[float] = []
        self.forms: list[Array] = []
        self.points: list[Array] = []

    def add(self, height: float, q: Array, alpha: Array) -> None:
        """Add the constraint of α."""
        self.heights.append(height)
        self.forms.append(q)
        self.points.append(alpha)

    def values(self, theta: Array) -> Array:
        """c_t − ½q_tᵀθ."""
        return np.array(self.heights) - 0.5 * np.array(self.forms) @ theta

    def violated(self, theta: Array, height: float, q: Array, walk: Walk) -> bool:
        """Tell whether θ is below a new constraint by more than a part of what is left to prove."""
        if not self.heights:
            return True
        rise = height - 0.5 * float(theta @ q) - float(self.values(theta).max())
        return rise > _RISE * (walk.primal - walk.dual)

    def mixed(self, multipliers: Array) -> tuple[Array, Array]:
        """Σλ_tα_t and Σλ_tq_t, which is above its quadratic forms."""
        return np.tensordot(multipliers, self.points, axes=1), multipliers @ np.array(self.forms)

    def solve(self, walk: Walk) -> tuple[Array, Array] | None:
        """The best θ and the multipliers λ of the constraints; None where the program cannot be solved.

        Since Σθ = 1, a constraint is r ≥ Σ_m θ_m (c_t − ½q_tm). Values are measured from the lower bound, in
        units of what is left above it: the solver's precision is absolute.
        """
        unit = max(walk.primal - walk.dual, 1e-13 * max(abs(walk.primal), 1e-300))
        rows = (np.array(self.heights)[:, None] - 0.5 * np.array(self.forms) - walk.dual) / unit
        T, M = rows.shape
        solved = linprog(
            np.append(np.zeros(M), 1.0),
            A_ub=np.column_stack([rows, -np.ones(T)]),
            b_ub=np.zeros(T),
            A_eq=np.append(np.ones(M), 0.0)[None],
            b_eq=[1.0],
            bounds=[(0.0, None)] * M + [(None, None)],
            method="highs-ds",
            options=_OPTIONS,
        )
        if solved.x is None:
            return None
        theta = np.maximum(solved.x[:M], 0.0)
        multipliers = np.maximum(-solved.ineqlin.marginals, 0.0)
        if not (theta.sum() > 0.0 and multipliers.sum() > 0.0):
            return None
        theta, multipliers = theta / theta.sum(), multipliers / multipliers.sum()
        return theta, self._forget(theta, multipliers)

    def _forget(self, theta: Array, multipliers: Array) -> Array:
        """Drop the constraint farthest from binding where there are many, as SHOGUN does; the other λ."""
        idle = multipliers == 0.0
        if idle.size <= max(_KEPT, 2 * np.count_nonzero(~idle)):
            return multipliers
        farthest = int(np.argmin(np.where(idle, self.values(theta), np.inf)))
        for part in (self.heights, self.forms, self.points):
            del part[farthest]
        return np.delete(multipliers, farthest)
