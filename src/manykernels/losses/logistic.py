"""The logistic loss."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import expit, wrightomega, xlog1py, xlogy

from .._fast import codes
from .base import Loss, Task, inside
from .scalar import FloatArray


class Logistic(Loss):
    """The logistic loss, ℓ(y, f) = log(1 + e^{−yf}) for y = ±1.

    ℓ*(y, u) = s log s + (1 − s) log(1 − s), s = −yu ∈ [0, 1]. 1/(1 + e^{−f}) is the probability of the class
    +1. The shorthand is ``loss="logistic"``.

    References
    ----------
    Zhu & Hastie (2005), "Kernel logistic regression and the import vector machine", Journal of Computational
    and Graphical Statistics 14.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Logistic
    >>> Logistic().value(np.array([1.0, 1.0]), np.array([0.0, 5.0])).round(3).tolist()
    [0.693, 0.007]
    """

    task: ClassVar[Task] = "classification"
    probabilistic: ClassVar[bool] = True
    never_rests: ClassVar[bool] = True
    code: ClassVar[int] = codes.LOGISTIC
    strong = 4.0

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.logaddexp(0.0, -y * f)

    def gradient(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.asarray(-y * expit(-y * f))

    def hessian(self, y: FloatArray, f: FloatArray) -> FloatArray:
        margin = y * f
        return np.asarray(expit(margin) * expit(-margin))

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        s = -y * u
        p = np.clip(s, 0.0, 1.0)
        return np.where(inside(s, 0.0, 1.0), xlogy(p, p) + xlog1py(1.0 - p, -p), np.inf)

    def bounds(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.minimum(y, 0.0), np.maximum(y, 0.0)

    def dual_step(self, y: FloatArray, f: FloatArray, a: FloatArray, k: FloatArray) -> FloatArray:
        """s' = σ(t) with t + k σ(t) = c, c = ks − yf, s = ya.

        The mirror image (t, c) → (−t, k − c) makes t ≤ 0, where ½eᵗ ≤ σ(t) ≤ eᵗ. So the root of t + ½k eᵗ = c
        (Wright's ω) is above ours by at most log 2, and because the left-hand side is convex there, Newton's
        steps from it go down to the root without overshooting: six reach machine precision.
        """
        s, margin = y * a, y * f
        c, c_mirror = k * s - margin, k * (1.0 - s) + margin
        mirror = c > c_mirror
        c = np.where(mirror, c_mirror, c)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_k = np.log(0.5 * np.asarray(k))
            w = wrightomega(c + log_k)
            t = np.where(w > 1.0, np.log(w) - log_k, c - w)
        for _ in range(6):
            p = expit(t)
            t = t - (t + k * p - c) / (1.0 + k * p * (1.0 - p))
        return np.asarray(y * expit(np.where(mirror, -t, t)))
