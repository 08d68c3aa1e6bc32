"""Alternating updates: solve the machine, then the weights, in closed form.

Kloft's update (Afkanpour 2013, §2.3.1): with ‖w_m‖ = θ_m √q_m, the weights that minimise Σ‖w_m‖²/θ_m + h(θ),
which never raises P. Or Algorithm 1 of Rostamizadeh (2010): θ ← argmax θᵀq(α) − h(θ) (Theorem 2.1: μ₀ + Λ
q/‖q‖ for the ball around μ₀) and α ← ηα + (1−η) α(θ). Both read all kernels at every step; the machine is
only as exact as the gap needs.
"""

from __future__ import annotations

import numpy as np

from ..objectives import Risk
from ..penalties import Penalty
from ._walk import Walk
from .base import Kernels, Result, Run, Solver, listed
from .declarations import Serves

_UNIQUE = "since it needs best weights that are unique for given αᵀK_mα"


class Alternating(Solver):
    """First-order alternation between the machine and the weights, for every penalty.

    It reads all kernels at every step. ``solver="auto"`` takes it for families of more than 200 kernels that
    can be listed, at norms where all kernels have weight. Elsewhere it is there for comparison and as an
    independent check.

    Parameters
    ----------
    interpolation : float or None, default=None
        None is Kloft's update, which never raises the objective. A number η in [0, 1) is the interpolated
        Algorithm 1 of Rostamizadeh (2010), for penalties whose best weights for given q are unique (norm > 1,
        L2Ball). A larger η takes smaller steps.

    References
    ----------
    Kloft, Brefeld, Sonnenburg & Zien (2011), "lp-norm multiple kernel learning", Journal of Machine Learning
    Research 12.

    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, ch. 3, Algorithm 1.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import gaussian_grid
    >>> X, y = make_regression(50, 5, random_state=0)
    >>> model = MKLRegressor(gaussian_grid(1.0, 20.0, 5), norm=2.0, solver="alternating").fit(X, y)
    >>> bool(model.dual_gap_ <= model.tol)
    True
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
        walk, eta = Walk(listed(self, kernels, risk, penalty), risk, penalty, run), self._check()
        theta, alpha = walk.start()
        mixed, first = alpha, True  # the interpolated α; Kloft's update has no use for it
        while True:
            visit = walk.visit(theta, alpha, 0.05 * min(walk.gap, 1.0))
            walk.judge(visit)
            alpha = visit.fit.alpha
            if not walk.goes_on():
                return walk.result()
            if eta is None:
                theta = penalty.closed_form(theta * np.sqrt(visit.q))
            else:
                mixed = alpha if first else eta * mixed + (1.0 - eta) * alpha
                theta, first = penalty.conjugate(walk.gram.quad(mixed).sum(axis=1))[1], False

    def _check(self) -> float | None:
        eta = self.interpolation
        if eta is None:
            return None
        if not 0.0 <= eta < 1.0:
            raise ValueError(f"interpolation={eta!r} was given; expected None or a number in [0, 1).")
        return float(eta)
