"""How far the widths of a continuous family can be trusted: what becomes of them on other samples."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from ..estimators._data import take
from ..families import Parametric, Relevance
from ..inspection import keep_trade_off
from ..plots.reading import unwrap, width_table

Array = NDArray[np.float64]
LEVEL = 0.9


def learns_widths(mkl: Any) -> bool:
    """Whether widths are found and not given, so that they differ from sample to sample."""
    return isinstance(mkl.kernels, Parametric | Relevance)


def width_stability(
    model: Any, X: Any, y: Any, *, n_resamples: int = 20, random_state: Any = 0
) -> dict[str, Any]:
    """Widths learned anew on random halves of the data, as columns that JSON can hold.

    Kernels of a continuum have no names to be recognised by, but their place on the axis tells. ``low`` and
    ``high`` bound what 90 % of the halves have: where kernels have one width, one of those with weight in
    the model is the nearest (by logarithms) to each that a half finds, and the ends are of these, with
    ``frequency``, the share of the halves that have any. Where kernels have a width for each feature, the
    ends are of exp(Σ_k θ_k log σ_k/Σ_k θ_k), the mean by weight, for each feature. ``values`` and
    ``weights`` are all kernels that were found, where they have one width. Errors cost what they cost all
    samples in total, as in :func:`manykernels.inspection.weight_stability`.
    """
    mkl, inner = unwrap(model, X)
    y = np.asarray(y)
    own = width_table(mkl)
    kind = StratifiedShuffleSplit if hasattr(mkl, "classes_") else ShuffleSplit
    splitter = kind(n_resamples, train_size=0.5, random_state=random_state)
    halves = []
    for rows, _ in splitter.split(np.zeros(len(y)), y):
        half = clone(mkl)
        keep_trade_off(half, len(rows) / len(y))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the model of the user's own data has warned
            table = width_table(half.fit(take(inner, np.sort(rows)), y[np.sort(rows)]))
        halves.append(table)
    used = [(one.values[one.weights > 0], one.weights[one.weights > 0]) for one in halves]
    if own.features is None:
        means = np.array([nearest_widths(own.values[:, 0], own.weights, v[:, 0], w) for v, w in used])
    else:  # which features there are may differ: heavy tails need samples to show
        found = [
            dict(zip(one.features or [], mean_width(v, w), strict=True)) if w.size else {}
            for one, (v, w) in zip(halves, used, strict=True)
        ]
        means = np.array([[by_name.get(name, np.nan) for name in own.features] for by_name in found])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of kernels that no half has: their ends are NaN
        low, high = np.nanquantile(means, [0.5 - 0.5 * LEVEL, 0.5 + 0.5 * LEVEL], axis=0)
    return {
        "resamples": n_resamples,
        "low": low,
        "high": high,
        "frequency": np.isfinite(means).mean(axis=0),
        "values": np.concatenate([v for v, _ in used]) if own.features is None else [],
        "weights": np.concatenate([w for _, w in used]) if own.features is None else [],
    }


def nearest_widths(own: Array, theta: Array, found: Array, weights: Array) -> Array:
    """For each kernel of the model, the mean width of those found that are nearest to it; NaN for none."""
    used = np.flatnonzero(theta > 0)
    if not found.size or not used.size:
        return np.full(own.size, np.nan)
    distance = np.abs(np.log(found)[:, None] - np.log(own[used]))
    nearest = used[distance.argmin(axis=1)]
    answer = np.full(own.size, np.nan)
    for k in np.unique(nearest):
        answer[k] = mean_width(found[nearest == k, None], weights[nearest == k])[0]
    return answer


def mean_width(values: Array, weights: Array) -> Array:
    """exp(Σ_k θ_k log σ_k/Σ_k θ_k) for each parameter."""
    return np.asarray(np.exp(weights @ np.log(values) / weights.sum()))
