"""Models with weights, C and coefficients for every target, and warnings about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._warn import warn
from ...fitting.bound import weighed
from ...fitting.functions import FeatureFunction, Function, KernelFunction
from ...fitting.model import Model
from ...fitting.options import Options
from ...fitting.samples import Samples
from .ridge import FeatureRidge, Ridge
from .search import Chosen

Array = NDArray[np.float64]
_NAMED = 5  # targets in a warning


def own_model(options: Options, ridge: Ridge, chosen: Chosen) -> Model:
    """Make the model; attributes have an axis of outputs only if y had one."""
    samples = ridge.samples
    said = weighed(options.replace(own_weights=True), samples.target, ridge.kernels, chosen.theta)
    model = Model(
        options.title,
        samples.layout,
        ridge.names,
        ridge.kernels,
        **said,
        target=samples.target,
        n_jobs=options.n_jobs,
        function=None,
        extra={"best_C_": _flat(samples, chosen.C), "cv_scores_": _flat(samples, chosen.score)},
    )
    if options.approx is not None:
        assert isinstance(ridge, FeatureRidge)
        return replace(model, function=_of_features(ridge, chosen))
    dual = chosen.alpha if _in_place(samples) else samples.rows.spread(chosen.alpha)
    centre = ridge.kernels[0].X_fit_
    support, coefficients = (samples.X, dual) if centre is None else (centre, chosen.alpha)
    if samples.stack:
        support, coefficients = np.arange(len(samples.X)), dual
    active = np.flatnonzero(chosen.theta.any(axis=0))
    function: Function = KernelFunction(
        ridge.kernels, chosen.theta, active, model.shared_kernel, support, coefficients, chosen.intercept
    )
    X_fit = np.arange(len(samples.X)) if samples.stack else samples.X
    return replace(model, function=function, dual=dual, X_fit=X_fit)


def _of_features(ridge: FeatureRidge, chosen: Chosen) -> FeatureFunction:
    """Coefficients of the features themselves: w_m = θ_m s_m Φ_mᵀα."""
    features = ridge.mapped.centred(ridge.known)
    Phi = features.transform(ridge.samples.data)
    coef = Phi.T @ chosen.alpha
    coef *= (ridge.roots**2)[:, None] * chosen.theta.T[ridge.owner]
    intercept = np.zeros(coef.shape[1])
    if ridge.fit_intercept:
        w = ridge.samples.costs / ridge.samples.costs.sum()
        intercept = ridge.means(ridge.samples.Y) - (w @ Phi) @ coef
    active = np.flatnonzero(chosen.theta.any(axis=0))
    return FeatureFunction(features, coef, active, intercept)


def _in_place(samples: Samples) -> bool:
    """Whether merged samples are the given ones, in their order."""
    rows = samples.rows
    return rows.first.size == rows.owner.size and bool(np.array_equal(rows.first, np.arange(rows.first.size)))


def _flat(samples: Samples, values: Array) -> Any:
    return float(values[0]) if samples.target.flat else values


# -- what is to be said -----------------------------------------------------------------------------
def warn_borders(chosen: Chosen, Cs: Array, names: Sequence[str] | None = None) -> None:
    """Warn about targets that do not vary, and about those whose best C is the last one tried.

    Targets go by their names where they have any, else by their places.
    """
    if chosen.constant.size:
        warn(
            f"{_targets(chosen.constant, names)} the same value for all samples: weights of 0, and "
            "predictions of that value.",
        )
    ends = np.zeros(chosen.place.size, dtype=bool) if Cs.size < 2 else chosen.place == Cs.size - 1
    ends[chosen.constant] = False
    if ends.any():
        warn(
            f"{_targets(np.flatnonzero(ends), names)} the best C at the upper end of its range, "
            f"{Cs[-1]:.3g}: a larger C may be better. Give larger values in Cs."
        )
    low = np.zeros(chosen.place.size, dtype=bool) if Cs.size < 2 else chosen.place == 0
    low[chosen.constant] = False
    if low.any():
        warn(
            f"{_targets(np.flatnonzero(low), names)} the best C at the lower end of its range, "
            f"{Cs[0]:.3g}: the kernels do not predict {'it' if low.sum() == 1 else 'them'} on samples left "
            "out (cv_scores_ near 0), or a smaller C is better. Give smaller values in Cs if cv_scores_ is "
            "above 0."
        )


def _targets(which: NDArray[np.intp], names: Sequence[str] | None) -> str:
    """Targets as the beginning of a sentence: the first ones by name or number, and how many."""
    shown = ", ".join(str(k) if names is None else repr(names[k]) for k in which[:_NAMED])
    if which.size == 1:
        return f"1 target ({shown}) has"
    return f"{which.size} targets ({shown}{', …' if which.size > _NAMED else ''}) have"
