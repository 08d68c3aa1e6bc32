"""Two-stage learning: weigh the kernels by their alignment with the target.

With explicit features the learned kernel is k(x, x') = ⟨z(x), z(x')⟩, z(x) the features √(θ_m s_m) φ_m(x) of
all kernels with weight: a learner that is linear in z is one that is linear in the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._fast.linalg import factor, solve
from .._fast.threads import threads
from .._warn import warn
from ..approx import Features
from ..families import Parametric
from ..grams import Gram, StackGram, parse_memory
from ..grams.lowrank import Constants, Reduced, reduce, without_means
from ..grams.memory import require_memory
from ..objectives import Alignment
from ..weightings import Weighting
from ..weightings.base import Weighted
from ..weightings.choice import FamilyOn, align_family
from .checks import require_definite
from .dictionary import road
from .featured import map_kernels, sums_of
from .layout import Layout, require_finite
from .listed import list_kernels
from .model import Model, mixture
from .options import Options
from .progress import watched_pass
from .samples import AnySamples, Samples
from .spec import short

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FeatureMap:
    """z(x): the features of all kernels with weight, each times √(θ_m s_m)."""

    features: Features
    root: Array  # (p,)

    @property
    def used(self) -> NDArray[np.bool_]:
        return self.root > 0.0

    def __call__(self, layout: Layout, X: Any, n_jobs: int | None) -> Array:
        """Compute the features with weight of samples as users give them."""
        X, used = layout.read(X), self.used
        with threads(n_jobs):
            Z = np.asarray(self.features.transform(X)[:, used] * self.root[used])
        return require_finite(Z, "features")


@dataclass(frozen=True)
class Aligned:
    """The result of the first stage, for the second."""

    model: Model
    gram: Gram | None = None  # of all kernels on the training samples
    map: FeatureMap | None = None  # with explicit features
    reduced: Reduced | None = None  # and the sums that they were learned from


def align(options: Options, samples: AnySamples, weighting: Weighting, asked: Any, work: int) -> Aligned:
    """Run the first stage with a weighting; the second stage needs `work` matrices of n × n."""
    options = options.replace(kernels=samples.layout.seen(options.kernels))
    _require_served(options, samples, weighting, asked)
    way = road(options, 0.0)  # blocks of rows serve risks only
    if way in ("featured", "passed"):
        return _align_features(options, samples, weighting)
    assert isinstance(samples, Samples)
    if way == "asked":
        return _align_family(options, samples, weighting, asked, work)
    known = list_kernels(options, samples, max(work, weighting.squares), weighting.pairs, supervised=False)
    known.gram.weight = samples.weight
    gram, Y = known.gram, samples.Y
    if samples.free is not None:
        gram, Y = _off(options, gram, samples.free.basis), samples.unexplained
    alignment = Alignment(gram, Y)
    with watched_pass(options.title, options.verbose, gram):
        found = weighting.weigh(alignment)
    if options.foreign and np.all(found.theta >= 0):
        require_definite(known.gram, known.names, known.slacks, found.theta)
    facts = _judge(found, alignment.value(found.theta))
    model = _model(options, samples, known.names, known.kernels, found.theta, facts)
    return Aligned(model, known.gram)


def _off(options: Options, gram: Gram, Z: Array) -> StackGram:
    """Return the kernels PK_mP, where P projects off the covariates in place of centring."""
    M, n = gram.n_kernels, gram.n
    who = f"{M} kernels on {n} samples less what covariates explain need"
    advice = "Give fewer kernels, raise memory_limit, or learn in one stage: MKLClassifier, MKLRegressor."
    require_memory(8 * M * n * n, parse_memory(options.memory_limit), who, "a copy of all", advice)
    stack = np.empty((M, n, n))
    for m in range(M):
        K = gram.combine(np.eye(M)[m])
        K = K - Z @ (Z.T @ K)
        stack[m] = K - (K @ Z) @ Z.T
    found = StackGram(stack)
    found.names = gram.names
    return found


def _require_served(options: Options, samples: AnySamples, weighting: Weighting, asked: Any) -> None:
    """Raise an error for a weighting that needs what these targets or features are not."""
    adjusted = getattr(samples, "free", None) is not None
    if adjusted and (not weighting.sums or weighting.classes or not options.listed):
        raise ValueError(
            f"covariates were given with weighting={asked!r} and kernels={short(options.kernels)}; only "
            "alignment with a list of kernels can leave out what covariates explain. Take weighting='alignf' "
            "and a list, or learn in one stage: MKLClassifier, MKLRegressor."
        )
    if weighting.classes and samples.target.task != "classification":
        raise ValueError(
            f"weighting={asked!r} was given with targets that are numbers; it weighs kernels by how far they "
            "keep classes apart. Take weighting='alignf', or give labels of classes as y."
        )
    if options.approx is not None and not weighting.sums:
        raise ValueError(
            f"weighting={asked!r} was given with approx={options.approx!r}; it needs kernels between "
            "samples, not explicit features. Give approx=None, or weighting='alignf'."
        )


def _align_family(options: Options, samples: Samples, weighting: Weighting, asked: Any, work: int) -> Aligned:
    if not weighting.asks and not isinstance(options.kernels, Parametric):
        # as a list, if there are few of them; otherwise the family says what to do
        return align(options.replace(kernels=[options.kernels]), samples, weighting, asked, work)
    if not weighting.asks:
        raise ValueError(
            f"weighting={asked!r} needs a list of kernels, and kernels={options.kernels!r} "
            "stands for more than can be listed. Give a list such as gaussian_grid(low, high, n); for "
            "families of widths take weighting='greedy'; for products learn in one stage, with MKLClassifier "
            "or MKLRegressor."
        )
    if samples.weight is not None:
        raise ValueError(
            f"sample_weight was given with kernels={options.kernels!r} and "
            f"weighting={asked!r}, which counts every sample once. Repeat samples in place of weights, give "
            "a list such as gaussian_grid(low, high, n), or learn in one stage: MKLClassifier, MKLRegressor."
        )
    family = FamilyOn(options.kernels, options.normalize, samples.layout.names, options.memory_limit)
    found = align_family(family, samples.X, samples.Y, weighting, bool(options.center))
    facts = {
        "alignment_": found.alignment,
        "alignment_bound_": found.bound,
        "kkt_residual_": None,
        "unique_": True,
        "certified_": found.certified,
    }
    model = _model(options, samples, found.names, found.kernels, found.theta, facts)
    return Aligned(model, found.gram)


def _align_features(options: Options, samples: AnySamples, weighting: Weighting) -> Aligned:
    """Align features from sums over the samples."""
    mapped = map_kernels(options, samples)
    reduced = sums_of(options, samples, mapped, intercept=True)
    alignment, known = _alignment(reduced, mapped.names), reduced.constants
    found = weighting.weigh(alignment)
    if np.any(found.theta < 0.0):
        raise ValueError(
            "a combination with negative weights has no real features: take weighting='alignf', whose "
            "weights are non-negative, or approx=None."
        )
    features = mapped.centred(known)
    root = np.repeat(np.sqrt(found.theta * known.scale), np.diff(features.ptr))
    facts = _judge(found, alignment.value(found.theta)) | {"features_": features}
    kernels = mapped.fitted(known, options.normalize)
    model = _model(options, samples, mapped.names, kernels, found.theta, facts)
    return Aligned(model, map=FeatureMap(features, root), reduced=reduced)


def _model(
    options: Options, samples: AnySamples, names: list[str], kernels: Any, theta: Array, facts: dict[str, Any]
) -> Model:
    X_fit = None
    if isinstance(samples, Samples) and options.approx is None:
        X_fit = np.arange(len(samples.X)) if samples.stack else samples.data
    return Model(
        options.title,
        samples.layout,
        names,
        kernels,
        theta,
        mixture(kernels, theta),
        samples.target,
        listed=options.listed,
        alignment=float(facts["alignment_"]),
        X_fit=X_fit,
        extra=facts,
        n_jobs=options.n_jobs,
    )


def _judge(found: Weighted, alignment: float) -> dict[str, Any]:
    """Return the alignment of the weights, its bound and their residual."""
    if not found.unique:
        warn(
            "some kernels are linear combinations of others, so that several sets of weights give the "
            "same learned kernel: do not read a meaning into single weights. Leave such kernels out (see "
            "manykernels.measures.kernel_similarity), or take weighting='align'."
        )
    bound = None if found.bound is None else max(found.bound, alignment)
    return {
        "alignment_": alignment,
        "alignment_bound_": bound,
        "kkt_residual_": found.residual,
        "unique_": found.unique,
    }


def _alignment(reduced: Reduced, names: list[str]) -> Alignment:
    gram, targets = without_means(reduced)
    gram.names = names
    return Alignment(gram, targets)


def alignment_in_features(features: Features, scale: Array, samples: AnySamples, theta: Array) -> float:
    """Compute the alignment of the learned kernel with the target on other samples, from features."""
    none = np.zeros(scale.size, dtype=bool)
    known = Constants(scale, None, none, none)  # alignment centres by itself
    S = samples.statistics(features, False, [], 0)
    return _alignment(reduce(S, features.ptr, known, True), []).value(theta)


def ridge_from_sums(reduced: Reduced, root: Array) -> tuple[Array, Array]:
    """(coefficients (p, k), intercepts (k,)) of ridge regression (penalty 1) of the targets on features z.

    Ridge of z is kernel ridge of the learned kernel, with an intercept that costs nothing.
    """
    used = root > 0.0
    own = reduced.constants.roots(reduced.gram.ptr)  # √s is in the pseudo-samples already
    R = np.asarray(reduced.gram.features)[:, used] * (root[used] / own[used])
    alpha = solve(factor(R @ R.T + np.eye(len(R))), reduced.targets)
    coef = R.T @ alpha
    means = (reduced.feature_means * root)[used]
    return coef, np.asarray(reduced.target_means - means @ coef)
