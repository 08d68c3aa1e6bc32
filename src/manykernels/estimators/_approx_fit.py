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
from ..grams import FactorGram, parse_memory
from ..grams.features import FeatureGram
from ..grams.lowrank import Constants, Reduced, constants, reduce, reduce_rows
from ..grams.memory import require_memory
from ..grams.statistics import Statistics
from ..kernels import Fitted, Kernel
from ..losses import Loss, Squared
from ..penalties import resolve_penalty
from ..solvers import Result, resolve_solver
from ._approx_data import LocalSamples, Samples, probe, read_samples
from ._fit import Dictionary, Problem, _warn_duplicates, _warn_useless, solve
from ._spec import leaves
from ._targets import sample_costs

Array = NDArray[np.float64]
FEATURE_ATTRIBUTES = ("features_", "feature_coef_", "_feature_coef")
_COPIES = 6  # matrices of p × p that a fit holds at once: sums, factor, combinations
_FEW = 1000  # samples up to which losses with corners are learned faster, and more exactly, with matrices
_FEATURES = 3  # times the features of all samples, where they are all needed
_ONLINE = (
    "UFOMKLClassifier(approx=...) or UFOMKLRegressor(approx=...), whose partial_fit takes the samples block "
    "by block."
)


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
    samples, chosen = prepare(model, X, y, sample_weight)
    return learn(model, samples, chosen, loss, start)


def prepare(model: Any, X: Any, y: Any, sample_weight: Any, merged: bool = True) -> tuple[Samples, Chosen]:
    """Validated samples, and the kernels and features for them; sets what data tell the model."""
    samples, kind = read_samples(model, X, y, sample_weight, merged)
    check_approx_options(model, kind)
    if model.center and samples.n == 1:
        raise ValueError(
            "X holds 1 sample (or copies of one), and center=True leaves nothing of it; give more samples."
        )
    model._kind, model._n_layers = kind, 0
    names_in = getattr(model, "feature_names_in_", None) if kind == "array" else None
    return samples, choose_features(model, samples, names_in)


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
    supervised = any(isinstance(part, Family) and part.supervised for part in leaves(model.kernels))
    some, weight, targets = probe(samples, supervised)
    kernels = resolve_kernels(model.kernels, some, weight, names_in, targets, approx)
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
    who = f"{len(chosen.kernels)} kernels with {p} features in all need"
    advice = "Take fewer components or kernels, or raise memory_limit."
    require_memory(8 * p * p * _COPIES, limit, who, f"several matrices of {p} × {p}", advice)


def learn(model: Any, samples: Samples, chosen: Chosen, loss: Loss, start: Array | None) -> FeatureFit:
    """Weights and coefficients: for the squared loss from sums over the samples, else from all of them."""
    if not isinstance(loss, Squared):
        if not isinstance(samples, LocalSamples):
            raise ValueError(
                f"loss={loss!r} was given with samples that are not in memory; only loss='squared' can be "
                f"learned from sums over them. Take loss='squared', or {_ONLINE}"
            )
        return learn_rows(model, samples, chosen, loss, start)
    if isinstance(samples, LocalSamples) and samples.n <= chosen.features.n_features:
        reduced = _from_rows(model, samples, chosen)
    else:
        S = samples.statistics(chosen.features, model.normalize == "max", chosen.names, bool(model.verbose))
        known = constants(S, chosen.ptr, bool(model.center), model.normalize)
        reduced = reduce(S, chosen.ptr, known, bool(model.fit_intercept))
    return fit_reduced(model, chosen, reduced, loss, start)


def learn_rows(
    model: Any, samples: LocalSamples, chosen: Chosen, loss: Loss, start: Array | None
) -> FeatureFit:
    """Losses that need every sample, with the features of all of them in memory."""
    n, p, limit = samples.n, chosen.features.n_features, parse_memory(model.memory_limit)
    solver = resolve_solver(model.solver)
    room = [8 * n * (p * _FEATURES + extra) for extra in (0, n * _COPIES)]
    corners = not loss.smooth and n <= _FEW and room[1] <= limit
    matrices = n <= p or corners or not solver.features  # n × n, for what knows nothing else
    who = f"loss={loss!r} with {p} features of all {n} samples needs"
    advice = f"Take fewer components, loss='squared' (which needs sums only), or {_ONLINE}"
    what = f"copies of them{f' and matrices of {n} × {n}' if matrices else ''}"
    require_memory(room[matrices], limit, who, what, advice)
    Phi, ptr = chosen.features.transform(samples.X), chosen.ptr
    known = constants_of_rows(Phi, samples, ptr, bool(model.center), model.normalize)
    if known.mean is not None:
        Phi -= known.mean
    Phi *= known.roots(ptr)
    gram = FactorGram(Phi, ptr) if matrices else FeatureGram(Phi, ptr)
    nothing = np.zeros(p), np.zeros(samples.Y.shape[1])
    return fit_reduced(model, chosen, Reduced(gram, samples.Y, known, *nothing), loss, start, samples.costs)


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
    squares = np.einsum("i,ij,ij->j", w, Phi, Phi)
    sizes = np.full(ptr.size - 1, np.nan)
    if normalize == "max":
        parts = np.split(Phi, ptr[1:-1], axis=1)
        sizes = np.array([np.einsum("ij,ij->i", A, A).max() for A in parts])
    none = np.empty((0, 0))
    S = Statistics(none, none, none, w @ Phi, squares, float(w.sum()), sizes, samples.n)
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


def fit_reduced(
    model: Any,
    chosen: Chosen,
    reduced: Reduced,
    loss: Loss,
    start: Array | None,
    costs: Array | None = None,
) -> FeatureFit:
    """Run the model's solver: one problem, or one for each output.

    On pseudo-samples, whose cost is C and which are without intercept; or on samples of these `costs`.
    """
    gram, names, penalty = reduced.gram, chosen.names, resolve_penalty(model.norm)
    gram.names = names
    useless = useless_kernels(model, reduced.constants, names)
    gram.scale = np.where(useless, 0.0, gram.scale)
    if penalty.sparse and penalty.homogeneous:
        _warn_duplicates(chosen.kernels, gram)
    one = copy(model)
    one.fit_intercept = bool(model.fit_intercept) and costs is not None
    C = sample_costs(model.C, np.ones(gram.n) if costs is None else costs)
    dictionary = Dictionary(names, gram, [], None)
    groups, outputs = model._groups(reduced.targets), reduced.targets.shape[1]
    results, coef, intercept = [], np.zeros((gram.features.shape[1], outputs)), np.zeros(outputs)
    for g, group in enumerate(groups):
        Y = np.ascontiguousarray(reduced.targets[:, group])
        problem = Problem(dictionary, useless, loss, Y, np.repeat(C[:, None], len(group), axis=1))
        # from given weights: a part of the pseudo-samples stands for nothing
        theta = penalty.start(gram.n_kernels) if start is None or len(start) != len(groups) else start[g]
        result = solve(one, problem, (theta.copy(), np.zeros_like(Y)))
        results.append(replace(result, K=None))  # which nobody needs, and many fits may be kept
        coef[:, group] = reduced.coefficients(result.weights, result.alpha)
        intercept[group] = result.intercept
    theta = np.stack([result.weights for result in results])
    intercept = reduced.intercept(coef) if costs is None else intercept
    return FeatureFit(chosen, reduced.constants, theta, coef, intercept, results)
