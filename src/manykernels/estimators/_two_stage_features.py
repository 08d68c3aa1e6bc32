"""Two-stage learning with explicit features: alignment from sums over rows, and a learner of features.

The learned kernel is k(x, x') = ⟨z(x), z(x')⟩ with z(x) the features √(θ_m s_m) φ_m(x) of all kernels with
weight. A learner that is linear in z is one that is linear in the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.linear_model import Ridge, RidgeClassifier

from .._fast.linalg import factor, solve
from ..approx import Features
from ..grams.lowrank import Constants, Reduced, constants, reduce, reduce_rows, without_means
from ..kernels import Fitted
from ..objectives import Alignment
from ._approx_data import LocalSamples, samples_of
from ._approx_fit import Chosen, check_approx_options, choose_features, constants_of_rows

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FeatureAlignment:
    """Kernels, their features and constants, and the pseudo-samples that alignment sees."""

    chosen: Chosen
    reduced: Reduced
    alignment: Alignment

    @property
    def features(self) -> Features:
        return self.chosen.features.centred(self.reduced.constants.mean)

    def fitted_kernels(self, normalize: Any) -> list[Fitted]:
        """The kernels with their scale on the training data, before centring."""
        scales = self.reduced.constants.scale
        fitted = []
        for (name, kernel), scale in zip(self.chosen.kernels.items(), scales, strict=True):
            one = Fitted.from_constants(kernel, float(scale), normalize=normalize)
            one.name = name
            fitted.append(one)
        return fitted


def align_features(model: Any, X: Any, kind: str, Y: Array, names_in: Any) -> FeatureAlignment:
    """The alignment of all kernels with targets Y, from the features of X."""
    check_approx_options(model, kind)
    samples = samples_of(X, Y)
    chosen = choose_features(model, samples, names_in)
    ptr, center = chosen.ptr, bool(model.center)
    if isinstance(samples, LocalSamples) and samples.n <= chosen.features.n_features:
        Phi = chosen.features.transform(X)
        known = constants_of_rows(Phi, samples, ptr, center, model.normalize)
        reduced = reduce_rows(Phi, Y, samples.costs, ptr, known, True)
    else:
        S = samples.statistics(chosen.features, model.normalize == "max", chosen.names, bool(model.verbose))
        known = constants(S, ptr, center, model.normalize)
        reduced = reduce(S, ptr, known, True)
    return FeatureAlignment(chosen, reduced, _alignment(reduced, chosen.names))


def _alignment(reduced: Reduced, names: list[str]) -> Alignment:
    gram, targets = without_means(reduced)
    gram.names = names
    return Alignment(gram, targets)


def alignment_of_new(features: Features, scale: Array, X: Any, Y: Array, theta: Array) -> float:
    """The alignment of the learned kernel with targets Y on other samples."""
    none = np.zeros(scale.size, dtype=bool)
    known = Constants(scale, None, none, none)  # alignment centres by itself
    S = samples_of(X, Y).statistics(features, False, [], False)
    reduced = reduce(S, features.ptr, known, True)
    return _alignment(reduced, []).value(theta)


def roots(features: Features, theta: Array, scale: Array) -> Array:
    """(p,): √(θ_m s_m) of each feature; an error where a weight is negative."""
    if np.any(theta < 0.0):
        raise ValueError(
            "a combination with negative weights has no real features: take weighting='alignf', whose "
            "weights are non-negative, or approx=None."
        )
    return np.repeat(np.sqrt(theta * scale), np.diff(features.ptr))


def require_learner(learner: Any, task: str) -> None:
    """An error unless the learner is for this task and takes features."""
    name = type(learner).__name__
    kernel = learner.get_params(deep=False).get("kernel")
    if kernel == "precomputed":
        raise ValueError(
            f"estimator={name}(kernel='precomputed') was given with approx: it expects a matrix of n × n, "
            "and explicit features are there to do without. Give a learner of features, such as LinearSVC() "
            "or LogisticRegression(), or approx=None."
        )
    if not (is_classifier if task == "classification" else is_regressor)(learner):
        raise ValueError(f"estimator={name} was given; it does not say that it is for {task}.")


def ridge_from_sums(found: FeatureAlignment, root: Array) -> tuple[Array, Array]:
    """(coefficients (p, k), intercepts (k,)) of ridge regression (penalty 1) of the targets on features z.

    Ridge of z is kernel ridge of the learned kernel, with an intercept that costs nothing.
    """
    reduced, used = found.reduced, root > 0.0
    own = reduced.constants.roots(reduced.gram.ptr)  # √s is in the pseudo-samples already
    R = np.asarray(reduced.gram.features)[:, used] * (root[used] / own[used])
    alpha = solve(factor(R @ R.T + np.eye(len(R))), reduced.targets)
    coef = R.T @ alpha
    means = (reduced.feature_means * root)[used]
    return coef, np.asarray(reduced.target_means - means @ coef)


def as_ridge(coef: Array, intercept: Array, labels: NDArray[Any] | None, flat: bool) -> Any:
    """A fitted Ridge, or RidgeClassifier for labels, with these coefficients (p, k).

    It is fitted on next to nothing, so that it knows its classes and features, and is then told the rest.
    """
    classes = np.unique(labels) if labels is not None else np.zeros(2 if flat else (2, coef.shape[1]))
    model = (Ridge() if labels is None else RidgeClassifier()).fit(
        np.zeros((len(classes), len(coef))), classes
    )
    if labels is not None and coef.shape[1] > 1:  # the targets were 0 and 1, and are −1 and 1 there
        coef, intercept = 2.0 * coef, 2.0 * intercept - 1.0
    model.coef_ = coef[:, 0] if flat and labels is None else coef.T.copy()
    model.intercept_ = float(intercept[0]) if flat and labels is None else intercept
    return model
