"""Weightings that look at one kernel at a time."""

from __future__ import annotations

from numbers import Real

import numpy as np

from ..objectives import Alignment
from .base import Weighted, Weighting, shares


class Uniform(Weighting):
    """Give every kernel the same weight, ``"uniform"``: the baseline that is hard to beat.

    References
    ----------
    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Eq. 3.4.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from manykernels import AlignMKLClassifier
    >>> from manykernels.families import gaussian_grid
    >>> X, y = make_classification(60, random_state=0)
    >>> model = AlignMKLClassifier(gaussian_grid(1.0, 20.0, 4), weighting="uniform").fit(X, y)
    >>> model.weights_.tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    def weigh(self, alignment: Alignment) -> Weighted:
        return Weighted(np.full(alignment.norms.size, 1.0 / alignment.norms.size))


class Align(Weighting):
    """Weigh every kernel in proportion to its own alignment with the target, ``"align"``.

    The weights are μ_k ∝ ρ̂(K_k, K_Y), whatever the other kernels are.

    Parameters
    ----------
    q : float or None, default=None
        With a number the weights maximise the unnormalised alignment under ‖μ‖_q ≤ 1 instead:
        μ_k ∝ ⟨K_kc, K_Y⟩^{1/(q−1)}, and all the weight on the largest for q = 1. For kernels of Frobenius
        norm one q = 2 is the same as None; for others it favours kernels of a large norm.

    References
    ----------
    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Eq. 3.5 and Prop. 3.1.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from manykernels import AlignMKLClassifier
    >>> from manykernels.families import gaussian_grid
    >>> from manykernels.weightings import Align
    >>> X, y = make_classification(60, random_state=0)
    >>> model = AlignMKLClassifier(gaussian_grid(1.0, 20.0, 5), weighting=Align(q=2)).fit(X, y)
    >>> bool(model.weights_.min() >= 0.0)
    True
    """

    def __init__(self, q: float | None = None) -> None:
        self.q = q

    def weigh(self, alignment: Alignment) -> Weighted:
        if self.q is None:
            return Weighted(shares(alignment.each))
        if not isinstance(self.q, Real) or isinstance(self.q, bool) or not 1.0 <= self.q < np.inf:
            raise ValueError(
                f"Align(q={self.q!r}) was given; expected a number q ≥ 1 (the norm of the weights), or None "
                "for weights in proportion to the alignments."
            )
        relative = shares(np.where(alignment.norms > 0, alignment.a, 0.0))
        relative = relative / relative.max()
        if self.q == 1.0:
            return Weighted(shares((relative == 1.0).astype(float)))
        return Weighted(shares(relative ** (1.0 / (self.q - 1.0))))
