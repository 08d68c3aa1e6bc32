"""Statements about the alignment of a kernel with the labels: its concentration, and its predictor.

This is Rostamizadeh 2010, §2.5. K_c is the centred kernel, expectations are over pairs x, x' that are drawn
independently, ρ(K, K') = E[K_c K'_c]/√(E[K_c²] E[K'_c²]) is the alignment, and K_Y(x, x') = y y' the kernel
of the labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ._common import Array, Readable, count, finite_array, number, probability

_ROUNDING = 1e-8  # of the largest eigenvalue or entry: what may be negative or asymmetric by rounding only


@dataclass(frozen=True, repr=False)
class AlignmentPredictor(Readable):
    """The predictor h* of `alignment_predictor` on the sample, its error and the bound on it.

    Attributes
    ----------
    predictions : ndarray of shape (n_samples,)
        Values of h*. For regression they are in units of the standard deviation of y, from its mean.
    error : float
        Share of wrong signs, or for regression the mean squared error in the same units.
    bound : float
        The bound on the error.
    alignment : float
        The alignment ρ(K, K_Y).
    gamma : float
        The largest Γ of γ(x).
    unnormalized : float
        The alignment η(K, K_Y) without norms.
    unnormalized_bound : float or None
        The bound by η, for classification only.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.bounds import alignment_predictor
    >>> y = np.array([1.0, 1.0, -1.0, -1.0])
    >>> found = alignment_predictor(np.outer(y, y), y, task="classification")
    >>> found.error, round(found.alignment, 6)
    (0.0, 1.0)
    """

    predictions: Array
    error: float
    bound: float
    alignment: float
    gamma: float
    unnormalized: float
    unnormalized_bound: float | None


def frobenius_deviation(n: int, *, R: float, delta: float = 0.05) -> float:
    """Bound the distance of ⟨K_c, K'_c⟩_F/n² from its expectation.

    With probability at least 1 − δ,

        |⟨K_c, K'_c⟩_F/n² − E[K_c K'_c]| ≤ 18R⁴/n + 24R⁴ √(log(2/δ)/2n)

    It assumes independent samples, and kernels fixed in advance with K(x, x) ≤ R² and K'(x, x) ≤ R² for all
    x.

    Parameters
    ----------
    n : int
        Number of samples.
    R : float
        √K(x, x) is at most R for both kernels.
    delta : float, default=0.05
        Probability δ that the bound fails.

    Returns
    -------
    float
        The bound.

    Notes
    -----
    The first term bounds the bias. Its proof, Rostamizadeh (2010), Lemma A.5, adds coefficients of different
    expectations with their signs, which does not bound their sum; but the statement is right. For features φ
    and φ' less their means, ⟨K_c, K'_c⟩_F/n² = ‖A − B‖² with A the mean of φ_i ⊗ φ'_i and B = φ̄ ⊗ φ̄'.
    E(A − B) = (1 − 1/n) C, ‖C‖² = E[K_c K'_c] ≤ R⁴, and A and B have variances of at most 4R⁴/n each (‖φ‖ ≤
    2R, E‖φ'‖² ≤ R²). So the expectation is at most 2R⁴/n below and at most 16R⁴/n above E[K_c K'_c].

    References
    ----------
    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Prop. 2.6.

    Examples
    --------
    >>> from manykernels.bounds import frobenius_deviation
    >>> round(frobenius_deviation(10**6, R=1.0), 4)
    0.0326
    """
    n, delta = count("n", n, 1, "samples"), probability(delta)
    R = number("R", R, "√K(x, x) is at most R for both kernels")
    return float(R**4 * (18.0 / n + 24.0 * math.sqrt(math.log(2.0 / delta) / (2.0 * n))))


def alignment_deviation(n: int, *, R: float, second_moments: Any, delta: float = 0.05) -> float:
    """Bound the distance of the alignment of a sample from that of its distribution.

    With probability at least 1 − δ,

        |ρ(K, K') − ρ̂| ≤ 18β [3/n + 4 √(log(6/δ)/2n)],      β = max(R⁴/E[K_c²], R⁴/E[K'_c²])

    It assumes what `frobenius_deviation` does, and that neither moment is 0.

    Parameters
    ----------
    n : int
        Number of samples.
    R : float
        √K(x, x) is at most R for both kernels.
    second_moments : array-like of shape (2,)
        The expectations E[K_c²] and E[K'_c²] of the distribution. With those of the sample, to which
        `frobenius_deviation` says they are near, the bound is an estimate. For K_Y the second moment is
        Var(y)².
    delta : float, default=0.05
        Probability δ that the bound fails.

    Returns
    -------
    float
        The bound.

    References
    ----------
    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Thm 2.10.

    Examples
    --------
    >>> from manykernels.bounds import alignment_deviation
    >>> round(alignment_deviation(10**6, R=1.0, second_moments=[0.5, 0.5]), 3)
    0.223
    """
    n, delta = count("n", n, 1, "samples"), probability(delta)
    R = number("R", R, "√K(x, x) is at most R for both kernels")
    moments = finite_array("second_moments", second_moments, "E[K_c²] of both kernels")
    if moments.size > 2 or moments.min() <= 0 or moments.max() > R**4 * (1 + _ROUNDING):
        raise ValueError(
            f"second_moments={moments.tolist()} was given with R={R!r}; expected E[K_c²] of one or two "
            f"kernels, above 0 and at most R⁴ = {R**4:.6g}, which K(x, x) ≤ R² implies. A constant kernel "
            "has no alignment."
        )
    beta = R**4 / float(moments.min())
    return 18.0 * beta * (3.0 / n + 4.0 * math.sqrt(math.log(6.0 / delta) / (2.0 * n)))


def alignment_predictor(
    K: Any, y: Any, *, task: Literal["classification", "regression"]
) -> AlignmentPredictor:
    """Compute the predictor that a high alignment promises, on the sample itself.

        h*(x) = E_x'[y' K_c(x, x')]/√E[K_c²],      γ(x)² = E_x'[K_c(x, x')²]/E[K_c²],      Γ = max_x γ(x)

    All expectations are over the sample (K is n × n), for which these are no estimates but exact statements:

        classification:   Pr[y h*(x) < 0] ≤ 1 − ρσ/Γ,      and ≤ 1 − η/R²,      R² = max_x K_c(x, x)
        regression:       E (y − h*(x))² ≤ 2 (1 − ρ)

    with σ² = Var(y) and η = E[K_c K_Y].

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples)
        Kernel matrix, symmetric and positive semidefinite, not constant.
    y : array-like of shape (n_samples,)
        Classes −1 and 1, both present; for regression any numbers that vary, which are centred and divided by
        σ first.
    task : {"classification", "regression"}
        The kind of y.

    Returns
    -------
    AlignmentPredictor
        The predictor, its error and the bounds.

    Notes
    -----
    Rostamizadeh (2010), Thm 2.11 prints 1 − ρ/Γ. It uses E[y h*(x)] = ρ, but that is ρσ², since √E[K_Yc²] =
    σ², which is 1 only for classes of equal size; six samples are enough for a counterexample (see the
    tests). With |h*| ≤ Γ that makes 1 − ρσ²/Γ; and because y' can be replaced by y' − E[y'] in h*, |h*| ≤ σΓ,
    which makes 1 − ρσ/Γ.

    References
    ----------
    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Thms 2.11 to 2.13.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.bounds import alignment_predictor
    >>> y = np.array([1.0, 2.0, 3.0])
    >>> found = alignment_predictor(np.outer(y, y), y, task="regression")
    >>> bool(found.error <= found.bound + 1e-9)
    True
    """
    if task not in ("classification", "regression"):
        raise ValueError(f"task={task!r} was given; expected 'classification' or 'regression'.")
    Kc = _centred(K)
    y = _labels(y, len(Kc), task)
    moment = float(np.sqrt(np.mean(Kc**2)))
    g = Kc @ y / len(y)
    h = g / moment
    gamma = float(np.sqrt(np.mean(Kc**2, axis=1)).max()) / moment
    eta, sigma = float(y @ g) / len(y), float(y.std())
    rho = eta / (moment * sigma**2)
    if task == "regression":
        error = float(np.mean((y - h) ** 2))
        return AlignmentPredictor(h, error, 2.0 * (1.0 - rho), rho, gamma, eta, None)
    # where h* is zero but for rounding, both signs are right
    error = float(np.mean(y * h < -_ROUNDING * np.abs(h).max()))
    unnormalized = 1.0 - eta / float(np.diagonal(Kc).max())
    return AlignmentPredictor(h, error, 1.0 - rho * sigma / gamma, rho, gamma, eta, unnormalized)


def _centred(K: Any) -> Array:
    """(I − 11ᵀ/n) K (I − 11ᵀ/n) (Rostamizadeh 2010, Eq. 2.39)."""
    K = np.asarray(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not np.all(np.isfinite(K)):
        raise ValueError(f"K of shape {K.shape} was given; expected a square matrix of finite numbers.")
    size = float(np.abs(K).max(initial=0.0))
    if np.abs(K - K.T).max(initial=0.0) > _ROUNDING * size:
        raise ValueError("K is not symmetric; expected K[i, j] == K[j, i]. Up to noise, give (K + K.T) / 2.")
    values = np.linalg.eigvalsh(K)
    if size > 0 and values[0] < -_ROUNDING * len(K) * size:
        raise ValueError(
            f"K has the negative eigenvalue {values[0]:.4g}; expected a positive semidefinite matrix. Clip "
            "its negative eigenvalues (drop the negative part of the spectrum)."
        )
    Kc = K - K.mean(axis=0)
    Kc -= Kc.mean(axis=1)[:, None]
    if np.diagonal(Kc).sum() <= 1e-12 * len(K) * size:
        raise ValueError("K is the same for all samples; expected one that varies, or its alignment is 0/0.")
    return np.asarray(Kc)


def _labels(y: Any, n: int, task: str) -> Array:
    try:
        y = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y holds no numbers ({error}); expected numbers, −1 and 1 for classes.") from error
    if y.shape != (n,) or not np.all(np.isfinite(y)):
        raise ValueError(f"y of shape {y.shape} was given; expected ({n},) finite numbers, one per row of K.")
    if task == "regression":
        deviation = y - y.mean()
        scale = deviation.std()
        if scale <= 1e-12 * np.abs(y).max():
            raise ValueError(f"y is {y[0]:.6g} for all samples; expected values that vary.")
        return np.asarray(deviation / scale)
    if set(np.unique(y)) != {-1.0, 1.0}:
        found = np.unique(y)[:5].tolist()
        raise ValueError(
            f"y holds {found}; expected both −1 and 1. Encode two classes as np.where(y == positive, 1, -1)."
        )
    return np.asarray(y)
