"""Weights that maximise the alignment of the whole sum of kernels, and not of each kernel by itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from .._arguments import is_number
from .._fast.nnls import DEPENDENT, nnls
from ..grams import is_definite
from ..kernels.data import rounding
from ..objectives import Alignment
from .base import Array, Weighted, Weighting, shares


class Alignf(Weighting):
    """The non-negative weights of the largest centred alignment with the target, ``"alignf"``.

    They are v/‖v‖ of min_{v ≥ 0} vᵀMv − 2vᵀa. Kernels are scaled to ‖K_kc‖_F = 1 and the target to τ = 1, so
    that the cosines G = M/(norms normsᵀ) and c = a/(norms τ) take the place of M and a. An active set method
    ends with the exact solution. With w = c − Gv:

        optimal ⟺ w ≤ 0, and w_k = 0 where v_k > 0        residual = the largest violation
        ρ̂ ≤ √(vᵀGv) + √p max(w)₊ for all weights of p kernels        (vᵀGv' ≤ √(vᵀGv) √(v'ᵀGv'), G ≥ 0)

    Parameters
    ----------
    center : bool, default=True
        Whether to centre kernels and target. False takes the alignment of Cristianini et al. (2001), whatever
        the estimator centres for the second stage. Cortes et al. (2012, §2) show why not: where classes
        differ in size, kernels that say nothing are aligned with the target too. ``alignment_`` is the
        centred one all the same, and there is no ``alignment_bound_``.
    ridge : float, default=0.0
        The λ of Kandola et al. (2002): λ Σ_k v_k² is added to the problem of kernels scaled to norm one. It
        spreads the weight over kernels that are alike; for λ → ∞ such kernels are weighed as by ``"align"``.

    References
    ----------
    Cortes, Mohri & Rostamizadeh (2012), "Algorithms for learning kernels based on centered alignment",
    Journal of Machine Learning Research 13.

    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Prop. 3.3.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from manykernels import AlignMKLClassifier
    >>> from manykernels.families import gaussian_grid
    >>> from manykernels.weightings import Alignf
    >>> X, y = make_classification(60, random_state=0)
    >>> model = AlignMKLClassifier(gaussian_grid(1.0, 20.0, 5), weighting=Alignf(ridge=0.1)).fit(X, y)
    >>> bool(model.weights_.min() >= 0.0), round(float(model.weights_.sum()), 6)
    (True, 1.0)
    """

    pairs = 5  # M, sums of it, the cosines, and what is factored of them

    def __init__(self, center: bool = True, ridge: float = 0.0) -> None:
        self.center = center
        self.ridge = ridge

    @property
    def sums(self) -> bool:  # type: ignore[override]
        """Sums over the samples are those of centred features."""
        return bool(self.center)

    def weigh(self, alignment: Alignment) -> Weighted:
        ridge = self._ridge()
        alignment = alignment if self.center else alignment.uncentred
        G, c = alignment.cosines, alignment.each
        H = (G + ridge * np.eye(c.size)) / (1.0 + ridge) if ridge > 0.0 else G
        v = nnls(H, c / (1.0 + ridge))
        slack = (c - G @ v) - ridge * v
        residual = max(float(slack.max()), float(np.abs(slack[v > 0]).max(initial=0.0)), 0.0)
        w = c - G @ v
        bound = np.sqrt(max(float(v @ G @ v), 0.0)) + np.sqrt(c.size) * max(float(w.max()), 0.0)
        theta = shares(v / alignment.norms)
        unique = ridge > 0.0 or _is_unique(G, v, w)
        return Weighted(theta, min(bound, 1.0) if self.center else None, residual, unique)

    def _ridge(self) -> float:
        if not is_number(self.ridge) or not 0.0 <= self.ridge < np.inf:
            raise ValueError(
                f"Alignf(ridge={self.ridge!r}) was given; expected a number of at least 0, in units of the "
                "squared norms of the kernels, such as 0.1."
            )
        return float(self.ridge)


class AlignfLinear(Weighting):
    """The weights of any sign of the largest alignment, μ ∝ M⁻¹a, ``"alignf-linear"``.

    Rostamizadeh (2010) says that they come out non-negative; they do not, where kernels are correlated. A
    combination with negative weights may be no kernel: it is factored on the training data, and an indefinite
    one is refused unless `allow_indefinite`. One that passes can still be indefinite on other data.

    Parameters
    ----------
    allow_indefinite : bool, default=False
        Whether to accept a combination that is not positive semidefinite.

    References
    ----------
    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Prop. 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import AlignMKLClassifier
    >>> from manykernels.families import rank_one
    >>> from manykernels.weightings import AlignfLinear
    >>> X = np.random.RandomState(0).randn(60, 4)
    >>> weighting = AlignfLinear(allow_indefinite=True)
    >>> AlignMKLClassifier(rank_one(), weighting=weighting).fit(X, X[:, 0] > 0).weights_.shape
    (4,)
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
    """Tell whether no other v' ≥ 0 gives the same combination: no z ≠ 0 with Gz = 0 and z ≥ 0 where v = 0.

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
