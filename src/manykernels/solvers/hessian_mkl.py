"""HessianMKL (Chapelle and Rakotomamonjy 2008): Newton's method on J(θ) over the simplex.

With the gradient g = −½q and the second derivative H = BᵀB of J, which the machine knows (see `machines`),
each iteration solves the quadratic program

    min_s  gᵀs + ½ sᵀHs      with      θ + s ≥ 0,  Σ(θ + s) = 1

and halves the step until J falls as it should (Armijo). H sees the samples where the loss bends, for the
hinge the free support vectors; which ones they are changes on the way.
"""

from __future__ import annotations

import numpy as np

from .._fast.threads import blas_for
from ..objectives import Fit, Risk
from ..penalties import Penalty
from ._local_model import LocalModel
from ._stopping import goes_on
from ._walk import Visit, Walk
from .base import Array, Kernels, Reason, Result, Run, Solver, listed
from .declarations import Serves
from .simple_mkl import cleaned

_EXACT = 1e-3  # of the gap, to which machines are solved at first: values of J are compared
_FINEST = 1e-13  # relative accuracy of a machine, where no step was found at a rougher one
_ARMIJO = 1e-4  # of the decrease that the gradient promises, which a step must keep
_HALVINGS = 30  # of one line search
_MODEL = 1e-9  # complementarity of the quadratic program, relative to the objective


class HessianMKL(Solver):
    """Newton's method for the weights, as in Chapelle and Rakotomamonjy (2008).

    It is there for comparison: every iteration reads all kernels and has a quadratic program over all of
    their weights, where `ActiveSet` has a working set, and cuts beside the second derivative.

    References
    ----------
    Chapelle & Rakotomamonjy (2008), "Second order optimization of kernel parameters", NIPS workshop on kernel
    learning.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from manykernels import MKLClassifier
    >>> from manykernels.families import gaussian_grid
    >>> X, y = make_classification(60, random_state=0)
    >>> model = MKLClassifier(gaussian_grid(1.0, 20.0, 5), loss="squared_hinge", solver="hessian").fit(X, y)
    >>> bool(model.dual_gap_ <= model.tol)
    True
    """

    serves = Serves(
        penalties=frozenset({"norm 1"}), needs="norm=1", because="since its steps are on the simplex"
    )

    def run(self, kernels: Kernels, risk: Risk, penalty: Penalty, run: Run) -> Result:
        walk = Walk(listed(self, kernels, risk, penalty), risk, penalty, run)
        accuracy = _EXACT
        with blas_for(walk.gram.n):
            theta, alpha = walk.start()
            theta = cleaned(theta)
            visit, R = _visit(walk, theta, walk.solve(theta, alpha, accuracy))
            while walk.goes_on():
                accuracy = min(accuracy, _EXACT * walk.gap)
                following = _step(walk, visit, R, accuracy)
                if following is None and accuracy <= _FINEST:
                    return walk.result(Reason.STALLED)
                if following is None:  # errors of the machines may hide the descent
                    accuracy = max(0.01 * accuracy, _FINEST)
                    following = visit.theta, walk.solve(visit.theta, visit.fit.alpha, accuracy)
                visit, R = _visit(walk, *following)
        return walk.result()


def _visit(walk: Walk, theta: Array, fit: Fit) -> tuple[Visit, Array]:
    """A machine, judged, with the products K_mα of all kernels."""
    R = walk.gram.products(fit.alpha)
    visit = walk.seen(theta, fit, np.maximum(np.einsum("mnk,nk->m", R, fit.alpha), 0.0))
    walk.judge(visit)
    return visit, R


def _step(walk: Walk, visit: Visit, R: Array, accuracy: float) -> tuple[Array, Fit] | None:
    """The weights and the machine after one step of Newton's method; None where J does not fall."""
    fit, K = visit.fit, walk.gram.combine(visit.theta, out=walk.K)
    B = walk.risk.curvature(K, fit, R)
    height = np.array([visit.value + 0.5 * float(visit.theta @ visit.q)])
    scale = max(abs(visit.value), 1e-300)
    model = LocalModel(height, visit.q[None], visit.theta, B, 0.0, walk.penalty, scale)
    s = model.minimise(_MODEL).theta - visit.theta
    slope = -0.5 * float(visit.q @ s)
    if not slope < 0.0:
        return None
    t = 1.0
    for _ in range(_HALVINGS):
        theta = cleaned(np.maximum(visit.theta + t * s, 0.0))
        trial = walk.solve(theta, fit.alpha, accuracy)
        value = walk.risk.machine_value(trial)
        if value <= visit.value + _ARMIJO * t * slope and value < visit.value:
            return theta, trial
        t *= 0.5
        if not goes_on(0, 1):
            break
    return None
