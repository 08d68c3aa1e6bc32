"""Small problems of multiple kernel learning, drawn from a seed.

The shares: "natural" problems that anybody may have; "hard" ones with extremes of every kind; "far" ones,
whose kernels are almost constant and whose costs are large, so that most digits cancel; a "family" of kernels
that are not listed; a "grid" of many kernels that are; and "other" solvers than the default.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from manykernels import MKLClassifier, MKLRegressor
from manykernels.families import Dirichlets, Gaussians, Products, per_feature
from manykernels.kernels import Dirichlet, Gaussian, Laplacian, Linear, OnColumns, Polynomial
from manykernels.losses import EpsilonInsensitive, Huber, Pinball
from manykernels.penalties import ElasticNet, L2Ball

SHARES = ("natural", "hard", "far", "family", "grid", "other")
_NORMS = [1.0, 1.0, 1.0, 1.2, 4 / 3, 2.0, 4.0, np.inf]


@dataclass(frozen=True)
class Case:
    """An estimator that is not fitted yet, and the samples for it."""

    seed: int
    share: str
    model: Any
    X: Any
    y: Any
    weight: Any = None

    def change(self, **params: Any) -> Case:
        """The same samples for an estimator with other parameters."""
        return replace(self, model=type(self.model)(**{**self.model.get_params(deep=False), **params}))

    def __str__(self) -> str:
        kernels = self.model.kernels
        many = f"{len(kernels)} kernels" if isinstance(kernels, list) else repr(kernels)
        options = {k: v for k, v in self.model.get_params(deep=False).items() if k in _SHOWN}
        weights = "" if self.weight is None else f", weights {min(self.weight):g} to {max(self.weight):g}"
        return f"{self.share} {self.seed}: X {self.X.shape}, {many}, {options}{weights}"


_SHOWN = ("norm", "loss", "C", "tol", "solver", "center", "normalize", "fit_intercept", "multi_class")


def draw(seed: int, share: str | None = None) -> Case:
    """The case of a seed; without a share, nearly half of them are natural."""
    rng = np.random.RandomState(seed)
    share = share or rng.choice(SHARES, p=[0.4, 0.35, 0.1, 0.05, 0.05, 0.05])
    hard = share == "hard"
    n = rng.randint(3, 61) if hard else rng.randint(12, 61)
    X = _samples(rng, n, rng.randint(1, 7), hard)
    classify = bool(rng.rand() < 0.55)
    y = _labels(rng, X, hard) if classify else _targets(rng, X, hard)
    weight = _weights(rng, n, hard) if rng.rand() < (0.3 if hard else 0.15) else None
    if classify and weight is not None and np.unique(y[weight > 0]).size < 2:
        weight = None
    options = _options(rng, classify, hard)
    if share == "far":
        X = X + 10.0 ** rng.randint(2, 8)
        options["C"] = float(10.0 ** rng.uniform(2, 8))
        kernels = [Linear(), Polynomial(int(rng.randint(1, 3)), 1.0), Gaussian(2.0)][: rng.randint(1, 4)]
    elif share == "grid":
        kernels, d = _grid(rng), int(rng.randint(1, 3))
        X, options = (
            X[:, :d],
            options | {"solver": "auto", "max_iter": 1000, "tol": 10.0 ** -rng.randint(3, 7)},
        )
        options |= {"C": float(10.0 ** rng.uniform(0, 4.5))} | ({"norm": 1.0} if rng.rand() < 0.5 else {})
    elif share == "family":
        kernels, solver = _family(rng, X)
        options |= {"norm": 1.0, "center": False, "solver": solver, "tol": 10.0 ** rng.randint(-4, -1)}
        options |= {"max_iter": 100} if solver == "greedy" else {}  # it is slow by nature
    elif rng.rand() < 0.2:
        kernels, X = "precomputed", _stack(rng, X, hard)
    elif rng.rand() < 0.1:
        kernels = per_feature([0.5, 2.0], [1, 2])
    else:
        kernels = _kernels(rng, X, hard)
    if isinstance(options["norm"], str):
        options["norm"] = ElasticNet(rng.choice([0.1, 0.5, 0.9])) if options["norm"] == "net" else _ball(rng)
    if share == "other":
        options |= _other(rng, options)
    kind = MKLClassifier if classify else MKLRegressor
    return Case(seed, share, kind(kernels, random_state=0, n_jobs=1, **options), X, y, weight)


# -- samples ------------------------------------------------------------------------------------
def _samples(rng: np.random.RandomState, n: int, d: int, hard: bool) -> np.ndarray:
    X = rng.randn(n, d)
    if not hard:
        return X
    kind = rng.randint(6)
    if kind == 0:
        X = rng.randint(0, 4, (n, d)).astype(float)  # with equal rows
    elif kind == 1:
        X = rng.standard_t(1.5, (n, d))
    elif kind == 2:
        X[:, rng.randint(d)] = 1.0
    elif kind == 3:
        X = np.repeat(X[: n // 2 + 1], 2, axis=0)[:n] + 10.0 ** rng.randint(-9, 0) * rng.randn(n, d)
    scale = 10.0 ** rng.randint(-3, 4) if rng.rand() < 0.2 else 1.0
    offset = rng.choice([0.0, 1e2, 1e4, 1e7], p=[0.7, 0.1, 0.1, 0.1])
    return scale * X + offset


def _signal(rng: np.random.RandomState, X: np.ndarray) -> np.ndarray:
    Z = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12 * (1.0 + np.abs(X).max()))
    a, b = rng.randint(Z.shape[1], size=2)
    return [Z[:, a], Z[:, a] * Z[:, b], np.sin(2.0 * Z[:, a]), Z[:, a] ** 2 - Z[:, b]][rng.randint(4)]


def _labels(rng: np.random.RandomState, X: np.ndarray, hard: bool) -> np.ndarray:
    n, kinds = len(X), rng.randint(4 if hard else 2)
    classes = 2 if rng.rand() < 0.75 or n < 8 else rng.randint(3, 5)
    f = _signal(rng, X) + (0.0 if kinds == 0 else 0.4) * rng.randn(n)  # kind 0 can be separated
    if kinds == 2:
        f = rng.randn(n)
    order = np.argsort(np.argsort(f, kind="stable"), kind="stable")
    y = np.minimum(order * classes // n, classes - 1)
    if kinds == 3:  # one class is rare
        y = np.where(order < max(n // 10, 1), 0, np.maximum(y, 1))
    return y if rng.rand() < 0.5 else np.array(["a", "b", "c", "d"])[y]


def _targets(rng: np.random.RandomState, X: np.ndarray, hard: bool) -> np.ndarray:
    n, outputs = len(X), 1 if rng.rand() < 0.75 else rng.randint(2, 4)
    Y = np.stack([_signal(rng, X) for _ in range(outputs)], axis=1) + 0.2 * rng.randn(n, outputs)
    if hard:
        kind = rng.randint(8)
        if kind == 0:
            Y = rng.standard_t(1.0, Y.shape)
        elif kind == 1:
            Y = np.full_like(Y, rng.choice([0.0, 1.0, -3e5]))
        elif kind == 2:
            Y = Y * 10.0 ** rng.randint(-6, 7)
        elif kind == 3:
            Y = Y + 10.0 ** rng.randint(1, 8)
        elif kind == 4:
            Y = np.round(Y)
    return Y[:, 0] if outputs == 1 and rng.rand() < 0.8 else Y


def on_a_grid(case: Case, size: int = 60) -> Case | None:
    """A family of one parameter as a list of its kernels, evenly on a logarithmic scale; None for others."""
    family = case.model.kernels
    if not isinstance(family, Gaussians | Dirichlets):
        return None
    kept = slice(None) if case.weight is None else case.weight > 0
    (low,), (high,) = family.box(case.X[kept], None if case.weight is None else case.weight[kept])
    kernels = [family.kernel(float(value)) for value in np.geomspace(low, high, size)]
    return replace(case.change(kernels=kernels, solver="auto", tol=1e-5, max_iter=1000), share="natural")


def _weights(rng: np.random.RandomState, n: int, hard: bool) -> np.ndarray:
    w = rng.uniform(0.5, 2.0, n)
    if not hard:
        return w
    kind = rng.randint(4)
    if kind == 0:
        w[rng.rand(n) < 0.3] = 0.0
    elif kind == 1:
        w = 10.0 ** rng.uniform(-8, 0, n)
    elif kind == 2:
        w[rng.randint(n)] = 10.0 ** rng.randint(2, 9)
    else:
        w = rng.randint(0, 4, n).astype(float)
    w[0] = max(w[0], 1e-3)
    return w


# -- kernels ------------------------------------------------------------------------------------
def _kernels(rng: np.random.RandomState, X: np.ndarray, hard: bool) -> list[Any]:
    d = X.shape[1]
    spread = float(np.median(X.std(axis=0))) * np.sqrt(d) or 1.0
    M = rng.randint(1, 41) if rng.rand() < 0.3 else rng.randint(1, 7)
    kernels = [_kernel(rng, d, spread, hard) for _ in range(M)]
    if hard and rng.rand() < 0.15:
        kernels = [*kernels, kernels[rng.randint(M)]]  # a kernel given twice
    if hard and rng.rand() < 0.2:
        kernels = [float(10.0 ** rng.randint(-6, 7)) * kernel for kernel in kernels]
    return kernels


def _kernel(rng: np.random.RandomState, d: int, spread: float, hard: bool) -> Any:
    width = float(spread * 10.0 ** rng.uniform(-1.0, 1.0))
    kind = rng.randint(6 if hard else 4)
    if kind == 0:
        return Linear()
    if kind == 1:
        return Polynomial(int(rng.randint(1, 4)), float(rng.choice([0.0, 1.0])))
    if kind == 4:
        return Dirichlet(float(10.0 ** rng.uniform(-1.0, 1.0) / spread), int(rng.randint(1, 4)))
    if kind == 5:
        return Laplacian(width)
    kernel = Gaussian(width)
    return OnColumns(kernel, int(rng.randint(d))) if rng.rand() < 0.3 else kernel


def _grid(rng: np.random.RandomState) -> list[Any]:
    """Neighbours that nearly depend on each other, which is what stalls."""
    kind, size = rng.randint(3), rng.randint(20, 121)
    frequencies = [Dirichlet(float(sigma), 1) for sigma in np.geomspace(0.1, 10.0, size)]
    widths = [Gaussian(float(sigma)) for sigma in np.geomspace(0.1, 10.0, size)]
    return [frequencies, widths, frequencies[::2] + widths[::2]][kind]


def _stack(rng: np.random.RandomState, X: np.ndarray, hard: bool) -> np.ndarray:
    n, M = len(X), rng.randint(1, 9)
    layers = []
    for _ in range(M):
        F = rng.randn(n, rng.randint(1, n + 1))
        kind = rng.randint(4 if hard else 2)
        if kind == 1:
            D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
            K = np.exp(-D / (1e-300 + np.median(D)) * 10.0 ** rng.uniform(-1, 1))
        elif kind == 2 and layers:  # nearly the same as the one before
            K = layers[-1] + 1e-8 * F @ F.T
        else:
            K = F @ F.T
        if kind == 3:
            K = K + 10.0 ** rng.randint(0, 6)
        layers.append(0.5 * (K + K.T))
    stack = np.stack(layers, axis=2)
    return stack * 10.0 ** rng.randint(-6, 7) if hard and rng.rand() < 0.2 else stack


def _family(rng: np.random.RandomState, X: np.ndarray) -> tuple[Any, str]:
    kind = rng.randint(3)
    solver = str(rng.choice(["auto", "corrective", "greedy"], p=[0.4, 0.4, 0.2]))
    if kind == 0:
        return Gaussians(), solver
    if kind == 1:
        return Dirichlets(degree=int(rng.randint(1, 3))), solver
    return Products(degree=int(rng.randint(1, 4)), interactions_only=bool(rng.rand() < 0.5)), solver


# -- the problem --------------------------------------------------------------------------------
def _options(rng: np.random.RandomState, classify: bool, hard: bool) -> dict[str, Any]:
    losses: list[Any] = ["squared", "squared", "epsilon_insensitive", EpsilonInsensitive(0.0)]
    losses += [Pinball(0.1), Pinball(0.9), Huber(0.05), Huber(2.0)]
    if classify:
        losses = ["hinge", "hinge", "squared_hinge", "logistic", "squared"]
    norms: list[Any] = [*_NORMS, "net", "ball"]
    options = {
        "norm": norms[rng.randint(len(norms))],
        "loss": losses[rng.randint(len(losses))],
        "C": float(10.0 ** (rng.uniform(-4, 8) if hard else rng.uniform(-2, 3))),
        "tol": float(10.0 ** (rng.randint(-8, -1) if hard else rng.randint(-6, -1))),
        "solver": str(rng.choice(["auto", "active-set", "alternating"], p=[0.6, 0.2, 0.2])),
        "fit_intercept": bool(rng.rand() < 0.8),
        "center": bool(rng.rand() < 0.25),
        "normalize": [None, "max", "trace"][rng.choice(3, p=[0.25, 0.15, 0.6] if hard else [0.1, 0.1, 0.8])],
        "max_iter": 1000 if rng.rand() < 0.9 else int(rng.randint(1, 20)),
    }
    if classify:
        options["multi_class"] = str(rng.choice(["shared", "ovr"]))
        options["class_weight"] = "balanced" if rng.rand() < 0.15 else None
    return options


def _other(rng: np.random.RandomState, options: dict[str, Any]) -> dict[str, Any]:
    """Solvers that serve one norm or one loss only."""
    solver = ["corrective", "greedy", "blockwise"][rng.randint(3)]
    if solver == "blockwise":
        return {"solver": solver, "loss": "squared", "tol": max(options["tol"], 1e-5)}
    return {"solver": solver, "norm": 1.0} | ({"max_iter": 100} if solver == "greedy" else {})


def _ball(rng: np.random.RandomState) -> L2Ball:
    return L2Ball(mu0=float(rng.choice([0.0, 0.3, 1.0])), radius=float(rng.choice([0.1, 1.0, 3.0])))
