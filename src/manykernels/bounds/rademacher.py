"""Rademacher complexities of the functions of a learned kernel (Rostamizadeh 2010, §2.4).

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
from ..grams import build_from_stack, build_gram
from ._common import (
    Array,
    Readable,
    conjugate,
    count,
    finite_array,
    integer_conjugate,
    is_whole,
    number,
    probability,
)
from ._forms import Forms, ListForms, ask, forms_of, is_asked, norms_of

ETA0 = 23.0 / 22.0
_BATCH = 256  # draws of signs at a time
_ENUMERABLE = 20  # samples, whose 2ⁿ⁻¹ pairs ±σ can all be visited


@dataclass(frozen=True, repr=False)
class RademacherEstimate(Readable):
    """An empirical Rademacher complexity, and how far off it may be.

    Attributes
    ----------
    value : float
        The mean over draws of the suprema that were found.
    standard_error : float
        Standard error of the mean; 0 if all signs were visited.
    n_draws : int
        Number of draws.
    exact : bool
        Whether all signs were visited.
    upper : float
        The mean of bounds on the suprema: the same for a list of kernels, hardly more for a family whose
        search is certified, and infinite for one that cannot be bounded.
    certified : bool
        Whether the search bounds all kernels; otherwise `value` may be too small.
    spread : float
        The number that `bound` needs.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.bounds import empirical_rademacher
    >>> from manykernels.kernels import Linear
    >>> X = np.array([[1.0], [2.0], [3.0]])
    >>> found = empirical_rademacher([Linear()], X, n_draws=None)
    >>> found.exact, round(found.value, 6)
    (True, 1.0)
    """

    value: float
    standard_error: float
    n_draws: int
    exact: bool
    upper: float
    certified: bool
    spread: float

    def bound(self, delta: float = 0.05) -> float:
        """Return a number that R̂ exceeds with probability at most δ, by the choice of the draws.

            R̂ ≤ upper + spread √(log(1/δ)/(2 n_draws)),      spread = (2/n) √(k Σ_i ‖(K_z(x_i, x_i))_z‖_r)

        Changing the sign σ_ik changes sup_h Σ σ_ik h_k(x_i) by at most 2 sup_h |h_k(x_i)|, whose square is
        4 ‖(K_z(x_i, x_i))_z‖_r, and McDiarmid's inequality says how far the mean of n_draws suprema is then
        from its expectation.

        Parameters
        ----------
        delta : float, default=0.05
            Probability δ that the bound fails.

        Returns
        -------
        float
            The bound.

        Examples
        --------
        Signs are drawn at random. The bound lies above the exact value, and more draws bring it nearer:

        >>> import numpy as np
        >>> from manykernels.bounds import empirical_rademacher
        >>> from manykernels.kernels import Linear
        >>> X = np.linspace(-1.0, 1.0, 10)[:, None]
        >>> few = empirical_rademacher([Linear()], X, n_draws=100, random_state=0)
        >>> many = empirical_rademacher([Linear()], X, n_draws=10_000, random_state=0)
        >>> exact = empirical_rademacher([Linear()], X, n_draws=None)
        >>> round(exact.bound(), 6) == round(exact.value, 6), exact.value < many.bound() < few.bound()
        (True, True)
        """
        delta = probability(delta)
        if self.exact:
            return self.upper
        return self.upper + self.spread * math.sqrt(math.log(1.0 / delta) / (2.0 * self.n_draws))


def empirical_rademacher(
    kernels: Any,
    X: Any,
    *,
    norm: float = 1.0,
    n_draws: int | None = 1000,
    random_state: Any = None,
    memory_limit: Any = None,
    n_outputs: int = 1,
) -> RademacherEstimate:
    """Compute the empirical Rademacher complexity of H_p^q on the sample X.

        R̂ = (1/n) E_σ √‖u_σ‖_r,      u_σ,z = Σ_k σ_kᵀ K_z σ_k,      σ uniform in {−1, 1}^{n × k}

    At norm 1 this is (1/n) E_σ √(sup_z u_σ,z). The oracle of a family of any size searches for the supremum,
    with a bound on all kernels: all products of columns up to a degree, or Gaussians of all widths
    (Rostamizadeh 2010, ch. 4 asks for the complexity of such classes). Families whose search bounds nothing,
    such as a width for each feature, have an infinite `upper` and are not `certified`.

    Parameters
    ----------
    kernels : str, Kernel, Family, list or dict
        The kernels as estimators take them: a list, dict or family; "precomputed" with X a stack (n_samples,
        n_samples, n_kernels). They must be positive semidefinite. They are taken as they are, neither centred
        nor normalised; products and continua are divided by their ρ².
    X : array-like of shape (n_samples, n_features)
        The sample.
    norm : float, default=1.0
        The q in [1, inf]. Continua need 1; products take every q, as long as all of them can be looked at.
    n_draws : int or None, default=1000
        Number of signs to draw; None visits all 2^{nk} of them (nk ≤ 20), which is exact.
    random_state : int, RandomState or None, default=None
        Seed or source of the draws.
    memory_limit : int, float, str or None, default=None
        Memory that may be used: a number of bytes, a string such as "2GB", or None for half of the free
        memory.
    n_outputs : int, default=1
        The k of functions with values in R^k, of Σ_k ‖w_k‖² ≤ 1 and the same kernel K for all k.

    Returns
    -------
    RademacherEstimate
        The complexity, and how far off it may be.

    References
    ----------
    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Prop. 2.5.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.bounds import empirical_rademacher
    >>> from manykernels.families import Gaussians
    >>> X = np.random.RandomState(0).randn(50, 3)
    >>> found = empirical_rademacher(Gaussians(0.5, 5.0), X, n_draws=50, random_state=0)
    >>> bool(found.value <= found.upper < 1.001 * found.value), found.certified
    (True, True)
    """
    r, k = conjugate(norm), count("n_outputs", n_outputs, 1, "values of a function")
    forms = _forms(kernels, X, float(norm), memory_limit)
    return draw(forms, r, k, n_draws, random_state)


def draw(
    forms: Forms, r: float, k: int, n_draws: int | None, random_state: Any, constant: float = 0.0
) -> RademacherEstimate:
    """The complexity of a class of such forms; `constant` is R_b² of one kernel more, a constant one."""
    n = forms.n
    if n_draws is None and n * k > _ENUMERABLE:
        given = f"{n} samples" + (f" and {k} outputs" if k > 1 else "")
        raise ValueError(
            f"n_draws=None was given with {given}; expected at most {_ENUMERABLE}, since all 2ⁿ signs are "
            "visited. Give a number of draws, such as n_draws=1000."
        )
    if n_draws is None:
        batches, draws = _all_signs(n * k), 2 ** (n * k - 1)
    else:
        draws = count("n_draws", n_draws, 2, "draws of random signs")
        batches = _random_signs(n * k, draws, check_random_state(random_state))
    found: list[Array] = []
    upper: list[Array] = []
    for signs in batches:
        sigma = signs.reshape(n, k, -1).transpose(0, 2, 1)
        beside = constant * np.square(sigma.sum(axis=0)).sum(axis=1)
        for kept, values in zip((found, upper), forms.norms(sigma, r), strict=True):
            kept.append(np.sqrt(norms_of(np.array([values, beside]), r)) / n)
    spread = _spread(forms, r, k, constant) if n_draws is not None else 0.0
    return _summary(np.concatenate(found), np.concatenate(upper), draws, n_draws is None, spread)


def _spread(forms: Forms, r: float, k: int, constant: float) -> float:
    diagonal = forms.diagonal(r)
    if diagonal is None:
        return math.inf
    total = norms_of(np.array([diagonal, np.full(forms.n, constant)]), r).sum()
    return 2.0 / forms.n * math.sqrt(k * float(total))


def _summary(roots: Array, upper: Array, draws: int, exact: bool, spread: float) -> RademacherEstimate:
    if not np.all(np.isfinite(roots)):
        raise ValueError(
            "a kernel is not finite on X: it overflows or returns NaN. Scale X, or leave it out."
        )
    error = 0.0 if exact else float(roots.std(ddof=1)) / math.sqrt(draws)
    certified = bool(np.all(np.isfinite(upper)))
    return RademacherEstimate(
        float(roots.mean()), error, draws, exact, float(upper.mean()), certified, spread
    )


def _forms(kernels: Any, X: Any, norm: float, memory_limit: Any) -> Forms:
    """The kernels as they are, on X."""
    if is_asked(kernels):
        return forms_of(ask(kernels, X, norm, memory_limit=memory_limit), kernels)
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
        return ListForms(build_from_stack(np.asarray(X), names=list(resolved), **options)[0])
    factors = isinstance(kernels, Family) and kernels.factors
    return ListForms(build_gram(resolved, X, factors=factors, **options)[0])


def _random_signs(n: int, draws: int, rng: np.random.RandomState) -> Iterator[Array]:
    for start in range(0, draws, _BATCH):
        yield np.asarray(2 * rng.randint(0, 2, (n, min(_BATCH, draws - start))) - 1, dtype=np.float64)


def _all_signs(n: int) -> Iterator[Array]:
    """σ with σ_n = 1: u_σ is the same for −σ."""
    for start in range(0, 2 ** (n - 1), _BATCH):
        index = np.arange(start, min(start + _BATCH, 2 ** (n - 1)))
        yield np.asarray(1 - 2 * ((index >> np.arange(n)[:, None]) & 1), dtype=np.float64)


def rademacher_bound(
    traces: Any, n: int, *, norm: float = 1.0, r: int | None = None, sharp: bool = False
) -> float:
    """Bound the complexity of learned kernels by their traces, R̂(H_p^q) ≤ √(η₀ r ‖u‖_r) / n.

    u_k = tr K_k, η₀ = 23/22, and the kernels are positive semidefinite. For norm = 1 this holds for every
    whole r ≥ 1 with no chance involved. At norm = 1 the best r is never worse than √(η₀ e ⌈log p⌉ ‖u‖_∞) / n,
    p > 1 being the number of kernels.

    Parameters
    ----------
    traces : array-like of shape (n_kernels,)
        Traces u_k = tr K_k on the sample.
    n : int
        Number of samples.
    norm : float, default=1.0
        The q of the weights, whose conjugate exponent must be a whole number (norm = 2 → 2, 3/2 → 3, inf →
        1); other norms above 1 are refused.
    r : int or None, default=None
        The exponent r for norm = 1; None takes the one of the smallest bound. For norm > 1 it is the
        conjugate exponent.
    sharp : bool, default=False
        Whether to replace η₀ r by ((2r − 1)!!)^{1/r} ≤ r, which is never worse.

    Returns
    -------
    float
        The bound.

    Notes
    -----
    The bound at norm = 1 is the remark after Rostamizadeh (2010), Thm 2.6. That prints /m inside the root,
    but u holds traces, which grow with the sample, so that it must be /m² (and e^⌈log p⌉ for e⌈log p⌉).

    For `sharp`: in the proof of Lemma 2.1 there the ratio of multinomial coefficients (2r)!/r! ∏ t_i!/(2t_i)!
    is largest where all t_i are 0 or 1, because (2t)!/t! = 2^t (2t − 1)!! ≥ 2^t; it is then (2r − 1)!!, which
    is at most r^r (means of 1, 3, …, 2r − 1). So Stirling's formula and η₀ are not needed, and for large r
    the bound falls to √(2/(eη₀)) = 84 %.

    References
    ----------
    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Thms 2.5 and 2.7.

    Examples
    --------
    >>> from manykernels.bounds import rademacher_bound
    >>> round(rademacher_bound([100.0, 100.0], 100, norm=2.0), 4)
    0.172
    """
    u = finite_array("traces", traces, "tr K_k of each kernel on the sample")
    n = count("n", n, 1, "samples")
    orders = _orders(norm, r, u.size)
    return min(math.sqrt(_factor(r, sharp) * float(norms_of(u[:, None], r)[0])) for r in orders) / n


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
    """Bound the complexity of learned kernels with K_k(x, x) ≤ R² for all x and all p of them.

        norm = 1:   √(η₀ e ⌈log p⌉ R² / n)      for p > 1
        norm > 1:   √(η₀ r p^{1/r} R² / n)      for a whole conjugate exponent r

    With R² = max_k tr K_k / n the first is the (corrected) remark after Rostamizadeh (2010), Thm 2.6: the
    proof uses tr K_k ≤ n R² alone.

    Parameters
    ----------
    R : float
        √K_k(x, x) is at most R for every kernel.
    n_kernels : int
        Number p of kernels.
    n : int
        Number of samples.
    norm : float, default=1.0
        The q of the weights.

    Returns
    -------
    float
        The bound.

    References
    ----------
    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Thms 2.6 and 2.8.

    Examples
    --------
    >>> from manykernels.bounds import rademacher_bound_uniform
    >>> round(rademacher_bound_uniform(1.0, 1000, 10_000), 4)
    0.0446
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
    """Bound the complexity of linear functions, R̂ ≤ X W √(η₀ r / 2n).

    The functions are {x ↦ ⟨w, x⟩ : ‖w‖_q ≤ W} on ‖x‖_r ≤ X, 1/q + 1/r = 1, and η₀ = 23/22.

    Parameters
    ----------
    X_norm : float
        The bound X on ‖x‖_r.
    W : float
        The bound on ‖w‖_q.
    n : int
        Number of samples.
    r : int
        The norm of the samples, even and at least 2, because the r-th moment of Σ σ_i x_ij is the (r/2)-th of
        its square.

    Returns
    -------
    float
        The bound.

    References
    ----------
    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Thm 2.9.

    Examples
    --------
    >>> from manykernels.bounds import linear_rademacher_bound
    >>> round(linear_rademacher_bound(1.0, 1.0, 100, 2), 4)
    0.1022
    """
    X_norm = number("X_norm", X_norm, "‖x‖_r is at most X_norm", zero=True)
    W = number("W", W, "‖w‖_q is at most W", zero=True)
    n = count("n", n, 1, "samples")
    if not is_whole(r) or r < 2 or r % 2:
        raise ValueError(f"r={r!r} was given; expected an even whole number, at least 2, such as 2 or 4.")
    return X_norm * W * math.sqrt(ETA0 * r / (2.0 * n))
