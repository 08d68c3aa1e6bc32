"""Weights that bring the samples of a class together along the line between the centres of two classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._fast.nnls import nnls
from ..objectives import Alignment
from .base import Array, Weighted, Weighting, shares

_TOL = 1e-9  # relative gap
_ROUNDS = 500  # of reweighted least squares
_COINCIDE = 1e-12  # of the trace per sample: centres that are nearer are the same but for rounding


class FSM(Weighting):
    """The weights of the smallest feature-space measure (Nguyen and Ho 2008; Tanabe et al. 2008), ``"fsm"``.

    FSM is the spread of both classes along the line between their centres, over the distance of the centres.
    With f_m the projections ⟨φ_m(x_i), φ_m− − φ_m+⟩ of the samples and g_m = ‖φ_m− − φ_m+‖², those of K_θ are
    Σ_m θ_m f_m and θᵀg, so that the measure is a ratio of a convex and a linear function,

        FSM(θ) = (‖B₊θ‖ + ‖B₋θ‖) / θᵀg,      B_c = the rows f_i of class c less their mean, over √(n_c − 1),

    whose minimum over θ ≥ 0 is that of Σ_c ‖B_cθ‖ at θᵀg = 1: a convex problem. It is solved by least squares
    with the weights 1/‖B_cθ‖ of the last round, each an exact non-negative one. For u_c = B_cθ/‖B_cθ‖ no
    weights have a measure below min_m (Σ_c B_cᵀu_c)_m/g_m, and ``kkt_residual_`` is how far, relatively, the
    measure is above that. The text names a simplex, which is no restriction, since FSM does not depend on the
    scale of θ.

    Several classes have the sum over all pairs in both places of the ratio: a mean of the measures of all
    pairs, each counted by the squared distance of its centres. A sample of weight w counts as w samples.
    Neither centring nor the scale of the kernels matters.

    Notes
    -----
    A kernel that is nearly the identity has no spread at all: every sample is as far from its centre as every
    other, along that line too. So widths far below the distances between samples get all the weight, and
    should not be among the kernels.

    References
    ----------
    Nguyen & Ho (2008), "An efficient kernel matrix evaluation measure", Pattern Recognition 41.

    Tanabe, Ho, Nguyen & Kawasaki (2008), "Simple but effective methods for combining kernels in computational
    biology", RIVF.

    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta, §2.3.2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from manykernels import AlignMKLClassifier
    >>> from manykernels.families import gaussian_grid
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AlignMKLClassifier(gaussian_grid(1.0, 30.0, 5), weighting="fsm").fit(scale(X), y)
    >>> bool(model.kkt_residual_ < 1e-6)
    True
    """

    classes = True
    sums = False
    pairs = 3

    def weigh(self, alignment: Alignment) -> Weighted:
        gram = alignment.gram
        weight = np.ones(gram.n) if gram.weight is None else gram.weight
        codes = alignment.codes
        counts = np.bincount(codes, weights=weight).astype(float)
        if counts.min() <= 1.0:
            raise ValueError(
                f"a class has {counts.min():g} sample, and weighting='fsm' measures how far the samples of a "
                "class are spread; expected at least 2 of each class. Leave such classes out, or take "
                "weighting='alignf'."
            )
        E = (codes[:, None] == np.arange(counts.size)) * (weight[:, None] / counts[codes][:, None])
        g = _distances(alignment, E)
        used = np.flatnonzero(g > _COINCIDE * gram.traces() / gram.n)
        if not used.size:
            raise ValueError(
                "the centres of the classes are the same by every kernel, so that none keeps them apart. "
                "Check that y belongs to these samples, or take weighting='uniform'."
            )
        F = gram.products(E, used) / g[used][:, None, None]  # ⟨φ_m(x_i), φ_m,c⟩, for distances of one
        v, gap = smallest_spread(_blocks(F, codes, weight, counts))
        theta = np.zeros(gram.n_kernels)
        theta[used] = v / g[used]
        return Weighted(shares(theta), residual=gap)


def _distances(alignment: Alignment, E: Array) -> Array:
    """(M,): Σ over pairs of classes of ‖φ_a − φ_b‖²."""
    first, second = np.triu_indices(E.shape[1], 1)
    return np.asarray(alignment.gram.quad(E[:, first] - E[:, second]).sum(axis=1))


def _blocks(F: Array, codes: NDArray[np.intp], weight: Array, counts: Array) -> list[Array]:
    """B_ab (n_a, M) for all a ≠ b: the samples of class a along the line from a to b, less their mean."""
    blocks = []
    for a, count in enumerate(counts):
        rows = np.flatnonzero(codes == a)
        w = weight[rows]
        for b in range(counts.size):
            if b != a:
                f = (F[:, rows, a] - F[:, rows, b]).T
                f = f - (w @ f) / count
                blocks.append(f * np.sqrt(w / (count - 1.0))[:, None])
    return blocks


def smallest_spread(blocks: list[Array]) -> tuple[Array, float]:
    """v ≥ 0 of Σv = 1 with the smallest s = Σ_c ‖B_cv‖, and a relative gap; v = 0 is not looked at.

    s ≤ ½ Σ_c (‖B_cv‖²/s_c + s_c) for all s_c > 0, with equality at s_c = ‖B_cv‖. At given s_c the minimum is
    vᵀQv with Q = Σ_c B_cᵀB_c/s_c, and v ∝ argmin_{v ≥ 0} ½vᵀQv − Σv.
    """
    squares = sum(np.square(B).sum(axis=0) for B in blocks)
    assert isinstance(squares, np.ndarray)
    still = squares <= 1e-24 * squares.max()  # kernels without any spread: nothing is better
    if still.all() or still.any():
        return still / still.sum(), 0.0
    v, best, bound = np.full(squares.size, 1.0 / squares.size), np.inf, 0.0
    answer = v
    for _ in range(_ROUNDS):
        parts = [B @ v for B in blocks]
        s = np.array([np.linalg.norm(part) for part in parts])
        if s.sum() < best:
            best, answer = float(s.sum()), v
        s = np.maximum(s, 1e-9 * s.max())
        slopes = sum(B.T @ (part / size) for B, part, size in zip(blocks, parts, s, strict=True))
        bound = max(bound, float(np.min(slopes)))
        if best - bound <= _TOL * best:
            break
        Q = sum(B.T @ (B / size) for B, size in zip(blocks, s, strict=True))
        assert isinstance(Q, np.ndarray)
        root = np.sqrt(np.diag(Q))
        v = nnls(Q / np.outer(root, root), root.min() / root) / root
        v = v / v.sum()
    return answer, max(best - bound, 0.0) / best
