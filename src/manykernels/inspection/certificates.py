"""The two values of a certificate, computed anew from a fitted model and its training samples alone.

P is the regularised risk of the function that the model is,

    P = ½ min_θ' {Σ_m ‖w_m‖²/θ'_m + h(θ')} + Σ_i C_i ℓ(y_i, f(x_i)),      ‖w_m‖² = θ_m² αᵀK_mα,

and D(z) a lower bound on P over all weights and all machines, at the dual point z that the fit kept. Sums
over kernels are compensated (`_fast/compensated.py`), so that they are exact for kernel values as evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._fast import compensated
from .._fast.threads import threads
from ..estimators import MKLClassifier, MKLRegressor, MKLSurvival
from ..fitting.asked import Asked
from ..fitting.bound import risk_of
from ..fitting.dictionary import bind
from ..fitting.enumerated import Enumerated
from ..fitting.functions import FeatureFunction
from ..fitting.lazy import in_memory
from ..fitting.model import Model
from ..fitting.options import Options
from ..fitting.samples import Samples, read
from ..objectives import Risk
from ..penalties import Penalty

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Certificate:
    """The objective P of a fitted model and a bound D ≤ min P, both computed anew.

    Parameters
    ----------
    primal : float
        The objective P of the model. Several problems (one-vs-rest weights) are added up.
    dual : float
        The lower bound D.
    certified : bool
        Whether D is a bound for the whole family of kernels, or only for those with weight.

    Attributes
    ----------
    gap : float
        The relative gap (P − D)/|P|.

    Examples
    --------
    >>> from manykernels.inspection import Certificate
    >>> Certificate(primal=2.0, dual=1.5, certified=True).gap
    0.25
    """

    primal: float
    dual: float
    certified: bool

    @property
    def gap(self) -> float:
        """The relative gap (P − D)/|P|: the optimum is lower by at most this share of P."""
        return (self.primal - self.dual) / abs(self.primal) if self.primal != 0.0 else 0.0


def certificate(
    model: Any, X: Any, y: Any, *, sample_weight: Any = None, covariates: Any = None
) -> Certificate:
    """Compute P and D of a fitted model anew, from its training samples.

    Parameters
    ----------
    model : MKLClassifier, MKLRegressor or MKLSurvival
        A fitted model, or a fitted search, whose ``best_estimator_`` is taken.
    X : array-like, frame, sparse matrix, list or dict
        The samples that it was fitted on.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The targets that it was fitted on.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights that it was fitted with.
    covariates : array-like or frame of shape (n_samples, n_covariates), default=None
        The covariates that it was fitted with, if they were given beside X.

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
    face = _convex(getattr(model, "best_estimator_", model))
    options, learned = face._options(), face._model
    with threads(options.n_jobs):
        X, y, sample_weight = in_memory(learned.layout.in_fit_order(X), y, sample_weight)
        found = read(options, X, y, sample_weight, face._target(), covariates=covariates)
        samples = found.samples()
        given = samples.rows.owner.size
        if learned.dual_point is not None and given != len(learned.dual_point):
            raise ValueError(
                f"X holds {given} samples, and the model was fitted on {len(learned.dual_point)}. Give the "
                "samples that it was fitted on, in the same order."
            )
        groups = options.groups(samples.Y.shape[1])
        beside = np.zeros_like(samples.Y)
        if learned.covariates is not None:
            beside = learned.covariates.values(found.new_beside(samples.rows.first))
        values = [
            _Known.of(options, learned, samples, g, group, beside[:, group]).values()
            for g, group in enumerate(groups)
        ]
    return Certificate(
        math.fsum(v[0] for v in values), math.fsum(v[1] for v in values), all(v[2] for v in values)
    )


def _convex(face: Any) -> MKLClassifier | MKLRegressor | MKLSurvival:
    """Return the estimator if it is fitted and its problem has a certificate; raise an error otherwise."""
    if why := why_none(face):
        raise TypeError(f"certificate was given {why}")
    assert isinstance(face, MKLClassifier | MKLRegressor | MKLSurvival)
    return face


def why_none(face: Any) -> str:
    """Return the reason why a fitted estimator has no certificate; empty if it has one."""
    if type(face) not in (MKLClassifier, MKLRegressor, MKLSurvival):
        return (
            f"{type(face).__name__}; expected a fitted MKLClassifier, MKLRegressor or MKLSurvival, or a "
            "search over them. Other methods solve other problems: read their dual_gap_ where they have one."
        )
    check_is_fitted(face)
    if face._model.validated:
        return (
            "a model whose weights and C were chosen by errors on samples left out (multi_output='own', or "
            "landmarks for many rows); they are the optimum of no training problem, so that there is nothing "
            "to certify. Read its scores, or fit MKLClassifier or MKLRegressor."
        )
    if isinstance(face._model.function, FeatureFunction) and not face._options().loss.smooth:
        return (
            f"a model with approx={face.approx!r} and loss={face._options().loss!r}; with explicit features "
            "it needs a smooth loss ('squared', 'squared_hinge' or 'logistic'). Read dual_gap_ instead."
        )
    return ""


