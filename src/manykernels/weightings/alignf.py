"""Weightings that maximise the alignment of the combination, with the correlations between kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from .._fast.nnls import DEPENDENT, nnls
from ..grams import is_definite
from ..kernels.data import rounding
from ..objectives import Alignment
from .base import Array, Weighted, Weighting, shares


class Alignf(Weighting):
    """The non-negative weights of the largest alignment (004 Prop. 3.3), ``"alignf"``.

    They are v/‖v‖ of min_{v ≥ 0} vᵀMv − 2vᵀa. It is solved for kernels scaled to ‖K_kc‖_F = 1 and a target to
    τ = 1, with the cosines G = M/(norms normsᵀ) and c = a/(norms τ) in place of M and a, by an active set
    method that ends with the exact solution. With w = c − Gv:

        optimal ⟺ w ≤ 0, and w_k = 0 where v_k > 0        residual = the largest violation
        ρ̂ ≤ √(vᵀGv) + √p max(w)₊ for all weights of p kernels        (vᵀGv' ≤ √(vᵀGv) √(v'ᵀGv'), G ≥ 0)
    """

    pairs = 5  # M, sums of it, the cosines, and what is factored of them

    def weigh(self, alignment: Alignment) -> Weighted:
        G, c = alignment.cosines, alignment.each
        v = nnls(G, c)
        w = c - G @ v
        residual = max(float(w.max()), float(np.abs(w[v > 0]).max(initial=0.0)), 0.0)
        bound = np.sqrt(max(float(v @ G @ v), 0.0)) + np.sqrt(c.size) * max(float(w.max()), 0.0)
        theta = shares(v / alignment.norms)
        return Weighted(theta, min(bound, 1.0), residual, _is_unique(G, v, w))


class AlignfLinear(Weighting):
    """The weights of any sign of the largest alignment, μ ∝ M⁻¹a (004 Prop. 3.2), ``"alignf-linear"``.

    The text says that they come out non-negative; they do not, where kernels are correlated. A combination
    with negative weights may be no kernel: it is factored on the training data, and an indefinite one is
    refused unless ``allow_indefinite``. One that passes can still be indefinite on other data.
    """

    pairs = 5

    def __init__(self, allow_indefinite: bool = False) -> None:
        self.allow_indefinite = allow_indefinite

    def weigh(self, alignment: Alignment) -> Weighted:
        G, c = alignment.cosines, alignment.each
        values, vectors = np.linalg.eigh(G)
        used = values > c.size * DEPENDENT * values[-1]
        v = vectors[:, used] @ ((c @ vectors[:, used]) / values[used])
        theta = shares(v / alignment.norms)
        if theta.min() < 0.0 and not self.allow_indefinite:
            self._require_definite(alignment, theta)
        bound = np.sqrt(max(float(v @ G @ v), 0.0))
        return Weighted(theta, min(bound, 1.0), float(np.abs(c - G @ v).max()), bool(used.all()))

    def _require_definite(self, alignment: Alignment, theta: Array) -> None:
        given = getattr(alignment.gram, "stack", np.empty(0)).dtype
        if is_definite(alignment.gram.combine(theta), rounding(given)):
            return
        negative = int(np.count_nonzero(theta < 0))
        raise ValueError(
            f"the combination of largest alignment has {negative} negative weight(s) of {theta.size} and is "
            "not positive semi-definite: it is not a kernel. Take weighting='alignf', whose weights are "
            "non-negative, or AlignfLinear(allow_indefinite=True) for a learner that can do without."
        )


def _is_unique(G: Array, v: Array, w: Array) -> bool:
    """Whether no other v' ≥ 0 gives the same combination: no z ≠ 0 with Gz = 0 and z ≥ 0 where v = 0.

    Only kernels with w = 0 can take part. Where a direction z exists among them, a linear programme over the
    null space of their G says whether one with the right signs does.
    """
    part = np.flatnonzero((v > 0) | (w > -np.sqrt(DEPENDENT)))
    null = _null_space(G[np.ix_(part, part)])
    if null.shape[1] == 0:
        return True
    free = v[part] > 0
    if _null_space(G[np.ix_(part[free], part[free])]).shape[1]:
        return False
    outside = null[~free]
    found = linprog(-outside.sum(axis=0), A_ub=-outside, b_ub=np.zeros(len(outside)), bounds=(-1.0, 1.0))
    return not (found.success and -found.fun > 1e-6)


def _null_space(G: Array) -> NDArray[np.float64]:
    if not len(G):
        return np.empty((0, 0))
    values, vectors = np.linalg.eigh(G)
    return np.asarray(vectors[:, values <= len(G) * DEPENDENT * max(values[-1], 0.0)])
