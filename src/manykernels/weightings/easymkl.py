"""EasyMKL: weights by the distance between the classes, for many kernels at the cost of one machine."""

from __future__ import annotations

import numpy as np

from .._arguments import is_number
from .._fast.threads import blas_for
from ..losses import SquaredHinge
from ..machines.newton import Newton
from ..objectives import Alignment
from .base import Array, Weighted, Weighting, shares

_TOL = 1e-10  # the relative gap to which γ is found


class EasyMKL(Weighting):
    """Weigh every kernel by how far it keeps the classes apart (Aiolli & Donini 2015), ``"easymkl"``.

    Let y = ±1, Y = diag(y), and γ ≥ 0 with a sum of one over each class. Then Yγ is the difference of a point
    of the one class and a point of the other, and γᵀYK_mYγ is their squared distance by kernel m. γ is that
    of the plain sum of the kernels, and the weights are the distances at it:

        γ = argmin (1 − λ) γᵀY(Σ_m K_m)Yγ + λ‖γ‖²,      θ_m ∝ γᵀYK_mYγ

    The minimum is reached by γ = 2α/Σα, α the dual solution of the machine of the plain sum with the squared
    hinge loss and C = (1 − λ)/λ, which is solved to a relative gap of 10⁻¹⁰ (``kkt_residual_``). Several
    classes have the mean of the weights of each against the rest. A sample of weight w counts as w samples.
    Centring does not change γ nor the weights, since the entries of Yγ sum to zero.

    Parameters
    ----------
    lam : float, default=0.1
        The λ in (0, 1]. At 1 the classes are represented by their means, near 0 by their nearest points.

    Notes
    -----
    λ is held against the sum of the kernels as they are scaled. MKLpy expects kernels with ones on the
    diagonal (its ``kernel_normalization``); ``normalize="trace"``, the default here, makes the diagonal one
    on average, which is the same for kernels of Gaussian form.

    References
    ----------
    Aiolli & Donini (2015), "EasyMKL: a scalable multiple kernel learning algorithm", Neurocomputing 169.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from manykernels import AlignMKLClassifier
    >>> from manykernels.weightings import EasyMKL
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AlignMKLClassifier(weighting=EasyMKL(lam=0.5)).fit(X, y)
    >>> bool(model.weights_.min() >= 0.0), round(float(model.weights_.sum()), 6)
    (True, 1.0)
    """

    classes = True
    sums = False
    squares = 3  # the sum of the kernels, the part of it that is factored, and the factor

    def __init__(self, lam: float = 0.1) -> None:
        self.lam = lam

    def weigh(self, alignment: Alignment) -> Weighted:
        lam = self.lam
        if not is_number(lam) or not 0.0 < lam <= 1.0:
            raise ValueError(
                f"EasyMKL(lam={lam!r}) was given; expected a number above 0 and up to 1. Take a small one "
                "such as 0.001 for the nearest points of the classes."
            )
        gram = alignment.gram
        weight = np.ones(gram.n) if gram.weight is None else gram.weight
        K = gram.combine(np.ones(gram.n_kernels)) if lam < 1.0 else None
        with blas_for(gram.n):
            found = [
                _points(K, np.where(column > 0.0, 1.0, -1.0), weight, float(lam)) for column in alignment.Y.T
            ]
        distances = np.maximum(gram.quad(np.array([u for u, _ in found]).T), 0.0)  # (kernels, classes)
        theta = np.mean([shares(distances[:, k]) for k in range(len(found))], axis=0)
        return Weighted(theta, residual=max(gap for _, gap in found))


def _points(K: Array | None, y: Array, weight: Array, lam: float) -> tuple[Array, float]:
    """u = Yγ, and the relative gap of the problem that it solves."""
    if K is None:  # λ = 1: the means
        total = np.where(y > 0, weight[y > 0].sum(), weight[y < 0].sum())
        return y * weight / total, 0.0
    C = weight * (1.0 - lam) / lam
    found = Newton(SquaredHinge(), fit_intercept=True).solve(K, y, C, np.zeros(y.size), _TOL * float(C.sum()))
    size = float(np.abs(found.alpha).sum())
    return 2.0 * found.alpha / size, found.gap / size
