"""A bound on the error of a fitted regressor, from its own training set and the complexity of its class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import is_regressor

from ._class import Asked, Member, member_of
from ._common import Array, Readable, number, probability
from ._spec import assumptions_of
from .margin import exponents


@dataclass(frozen=True, repr=False)
class RegressionBound(Readable):
    """The bound of `regression_bound`: E min(M, ‖y − f(x)‖)^j ≤ value, with probability 1 − delta.

    j is 1 for loss="absolute" and 2 for "squared".

    Attributes
    ----------
    value : float
        The bound, empirical + complexity + confidence.
    empirical : float
        The mean loss on the training samples.
    complexity : float
        The term of the Rademacher complexity.
    confidence : float
        The term of the probability δ.
    function_norm : float
        The norm ‖f‖.
    class_norm : float
        The B ≥ ‖f‖ of the class {‖f‖ ≤ B} that the bound is of.
    loss : str
        "absolute" or "squared".
    M : float
        The error that counts as the worst.
    delta : float
        Probability that the bound fails.
    n : int
        Number of samples.
    n_kernels : int or float
        Number of kernels to choose from.
    vacuous : bool
        Whether the value is M^j or more, so that it says nothing.
    guaranteed : bool
        Whether all assumptions are known to hold.
    caveat : str
        Why the number is not guaranteed, where it is not.
    assumptions : tuple of str
        The assumptions.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.bounds import regression_bound
    >>> from manykernels.kernels import Gaussian
    >>> X = np.random.RandomState(0).uniform(-1, 1, (100, 1))
    >>> model = MKLRegressor([Gaussian(1.0), Gaussian(3.0)], C=0.1).fit(X, X[:, 0])
    >>> found = regression_bound(model, X[:, 0], M=2.0)
    >>> bool(np.isclose(found.value, found.empirical + found.complexity + found.confidence))
    True
    """

    value: float
    empirical: float
    complexity: float
    confidence: float
    function_norm: float
    class_norm: float
    loss: str
    M: float
    delta: float
    n: int
    n_kernels: int | float
    vacuous: bool
    guaranteed: bool
    caveat: str
    assumptions: tuple[str, ...]


def regression_bound(
    estimator: Any,
    y: Any,
    *,
    M: float,
    loss: Literal["absolute", "squared"] = "absolute",
    X: Any = None,
    function_norm: float | None = None,
    delta: float = 0.05,
    norm: float | None = None,
    intercept_scale: float = 1.0,
    accept_data_dependent: bool = False,
    sharp: bool = False,
    n_draws: int | None = None,
    random_state: Any = None,
) -> RegressionBound:
    """Bound the error of a fitted regressor on new samples, where an error above M counts as M.

        E ℓ(f(x), y) ≤ (1/n) Σ_i ℓ(f(x_i), y_i) + 2LB R̂(H) + 3 M^j √(log(2/δ)/2n)
        ℓ = min(M, |y − f|), L = 1, j = 1      or      ℓ = min(M, |y − f|)², L = 2M, j = 2

    H is the class of `margin_bound` (kernels fixed in advance, ‖f‖ ≤ 1), and R̂(H) is bounded in the same
    ways, also for `Products` and continua. The bound is that of a class of functions by its Rademacher
    complexity (Bartlett & Mendelson 2002), with L the Lipschitz constant of the loss. Rostamizadeh (2010),
    §2.3 bounds ridge regression by its stability instead (`lkrr_stability`), which is about one algorithm and
    one norm. Several outputs: |·| is the Euclidean norm, f has values in R^k, and L is √2 times as large
    (Maurer 2016).

    Parameters
    ----------
    estimator : fitted regressor
        A model with kernels_, weights_, X_fit_, dual_coef_ and intercept_.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The targets that it was fitted to, in the same order.
    M : float
        The error that counts as the worst, in units of y. Fix it before seeing the data: with |y| ≤ Y and
        predictions clipped to [−Y, Y], M = 2Y makes it a bound on the error itself.
    loss : {"absolute", "squared"}, default="absolute"
        The loss ℓ.
    X : array-like of shape (n_samples, n_samples, n_layers) or None, default=None
        The training stack, where kernels or distances were precomputed; an estimator does not keep it.
    function_norm : float or None, default=None
        The B, fixed in advance and at least ‖f‖. None takes the best of M·2^0, M·2^−1, M·2^1, … that are at
        least ‖f‖, the j-th of them (from 0) at δ_j = δ/((j + 1)(j + 2)), which sum to δ.
    delta : float, default=0.05
        Probability δ that the bound fails.
    norm : float or None, default=None
        The q of the class; None is the estimator's own (1 for an estimator without one).
    intercept_scale : float, default=1.0
        The value of the constant feature that carries the intercept.
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
    RegressionBound
        The bound and its terms.

    References
    ----------
    Bartlett & Mendelson (2002), "Rademacher and Gaussian complexities: risk bounds and structural results",
    Journal of Machine Learning Research 3.

    Maurer (2016), "A vector-contraction inequality for Rademacher complexities", ALT.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.bounds import regression_bound
    >>> from manykernels.families import Gaussians
    >>> X = np.random.RandomState(0).uniform(-1, 1, (500, 1))
    >>> y = np.sin(3 * X[:, 0])
    >>> model = MKLRegressor(Gaussians(0.5, 5.0), C=1e-3).fit(X, y)
    >>> found = regression_bound(model, y, M=2.0, random_state=0)
    >>> found.guaranteed, found.vacuous
    (True, False)
    """
    delta, M = probability(delta), number("M", M, "the error that counts as the worst, in units of y")
    if loss not in ("absolute", "squared"):
        raise ValueError(f"loss={loss!r} was given; expected 'absolute' or 'squared'.")
    if not is_regressor(estimator) or not hasattr(estimator, "kernels"):
        raise ValueError(
            f"{type(estimator).__name__} was given; expected a regressor of this package such as "
            "MKLRegressor. For classifiers see margin_bound."
        )
    how = Asked(norm, intercept_scale, accept_data_dependent, sharp, n_draws, random_state)
    member = member_of(estimator, X, how, delta)
    errors = np.minimum(np.linalg.norm(_targets(y, member) - member.values, axis=1), M)
    j = 1 if loss == "absolute" else 2
    slope = (1.0 if j == 1 else 2.0 * M) * (1.0 if member.outputs == 1 else math.sqrt(2.0))
    empirical = float(np.mean(errors**j))
    value, complexity, confidence, B = min(
        _terms(empirical, 2.0 * slope * B * member.rademacher, M**j, share, errors.size, B)
        for B, share in _classes(function_norm, member, M)
    )
    return RegressionBound(
        value,
        empirical,
        complexity,
        confidence,
        function_norm=member.norm,
        class_norm=B,
        loss=loss,
        M=M,
        delta=delta,
        n=errors.size,
        n_kernels=member.n_kernels,
        vacuous=value >= M**j,
        guaranteed=not member.caveat,
        caveat=member.caveat,
        assumptions=assumptions_of(
            estimator.kernels, "M" if function_norm is None else "M and function_norm"
        ),
    )


def _terms(
    empirical: float, complexity: float, largest: float, delta: float, n: int, B: float
) -> tuple[float, float, float, float]:
    confidence = 3.0 * largest * math.sqrt(math.log(2.0 / delta) / (2.0 * n))
    return empirical + complexity + confidence, complexity, confidence, B


def _classes(given: float | None, member: Member, M: float) -> list[tuple[float, float]]:
    """(B, its share of δ) of the classes that f is in."""
    if given is not None:
        B = number("function_norm", given, "B, which ‖f‖ is at most")
        if member.norm > B:
            raise ValueError(
                f"function_norm={given!r} was given, and ‖f‖ is {member.norm:.6g}; expected at least that. "
                "Give a larger one that was fixed in advance, or None; a smaller C makes ‖f‖ smaller."
            )
        return [(B, member.delta)]
    found = [(M * 2.0**e, share) for e, share in exponents(member.delta) if M * 2.0**e >= member.norm]
    return found or [(member.norm, float(np.finfo(float).tiny))]  # beyond the grid, and vacuous by far


def _targets(y: Any, member: Member) -> Array:
    try:
        Y = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y holds no numbers ({error}); expected the targets of the fit.") from error
    Y = Y[:, None] if Y.ndim == 1 else Y
    if Y.shape != member.values.shape or not np.all(np.isfinite(Y)):
        raise ValueError(
            f"y of shape {np.shape(y)} was given; expected {member.values.shape} finite numbers: the targets "
            "of the fit."
        )
    return Y
