"""Cox's partial likelihood along the order of time: sums over risk sets, and the conjugate.

Samples are sorted by stratum, then by time, events before those who are only seen until then. Event time l
has the events a_l ≤ j < b_l, and its risk set is a_l ≤ j < end_l, so that every sum over a risk set is a
suffix. With u_j = w_j e^{f_j}, S_l the sum of u over the risk set, E_l over the events and d = b_l − a_l, the
r-th event of a tie has the sum S_lr = S_l − (r/d)E_l as Efron has it, and S_l as Breslow has it.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .compiled import inner

Array = NDArray[np.float64]
Index = NDArray[np.intp]
_STEPS = 100


@njit(cache=True, nogil=True)
def log_sums(f: Array, w: Array, a: Index, end: Index, logS: Array) -> None:
    """log S_l of every event time, l in the order of strata and times."""
    top, total, j = -np.inf, 0.0, 0
    for s in range(a.size):
        l = a.size - 1 - s
        if s == 0 or end[l] != end[l + 1]:
            top, total, j = -np.inf, 0.0, end[l]
        while j > a[l]:
            j -= 1
            if f[j] > top:
                total = total * np.exp(top - f[j]) + w[j]
                top = f[j]
            else:
                total += w[j] * np.exp(f[j] - top)
        logS[l] = top + np.log(total)


@njit(cache=True, nogil=True)
def tied_share(f: Array, w: Array, a: Index, b: Index, logS: Array, share: Array) -> None:
    """ρ_l = E_l / S_l."""
    for l in range(a.size):
        total = 0.0
        for j in range(a[l], b[l]):
            total += w[j] * np.exp(f[j] - logS[l])
        share[l] = min(total, 1.0)


@njit(cache=True, nogil=True)
def value_terms(
    f: Array, c: Array, a: Index, b: Index, cost: Array, share: Array, logS: Array, terms: Array
) -> None:
    """Σ_r c̄_l log S_lr − Σ_{i∈D_l} c_i f_i of every event time l."""
    for l in range(a.size):
        d, found = b[l] - a[l], 0.0
        for i in range(a[l], b[l]):
            found += cost[l] * logS[l] - c[i] * f[i]
        if share[l] > 0.0:
            for r in range(1, d):
                found += cost[l] * np.log1p(-share[l] * r / d)
        terms[l] = found


@njit(cache=True, nogil=True)
def gradient(
    f: Array,
    w: Array,
    c: Array,
    a: Index,
    b: Index,
    end: Index,
    cost: Array,
    share: Array,
    logS: Array,
    g: Array,
) -> None:
    """∇R into g: u_j Λ_j − c_j, Λ_j the hazard that sample j has seen. ρ = 0 is Breslow's form."""
    g[:] = 0.0
    top, total = -np.inf, 0.0
    for l in range(a.size):
        if l == 0 or end[l] != end[l - 1]:
            top, total = -np.inf, 0.0
        d, whole, tied = b[l] - a[l], 0.0, 0.0
        for r in range(d):
            part = 1.0 / (1.0 - share[l] * r / d)
            whole += part
            tied += part * (1.0 - r / d) if share[l] > 0.0 else part
        if -logS[l] > top:
            total *= np.exp(top + logS[l])
            top = -logS[l]
        scale = np.exp(-logS[l] - top)
        before, total = total, total + cost[l] * whole * scale
        seen = before + cost[l] * tied * scale
        last = a[l + 1] if l + 1 < a.size and end[l + 1] == end[l] else end[l]
        for j in range(a[l], last):
            g[j] = w[j] * np.exp(f[j] + top) * (seen if j < b[l] else total)
    for j in range(f.size):
        g[j] -= c[j]


