"""Raw tables as numbers: features of one scale, heavy tails tamed, gaps filled, categories as indicators."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from .cells import Format, column_of, labels_of, numbers_of, numeric_type
from .data import Array, Data, numeric, take_columns

Part = Literal["scaled", "scores", "both"]
_HEAVY = 3.0  # excess kurtosis from which a column also comes as normal scores: that of the Laplace law
_BEYOND = 1.0  # deviations that new samples may lie beyond the training ones before they are held there
_VARIES = 1e-9  # of the largest size: a column whose deviation is less is constant up to rounding
_RARE = 0.3  # the least deviation that indicators of gaps are divided by: that of one row in ten
_ROUNDING = 1e-9  # relative, of sums of weights


class Preparation(BaseEstimator):
    """Columns of a table made comparable, with the constants of the training data.

    - ``"scaled"``: numbers less their mean over their standard deviation; an indicator of the gaps of each
      column that had some, centred; a categorical column as indicators of its levels, centred, with a total
      variance of 1. Levels that were never seen have no indicator.
    - ``"scores"``: the same, with heavy-tailed columns (excess kurtosis above 3) replaced by their normal
      scores Φ⁻¹((rank − ½)/n), interpolated between the training samples and constant beyond them.
    - ``"both"``: scaled, followed by the scores of the heavy-tailed columns.

    Missing numbers are filled with the weighted median of the training samples. Columns whose gaps are in the
    same rows share one indicator. New samples more than one deviation beyond the range of the training ones
    are held there: a linear trend may go on a little, and one outlier is not raised to a power.

    A row of weight w counts as w rows. Constant columns are left out.

    Parameters
    ----------
    columns : list of int, optional
        The positions of the columns with numbers; None reads all columns as numbers.
    levels : dict position -> list of levels, optional
        The levels of the categorical columns. A level is a text, None for missing cells, or a tuple of texts
        that share one indicator, called "other".
    formats : dict position -> str, optional
        How columns of text are read as numbers (``kernels.cells``): "text", "decimal comma", "date", "d.m.y",
        "d/m/y" or "m/d/y".
    """

    def __init__(
        self,
        columns: Sequence[int] | None = None,
        levels: Mapping[int, Sequence[Any]] | None = None,
        formats: Mapping[int, Format] | None = None,
    ) -> None:
        self.columns = columns
        self.levels = levels
        self.formats = formats

    def fit(self, X: Data, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn medians, means, deviations, ranks and shares from the training samples.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_columns)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            A sample of weight 2 counts as two samples.
        """
        if sample_weight is not None:
            kept = np.flatnonzero(np.asarray(sample_weight) > 0)
            X, sample_weight = _safe_indexing(X, kept), np.asarray(sample_weight, dtype=np.float64)[kept]
        A = self._numbers(X)
        w = np.full(len(A), 1.0 / len(A)) if sample_weight is None else sample_weight / sample_weight.sum()
        A = self._fit_gaps(A, w)
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
        self.indicators_ = [self._shares(X, j, w) for j in self._levels]
        self.key_ = self._identity()
        return self

    def _fit_gaps(self, A: Array, w: Array) -> Array:
        """A with its gaps filled, once the medians and what tells of gaps are known."""
        gaps = np.isnan(A)
        having = np.flatnonzero(gaps.any(axis=0))
        self.fill_ = np.zeros(A.shape[1])
        self.fill_[having] = _medians(A[:, having], w)
        partial = having[~gaps[:, having].all(axis=0)]
        patterns = np.ascontiguousarray(np.packbits(gaps[:, partial], axis=0).T)
        rows = patterns.view(np.dtype((np.void, patterns.shape[1]))).ravel()
        self.gaps_ = np.sort(partial[np.unique(rows, return_index=True)[1]])
        self.gap_share_ = np.asarray(w @ gaps[:, self.gaps_])
        self.gap_spread_ = np.maximum(np.sqrt(self.gap_share_ * (1.0 - self.gap_share_)), _RARE)
        return self._filled(A, gaps)

    def _filled(self, A: Array, gaps: NDArray[np.bool_]) -> Array:
        return np.where(gaps, self.fill_, A) if gaps.any() else A

    def _identity(self) -> str:
        """Equal for preparations that make the same of any table: a digest, since columns may be many."""
        columns = None if self.columns is None else list(map(int, self.columns))
        levels = [(int(j), list(map(str, levels))) for j, levels in self._levels.items()]
        whole = sha256(repr((columns, sorted((self.formats or {}).items()), levels)).encode())
        arrays = [self.kept_, self.mean_, self.spread_, self.low_, self.high_, self.fill_, self.gaps_]
        arrays += [self.gap_share_, *(x for pair in self.knots_ for x in pair)]
        arrays += [share for share, _ in self.indicators_]
        for array in arrays:
            whole.update(len(array).to_bytes(8, "little") + array.tobytes())
        return whole.hexdigest()

    def transform(self, X: Data, part: Part = "scaled") -> Array:
        """The features of the rows of X."""
        A = self._numbers(X)
        gaps = np.isnan(A)
        Z = (self._filled(A, gaps)[:, self.kept_] - self.mean_) / self.spread_
        np.clip(Z, self.low_, self.high_, out=Z)
        heavy = zip(self.heavy_, self.knots_, strict=True) if part != "scaled" else ()
        scores = [np.interp(Z[:, j], x, z) for j, (x, z) in heavy]
        if part == "scores" and scores:
            Z[:, self.heavy_] = np.column_stack(scores)
        blocks = [Z]
        if self.gaps_.size:
            blocks.append((gaps[:, self.gaps_] - self.gap_share_) / self.gap_spread_)
        for j, (share, spread) in zip(self._levels, self.indicators_, strict=True):
            blocks.append((self._is_level(X, j) - share) / spread)
        if part == "both" and scores:
            blocks.append(np.column_stack(scores))
        return blocks[0] if len(blocks) == 1 else np.hstack(blocks)

    # -- what the features are --------------------------------------------------------------------
    def names(self, names: Sequence[str]) -> list[str]:
        """What the features are called ("scaled" or "scores"), given what the columns are."""
        given = range(len(names)) if self.columns is None else self.columns
        gaps = [f"{names[given[int(k)]]} missing" for k in self.gaps_]
        levels = [f"{names[j]}={_called(level)}" for j, chosen in self._levels.items() for level in chosen]
        return [str(names[given[int(k)]]) for k in self.kept_] + gaps + levels

    @property
    def n_numbers(self) -> int:
        """How many columns with numbers vary."""
        return int(self.kept_.size)

    @property
    def n_features(self) -> int:
        """How many features there are ("scaled" or "scores")."""
        return self.n_numbers + int(self.gaps_.size) + sum(map(len, self._levels.values()))

    @property
    def groups(self) -> NDArray[np.intp]:
        """(n_features,): −1 for numbers; the same number for all indicators of one column."""
        sizes = [1] * int(self.gaps_.size) + [len(levels) for levels in self._levels.values()]
        return np.concatenate([np.full(self.n_numbers, -1), np.repeat(np.arange(len(sizes)), sizes)])

    # -- reading ----------------------------------------------------------------------------------
    def _numbers(self, X: Data) -> Array:
        if sparse.issparse(X):
            raise ValueError(
                "Prepared features need a dense table, got a sparse matrix: call X.toarray() first."
            )
        if self.columns is None and not self.formats:
            return np.asarray(numeric(X))
        columns = range(X.shape[1]) if self.columns is None else self.columns
        return number_matrix(X, columns, self.formats or {})

    @property
    def _levels(self) -> Mapping[int, Sequence[Any]]:
        return {} if self.levels is None else self.levels

    def _shares(self, X: Data, j: int, w: Array) -> tuple[Array, float]:
        """The mean of each level's indicator, and the deviation of all of them together."""
        share = np.asarray(w @ self._is_level(X, j))
        return share, max(float(share @ (1.0 - share)), 1e-12) ** 0.5

    def _is_level(self, X: Data, j: int) -> Array:
        levels = self._levels[j]
        place = level_places(levels)
        labels = labels_of(column_of(X, int(j)))
        codes = np.fromiter((place.get(label, -1) for label in labels), dtype=np.intp, count=len(labels))
        return np.asarray(codes[:, None] == np.arange(len(levels)), dtype=np.float64)


