"""How rich the functions of a learned kernel are: Rademacher complexities of 004 §2.4.

The class is H_p^q = {x ↦ ⟨w, φ_K(x)⟩ : K = Σ_k μ_k K_k, μ ≥ 0, ‖μ‖_q ≤ 1, ‖w‖ ≤ 1} with q = `norm`, and r is
the conjugate exponent, 1/q + 1/r = 1. The kernels must not depend on the sample (fixed parameters; not
"auto"), or nothing about new data follows from these numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln
from sklearn.utils import check_random_state

from ..families import Family, resolve_kernels
from ..grams import Gram, build_from_stack, build_gram
from ._common import Array, Readable, conjugate, count, finite_array, integer_conjugate, is_whole, number

ETA0 = 23.0 / 22.0
_BATCH = 256  # draws of signs at a time
_ENUMERABLE = 20  # samples, whose 2ⁿ⁻¹ pairs ±σ can all be visited


@dataclass(frozen=True, repr=False)
class RademacherEstimate(Readable):
    """An empirical Rademacher complexity, and how far off the draws may be (0 if all signs were visited)."""

    value: float
    standard_error: float
    n_draws: int
    exact: bool


def empirical_rademacher(
    kernels: Any,
    X: Any,
    *,
    norm: float = 1.0,
    n_draws: int | None = 1000,
    random_state: Any = None,
    memory_limit: Any = None,
) -> RademacherEstimate:
    """The empirical Rademacher complexity of H_p^q on the sample X (004 Prop. 2.5).

        R̂ = (1/n) E_σ √‖u_σ‖_r,      u_σ,k = σᵀ K_k σ,      σ uniform in {−1, 1}ⁿ

    Assumes that the kernels are positive semidefinite; a quadratic form below zero is refused.

    Parameters
    ----------
    kernels : as in the estimators
        A list, dict or family; "precomputed" with X a stack (n_samples, n_samples, n_kernels). They are taken
        as they are, neither centred nor normalised.
    norm : float in [1, inf]
        q.
    n_draws : int or None
        Signs to draw; None visits all 2ⁿ of them (n ≤ 20), which is exact.
    """
    r = conjugate(norm)
    gram = _gram(kernels, X, memory_limit)
    if n_draws is None and gram.n > _ENUMERABLE:
        raise ValueError(
            f"n_draws=None was given with {gram.n} samples; expected at most {_ENUMERABLE}, since all 2ⁿ "
            "signs are visited. Give a number of draws, such as n_draws=1000."
        )
    if n_draws is None:
        batches, draws = _all_signs(gram.n), 2 ** (gram.n - 1)
    else:
        draws = count("n_draws", n_draws, 2, "draws of random signs")
        batches = _random_signs(gram.n, draws, check_random_state(random_state))
    roots = np.concatenate([np.sqrt(_norms(gram.quad(sigma), r)) for sigma in batches]) / gram.n
    if not np.all(np.isfinite(roots)):
        raise ValueError(
            "a kernel is not finite on X: it overflows or returns NaN. Scale X, or leave it out."
        )
    error = 0.0 if n_draws is None else float(roots.std(ddof=1)) / math.sqrt(draws)
    return RademacherEstimate(float(roots.mean()), error, draws, n_draws is None)


def _gram(kernels: Any, X: Any, memory_limit: Any) -> Gram:
    """The kernels as they are, on X."""
    options: dict[str, Any] = {
        "center": False,
        "normalize": None,
        "sample_weight": None,
        "memory_limit": memory_limit,
    }
    resolved = resolve_kernels(kernels, X)
    shape = tuple(getattr(X, "shape", ()))
    if len(shape) == 3 and shape[0] != shape[1]:
        raise ValueError(
            f"X of shape {shape} was given; expected a stack of square matrices, of shape (n_samples, "
            "n_samples, n_kernels)."
        )
    if isinstance(kernels, str) and kernels == "precomputed":
        return build_from_stack(np.asarray(X), names=list(resolved), **options)[0]
    factors = isinstance(kernels, Family) and kernels.factors
    return build_gram(resolved, X, factors=factors, **options)[0]


def _random_signs(n: int, draws: int, rng: np.random.RandomState) -> Iterator[Array]:
    for start in range(0, draws, _BATCH):
        yield np.asarray(2 * rng.randint(0, 2, (n, min(_BATCH, draws - start))) - 1, dtype=np.float64)


def _all_signs(n: int) -> Iterator[Array]:
    """σ with σ_n = 1: u_σ is the same for −σ."""
    for start in range(0, 2 ** (n - 1), _BATCH):
        index = np.arange(start, min(start + _BATCH, 2 ** (n - 1)))
        yield np.asarray(1 - 2 * ((index >> np.arange(n)[:, None]) & 1), dtype=np.float64)


def _norms(U: Array, r: float) -> Array:
    """‖u‖_r of every column of U ≥ 0, without overflow."""
    largest = U.max(axis=0)
    if r == np.inf:
        return np.asarray(largest)
    scaled = np.divide(U, largest, out=np.zeros_like(U), where=largest > 0)
    return np.asarray(largest * np.sum(scaled**r, axis=0) ** (1.0 / r))


def rademacher_bound(
    traces: Any, n: int, *, norm: float = 1.0, r: int | None = None, sharp: bool = False
) -> float:
    """R̂(H_p^q) ≤ √(η₀ r ‖u‖_r) / n with u_k = tr K_k and η₀ = 23/22 (004 Thms 2.5, 2.7).

    Assumes positive semidefinite kernels. For norm = 1 this holds for every whole r ≥ 1 with no chance
    involved, so r=None takes the smallest of them. For norm > 1, r is the conjugate exponent and must be a
    whole number (norm = 2 → 2, 3/2 → 3, inf → 1); other norms are refused.

    At norm = 1 the best r is never worse than √(η₀ e ⌈log p⌉ ‖u‖_∞) / n, p > 1 being the number of kernels:
    that is the remark after 004 Thm 2.6, which prints /m inside the root although u holds traces, which grow
    with the sample, so that it must be /m² (and e^⌈log p⌉ for e⌈log p⌉).

    `sharp=True` replaces η₀ r by ((2r − 1)!!)^{1/r} ≤ r: in the proof of 004 Lemma 2.1 the ratio of
    multinomial coefficients (2r)!/r! ∏ t_i!/(2t_i)! is largest where all t_i are 0 or 1, because
    (2t)!/t! = 2^t (2t − 1)!! ≥ 2^t; it is then (2r − 1)!!, which is at most r^r (means of 1, 3, …, 2r − 1).
    So Stirling's formula and η₀ are not needed, and for large r the bound falls to √(2/(eη₀)) = 84 %.
    """
    u = finite_array("traces", traces, "tr K_k of each kernel on the sample")
    n = count("n", n, 1, "samples")
    orders = _orders(norm, r, u.size)
    return min(math.sqrt(_factor(r, sharp) * float(_norms(u[:, None], r)[0])) for r in orders) / n


def _factor(r: int, sharp: bool) -> float:
    """η₀ r, or ((2r − 1)!!)^{1/r} = ((2r)! / (2^r r!))^{1/r}."""
    if not sharp:
        return ETA0 * r
    return math.exp((gammaln(2 * r + 1) - gammaln(r + 1)) / r - math.log(2.0))


def _orders(norm: Any, r: Any, p: int) -> list[int]:
    """The r to try.

    At norm = 1, r‖u‖_r is at most e⌈log p⌉‖u‖_∞ at r = ⌈log p⌉ and at least r‖u‖_∞ everywhere (with the sharp
    factor 2/e of it), so that nothing above (e²/2)⌈log p⌉ < 4⌈log p⌉ can be best.
    """
    if conjugate(norm) == np.inf:
        if r is not None:
            return [count("r", r, 1, "the moment to bound")]
        return list(range(1, 4 * max(1, math.ceil(math.log(p))) + 1))
    exact = integer_conjugate(norm)
    if r is not None and r != exact:
        raise ValueError(
            f"r={r!r} was given with norm={norm!r}; expected its conjugate exponent {exact}. Leave r=None."
        )
    return [exact]


def rademacher_bound_uniform(R: float, n_kernels: int, n: int, *, norm: float = 1.0) -> float:
    """Bounds on R̂(H_p^q) for kernels with K_k(x, x) ≤ R² for all x and all p of them (004 Thms 2.6, 2.8).

        norm = 1:   √(η₀ e ⌈log p⌉ R² / n)      for p > 1
        norm > 1:   √(η₀ r p^{1/r} R² / n)      for a whole conjugate exponent r

    With R² = max_k tr K_k / n the first is the (corrected) remark after 004 Thm 2.6: all that the proof uses
    is tr K_k ≤ n R².
    """
    R = number("R", R, "√K_k(x, x) is at most R for every kernel", zero=True)
    p, n = count("n_kernels", n_kernels, 1, "kernels to choose from"), count("n", n, 1, "samples")
    if conjugate(norm) < np.inf:
        r = integer_conjugate(norm)
        return R * math.sqrt(ETA0 * r * p ** (1.0 / r) / n)
    if p == 1:
        raise ValueError(
            "n_kernels=1 was given with norm=1; expected at least 2, since log 1 = 0. A single kernel has "
            "complexity at most R/√n; or use rademacher_bound(traces, n)."
        )
    return R * math.sqrt(ETA0 * math.e * math.ceil(math.log(p)) / n)


def linear_rademacher_bound(X_norm: float, W: float, n: int, r: int) -> float:
    """R̂ ≤ X W √(η₀ r / 2n) for {x ↦ ⟨w, x⟩ : ‖w‖_q ≤ W} on ‖x‖_r ≤ X, 1/q + 1/r = 1 (004 Thm 2.9).

    Assumes an even r ≥ 2, because the r-th moment of Σ σ_i x_ij is the (r/2)-th of its square.
    """
    X_norm = number("X_norm", X_norm, "‖x‖_r is at most X_norm", zero=True)
    W = number("W", W, "‖w‖_q is at most W", zero=True)
    n = count("n", n, 1, "samples")
    if not is_whole(r) or r < 2 or r % 2:
        raise ValueError(f"r={r!r} was given; expected an even whole number, at least 2, such as 2 or 4.")
    return X_norm * W * math.sqrt(ETA0 * r / (2.0 * n))
