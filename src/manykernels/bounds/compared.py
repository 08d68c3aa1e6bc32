"""Other bounds for convex combinations of p kernels, for comparison (Rostamizadeh 2010, §2.1).

All are terms that are added to the share of training samples with a margin below ρ, for K_k(x, x) ≤ R² and
‖μ‖₁ ≤ 1. The term of Rostamizadeh (2010) is (2/ρ) times :func:`rademacher_bound_uniform`, and depends on p by
√log p alone. Where a text says O(·), the constant is 1 here: such numbers show how a bound grows, and bound
nothing.
"""

from __future__ import annotations

import math
from typing import Any

from ._common import count, finite_array, number, probability


def lanckriet_bound(n: int, n_kernels: int, *, R: float, margin: float) -> float:
    """Compute √(pR²/(ρ²n)), a complexity that is multiplicative in the number of kernels.

    It holds up to a constant, which is 1 here. Lanckriet et al. (2004) get it from Σ_k K_k in place of the
    largest K_k.

    Parameters
    ----------
    n : int
        Number of samples.
    n_kernels : int
        Number p of kernels.
    R : float
        √K_k(x, x) is at most R for every kernel.
    margin : float
        The margin ρ.

    Returns
    -------
    float
        The complexity term.

    References
    ----------
    Lanckriet, Cristianini, Bartlett, El Ghaoui & Jordan (2004), "Learning the kernel matrix with semidefinite
    programming", Journal of Machine Learning Research 5.

    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Eq. 2.3.

    Examples
    --------
    >>> from manykernels.bounds import lanckriet_bound
    >>> lanckriet_bound(100, 4, R=1.0, margin=0.5)
    0.4
    """
    ratio, n, p = _ratio(R, margin), *_sizes(n, n_kernels)
    return math.sqrt(p * ratio**2 / n)


def lanckriet_spectral_bound(traces: Any, norms: Any, n: int, *, margin: float) -> float:
    """Compute √(max_k tr K_k · max_k (‖K_k‖/tr K_k)/ρ²)/√n, with spectral norms ‖·‖.

    It holds up to a constant, which is 1 here. This is the first bound of Lanckriet et al. (2004), close to
    that of Bousquet and Herrmann (2002). Srebro and Ben-David (2006) show that together with the margin loss
    it is never below one.

    Parameters
    ----------
    traces : array-like of shape (n_kernels,)
        Traces tr K_k on the sample.
    norms : array-like of shape (n_kernels,)
        Largest eigenvalues ‖K_k‖ on the sample.
    n : int
        Number of samples.
    margin : float
        The margin ρ.

    Returns
    -------
    float
        The complexity term.

    References
    ----------
    Lanckriet, Cristianini, Bartlett, El Ghaoui & Jordan (2004), "Learning the kernel matrix with semidefinite
    programming", Journal of Machine Learning Research 5.

    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Eq. 2.2.

    Examples
    --------
    >>> from manykernels.bounds import lanckriet_spectral_bound
    >>> lanckriet_spectral_bound([100.0, 100.0], [25.0, 4.0], 100, margin=0.5)
    1.0
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
    """Compute the bound by the pseudo-dimension of the kernels, additive in their number up to logarithms.

        √(8 [2 + p log(128en³R²/(ρ²p)) + 256 (R²/ρ²) log(ρen/(8R)) log(128nR²/ρ²) + log(1/δ)]/n)

    This is Õ(√((p + R²/ρ²)/n)). Where n is too small for one of the logarithms to be positive, the bound says
    nothing and is infinite.

    Parameters
    ----------
    n : int
        Number of samples.
    n_kernels : int
        Number p of kernels, which bounds their pseudo-dimension.
    R : float
        √K_k(x, x) is at most R for every kernel.
    margin : float
        The margin ρ.
    delta : float or None, default=None
        Probability δ that the bound fails. None leaves out log(1/δ), as Rostamizadeh (2010) does.

    Returns
    -------
    float
        The complexity term.

    References
    ----------
    Srebro & Ben-David (2006), "Learning bounds for support vector machines with learned kernels", COLT, Thm
    2.

    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, §2.2.

    Examples
    --------
    >>> from manykernels.bounds import srebro_ben_david_bound
    >>> bool(srebro_ben_david_bound(10**8, 10, R=1.0, margin=0.5) < 1.0)
    True
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
    """Compute √(p (R²/ρ²) log(n)/n), the bound by the Rademacher chaos complexity.

    It holds up to a constant, which is 1 here.

    Parameters
    ----------
    n : int
        Number of samples.
    n_kernels : int
        Number p of kernels.
    R : float
        √K_k(x, x) is at most R for every kernel.
    margin : float
        The margin ρ.

    Returns
    -------
    float
        The complexity term.

    References
    ----------
    Ying & Campbell (2009), "Generalization bounds for learning the kernel", COLT.

    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, §2.1.

    Examples
    --------
    >>> from manykernels.bounds import ying_campbell_bound
    >>> round(ying_campbell_bound(100, 4, R=1.0, margin=0.5), 3)
    0.858
    """
    ratio, n, p = _ratio(R, margin), *_sizes(n, n_kernels)
    return math.sqrt(p * ratio**2 * math.log(n) / n)


def _ratio(R: float, margin: float) -> float:
    """R/ρ."""
    return number("R", R, "√K_k(x, x) is at most R for every kernel") / number("margin", margin, "ρ")


def _sizes(n: int, n_kernels: int) -> tuple[int, int]:
    return count("n", n, 1, "samples"), count("n_kernels", n_kernels, 1, "kernels to choose from")
