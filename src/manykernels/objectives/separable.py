"""The risk that is a sum of losses, and the machines that fit it.

For outputs k (classes or targets) that share the weights θ,

    R(f) = Σ_ik C_ik ℓ(y_ik, f_ik),      −R*(−α) = −Σ_ik C_ik ℓ*(y_ik, −α_ik/C_ik).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..losses import Loss
from ..losses.base import ROUNDING
from ..machines import Newton, Sensitivity, Solution, feasible, machine_for
from ..machines.free import balanced, basis, offset
from .base import Box, Fit, LeastSquares, Risk
from .rounding import unit, zero_sum

Array = NDArray[np.float64]
_INSIDE = (0.05, 0.01, 1e-3)  # of the box: margins that are tried for a point inside of it
_ROUGH, _SHARP = 1e-3, 1e-8  # of the largest target: how corners are smoothed where γ is found alone
_WIDE = 10.0  # times the largest Zγ that was met: none that is optimal is larger


class Separable(Risk):
    """The sum of a loss over all samples and outputs, with the machine that fits it.

    Parameters
    ----------
    loss : Loss
        The loss.
    Y : ndarray of shape (n, k)
        Targets.
    C : ndarray of shape (n, k)
        Costs, positive.
    fit_intercept : bool
        Whether each output has an intercept.
    shift : ndarray or float, default=0.0
        The part that was taken off the targets before; predictions add it again.
    Z : ndarray of shape (n, r) or None, default=None
        Orthonormal columns that span constant and covariates, where there are covariates.

    Attributes
    ----------
    extent : float
        The largest ‖Zγ‖ of an output so far.
    beside : ndarray of shape (n, k) or None
        The best Zγ without any kernel, once it is known.
    machine : SMO, Newton or another machine
        The machine that fits the risk with one kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Hinge
    >>> from manykernels.objectives import Separable
    >>> y = np.array([[1.0], [-1.0]])
    >>> Separable(Hinge(), y, np.ones((2, 1)), fit_intercept=True).value(np.zeros((2, 1)))
    2.0
    """

    separable = True

    def __init__(
        self,
        loss: Loss,
        Y: Array,
        C: Array,
        fit_intercept: bool,
        shift: Array | float = 0.0,
        Z: Array | None = None,
    ) -> None:
        self.loss = loss
        self.shift = shift
        self.Y = Y
        self.C = C
        self.fit_intercept = fit_intercept
        self.Z = Z
        self.extent = 0.0
        self.beside: Array | None = None
        self.machine = machine_for(loss, fit_intercept, Z)

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """(n, k): samples and outputs."""
        n, k = self.Y.shape
        return n, k

    @property
    def smoothness(self) -> float:  # type: ignore[override]
        """The largest cost over the modulus of strong convexity of ℓ*."""
        strong = float(self.loss.strong)
        return float(self.C.max()) / strong if strong > 0.0 else np.inf

    @property
    def cost(self) -> float:  # type: ignore[override]
        """The mean of C."""
        return float(self.C.mean())

    @property
    def label(self) -> str:
        return f"loss={self.loss!r}"

    @property
    def piecewise_linear(self) -> bool:
        return self.loss.piecewise_linear

    @property
    def has_interior(self) -> bool:
        """Not if a target has one sign only and the loss is a hinge, or covariates separate some samples."""
        if self.Z is not None:
            return self._interior(self.zeros()) is not None
        lo, hi = self.loss.bounds(self.Y)
        return not self.fit_intercept or bool(np.all((lo < 0).any(axis=0) & (hi > 0).any(axis=0)))

    def box(self) -> Box | None:
        return Box(self.Y, *self._bounds(), float(self.loss.tube)) if self.loss.piecewise_linear else None

    def least_squares(self) -> LeastSquares | None:
        """Return the form for the squared loss with costs that all outputs share."""
        shared = self.loss.quadratic and bool(np.all(self.C == self.C[:, :1]))
        return LeastSquares(self.Y, self.C[:, 0]) if shared else None

    def _bounds(self) -> tuple[Array, Array]:
        """lo ≤ α ≤ hi."""
        lo, hi = self.loss.bounds(self.Y)
        return lo * self.C, hi * self.C

    def subset(self, rows: NDArray[np.intp]) -> Separable | None:
        """The risk of some samples, their costs raised so that the fit weighs as much as it did.

        None where all of them have the same target.
        """
        if np.any(np.ptp(self.Y[rows], axis=0) == 0):
            return None
        share = self.C[rows].sum() / self.C.sum()
        Z = None if self.Z is None else basis(self.Z[rows])
        shift = np.asarray(self.shift)[rows] if np.ndim(self.shift) == 2 else self.shift
        return Separable(self.loss, self.Y[rows], self.C[rows] / share, self.fit_intercept, shift, Z)

    def scaled(self, factor: float) -> Separable:
        found = Separable(self.loss, self.Y, factor * self.C, self.fit_intercept, self.shift, self.Z)
        found.beside, found.extent = self.beside, self.extent  # which no scale of costs changes
        return found

    def interior(self, alpha: Array) -> Array:
        for near in (alpha, self.zeros()):
            found = self._interior(near)
            if found is not None:
                return found
        raise ValueError("the covariates separate some samples: no dual point is inside the box.")

    def _interior(self, alpha: Array) -> Array | None:
        """The point with Zᵀα = 0 nearest to α that is well inside the box; None if rounding finds none."""
        lo, hi = self._bounds()
        for share in _INSIDE:
            margin = share * np.minimum(hi - lo, self.C)
            found = self._balanced(alpha, lo + margin, hi - margin)
            if np.all((found > lo) & (found < hi)):
                return found
        return None

    # -- the function and its conjugate -----------------------------------------------------------
    def zeros(self) -> Array:
        return np.zeros_like(self.Y)

    def terms(self, f: Array) -> Array:
        return self.C * self.loss.value(self.Y, f)

    def gradient(self, f: Array) -> Array:
        return self.C * self.loss.gradient(self.Y, f)

    def dual_terms(self, alpha: Array) -> Array:
        return -self.C * self.loss.conjugate(self.Y, -alpha / self.C)

    def feasible(self, alpha: Array) -> Array:
        """A point of the dual box (with Σα = 0 for each output where an intercept is fitted) near α."""
        lo, hi = self._bounds()
        if self.Z is not None:
            return self._balanced(alpha, lo, hi)
        if not self.fit_intercept:
            return np.clip(alpha, lo, hi)
        if np.all(np.isinf(lo)) and np.all(np.isinf(hi)):
            return np.asarray(alpha - self.C / self.C.sum(axis=0) * alpha.sum(axis=0))
        return np.stack([feasible(alpha[:, k], lo[:, k], hi[:, k]) for k in range(alpha.shape[1])], axis=1)

    def exact(self, alpha: Array) -> Array:
        """A point of the dual box next to α, with Σα = 0 exactly for each output where b is fitted."""
        alpha = self.feasible(alpha)
        if not self.fit_intercept or self.Z is not None:
            return alpha
        lo, hi = self._bounds()
        columns = zip(alpha.T, lo.T, hi.T, self.C.T, strict=True)
        return np.stack([zero_sum(*column) for column in columns], axis=1)

    def _balanced(self, alpha: Array, lo: Array, hi: Array) -> Array:
        """The point next to α with lo ≤ α ≤ hi and Zᵀα = 0 for every output, up to rounding."""
        assert self.Z is not None
        columns = zip(alpha.T, lo.T, hi.T, self.C.T, strict=True)
        return np.stack([balanced(*column, self.Z) for column in columns], axis=1)

    def leak(self, alpha: Array) -> float:
        if self.Z is None:
            return 0.0
        if self.extent == 0.0:
            self.constant()
        rounding = unit(alpha.shape[0]) * (np.abs(self.Z).T @ np.abs(alpha))
        return _WIDE * self.extent * float(np.linalg.norm(np.abs(self.Z.T @ alpha) + rounding, axis=0).sum())

    def constant(self) -> Array:
        if self.Z is None:
            return super().constant()
        if self.beside is None:
            self.beside = self._offsets(self.zeros(), _ROUGH)
        return self.beside

    def _offsets(self, score: Array, sharpest: float) -> Array:
        """(n, k): the best Zγ for these scores; corners are smoothed by at least `sharpest`."""
        assert self.Z is not None
        columns = zip(self.Y.T, score.T, self.C.T, strict=True)
        return self._met(
            np.stack([offset(self.loss, *column, self.Z, sharpest) for column in columns], axis=1)
        )

    def intercepts(self, score: Array) -> Array:
        if self.Z is not None:
            return self._offsets(score, _SHARP)
        b = np.zeros(self.Y.shape[1])
        if self.fit_intercept:
            columns = zip(self.Y.T, score.T, self.C.T, strict=True)
            b[:] = [self.loss.intercept(y, s, C) for y, s, C in columns]
        return b

    def _met(self, offsets: Array) -> Array:
        """Zγ (n, k), whose size is kept: the bounds are charged by it."""
        self.extent = max(self.extent, float(np.linalg.norm(offsets, axis=0).max(initial=0.0)))
        return offsets

    def worst(self, f: Array, off: Array) -> float:
        """A convex loss is largest at one of the two ends."""
        worst = np.maximum(self.loss.value(self.Y, f - off), self.loss.value(self.Y, f + off))
        return float(np.sum(self.C * worst))

    def ray(self, alpha: Array) -> tuple[float, float] | None:
        ray = self.loss.ray(self.Y, alpha / self.C)
        return None if ray is None else (float(np.sum(self.C * ray[0])), float(np.sum(self.C * ray[1])))

    def reach(self, alpha: Array) -> float:
        a = alpha / self.C
        lo, hi = self.loss.bounds(self.Y)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            limits = np.where(a > 0, hi / a, np.where(a < 0, lo / a, np.inf))
        limits[(limits <= 0.0) & (np.abs(a) <= ROUNDING)] = np.inf  # rounding must not end the ray at s = 0
        return float(limits.min())

    # -- the machines -----------------------------------------------------------------------------
    def solve(self, K: Any, alpha: Array, tol: float) -> Fit:
        """The machines of all outputs for one kernel, to a total gap of at most `tol`."""
        solutions = self._solve_together(K, tol) or self._solve_each(K, alpha, tol)
        b = [s.intercept for s in solutions]
        return Fit(
            np.stack([s.alpha for s in solutions], axis=1),
            np.array(b) if self.Z is None else self._met(np.stack([np.asarray(v) for v in b], axis=1)),
            np.stack([s.f for s in solutions], axis=1),
            sum(s.gap for s in solutions),
            solutions,
        )

    def _solve_each(self, K: Array, alpha: Array, tol: float) -> list[Solution]:
        solutions: list[Solution] = []
        outputs = self.Y.shape[1]
        for k in range(outputs):
            previous = solutions[-1].sensitivity if solutions else None
            solutions.append(
                self.machine.solve(K, self.Y[:, k], self.C[:, k], alpha[:, k], tol / outputs, previous)
            )
        return solutions

    def _solve_together(self, K: Array, tol: float) -> list[Solution] | None:
        """All outputs at once, where the squared loss and equal costs make their equations the same.

        None where rounding errors leave a larger gap than is asked for: single ones can be refined.
        """
        if self.least_squares() is None or not isinstance(self.machine, Newton):
            return None
        solutions = self.machine.solve_together(K, self.Y, self.C[:, 0])
        return solutions if sum(s.gap for s in solutions) <= tol else None

    def curvature(self, K: Any, fit: Fit, R: Array) -> Array:
        """B with BᵀB the second derivative of J, from R = (K_mα), (m, n, k); keeps what `move` needs."""
        for k, s in enumerate(fit.solutions):
            if s.sensitivity is None:
                s.sensitivity = self.machine.sensitivity(K, self.Y[:, k], self.C[:, k], s)
        shared = _shared(fit)
        if shared is not None:
            m, n, outputs = R.shape
            B = shared.half(R.transpose(1, 2, 0).reshape(n, outputs * m))
            return np.ascontiguousarray(B.reshape(-1, outputs, m).transpose(1, 0, 2)).reshape(-1, m)
        parts = [s.sensitivity.half(R[:, :, k].T) for k, s in enumerate(fit.solutions) if s.sensitivity]
        return np.concatenate(parts)

    def move(self, fit: Fit, alpha: Array, Bd: Array) -> Array:
        """α moved as the machines of `fit` move after a step d of θ, given B d."""
        shared = _shared(fit)
        if shared is not None:
            return alpha + shared.move(Bd.reshape(alpha.shape[1], -1).T, alpha.shape[0])
        alpha, row = alpha.copy(), 0
        for k, s in enumerate(fit.solutions):
            assert s.sensitivity is not None
            size = s.sensitivity.support.size
            alpha[:, k] += s.sensitivity.move(Bd[row : row + size], alpha.shape[0])
            row += size
        return alpha


def _shared(fit: Fit) -> Sensitivity | None:
    """The sensitivity of all outputs, where they have one in common and there are several."""
    first = fit.solutions[0].sensitivity
    several = len(fit.solutions) > 1
    return first if several and all(s.sensitivity is first for s in fit.solutions) else None
