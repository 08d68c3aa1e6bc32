"""The elastic net between the sparse and the plain sum of kernels.

See Tomioka & Suzuki (2010); Afkanpour (2013), §2.3.1; Orabona & Jie (2011), §3.
"""

from __future__ import annotations

import numpy as np

from ._newton import shifted_cubic
from .base import ROUNDING, FloatArray, Penalty


class ElasticNet(Penalty):
    """The elastic net between sparse weights and the plain sum of kernels, h(θ) = Σ (1−λ)² θ/(1−λθ).

    The domain is 0 ≤ θ < 1/λ. As a penalty on the norms a_m = ‖w_m‖ it is ½ λ Σ a² + (1−λ) Σ a.

    Parameters
    ----------
    lam : float, default=0.5
        The mixture λ, 0 < λ ≤ 1. A small value gives sparse weights; λ = 1 is the plain sum of kernels, h = 0
        on [0, 1].

    See Also
    --------
    LpBall : Sets of weights between sparse and uniform.

    References
    ----------
    Tomioka & Suzuki (2010), "Sparsity-accuracy trade-off in MKL", arXiv:1001.2615.

    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta, §2.3.1.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import rank_one
    >>> from manykernels.penalties import ElasticNet
    >>> X = np.random.RandomState(0).randn(50, 4)
    >>> model = MKLRegressor(rank_one(), norm=ElasticNet(0.5)).fit(X, X[:, 2])
    >>> int(model.weights_.argmax())
    2
    """

    def __init__(self, lam: float = 0.5) -> None:
        self.lam = lam

    def _lam(self) -> tuple[float, float]:
        """λ and 1 − λ."""
        if not 0.0 < self.lam <= 1.0:
            raise ValueError(
                f"lam={self.lam!r} was given to ElasticNet: expected a number in (0, 1], from sparse to the "
                "plain sum of kernels."
            )
        return float(self.lam), 1.0 - float(self.lam)

    def _inside(self, theta: FloatArray) -> FloatArray:
        """θ kept below 1/λ, where h is infinite, when rounding would reach it."""
        lam, beta = self._lam()
        return np.minimum(theta, (1.0 - 1e-15) / lam if beta else 1.0)

    def value(self, theta: FloatArray) -> float:
        lam, beta = self._lam()
        if np.any(theta < -ROUNDING) or np.any(theta > 1.0 + ROUNDING if beta == 0 else lam * theta >= 1.0):
            return np.inf
        return 2.0 * self.smooth(theta)[0]

    def conjugate(self, q: FloatArray) -> tuple[float, FloatArray]:
        """Σ (√q − (1−λ))₊²/λ, attained at θ = (1 − (1−λ)/√q)₊/λ."""
        lam, beta = self._lam()
        root = np.sqrt(np.maximum(q, 0.0))
        above = np.maximum(root - beta, 0.0)
        if beta == 0:
            return float(root @ root), self.start(q.size)
        return float(above @ above) / lam, self._inside(above / (lam * np.maximum(root, beta)))

    def project(self, v: FloatArray) -> FloatArray:
        """θ − v + ½(1−λ)²/(1−λθ)² = 0, or 0 where v ≤ ½(1−λ)².

        With z = 1 − λθ and κ = ½λ(1−λ)² it is the cubic z² (z + λv − 1) = κ. For λv ≥ 1 its unknown is z,
        otherwise x = z − (1 − λv) = λ(v − θ): both are then positive and found without cancellation.
        """
        lam, beta = self._lam()
        if beta == 0:
            return np.clip(v, 0.0, 1.0)
        theta = np.zeros_like(v)
        log_kappa = np.full_like(v, np.log(0.5 * lam) + 2.0 * np.log(beta))
        shift = lam * v - 1.0
        small, large = (v > 0.5 * beta**2) & (shift < 0), shift >= 0
        theta[small] = v[small] - shifted_cubic(log_kappa[small], -shift[small], 1, 2) / lam
        theta[large] = (1.0 - shifted_cubic(log_kappa[large], shift[large], 2, 1)) / lam
        return self._inside(np.maximum(theta, 0.0))

    def closed_form(self, a: FloatArray) -> FloatArray:
        """θ = a/((1−λ) + λa)."""
        lam, beta = self._lam()
        return self._inside(a / (beta + lam * a)) if beta else self.start(a.size)

    def group_norm(self, a: FloatArray) -> float:
        """Σ λa² + 2(1−λ)a."""
        lam, beta = self._lam()
        return float(np.sum(a * (lam * a + 2.0 * beta)))

    def start(self, M: int) -> FloatArray:
        return np.ones(M)

    def smooth(self, theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """½h, ∇½h = ½ ((1−λ)/(1−λθ))², ∇²½h = λ (1−λ)²/(1−λθ)³."""
        lam, beta = self._lam()
        if beta == 0:
            return 0.0, np.zeros_like(theta), np.zeros_like(theta)
        z = 1.0 - lam * theta
        return 0.5 * beta**2 * float(np.sum(theta / z)), 0.5 * (beta / z) ** 2, lam * beta**2 / z**3

    @property
    def upper(self) -> float:
        return 1.0 / self._lam()[0]

    @property
    def sparse(self) -> bool:
        return self._lam()[1] > 0.0

    @property
    def fixed(self) -> bool:
        return self._lam()[1] == 0.0

    @property
    def homogeneous(self) -> bool:
        return self._lam()[1] == 0.0

    def entry(self, q: FloatArray) -> float:
        """A kernel has weight exactly when √q > 1 − λ."""
        return self._lam()[1] ** 2

    def interior(self, theta: FloatArray) -> FloatArray:
        return 0.9 * np.minimum(theta, 0.99 * self.upper) + 0.05
