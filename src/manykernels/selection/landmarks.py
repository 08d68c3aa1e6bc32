"""Ridge regression of a learned kernel at landmarks, from sums over all rows.

With the weights θ fixed, K_θ = Σ θ_m k_m is one kernel. Of all functions the best one is sought among those
that landmarks span, f(x) = Σ_l β_l k_θ(x, l) + b:

    min_{w, b} ½‖w‖² + ½ C Σ_i c_i ‖y_i − wᵀφ(x_i) − b‖²,      φ(x) = R⁻¹ k_θ(L, x),      β = R⁻ᵀ w

so that sums over rows are all that is needed of the data, for every C. Rows that are held out say which C,
which kernel, and whether more landmarks are worth their cost; in the end their sums are added to the others'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._fast.linalg import factor, solve
from ..approx.whitened import landmark_coefficients, landmark_features
from ..fitting.functions import KernelFunction
from ..fitting.layout import take
from ..fitting.model import Model
from ..fitting.options import Options
from ..fitting.samples import AnySamples
from ..grams.statistics import Statistics
from .scoring import Judge

Array = NDArray[np.float64]
Index = NDArray[np.intp]
_STEP = 10.0**0.5  # between values of C
_WORTH = 0.01  # of the error: what twice as many landmarks are expected to gain where they are tried
_SMALLEST, _LARGEST = 1e-4, 1e6  # of C


@dataclass(frozen=True)
class Held:
    """Held-out rows as kernels read them, and the judge of decisions on them."""

    rows: Index
    X: Any
    judge: Judge
    spare: Index | None = None  # rows that are neither learned from nor judged on: they join in the end


@dataclass(frozen=True)
class Fit:
    """One kernel at some landmarks, at its best C, learned outside of the rows held out."""

    model: Model  # whose kernels and weights these are
    landmarks: Any
    sums: Sequence[Statistics]  # of the rows learned from, of those held out, and of spare ones
    C: float
    error: float
    score: float
    decision: Array  # (held out, outputs)
    half: float  # the error with the first half of the landmarks

    @property
    def count(self) -> int:
        return int(self.sums[0].G.shape[0])

    def finish(self, options: Options) -> Model:
        """Return the model with the function that was learned from all rows."""
        whole = reduce(add, self.sums)
        return on_landmarks(self.model, self.landmarks, whole, self.C, options)


def ridge(
    S: Statistics, Cs: Sequence[float], intercept: bool, first: int | None = None
) -> Iterator[tuple[Array, Array]]:
    """w (p, outputs) and b (outputs,) for each C; of the `first` features only, where that is said."""
    k, G, Z = S.outputs, S.G[:first, :first], S.Z[:first]
    s, total = Z[:, -1], S.T[-1, -1]
    mean = S.T[-1, :k] / total if intercept else np.zeros(k)
    B = Z[:, :k] - np.outer(s, mean)
    for C in Cs:
        A = G - np.outer(s, s / total) if intercept else G.copy()
        A.flat[:: len(A) + 1] += 1.0 / C
        w = solve(factor(A), B)
        yield w, mean - (s @ w) / total if intercept else mean


def fit_landmarks(
    model: Model,
    samples: AnySamples,
    held: Held,
    landmarks: Index,
    Cs: Sequence[float],
    options: Options,
    widen: bool = True,
) -> Fit:
    """One pass over the rows for one kernel; where the best C is the last one, more follow (`widen`).

    Landmarks are rows in a random order.
    """
    chosen = take(samples.take(np.sort(landmarks)), np.argsort(np.argsort(landmarks)))
    features = landmark_features(model.mixtures, chosen)
    fold = np.zeros(samples.n, dtype=np.intp)
    fold[held.rows] = 1
    parts = 2 if held.spare is None else 3
    if held.spare is not None:
        fold[held.spare] = 2
    sums = samples.fold_statistics(features, False, ["the learned kernel"], 0, fold, parts)
    Phi, intercept = features.transform(held.X), bool(options.fit_intercept)

    def errors(Cs: Sequence[float], first: int) -> dict[float, tuple[float, float, Array]]:
        found = {}
        for C, (w, b) in zip(Cs, ridge(sums[0], Cs, intercept, first), strict=True):
            f = Phi[:, :first] @ w + b
            ((score, error),) = held.judge.scores([f])
            found[C] = (-score if held.judge.scorer is not None else error, score, f)
        return found

    found: dict[float, tuple[float, float, Array]] = {}
    waiting = list(Cs)
    while waiting:
        found |= errors(waiting, Phi.shape[1])
        best = min(found, key=lambda C: found[C][0])
        waiting = _beyond(best, sorted(found)) if widen else []
    half = min(one[0] for one in errors(around(best, 1), max(Phi.shape[1] // 2, 1)).values())
    error, score, f = found[best]
    return Fit(model, chosen, sums, best, error, score, f, half)


def _beyond(best: float, tried: list[float]) -> list[float]:
    """The next value of C, where the best is the last on its side."""
    more = ([best / _STEP] if best == tried[0] else []) + ([best * _STEP] if best == tried[-1] else [])
    return [C for C in more if _SMALLEST <= C <= _LARGEST]


def around(C: float, steps: int) -> list[float]:
    """C and as many values on both sides of it."""
    return [C * _STEP**k for k in range(-steps, steps + 1)]


def on_landmarks(model: Model, landmarks: Any, S: Statistics, C: float, options: Options) -> Model:
    """The function on these landmarks that sums over rows mean, as a model of the same kernels."""
    features = landmark_features(model.mixtures, landmarks)
    ((w, b),) = ridge(S, [C], bool(options.fit_intercept))
    beta, theta = landmark_coefficients(features, w), np.atleast_2d(model.weights)
    function = KernelFunction(
        model.kernels, theta, model.active, model.shared_kernel, landmarks, beta, np.asarray(b)
    )
    extra = {"best_C_": C, "n_landmarks_": len(beta)}
    return replace(
        model, function=function, proof=None, X_fit=landmarks, dual=beta, dual_point=None, extra=extra
    )


def grow(
    first: Fit,
    counts: Sequence[int],
    fit: Callable[[int, float], Fit],
    affordable: Callable[[int], bool],
) -> tuple[Fit, list[tuple[int, float]]]:
    """More landmarks, as long as the error on the rows held out falls; the best, and the errors by number.

    The first features are those of the first landmarks alone, since R is triangular. So what twice as many
    gained is known before twice as many again are tried, which gain less: by the
    factor, it is taken, by which these gained less than those before. `fit` is told how many, and the best C
    so far: few landmarks allow for more of it than many.
    """
    best, tried = first, [(first.count, first.error)]
    before = 0.0  # what the landmarks before those gained, once it is known
    for count in counts:
        last = best.half - best.error  # what the second half of the landmarks gained
        expected = last * min(1.0, last / before) if before else last
        if expected <= _WORTH * abs(best.error) or not affordable(count):
            break
        before = last
        more = fit(count, best.C)
        tried.append((more.count, more.error))
        if more.error > best.error:
            break
        best = more
    return best, tried
