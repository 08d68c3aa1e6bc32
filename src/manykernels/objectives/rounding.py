"""Bounds on the rounding errors in the two values of a certificate.

A function f_i = Σ_j K_ij α_j + b is known up to the rounding of its sum, in fit and in every prediction:

    |δf_i| ≤ u_n L ‖α‖₁,      |δq_m| ≤ u_n L_m ‖α‖₁²,      L_m = max_i K_m,ii ≥ |K_m,ij|,

with u_n a few ulps that grow as √n (rounding errors of sums are like a random walk; Higham and Mary 2019).
L is that of kernels as they are evaluated, before centring: kernels whose values are large beside their
differences lose digits before anything is learned. P is taken at the worst f within these bounds, D at the
largest q, so that P − D holds for the function that predicts, not only for the one on paper.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def unit(n: int) -> float:
    """u_n: the relative error of a sum of n products, with a margin for the kernel's own rounding."""
    return float((8.0 + 2.0 * np.sqrt(n)) * 0.5 * np.finfo(np.float64).eps)


def slack(alpha: Array) -> float:
    """Bound the rounding errors of quadratic forms q(α), α (n, k), of a kernel of largest value 1."""
    sizes = np.abs(alpha).sum(axis=0)
    return unit(alpha.shape[0]) * float(sizes @ sizes)


def zero_sum(alpha: Array, lo: Array, hi: Array, cost: Array) -> Array:
    """A point next to α, lo ≤ α ≤ hi, whose sum is exactly zero: zero itself where there is none.

    Σα times the intercept, which may be large, is missing from a dual value that takes Σα = 0 for granted.
    In whole multiples of one power of two, an ulp of Σ|α|, sums are exact; what is over is taken from where
    there is room for it, most of all from samples of large cost, to whom it matters least.
    """
    total = float(np.abs(alpha).sum())
    if not 1e-270 < total < np.inf:
        return np.zeros_like(alpha)
    grid = 2.0 ** (np.ceil(np.log2(total)) - 52.0)
    whole = np.trunc(alpha / grid)
    left = float(whole.sum())
    room = whole - np.ceil(lo / grid) if left > 0.0 else np.floor(hi / grid) - whole
    while left != 0.0:
        i = int(np.argmax(np.where(room > 0.0, cost, -1.0)))
        step = min(abs(left), float(room[i]))
        if step <= 0.0:
            return np.zeros_like(alpha)
        whole[i] -= np.copysign(step, left)
        room[i] -= step
        left -= np.copysign(step, left)
    return np.asarray(whole * grid)
