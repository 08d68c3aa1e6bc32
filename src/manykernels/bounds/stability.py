"""The stability of kernel ridge regression with a learned kernel, and the bound that follows.

LKRR is that of Rostamizadeh (2010), §2.3, Eqs 2.8 to 2.12: with μ in the ball B = {μ ≥ 0, ‖μ − μ₀‖₂ ≤ Λ}
around μ₀ ≥ 0 and no intercept,

    minimise F_S(w) = Ω(w) + (1/(λ₀n)) Σ_i (h(x_i) − y_i)²,   Ω(w) = min_{μ∈B} Σ_k ‖w_k‖²/μ_k,
    h(x) = Σ_k ⟨w_k, φ_k(x)⟩.

In this package that is MKLRegressor(norm=L2Ball(μ₀, Λ), C=1/(λ₀n), fit_intercept=False, normalize=None). Its
objective ½ Σ_k ‖w_k‖²/θ_k + C Σ_i ½ (y_i − f(x_i))² is half of F_S.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import is_regressor

from ..estimators import model_of
from ..fitting.model import Model
from ..kernels.data import n_samples
from ..penalties import L2Ball
from ._common import Readable, count, finite_array, number, probability
from ._raw import machine

Method = Literal["convexity", "thesis"]


@dataclass(frozen=True, repr=False)
class RidgeStability(Readable):
    """The stability of `lkrr_stability`: changes for samples that differ in one point.

    Attributes
    ----------
    beta_S : float
        The part of the bound |Δh(x)| ≤ beta_S + beta_K that a fixed kernel has.
    beta_K : float
        The price of learning the kernel.
    beta : float
        The bound on |Δ(h(x) − y)²|.
    method : str
        "convexity" or "thesis".

    Examples
    --------
    >>> from manykernels.bounds import lkrr_stability
    >>> found = lkrr_stability(1000, lam0=1.0, radius=1.0, M=1.0, R0=1.0)
    >>> found.beta_S, found.beta_K
    (0.002, 0.004)
    """

    beta_S: float
    beta_K: float
    beta: float
    method: str


def lkrr_stability(
    n: int,
    *,
    lam0: float,
    radius: float,
    M: float,
    R0: float,
    RA: float = 0.0,
    method: Method = "convexity",
    n_kernels: int | None = None,
    orthogonal: bool = False,
) -> RidgeStability:
    """Compute the uniform stability of LKRR: how much h and its losses change where one sample is replaced.

    ``method="convexity"`` makes no assumption on the kernels, and is O(√p/n), since R₀ ≤ √p max_k K_k(x, x):

        |Δh(x)| ≤ 2M (R_A² + 3ΛR₀)/(λ₀n),      β_S = 2M (R_A² + ΛR₀)/(λ₀n),      β_K = 4MΛR₀/(λ₀n)

    Kernels must be fixed in advance, and there must be no intercept.

    Parameters
    ----------
    n : int
        Number of samples.
    lam0 : float
        The λ₀ = 1/(C n), C as in MKLRegressor.
    radius : float
        The radius Λ of the ball of weights.
    M : float
        The bound on |h(x) − y| for all x and y and all h that LKRR returns (see `lkrr_range`).
    R0 : float
        (Σ_k K_k(x, x)²)^½ is at most R₀ for all x.
    RA : float, default=0.0
        Σ_k μ₀_k K_k(x, x) is at most R_A² for all x.
    method : {"convexity", "thesis"}, default="convexity"
        "convexity" is the bound above. "thesis" is that of Rostamizadeh (2010), corrected, for comparison.
    n_kernels : int or None, default=None
        The number p of kernels, for "thesis".
    orthogonal : bool, default=False
        Your word that the kernels are orthogonal, for "thesis".

    Returns
    -------
    RidgeStability
        The bounds β_S and β_K on h, and β on its losses.

    Notes
    -----
    Proof. Ω*(v) = max_{μ∈B} ¼ Σ μ_k‖v_k‖² = ¼ (Σ μ₀_k‖v_k‖² + Λ‖v‖²_{2,4}) by Rostamizadeh 2010, Thm 2.1: Ω
    is the infimal convolution of Σ‖w_k‖²/μ₀_k and ‖w‖²_{2,4/3}/Λ. And ‖v + d‖² ≤ ‖v‖² + ⟨∇, d⟩ + 3‖d‖² for
    the norm 2,4. Hence with |d|² = Σ μ₀_k‖d_k‖² + 3Λ‖d‖²_{2,4}, a squared norm, Ω*(v + d) ≤ Ω*(v) + ⟨∇, d⟩ +
    ¼|d|², and by conjugation, with the dual norm |·|_*, Ω(w') ≥ Ω(w) + ⟨g, w' − w⟩ + |w' − w|_*² for every
    subgradient g at w. (For μ₀ = 0 this is the strong convexity of ‖w‖²_{2,4/3}/Λ, with modulus 1/3.) Let w
    minimise F_S and w' F_S', let S' have (x', y') in place of the sample (x, y) of S, and Δ = w' − w. The
    quadratic part of F_S adds Σ_i Δh(x_i)²/(λ₀n) to the inequality for Ω, so that

        |Δ|_*² + Σ_{i∈S} Δh(x_i)²/(λ₀n) ≤ F_S(w') − F_S(w),      and the same of S', w and w' exchanged.

    In the sum of both, all samples but two cancel on the right, and (h'(x) − y)² − (h(x) − y)² =
    2(h(x) − y)Δh(x) + Δh(x)². The squares are those on the left, which leaves

        2|Δ|_*² ≤ (2/(λ₀n)) [(h(x) − y)Δh(x) − (h'(x') − y')Δh(x')] ≤ (4M/(λ₀n)) |Δ|_* sup|φ|,

    as |Δh(x)| ≤ |Δ|_* |φ(x)|, and |φ(x)|² = Σ μ₀_k K_k(x, x) + 3Λ (Σ K_k(x, x)²)^{1/2} ≤ R_A² + 3ΛR₀. ∎

    method="thesis" evaluates Rostamizadeh 2010, Thms 2.2, 2.3 and Prop. 2.4. It needs `n_kernels` and
    `orthogonal=True`, the user's word that the kernels are orthogonal (Rostamizadeh 2010, Def. 2.2; taken
    literally, all kernels are, in the direct sum of their feature spaces). R² = max(R_A² + ΛR₀, R₀) bounds
    K(x, x) and every K_k(x, x), since the text uses one R for both. Two things differ from what is printed,
    which is wrong (the tests have an example of one sample in the plane for the first, and of two kernels for
    the second):

    - λ_min is 0. Thm 2.2 takes the smallest eigenvalue of ΦᵀΦ = K' for that of ΦΦᵀ, which is 0 wherever there
      are more features than samples.
    - Prop. 2.2 ends with ‖V₂‖ ≤ 4Λ‖Δ_S w‖ ≤ 4ΛM/(…), which drops the 2R of Eq. 2.25. So Thm 2.3 and Prop. 2.4
      have the factor 2R here. As printed, no R makes them the same for kernels times c and Λ divided by c,
      which is the same problem.

        β_S = 2MR²/(λ₀n),      β_K = 8ΛMR² ((4ΛR²√p + R²)/λ₀ + 1)/(λ₀n)

    The proof in the text has another gap: Eq. A.6 bounds F₁ by 4, although with μ_k ∝ v_k its terms sum to
    4p/Λ². The values hold all the same, because R² ≥ R_A² + ΛR₀ and R² ≥ R₀, so that neither is below its
    counterpart of method="convexity"; but they are never better either.

    References
    ----------
    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Thms 2.2, 2.3 and Prop. 2.4.

    Examples
    --------
    >>> from manykernels.bounds import lkrr_stability
    >>> lkrr_stability(1000, lam0=1.0, radius=1.0, M=1.0, R0=1.0).beta_S
    0.002
    """
    n = count("n", n, 1, "samples")
    lam0 = number("lam0", lam0, "λ₀ = 1/(C n), C as in MKLRegressor")
    radius = number("radius", radius, "Λ, the radius of the ball of weights", zero=True)
    M = number("M", M, "|h(x) − y| is at most M", zero=True)
    R0 = number("R0", R0, "(Σ_k K_k(x, x)²)^½ is at most R₀", zero=True)
    RA2 = number("RA", RA, "Σ_k μ₀_k K_k(x, x) is at most R_A²", zero=True) ** 2
    if method == "convexity":
        beta_S, beta_K = 2 * M * (RA2 + radius * R0) / (lam0 * n), 4 * M * radius * R0 / (lam0 * n)
        return RidgeStability(beta_S, beta_K, 2 * M * (beta_S + beta_K), method)
    if method != "thesis":
        raise ValueError(f"method={method!r} was given; expected 'convexity' or 'thesis'.")
    if n_kernels is None or orthogonal is not True:
        raise ValueError(
            f"method='thesis' was given with n_kernels={n_kernels!r} and orthogonal={orthogonal!r}; expected "
            "the number of kernels and orthogonal=True, your word that they are orthogonal "
            "(Rostamizadeh 2010, Def. 2.2). Or take method='convexity', which does not need it and is never "
            "worse."
        )
    p = count("n_kernels", n_kernels, 1, "kernels to choose from")
    R2 = max(RA2 + radius * R0, R0)
    beta_S = 2 * M * R2 / (lam0 * n)
    beta_K = 8 * radius * M * R2 * ((4 * radius * R2 * math.sqrt(p) + R2) / lam0 + 1) / (lam0 * n)
    return RidgeStability(beta_S, beta_K, 2 * M * (beta_S + beta_K), method)


def lkrr_range(y_max: float, *, lam0: float, radius: float, R0: float, RA: float = 0.0) -> float:
    """Bound |h(x) − y| of LKRR without data, M = Y (1 + √((R_A² + ΛR₀)/λ₀)).

    F_S(w) ≤ F_S(0) gives Ω(w) ≤ Y²/λ₀, and h(x)² ≤ Ω(w) max_{μ∈B} Σ_k μ_k K_k(x, x), by Cauchy–Schwarz.

    Parameters
    ----------
    y_max : float
        The bound Y on |y|.
    lam0 : float
        The λ₀ = 1/(C n), C as in MKLRegressor.
    radius : float
        The radius Λ of the ball of weights.
    R0 : float
        (Σ_k K_k(x, x)²)^½ is at most R₀ for all x.
    RA : float, default=0.0
        Σ_k μ₀_k K_k(x, x) is at most R_A² for all x.

    Returns
    -------
    float
        The bound M, which `lkrr_stability` needs.

    Examples
    --------
    >>> from manykernels.bounds import lkrr_range
    >>> lkrr_range(1.0, lam0=1.0, radius=1.0, R0=4.0)
    3.0
    """
    y_max = number("y_max", y_max, "|y| is at most y_max", zero=True)
    lam0 = number("lam0", lam0, "λ₀ = 1/(C n), C as in MKLRegressor")
    radius = number("radius", radius, "Λ, the radius of the ball of weights", zero=True)
    R0 = number("R0", R0, "(Σ_k K_k(x, x)²)^½ is at most R₀", zero=True)
    RA = number("RA", RA, "Σ_k μ₀_k K_k(x, x) is at most R_A²", zero=True)
    return y_max * (1.0 + math.sqrt((RA * RA + radius * R0) / lam0))


def lkrr_stability_of(
    estimator: Any, *, diagonal: Any, M: float | None = None, y_max: float | None = None
) -> RidgeStability:
    """Compute `lkrr_stability` ("convexity") of a fitted MKLRegressor, with λ₀ = 1/(C n).

    The model must be LKRR: squared loss, norm=L2Ball(...), no intercept, neither centred nor normalised.
    Sample weights must not have been used; they leave no trace in the model and are not checked.

    Parameters
    ----------
    estimator : MKLRegressor
        The fitted model.
    diagonal : float or array-like of shape (n_kernels,)
        The sup_x K_k(x, x) of each kernel (1 for a Gaussian), over all x and not only the training samples;
        R₀ and R_A² follow from it.
    M : float or None, default=None
        The bound on |h(x) − y|. Give this or `y_max`.
    y_max : float or None, default=None
        The bound on |y|, from which `lkrr_range` has an M.

    Returns
    -------
    RidgeStability
        The stability.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.bounds import lkrr_stability_of
    >>> from manykernels.kernels import Gaussian
    >>> from manykernels.penalties import L2Ball
    >>> X = np.random.RandomState(0).randn(50, 2)
    >>> model = MKLRegressor([Gaussian(1.0)], norm=L2Ball(), C=0.01, fit_intercept=False, normalize=None)
    >>> found = lkrr_stability_of(model.fit(X, X[:, 0]), diagonal=1.0, M=3.0)
    >>> found.method
    'convexity'
    """
    if not is_regressor(estimator) or not hasattr(estimator, "kernels"):
        name = type(estimator).__name__
        raise ValueError(f"{name} was given; expected MKLRegressor. For classifiers see margin_bound.")
    model, _ = model_of(estimator)
    given = estimator.get_params(deep=False)
    penalty = _require_lkrr(model, given)
    p, n = len(model.kernels), n_samples(model.X_fit)
    d = finite_array("diagonal", diagonal, "sup_x K_k(x, x) of each kernel")
    if d.size not in (1, p):
        raise ValueError(f"diagonal has {d.size} entries; expected one number, or {p}, one per kernel.")
    d, mu0 = np.broadcast_to(d, (p,)), np.broadcast_to(np.asarray(penalty.mu0, dtype=np.float64), (p,))
    lam0, radius = 1.0 / (float(given["C"]) * n), float(penalty.radius)
    R0, RA = float(np.linalg.norm(d)), math.sqrt(float(mu0 @ d))
    if M is None and y_max is not None:
        M = lkrr_range(y_max, lam0=lam0, radius=radius, R0=R0, RA=RA)
    elif M is None or y_max is not None:
        raise ValueError(
            f"M={M!r} and y_max={y_max!r} were given; expected one of them: M ≥ |h(x) − y|, or y_max ≥ |y|."
        )
    return lkrr_stability(n, lam0=lam0, radius=radius, M=M, R0=R0, RA=RA)


def _require_lkrr(model: Model, given: Mapping[str, Any]) -> L2Ball:
    """The penalty of a model that was learned with these parameters."""
    asked = {key: given.get(key, "?") for key in ("loss", "norm", "fit_intercept", "center", "normalize")}
    found = {
        "loss": asked["loss"] == "squared" or getattr(asked["loss"], "quadratic", False),
        "norm": isinstance(asked["norm"], L2Ball),
        "fit_intercept": not asked["fit_intercept"],
        "center": not asked["center"],
        "normalize": asked["normalize"] is None,
    }
    wrong = [f"{key}={asked[key]!r}" for key, right in found.items() if not right]
    learned = machine(model)
    if wrong or learned is None or learned[0].shape[1] > 1:
        raise ValueError(
            f"{model.title} was fitted with {', '.join(wrong) or 'several outputs'}; expected LKRR: one "
            "output, loss='squared', norm=L2Ball(mu0, radius), fit_intercept=False, center=False, "
            "normalize=None. Fit such a model."
        )
    penalty: L2Ball = asked["norm"]
    return penalty


def stability_bound(
    empirical_risk: float,
    beta: float,
    n: int,
    M: float,
    delta: float = 0.05,
    *,
    change: Literal["replace", "remove"] = "replace",
) -> float:
    """Bound E (h(x) − y)² of a stable algorithm, with probability at least 1 − δ.

        replace:   R ≤ R̂ +  β + (2nβ + M²) √(log(1/δ)/2n)
        remove:    R ≤ R̂ + 2β + (4nβ + M²) √(log(1/δ)/2n)

    It assumes independent samples and |h(x) − y| ≤ M. The value is not clipped: where it is above M² it says
    nothing.

    Parameters
    ----------
    empirical_risk : float
        The mean R̂ of (h(x_i) − y_i)² on the training samples.
    beta : float
        The stability β: losses (h(x) − y)² change by at most β when one sample is changed.
    n : int
        Number of samples.
    M : float
        The bound on |h(x) − y|.
    delta : float, default=0.05
        Probability δ that the bound fails.
    change : {"replace", "remove"}, default="replace"
        The change that β is about: a sample is replaced by another (Rostamizadeh 2010, Def. 2.1, and
        `lkrr_stability`) or removed (Bousquet & Elisseeff 2002; then replacing changes losses by at most 2β).

    Returns
    -------
    float
        The bound.

    Notes
    -----
    Rostamizadeh (2010), Thm 2.4 prints the second with the β of the first, which is true and twice too much.
    It prints M where the loss is bounded by M²: as printed it is not the same bound when y is measured in
    other units.

    Proof of the first, with g = R − R̂. E g = E[ℓ(h_S, z) − ℓ(h_S', z)] ≤ β, where S' has z for a sample of
    S. Replacing one sample changes R by at most β and R̂ by at most β + M²/n, so McDiarmid's inequality gives
    g ≤ E g + (2β + M²/n) √(n log(1/δ)/2). ∎

    References
    ----------
    Bousquet & Elisseeff (2002), "Stability and generalization", Journal of Machine Learning Research 2.

    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Thm 2.4.

    Examples
    --------
    >>> from manykernels.bounds import stability_bound
    >>> round(stability_bound(0.1, beta=1e-5, n=10_000, M=1.0), 3)
    0.115
    """
    empirical_risk = number("empirical_risk", empirical_risk, "mean of (h(x_i) − y_i)²", zero=True)
    beta = number("beta", beta, "the stability coefficient", zero=True)
    n, delta = count("n", n, 1, "samples"), probability(delta)
    M = number("M", M, "|h(x) − y| is at most M", zero=True)
    if change not in ("replace", "remove"):
        raise ValueError(f"change={change!r} was given; expected 'replace' or 'remove'.")
    beta = beta if change == "replace" else 2.0 * beta
    return empirical_risk + beta + (2.0 * n * beta + M * M) * math.sqrt(math.log(1.0 / delta) / (2.0 * n))
