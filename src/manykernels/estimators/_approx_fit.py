"""Fitting with explicit features: from samples to their sums, from sums to weights and coefficients."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..approx import Features, resolve_approx
from ..families import Family, resolve_kernels
from ..grams import parse_memory
from ..grams._memory import readable
from ..grams.lowrank import Constants, Reduced, constants, reduce, reduce_rows
from ..grams.statistics import Statistics
from ..kernels import Fitted, Kernel
from ..losses import Loss, Squared
from ..penalties import resolve_penalty
from ..solvers import Result
from ._approx_data import LocalSamples, Samples, probe, read_samples
from ._fit import Dictionary, Problem, _warn_duplicates, _warn_useless, solve

Array = NDArray[np.float64]
FEATURE_ATTRIBUTES = ("features_", "feature_coef_", "_feature_coef")
_COPIES = 6  # matrices of p × p that a fit holds at once: sums, factor, combinations


@dataclass(frozen=True)
class Chosen:
    """The kernels by name, and their features before anything is centred or scaled."""

    kernels: dict[str, Kernel]
    features: Features

    @property
    def names(self) -> list[str]:
        return list(self.kernels)

    @property
    def ptr(self) -> NDArray[np.intp]:
        return self.features.ptr


@dataclass(frozen=True)
class FeatureFit:
    """What was learned: θ (problems, M), coefficients (p, outputs), intercepts and the solvers' answers."""

    chosen: Chosen
    constants: Constants
    theta: Array
    coef: Array
    intercept: Array
    results: list[Result]

    @property
    def features(self) -> Features:
        """Centred as in training."""
        return self.chosen.features.centred(self.constants.mean)

    def fitted_kernels(self, normalize: str | None) -> list[Fitted]:
        """The kernels with their scale on the training data (of features, which is what was learned with)."""
        fitted = []
        for name, kernel, scale in zip(
            self.chosen.names, self.chosen.kernels.values(), self.constants.scale, strict=True
        ):
            one = Fitted.from_constants(kernel, float(scale), normalize=normalize)  # type: ignore[arg-type]
            one.name = name
            fitted.append(one)
        return fitted


def fit_features(
    model: Any, X: Any, y: Any, sample_weight: Any, loss: Loss, start: Array | None
) -> FeatureFit:
    """The road of `MKL*` with explicit features; `start` are weights of an earlier fit."""
    samples, kind = read_samples(model, X, y, sample_weight)
    check_approx_options(model, kind)
    if model.center and samples.n == 1:
        raise ValueError(
            "X holds 1 sample (or copies of one), and center=True leaves nothing of it; give more samples."
        )
    model._kind, model._n_layers = kind, 0
    names_in = getattr(model, "feature_names_in_", None) if kind == "array" else None
    chosen = choose_features(model, samples, names_in)
    return learn(model, samples, chosen, loss, start)


def forget(model: Any, names: tuple[str, ...]) -> None:
    """Attributes of a fit of the other kind."""
    for name in names:
        model.__dict__.pop(name, None)


def check_approx_options(model: Any, kind: str) -> None:
    """What explicit features cannot do, each with what to do instead."""
    if kind == "stack":
        raise ValueError(
            f"approx={model.approx!r} was given with a stack of matrices, and explicit features are computed "
            "from samples. Give the samples and kernels that read them, or set approx=None."
        )
    if isinstance(model.kernels, Family) and not model.kernels.listed:
        raise ValueError(
            f"kernels={model.kernels!r} stands for more kernels than can be listed, and approx gives every "
            "kernel features of its own. Give a list such as gaussian_grid(low, high, n), or approx=None."
        )
    if model.center and model.normalize in ("max", "cosine"):
        raise ValueError(
            f"normalize={model.normalize!r} was given with center=True and approx: it needs the size of "
            "every centred sample, which one pass does not give. Take normalize='trace', or center=False."
        )
    if getattr(model, "class_weight", None) is not None and model.normalize == "frobenius":
        raise ValueError(
            "normalize='frobenius' was given with class_weight and approx: it counts samples, and the sums "
            "that are kept count costs. Take normalize='trace', or class_weight=None."
        )


def choose_features(model: Any, samples: Samples, names_in: Any) -> Chosen:
    """The kernels for these samples and their features; landmarks depend on samples, weights and seed."""
    approx = resolve_approx(model.approx)
    assert approx is not None
    some, weight = probe(samples)
    kernels = resolve_kernels(model.kernels, some, weight, names_in)
    parts = list(kernels.values())
    if model.normalize == "cosine":
        parts = [Fitted.from_constants(kernel, 1.0, normalize="cosine") for kernel in parts]
        for name, part in zip(kernels, parts, strict=True):
            part.name = name
    rng = check_random_state(model.random_state)
    rows, own = approx.sample(samples.n, samples.weight, rng)
    chosen = Chosen(kernels, approx.fit_sample(parts, samples.take(rows), own, rng))
    _require_memory(chosen, model.memory_limit)
    return chosen


