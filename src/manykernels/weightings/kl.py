"""Weights by an information-theoretic measure: the target as a draw of a Gaussian process."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import cholesky, lapack
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from .._arguments import is_number
from .._fast.threads import blas_for
from .._warn import warn
from ..objectives import Alignment
from .base import Array, Weighted, Weighting, shares

_TOL = 1e-5  # of the conditions, relative to the number of samples, which is the size of the measure
_FAR = 1e-2  # the same, above which weights are not what was asked for
_LOOKS = 300  # at the measure, each a factorisation and a pass over all kernels
_TINY = 1e-12  # added to weights, so that their sum is not zero


class KL(Weighting):
    """The weights of the smallest divergence from the target's kernel (Ying et al. 2009), ``"kl"``.

    With K* = YYᵀ, which N(0, K*) has as covariance, 2 KL(N(0, K*) ‖ N(0, K_θ + εI)) is, up to a constant,

        L(θ) = tr(K* (K_θ + εI)⁻¹) + log|K_θ + εI|,      θ ≥ 0, Σθ = 1
        ∂L/∂θ_m = ⟨G, K_m⟩ − ⟨GK*G, K_m⟩,      G = (K_θ + εI)⁻¹

    The first term is convex and the second concave, so that this is a stationary point, reached from equal
    weights by L-BFGS-B; there is no bound on others.
    ``kkt_residual_`` is (max_e ⟨∇L, θ − e⟩)/n over the corners e of the simplex, 0 at a stationary point. A
    sample of weight w counts as w samples. The scale of the kernels matters: normalise them.

    Parameters
    ----------
    epsilon : float, default=1e-3
        The ε, in units of the mean diagonal of the kernels. K* is scaled to the same mean diagonal, so that
        the unit of y does not matter; for labels ±1 and ``normalize="trace"`` it has that already.

    References
    ----------
    Ying, Huang & Campbell (2009), "Enhanced protein fold recognition through a novel data integration
    approach", BMC Bioinformatics 10.

    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta, §2.3.2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from manykernels import AlignMKLClassifier
    >>> from manykernels.families import gaussian_grid
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AlignMKLClassifier(gaussian_grid(1.0, 30.0, 5), weighting="kl").fit(scale(X)[:200], y[:200])
    >>> bool(model.kkt_residual_ < 1e-4)
    True
    """

    sums = False
    squares = 4  # the sum of the kernels, its factor, its inverse, and what is made of it

    def __init__(self, epsilon: float = 1e-3) -> None:
        self.epsilon = epsilon

    def weigh(self, alignment: Alignment) -> Weighted:
        if not is_number(self.epsilon) or not 0.0 < self.epsilon < np.inf:
            raise ValueError(
                f"KL(epsilon={self.epsilon!r}) was given; expected a positive number, such as 0.001."
            )
        gram, M = alignment.gram, alignment.gram.n_kernels
        root = np.ones(gram.n) if gram.weight is None else np.sqrt(gram.weight)
        size = float(np.sum(root**2))
        diagonal = float(np.mean(gram.combine(np.full(M, 1.0 / M)).diagonal() @ root**2)) / size
        Y = root[:, None] * (alignment.given if gram.mean is None else alignment.Y)
        Y = Y * math.sqrt(diagonal * size / float(np.sum(Y**2)))
        measure = _Measure(alignment, root, Y, float(self.epsilon) * diagonal)
        with blas_for(gram.n):
            theta, residual = _descend(measure, np.full(M, 1.0 / M), size)
        if residual > _FAR:
            warn(
                f"weighting='kl' stopped after {_LOOKS} looks at its measure, at a residual of "
                f"{residual:.1e} of its conditions, above {_FAR:g}. Give fewer kernels, or a larger epsilon: "
                "KL(epsilon=0.1).",
                ConvergenceWarning,
            )
        return Weighted(shares(theta), residual=residual)


class _Measure:
    """L(θ) and its gradient, for samples that count root² times."""

    def __init__(self, alignment: Alignment, root: Array, Y: Array, epsilon: float) -> None:
        self.gram, self.root, self.Y, self.epsilon = alignment.gram, root, Y, epsilon
        self.both = None if np.all(root == 1.0) else np.outer(root, root)

    def __call__(self, theta: Array) -> tuple[float, Array]:
        A = self.gram.combine(theta)
        if self.both is not None:
            A *= self.both
        A.flat[:: len(A) + 1] += self.epsilon
        try:
            L = cholesky(A, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError as error:
            raise ValueError(
                "a combination of the kernels plus εI is not positive definite: a kernel has negative "
                "eigenvalues. Clip them (drop the negative part of the spectrum), raise epsilon of KL, or "
                "take weighting='alignf'."
            ) from error
        G = lapack.dpotri(L, lower=1)[0]
        G = np.tril(G) + np.tril(G, -1).T
        Z = G @ self.Y
        value = float(np.vdot(self.Y, Z)) + 2.0 * float(np.log(np.diagonal(L)).sum())
        slopes = self.gram.against(G if self.both is None else G * self.both)
        return value, slopes - self.gram.quad(self.root[:, None] * Z).sum(axis=1)


def _descend(measure: _Measure, theta: Array, n: float) -> tuple[Array, float]:
    """A stationary point, and max_e ⟨∇L, θ − e⟩/n there.

    L(t/Σt)/n + ½(Σt − 1)² has the same stationary points, where Σt = 1, and asks for t ≥ 0 only: L-BFGS-B
    takes such problems and gives exact zeros.
    """

    def function(t: Array) -> tuple[float, Array]:
        excess = float(t.sum()) - 1.0
        t = t + _TINY
        total = float(t.sum())
        value, g = measure(t / total)
        return value / n + 0.5 * excess**2, (g - g @ t / total) / (total * n) + excess

    options = {"maxiter": _LOOKS, "maxfun": _LOOKS, "ftol": 0.0, "gtol": _TOL, "maxcor": 20}
    box = [(0.0, None)] * theta.size
    t = minimize(function, theta, jac=True, method="L-BFGS-B", bounds=box, options=options).x
    theta = t / t.sum()
    slopes = measure(theta)[1] / n
    return theta, float(theta @ slopes - slopes.min())
