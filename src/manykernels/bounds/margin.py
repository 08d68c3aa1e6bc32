"""The margin bound of a fitted classifier (004 Cors 2.1 and 2.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..estimators import model_of
from ..fitting.model import Model
from ..kernels.data import Data, is_stack, n_samples
from ..penalties import LpBall
from ._common import Array, Readable, conjugate, integer_conjugate, is_real, number, probability
from ._raw import machine, raw_function, raw_kernel
from ._spec import assumptions_of, chosen_from_data
from .rademacher import rademacher_bound

_GRID = 129  # margins 2^0, 2^−1, 2^1, …, 2^−64, 2^64: beyond them the bound is above 1


@dataclass(frozen=True, repr=False)
class MarginBound(Readable):
    """error ≤ value = margin_loss + complexity + confidence, with probability at least 1 − delta.

    `margin` and `margin_loss` are those of h = f/‖f‖ and `function_norm` is ‖f‖, so that f itself has the
    margin ‖f‖·margin. `vacuous` says that the value is 1 or more, and `caveat` why it is not `guaranteed`.
    """

    value: float
    margin_loss: float
    complexity: float
    confidence: float
    margin: float
    function_norm: float
    delta: float
    n: int
    n_kernels: int
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
) -> MarginBound:
    """A bound on the error of a fitted binary classifier from its own training set (004 Cors 2.1, 2.2).

        Pr[y f(x) ≤ 0] ≤ R̂_ρ(h) + (2/ρ) √(η₀ r ‖u‖_r)/n + 3 √(log(2/δ)/2n),      h = f/‖f‖,
        R̂_ρ(h) = (1/n) Σ_i min(1, max(0, 1 − y_i h(x_i)/ρ)),      u_m = tr K_m

    The bound is about kernels fixed in advance and functions without intercept. It holds for f with its
    intercept and with `center` and `normalize`, because f is rewritten in the base kernels as they were given
    (`_raw.py`): f = Σ_m f_m + b', with a_m = ‖f_m‖ in the space of kernel m. The constant b' is a function of
    one kernel more, the constant R_b² (R_b = `intercept_scale`), with norm |b'|/R_b. Then

        ‖f‖² = min_{‖μ‖_q ≤ 1} Σ_m a_m²/μ_m = (Σ_m a_m^{2q/(q+1)})^{(q+1)/q},

    and f/‖f‖ is in H_{p+1}^q. The class does not depend on the sample, so it does not matter how f was found:
    C, `class_weight` and `sample_weight` may have been tuned on it. Every training sample counts once.

    Without `margin`, the best of ρ = 2^0, 2^−1, 2^1, 2^−2, … is taken, the j-th of them (from 0) at
    δ_j = δ/((j + 1)(j + 2)), which sum to δ.

    Parameters
    ----------
    estimator : fitted binary classifier with kernels_, weights_, X_fit_, dual_coef_ and intercept_
    y : (n_samples,)
        The labels that it was fitted to, in the same order.
    X : stack (n_samples, n_samples, n_layers)
        The training stack, where kernels or distances were precomputed; an estimator does not keep it.
    margin : float or None
        ρ, a margin of h. Fix it before seeing the data, or leave it None.
    norm : float or None
        q of the class; None is the estimator's own (1 for an estimator without one). Any q that was fixed in
        advance is legitimate for any estimator, but its conjugate exponent must be a whole number.
    accept_data_dependent : bool
        Kernels whose parameters were chosen from the sample ("auto") are refused; True computes the number
        all the same and marks it as no guarantee.
    sharp : bool
        See :func:`rademacher_bound`.

    Refused: several classes, regressors, `normalize="cosine"` together with `center` (not linear in the
    kernel, so that its constants of the sample stay), approximations.
    """
    delta = probability(delta)
    number("intercept_scale", intercept_scale, "R_b, what a typical √k(x, x) is")
    if margin is not None:
        number("margin", margin, "ρ, the margin of f/‖f‖ that counts as safe; or None")
    _require_classifier(is_classifier(estimator) and hasattr(estimator, "kernels"), type(estimator).__name__)
    model, _ = model_of(estimator)
    _check_model(model, getattr(estimator, "approx", None))
    q = _class_norm(model.title, getattr(estimator, "norm", 1.0) if norm is None else norm)
    caveat = chosen_from_data(estimator.kernels) or ""
    if caveat and not accept_data_dependent:
        raise ValueError(
            f"{caveat}; expected kernels fixed in advance, of which alone the bound holds. Give them with "
            "their parameters, such as kernels=gaussian_grid(0.5, 5, 8), or set accept_data_dependent=True "
            "for a number without a guarantee."
        )
    X = _training_samples(model, X)
    n = n_samples(X)
    function, f, norms = raw_function(model, X)
    traces = np.array([raw_kernel(kernel).diag(X).sum() for kernel in model.kernels])
    if getattr(estimator, "fit_intercept", True) or getattr(estimator, "center", False):
        norms = np.append(norms, abs(function.intercept) / intercept_scale)
        traces = np.append(traces, n * intercept_scale**2)
    function_norm = math.sqrt(LpBall(q).group_norm(norms))
    margins = _signs(model.classes, y, n) * f / function_norm if function_norm > 0 else np.zeros(n)
    rademacher = rademacher_bound(traces, n, norm=q, sharp=sharp)
    terms = _best(margins, rademacher, _grid(margin, delta))
    return MarginBound(
        *terms,
        function_norm=function_norm,
        delta=delta,
        n=n,
        n_kernels=traces.size,
        vacuous=terms[0] >= 1,
        guaranteed=not caveat,
        caveat=caveat,
        assumptions=assumptions_of(estimator.kernels, margin is not None),
    )


def _grid(margin: float | None, delta: float) -> Iterator[tuple[float, float]]:
    """(ρ, its share of δ)."""
    if margin is not None:
        yield float(margin), delta
        return
    for j in range(_GRID):
        exponent = (j + 1) // 2 * (-1 if j % 2 else 1)
        yield 2.0**exponent, delta / ((j + 1) * (j + 2))


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
            "the probability of a wrong sign. For regression see lkrr_stability and stability_bound."
        )


def _check_model(model: Model, approx: Any) -> None:
    name, classes = model.title, model.classes
    if classes is None or len(classes) != 2:
        raise ValueError(
            f"{name} was fitted to {0 if classes is None else len(classes)} classes; expected 2. Fit "
            "one-vs-rest machines as binary problems of their own, and bound each of them at delta divided "
            "by their number."
        )
    if approx is not None:
        raise ValueError(
            f"approx={approx!r} was given to {name}; expected approx=None, since the bound is of the kernels "
            "as they were given."
        )
    if machine(model) is None:
        raise ValueError(
            f"{name} has no dual_coef_ of one machine; expected a decision that is linear in the kernels, "
            "such as that of SVC(kernel='precomputed') in the second stage."
        )
    if any(kernel.normalize == "cosine" and kernel.row_means_ is not None for kernel in model.kernels):
        raise ValueError(
            "normalize='cosine' with center=True was given: the cosine of a centred kernel is not linear in "
            "it, so that it cannot be written in kernels fixed in advance. Take center=False, or "
            "normalize='trace', 'max', 'frobenius' or None."
        )


def _class_norm(name: str, given: Any) -> float:
    """q, from a norm."""
    q = given.p if isinstance(given, LpBall) else given
    if not is_real(q):
        raise ValueError(
            f"{name} was fitted with norm={given!r}; expected a number or LpBall, ‖θ‖_q ≤ 1. Give "
            "margin_bound the norm of a class fixed in advance, such as norm=2: the bound holds for any "
            "function."
        )
    if conjugate(q) < np.inf:
        integer_conjugate(q)
    return float(q)


def _training_samples(model: Model, X: Any) -> Data:
    """Those that the model keeps, or the stack in X, which it does not."""
    n = n_samples(model.X_fit)
    if model.layout.kind != "stack":
        if X is not None:
            raise ValueError(
                "X was given, and the estimator keeps its training samples; expected X only where kernels or "
                "distances were precomputed. Leave it out."
            )
        return model.X_fit
    if X is None or not is_stack(X) or tuple(X.shape[:2]) != (n, n):
        raise ValueError(
            f"X={'None' if X is None else f'of shape {np.shape(X)}'} was given; expected the stack that the "
            f"estimator was fitted to, of shape ({n}, {n}, n_layers), which it does not keep. Give it as X=."
        )
    return np.asarray(X)


def _signs(classes: Any, y: Any, n: int) -> Array:
    """y as −1 and 1."""
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"y of shape {labels.shape} was given; expected ({n},): the labels of the fit.")
    unknown = set(np.unique(labels).tolist()) - set(np.asarray(classes).tolist())
    if unknown:
        raise ValueError(
            f"y holds {sorted(unknown, key=repr)[:3]}; expected the classes of the fit, "
            f"{list(classes)}. Give the labels that the estimator was fitted to."
        )
    return np.where(labels == classes[1], 1.0, -1.0)