@dataclass(frozen=True)
class _Known:
    """One problem of a model: outputs that share weights θ."""

    options: Options
    model: Model
    samples: Samples
    risk: Risk
    theta: Array
    group: list[int]
    intercept: Array

    @classmethod
    def of(
        cls, options: Options, model: Model, samples: Samples, g: int, group: list[int], beside: Array
    ) -> Self:
        """Make problem g of the model on its training samples; covariates add `beside` to the decision."""
        assert model.function is not None
        intercept, Y = bool(options.fit_intercept), samples.Y[:, group]
        Z = None if samples.free is None else samples.free.basis
        risk = risk_of(options, samples.target, Y, samples.costs, intercept, Z)
        theta, b = np.atleast_2d(model.weights)[g], model.function.intercept[group] - risk.shift
        return cls(options, model, samples, risk, theta, group, b if Z is None else b + beside)

    @property
    def penalty(self) -> Penalty:
        return self.options.penalty

    def values(self) -> tuple[float, float, bool]:
        """Return P, D and whether D is certified."""
        return self.in_features() if isinstance(self.model.function, FeatureFunction) else self.exact()

    def exact(self) -> tuple[float, float, bool]:
        """Compute P and D from Gram matrices, one at a time."""
        rows, kernels = self.samples.rows, self.model.kernels
        assert self.model.dual is not None and self.model.dual_point is not None
        alpha = rows.gather(self.model.dual)[:, self.group]
        point = rows.gather(self.model.dual_point)[:, self.group]
        gram = self._gram()
        high, low, q = np.zeros_like(alpha), np.zeros_like(alpha), np.zeros(len(kernels))
        for m in np.flatnonzero(self.theta):
            K = gram(kernels[m])
            compensated.expand(K, alpha, float(self.theta[m]), high, low)
            q[m] = max(compensated.quad(K, alpha), 0.0)
        norms, f = self.theta * np.sqrt(q), high + (low + self.intercept)
        if not self.model.listed:
            bound = bind(self.options, self.samples)
            assert isinstance(bound, Asked)
            if isinstance(bound, Enumerated):  # a penalty may tell the kernels of a list apart
                norms = bound.spread(self.model.atoms or [], norms)
            return self._primal(norms, f), *self._over_family(bound, point)
        primal = self._primal(norms, f)

        def forms(z: Array) -> Array:
            return np.array([max(compensated.quad(gram(kernel), z), 0.0) for kernel in kernels])

        return primal, self._dual(point, forms), True

    def _gram(self) -> Callable[[Any], Array]:
        """Return a function that evaluates a kernel on the merged samples."""
        samples, first = self.samples, self.samples.rows.first
        if samples.stack:
            return lambda kernel: np.ascontiguousarray(kernel(samples.X)[np.ix_(first, first)], dtype=float)
        return lambda kernel: np.ascontiguousarray(kernel(samples.data), dtype=float)

    def _primal(self, norms: Array, f: Array) -> float:
        risk = self.risk
        losses = math.fsum(risk.terms(f).ravel())
        return 0.5 * self.penalty.group_norm(norms) + losses

    def _dual(self, point: Array, forms: Callable[[Array], Array]) -> float:
        """Compute D along the ray of a dual point, at a point that is feasible to the last digit."""
        risk = self.risk
        z = risk.exact(risk.best_scale(point, forms(point), self.penalty) * point)
        terms = math.fsum(risk.dual_terms(z).ravel())
        value = terms - 0.5 * self.penalty.conjugate(forms(z))[0] - risk.leak(z)
        return max(value, risk.dual_fit(np.zeros_like(z)))

    def _over_family(self, bound: Asked, point: Array) -> tuple[float, bool]:
        """Compute D from the family's own bound on its largest quadratic form, if it has one."""
        if isinstance(bound, Enumerated):
            q, largest = bound.space.quad(point).sum(axis=1), bound.space.largest()
            return self.risk.dual(point, q, self.penalty, largest), True
        oracle = bound.oracle
        top = oracle.best(point, 1).upper if self.penalty.sparse else None
        if not self.penalty.sparse:
            p = float(getattr(self.penalty, "p", 2.0))
            top = oracle.total(point, p / (p - 1.0))
        merged = self.samples.data
        size = max(float(np.abs(kernel.diag(merged)).max()) for kernel in self.model.kernels)
        if top is not None and np.isfinite(top):
            return self.risk.dual(point, np.array([top]), self.penalty, size), True
        met = oracle.quad(point, self.model.atoms or [])
        return self.risk.dual(point, met, self.penalty, size), False

    def in_features(self) -> tuple[float, float, bool]:
        """Compute P and D from explicit features: w_m are their coefficients, α = −Cℓ'(f) is a dual point."""
        function, risk, b = self.model.function, self.risk, self.intercept
        assert isinstance(function, FeatureFunction)
        features, coef = function.features, function.coefficients[:, self.group]
        scale = np.array([kernel.scale_ for kernel in self.model.kernels])
        squares = np.add.reduceat((coef**2).sum(axis=1), features.ptr[:-1])
        norms = np.sqrt(np.divide(squares, scale, out=np.zeros_like(scale), where=scale > 0.0))
        merged = self.samples.data
        f = np.concatenate([Phi @ coef for _, Phi in function.feature_blocks(merged)]) + b
        alpha = risk.exact(-risk.gradient(f))
        pull, largest = np.zeros((features.ptr[-1], alpha.shape[1])), np.zeros(scale.size)
        for rows, Phi in function.feature_blocks(merged):
            pull += Phi.T @ alpha[rows]
            np.maximum(largest, np.add.reduceat(Phi**2, features.ptr[:-1], axis=1).max(axis=0), out=largest)
        if not self.model.listed:
            bound = bind(self.options, self.samples)
            assert isinstance(bound, Asked)
            return self._primal(norms, f), *self._over_family(bound, alpha)
        q = scale * np.add.reduceat((pull**2).sum(axis=1), features.ptr[:-1])
        return self._primal(norms, f), risk.dual(alpha, q, self.penalty, scale * largest), True
