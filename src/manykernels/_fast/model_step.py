"""A Newton step of the interior-point method for a model of cuts: all but its linear equations.

The model has few variables, so that most of the time went to the calls of many small operations on arrays.
Letters are those of `solvers/_local_model.py`, which documents the equations.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from .compiled import inner

Array = NDArray[np.float64]
_SLACK = 1e-16  # the least height of a point above its cuts


@numba.njit(cache=True, error_model="numpy")
def slacks(
    c: Array, Q: Array, theta: Array, r: float, cuts: Array, zero: Array, ball: Array, room: Array
) -> Any:
    """s = r − c + ½Qθ, and the complementarity λᵀs + zᵀθ + νᵀroom."""
    s = np.empty(c.size)
    total = 0.0
    for t in range(c.size):
        height = 0.0
        for m in range(theta.size):
            height += Q[t, m] * theta[m]
        s[t] = max(r - c[t] + 0.5 * height, _SLACK)
        total += cuts[t] * s[t]
    for m in range(theta.size):
        total += zero[m] * theta[m]
    for k in range(ball.size):
        total += ball[k] * room[k]
    return s, total


@numba.njit(cache=True, error_model="numpy")
def equations(
    Q: Array,
    s: Array,
    tau: float,
    theta: Array,
    cuts: Array,
    zero: Array,
    ball: Array,
    room: Array,
    gradient: Array,
    bend: Array,
    psi: Array,
    psi1: Array,
    psi2: Array,
) -> Any:
    """(diagonal, rows, rhs) of the equations (diag + rowsᵀrows + BᵀB) step = rhs, and the mean cut.

    `gradient` and `bend` are of the smooth part, and ψ comes with its first and second derivatives.
    """
    T, M = Q.shape
    rows, mean = np.empty((T + psi.size, M)), np.zeros(M)
    total, rho = 0.0, -1.0
    for t in range(T):
        w = cuts[t] / s[t]
        total += w
        rho += tau / s[t]
        for m in range(M):
            mean[m] += w * Q[t, m]
    mean /= total
    diagonal, rhs = bend + zero / theta, tau / theta - gradient - 0.5 * rho * mean
    for t in range(T):
        root, pull = 0.5 * np.sqrt(cuts[t] / s[t]), 0.5 * tau / s[t]
        for m in range(M):
            rhs[m] += pull * Q[t, m]
            rows[t, m] = root * (Q[t, m] - mean[m])
    for k in range(psi.size):
        root = np.sqrt(ball[k] / room[k])
        push = (tau + ball[k] * (psi[k] + room[k])) / room[k]
        for m in range(M):
            diagonal[m] += ball[k] * psi2[k, m]
            rhs[m] -= push * psi1[k, m]
            rows[T + k, m] = root * psi1[k, m]
    return diagonal, rows, rhs, mean, rho / total


@numba.njit(cache=True, error_model="numpy")
def moved(
    Q: Array,
    s: Array,
    tau: float,
    theta: Array,
    r: float,
    cuts: Array,
    zero: Array,
    ball: Array,
    room: Array,
    step: Array,
    mean: Array,
    rise: float,
    psi: Array,
    psi1: Array,
    left: Array,
) -> Any:
    """The point after the step: (θ, r, λ, z, ν, room), which share of it was taken, and whether it is finite.

    The step goes 0.99 of the way to the boundary at most, of primal and dual variables each; `left` is what θ
    may grow by.
    """
    dr = rise - 0.5 * _dot(mean, step)
    ds, dcuts = np.empty(s.size), np.empty(s.size)
    for t in range(s.size):
        ds[t] = dr + 0.5 * _dot(Q[t], step)
        dcuts[t] = (tau - cuts[t] * ds[t]) / s[t] - cuts[t]
    dzero = (tau - zero * step) / theta - zero
    droom, dball = np.empty(psi.size), np.empty(psi.size)
    for k in range(psi.size):
        droom[k] = -psi[k] - room[k] - _dot(psi1[k], step)
        dball[k] = (tau - ball[k] * droom[k]) / room[k] - ball[k]
    primal = min(_reach(theta, step), _reach(s, ds), _reach(room, droom), _reach(left, -step))
    dual = min(_reach(cuts, dcuts), _reach(zero, dzero), _reach(ball, dball))
    primal, dual = min(1.0, 0.99 * primal), min(1.0, 0.99 * dual)
    theta, r, room = theta + primal * step, r + primal * dr, room + primal * droom
    cuts, zero, ball = cuts + dual * dcuts, zero + dual * dzero, ball + dual * dball
    size = np.sum(theta) + abs(r) + np.sum(np.abs(room)) + np.sum(np.abs(cuts)) + np.sum(np.abs(zero))
    fine = np.isfinite(size + np.sum(np.abs(ball))) and np.isfinite(primal + dual) and np.sum(cuts) > 0.0
    return theta, r, cuts, zero, ball, room, min(primal, dual), fine


@inner(error_model="numpy")
def _dot(a: Array, b: Array) -> Any:
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@inner(error_model="numpy")
def _reach(value: Array, change: Array) -> Any:
    """The largest t with value + t·change ≥ 0, for value ≥ 0."""
    least = np.inf
    for i in range(value.size):
        if change[i] < 0.0:
            least = min(least, value[i] / -change[i])
    return least
