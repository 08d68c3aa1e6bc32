"""The bounds that 004 §2.1 compares with: complexity terms for convex combinations of p kernels.

All are terms that are added to the share of training samples with a margin below ρ, for K_k(x, x) ≤ R² and
‖μ‖₁ ≤ 1; that of 004 is (2/ρ) times :func:`rademacher_bound_uniform`, and depends on p by √log p alone. Where
a text says O(·), the constant is 1 here: such numbers show how a bound grows, and bound nothing.
"""

from __future__ import annotations

import math
from typing import Any

from ._common import count, finite_array, number, probability


def lanckriet_bound(n: int, n_kernels: int, *, R: float, margin: float) -> float:
    """√(pR²/(ρ²n)), up to a constant: multiplicative in the number of kernels (004 Eq. 2.3).

    Lanckriet et al. 2004 get it from Σ_k K_k in place of the largest K_k.
    """
    ratio, n, p = _ratio(R, margin), *_sizes(n, n_kernels)
    return math.sqrt(p * ratio**2 / n)


def lanckriet_spectral_bound(traces: Any, norms: Any, n: int, *, margin: float) -> float:
    """√(max_k tr K_k · max_k (‖K_k‖/tr K_k)/ρ²)/√n, up to a constant (004 Eq. 2.2), ‖·‖ the spectral norm.

    This is the first bound of Lanckriet et al. 2004, close to that of Bousquet and Herrmann 2002. Srebro and
    Ben-David 2006 show that together with the margin loss it is never below one.
    """
    t = finite_array("traces", traces, "tr K_k of each kernel on the sample")
    s = finite_array("norms", norms, "the largest eigenvalue of each kernel on the sample")
    n, margin = count("n", n, 1, "samples"), number("margin", margin, "ρ")
    fits = t.shape == s.shape and bool((t > 0).all())
    if not fits or (s > t * (1 + 1e-9)).any() or (n * s < t * (1 - 1e-9)).any():
        raise ValueError(
            f"traces of shape {t.shape} and norms of shape {s.shape} were given for n={n}; expected one of "
            "each for every kernel, with tr K/n ≤ ‖K‖ ≤ tr K and tr K above 0."
        )
    return math.sqrt(float(t.max()) * float((s / t).max()) / n) / margin


def srebro_ben_david_bound(
    n: int, n_kernels: int, *, R: float, margin: float, delta: float | None = None
) -> float:
    """√(8 [2 + p log(128en³R²/(ρ²p)) + 256 (R²/ρ²) log(ρen/(8R)) log(128nR²/ρ²) + log(1/δ)]/n).

    This is the bound by the pseudo-dimension p of the kernels (Srebro and Ben-David 2006, Thm 2; 004 §2.2),
    additive in p up to logarithms: Õ(√((p + R²/ρ²)/n)). 004 leaves out log(1/δ), as delta=None does. Where n
    is too small for one of the logarithms to be positive, the bound says nothing and is infinite.
    """
    ratio, n, p = _ratio(R, margin), *_sizes(n, n_kernels)
    confidence = 0.0 if delta is None else math.log(1.0 / probability(delta))
    logs = [
        math.log(128.0 * math.e * ratio**2 / p) + 3.0 * math.log(n),
        math.log(math.e * n / (8.0 * ratio)),
        math.log(128.0 * n * ratio**2),
    ]
    if min(logs) <= 0.0:
        return math.inf
    return math.sqrt(8.0 * (2.0 + p * logs[0] + 256.0 * ratio**2 * logs[1] * logs[2] + confidence) / n)


def ying_campbell_bound(n: int, n_kernels: int, *, R: float, margin: float) -> float:
    """√(p (R²/ρ²) log(n)/n), up to a constant (Ying and Campbell 2009; 004 §2.1)."""
    ratio, n, p = _ratio(R, margin), *_sizes(n, n_kernels)
    return math.sqrt(p * ratio**2 * math.log(n) / n)


def _ratio(R: float, margin: float) -> float:
    """R/ρ."""
    return number("R", R, "√K_k(x, x) is at most R for every kernel") / number("margin", margin, "ρ")


def _sizes(n: int, n_kernels: int) -> tuple[int, int]:
    return count("n", n, 1, "samples"), count("n_kernels", n_kernels, 1, "kernels to choose from")
