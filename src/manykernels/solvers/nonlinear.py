"""Non-linear combinations of kernels by projected gradient descent (Cortes et al. 2009; Afkanpour 2013, Eqs
2.16, 2.17).

With B = Σ_k μ_k K_k and K_μ = B^{∘D} (powers of entries) the value of the machine is

    J(μ) = min_{f, b} ½‖f‖² + Σ_i C_i ℓ(y_i, f(x_i) + b),     μ ≥ 0, ‖μ − μ₀‖₂ ≤ Λ,
    ∂J/∂μ_k = −½ Σ_ij α_i α_j ∂(K_μ)_ij/∂μ_k = −½ D ⟨K_k, ααᵀ ∘ B^{∘(D−1)}⟩.

For the squared loss without an intercept J = ½ yᵀ(K_μ + I/C)⁻¹y, which is Eq. 2.17 with λ = 1/C. For D > 1, J
is not convex: there is no dual bound and no certificate, only stationary points, and several starts that
show how much depends on where one begins. Since K_μ grows with every μ_k (Schur), J falls with each of them,
and stationary points lie on the border of the ball.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from .._arguments import number_of
from .._fast.elementwise import power
from .._fast.threads import blas_for
from ..grams import Gram
from ..grams.memory import DESCENT
from ..objectives import Fit, Risk
from ..penalties import L2Ball, Penalty
from ._stopping import goes_on
from .base import Array, History, Kernels, Result, Run, Solver, listed
from .declarations import Serves

COLUMNS = ("start", "objective", "iterations", "residual", "converged")  # of the table of starts
_ARMIJO = 1e-4  # of the decrease that the gradient promises, which a step must keep
_SHRINK = 0.25  # of a step that did not
_TRIALS = 30  # of one line search
_LONGEST, _SHORTEST = 30.0, 1e-6  # steps, in units of the radius
_FLAT = 1e-13  # of J: what a whole radius along the gradient must promise
_LARGEST = 1e100  # entries of K_μ


@dataclass
class DescentHistory(History):
    """The history of one start: there is no gap, and `residual` is what tends to zero."""

    residual: list[float] = field(default_factory=list)

    def note(self, J: float, residual: float, active: int) -> None:
        self.residual.append(residual)
        report, self.report = self.report, None
        self.add(J, float("nan"), active)
        self.report = report
        if report is not None:
            kernels = number_of(active, "kernel")
            report(f"objective {J:.6g}  residual {residual:.2e}  {kernels}  {self.seconds[-1]:.2f} s")

    def as_dict(self) -> dict[str, list[float] | list[int]]:
        return {**super().as_dict(), "residual": self.residual}


@dataclass
class DescentPoint:
    """μ with B, the machine at K_μ and its value."""

    mu: Array
    B: Array
    fit: Fit
    J: float


class PoweredRisk:
    """J and its gradient."""

    def __init__(self, gram: Gram, risk: Risk, degree: int, inner_tol: float) -> None:
        self.gram, self.risk, self.degree = gram, risk, degree
        self.inner_tol = inner_tol  # relative gap of the machine
        self.size = risk.constant_value()  # J is below it for all μ

    def at(self, mu: Array, alpha: Array) -> DescentPoint:
        """The machine at K_μ, from the coefficients α of another one."""
        B = self.gram.combine(mu)
        largest = float(B.diagonal().max())  # of all entries: B is positive semi-definite
        if not np.log(max(largest, 1e-300)) * self.degree <= np.log(_LARGEST):
            raise ValueError(
                f"the combination of kernels has entries up to {largest:.3g}, too large for "
                f"degree={self.degree}. Lower degree or radius, or take normalize='trace'."
            )
        K = np.empty_like(B)
        power(B, 0.0, self.degree, K)
        fit = self.risk.solve(K, alpha, self.inner_tol * self.size)
        J = self.risk.machine_value(fit)
        self.size = min(self.size, max(J, 0.0))
        return DescentPoint(mu, B, fit, J)

    def gradient(self, point: DescentPoint) -> Array:
        """−½ D ⟨K_k, Σ_o α_o α_oᵀ ∘ B^{∘(D−1)}⟩ over the outputs o."""
        S = point.fit.alpha @ point.fit.alpha.T
        if self.degree > 1:
            slope = np.empty_like(S)
            power(point.B, 0.0, self.degree - 1, slope)
            S *= slope
        return -0.5 * self.degree * self.gram.against(S)


class ProjectedGradient(Solver):
    """Descends from several starts and keeps the best.

    Parameters
    ----------
    degree : int
        D.
    n_starts : int
        The first is μ₀ + Λ 1/√M, all kernels alike; the others are μ₀ + Λ d with d ≥ 0 a random direction.

    A start has converged where a step of one radius along the gradient, projected back, moves μ by no more
    than `tol` radii: ‖Π(μ − Λ g/‖g‖) − μ‖ ≤ tol Λ. Steps are those of Barzilai and Borwein, shortened until J
    falls as it should (Armijo), so that J falls in every iteration.
    """

    serves = Serves(
        penalties=frozenset({"ball", "ball around mu0"}), needs="L2Ball(mu0, radius)", problem="power"
    )
    matrices: ClassVar[int] = DESCENT

    def __init__(self, degree: int = 2, n_starts: int = 5) -> None:
        self.degree = degree
        self.n_starts = n_starts

    @property
    def uses_constants(self) -> bool:  # type: ignore[override]
        """(1 + k)² = 1 + 2k + k²."""
        return self.degree > 1

    def run(self, kernels: Kernels, risk: Risk, penalty: Penalty, run: Run) -> Result:
        """Minimise J; `run.start` = (μ, α) takes the place of the first. `details["starts"]` tells of all."""
        gram, start = listed(self, kernels, risk, penalty), run.start
        assert isinstance(penalty, L2Ball)
        # what is left of the gap shows in J, whose last changes are about tol² of it
        J = PoweredRisk(gram, risk, int(self.degree), max(1e-2 * run.tol * run.tol, 1e-11))
        alpha = risk.zeros() if start is None else start[1]
        kinds = ["uniform" if start is None else "given"] + ["random"] * (int(self.n_starts) - 1)
        starts: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        best: Result | None = None
        began = time.perf_counter()
        with blas_for(gram.n):
            for kind in kinds[:1] if penalty.fixed else kinds:
                mu = (
                    start[0]
                    if start is not None and kind == "given"
                    else _first(penalty, gram, kind, run.rng)
                )
                history = DescentHistory(report=run.history.report, started=began)
                found = _descend(J, penalty, J.at(mu, alpha), run, history)
                row = (kind, found.primal, found.n_iter, history.residual[-1], found.converged)
                for name, value in zip(COLUMNS, row, strict=True):
                    starts[name].append(value)
                alpha = found.alpha
                if best is None or found.primal < best.primal:
                    best = found
                if not goes_on(0, 1):
                    break
        assert best is not None
        return replace(best, details={"starts": starts})


def _first(penalty: L2Ball, gram: Gram, kind: str, rng: np.random.RandomState) -> Array:
    M = gram.n_kernels
    if kind == "uniform":
        return penalty.start(M)
    mu0, radius = penalty.centre_and_radius(M)
    direction = np.abs(rng.standard_normal(M))
    return mu0 + radius * direction / np.linalg.norm(direction)


def _descend(
    J: PoweredRisk, penalty: L2Ball, point: DescentPoint, run: Run, history: DescentHistory
) -> Result:
    """Projected gradient steps from `point` until it is stationary to `run.tol`."""
    g = J.gradient(point)
    step = radii = _radius_over(penalty, g, point.J)
    for iteration in range(run.max_iter + 1):
        residual = _residual(penalty, point.mu, g, radii)
        history.note(point.J, residual, int(np.count_nonzero(point.mu)))
        if residual <= run.tol or not goes_on(iteration, run.max_iter):
            break
        after = _line_search(J, penalty, point, g, step)
        if after is None:
            break
        d, old, point = after.mu - point.mu, g, after
        g = J.gradient(point)
        radii = _radius_over(penalty, g, point.J)
        step = float(np.clip(barzilai_borwein(d, g - old), _SHORTEST * radii, _LONGEST * radii))
    return Result(
        atoms=list(range(point.mu.size)),
        weights=point.mu,
        alpha=point.fit.alpha,
        intercept=point.fit.intercept,
        primal=point.J,
        dual=np.nan,
        certified=False,
        converged=residual <= run.tol,
        n_iter=iteration,
        history=history,
    )


def _radius_over(penalty: L2Ball, g: Array, J: float) -> float:
    """Λ/‖g‖: the step along g that is one radius long; 0 where J is flat."""
    norm = float(np.linalg.norm(g))
    return float(penalty.radius) / norm if norm * float(penalty.radius) > _FLAT * abs(J) else 0.0


def _residual(penalty: L2Ball, mu: Array, g: Array, radii: float) -> float:
    """‖Π(μ − Λ g/‖g‖) − μ‖/Λ."""
    if radii == 0.0:
        return 0.0
    return float(np.linalg.norm(penalty.project(mu - radii * g) - mu)) / float(penalty.radius)


def _line_search(
    J: PoweredRisk, penalty: L2Ball, point: DescentPoint, g: Array, step: float
) -> DescentPoint | None:
    """The first of ever shorter steps μ' = Π(μ − s g) with J(μ') ≤ J(μ) + c gᵀ(μ' − μ), if there is one."""
    for _ in range(_TRIALS):
        mu = penalty.project(point.mu - step * g)
        promised = float(g @ (mu - point.mu))
        if promised >= 0.0:  # rounding
            return None
        after = J.at(mu, point.fit.alpha)
        if after.J <= point.J + _ARMIJO * promised and after.J < point.J:
            return after
        step *= _SHRINK
    return None


def barzilai_borwein(d: Array, change: Array) -> float:
    """dᵀd/dᵀΔg; no limit where J curves downwards."""
    curvature = float(d @ change)
    return float(d @ d) / curvature if curvature > 0.0 else np.inf
