"""Raw tables as kernels want them: features of one scale, heavy tails tamed, categories as indicators."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from scipy.special import ndtri
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from .._arguments import shown
from .base import Kernel
from .columns import Seen
from .data import Array, Data, numeric, take_columns

Part = Literal["scaled", "scores", "both"]
_HEAVY = 3.0  # excess kurtosis from which a column also comes as normal scores: that of the Laplace law
_BEYOND = 1.0  # deviations that new samples may lie beyond the training ones before they are held there
_VARIES = 1e-9  # of the largest size: a column whose deviation is less is constant up to rounding


class Preparation(BaseEstimator):
    """Columns of a table made comparable, with the constants of the training data.

    - ``"scaled"``: numbers less their mean over their standard deviation; a categorical column as indicators
      of its levels, centred, with a total variance of 1. Levels that were never seen have no indicator.
    - ``"scores"``: the same, with heavy-tailed columns (excess kurtosis above 3) replaced by their normal
      scores Φ⁻¹((rank − ½)/n), interpolated between the training samples and constant beyond them.
    - ``"both"``: scaled, followed by the scores of the heavy-tailed columns.

    New samples more than one deviation beyond the range of the training ones are held there: a linear trend
    may go on a little, and one outlier is not raised to a power.

    ``columns`` are the positions of the columns with numbers, ``levels`` maps positions of categorical ones
    to their levels; None reads all columns as numbers. A row of weight w counts as w rows. Constant columns
    are left out.
    """

    def __init__(
        self, columns: Sequence[int] | None = None, levels: Mapping[int, Sequence[Any]] | None = None
    ) -> None:
        self.columns = columns
        self.levels = levels

    def fit(self, X: Data, y: Any = None, sample_weight: Any = None) -> Self:
        if sample_weight is not None:
            kept = np.flatnonzero(np.asarray(sample_weight) > 0)
            X, sample_weight = _safe_indexing(X, kept), np.asarray(sample_weight, dtype=np.float64)[kept]
        A = self._numbers(X)
        w = np.full(len(A), 1.0 / len(A)) if sample_weight is None else sample_weight / sample_weight.sum()
        with np.errstate(over="ignore", invalid="ignore"):
            mean = w @ A
            spread = np.sqrt(w @ (A - mean) ** 2)
        varies = (spread > _VARIES * np.abs(A).max(axis=0)) & np.isfinite(spread)
        self.kept_ = np.flatnonzero(varies)
        self.mean_, self.spread_ = mean[self.kept_], spread[self.kept_]
        Z = (A[:, self.kept_] - self.mean_) / self.spread_
        self.low_ = Z.min(axis=0, initial=np.inf) - _BEYOND
        self.high_ = Z.max(axis=0, initial=-np.inf) + _BEYOND
        self.heavy_ = np.flatnonzero(w @ Z**4 - 3.0 > _HEAVY)
        self.knots_ = [_scores(Z[:, j], w) for j in self.heavy_]
        self.indicators_ = [self._indicators(X, j, w) for j in self._levels]
        self.key_ = (
            None if self.columns is None else tuple(self.columns),
            self.kept_.tobytes(),
            self.mean_.tobytes(),
            self.spread_.tobytes(),
            self.low_.tobytes() + self.high_.tobytes(),
            tuple(x.tobytes() + z.tobytes() for x, z in self.knots_),
            tuple((j, tuple(map(str, levels))) for j, levels in self._levels.items()),
        )
        return self

    def transform(self, X: Data, part: Part = "scaled") -> Array:
        """The features of the rows of X."""
        Z = (self._numbers(X)[:, self.kept_] - self.mean_) / self.spread_
        np.clip(Z, self.low_, self.high_, out=Z)
        scores = [np.interp(Z[:, j], x, z) for j, (x, z) in zip(self.heavy_, self.knots_, strict=True)]
        if part == "scores" and scores:
            Z[:, self.heavy_] = np.column_stack(scores)
        blocks = [
            Z,
            *(self._codes(X, j, given) for j, given in zip(self._levels, self.indicators_, strict=True)),
        ]
        if part == "both" and scores:
            blocks.append(np.column_stack(scores))
        return blocks[0] if len(blocks) == 1 else np.hstack(blocks)

    def names(self, names: Sequence[str]) -> list[str]:
        """What the features are called ("scaled" or "scores"), given what the columns are."""
        given = range(len(names)) if self.columns is None else self.columns
        levels = [f"{names[j]}={level}" for j, chosen in self._levels.items() for level in chosen]
        return [str(names[given[int(k)]]) for k in self.kept_] + levels

    @property
    def n_numbers(self) -> int:
        """How many columns with numbers vary."""
        return int(self.kept_.size)

    def _numbers(self, X: Data) -> Array:
        if sparse.issparse(X):
            raise ValueError(
                "Prepared features need a dense table, got a sparse matrix: call X.toarray() first."
            )
        if self.columns is None:
            return np.asarray(numeric(X))
        if not len(self.columns):
            return np.empty((len(X), 0))
        return np.asarray(numeric(take_columns(X, list(self.columns))))

    @property
    def _levels(self) -> Mapping[int, Sequence[Any]]:
        return {} if self.levels is None else self.levels

    def _indicators(self, X: Data, j: int, w: Array) -> tuple[Array, float]:
        """The mean of each level's indicator, and the deviation of all of them together."""
        share = np.asarray(w @ self._is_level(X, j))
        return share, max(float(share @ (1.0 - share)), 1e-12) ** 0.5

    def _codes(self, X: Data, j: int, given: tuple[Array, float]) -> Array:
        return np.asarray((self._is_level(X, j) - given[0]) / given[1])

    def _is_level(self, X: Data, j: int) -> Array:
        values = np.asarray(take_columns(X, int(j)), dtype=object)
        return np.column_stack([values == level for level in self._levels[j]]).astype(np.float64)