def level_places(levels: Sequence[Any]) -> dict[str | None, int]:
    """The indicator of each label; those of one tuple share theirs, None stands for missing cells."""
    place: dict[str | None, int] = {}
    for k, level in enumerate(levels):
        for one in level if isinstance(level, tuple) else (level,):
            place[None if one is None else str(one)] = k
    return place


def number_matrix(X: Data, columns: Sequence[int], formats: Mapping[int, Format]) -> Array:
    """Some columns of a table as numbers (n, len(columns)), NaN where there are none."""
    if not len(columns):
        return np.empty((X.shape[0], 0))
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        return quiet(np.asarray(X[:, list(columns)], dtype=np.float64))
    types = list(X.dtypes) if hasattr(X, "dtypes") else []
    plain = [k for k, j in enumerate(columns) if types and numeric_type(types[j])]
    A = np.empty((X.shape[0], len(columns)))
    for lo, hi in _runs([columns[k] for k in plain]):
        A[:, plain[lo:hi]] = plain_matrix(
            take_columns(X, slice(columns[plain[lo]], columns[plain[hi - 1]] + 1))
        )
    for k in sorted(set(range(len(columns))) - set(plain)):
        A[:, k] = numbers_of(column_of(X, columns[k]), formats.get(columns[k], ""))
    return quiet(A)


