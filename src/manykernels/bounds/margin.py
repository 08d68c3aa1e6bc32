"""The margin bound of a fitted classifier, of lists of kernels and of families.

See Rostamizadeh (2010), Cors 2.1 and 2.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ._class import Asked, Member, member_of
from ._common import Array, Readable, number, probability
from ._spec import assumptions_of

_GRID = 129  # margins 2^0, 2^−1, 2^1, …, 2^−64, 2^64: beyond them the bound is above 1


@dataclass(frozen=True, repr=False)
class MarginBound(Readable):
    """The bound of `margin_bound`: error ≤ value, with probability at least 1 − delta.

    Attributes
    ----------
    value : float
        The bound, margin_loss + complexity + confidence.
    margin_loss : float
        The margin loss of h = f/‖f‖ on the training samples.
    complexity : float
        The term of the Rademacher complexity.
    confidence : float
        The term of the probability δ.
    margin : float
        The margin ρ of h, so that f itself has the margin ‖f‖·margin.
    function_norm : float
        The norm ‖f‖.
    delta : float
        Probability that the bound fails.
    n : int
        Number of samples.
    n_kernels : int or float
        Number of kernels to choose from.
    vacuous : bool
        Whether the value is 1 or more, so that it says nothing.
    guaranteed : bool
        Whether all assumptions are known to hold.
    caveat : str
        Why the number is not guaranteed, where it is not.
    assumptions : tuple of str
        The assumptions.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.bounds import margin_bound
    >>> from manykernels.kernels import Gaussian
    >>> X = np.random.RandomState(0).randn(200, 1)
    >>> y = np.where(X[:, 0] > 0, 1, -1)
    >>> found = margin_bound(MKLClassifier([Gaussian(1.0), Gaussian(3.0)]).fit(X, y), y)
    >>> bool(np.isclose(found.value, found.margin_loss + found.complexity + found.confidence))
    True
    """

    value: float
    margin_loss: float
    complexity: float
    confidence: float
    margin: float
    function_norm: float
    delta: float
    n: int
    n_kernels: int | float
    vacuous: bool
    guaranteed: bool
    caveat: str
    assumptions: tuple[str, ...]


def margin_bound(
    estimator: Any,
    y: Any,
    *,
    X: Any = None,
    margin: float | None = None,
    delta: float = 0.05,
    norm: float | None = None,
    intercept_scale: float = 1.0,
    accept_data_dependent: bool = False,
    sharp: bool = False,
    n_draws: int | None = None,
    random_state: Any = None,
) -> MarginBound:
    """Bound the error of a fitted classifier from its own training set.

        Pr[y f(x) ≤ 0] ≤ R̂_ρ(h) + (2/ρ) R̂(H) + 3 √(log(2/δ)/2n),      h = f/‖f‖,
        R̂_ρ(h) = (1/n) Σ_i min(1, max(0, 1 − y_i h(x_i)/ρ))

    The bound is about kernels fixed in advance and functions without intercept. It holds for f with its
    intercept and with `center` and `normalize`, because f is rewritten in the base kernels as they were given
    (`_raw.py`): f = Σ_m f_m + b', with a_m = ‖f_m‖ in the space of kernel m. The constant b' is a function of
    one kernel more, the constant R_b² (R_b = `intercept_scale`), with norm |b'|/R_b. Then

        ‖f‖² = min_{‖μ‖_q ≤ 1} Σ_m a_m²/μ_m = (Σ_m a_m^{2q/(q+1)})^{(q+1)/q},

    and f/‖f‖ is in H = H_{p+1}^q. The class does not depend on the sample, so it does not matter how f was
    found: C, `class_weight` and `sample_weight` may have been tuned on it. Every training sample counts once.

    The complexity R̂(H) is bounded by √(η₀ r ‖u‖_r)/n, u_m = tr K_m (`rademacher_bound`), or, with
    `n_draws`, by drawing signs (`empirical_rademacher`), which is sharper and takes δ/10. Families,
    `Products` and continua such as `Gaussians(low, high)`, are drawn in any case: their search bounds the
    supremum over all kernels. Where it bounds nothing, `caveat` says that the number is no bound.

    More than two classes: a sample is decided rightly where f_y is above all other f_j, and
    y h(x) is h_y(x) − max_{j≠y} h_j(x) in all of the above. The margin is √2-Lipschitz in the vector f, so
    that by the contraction inequality for vectors (Maurer 2016, Cor. 4) the complexity is

        (4/ρ) R̂(H),      H = {f : Σ_k ‖w_k‖² ≤ 1, the same K for all k},      u_m = Σ_k σ_kᵀ K_m σ_k,

    which grows with the square root of the number of classes. Classes with weights of their own are members
    of the same class, whose a_m² is Σ_k ‖f_mk‖².

    Parameters
    ----------
    estimator : fitted classifier
        A model with kernels_, weights_, X_fit_, dual_coef_ and intercept_.
    y : array-like of shape (n_samples,)
        The labels that it was fitted to, in the same order.
    X : array-like of shape (n_samples, n_samples, n_layers) or None, default=None
        The training stack, where kernels or distances were precomputed; an estimator does not keep it.
    margin : float or None, default=None
        A margin ρ of h that was fixed before seeing the data. None takes the best of ρ = 2^0, 2^−1, 2^1,
        2^−2, …, the j-th of them (from 0) at δ_j = δ/((j + 1)(j + 2)), which sum to δ.
    delta : float, default=0.05
        Probability δ that the bound fails.
    norm : float or None, default=None
        The q of the class; None is the estimator's own (1 for an estimator without one). Any q that was fixed
        in advance is legitimate for any estimator, but without draws its conjugate exponent must be a whole
        number, and a continuum of kernels needs 1.
    intercept_scale : float, default=1.0
        The value R_b of the constant feature that carries the intercept. A larger one counts the intercept
        less and the complexity more.
    accept_data_dependent : bool, default=False
        Whether to compute the number for kernels whose parameters were chosen from the sample ("auto"),
        marked as no guarantee; otherwise they are refused.
    sharp : bool, default=False
        Whether to use the sharper constants of `rademacher_bound`.
    n_draws : int or None, default=None
        Draws of signs for the complexity. None takes the bound by traces for a list of kernels, and 1,000
        draws for a family.
    random_state : int, RandomState or None, default=None
        Seed or source of the draws.

    Returns
    -------
    MarginBound
        The bound and its terms.

    Raises
    ------
    ValueError
        For regressors (see `regression_bound`), approximations, and `normalize="cosine"` together with
        `center` (not linear in the kernel, so that its constants of the sample stay).

    References
    ----------
    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Cors 2.1 and 2.2, ch. 4.

    Maurer (2016), "A vector-contraction inequality for Rademacher complexities", ALT.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.bounds import margin_bound
    >>> from manykernels.kernels import Gaussian
    >>> X = np.random.RandomState(0).randn(200, 1)
    >>> y = np.where(X[:, 0] > 0, 1, -1)
    >>> found = margin_bound(MKLClassifier([Gaussian(1.0), Gaussian(3.0)]).fit(X, y), y)
    >>> found.guaranteed, found.n
    (True, 200)
    """
    delta = probability(delta)
    if margin is not None:
        number("margin", margin, "ρ, the margin of f/‖f‖ that counts as safe; or None")
    _require_classifier(is_classifier(estimator) and hasattr(estimator, "kernels"), type(estimator).__name__)
    how = Asked(norm, intercept_scale, accept_data_dependent, sharp, n_draws, random_state)
    member = member_of(estimator, X, how, delta)
    f = _margins(member, y)
    h = f / member.norm if member.norm > 0 else np.zeros(f.size)
    rademacher = member.rademacher * (1.0 if member.outputs == 1 else 2.0)
    terms = _best(h, rademacher, _grid(margin, member.delta))
    return MarginBound(
        *terms,
        function_norm=member.norm,
        delta=delta,
        n=f.size,
        n_kernels=member.n_kernels,
        vacuous=terms[0] >= 1,
        guaranteed=not member.caveat,
        caveat=member.caveat,
        assumptions=assumptions_of(estimator.kernels, "" if margin is None else "margin"),
    )


def _grid(margin: float | None, delta: float) -> Iterator[tuple[float, float]]:
    """(ρ, its share of δ)."""
    if margin is not None:
        return iter([(float(margin), delta)])
    return ((2.0**exponent, share) for exponent, share in exponents(delta))


def exponents(delta: float) -> Iterator[tuple[int, float]]:
    """0, −1, 1, −2, …, the j-th of them with δ/((j + 1)(j + 2)): they sum to δ."""
    for j in range(_GRID):
        yield (j + 1) // 2 * (-1 if j % 2 else 1), delta / ((j + 1) * (j + 2))


def _best(
    margins: Array, rademacher: float, grid: Iterator[tuple[float, float]]
) -> tuple[float, float, float, float, float]:
    """(value, margin loss, complexity, confidence, margin) of the smallest value."""
    candidates = []
    for rho, delta in grid:
        loss = float(np.mean(np.clip(1.0 - margins / rho, 0.0, 1.0)))
        complexity = 2.0 / rho * rademacher
        confidence = 3.0 * math.sqrt(math.log(2.0 / delta) / (2.0 * margins.size))
        candidates.append((loss + complexity + confidence, loss, complexity, confidence, rho))
    return min(candidates)


def _require_classifier(given: bool, name: str) -> None:
    if not given:
        raise ValueError(
            f"{name} was given; expected a classifier of this package such as MKLClassifier: the bound is on "
            "the probability of a wrong label. For regression see regression_bound."
        )


def _margins(member: Member, y: Any) -> Array:
    """(n,): y f(x), or f_y(x) − max_{j≠y} f_j(x)."""
    classes, F = np.asarray(member.model.classes), member.values
    labels = np.asarray(y)
    if labels.shape != (len(F),):
        raise ValueError(f"y of shape {labels.shape} was given; expected ({len(F)},): the labels of the fit.")
    unknown = set(np.unique(labels).tolist()) - set(classes.tolist())
    if unknown:
        raise ValueError(
            f"y holds {sorted(unknown, key=repr)[:3]}; expected the classes of the fit, "
            f"{list(classes)}. Give the labels that the estimator was fitted to."
        )
    codes = np.searchsorted(classes, labels)
    if F.shape[1] == 1:
        return np.where(codes == 1, F[:, 0], -F[:, 0])
    own = F[np.arange(len(F)), codes]
    others = F.copy()
    others[np.arange(len(F)), codes] = -np.inf
    return np.asarray(own - others.max(axis=1))
