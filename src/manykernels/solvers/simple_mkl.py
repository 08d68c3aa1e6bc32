"""SimpleMKL (Rakotomamonjy et al. 2008): a reduced gradient method on J(θ) over the simplex.

J(θ) has the gradient −½q(α(θ)). With μ the kernel of the largest weight and r_m = ∂J/∂θ_m − ∂J/∂θ_μ, the
direction (their Eq. 12) keeps Σθ = 1 and never leaves θ ≥ 0 at once:

    D_m = 0 where θ_m = 0 and r_m > 0,      D_m = −r_m for other m ≠ μ,      D_μ = −Σ_{m≠μ} D_m

Their Algorithm 1 goes to where the first weight vanishes; while J falls there, it takes that weight out of
the direction and goes on, without a new gradient. Between the last two points a golden section search finds
the step. Every trial is a machine, started from the last one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .._arguments import is_number
from .._fast.threads import blas_for
from ..objectives import Fit, Risk
from ..penalties import Penalty
from ._stopping import goes_on
from ._walk import Visit, Walk
from .base import Array, Kernels, Reason, Result, Run, Solver, listed
from .declarations import Serves

_GOLD = 0.5 * (np.sqrt(5.0) - 1.0)
_NONE = 1e-8  # weights below are zero, as in the authors' toolbox
_EXACT = 1e-3  # of the gap, to which machines are solved at first: values of J are compared
_FINEST = 1e-13  # relative accuracy of a machine, where no step was found at a rougher one
_DEEPEST = 60  # contractions of a golden section search
_KKT = 0.1  # the authors' threshold on how unequal the gradients of kernels with weight may be
_VARIATION = 1e-4  # and on how far a weight may move in an iteration
STOPS = ("gap", "kkt", "variation")


@dataclass
class _Trial:
    """A machine on the way, with its value."""

    theta: Array
    fit: Fit
    value: float


class SimpleMKL(Solver):
    """Reduced gradient descent, as in Rakotomamonjy et al. (2008).

    It is there for comparison: `ActiveSet` needs far fewer machines.

    Parameters
    ----------
    stop : {"gap", "kkt", "variation"}, default="gap"
        The rule for stopping. "gap" stops at a duality gap of the estimator's `tol`, at which the others stop
        too. "kkt" stops where the quadratic forms of kernels with weight differ by less than a tenth, and
        those without are not above them by more. "variation" stops where no weight moved by 1e-4. These are
        the rules of the authors' toolbox with its thresholds; the two last ones prove nothing, so that the
        fit warns with its gap where that is above `tol`.
    precision : float, default=0.1
        The golden section search ends when its interval is this part of the longest step. A smaller value
        takes more machines a step.

    References
    ----------
    Rakotomamonjy, Bach, Canu & Grandvalet (2008), "SimpleMKL", Journal of Machine Learning Research 9.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from manykernels import MKLClassifier
    >>> from manykernels.families import gaussian_grid
    >>> X, y = make_classification(60, random_state=0)
    >>> model = MKLClassifier(gaussian_grid(1.0, 20.0, 5), solver="simplemkl", tol=1e-2).fit(X, y)
    >>> bool(model.dual_gap_ <= model.tol)
    True
    """

    serves = Serves(
        penalties=frozenset({"norm 1"}), needs="norm=1", because="since its gradient is reduced by Σθ = 1"
    )

    def __init__(self, stop: Literal["gap", "kkt", "variation"] = "gap", precision: float = 0.1) -> None:
        self.stop = stop
        self.precision = precision

    def run(self, kernels: Kernels, risk: Risk, penalty: Penalty, run: Run) -> Result:
        walk, precision = Walk(listed(self, kernels, risk, penalty), risk, penalty, run), self._check()
        accuracy = _EXACT
        with blas_for(walk.gram.n):
            theta, alpha = walk.start()
            visit = walk.visit(cleaned(theta), alpha, _EXACT)
            walk.judge(visit)
            while walk.goes_on():
                if self.stop == "kkt" and _kkt(visit):
                    return walk.result(Reason.RULE)
                accuracy = min(accuracy, _EXACT * walk.gap)
                following = _step(walk, visit, accuracy, precision)
                if following is None and accuracy <= _FINEST:
                    return walk.result(Reason.STALLED)
                if following is None:  # errors of the machines may hide the descent
                    accuracy = max(0.01 * accuracy, _FINEST)
                    visit = walk.visit(visit.theta, visit.fit.alpha, accuracy)
                    walk.judge(visit)
                    continue
                moved = float(np.abs(following.theta - visit.theta).max())
                q = walk.gram.quad(following.fit.alpha).sum(axis=1)
                visit = walk.seen(following.theta, following.fit, q)
                walk.judge(visit)
                if self.stop == "variation" and moved < _VARIATION:
                    walk.goes_on()
                    return walk.result(Reason.RULE)
        return walk.result()

    def _check(self) -> float:
        if not isinstance(self.stop, str) or self.stop not in STOPS:
            raise ValueError(
                f"stop={self.stop!r} was given to SimpleMKL; expected 'gap', 'kkt' or 'variation'."
            )
        if not is_number(self.precision) or not 0.0 < self.precision < 1.0:
            raise ValueError(
                f"precision={self.precision!r} was given to SimpleMKL; expected a number between 0 and 1."
            )
        return float(self.precision)


def cleaned(theta: Array) -> Array:
    """θ with sum 1 and exact zeros."""
    theta = np.where(theta > _NONE * theta.max(initial=0.0), theta, 0.0)
    return np.asarray(theta / theta.sum())


def direction(theta: Array, q: Array) -> tuple[Array, int]:
    """The reduced gradient direction D and μ, scaled to the largest gradient."""
    gradient = -q / max(float(q.max(initial=0.0)), 1e-300)
    mu = int(np.argmax(theta))
    reduced = gradient - gradient[mu]
    D = np.where((theta > 0.0) | (reduced < 0.0), -reduced, 0.0)
    D[mu] = 0.0
    D[mu] = -D.sum()
    return D, mu


def _step(walk: Walk, visit: Visit, accuracy: float, precision: float) -> _Trial | None:
    """The descent of one gradient: to the border while J falls there, then a golden section search."""
    D, mu = direction(visit.theta, visit.q)
    here = _Trial(visit.theta, visit.fit, visit.value)
    while True:
        longest = _reach(here.theta, D)
        if longest is None:
            return None if here.theta is visit.theta else here
        border = _at(walk, here, D, longest, accuracy)
        if border.value >= here.value:
            break
        here, D = border, _narrowed(D, border.theta, mu)
    found = _golden(walk, here, border, D, longest, accuracy, precision)
    return None if found.theta is visit.theta else found


def _reach(theta: Array, D: Array) -> float | None:
    """The longest step along D inside of θ ≥ 0; None where D leads nowhere."""
    falling = np.flatnonzero(D < 0.0)
    if falling.size == 0 or float(np.abs(D).max()) < 1e-14:
        return None
    longest = float(np.min(-theta[falling] / D[falling]))
    return longest if longest > 0.0 else None


def _narrowed(D: Array, theta: Array, mu: int) -> Array:
    """D without the weights that have vanished, whose part the kernel μ takes."""
    D = np.where((theta > 0.0) | (D > 0.0), D, 0.0)
    D[mu] = 0.0
    D[mu] = -D.sum()
    return D


def _at(walk: Walk, here: _Trial, D: Array, step: float, accuracy: float) -> _Trial:
    """The machine a step along D from here."""
    theta = cleaned(np.maximum(here.theta + step * D, 0.0))
    fit = walk.solve(theta, here.fit.alpha, accuracy)
    return _Trial(theta, fit, walk.risk.machine_value(fit))


def _golden(
    walk: Walk, here: _Trial, border: _Trial, D: Array, longest: float, accuracy: float, precision: float
) -> _Trial:
    """The best point of a golden section search between `here` and `border`, where J has risen.

    It ends at `precision` of the longest step, and goes on where nothing better than `here` was met.
    """
    lo, hi, best = 0.0, longest, here
    left = right = None
    for _ in range(_DEEPEST):
        small = hi - lo <= precision * longest
        if (small and best is not here) or hi - lo < 1e-12 * longest or not goes_on(0, 1):
            break
        left = left or (hi - _GOLD * (hi - lo), _at(walk, here, D, hi - _GOLD * (hi - lo), accuracy))
        right = right or (lo + _GOLD * (hi - lo), _at(walk, here, D, lo + _GOLD * (hi - lo), accuracy))
        best = min(best, left[1], right[1], key=lambda trial: trial.value)
        if left[1].value <= right[1].value:
            hi, right, left = right[0], left, None
        else:
            lo, left, right = left[0], right, None
    return best


def _kkt(visit: Visit) -> bool:
    """Tell whether gradients of kernels with weight are equal, others no smaller, to a tenth (their §3.4)."""
    active = visit.theta > 0.0
    inside, largest = visit.q[active], float(visit.q[active].max(initial=0.0))
    even = float(inside.max() - inside.min()) <= _KKT * largest
    return even and bool(np.all(visit.q[~active] <= (1.0 + _KKT) * largest))