@njit(cache=True, nogil=True)
def conjugate(
    alpha: Array,
    w: Array,
    c: Array,
    a: Index,
    b: Index,
    end: Index,
    cost: Array,
    efron: bool,
    off: float,
    share: Array,
    terms: Array,
) -> bool:
    """R*(−α) as numbers that add up to it, (n + L,); ρ_l into `share`. Whether α is in the domain.

    m = c − α is the mass that every sample takes, A_l = Σ_{j<a_l} α_j what is left of earlier events. The
    domain is m ≥ 0, A ≥ 0 and Σα = 0 in every stratum, up to `off`.
    """
    n, L = alpha.size, a.size
    inside, total = True, 0.0
    for j in range(n):
        m = c[j] - alpha[j]
        inside &= m >= -off
        terms[j] = m * np.log(m / w[j]) if m > 0.0 else 0.0
    stop = 0
    for l in range(L):  # what nobody is at risk for has no mass
        if l == 0 or end[l] != end[l - 1]:
            for j in range(stop, a[l]):
                inside &= abs(alpha[j]) <= off
            total = 0.0
            for j in range(a[l], end[l]):
                total += alpha[j]
            inside &= abs(total) <= off * n
            stop = end[l]
    for j in range(stop, n):
        inside &= abs(alpha[j]) <= off
    left, j = 0.0, 0
    for l in range(L):
        if l == 0 or end[l] != end[l - 1]:
            left, j = 0.0, a[l]
        while j < a[l]:
            left += alpha[j]
            j += 1
        inside &= left >= -off * n
        A, d = max(left, 0.0), b[l] - a[l]
        if not efron or d == 1:
            share[l] = 0.0
            mass = A + cost[l] * d
            terms[n + l] = -(cost[l] * d * np.log(mass) + (A * np.log(mass / A) if A > 0.0 else 0.0))
            continue
        mass = 0.0
        for i in range(a[l], b[l]):
            mass += max(c[i] - alpha[i], 0.0)
        rho = _share_of(mass, A, cost[l], d)
        share[l] = rho
        whole, tied, logs = 0.0, 0.0, 0.0
        for r in range(d):
            rest = 1.0 - rho * r / d
            whole += cost[l] / rest
            tied += cost[l] * (1.0 - r / d) / rest
            logs += cost[l] * np.log(rest)
        found = cost[l] * d * np.log(A + whole) + logs + (A * np.log((A + whole) / A) if A > 0.0 else 0.0)
        if mass > 0.0:
            found += mass * np.log((A + tied) / (A + whole))
        terms[n + l] = -found
    return inside


@inner(nogil=True)
def _share_of(mass: float, A: float, cost: float, d: int) -> float:
    """ρ ∈ [0, 1] with ρ(A + cost Σ_r (1 − r/d)/(1 − ρr/d)) = mass, which grows with ρ."""
    lo, hi = 0.0, 1.0
    rho = min(max(mass / (A + cost * d), 0.0), 1.0)
    for _ in range(_STEPS):
        value, slope = rho * A - mass, A
        for r in range(d):
            part, rest = 1.0 - r / d, 1.0 - rho * r / d
            value += cost * rho * part / rest
            slope += cost * part / (rest * rest)
        if value > 0.0:
            hi = rho
        else:
            lo = rho
        step = rho - value / slope
        if not lo < step < hi:
            step = 0.5 * (lo + hi)
        if abs(step - rho) <= 1e-16 * max(rho, 1e-300) or hi - lo <= 1e-16 * hi:
            return step
        rho = step
    return rho


@njit(cache=True, nogil=True)
def decisions(
    alpha: Array,
    w: Array,
    c: Array,
    a: Index,
    b: Index,
    end: Index,
    cost: Array,
    share: Array,
    floor: float,
    f: Array,
) -> None:
    """f = ∇R*(−α), up to a constant for each stratum: log(m_j/w_j) − log Λ_j, m and A at least `floor`."""
    f[:] = 0.0
    left, log_hazard, j = 0.0, 0.0, 0
    for l in range(a.size):
        if l == 0 or end[l] != end[l - 1]:
            left, log_hazard, j = 0.0, 0.0, a[l]
        while j < a[l]:
            left += alpha[j]
            j += 1
        d, whole, tied = b[l] - a[l], 0.0, 0.0
        for r in range(d):
            rest = 1.0 - share[l] * r / d
            whole += cost[l] / rest
            tied += (cost[l] * (1.0 - r / d) if share[l] > 0.0 else cost[l]) / rest
        A = max(left, floor)
        if l > 0 and end[l] == end[l - 1]:
            log_hazard += np.log((A + whole) / A)
        else:
            A = 0.0
        of_tied = log_hazard + np.log((A + tied) / (A + whole))
        last = a[l + 1] if l + 1 < a.size and end[l + 1] == end[l] else end[l]
        for i in range(a[l], last):
            f[i] = np.log(max(c[i] - alpha[i], floor) / w[i]) - (of_tied if i < b[l] else log_hazard)
