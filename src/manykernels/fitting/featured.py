"""Explicit features in place of matrices of n × n: from samples to their sums, from sums to weights.

For the squared loss sums over the samples are all that is needed of them, wherever they are; other losses
need the features of all samples in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..approx import Features
from ..approx.lacking import with_rest
from ..families import resolve_kernels
from ..grams import FactorGram, parse_memory
from ..grams.features import FeatureGram
from ..grams.lowrank import Constants, Reduced, constants, reduce, reduce_beside, reduce_rows
from ..grams.memory import require_memory
from ..grams.statistics import Statistics
from ..kernels import Fitted, Kernel
from ..kernels.data import n_samples
from ..kernels.presence import presences
from ..penalties import Penalty
from ..solvers import Result, Solver
from .bound import Bound, proof_of, warn_stopped, weighed, weights_of
from .checks import useless_features, warn_duplicates
from .covariates import CovariatePart, Unpenalised
from .functions import FeatureFunction
from .layout import take
from .listed import covariate_part
from .model import Model
from .options import Options
from .samples import AnySamples, Samples, probe

Array = NDArray[np.float64]
_COPIES = 6  # matrices of p × p that a fit holds at once: sums, factor, combinations
_FEW = 1000  # samples up to which losses with corners are learned faster, and more exactly, with matrices
_FEATURES = 3  # times the features of all samples, where they are all needed
_ONLINE = (
    "UFOMKLClassifier(approx=...) or UFOMKLRegressor(approx=...), whose partial_fit takes the samples block "
    "by block."
)


@dataclass(frozen=True)
class Mapped:
    """The kernels by name, and their features before anything is centred or scaled."""

    kernels: dict[str, Kernel]
    features: Features

    @property
    def names(self) -> list[str]:
        return list(self.kernels)

    @property
    def ptr(self) -> NDArray[np.intp]:
        return self.features.ptr

    def centred(self, known: Constants) -> Features:
        """The features as in training."""
        return self.features.centred(known.mean)

    def fitted(self, known: Constants, normalize: Any) -> list[Fitted]:
        """The kernels with their scale on the training data (of features, which is what was learned with)."""
        fitted = []
        for (name, kernel), scale in zip(self.kernels.items(), known.scale, strict=True):
            one = Fitted.from_constants(kernel, float(scale), normalize=normalize)
            one.name = name
            fitted.append(one)
        return fitted


@dataclass(frozen=True)
class Featured(Bound):
    """Kernels as features, on the samples themselves or on pseudo-samples that stand for them."""

    space: FactorGram
    mapped: Mapped
    reduced: Reduced
    useless: NDArray[np.bool_]

    def resume(self, previous: Model, g: int, group: list[int], problems: int) -> Array | None:
        return weights_of(previous, g, problems, self.space.n_kernels)

    def start(self, start: Any, penalty: Penalty, Y: Array) -> tuple[Array, Array]:
        """From weights in any case: a part of the pseudo-samples, to start on, would stand for nothing."""
        theta = penalty.start(self.space.n_kernels) if start is None else start.copy()
        return theta, np.zeros_like(Y)

    def settle(self, options: Options, penalty: Penalty, result: Result) -> Result:
        result.weights[self.useless] = 0.0
        if not result.gap <= options.tol:
            warn_stopped(options, result.n_iter, result.gap, result.reason.value)
        return replace(result, K=None)  # which nobody needs, and many fits may be kept

    def model(self, options: Options, results: list[Result]) -> Model:
        theta = np.stack([result.weights for result in results])
        coef, intercept, covariates = self.coefficients(options, results)
        known, mapped, samples = self.reduced.constants, self.mapped, self.samples
        kernels = mapped.fitted(known, options.normalize)
        active = np.flatnonzero(theta.any(axis=0))
        return Model(
            options.title,
            samples.layout,
            mapped.names,
            kernels,
            **weighed(options, samples.target, kernels, theta),
            target=samples.target,
            function=FeatureFunction(mapped.centred(known), coef, active, intercept),
            covariates=covariates,
            proof=proof_of(results, float(options.tol)),
            n_jobs=options.n_jobs,
        )

    @property
    def free(self) -> Unpenalised | None:
        """None where pseudo-samples are less what the covariates take up."""
        return super().free if self.intercept or self.reduced.feature_means.ndim == 1 else None

    def coefficients(
        self, options: Options, results: list[Result]
    ) -> tuple[Array, Array, CovariatePart | None]:
        """Return coefficients of features (p, outputs), intercepts (outputs,), and those of covariates."""
        outputs = self.Y.shape[1]
        coef, intercept = np.zeros((self.space.features.shape[1], outputs)), np.zeros(outputs)
        for group, result in zip(options.groups(outputs), results, strict=True):
            coef[:, group] = self.reduced.coefficients(result.weights, result.alpha)
            intercept[group] = result.intercept
        if self.reduced.feature_means.ndim == 2:
            free = self.samples.free
            told = free.back @ self.reduced.intercept(coef)
            return coef, told[0], CovariatePart(free.design, told[1:])
        intercept = intercept if self.intercept else self.reduced.intercept(coef)
        return coef, intercept, covariate_part(self.samples, results)


def bind_featured(options: Options, samples: AnySamples, solver: Solver) -> Featured:
    """The kernels as features on these samples; all losses but the squared one need them in memory."""
    mapped = map_kernels(options, samples)
    if options.loss.quadratic:
        return feature_problem(options, samples, solver, mapped, sums_of(options, samples, mapped))
    if not isinstance(samples, Samples):
        raise ValueError(
            f"loss={options.loss!r} was given with samples that are not in memory; only loss='squared' can "
            f"be learned from sums over them. Take loss='squared', or {_ONLINE}"
        )
    reduced = _all_rows(options, samples, solver, mapped)
    return feature_problem(options, samples, solver, mapped, reduced, samples.costs)


def feature_problem(
    options: Options,
    samples: AnySamples,
    solver: Solver,
    mapped: Mapped,
    reduced: Reduced,
    costs: Array | None = None,
) -> Featured:
    """Pose the problem on pseudo-samples, with cost C and without intercept, or on samples of these costs."""
    gram, names = reduced.gram, mapped.names
    gram.names = names
    known, constant = reduced.constants, bool(options.fit_intercept)
    useless = useless_features(known.zero, known.flat, names, constant)
    gram.scale = np.where(useless, 0.0, gram.scale)
    if options.penalty.sparse and options.penalty.homogeneous:
        warn_duplicates(mapped.kernels, gram)
    intercept = constant and costs is not None
    costs = np.ones(gram.n) if costs is None else costs
    return Featured(samples, solver, gram, reduced.targets, costs, intercept, mapped, reduced, useless)


def map_kernels(options: Options, samples: AnySamples) -> Mapped:
    """The kernels for these samples and their features; landmarks depend on samples, weights and seed."""
    _check(options, samples)
    approx = options.approx
    assert approx is not None
    some, weight, targets = probe(samples, options.supervised)
    spec = samples.layout.seen(options.kernels)
    kernels = resolve_kernels(spec, some, weight, samples.layout.names, targets, approx)
    parts: list[Any] = list(kernels.values())
    if options.normalize == "cosine":
        parts = [Fitted.from_constants(kernel, 1.0, normalize="cosine") for kernel in parts]
        for name, part in zip(kernels, parts, strict=True):
            part.name = name
    rng = options.rng
    rows, own = approx.sample(samples.n, samples.weight, rng)
    features = approx.fit_sample(parts, samples.take(rows), own, rng)
    mapped = Mapped(kernels, _with_rest(features, parts, samples, some, weight))
    p, limit = mapped.features.n_features, parse_memory(options.memory_limit)
    who = f"{len(kernels)} kernels with {p} features in all need"
    advice = "Take fewer components or kernels, or raise memory_limit."
    require_memory(8 * p * p * _COPIES, limit, who, f"several matrices of {p} × {p}", advice)
    return mapped


def _with_rest(
    features: Features, kernels: list[Kernel], samples: AnySamples, some: Any, weight: Array | None
) -> Features:
    """Features that know what samples without a view have: from all of them in memory, else from `some`."""
    X: Any = samples.data if isinstance(samples, Samples) else some
    weight = samples.weight if isinstance(samples, Samples) else weight
    count = samples.n if isinstance(samples, Samples) else n_samples(some)
    w = np.ones(count) if weight is None else weight
    having, classes = presences(kernels, X), samples.target.task == "classification"
    return with_rest(features, kernels, having, w, lambda rows: take(X, rows), spread=classes)


def _check(options: Options, samples: AnySamples) -> None:
    """Raise an error for options that explicit features cannot serve, with advice."""
    if samples.layout.kind == "stack":
        raise ValueError(
            f"approx={options.approx!r} was given with a stack of matrices, and explicit features are "
            "computed from samples. Give the samples and kernels that read them, or set approx=None."
        )
    if not options.listed:
        raise ValueError(
            f"kernels={options.kernels!r} stands for more kernels than can be listed, and approx gives every "
            "kernel features of its own. Give a list such as gaussian_grid(low, high, n), or approx=None. "
            "Products of columns, Products(degree=...), are learned from blocks of rows by MKLClassifier and "
            "MKLRegressor with approx='features', continua such as Gaussians() with "
            "approx=RandomFeatures(512)."
        )
    if options.center and options.normalize in ("max", "cosine"):
        raise ValueError(
            f"normalize={options.normalize!r} was given with center=True and approx: it needs the size of "
            "every centred sample, which one pass does not give. Take normalize='trace', or center=False."
        )
    if options.counts_classes and options.normalize == "frobenius":
        raise ValueError(
            "normalize='frobenius' was given with class_weight and approx: it counts samples, and the sums "
            "that are kept count costs. Take normalize='trace', or class_weight=None."
        )
    if options.center and samples.n == 1:
        raise ValueError(
            "X holds 1 sample (or copies of one), and center=True leaves nothing of it; give more samples."
        )


def sums_of(options: Options, samples: AnySamples, mapped: Mapped, intercept: bool | None = None) -> Reduced:
    """Pseudo-samples that stand for all samples where errors are squared, or in alignment."""
    constant = bool(options.fit_intercept) if intercept is None else intercept
    if isinstance(samples, Samples) and samples.free is not None:
        require_memory(*_room_of_rows(options, samples, mapped))
        Phi = mapped.features.transform(samples.data)
        known = constants_of_rows(options, samples, Phi, mapped)
        return reduce_beside(Phi, samples.Y, samples.costs, mapped.ptr, known, samples.free.basis)
    if isinstance(samples, Samples) and samples.n <= mapped.features.n_features:  # their own pseudo-samples
        Phi = mapped.features.transform(samples.data)
        known = constants_of_rows(options, samples, Phi, mapped)
        return reduce_rows(Phi, samples.Y, samples.costs, mapped.ptr, known, constant)
    S = samples.statistics(mapped.features, options.normalize == "max", mapped.names, options.verbose)
    return reduced_sums(options, mapped, S, constant)


def _room_of_rows(options: Options, samples: Samples, mapped: Mapped) -> tuple[int, int, str, str, str]:
    """Describe the memory of the features of all samples, for `require_memory`."""
    n, p = samples.n, mapped.features.n_features
    who = f"covariates with {p} features of all {n} samples need"
    advice = "Take fewer components, or leave the covariates out."
    return 8 * n * p * _FEATURES, parse_memory(options.memory_limit), who, "copies of them", advice


def reduced_sums(options: Options, mapped: Mapped, S: Statistics, intercept: bool) -> Reduced:
    """Pseudo-samples from sums over samples."""
    lacking = mapped.features.lacking
    known = constants(S, mapped.ptr, bool(options.center), options.normalize, lacking=lacking)
    return reduce(S, mapped.ptr, known, intercept)


def _all_rows(options: Options, samples: Samples, solver: Solver, mapped: Mapped) -> Reduced:
    """The features of all samples, for losses that need every one of them."""
    n, p, limit = samples.n, mapped.features.n_features, parse_memory(options.memory_limit)
    room = [8 * n * (p * _FEATURES + extra) for extra in (0, n * _COPIES)]
    corners = not options.loss.smooth and n <= _FEW and room[1] <= limit
    matrices = (
        n <= p or corners or "features" not in solver.serves.kernels
    )  # n × n, for what knows nothing else
    who = f"loss={options.loss!r} with {p} features of all {n} samples needs"
    advice = f"Take fewer components, loss='squared' (which needs sums only), or {_ONLINE}"
    what = f"copies of them{f' and matrices of {n} × {n}' if matrices else ''}"
    require_memory(room[matrices], limit, who, what, advice)
    Phi, ptr = mapped.features.transform(samples.data), mapped.ptr
    known = constants_of_rows(options, samples, Phi, mapped)
    if known.mean is not None:
        Phi -= known.mean
    Phi *= known.roots(ptr)
    gram = FactorGram(Phi, ptr) if matrices else FeatureGram(Phi, ptr)
    return Reduced(gram, samples.Y, known, np.zeros(p), np.zeros(samples.Y.shape[1]))


def constants_of_rows(options: Options, samples: Samples, Phi: Array, mapped: Mapped) -> Constants:
    """Centring and normalising from the features of all samples."""
    ptr = mapped.ptr
    center, normalize = bool(options.center), options.normalize
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
    return constants(S, ptr, center, normalize, norms, mapped.features.lacking)
