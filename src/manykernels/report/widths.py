"""How far the widths of a continuous family can be trusted: what becomes of them on other samples."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from ..estimators import copies_of, face_of, in_one_piece, model_of
from ..families import Parametric, Relevance
from ..plots.reading import WidthTable, width_table

Array = NDArray[np.float64]
LEVEL = 0.95


def learns_widths(model: Any) -> bool:
    """Tell whether the widths of a model are learned, so that they depend on the training samples.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package, or a pipeline or search that holds one.

    Returns
    -------
    bool
        Whether its kernels are a continuous family or have learned widths.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import Gaussian, Linear
    >>> from manykernels.report import learns_widths
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier([Linear(), Gaussian(1.0)], loss="squared").fit(X, y)
    >>> learns_widths(model)
    False
    """
    return finds_widths(face_of(model)[0].kernels)


def finds_widths(kernels: Any) -> bool:
    """Tell whether these kernels have widths that are learned."""
    return isinstance(kernels, Parametric | Relevance)


def width_stability(
    model: Any, X: Any, y: Any, *, n_resamples: int = 20, random_state: Any = 0
) -> dict[str, Any]:
    """Learn widths anew on random halves of the data, and measure how they vary.

    Kernels of a continuum have no names to be recognised by, but they have a place on the axis. ``low`` and
    ``high`` bound what 95 % of the halves have. If kernels have one width, each width that a half finds
    belongs to the nearest kernel with weight in the model (by logarithms), and ``frequency`` is the share of
    the halves that have any. If kernels have a width for each feature, the ends are of exp(Σ_k θ_k log
    σ_k/Σ_k θ_k), the mean by weight, for each feature. ``values`` and ``weights`` are all kernels that were
    found, if they have one width. C is adapted as in :func:`manykernels.inspection.weight_stability`.

    Parameters
    ----------
    model : estimator
        A fitted model whose widths are learned (:func:`learns_widths`).
    X : array-like or frame of shape (n_samples, n_features)
        The samples that it was fitted on.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The targets that it was fitted on.
    n_resamples : int, default=20
        The number of halves.
    random_state : int, RandomState or None, default=0
        The seed of the halves.

    Returns
    -------
    dict
        The columns of the result, which JSON can hold.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import Gaussians
    >>> from manykernels.report import width_stability
    >>> X = np.random.RandomState(0).randn(40, 1)
    >>> model = MKLRegressor(Gaussians(0.5, 5.0), C=10.0).fit(X, np.sin(X[:, 0]))
    >>> found = width_stability(model, X, np.sin(X[:, 0]), n_resamples=2)
    >>> len(found["low"]) == len(found["high"])
    True
    """
    model, X = in_one_piece(model, X, y)
    learned, inner = model_of(model, X)
    copies, own, y = copies_of(face_of(model)[0]), width_table(learned), np.asarray(y)
    kind = StratifiedShuffleSplit if learned.classes is not None else ShuffleSplit
    splits = kind(n_resamples, train_size=0.5, random_state=random_state).split(np.zeros(len(y)), y)
    halves = [width_table(copies.relearn(inner, y, np.sort(rows))) for rows, _ in splits]
    used = [(one.values[one.weights > 0], one.weights[one.weights > 0]) for one in halves]
    means = _means(own, halves, used)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of kernels that no half has: their ends are NaN
        low, high = np.nanquantile(means, [0.5 - 0.5 * LEVEL, 0.5 + 0.5 * LEVEL], axis=0)
    return {
        "resamples": n_resamples,
        "level": LEVEL,
        "low": low,
        "high": high,
        "frequency": np.isfinite(means).mean(axis=0),
        "values": np.concatenate([v for v, _ in used]) if own.features is None else [],
        "weights": np.concatenate([w for _, w in used]) if own.features is None else [],
    }


def _means(own: WidthTable, halves: list[WidthTable], used: list[tuple[Array, Array]]) -> Array:
    """(halves, kernels or features): the mean of the widths that a half found for each; NaN for none."""
    if own.features is None:
        return np.array([nearest_widths(own.values[:, 0], own.weights, v[:, 0], w) for v, w in used])
    found = [  # which features there are may differ: heavy tails need samples to show
        dict(zip(one.features or [], mean_width(v, w), strict=True)) if w.size else {}
        for one, (v, w) in zip(halves, used, strict=True)
    ]
    return np.array([[by_name.get(name, np.nan) for name in own.features] for by_name in found])


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
