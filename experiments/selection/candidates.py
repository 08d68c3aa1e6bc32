"""What might be added to the default: other kernels, other families, and more than one model.

Every candidate is a function of samples and targets that returns decisions for new samples. All of them are
learned in the same five folds and once from all samples, so that they can be chosen, stacked and averaged by
what they predict for samples that they did not learn from. Targets are standardised numbers, or −1 and 1 for
each class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from manykernels import MKLClassifierCV, MKLRegressorCV

from ..data import Array

Decide = Callable[[Array], Array]
Learn = Callable[[Array, Array], Decide]
FOLDS = 5
RIDGES = np.logspace(-6, 1, 12)  # over the mean of the eigenvalues
MIXES = [(a, b, 4 - a - b) for a in range(5) for b in range(5 - a)]  # quarters of three orders
ROUNDS = 3  # of gradients


@dataclass(frozen=True)
class Coding:
    """Targets as columns of numbers."""

    classes: Array | None
    mean: float = 0.0
    spread: float = 1.0

    @classmethod
    def of(cls, y: Array, task: str) -> Coding:
        if task == "classification":
            return cls(np.unique(y))
        return cls(None, float(np.mean(y)), float(np.std(y)) or 1.0)

    def columns(self, y: Array) -> Array:
        if self.classes is None:
            return ((y - self.mean) / self.spread)[:, None]
        return np.where(y[:, None] == self.classes, 1.0, -1.0)

    def decisions(self, model: Any, X: Array) -> Array:
        """Of an estimator, as columns."""
        if self.classes is None:
            return self.columns(np.asarray(model.predict(X)))
        f = np.asarray(model.decision_function(X))
        if f.ndim == 2:
            return f
        return np.column_stack([-f, f])

    def error(self, F: Array, t: Array) -> float:
        """Per cent of wrong labels, or of the variance."""
        if self.classes is not None:
            return 100.0 * float(np.mean(self.classes[F.argmax(axis=1)] != t))
        return 100.0 * float(np.mean((F[:, 0] - self.columns(t)[:, 0]) ** 2) * self.spread**2 / np.var(t))


# -- kernel ridge regression by leave-one-out ---------------------------------------------------------
@dataclass(frozen=True)
class Ridge:
    """Dual coefficients, the mean of the targets, and the mean squared leave-one-out error."""

    dual: Array
    mean: Array
    loss: float


def ridge(K: Array, Y: Array) -> Ridge:
    """The ridge with the smallest leave-one-out error."""
    values, vectors = np.linalg.eigh(K)
    mean = Y.mean(axis=0)
    rotated = vectors.T @ (Y - mean)
    found = []
    for shrink in RIDGES * max(float(values.mean()), 1e-12):
        inverse = 1.0 / (np.maximum(values, 0.0) + shrink)
        dual = vectors @ (inverse[:, None] * rotated)
        left = dual / ((vectors * vectors) @ inverse)[:, None]
        found.append(Ridge(dual, mean, float(np.mean(left**2))))
    return min(found, key=lambda one: one.loss)


# -- candidates ---------------------------------------------------------------------------------------
def same(model: Any, coding: Coding) -> Learn:
    """The estimator that the search chose: widths, weights and machine are learned anew."""

    def learn(X: Array, y: Array) -> Decide:
        fitted = clone(model).fit(X, y)
        return lambda Z: coding.decisions(fitted, Z)

    return learn


def ranks(model: Any, coding: Coding) -> Learn:
    """The same estimator of ranks in place of numbers."""

    def learn(X: Array, y: Array) -> Decide:
        scale = QuantileTransformer(n_quantiles=min(len(X), 200)).fit(X)
        decide = same(model, coding)(scale.transform(X), y)
        return lambda Z: decide(scale.transform(Z))

    return learn


def trees(model: Any, coding: Coding) -> Learn:
    """The share of 200 extremely randomised trees in which two samples have the same leaf, as a kernel."""

    def learn(X: Array, y: Array) -> Decide:
        kind = ExtraTreesRegressor if coding.classes is None else ExtraTreesClassifier
        grown = kind(200, min_samples_leaf=3, random_state=0).fit(X, y)
        leaves = grown.apply(X)

        def kernel(other: Array) -> Array:
            return 1.0 - pairwise_distances(other, leaves, metric="hamming")

        found = ridge(kernel(leaves), coding.columns(y))
        return lambda Z: kernel(grown.apply(Z)) @ found.dual + found.mean

    return learn


def interactions(model: Any, coding: Coding) -> Learn:
    """Sums of products of one, two and three Gaussians of single columns, mixed by leave-one-out."""

    def learn(X: Array, y: Array) -> Decide:
        scale = StandardScaler().fit(X)
        A, Y = scale.transform(X), coding.columns(y)
        orders = _orders(A, A)
        sizes = [float(np.mean(np.diag(K))) or 1.0 for K in orders]
        orders = [K / size for K, size in zip(orders, sizes, strict=True)]
        tried = [(ridge(_mixed(orders, mix), Y), mix) for mix in MIXES]
        found, mix = min(tried, key=lambda one: one[0].loss)

        def decide(Z: Array) -> Array:
            new = [K / size for K, size in zip(_orders(scale.transform(Z), A), sizes, strict=True)]
            return _mixed(new, mix) @ found.dual + found.mean

        return decide

    return learn


def _orders(A: Array, B: Array) -> list[Array]:
    """Elementary symmetric polynomials of the kernels of the columns, of orders one to three."""
    sums = [np.ones((len(A), len(B))), *(np.zeros((len(A), len(B))) for _ in range(3))]
    for a, b in zip(A.T, B.T, strict=True):
        K = np.exp(-0.5 * (a[:, None] - b) ** 2)
        for order in (3, 2, 1):
            sums[order] += K * sums[order - 1]
    return sums[1:]


def _mixed(orders: list[Array], mix: tuple[int, ...]) -> Array:
    return np.asarray(sum(part / 4 * K for part, K in zip(mix, orders, strict=True) if part))


def gradients(model: Any, coding: Coding) -> Learn:
    """Gaussians of distances by the mean outer product of gradients, as of recursive feature machines."""

    def learn(X: Array, y: Array) -> Decide:
        scale = StandardScaler().fit(X)
        A, Y = scale.transform(X), coding.columns(y)
        M, tried = np.eye(A.shape[1]), []
        for _ in range(ROUNDS):
            width = float(np.median(_apart(A, A, M))) or 1.0
            K = np.exp(-_apart(A, A, M) / width)
            found = ridge(K, Y)
            tried.append((found, M, width))
            # ∇f(x) = −(2/width) M Σ_a α_a k(x, x_a)(x − x_a)
            outer = np.zeros_like(M)
            for dual in found.dual.T:
                weighted = K * dual
                slope = (weighted.sum(axis=1)[:, None] * A - weighted @ A) @ M
                outer += slope.T @ slope
            M = outer * len(M) / max(float(np.trace(outer)), 1e-300)
        found, M, width = min(tried, key=lambda one: one[0].loss)
        return lambda Z: np.exp(-_apart(scale.transform(Z), A, M) / width) @ found.dual + found.mean

    return learn


def _apart(A: Array, B: Array, M: Array) -> Array:
    """Squared distances (a − b)ᵀM(a − b)."""
    left = A @ M
    apart = np.sum(left * A, axis=1)[:, None] + np.sum((B @ M) * B, axis=1) - 2.0 * left @ B.T
    return np.maximum(apart, 0.0)


OTHERS: dict[str, Callable[[Any, Coding], Learn]] = {
    "ranks": ranks,
    "trees": trees,
    "interactions": interactions,
    "gradients": gradients,
}


# -- all of them in the same folds --------------------------------------------------------------------
@dataclass(frozen=True)
class Crossed:
    """Decisions for held-out samples, for new ones from all samples, and the mean of those of the folds."""

    held: Array
    new: Array
    bagged: Array


def cross(learn: Learn, X: Array, y: Array, Z: Array, folds: list[tuple[Array, Array]]) -> Crossed:
    """Learn in every fold, and from all samples."""
    new = learn(X, y)(Z)
    held, bagged = np.zeros((len(X), new.shape[1])), np.zeros_like(new)
    for train, test in folds:
        decide = learn(X[train], y[train])
        held[test] = decide(X[test])
        bagged += decide(Z) / len(folds)
    return Crossed(held, new, bagged)


def stacked(parts: list[Crossed], Y: Array) -> Array:
    """Non-negative weights, the same for all outputs, by the squared error of held-out decisions."""
    weights, _ = nnls(np.column_stack([part.held.ravel() for part in parts]), Y.ravel())
    return np.asarray(sum(w * part.new for w, part in zip(weights, parts, strict=True)))


def errors(X: Array, y: Array, Z: Array, t: Array, task: str) -> dict[str, float]:
    """The error of the default, and that with each of the candidates."""
    coding = Coding.of(y, task)
    kind: Any = MKLClassifierCV if task == "classification" else MKLRegressorCV
    search = kind(random_state=0).fit(X, y)
    cut: Any = StratifiedKFold if task == "classification" else KFold
    folds = list(cut(FOLDS, shuffle=True, random_state=0).split(X, y))
    Y = coding.columns(y)
    own = cross(same(search.best_estimator_, coding), X, y, Z, folds)
    found = {"default": coding.error(coding.decisions(search, Z), t)}
    found["bagged"] = coding.error(own.bagged, t)
    found["bagged and all"] = coding.error((FOLDS * own.bagged + own.new) / (FOLDS + 1), t)
    parts = [own]
    for strategy in sorted(set(search.comparison_["strategy"]) - {search.best_params_["strategy"]}):
        other = kind(strategy=strategy, random_state=0).fit(X, y).best_estimator_
        parts.append(cross(same(other, coding), X, y, Z, folds))
    found["stacked"] = coding.error(stacked(parts, Y), t)
    for name, make in OTHERS.items():
        part = cross(make(search.best_estimator_, coding), X, y, Z, folds)
        found[f"{name}, alone"] = coding.error(part.new, t)
        found[f"{name}, or default"] = coding.error(min(own, part, key=lambda one: _loss(one, Y)).new, t)
        found[f"{name}, stacked"] = coding.error(stacked([own, part], Y), t)
    return found


def _loss(part: Crossed, Y: Array) -> float:
    return float(np.mean((part.held - Y) ** 2))
