"""Gates that are learned with the machine: localized learning as in Gönen and Alpaydın (2008, 2013).

    k_η(x, x') = Σ_m η_m(x) k_m(x, x') η_m(x'),      a_m(x) = ⟨v_m, x⟩ + v_m0
    softmax: η_m = e^{a_m} / Σ_h e^{a_h},      sigmoid: η_m = 1 / (1 + e^{−a_m})

The value J(V) of the machine at k_η depends on the gates of the training samples by

    ∂J/∂η_im = −Σ_o α_io (K_m(η_m ∘ α_o))_i,      ∂J/∂a = −(s − η Σ_h s_h)  or  −s (1 − η),      s = −η ∂J/∂η

over the outputs o, and ∂J/∂v_m = Σ_i ∂J/∂a_im (1, x_i) (2008, Eq. 9). The algorithm alternates between the
machine and a step along this gradient (2008, Algorithm 1); steps are those of Barzilai and Borwein, shortened
until J falls as it should (Armijo). J is not convex: there is no dual bound and no certificate, only
stationary points. V = 0, where all kernels count alike everywhere, is where it begins.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax

from .._fast.threads import blas_for
from ..grams import Gram
from ..grams.gated import GatedGram
from ..grams.memory import DESCENT
from ..objectives import Fit, Risk
from ..penalties import Penalty
from ._stopping import goes_on
from .base import Array, Kernels, Result, Run, Solver, listed
from .declarations import Serves
from .nonlinear import DescentHistory, barzilai_borwein

_ARMIJO = 1e-4  # of the decrease that the gradient promises, which a step must keep
_SHRINK = 0.25  # of a step that did not
_TRIALS = 30  # of one line search
_WINDOW = (
    5  # iterations over which the decrease is averaged: single steps of Barzilai and Borwein may be short
)
_LONGEST, _SHORTEST = 30.0, 1e-6  # steps, in units of those that move V by 1


@dataclass(frozen=True)
class GateInputs:
    """The inputs that gates are linear in: x less `shift`, by `spread`, and a constant; `A` may be sparse."""

    A: Any
    shift: Array
    spread: Array

    def scores(self, V: Array) -> Array:
        """(n, M): a_m(x), for V (M, 1 + d)."""
        if sparse.issparse(self.A):
            W = V[:, 1:] / self.spread
            return np.asarray(self.A @ W.T + (V[:, 0] - W @ self.shift))
        return np.asarray((self.A - self.shift) / self.spread @ V[:, 1:].T + V[:, 0])

    def gradient(self, slopes: Array) -> Array:
        """(M, 1 + d): Σ_i slopes_im (1, x_i)."""
        total = slopes.sum(axis=0)
        if sparse.issparse(self.A):
            rest = (np.asarray(self.A.T @ slopes).T - np.outer(total, self.shift)) / self.spread
        else:
            rest = slopes.T @ ((self.A - self.shift) / self.spread)
        return np.column_stack([total, rest])


def gates_of(kind: str, scores: Array) -> Array:
    """η of a."""
    return np.asarray(softmax(scores, axis=1) if kind == "softmax" else expit(scores))


@dataclass
class GatePoint:
    """V with its gates, the machine at k_η and its value."""

    V: Array
    eta: Array
    fit: Fit
    J: float


class GatedRisk:
    """J and its gradient."""

    def __init__(self, gram: Gram, risk: Risk, inputs: GateInputs, kind: str, inner_tol: float) -> None:
        self.whole, self.risk, self.inputs, self.kind = copy(gram), risk, inputs, kind
        self.whole.names = None  # those of all kernels behind all gates are not needed
        self.own = np.arange(gram.n_kernels) * (gram.n_kernels + 1)  # each kernel behind its own gate
        self.inner_tol, self.size = inner_tol, risk.constant_value()
        self.K = np.empty((gram.n, gram.n))

    def at(self, V: Array, alpha: Array) -> GatePoint:
        """The machine behind these gates, from the coefficients α of another one."""
        eta = gates_of(self.kind, self.inputs.scores(V))
        K = GatedGram(self.whole, eta).combine(np.ones(self.own.size), self.own, out=self.K)
        fit = self.risk.solve(K, alpha, self.inner_tol * self.size)
        J = self.risk.machine_value(fit)
        self.size = min(self.size, max(J, 0.0))
        return GatePoint(V, eta, fit, J)

    def gradient(self, point: GatePoint) -> Array:
        """(M, 1 + d)."""
        eta, alpha = point.eta, point.fit.alpha
        s = np.einsum("nk,mnk->nm", alpha, GatedGram(self.whole, eta).products(alpha, self.own))
        slopes = eta * s.sum(axis=1, keepdims=True) - s if self.kind == "softmax" else s * (eta - 1.0)
        return self.inputs.gradient(slopes)


class GateDescent(Solver):
    """Alternates between the machine and steps on the gates.

    Parameters
    ----------
    gating : "softmax" or "sigmoid"
        Gates that share a sample out among the kernels, or that let each kernel in by itself.
    inputs : GateInputs or None
        What gates are linear in; the road of the data sets it.

    It has converged where J falls by no more than `tol` of it in an iteration, on average over five (the
    authors stop at one), or where a step of length 1 along the gradient promises no more, ‖∇J‖ ≤ tol J.
    Nothing holds the gates back from becoming hard, so that J may fall slowly for ever.
    """

    serves = Serves(problem="gates")
    matrices: ClassVar[int] = DESCENT
    uses_constants = True  # behind a gate, a constant kernel is no intercept

    def __init__(
        self, gating: Literal["softmax", "sigmoid"] = "softmax", inputs: GateInputs | None = None
    ) -> None:
        self.gating = gating
        self.inputs = inputs

    def run(self, kernels: Kernels, risk: Risk, penalty: Penalty, run: Run) -> Result:
        """Minimise J; `run.start` = (V, α). `details` has V and the gates; weights are the identity."""
        gram, inputs = listed(self, kernels, risk, penalty), self.inputs
        assert inputs is not None
        M, history = gram.n_kernels, DescentHistory(report=run.history.report)
        J = GatedRisk(gram, risk, inputs, self.gating, max(1e-2 * run.tol * run.tol, 1e-11))
        V, alpha = run.start or (np.zeros((M, 1 + inputs.shift.size)), risk.zeros())
        with blas_for(gram.n):
            point = J.at(V, alpha)
            g = J.gradient(point)
            step = _unit(g)
            for iteration in range(run.max_iter + 1):
                residual = _residual(history.objective, point.J, g)
                history.note(point.J, residual, M)
                if residual <= run.tol or point.J <= 0.0 or not goes_on(iteration, run.max_iter):
                    break
                after = _line_search(J, point, g, step)
                if after is None:
                    break
                d, old, point = after.V - point.V, g, after
                g = J.gradient(point)
                longest = _unit(g)
                best = barzilai_borwein(d.ravel(), (g - old).ravel())
                step = float(np.clip(best, _SHORTEST * longest, _LONGEST * longest))
        return Result(
            atoms=list(range(M * M)),
            weights=np.eye(M).ravel(),
            alpha=point.fit.alpha,
            intercept=point.fit.intercept,
            primal=point.J,
            dual=np.nan,
            certified=False,
            converged=bool(residual <= run.tol or point.J <= 0.0),
            n_iter=iteration,
            history=history,
            details={"V": point.V, "gates": point.eta, "residual": residual},
        )


def _residual(before: list[float], J: float, g: Array) -> float:
    """Measure the gain of an iteration relative to J: ‖∇J‖ for a step of length 1, or the last gains."""
    promised = float(np.linalg.norm(g))
    if len(before) >= _WINDOW:
        promised = min(promised, (before[-_WINDOW] - J) / _WINDOW)
    return promised / max(abs(J), 1e-300)


def _unit(g: Array) -> float:
    """The step along g that moves V by 1."""
    return 1.0 / max(float(np.linalg.norm(g)), 1e-300)


def _line_search(J: GatedRisk, point: GatePoint, g: Array, step: float) -> GatePoint | None:
    """The first of ever shorter steps V − s g with J(V') ≤ J(V) − c s ‖g‖², if there is one."""
    promised = float(np.sum(g * g))
    for _ in range(_TRIALS):
        after = J.at(point.V - step * g, point.fit.alpha)
        if after.J <= point.J - _ARMIJO * step * promised and after.J < point.J:
            return after
        step *= _SHRINK
        if not goes_on(0, 1):
            break
    return None
