"""The two values of a certificate, computed anew from a fitted model, its training samples and nothing else.

P is the regularised risk of the function that the model is,

    P = ½ min_θ' {Σ_m ‖w_m‖²/θ'_m + h(θ')} + Σ_i C_i ℓ(y_i, f(x_i)),      ‖w_m‖² = θ_m² αᵀK_mα,

and D(z) a lower bound on P over all weights and all machines, at the dual point z that the fit kept. Sums
over kernels are compensated (`_fast/compensated.py`), so that they are exact for kernel values as evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._fast import compensated
from .._fast.threads import threads
from ..estimators import MKLClassifier, MKLRegressor
from ..estimators._base import Posed
from ..estimators._data import take
from ..estimators._family_fit import bind_family
from ..families import Family
from ..kernels.data import n_samples, take_rows
from ..objectives import Risk
from ..penalties import Penalty, resolve_penalty

Array = NDArray[np.float64]
_ROWS = 4096  # whose features are held at a time


@dataclass(frozen=True)
class Certificate:
    """P of a fitted model and a bound D ≤ min P, both computed anew.

    Attributes
    ----------
    primal, dual : P of the model, and D. Several problems (one-vs-rest weights) are added up.
    certified : whether D is a bound for the whole family of kernels, or only for those with weight.
    """

    primal: float
    dual: float
    certified: bool

    @property
    def gap(self) -> float:
        """(P − D)/|P|: how far the model is from the optimum at most, as a share of P."""
        return (self.primal - self.dual) / abs(self.primal) if self.primal != 0.0 else 0.0


def certificate(model: Any, X: Any, y: Any, *, sample_weight: Any = None) -> Certificate:
    """Compute P and D of a fitted model anew, from its training samples.

    Parameters
    ----------
    model : fitted MKLClassifier or MKLRegressor, or a fitted search (its ``best_estimator_`` is looked at)
    X, y : the samples that it was fitted on
    sample_weight : the weights it was fitted with, optional

    Returns
    -------
    Certificate
        With ``primal``, ``dual``, ``gap`` and ``certified``. The gap agrees with ``model.dual_gap_`` except
        for what rounding errors may do, which ``dual_gap_`` allows for and this computation avoids. With
        ``approx`` the dual point is made anew from the predictions, and the gap may be larger.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from manykernels import MKLClassifier
    >>> from manykernels.inspection import certificate
    >>> X, y = load_wine(return_X_y=True)
    >>> model = MKLClassifier().fit(X, y)
    >>> 0 <= certificate(model, X, y).gap <= model.tol
    True
    """
    model = _convex(getattr(model, "best_estimator_", model))
    twin = copy(model)  # reading samples tells an estimator their names: the model must not change
    with threads(model.n_jobs):
        posed = twin._pose(X, y, sample_weight)
        if not _has_features(model) and posed.rows.owner.size != len(model.dual_point_):
            raise ValueError(
                f"X holds {posed.rows.owner.size} samples, and the model was fitted on "
                f"{len(model.dual_point_)}. Give the samples that it was fitted on, in the same order."
            )
        shift = np.median(posed.Y, axis=0) if twin._loss().translates and model.fit_intercept else 0.0
        values = []
        for g, group in enumerate(model._groups(posed.Y)):
            Y = (posed.Y - shift)[:, group]
            risk = Risk(twin._loss(), Y, posed.C[:, group], bool(model.fit_intercept))
            b = (np.atleast_1d(model.intercept_) - shift)[group]
            known = _Known(model, posed, risk, resolve_penalty(model.norm), np.atleast_2d(model.weights_)[g])
            values.append(known.in_features(group, b) if _has_features(model) else known.exact(group, b))
    return Certificate(
        math.fsum(v[0] for v in values), math.fsum(v[1] for v in values), all(v[2] for v in values)
    )


def _convex(model: Any) -> Any:
    """The model, if it is one whose problem has a certificate."""
    if type(model) not in (MKLClassifier, MKLRegressor):
        raise TypeError(
            f"certificate was given {type(model).__name__}; expected a fitted MKLClassifier or MKLRegressor, "
            "or a search over them. Other methods solve other problems: read their dual_gap_ where they have "
            "one."
        )
    check_is_fitted(model)
    if _has_features(model) and not model._loss().smooth:
        raise TypeError(
            f"certificate was given a model with approx={model.approx!r} and loss={model.loss!r}; with "
            "explicit features it needs a smooth loss ('squared', 'squared_hinge' or 'logistic'). Read "
            "dual_gap_ instead."
        )
    return model


def _has_features(model: Any) -> bool:
    return "features_" in model.__dict__


@dataclass(frozen=True)
class _Known:
    """One problem of a model: outputs that share weights θ."""

    model: Any
    posed: Posed
    risk: Risk
    penalty: Penalty
    theta: Array

    def exact(self, group: list[int], b: Array) -> tuple[float, float, bool]:
        """(P, D, certified), from Gram matrices one at a time."""
        rows, kernels = self.posed.rows, self.model.kernels_
        outputs = self.posed.Y.shape[1]
        alpha = rows.gather(self.model.dual_coef_.reshape(-1, outputs))[:, group]
        point = rows.gather(self.model.dual_point_.reshape(-1, outputs))[:, group]
        gram = self._gram()
        high, low, q = np.zeros_like(alpha), np.zeros_like(alpha), np.zeros(len(kernels))
        for m in np.flatnonzero(self.theta):
            K = gram(kernels[m])
            compensated.expand(K, alpha, float(self.theta[m]), high, low)
            q[m] = max(compensated.quad(K, alpha), 0.0)
        primal = self._primal(self.theta * np.sqrt(q), high + (low + b))
        family = self.model.kernels
        if isinstance(family, Family) and not family.listed:
            return primal, *self._over_family(point)

        def forms(z: Array) -> Array:
            return np.array([max(compensated.quad(gram(kernel), z), 0.0) for kernel in kernels])

        return primal, self._dual(point, forms), True

    def _gram(self) -> Callable[[Any], Array]:
        """What evaluates a kernel on the merged samples."""
        X, first = self.posed.X, self.posed.rows.first
        if self.posed.kind == "stack":
            return lambda kernel: np.ascontiguousarray(kernel(X)[np.ix_(first, first)], dtype=float)
        merged = take(X, first)
        return lambda kernel: np.ascontiguousarray(kernel(merged), dtype=float)

    def _primal(self, norms: Array, f: Array) -> float:
        risk = self.risk
        losses = math.fsum((risk.C * risk.loss.value(risk.Y, f)).ravel())
        return 0.5 * self.penalty.group_norm(norms) + losses

    def _dual(self, point: Array, forms: Callable[[Array], Array]) -> float:
        """D along the ray of a dual point, at one that is feasible to the last digit."""
        risk = self.risk
        z = risk.exact(risk._best_scale(point, forms(point), self.penalty) * point)
        terms = math.fsum((risk.C * risk.loss.conjugate(risk.Y, -z / risk.C)).ravel())
        return max(-terms - 0.5 * self.penalty.conjugate(forms(z))[0], risk.dual_fit(np.zeros_like(z)))

    def _over_family(self, point: Array) -> tuple[float, bool]:
        """D from the family's own bound on its largest quadratic form, where it has one."""
        posed = self.posed
        groups = self.model._groups(posed.Y)
        bound = bind_family(self.model, posed.X, posed.rows, posed.names_in, self.risk.loss, groups)
        oracle = bound.oracle
        top = oracle.best(point, 1).upper if self.penalty.sparse else None
        if not self.penalty.sparse:
            p = float(getattr(self.penalty, "p", 2.0))
            top = oracle.total(point, p / (p - 1.0))
        merged = take(posed.X, posed.rows.first)
        size = max(float(np.abs(kernel.diag(merged)).max()) for kernel in self.model.kernels_)
        if top is not None and np.isfinite(top):
            return self.risk.dual(point, np.array([top]), self.penalty, size), True
        met = oracle.quad(point, self.model._atoms)
        return self.risk.dual(point, met, self.penalty, size), False

    def in_features(self, group: list[int], b: Array) -> tuple[float, float, bool]:
        """(P, D, certified) of explicit features: w_m are their coefficients, α = −Cℓ'(f) a dual point."""
        model, risk = self.model, self.risk
        features, coef = model.features_, model._feature_coef[:, group]
        scale = np.array([kernel.scale_ for kernel in model.kernels_])
        squares = np.add.reduceat((coef**2).sum(axis=1), features.ptr[:-1])
        norms = np.sqrt(np.divide(squares, scale, out=np.zeros_like(scale), where=scale > 0.0))
        merged = take(self.posed.X, self.posed.rows.first)
        blocks = [slice(lo, lo + _ROWS) for lo in range(0, n_samples(merged), _ROWS)]

        def transform(block: slice) -> Array:
            return np.asarray(features.transform(take_rows(merged, block.start, block.stop)))

        f = np.concatenate([transform(block) @ coef for block in blocks]) + b
        alpha = risk.exact(-risk.C * risk.loss.gradient(risk.Y, f))
        pull, largest = np.zeros((features.ptr[-1], alpha.shape[1])), np.zeros(scale.size)
        for block in blocks:
            Phi = transform(block)
            pull += Phi.T @ alpha[block]
            np.maximum(largest, np.add.reduceat(Phi**2, features.ptr[:-1], axis=1).max(axis=0), out=largest)
        q = scale * np.add.reduceat((pull**2).sum(axis=1), features.ptr[:-1])
        return self._primal(norms, f), risk.dual(alpha, q, self.penalty, scale * largest), True
