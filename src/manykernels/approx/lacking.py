"""Features of samples that lack the view of a kernel (`kernels.presence`).

φ̂(x) = μ + √c e in place of φ(x): μ is the mean of the features of the samples that have the view, and e one
feature more, which is zero for those that have it. Kernels of views that no training sample lacks have no e.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import Kernel
from ..kernels.data import Array, Data
from ..kernels.presence import TOLD, Mask, Roster, presences
from .base import Features

_MEASURED = 10_000  # samples, evenly taken, that the means come from
_GLIMPSED = 1_000  # where no training sample lacks the view


class Lacking:
    """The features of samples without a view, for each kernel.

    Attributes
    ----------
    kernels : all kernels, which know who has their view.
    rest : (p,), the features of a sample that lacks all views.
    extra : (M,), the column of e, or −1.
    share : (M,), the weight of the samples that have the view, of all.
    roster : all views; None where samples that lack some count as others do.
    farther : (2, M), the means of a and of a² (`kernels.presence`) over the samples that lack the view.
    """

    def __init__(
        self,
        kernels: Sequence[Kernel],
        rest: Array,
        extra: NDArray[np.intp],
        share: Array,
        roster: Roster | None,
        farther: Array,
    ) -> None:
        self.kernels, self.rest, self.extra, self.share = list(kernels), rest, extra, share
        self.roster, self.farther = roster, farther

    def write(self, X: Data, out: Any, ptr: NDArray[np.intp]) -> None:
        """Put the features of samples that lack views into their place in ``out``."""
        out[:, self.extra[self.extra >= 0]] = 0.0
        for m, having in enumerate(presences(self.kernels, X)):
            if having is not None:
                out[~having, ptr[m] : ptr[m + 1]] = self.rest[ptr[m] : ptr[m + 1]]
        a = None if self.roster is None else self.roster.spread(X)
        if a is not None:
            some = np.flatnonzero(a != 1.0)
            mean = self.rest.copy()
            mean[self.extra[self.extra >= 0]] = 0.0
            for m, kernel in enumerate(self.kernels):
                if kernel.absence is not None:
                    own = slice(ptr[m], ptr[m + 1])
                    out[some, own] = mean[own] + a[some, None] * (out[some, own] - mean[own])

    def over_present(self, sizes: Array, mean: Array | None, ptr: NDArray[np.intp]) -> Array:
        """(M,): mean squares over the samples that have the view, from those over all samples."""
        apart = np.add.reduceat(np.square(self.rest if mean is None else self.rest - mean), ptr[:-1])
        for m in np.flatnonzero(self.extra >= 0):  # that of e depends on how many views a sample has
            e, middle = self.rest[self.extra[m]], 0.0 if mean is None else mean[self.extra[m]]
            first, second = self.farther[:, m]
            apart[m] += (second - 1.0) * e**2 - 2.0 * (first - 1.0) * e * middle
        lacked = self.share < 1.0
        own = (sizes - (1.0 - self.share) * apart) / np.where(self.share > 0.0, self.share, 1.0)
        return np.where(lacked, np.maximum(own, 0.0), sizes)


def with_rest(
    features: Features,
    kernels: Sequence[Kernel],
    having: list[Mask | None],
    weight: Array,
    take: Callable[[NDArray[np.intp]], Data],
    spread: bool = False,
) -> Features:
    """The features, which know what samples without a view have; `having` of the samples of these weights.

    With `spread`, samples that lack views are farther from the mean in the others.
    """
    if all(kernel.absence is None for kernel in kernels):
        return features
    lacked = np.array([mask is not None for mask in having])
    known = copy(features)
    known.ptr = features.ptr + np.concatenate([[0], np.cumsum(lacked)])
    extra = np.where(lacked, known.ptr[1:] - 1, -1)
    rest, total = np.zeros(known.n_features), float(weight.sum())
    share = np.array([1.0 if mask is None else float(weight @ mask) / total for mask in having])
    measured: dict[Any, tuple[Array, Array]] = {}
    for m, (kernel, mask) in enumerate(zip(kernels, having, strict=True)):
        if kernel.absence is None or share[m] == 0.0:
            continue
        key = None if mask is None else mask.tobytes()
        if key not in measured:
            measured[key] = _moments(features, mask, weight, take)
        own = slice(features.ptr[m], features.ptr[m + 1])
        mean, squares = (part[own] for part in measured[key])
        rest[known.ptr[m] : known.ptr[m] + mean.size] = mean
        if mask is not None:
            rest[extra[m]] = np.sqrt(TOLD * max(float(squares.sum() - mean @ mean), 0.0))
    roster = Roster(kernels) if spread else None
    a = None if roster is None else roster.spread(take(np.arange(weight.size)))
    farther = np.ones((2, len(kernels)))
    for m, mask in enumerate(having):
        gone = weight if mask is None else weight * ~mask
        if a is not None and mask is not None and gone.any():
            farther[:, m] = gone @ a / gone.sum(), gone @ np.square(a) / gone.sum()
    known.lacking = Lacking(kernels, rest, extra, share, roster, farther)
    return known


def _moments(
    features: Features, mask: Mask | None, weight: Array, take: Callable[[NDArray[np.intp]], Data]
) -> tuple[Array, Array]:
    """The means of features and of their squares over the samples that have a view."""
    rows = np.flatnonzero(weight > 0 if mask is None else mask & (weight > 0))
    most = _GLIMPSED if mask is None else _MEASURED
    rows = rows[np.unique(np.linspace(0, rows.size - 1, min(most, rows.size)).astype(np.intp))]
    Phi, w = features.transform(take(rows)), weight[rows] / weight[rows].sum()
    return np.asarray(w @ Phi), np.asarray(w @ np.square(Phi))
