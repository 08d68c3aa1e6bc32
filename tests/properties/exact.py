"""P of a fitted model in extended precision, from formulas that share nothing with the package.

P = ½ min_θ' {Σ_m ‖w_m‖²/θ'_m + h(θ')} + Σ_ik C_i ℓ(y_ik, f_ik),   ‖w_m‖² = θ_m² Σ_k α_kᵀ K_m α_k,
f_k = Σ_m θ_m K_m α_k + b_k
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.properties.problems import Case

from manykernels.losses import Huber, Pinball
from manykernels.penalties import ElasticNet, L2Ball

Long = np.longdouble
EPS = float(np.finfo(Long).eps)


# -- kernels ------------------------------------------------------------------------------------
def base_gram(kernel: Any, X: np.ndarray, Y: np.ndarray | None = None) -> np.ndarray:
    """K(X, Y) of a kernel as it is named, in extended precision; a layer of X where X is a stack."""
    name, Y = type(kernel).__name__, X if Y is None else Y
    if name == "Precomputed":
        return X[:, :, kernel.index].astype(Long)
    if name == "Scaled":
        return Long(kernel.factor) * base_gram(kernel.kernel, X, Y)
    if name == "OnColumns":
        columns = np.atleast_1d(kernel.columns)
        return base_gram(kernel.kernel, X[:, columns], Y[:, columns])
    A, B = X.astype(Long), Y.astype(Long)
    if name == "Linear":
        return A @ B.T
    if name == "Polynomial":
        return (A @ B.T + Long(kernel.coef0)) ** int(kernel.degree)
    if name == "Monomial":
        return np.multiply.outer(_monomial(kernel, A), _monomial(kernel, B))
    D = A[:, None] - B[None]
    if name == "Gaussian":
        return np.exp(-(D**2).sum(axis=2) / Long(kernel.width) ** 2)
    if name == "Laplacian":
        return np.exp(-np.abs(D).sum(axis=2) / Long(kernel.width))
    if name == "Dirichlet":
        waves = [np.cos(k * Long(kernel.frequency) * D) for k in range(1, int(kernel.degree) + 1)]
        return np.prod(1 + 2 * sum(waves), axis=2)
    raise NotImplementedError(f"no formula for {kernel!r}")


def _monomial(kernel: Any, A: np.ndarray) -> np.ndarray:
    phi = np.ones(len(A), Long)
    for column, power in zip(kernel.columns, kernel.powers or [1] * len(kernel.columns), strict=True):
        phi = phi * A[:, column] ** int(power)
    return phi


class Grams:
    """The matrices of `kernels_` on the training samples, centred and normalised, made when asked for.

    Kernels that a family found keep the scale it gave them: what that means differs between families.
    """

    def __init__(self, case: Case, model: Any) -> None:
        self.case, self.kernels = case, model.kernels_
        self.known: dict[int, np.ndarray] = {}

    def __len__(self) -> int:
        return len(self.kernels)

    def __getitem__(self, m: int) -> np.ndarray:
        if m not in self.known:
            self.known[m] = self._make(self.kernels[m])
        return self.known[m]

    def _make(self, fitted: Any) -> np.ndarray:
        K = base_gram(fitted.kernel, self.case.X)
        return self._prepared(fitted, K, K)

    def across(self, m: int, X: np.ndarray) -> np.ndarray:
        """The same kernel between new samples and the training samples."""
        kernel = self.kernels[m].kernel
        return self._prepared(
            self.kernels[m], base_gram(kernel, self.case.X), base_gram(kernel, X, self.case.X)
        )

    def _prepared(self, fitted: Any, K: np.ndarray, across: np.ndarray) -> np.ndarray:
        """K(X, X_fit), centred and normalised by what K(X_fit, X_fit) says; zero where nothing is left."""
        case = self.case
        if case.share == "family":
            return Long(fitted.scale_) * across
        weight = np.ones(len(case.y)) if case.weight is None else case.weight
        mean = weight.astype(Long) / weight.astype(Long).sum()
        d, largest = K.diagonal(), np.abs(K.diagonal()).max()
        if case.model.center:
            r = K @ mean
            across = across - (across @ mean)[:, None] - r[None] + mean @ r
            d = d - 2 * r + mean @ r
        if case.model.normalize is None:
            return across
        d = np.maximum(d, 0)
        size = mean @ d if case.model.normalize == "trace" else d[weight > 0].max()
        return across / size if size > 1e-12 * largest else 0 * across


# -- the risk -----------------------------------------------------------------------------------
def targets(case: Case, model: Any) -> np.ndarray:
    """(n, outputs): the targets, or the signs of one class against the rest."""
    if not hasattr(model, "classes_"):
        return np.asarray(case.y, float).reshape(len(case.y), -1)
    if len(model.classes_) == 2:
        return np.where(np.asarray(case.y) == model.classes_[1], 1.0, -1.0)[:, None]
    return np.where(np.asarray(case.y)[:, None] == model.classes_, 1.0, -1.0)


def costs(case: Case, model: Any) -> np.ndarray:
    """C_i = C · sample_weight_i · class weight."""
    w = np.ones(len(case.y)) if case.weight is None else np.asarray(case.weight, float)
    cost = Long(case.model.C) * w.astype(Long)
    if getattr(case.model, "class_weight", None) == "balanced":
        mass = np.array([w[np.asarray(case.y) == c].sum() for c in model.classes_])
        place = np.searchsorted(model.classes_, np.asarray(case.y)).clip(0, len(mass) - 1)
        cost = cost * (w.sum() / (len(mass) * mass[place]))
    return cost


def loss_values(loss: Any, Y: np.ndarray, f: np.ndarray) -> np.ndarray:
    """ℓ(y, f), elementwise."""
    margin = 1 - Y * f
    if loss == "hinge":
        return np.maximum(margin, 0)
    if loss == "squared_hinge":
        return np.maximum(margin, 0) ** 2 / 2
    if loss == "logistic":
        return np.log1p(np.exp(-np.abs(Y * f))) + np.maximum(-Y * f, 0)
    if loss == "squared":
        return (Y - f) ** 2 / 2
    if isinstance(loss, Pinball):
        return np.where(Y > f, Long(loss.tau), Long(loss.tau) - 1) * (Y - f)
    if isinstance(loss, Huber):
        r, delta = np.abs(Y - f), Long(loss.delta)
        return np.where(r <= delta, r**2 / 2, delta * (r - delta / 2))
    return np.maximum(np.abs(Y - f) - Long(getattr(loss, "epsilon", 0.1)), 0)


def slopes(loss: Any, Y: np.ndarray, f: np.ndarray) -> np.ndarray:
    """A bound of |∂ℓ/∂f| near f."""
    if loss == "squared":
        return np.abs(Y - f)
    if isinstance(loss, Huber):
        return np.minimum(np.abs(Y - f), loss.delta)
    return np.maximum(1 - Y * f, 0) if loss == "squared_hinge" else np.ones_like(Y)


def group_norm(norm: Any, a: np.ndarray) -> Any:
    """min_θ Σ a_m²/θ_m + h(θ)."""
    if isinstance(norm, ElasticNet):
        lam = Long(norm.lam)
        return (lam * a**2 + 2 * (1 - lam) * a).sum()
    if isinstance(norm, L2Ball):
        return _ball_norm(a[a > 0], Long(norm.mu0), Long(norm.radius))
    top = a.max(initial=0)
    if top == 0:
        return Long(0)
    e = 2 / (1 + 1 / Long(norm))
    return top**2 * ((a / top) ** e).sum() ** (2 / e)


def _ball_norm(a: np.ndarray, mu0: Any, radius: Any) -> Any:
    """Σ a²/θ at θ = μ₀ + δ with (μ₀ + δ)² δ = s a² and ‖δ‖ = Λ: bisection in log s, Newton in δ within it.

    The left-hand side is convex in δ, so that Newton's method falls to the root from ∛(s a²), which is above.
    """
    if not a.size:
        return Long(0)
    x = a / a.max()

    def deltas(s: Any) -> np.ndarray:
        delta = np.cbrt(s * x**2)
        for _ in range(60):
            step = ((mu0 + delta) ** 2 * delta - s * x**2) / ((mu0 + delta) * (mu0 + 3 * delta))
            delta = delta - step
            if np.all(np.abs(step) <= 4 * EPS * delta):
                break
        return delta

    low, high = Long(-80), Long(80)
    for _ in range(90):
        mid = (low + high) / 2
        low, high = (low, mid) if (deltas(np.exp(mid)) ** 2).sum() > radius**2 else (mid, high)
    delta = deltas(np.exp(low))
    delta *= radius / np.sqrt((delta**2).sum())
    return (a**2 / (mu0 + delta)).sum()


# -- P ------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Value:
    """P, what it would be without any kernel or intercept, and how far rounding may have moved it."""

    primal: float
    zero: float
    error: float

    @property
    def floor(self) -> float:
        """Differences below it are rounding errors of any program in double precision."""
        return self.error + 1e-18 * self.zero


def primal(case: Case, model: Any, Ks: Grams | None = None, predicted: Any = None) -> Value:
    """P of the fitted model; with `predicted`, of the decisions (n, outputs) that it gave in its stead."""
    Ks = Grams(case, model) if Ks is None else Ks
    Y, cost = targets(case, model), costs(case, model)[:, None]
    alpha = np.asarray(model.dual_coef_, float).reshape(len(Y), -1).astype(Long)
    b = np.atleast_1d(np.asarray(model.intercept_, float)).astype(Long)
    theta = np.atleast_2d(model.weights_).astype(Long)
    groups = [[k] for k in range(alpha.shape[1])] if len(theta) > 1 else [list(range(alpha.shape[1]))]
    total, error, zero = Long(0), Long(0), (cost * loss_values(case.model.loss, Y, np.zeros_like(Y))).sum()
    for weights, group in zip(theta, groups, strict=True):
        f, size = np.zeros((len(Y), len(group)), Long) + b[group], np.zeros((len(Y), len(group)), Long)
        norms = np.zeros(len(weights), Long)
        for m in np.flatnonzero(weights):
            part = Ks[m] @ alpha[:, group]
            f += weights[m] * part
            size += weights[m] * (np.abs(Ks[m]) @ np.abs(alpha[:, group]))
            norms[m] = weights[m] * np.sqrt(np.maximum((alpha[:, group] * part).sum(), 0))
        f = f if predicted is None else np.asarray(predicted, float)[:, group].astype(Long)
        total += group_norm(case.model.norm, norms) / 2
        total += (cost * loss_values(case.model.loss, Y[:, group], f)).sum()
        error += (cost * slopes(case.model.loss, Y[:, group], f) * size).sum()
    return Value(float(total), float(zero), 10.0 * EPS * float(error))
