"""Ensembles of kernel predictors: one machine for each kernel, and weights that combine what they predict.

    f(x) = Σ_m μ_m h_m(x) + b,      h_m = Σ_j α_mj k_m(x_j, ·) + b_m      (Rostamizadeh 2010, Eq. 3.6)

Each machine has coefficients of its own, and μ may have any sign: a larger class of functions than that of a
learned kernel, whose coefficients all kernels share (Eq. 3.7). What a machine says of its training samples
flatters it, so that μ is learned from what machines say of samples that they have not seen (cross-fitting;
Wolpert 1992). With H_im that decision on sample i, costs c and s² the variance of y,

    μ = argmin  1/(2 s² Σc) Σ_i c_i (y_i − b − Σ_m μ_m H_im)² + λ‖μ‖₁   or   + ½λ‖μ‖₂²      (l1, l2)

summed over outputs, which share μ. λ is chosen by the error on each fold of weights learned on the others.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve
from sklearn.exceptions import ConvergenceWarning

from .._fast.linalg import factor
from .._fast.nnls import nnls
from .._fast.threads import blas_for, threads
from ..fitting.bound import warn_stopped
from ..fitting.dictionary import bind
from ..fitting.functions import OwnFunction
from ..fitting.listed import Listed, support_of
from ..fitting.model import Model
from ..fitting.options import Options
from ..fitting.samples import Given, Samples
from ..solvers import Result
from .paths import Decisions, alone_path, offsets
from .scoring import all_classes
from .splits import Folds

Array = NDArray[np.float64]
Norm = Literal["l1", "l2"]
LAMBDAS = np.logspace(-5.0, 0.5, 12)
_RIDGE = 1e-10  # of the mean diagonal: what makes the solution of l1 unique where predictors are the same


@dataclass(frozen=True)
class HeldOut:
    """Decisions of every machine on held-out samples, for each C: H (Cs, n, M, k)."""

    names: list[str]
    Cs: Sequence[float]
    H: Array
    Y: Array  # (n, k)
    cost: Array  # (n,), 0 for samples that count nothing
    fold: NDArray[np.intp]  # (n,): where a sample was held out, −1 where it never was

    def errors(self, clipped: bool) -> Array:
        """(Cs, M): the mean squared error of each machine by itself; decisions are clipped to ±1."""
        counts = self.cost * (self.fold >= 0)
        H = np.clip(self.H, -1.0, 1.0) if clipped else self.H
        squares = np.mean((self.Y[None, :, None] - H) ** 2, axis=3)
        return np.asarray(np.einsum("n,cnm->cm", counts, squares) / counts.sum())

    def chosen(self, places: NDArray[np.intp]) -> Array:
        """(n, M, k) for a C of its own for each kernel, by its place."""
        return np.ascontiguousarray(np.moveaxis(self.H[places, :, np.arange(places.size)], 0, 1))


def cross_fit(options: Options, given: Given, folds: Folds, Cs: Sequence[float]) -> HeldOut:
    """Learn all machines on each training part, and let them decide on what it leaves out.

    Kernels that a part lacks, such as those of a column that is constant there, decide by its mean target.
    """
    whole = given.samples()
    names = _bound(options, whole).known.names
    owner, n = whole.rows.owner, given.n
    kept = owner >= 0
    Y = np.where(kept[:, None], whole.Y[owner], 0.0)
    cost = np.where(kept, whole.costs[owner] * whole.rows.share, 0.0)
    H, fold = np.zeros((len(Cs), n, len(names), Y.shape[1])), np.full(n, -1)
    place = {name: m for m, name in enumerate(names)}
    for number, (train, test) in enumerate(folds):
        samples, new = given.part(train).samples(), given.new(test, train)
        bound = _bound(options, samples)
        decide, mean = Decisions(bound, new), np.average(samples.Y, axis=0, weights=samples.costs)
        fold[test] = number
        H[:, test] = _of_all(np.broadcast_to(mean, (test.size, mean.size)), samples, whole)[:, None]
        for m, name in enumerate(bound.known.names):
            if name not in place:
                continue
            for c, result in enumerate(_alone(options, bound, m, Cs)):
                theta = np.zeros(len(bound.known.names))
                theta[m] = result.weights[0]
                f = decide(theta, result.alpha) + offsets(result, None)
                H[c, test, place[name]] = _of_all(f, samples, whole)
    return HeldOut(names, Cs, H, Y, cost, fold)


def _of_all(f: Array, samples: Samples, whole: Samples) -> Array:
    """Decisions for all classes, where a training part lacks some."""
    classes = getattr(whole.target, "classes", None)
    return f if classes is None else all_classes(f, samples.target.classes, classes)


def _bound(options: Options, samples: Samples) -> Listed:
    bound = bind(options, samples)
    assert isinstance(bound, Listed)  # the face has looked
    return bound


def _alone(options: Options, bound: Listed, m: int, Cs: Sequence[float]) -> Iterator[Result]:
    """The machine of kernel m by itself, for every C in ascending order."""
    for _, (result,) in alone_path(options, bound.select(np.array([m])), Cs):
        yield result


# -- combining ------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Normal:
    """½μᵀGμ − gᵀμ is what is minimised, up to a constant; the means of H (M, k) and Y (k,) give b."""

    G: Array
    g: Array
    means: Array
    mean: Array

    @classmethod
    def of(cls, H: Array, Y: Array, cost: Array) -> Normal:
        """Compute the sums from decisions (n, M, k) and targets (n, k)."""
        share = cost / cost.sum()
        means, mean = np.einsum("n,nmk->mk", share, H), share @ Y
        centred, left = H - means, Y - mean
        size = float(share @ np.sum(left**2, axis=1)) or 1.0
        weighted = share[:, None, None] * centred / size
        return cls(
            np.einsum("nmk,nlk->ml", weighted, centred, optimize=True),
            np.einsum("nmk,nk->m", weighted, left),
            means,
            mean,
        )

    def weights(self, norm: Norm, lam: float) -> Array:
        """μ."""
        M = self.g.size
        ridge = _RIDGE * max(float(np.trace(self.G)) / M, 1e-300)
        if norm == "l2":
            L = factor(self.G + max(lam, ridge) * np.eye(M))
            return np.asarray(cho_solve((L, True), self.g, check_finite=False))
        # μ = v − u with v, u ≥ 0: non-negative least squares, scaled to a diagonal of 1
        A = self.G + ridge * np.eye(M)
        H = np.block([[A, -self.G], [-self.G, A]])
        c = np.concatenate([self.g, -self.g]) - lam
        d = np.sqrt(H.diagonal())
        size = max(float(np.abs(c / d).max()), 1e-300)
        v = nnls(H / np.outer(d, d), c / d / size) * size / d
        return np.asarray(v[:M] - v[M:])

    def intercept(self, mu: Array) -> Array:
        """b, (k,)."""
        return np.asarray(self.mean - mu @ self.means)


@dataclass(frozen=True)
class Combined:
    """μ and b, the λ that was chosen, and for each λ the error on folds of weights learned on the others."""

    mu: Array
    intercept: Array
    lam: float
    lambdas: Array
    errors: Array


def combine(held: HeldOut, H: Array, norm: Norm, lam: Any) -> Combined:
    """Learn μ from decisions H (n, M, k) on held-out samples; `lam` is λ, or "auto"."""
    lambdas = LAMBDAS if isinstance(lam, str) else np.array([float(lam)])
    used = (held.fold >= 0) & (held.cost > 0.0)
    errors, total = np.zeros(lambdas.size), 0.0
    for number in range(int(held.fold.max()) + 1):
        out = used & (held.fold == number)
        rest = used & ~out
        if not out.any() or not rest.any():
            continue
        normal = Normal.of(H[rest], held.Y[rest], held.cost[rest])
        for i, value in enumerate(lambdas):
            mu = normal.weights(norm, float(value))
            f = np.einsum("nmk,m->nk", H[out], mu) + normal.intercept(mu)
            errors[i] += float(held.cost[out] @ np.mean((held.Y[out] - f) ** 2, axis=1))
        total += float(held.cost[out].sum())
    errors /= total if total else np.nan
    best = float(lambdas[0 if lambdas.size == 1 else int(np.nanargmin(errors))])
    normal = Normal.of(H[used], held.Y[used], held.cost[used])
    mu = normal.weights(norm, best)
    return Combined(mu, normal.intercept(mu), best, lambdas, errors)


# -- the model ------------------------------------------------------------------------------------
def learn_ensemble(
    options: Options, given: Given, folds: Folds, Cs: Sequence[float], norm: Norm, lam: Any
) -> Model:
    """Cross-fit the machines, combine them, and learn those with weight anew from all samples."""
    Cs = sorted(Cs)
    with warnings.catch_warnings(), threads(options.n_jobs):
        warnings.simplefilter("ignore", ConvergenceWarning)  # the machines of all samples say it once
        with blas_for(given.n):
            held = cross_fit(options, given, folds, Cs)
            errors = held.errors(given.target.task == "classification")
            places = errors.argmin(axis=0)
            combined = combine(held, held.chosen(places), norm, lam)
            model, gap = _model(options, given, np.array(Cs)[places], combined)
    if gap > float(options.tol):
        warn_stopped(options, 1, gap)
    learned = {
        "lam_": combined.lam,
        "path_": {"lam": combined.lambdas, "cv_error": combined.errors},
        "cv_errors_": errors[places, np.arange(places.size)],
        "predictor_C_": np.array(Cs)[places],
    }
    return replace(model, extra=model.extra | learned)


def _model(options: Options, given: Given, Cs: Array, combined: Combined) -> tuple[Model, float]:
    """The machines with weight on all samples, as one function; and the largest gap of them."""
    samples = given.samples()
    bound = _bound(options, samples)
    known, mu, gap = bound.known, combined.mu.copy(), 0.0
    alpha = np.zeros((len(known.names), samples.n, samples.Y.shape[1]))
    intercept = combined.intercept.copy()
    for m in np.flatnonzero(mu):
        (result,) = _alone(options, bound, int(m), [float(Cs[m])])
        alpha[m] = mu[m] * result.weights[0] * result.alpha
        intercept += mu[m] * result.intercept
        gap = max(gap, result.gap)
    flat = alpha.transpose(1, 0, 2).reshape(samples.n, -1)
    support, coefficients = support_of(samples, known.kernels, flat)
    own = coefficients.reshape(len(coefficients), len(mu), -1).transpose(1, 0, 2)
    model = Model(
        options.title,
        samples.layout,
        known.names,
        known.kernels,
        weights=mu,
        kernel=None,
        target=samples.target,
        n_jobs=options.n_jobs,
    )
    active = np.flatnonzero(mu)
    function = OwnFunction(known.kernels, active, support, np.ascontiguousarray(own), intercept)
    X_fit = np.arange(len(samples.X)) if samples.stack else samples.X
    return replace(model, function=function, X_fit=X_fit), gap