def quiet(A: Array) -> Array:
    """A with every NaN the same: R's NA is one that signals, which `np.fmax` does not pass over."""
    holes = np.isnan(A)
    return np.where(holes, np.nan, A) if holes.any() else A


def _runs(positions: Sequence[int]) -> list[tuple[int, int]]:
    """Where columns stand side by side: pandas takes a list of columns one by one, and a slice at once."""
    ends = np.flatnonzero(np.diff(positions) != 1) + 1 if len(positions) else np.empty(0, dtype=int)
    edges = [0, *ends.tolist(), len(positions)]
    return [(lo, hi) for lo, hi in itertools.pairwise(edges) if hi > lo]


def plain_matrix(frame: Any) -> Array:
    """A frame whose columns are all of numeric types as numbers, NaN for what is missing."""
    if hasattr(frame, "cast"):  # polars
        return np.asarray(frame.cast(float).to_numpy(), dtype=np.float64)
    return np.asarray(frame.to_numpy(dtype=np.float64, na_value=np.nan))


def _called(level: Any) -> str:
    return "missing" if level is None else "other" if isinstance(level, tuple) else str(level)


def _medians(A: Array, w: Array) -> Array:
    """The weighted median of what each column of A holds; 0 where it holds nothing.

    Where the weights are cut in two halves between two values it is their mean, as for repeated samples.
    """
    order = np.argsort(A, axis=0)  # NaN last
    values = np.take_along_axis(A, order, axis=0)
    mass = np.cumsum(np.where(np.isnan(values), 0.0, w[order]), axis=0)
    half = 0.5 * mass[-1]
    slack = _ROUNDING * half
    low = np.argmax(mass >= half - slack, axis=0)
    high = np.minimum(np.argmax(mass > half + slack, axis=0), (~np.isnan(values)).sum(axis=0) - 1)
    columns = np.arange(A.shape[1])
    return np.asarray(np.nan_to_num(0.5 * (values[low, columns] + values[np.maximum(high, low), columns])))


def _scores(z: Array, w: Array) -> tuple[Array, Array]:
    """The distinct values of z, and the normal score of each: Φ⁻¹ of the middle of its step of the ranks.

    They are scaled to mean 0 and deviation 1, ties included.
    """
    x, place = np.unique(z, return_inverse=True)
    mass = np.bincount(place, w)
    score = ndtri(np.cumsum(mass) - 0.5 * mass)
    score = score - mass @ score
    return x, score / np.sqrt(mass @ score**2)