def _require_memory(chosen: Chosen, memory_limit: Any) -> None:
    p, limit = chosen.features.n_features, parse_memory(memory_limit)
    need = 8 * p * p * _COPIES
    if need > limit:
        raise MemoryError(
            f"{len(chosen.kernels)} kernels with {p} features in all need about {readable(need)} (several "
            f"matrices of {p} × {p}), and memory_limit allows {readable(limit)}. Take fewer components or "
            "kernels, or raise memory_limit."
        )


def learn(model: Any, samples: Samples, chosen: Chosen, loss: Loss, start: Array | None) -> FeatureFit:
    """Weights and coefficients for the squared loss, from the sums over all samples."""
    require_sums(loss, samples)
    if isinstance(samples, LocalSamples) and samples.n <= chosen.features.n_features:
        reduced = _from_rows(model, samples, chosen)
    else:
        S = samples.statistics(chosen.features, model.normalize == "max", chosen.names, bool(model.verbose))
        known = constants(S, chosen.ptr, bool(model.center), model.normalize)
        reduced = reduce(S, chosen.ptr, known, bool(model.fit_intercept))
    return fit_reduced(model, chosen, reduced, loss, start)


def require_sums(loss: Loss, samples: Samples) -> None:
    """Only the squared loss can do with sums; others need samples at hand."""
    if not isinstance(loss, Squared):
        raise ValueError(
            f"loss={loss!r} was given with samples that are not in memory; only loss='squared' can be "
            "learned from sums over them. Take loss='squared', or UFOMKLClassifier(approx=...) or "
            "UFOMKLRegressor(approx=...), whose partial_fit takes the samples block by block."
        )


def _from_rows(model: Any, samples: LocalSamples, chosen: Chosen) -> Reduced:
    """Fewer samples than features: they are their own pseudo-samples."""
    Phi, ptr = chosen.features.transform(samples.X), chosen.ptr
    known = constants_of_rows(Phi, samples, ptr, bool(model.center), model.normalize)
    return reduce_rows(Phi, samples.Y, samples.costs, ptr, known, bool(model.fit_intercept))


def constants_of_rows(
    Phi: Array, samples: LocalSamples, ptr: NDArray[np.intp], center: bool, normalize: str | None
) -> Constants:
    """Centring and normalising from the features of all samples."""
    w = np.ones(samples.n) if samples.weight is None else samples.weight
    squares = Phi * Phi
    sizes = np.add.reduceat(squares, ptr[:-1], axis=1)
    none = np.empty((0, 0))
    S = Statistics(none, none, none, w @ Phi, w @ squares, float(w.sum()), sizes.max(axis=0), samples.n)
    norms = None
    if normalize == "frobenius":
        half = np.sqrt(w)[:, None] * (Phi - S.sums / S.total if center else Phi)
        parts = np.split(half, ptr[1:-1], axis=1)
        norms = np.array([np.linalg.norm(A.T @ A) for A in parts])
    return constants(S, ptr, center, normalize, norms)


def useless_kernels(model: Any, known: Constants, names: list[str]) -> NDArray[np.bool_]:
    """Kernels that are zero, or constant where an intercept does the same for free, with warnings."""
    gone = known.zero
    if gone.all():
        raise ValueError(
            f"kernel {names[0]!r} is zero on the training data (once centred), and so is every other one: "
            "there is nothing to learn from. Give kernels that vary with the samples."
        )
    if gone.any():
        _warn_useless([name for name, z in zip(names, gone, strict=True) if z], "zero for all samples")
    flat = known.flat & ~gone & bool(model.fit_intercept)
    if flat.any():
        why = "constant to within 1e-12 of the size, which the intercept offers at no cost"
        _warn_useless([name for name, z in zip(names, flat, strict=True) if z], why)
    return np.asarray(gone | flat)


def fit_reduced(model: Any, chosen: Chosen, reduced: Reduced, loss: Loss, start: Array | None) -> FeatureFit:
    """Run the model's solver on the pseudo-samples: one problem, or one for each output."""
    gram, names = reduced.gram, chosen.names
    gram.names = names
    useless = useless_kernels(model, reduced.constants, names)
    if not useless.all():
        gram.scale = np.where(useless, 0.0, gram.scale)
    penalty = resolve_penalty(model.norm)
    if penalty.sparse and penalty.homogeneous:
        _warn_duplicates(chosen.kernels, gram)
    without = copy(model)
    without.fit_intercept = False  # it is out of the pseudo-samples already
    dictionary = Dictionary(names, gram, [], None)
    groups = model._groups(reduced.targets)
    results, coef = [], np.zeros((gram.features.shape[1], reduced.targets.shape[1]))
    for g, group in enumerate(groups):
        Y = np.ascontiguousarray(reduced.targets[:, group])
        problem = Problem(dictionary, useless, loss, Y, np.full(Y.shape, float(model.C)))
        # from given weights: a part of the pseudo-samples stands for nothing
        theta = penalty.start(gram.n_kernels) if start is None or len(start) != len(groups) else start[g]
        result = solve(without, problem, (theta.copy(), np.zeros_like(Y)))
        results.append(replace(result, K=None))  # which nobody needs, and many fits may be kept
        coef[:, group] = reduced.coefficients(result.theta, result.alpha)
    theta = np.stack([result.theta for result in results])
    return FeatureFit(chosen, reduced.constants, theta, coef, reduced.intercept(coef), results)
