"""Block coordinate descent for ½ (Σ_g ‖w_g‖)² + ½ Σ_k w_kᵀHw_k − Σ_k b_kᵀw_k, blocks of H diagonal.

With the other blocks fixed, s = Σ_{h≠g} ‖w_h‖ and c = b_g − Σ_{h≠g} H_gh w_h, the best block is zero where
‖c‖ ≤ s; otherwise w_g = r c/((d + 1) r + s), d the diagonal of H_gg, with r = ‖w_g‖ the root of

    F(r) = Σ_i c_i² / ((d_i + 1) r + s)² = 1,

which Newton's method on F^{−½} finds in a few steps. `sweep` reads H; `sweep_rows` reads the features
themselves, Φ_gᵀt in place of b − Hw, where H would be larger than they are.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .compiled import inner

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@njit(cache=True)
def sweep(H: Array, ptr: Index, b: Array, w: Array, Hw: Array, norms: Array) -> float:
    """Update every block in place once: w and Hw (outputs, p), norms (groups,); the largest change of a norm.

    H (p, p) is symmetric, with blocks ptr[g] : ptr[g + 1] that are diagonal.
    """
    outputs = w.shape[0]
    total, largest = norms.sum(), 0.0
    for g in range(norms.size):
        lo, hi = ptr[g], ptr[g + 1]
        s = max(total - norms[g], 0.0)
        d, squares = np.empty(hi - lo), np.zeros(hi - lo)
        for i in range(lo, hi):
            d[i - lo] = H[i, i]
            for k in range(outputs):
                c = b[k, i] - Hw[k, i] + H[i, i] * w[k, i]
                squares[i - lo] += c * c
        r = _radius(squares, d, s)
        moved = 0.0
        for k in range(outputs):
            for i in range(lo, hi):
                new = 0.0
                if r > 0.0:
                    c = b[k, i] - Hw[k, i] + H[i, i] * w[k, i]
                    new = r * c / ((H[i, i] + 1.0) * r + s)
                # the rest of this block reads its own Hw only through its diagonal, which is corrected below
                step = new - w[k, i]
                w[k, i] = new
                if step != 0.0:
                    moved += step * step
                    for j in range(lo):
                        Hw[k, j] += H[i, j] * step
                    Hw[k, i] += H[i, i] * step
                    for j in range(hi, H.shape[0]):
                        Hw[k, j] += H[i, j] * step
        largest = max(largest, np.sqrt(moved))
        total += r - norms[g]
        norms[g] = r
    return largest


@njit(cache=True)
def sweep_rows(
    live: Index,
    rows: Array,
    ptr: Index,
    root: Array,
    Q: Array,
    at: Index,
    d: Array,
    Z: Array,
    taken: Array,
    W: Array,
    w: Array,
    t: Array,
    score: Array,
    norms: Array,
) -> float:
    """Update every block of `live` in place once, on the features; the largest change of a block.

    The features of group g are root_g (Φ_g − Z·taken), with Φᵀ in `rows` (D, n), and Q[at[g] : at[g + 1]] is
    the basis in which their ΦᵀWΦ has the diagonal d. w (outputs, D) moves with t = −∇ (outputs, n) of the
    second-order model, the score (outputs, n), and the norms of all groups.
    """
    outputs = w.shape[0]
    total, largest = norms.sum(), 0.0
    for g in live:
        lo, hi = ptr[g], ptr[g + 1]
        s = max(total - norms[g], 0.0)
        block, own, less = rows[lo:hi], d[lo:hi], np.ascontiguousarray(taken[:, lo:hi])
        basis = Q[at[g] : at[g + 1]].reshape(hi - lo, hi - lo)
        c, v, squares = np.empty((outputs, hi - lo)), np.empty((outputs, hi - lo)), np.zeros(hi - lo)
        for k in range(outputs):
            pull = root[g] * (np.dot(block, t[k]) - np.dot(np.dot(t[k], Z), less))
            v[k] = np.dot(w[k, lo:hi], basis)
            c[k] = np.dot(pull, basis) + own * v[k]
            squares += c[k] * c[k]
        r = _radius(squares, own, s)
        if r == 0.0 and norms[g] == 0.0:
            continue
        moved = 0.0
        for k in range(outputs):
            new = r * c[k] / ((own + 1.0) * r + s) if r > 0.0 else np.zeros(hi - lo)
            step = np.dot(basis, new - v[k])
            moved += np.dot(step, step)
            w[k, lo:hi] = (w[k, lo:hi] + step) * (r > 0.0)
            change = root[g] * np.dot(step, block)
            score[k] += change
            t[k] -= W * (change - root[g] * np.dot(Z, np.dot(less, step)))
        largest = max(largest, np.sqrt(moved))
        total += r - norms[g]
        norms[g] = r
    return largest


@inner()
def _radius(squares: Array, d: Array, s: float) -> float:
    """r with F(r) = 1, from a lower bound; 0 where the block is best at zero."""
    size = float(np.sqrt(squares.sum()))
    if size <= s:
        return 0.0
    r = (size - s) / (float(d.max()) + 1.0)
    for _ in range(60):
        F, slope = 0.0, 0.0
        for i in range(d.size):
            e = d[i] + 1.0
            part = squares[i] / (e * r + s) ** 2
            F += part
            slope -= 2.0 * part * e / (e * r + s)
        h = F**-0.5
        step = (1.0 - h) / (-0.5 * h / F * slope)
        r += step
        if abs(step) <= 1e-14 * r:
            break
    return r