def _scores(z: Array, w: Array) -> tuple[Array, Array]:
    """The distinct values of z, and the normal score of each: Φ⁻¹ of the middle of its step of the ranks.

    They are scaled to mean 0 and deviation 1, ties included.
    """
    x, place = np.unique(z, return_inverse=True)
    mass = np.bincount(place, w)
    score = ndtri(np.cumsum(mass) - 0.5 * mass)
    score = score - mass @ score
    return x, score / np.sqrt(mass @ score**2)


class Prepared(Seen):
    """``kernel`` on the prepared features of a raw table."""

    def __init__(
        self, kernel: Kernel, preparation: Preparation, part: Part = "scaled", *, name: str | None = None
    ) -> None:
        self.kernel = kernel
        self.preparation = preparation
        self.part = part
        self.name = name

    def __sklearn_clone__(self) -> Self:
        """The preparation stays fitted: it is what makes this kernel the one it is."""
        return self._told(type(self)(self.kernel, self.preparation, self.part, name=self.name))

    def _select(self, X: Data) -> Data:
        self._check()
        return self.preparation.transform(X, self.part)

    def _key(self) -> Hashable | None:
        self._check()
        return ("prepared", self.part, self.preparation.key_)

    def _check(self) -> None:
        if not isinstance(self.preparation, Preparation) or "key_" not in self.preparation.__dict__:
            raise ValueError(
                f"preparation={shown(self.preparation)} was given to Prepared; expected a fitted "
                "Preparation: Preparation().fit(X)."
            )
        if not isinstance(self.part, str) or self.part not in ("scaled", "scores", "both"):
            raise ValueError(
                f"part={shown(self.part)} was given to Prepared; expected 'scaled', 'scores' or 'both'."
            )

    def _around(self, kernel: Kernel) -> Kernel:
        return Prepared(kernel, self.preparation, self.part)

    def _describe(self) -> str:
        self._check()
        return f"{self.kernel.label} of {'normal ' if self.part == 'scores' else ''}{self.part} features"
