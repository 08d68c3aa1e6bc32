"""Online learning (UFO-MKL): a state that steps over samples as they come, and the model it stands for."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from .._arguments import number_of
from .._fast.stopping import goes_on
from ..approx import Approximation, Features, OwnFeatures
from ..approx.lacking import with_rest
from ..families import Family, resolve_kernels
from ..grams import StackGram, parse_memory
from ..grams.expansions import Expansion, FeatureExpansion, KernelExpansion
from ..kernels import Fitted
from ..kernels.presence import presences
from ..losses import StructuredLoss
from ..solvers.ufo import UFO, GroupRegularizer, curvature, dual_exponent
from .functions import FeatureFunction, Function, KernelFunction, OwnFunction
from .layout import Layout, take
from .listed import list_kernels
from .model import Model, Proof, mixture
from .online_checks import check_approx, check_definite, check_finite, warn_empty, warn_few, warn_sizes
from .options import Options
from .progress import progress
from .samples import Given
from .targets import Numbers, Target

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Steps:
    """The options of UFO-MKL beside the common ones."""

    lam: float
    alpha: float
    epochs: int
    average: bool
    shuffle: bool


@dataclass(frozen=True)
class Stream:
    """Kernels and features that the first samples settled, and a state that goes on."""

    options: Options
    steps: Steps
    layout: Layout
    loss: StructuredLoss
    kernels: list[Fitted]
    names: list[str]
    features: Features | None
    expansion: Expansion
    ufo: UFO
    slack: float  # the rounding of kernels, below which a square is not negative

    # -- samples --------------------------------------------------------------------------------
    def go_on(self, options: Options, steps: Steps, X: Any) -> Self:
        """Return a copy that goes on with these samples, with the present λ and α."""
        fresh = replace(
            self, options=options, steps=steps, ufo=self.ufo.copy(), expansion=self.expansion.copy()
        )
        fresh.ufo.regularize(_regularizer(steps, len(self.kernels)))
        warn_sizes(self.kernels, options.normalize, X)
        return fresh

    def passes(self, X: Any, Y: Array, again: bool) -> tuple[dict[str, Array], float]:
        """So many passes over the samples; the history of them, and P in the end.

        `again` says that the samples are those of the last passes.
        """
        rows = self.expansion.enter(X, again)
        rng, epochs = self.options.rng, int(self.steps.epochs)
        history: dict[str, list[float]] = {"seconds": [], "dual": [], "active": []}
        started = time.perf_counter()
        with progress(self.options.title, self.options.verbose, total=epochs) as shown:
            for epoch in range(epochs):
                order = rng.permutation(len(Y)) if self.steps.shuffle else np.arange(len(Y))
                self.ufo.advance(self.expansion, self.loss, rows[order], Y[order])
                active = int(np.count_nonzero(self.ufo.shares[0][: len(self.kernels)]))
                history["seconds"].append(time.perf_counter() - started)
                history["dual"].append(self.ufo.dual(self.expansion, self.loss, Y))
                history["active"].append(float(active))
                shown.step(
                    f"pass {epoch + 1}, {number_of(active, 'kernel')}, minimum ≥ {history['dual'][-1]:.4g}"
                )
                if not goes_on(epoch + 1, epochs):
                    break
        told = {name: np.array(values) for name, values in history.items()}
        return told, self.ufo.primal(self.expansion, self.loss, rows, Y)

    def advance(self, X: Any, Y: Array) -> None:
        """One step for each sample, in their order."""
        self.ufo.advance(self.expansion, self.loss, self.expansion.enter(X), Y)

    def objective(self, f: Array, Y: Array) -> float:
        """P of what was learned, on samples with decisions f that the loss would see."""
        norms = self.expansion.norms(*self.ufo.shares)
        value = self.loss.value(self.loss.targets(Y), f)
        return self.ufo.regularizer.value(norms) + float(value.mean())

    # -- what was learned -----------------------------------------------------------------------
    @property
    def intercept(self) -> Array:
        """The intercept before targets are shifted back."""
        return np.asarray(self.expansion.intercept(*self.ufo.shares))

    def model(self, target: Target, proof: Proof, constant: Array, shift: Any, keep: bool) -> Model:
        """The model that the state stands for.

        `constant` is decided where no kernel has any weight, `shift` was taken from the targets, and what is
        only needed to go on with the same samples is kept if `keep`.
        """
        check_definite(self.ufo.indefinite(self.slack), self.names)
        (s, share), F = self.ufo.shares, len(self.kernels)
        weights = s[:F].copy()
        intercept = self.expansion.intercept(s, share) + shift
        if not weights.any():
            warn_empty(self.steps.alpha, self.ufo.t)
            if not np.any(s):
                intercept = constant + shift
        learned = mixture(self.kernels, weights)
        stack = self.layout.kind == "stack"
        X_fit: Any = None
        if isinstance(self.expansion, KernelExpansion):
            X_fit = np.arange(len(self.expansion.coef)) if stack else self.expansion.X
        function = self._function(weights, learned, X_fit, intercept)
        held: Any = self.expansion
        if not keep or isinstance(held, FeatureExpansion):
            held.release()
        return Model(
            self.options.title,
            self.layout,
            self.names,
            self.kernels,
            weights,
            learned,
            target,
            function,
            proof=proof,
            X_fit=X_fit,
            extra={"t_": self.ufo.t, "bound_": self.ufo.bound(self.loss)},
            n_jobs=self.options.n_jobs,
        )

    def _function(self, weights: Array, learned: Any, X_fit: Any, intercept: Array) -> Function:
        (s, share), expansion, active = self.ufo.shares, self.expansion, np.flatnonzero(weights)
        if isinstance(expansion, FeatureExpansion):
            assert self.features is not None
            return FeatureFunction(self.features, expansion.feature_coef(s, share), active, intercept)
        assert isinstance(expansion, KernelExpansion)
        if self.steps.average:
            own = expansion.kernel_coef(s, share)
            return OwnFunction(self.kernels, active, X_fit, own, intercept)
        return KernelFunction(
            self.kernels, weights[None], active, [learned], X_fit, expansion.coef, intercept
        )


def begin(
    options: Options, steps: Steps, X: Any, layout: Layout, loss: StructuredLoss, outputs: int, stored: bool
) -> Stream:
    """Kernels and features of the first samples, and a state at zero; `stored` if all samples are there."""
    options = options.replace(kernels=layout.seen(options.kernels))
    approx = options.approx
    check_approx(approx, layout.kind)
    if approx is None and isinstance(options.kernels, Family) and options.kernels.factors:
        approx = OwnFeatures()  # kernels of rank one: exact, and never n × n
    gram = None
    if approx is None and (stored or layout.kind == "stack"):
        nothing = np.zeros(_num_samples(X))
        samples = Given(X, layout, nothing, None, Numbers()).samples(0)
        known = list_kernels(options, samples, work=0, supervised=False)
        kernels, names = known.kernels, known.names
        gram = known.gram if isinstance(known.gram, StackGram) else None
    else:
        kernels = _fitted(options, X, layout, approx)
        names = [str(kernel.name) for kernel in kernels]
    warn_sizes(kernels, options.normalize, X)
    warn_few(len(kernels))
    part: dict[str, Any] = {"constant": bool(options.fit_intercept), "averaging": bool(steps.average)}
    features: Features | None = None
    expansion: Expansion
    if approx is None:
        eager = loss.never_rests
        expansion = KernelExpansion(kernels, outputs, gram=gram, eager=eager, **part)
    else:
        features = approx.fit(kernels, X, rng=options.rng)
        having, once = presences(kernels, X), np.ones(_num_samples(X))
        features = with_rest(features, kernels, having, once, lambda rows: take(X, rows))
        kept = stored and steps.epochs > 1
        part["memory"] = parse_memory(options.memory_limit) // 2 if kept else 0
        expansion = FeatureExpansion(features, outputs, **part)
    groups, average = expansion.n_groups, bool(steps.average)
    ufo = UFO(_regularizer(steps, len(kernels)), groups, average=average, curvature=curvature(loss))
    slack = max(kernel.rounding(X) for kernel in kernels)
    return Stream(options, steps, layout, loss, kernels, names, features, expansion, ufo, slack)


def _fitted(options: Options, X: Any, layout: Layout, approx: Approximation | None) -> list[Fitted]:
    kernels = resolve_kernels(options.kernels, X, None, layout.names, approx=approx)
    check_finite(kernels, X)
    given: dict[str, Any] = {"normalize": options.normalize}
    return [Fitted(kernel, name=name, **given).fit(X) for name, kernel in kernels.items()]


def _regularizer(steps: Steps, F: int) -> GroupRegularizer:
    return GroupRegularizer(float(steps.lam), float(steps.alpha), dual_exponent(F))


def proof_of_passes(primal: float, history: dict[str, Array]) -> Proof:
    """Return the proof after passes over all samples: P, and the best lower bound."""
    dual = float(max(history["dual"]))
    certified = bool(np.isfinite(primal - dual))
    return Proof(primal, dual if certified else np.nan, certified, len(history["dual"]), history)


def proof_of_steps() -> Proof:
    """Single steps see a part of the samples, and prove nothing."""
    return Proof(np.nan, np.nan, False, 1, None)
