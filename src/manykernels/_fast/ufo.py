"""The steps of UFO-MKL (Orabona & Jie 2011, Alg. 1) on a block of samples.

A block knows, for its B samples and all F kernels, the scores Z[j, b] = θ^j · φ^j(x_b) ∈ R^k at its start
and the products K[j, a, b] = φ^j(x_a) · φ^j(x_b) between its samples. A step changes θ^j by g ⊗ φ^j(x_b),
with the same g for all kernels, so that scores of later samples and the norms follow from Z and K alone,
whatever spaces the φ^j live in. K may be the stored matrices of all samples, of which steps that change
nothing (most of them, for a hinge) then read nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .codes import EPSILON, HINGE, LOGISTIC, MULTICLASS, MULTINOMIAL, PINBALL, SQUARED, SQUARED_HINGE
from .threads import split

Array = NDArray[np.float64]
Index = NDArray[np.intp]

_TINY = 1e-16  # of the square of a score


@njit(cache=True, nogil=True)
def link(squares: Array, t: float, lag: float, lam: float, alpha: float, q: float, s: Array) -> None:
    """s_j with w^j = s_j θ^j, from ‖θ^j‖² after t steps: lines 6 and 7, the gradient of Ω* at θ/t.

    v_j = (‖θ^j‖ − αt)₊, s_j = v_j/‖θ^j‖ · (v_j/‖v‖_q)^{q−2} / (λ(t + lag)). Exact zeros where v_j = 0.
    """
    largest = 0.0
    for j in range(s.size):
        size = np.sqrt(max(squares[j], 0.0))
        s[j] = max(size - alpha * t, 0.0)
        largest = max(largest, s[j])
    if largest == 0.0:
        return
    total = 0.0
    for j in range(s.size):
        if s[j] > 0.0:
            total += (s[j] / largest) ** q
    length = largest * total ** (1.0 / q)
    for j in range(s.size):
        if s[j] > 0.0:
            s[j] = s[j] / np.sqrt(squares[j]) * (s[j] / length) ** (q - 2.0) / (lam * (t + lag))


@njit(cache=True, nogil=True)
def score(Z: Array, s: Array, b: int, f: Array) -> None:
    """f = Σ_j s_j Z[j, b]."""
    f[:] = 0.0
    for j in range(s.size):
        if s[j] != 0.0:
            for c in range(f.size):
                f[c] += s[j] * Z[j, b, c]


@njit(cache=True, nogil=True)
def push(Z: Array, K: Any, scale: Array, rows: Index, squares: Array, b: int, g: Array) -> None:
    """θ^j += g ⊗ φ^j(x_b): the norms, and the scores of the samples after b.

    The product of samples a and b is scale_j K[j, rows_a, rows_b], and 1 for groups that K does not have.
    """
    n_later, k = Z.shape[1], g.size
    size = 0.0
    for c in range(k):
        size += g[c] * g[c]
    for j in range(squares.size):
        along = 0.0
        for c in range(k):
            along += g[c] * Z[j, b, c]
        if j >= K.shape[0]:
            squares[j] += 2.0 * along + size
            for a in range(b + 1, n_later):
                Z[j, a] += g
            continue
        row, factor = K[j, rows[b]], scale[j]
        squares[j] += 2.0 * along + size * factor * row[rows[b]]
        for a in range(b + 1, n_later):
            product = factor * row[rows[a]]
            for c in range(k):
                Z[j, a, c] += g[c] * product


@njit(cache=True, nogil=True)
def step(
    Z: Array,
    K: Any,
    scale: Array,
    rows: Index,
    squares: Array,
    s: Array,
    b: int,
    g: Array,
    t: float,
    lag: float,
    curvature: float,
    lam: float,
    alpha: float,
    q: float,
) -> float:
    """θ^j += g ⊗ φ^j(x_b) and the link; the lag from here on, which grows where `curvature` ℓ'' is given.

    The step moves the score of its own sample by κ g/(t + lag). That it does not overshoot the minimum of a
    loss of this curvature needs t + lag ≥ ℓ'' κ, and lag becomes ℓ'' κ where that is more than it was.
    """
    if curvature == 0.0:
        push(Z, K, scale, rows, squares, b, g)
        link(squares, t, lag, lam, alpha, q, s)
        return lag
    before = np.empty(s.size)
    link(squares, t, lag, lam, alpha, q, before)
    push(Z, K, scale, rows, squares, b, g)
    link(squares, t, lag, lam, alpha, q, s)
    moved, size, scores = 0.0, 0.0, 0.0
    for c in range(g.size):
        size += g[c] * g[c]
        total = 0.0
        for j in range(s.size):
            own = scale[j] * K[j, rows[b], rows[b]] if j < K.shape[0] else 1.0
            moved += g[c] * ((s[j] - before[j]) * Z[j, b, c] + s[j] * g[c] * own)
            total += abs(before[j] * Z[j, b, c])
        scores += total * total
    if size > _TINY * scores:  # below, the movement is rounding
        wanted = curvature * (t + lag) * moved / size
        if wanted > lag:
            lag = wanted
            link(squares, t, lag, lam, alpha, q, s)
    return lag


@njit(cache=True, nogil=True)
def _descend(code: int, number: float, y: Array, f: Array, g: Array) -> bool:
    """g = −∂ℓ(y, f); whether it is not zero. y holds targets, or the class; `number` is ε, τ or δ."""
    moves = False
    if code == MULTICLASS:
        own, rival = int(y[0]), -1
        for c in range(f.size):
            g[c] = 0.0
            if c != own and (rival < 0 or f[c] > f[rival]):
                rival = c
        moves = bool(f[own] - f[rival] < 1.0)
        if moves:
            g[own], g[rival] = 1.0, -1.0
        return moves
    if code == MULTINOMIAL:
        top, total = f.max(), 0.0
        for c in range(f.size):
            g[c] = np.exp(f[c] - top)
            total += g[c]
        for c in range(f.size):
            g[c] = -g[c] / total
        g[int(y[0])] += 1.0
        return True
    for c in range(f.size):
        if code == HINGE:
            g[c] = y[c] if y[c] * f[c] < 1.0 else 0.0
        elif code == SQUARED_HINGE:
            g[c] = y[c] * max(1.0 - y[c] * f[c], 0.0)
        elif code == LOGISTIC:
            margin = y[c] * f[c]
            small = np.exp(-abs(margin))
            g[c] = y[c] * (small if margin >= 0.0 else 1.0) / (1.0 + small)
        elif code == SQUARED:
            g[c] = y[c] - f[c]
        elif code == EPSILON:
            residual = y[c] - f[c]
            g[c] = np.sign(residual) if abs(residual) > number else 0.0
        elif code == PINBALL:
            residual = y[c] - f[c]
            g[c] = number if residual > 0.0 else (number - 1.0 if residual < 0.0 else 0.0)
        else:  # Huber's
            g[c] = min(max(y[c] - f[c], -number), number)
        moves = moves or g[c] != 0.0
    return moves


@njit(cache=True, nogil=True)
def run(
    Z: Array,
    K: Any,
    scale: Array,
    rows: Index,
    Y: Array,
    code: int,
    number: float,
    squares: Array,
    s: Array,
    total: Array,
    t: int,
    lag: float,
    curvature: float,
    lam: float,
    alpha: float,
    q: float,
    G: Array,
    late: Array,
) -> tuple[int, float]:
    """One step for every sample of a block; steps taken in all, and the lag.

    G[b] becomes the coefficient that sample b adds to θ. `total` is Σ s over all iterates so far; where
    `late` (F, B, k) is not empty, late[j, b] becomes −G[b] · total_j before b's own step: the mean of all
    iterates has the coefficients total_j G[b] + late[j, b], divided by their number.
    """
    averaging = late.size > 0
    f = np.empty(G.shape[1])
    for b in range(G.shape[0]):
        t += 1
        score(Z, s, b, f)
        g = G[b]
        if _descend(code, number, Y[b], f, g):
            lag = step(Z, K, scale, rows, squares, s, b, g, float(t), lag, curvature, lam, alpha, q)
            if averaging:
                for j in range(s.size):
                    for c in range(g.size):
                        late[j, b, c] = -g[c] * total[j]
        else:
            link(squares, float(t), lag, lam, alpha, q, s)
        if averaging:
            for j in range(s.size):
                total[j] += s[j]
    return t, lag


@njit(cache=True, nogil=True, fastmath=True)
def _read(stack: Any, scale: Array, rows: Index, C: Array, Z: Array, K: Array, lo: int, hi: int) -> None:
    for j in range(lo, hi):
        for b in range(rows.size):
            row, factor = stack[j, rows[b]], scale[j]
            for c in range(C.shape[0]):
                total, coefficients = 0.0, C[c]
                for i in range(row.size):
                    total += row[i] * coefficients[i]
                Z[j, b, c] = factor * total
            for a in range(b, rows.size):
                K[j, b, a] = factor * row[rows[a]]


def read(stack: Any, scale: Array, rows: Index, C: Array, Z: Array, K: Array) -> None:
    """Z[j, b] = scale_j Σ_i stack[j, rows_b, i] C[i], K[j, a, b] = scale_j stack[j, rows_a, rows_b], b ≥ a.

    One pass over the rows, for losses whose every step changes something; C comes as (n, k).
    """
    T = np.ascontiguousarray(C.T)
    work = float(len(stack)) * rows.size * stack.shape[2] * T.shape[0]
    split(len(stack), work, lambda lo, hi: _read(stack, scale, rows, T, Z, K, lo, hi))


@njit(cache=True, nogil=True, fastmath=True)
def _spread(stack: Any, scale: Array, rows: Index, G: Array, scores: Array, lo: int, hi: int) -> None:
    for j in range(lo, hi):
        for b in range(rows.size):
            row = stack[j, rows[b]]
            for c in range(G.shape[1]):
                factor, target = scale[j] * G[b, c], scores[j, c]
                if factor != 0.0:
                    for i in range(row.size):
                        target[i] += factor * row[i]


def spread(stack: Any, scale: Array, rows: Index, G: Array, scores: Array) -> None:
    """scores[j, c, i] += scale_j Σ_b G[b, c] stack[j, rows_b, i]: only samples with coefficients are read."""
    moved = np.flatnonzero(G.any(axis=1))
    rows, G = rows[moved], G[moved]
    work = float(scores.size) * rows.size
    split(len(stack), work, lambda lo, hi: _spread(stack, scale, rows, G, scores, lo, hi))
